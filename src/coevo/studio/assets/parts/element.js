// What several views need beside dom.js: fields, numbers in words, and redrawing without losing the focus.

import { h } from "../dom.js";

// Run something that redraws an element. The focus stays on the part with the same data-key, and the caret and
// the selection of a field of text stay in it. A browser does not tell those of a field of numbers: whoever
// redraws one keeps its element.
export function keepFocus(element, redraw) {
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.dataset?.key;
  const { selectionStart: start, selectionEnd: end } = focused ?? {};
  redraw();
  if (key && document.activeElement !== focused) {
    const found = [...element.querySelectorAll("[data-key]")].find(one => one.dataset.key === key);
    found?.focus({ preventScroll: true });
    if (found && found !== focused && Number.isInteger(start)) found.setSelectionRange(start, end);
  }
}

// Replace what an element holds, and keep the focus.
export function fill(element, ...children) {
  const isShown = child => child !== null && child !== undefined && child !== false;
  keepFocus(element, () => element.replaceChildren(...children.flat(Infinity).filter(isShown)));
  return element;
}

// A labelled field, with a note below it.
export function label(text, field, note = "") {
  return h("label", { class: "field" }, h("span", {}, text), field, note && h("small", {}, note));
}

// A select of pairs [value, text].
export function select(pairs, chosen, properties = {}) {
  const field = h("select", properties, pairs.map(([value, text]) => h("option", { value }, text)));
  field.value = chosen ?? "";
  return field;
}

// The sentence about something that the address names and the workspace does not have.
export function makeAbsent(kind, name) {
  return h("p", { class: "error", role: "alert" }, `There is no ${kind} '${name}' in the workspace.`);
}

// A number with few characters.
export function formatValue(number) {
  if (number === null || number === undefined) return "–";
  if (Number.isInteger(number)) return number.toLocaleString("en-US");
  return String(Number(number.toPrecision(5)));
}

// "1 row", "2 rows".
export function count(n, noun) {
  return `${n.toLocaleString("en-US")} ${n === 1 ? noun : `${noun}s`}`;
}

// A share as a percentage; a share that is not 0 is never written as 0.
export function formatShare(share) {
  if (share === 0 || share === 1) return `${100 * share} %`;
  return share < 0.001 ? "<0.1 %" : share > 0.999 ? ">99.9 %" : `${(100 * share).toFixed(1)} %`;
}

// Run an asynchronous function for the newest values only: those in between are left out.
export function latest(run) {
  let isRunning = false, waiting = null;
  return async function call(...values) {
    waiting = values;
    if (isRunning) return;
    isRunning = true;
    try {
      while (waiting) {
        const now = waiting;
        waiting = null;
        await run(...now);
      }
    } finally {
      isRunning = false;
    }
  };
}
