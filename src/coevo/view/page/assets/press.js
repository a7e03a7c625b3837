// Redrawing takes away what a user is at: a pressed element loses its click or its drag, a field the
// text that was typed and not entered. What redraws after an answer of the server waits for that.

let isPressed = false;
let field = null; // with text that was typed and not entered
let waiting = [];

const isBusy = () => isPressed || Boolean(field?.isConnected && field.matches(":focus"));

// The click comes after the release, so what waits runs in the next task.
function runWaiting() {
  setTimeout(() => {
    if (isBusy()) return;
    const ready = waiting;
    waiting = [];
    ready.forEach((run) => run());
  });
}

function release() {
  isPressed = false;
  runWaiting();
}

const getTarget = (event) => event.composedPath()[0];

window.addEventListener("pointerdown", (event) => {
  isPressed = !getTarget(event).closest?.("select"); // its list of options swallows the release
}, true);
for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, release, true);
window.addEventListener("blur", release); // of the window, not of an element
window.addEventListener("pointermove", (event) => { if (isPressed && !event.buttons) release(); }, true);
window.addEventListener("input", (event) => {
  if (getTarget(event).matches?.("input[type=text], input[type=number]")) field = getTarget(event);
}, true);
for (const end of ["change", "focusout"]) {
  window.addEventListener(end, (event) => {
    if (getTarget(event) !== field) return;
    field = null;
    runWaiting();
  }, true);
}

// Run a function that redraws: at once, or when the user neither presses nor types.
export function whenIdle(run) {
  if (isBusy()) waiting.push(run);
  else run();
}
