// One stream of Server-Sent Events for several tabs.
//
// A tab follows one run, or none. The stream has the events of all runs that a tab follows, each
// from the first number that one of its tabs lacks; a tab skips what it has seen (live.js). So it is
// with notices. Their stamps are those of the server (events.py); an empty one is before all others.

const RETRY = 2000; // milliseconds before a stream that the server ended is opened again

// Return whether a stamp is after another one, or is of another server.
export function isAfter(stamp, other) {
  const [[server, number], [known, seen]] = [stamp.split("."), other.split(".")];
  return server !== known || Number(number) > Number(seen);
}

// Return the first of some stamps; the empty one if they are of several servers.
function findFirst(stamps) {
  const isMixed = new Set(stamps.map(stamp => stamp.split(".")[0])).size > 1;
  return isMixed ? "" : stamps.reduce((one, two) => isAfter(one, two) ? two : one);
}

export class Stream {
  constructor() {
    this.tabs = new Map(); // each tab: its run, the last number and stamp that it saw, and where to send events
    this.source = null;
    this.followed = null; // the runs of the source, as text
    this.stamp = null; // of the last notice that the source has sent, or was asked to continue from
    this.isOnline = false;
  }

  // Let a tab follow a run from a number on, or leave.
  change(tab, { kind, run, last, stamp }, send) {
    if (kind === "leave") this.tabs.delete(tab);
    else this.tabs.set(tab, { run, last, stamp, send });
    this.connect(kind === "follow" && (run !== null || stamp !== this.stamp));
    // If a new stream was needed, the tab hears of it when it is open.
    if (kind === "follow" && this.isOnline) send({ run: null, number: null, event: { kind: "online" } });
  }

  connect(isNeeded = false) {
    const first = new Map();
    for (const { run, last } of this.tabs.values()) {
      if (run !== null) first.set(run, Math.min(first.get(run) ?? last, last));
    }
    const names = [...first.keys()].sort();
    const followed = JSON.stringify(names);
    if (this.source && followed === this.followed && !isNeeded && this.tabs.size) return;
    this.source?.close();
    this.source = null;
    this.isOnline = false;
    this.followed = followed;
    if (!this.tabs.size) return;
    this.stamp = findFirst([...this.tabs.values()].map(tab => tab.stamp));
    const query = new URLSearchParams(names.flatMap(name => [["run", name], ["after", first.get(name)]]));
    query.append("notices", this.stamp);
    this.open(`/api/events?${query}`, names);
  }

  open(address, names) {
    const source = new EventSource(address);
    this.source = source;
    const listen = (kind, listener) => source.addEventListener(kind, message => {
      if (this.source === source) listener(message);
    });
    listen("open", () => this.notice("online"));
    listen("error", () => {
      this.notice("offline");
      // The browser would ask again from where this stream began; the tabs know more.
      source.close();
      setTimeout(() => this.source === source && this.connect(true), RETRY);
    });
    listen("message", message => this.receiveNotice(JSON.parse(message.data)));
    for (const name of names) {
      listen(`run:${name}`, message => this.receive(name, message));
    }
  }

  receive(name, message) {
    const number = message.lastEventId ? Number(message.lastEventId) : null;
    const event = JSON.parse(message.data);
    for (const tab of this.tabs.values()) {
      if (tab.run !== name) continue;
      if (event.kind === "restart") tab.last = 0;
      else if (number !== null) tab.last = Math.max(tab.last, number);
    }
    this.send(name, event.kind === "restart" || event.kind === "damaged" ? null : number, event);
  }

  receiveNotice(event) {
    this.stamp = event.stamp;
    for (const tab of this.tabs.values()) {
      if (isAfter(event.stamp, tab.stamp)) tab.stamp = event.stamp;
    }
    this.send(null, null, event);
  }

  notice(kind) {
    this.isOnline = kind === "online";
    if (!this.isOnline) {
      for (const tab of this.tabs.values()) tab.stamp = "";
    }
    this.send(null, null, { kind });
  }

  send(run, number, event) {
    for (const tab of this.tabs.values()) {
      if (run === null || tab.run === run) tab.send({ run, number, event });
    }
  }
}
