// The shared worker of all tabs of a browser: it holds their one stream of events.
//
// A tab that is closed says so (pagehide). One that crashed is only a port that nobody reads.

import { Stream } from "./stream.js";

const stream = new Stream();

addEventListener("connect", ({ ports: [port] }) => {
  port.onmessage = ({ data }) => stream.change(port, data, message => port.postMessage(message));
});
