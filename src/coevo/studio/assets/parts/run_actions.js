// What the lists and the view of a run share: the words for its state, and its way into the trash.

import { path } from "../api.js";

export const STATES = {
  queued: "waiting for its turn", running: "running", done: "done", failed: "failed", stopped: "stopped",
  interrupted: "interrupted", damaged: "damaged", unknown: "no result",
};

// Remove a run, and offer to put it back; return whether it is gone.
export async function removeRun(context, name) {
  const gone = await context.attempt(() => context.api.remove(path`/api/runs/${name}`));
  if (!gone) return false;
  context.notify(`The run ${name} is in the trash.`, "info", gone.token && {
    title: "Put it back", run: () => context.attempt(() => context.api.post(path`/api/trash/${gone.token}`)),
  });
  return true;
}
