// Buttons that change something on the server: a second press does not send the change again.

import { h } from "../dom.js";

const LONG = 10_000; // milliseconds after which a job should have stopped

// Return a listener for a click or a submit. It ignores further presses while `work` is under way, and
// after it if `work` returns true: another view opens then. The button keeps the focus, so it is not
// disabled.
export function once(work) {
  let isBusy = false;
  return async event => {
    event.preventDefault();
    if (isBusy) return;
    const button = event.submitter ?? event.currentTarget;
    isBusy = true;
    button.setAttribute("aria-disabled", "true");
    let hasLeft = false;
    try {
      hasLeft = await work(event) === true;
    } finally {
      isBusy = hasLeft;
      if (!hasLeft) button.removeAttribute("aria-disabled");
    }
  };
}

// The button that stops the work on a run. If that takes long, it offers to end the process at once:
// what was not saved is lost then.
export class StopButton {
  constructor(stop, properties = {}) {
    this.stop = stop; // called with a body for the request; returns undefined if the server refused
    this.button = h("button", { type: "button", ...properties, onclick: () => this.press() });
    this.note = h("small", { class: "soft", role: "status" });
    this.node = h("span", { class: "stop" }, this.button, this.note);
    this.reset();
  }

  // The run has stopped, or another work on it has begun.
  reset() {
    clearTimeout(this.timer);
    this.show("Stop");
  }

  show(title, note = "", isWaiting = false) {
    this.isLate = note !== "";
    this.isWaiting = isWaiting;
    this.button.textContent = title;
    this.button.setAttribute("aria-disabled", String(isWaiting));
    this.note.textContent = note;
  }

  async press() {
    if (this.isWaiting) return;
    const body = this.isLate ? { at_once: true } : undefined;
    this.show("Stopping …", "", true);
    this.timer = setTimeout(() => this.show("Stop at once",
      "It has not stopped yet. If you stop it at once, what is not saved is lost."), LONG);
    if (await this.stop(body) === undefined) this.reset();
  }
}
