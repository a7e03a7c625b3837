// The view of a graph: scale and translation in user units, moved by wheel, drag and pinch.

export const FONT = 12; // units, as in the style sheet
const [LEAST, READABLE] = [8, 10]; // pixels: text that may be fitted, and text to start with otherwise
const MAX_TEXT = 3; // times the size of the text

// `svg` has a view box, and `world` is the group that moves. `listBoxes` returns [x, y, width, height]
// of each shown variable; `onFit` is called before the view is fitted; `canPan(event)` may leave a drag to others.
export function makeViewport(svg, world, { listBoxes, onFit = () => {}, canPan = () => true }) {
  const view = { x: 0, y: 0, k: 1 };
  const box = svg.viewBox.baseVal;
  let isFitted = true; // until the user moves the view

  const pixelsPerUnit = () => Math.min(svg.clientWidth / box.width, svg.clientHeight / box.height);
  function apply() {
    world.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.k})`;
    const pixels = pixelsPerUnit() * view.k;
    svg.classList.toggle("far", pixels < 0.25);
    svg.style.setProperty("--scale", String(pixels)); // edges stay visible when zoomed out
  }
  function toUser(event) {
    const matrix = svg.getScreenCTM().inverse();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
  }
  function toWorld(event) {
    const at = toUser(event);
    return { x: (at.x - view.x) / view.k, y: (at.y - view.y) / view.k };
  }
  function zoom(factor, at = { x: box.x + box.width / 2, y: box.y + box.height / 2 }) {
    const most = Math.max(4, MAX_TEXT / pixelsPerUnit());
    const k = Math.min(most, Math.max(0.5, view.k * factor));
    view.x = at.x - (at.x - view.x) * (k / view.k);
    view.y = at.y - (at.y - view.y) * (k / view.k);
    view.k = k;
    isFitted = false;
    apply();
  }
  // Show the complete drawing. Its box has a least size; on a small screen the text is larger than that.
  function fit() {
    const drawn = listBoxes();
    const extent = (at, size) => Math.max(...drawn.map((p) => p[at])) - Math.min(...drawn.map((p) => p[at])) + size;
    const widest = Math.max(0, ...drawn.map(([, , width]) => width));
    const highest = Math.max(0, ...drawn.map(([, , , height]) => height));
    const room = Math.min(svg.clientWidth / extent(0, widest + 16), svg.clientHeight / extent(1, highest + 44));
    Object.assign(view, { x: 0, y: 0, k: 1 });
    onFit();
    if (drawn.length) zoom(Math.max(1, Math.min(READABLE / FONT, room) / pixelsPerUnit()));
    isFitted = true;
  }
  function refit() { if (isFitted) fit(); else apply(); }
  function pan(dx, dy) { view.x += dx; view.y += dy; isFitted = false; apply(); }
  function centre([x, y], pixels = FONT) {
    const readable = pixels / FONT / pixelsPerUnit();
    view.k = Math.max(view.k, readable);
    view.x = box.x + box.width / 2 - x * view.k;
    view.y = box.y + box.height / 2 - y * view.k;
    isFitted = false;
    apply();
  }
  // Fit the drawing if its text can be read then; otherwise start with a part of it around a place.
  function start(place) {
    fit();
    const isPart = FONT * pixelsPerUnit() * view.k < LEAST && place !== undefined;
    if (isPart) centre(place, READABLE);
    return isPart;
  }

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0018)), toUser(event));
  }, { passive: false });

  const pointers = new Map();
  let moved = false;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    moved = false;
    if (canPan(event)) pointers.set(event.pointerId, toUser(event));
  });
  svg.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = pointers.get(event.pointerId), now = toUser(event);
    const far = Math.hypot(now.x - before.x, now.y - before.y) * pixelsPerUnit();
    if (!moved && far < 4) return;
    if (!moved) { moved = true; svg.setPointerCapture(event.pointerId); svg.classList.add("moving"); }
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const ratio = Math.hypot(now.x - other.x, now.y - other.y) /
        Math.max(1e-6, Math.hypot(before.x - other.x, before.y - other.y));
      zoom(ratio, other);
    } else {
      pan(now.x - before.x, now.y - before.y);
    }
    pointers.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    svg.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      if (!pointers.size) svg.classList.remove("moving");
    });
  }
  // Whether the last press moved the view; then its click is none.
  function takeMoved() {
    const was = moved;
    moved = false;
    return was;
  }
  return { apply, zoom, fit, refit, pan, centre, start, toWorld, pixelsPerUnit, takeMoved };
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Keys that move the view: arrows, plus, minus and 0. Return whether the key is one of them.
export function pressViewKey(viewport, key) {
  if (DIRECTIONS[key]) {
    const by = 60 / viewport.pixelsPerUnit();
    viewport.pan(-DIRECTIONS[key][0] * by, -DIRECTIONS[key][1] * by);
  } else if (key === "+" || key === "=") viewport.zoom(1.25);
  else if (key === "-") viewport.zoom(0.8);
  else if (key === "0") viewport.fit();
  else return false;
  return true;
}

// The place that is nearest to place n in the direction of an arrow key; null without one.
// The key is no arrow: undefined. A place that is not shown is null in the list.
export function findNearest(places, n, key) {
  if (!DIRECTIONS[key]) return undefined;
  const [dx, dy] = DIRECTIONS[key], [x, y] = places[n];
  let best = null, least = Infinity;
  places.forEach((place, other) => {
    if (!place || other === n) return;
    const [ox, oy] = place;
    const along = (ox - x) * dx + (oy - y) * dy, aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    if (along <= 1) return;
    const cost = along + 2 * aside;
    if (cost < least) { least = cost; best = other; }
  });
  return best;
}
