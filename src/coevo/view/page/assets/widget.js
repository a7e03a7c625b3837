import { make } from "./elements.js";
import { mountExplorer } from "./explorer.js";

// The explore view as a notebook widget. Questions go to Python as messages with a number.
export function render({ model, el }) {
  const root = el.shadowRoot ?? el.attachShadow({ mode: "open" });
  const note = make("p", undefined, { class: "error", role: "alert" }), holder = make("div", undefined, { class: "widget" });
  root.replaceChildren(make("style", model.get("style")), holder, note);
  const waiting = new Map();
  let number = 0;
  const ask = (question, body) => new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    model.send({ number, question, body });
  });
  const onMessage = (message) => {
    const asked = waiting.get(message.number);
    if (!asked) return;
    waiting.delete(message.number);
    if (message.error) asked.reject(new Error(message.error));
    else asked.resolve(message.answer);
  };
  model.on("msg:custom", onMessage);
  const same = (one, two) => JSON.stringify(one) === JSON.stringify(two);
  const explorer = mountExplorer(holder, {
    drawing: model.get("drawing"), ask, given: model.get("evidence"),
    fetchDrawing: (hasBars) => ask("drawing", { bars: hasBars }),
    notify: (text, kind) => { note.textContent = kind === "error" ? text : ""; },
    onGiven: (given) => {
      note.textContent = "";
      if (!explorer || same(given, model.get("evidence"))) return;
      model.set("evidence", given);
      model.save_changes();
    },
  });
  const onEvidence = () => { if (!same(explorer.evidence.given, model.get("evidence"))) explorer.evidence.set(model.get("evidence")); };
  model.on("change:evidence", onEvidence);
  return () => {
    explorer.end();
    model.off("msg:custom", onMessage);
    model.off("change:evidence", onEvidence);
  };
}
