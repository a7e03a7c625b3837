// A text to copy, with its button.

import { h } from "../dom.js";

export function makeCopyBox(title, text, notify) {
  const code = h("pre", { class: "copy-text", tabindex: 0, "aria-label": title }, h("code", {}, text));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      notify(`Copied: ${title}.`, "info");
    } catch {
      getSelection().selectAllChildren(code); // without the right to copy, select it
      notify("Press Ctrl-C to copy the selected text.", "info");
    }
  };
  return h("div", { class: "copy-box" }, h("h3", {}, title), code,
    h("button", { type: "button", onclick: copy }, "Copy"));
}
