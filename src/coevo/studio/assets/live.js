// One stream of Server-Sent Events for a tab: the events of the run that it follows, and notices.
//
// A hidden tab closes its stream, because a browser allows six connections to a server. When it is
// shown again it continues after the last event that it saw, so nothing is lost.

export class Live {
  constructor() {
    this.listeners = new Map();
    this.run = null;
    this.last = 0;
    this.source = null;
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
    this.source?.close();
    this.source = null;
    if (document.visibilityState === "hidden") return;
    const query = new URLSearchParams({ after: this.last });
    if (this.run !== null) query.set("run", this.run);
    const source = new EventSource(`/api/events?${query}`);
    this.source = source;
    source.addEventListener("open", () => this.emit({ kind: "online" }));
    source.addEventListener("error", () => {
      this.emit({ kind: "offline" });
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        setTimeout(() => this.source === source && this.connect(), 2000);
      }
    });
    source.addEventListener("message", message => {
      if (this.source !== source) return;
      if (message.lastEventId) this.last = Number(message.lastEventId);
      this.emit(JSON.parse(message.data));
    });
  }

  emit(event) {
    for (const listener of this.listeners.get(event.kind) ?? []) listener(event);
    for (const listener of this.listeners.get("*") ?? []) listener(event);
  }
}
