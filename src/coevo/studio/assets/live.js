// The events of a tab: those of the run that it follows, and notices about lists that changed.
//
// A browser allows six connections to a server, so that the seventh tab with a stream of its own
// would freeze. All tabs share one stream, in a shared worker (shared_stream.js). Where a browser has
// no shared workers, each tab has its own stream. A hidden tab hears nothing; when it is shown again
// it continues after the last event and the last notice that it saw, so nothing is lost. The page came
// with the stamp of the notice before it.

import { Stream, isAfter } from "./stream.js";

export class Live {
  constructor() {
    this.listeners = new Map();
    this.run = null;
    this.last = 0;
    this.stamp = document.documentElement.dataset.notices;
    const receive = message => this.receive(message);
    if ("SharedWorker" in window) {
      const worker = new SharedWorker(new URL("./shared_stream.js", import.meta.url), { type: "module" });
      this.send = message => worker.port.postMessage(message);
      worker.port.onmessage = message => receive(message.data);
      addEventListener("pagehide", () => this.send({ kind: "leave" }));
      addEventListener("pageshow", event => event.persisted && this.connect()); // back from the history
    } else {
      const stream = new Stream();
      this.send = message => stream.change("tab", message, receive);
    }
    document.addEventListener("visibilitychange", () => this.connect());
    this.connect();
  }

  // Follow a run (or none): all its events are sent from the beginning.
  follow(run) {
    this.run = run;
    this.last = 0;
    this.connect();
  }

  on(kind, listener) {
    if (!this.listeners.has(kind)) this.listeners.set(kind, new Set());
    this.listeners.get(kind).add(listener);
    return () => this.listeners.get(kind).delete(listener);
  }

  connect() {
    const isHidden = document.visibilityState === "hidden";
    this.emit({ kind: "connecting" }); // until "online", notices are not heard
    this.send(isHidden ? { kind: "leave" } : { kind: "follow", run: this.run, last: this.last, stamp: this.stamp });
  }

  receive({ run, number, event }) {
    if (run !== null) {
      if (run !== this.run) return; // of the run that was followed before
      if (event.kind === "restart") this.last = 0;
      else if (number !== null && number <= this.last) return; // another tab needed it
      else if (number !== null) this.last = number;
    }
    if (event.kind === "offline") this.stamp = ""; // what was asked meanwhile may have failed, too
    if (event.stamp) {
      if (!isAfter(event.stamp, this.stamp)) return; // another tab needed it
      this.stamp = event.stamp;
    }
    this.emit(event);
  }

  emit(event) {
    for (const listener of this.listeners.get(event.kind) ?? []) listener(event);
    for (const listener of this.listeners.get("*") ?? []) listener(event);
  }
}
