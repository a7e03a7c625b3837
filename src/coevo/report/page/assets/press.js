// Redrawing while the pointer is down takes the pressed element away: its click is lost, a drag ends.

let isPressed = false;
let waiting = [];

// The click comes after the release, so what waits runs in the next task.
function release() {
  isPressed = false;
  setTimeout(() => {
    if (isPressed) return;
    const ready = waiting;
    waiting = [];
    ready.forEach(run => run());
  });
}

window.addEventListener("pointerdown", event => {
  isPressed = !event.target.closest?.("select"); // its list of options swallows the release
}, true);
for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, release, true);
window.addEventListener("blur", release); // of the window, not of an element
window.addEventListener("pointermove", event => { if (isPressed && !event.buttons) release(); }, true);

// Run a function that redraws: at once, or when the pointer is up again.
export function whenReleased(run) {
  if (isPressed) waiting.push(run);
  else run();
}
