import { drawGraph, joinBoxes, makeSvg } from "./drawing.js";
import { make } from "./elements.js";
import { CHILD, DIRECTED, KIND, PARENT, describeArc, findBusiest, makeStructure } from "./structure.js";
import { showTip } from "./tip.js";
import { findNearest, makeViewport, pressViewKey } from "./viewport.js";

export const ARROWS = "All arrowheads (one DAG of the class)";
export const ARROWS_TITLE = "The DAG: one member of the equivalence class, with an arrowhead on each arc. Without it, arrowheads only where the data or the constraints give the direction (the CPDAG).";

// A graph that is looked at: pan, zoom, choose, drag, and light up parts of it.
// `onChoose(n)` gets the chosen variable or null; `onState(n, k)` a clicked state; `onKey(event, n)`
// any other key and returns whether it was used.
export function makeGraphView(drawing, { onChoose, onState = () => {}, onKey = () => false }) {
  const structure = makeStructure(drawing);
  const { svg, world, paths, wides, nodes, rows } = drawGraph(drawing);
  const figure = make("figure"), tip = make("div", undefined, { id: "tip", role: "status" });
  const note = make("p", undefined, { class: "shown", role: "status" });
  tip.hidden = true;
  note.hidden = true;
  figure.append(svg, note, tip, makeLegend(drawing));
  const boxes = drawing.boxes.map((box) => [...box]); // changed by dragging
  let chosen = null, dragged = null;

  const viewport = makeViewport(svg, world, {
    listBoxes: () => boxes,
    canPan: (event) => numberOf(event.target) === null,
    onFit: () => say(""),
  });
  // With all arrowheads the graph is the DAG; else only arcs whose direction is known have one.
  const showArrows = (isAll) => svg.classList.toggle("cpdag", !isAll);
  const isClass = () => drawing.is_learned || svg.classList.contains("cpdag");
  showArrows(!drawing.is_learned);
  const say = (text) => { note.textContent = text; note.hidden = !text; };
  function numberOf(target) {
    const node = target.closest?.(".node");
    return node ? Number(node.dataset.n) : null;
  }
  function arcOf(target) {
    const arc = target.closest?.(".arc, .wide-arc");
    return arc ? Number(arc.dataset.a) : null;
  }

  // -- light

  function clearLight() {
    for (const element of svg.querySelectorAll(".hot, .blanket, .path")) element.classList.remove("hot", "blanket", "path");
    svg.classList.remove("focus");
  }
  function highlight(n) {
    clearLight();
    if (n === null) return;
    svg.classList.add("focus");
    nodes[n].classList.add("hot");
    for (const i of structure.touching[n]) {
      paths[i].classList.add("hot");
      nodes[drawing.arcs[i][PARENT]].classList.add("hot");
      nodes[drawing.arcs[i][CHILD]].classList.add("hot");
    }
    for (const other of structure.blanketOf(n)) {
      if (!nodes[other].classList.contains("hot")) nodes[other].classList.add("hot", "blanket");
    }
  }
  // Light the arcs of some paths, each a list of variables.
  function lightPaths(lists) {
    clearLight();
    svg.classList.add("focus");
    for (const list of lists) {
      list.forEach((n) => nodes[n].classList.add("hot", "path"));
      for (let at = 1; at < list.length; at++) {
        const [one, two] = [list[at - 1], list[at]];
        const arc = structure.touching[one].find((i) => [PARENT, CHILD].some((end) => drawing.arcs[i][end] === two));
        if (arc !== undefined) paths[arc].classList.add("hot", "path");
      }
    }
  }

  // -- choose

  function choose(n, { move = false } = {}) {
    if (chosen !== null) nodes[chosen].classList.remove("chosen");
    for (const node of nodes) if (node.tabIndex === 0) node.tabIndex = -1;
    chosen = n;
    nodes[n ?? 0].tabIndex = 0;
    if (n !== null) nodes[n].classList.add("chosen");
    highlight(n);
    if (move && n !== null) viewport.centre(boxes[n]);
    onChoose(n);
  }
  svg.addEventListener("click", (event) => {
    if (viewport.takeMoved() || dragged?.moved) { dragged = null; return; }
    const arc = arcOf(event.target);
    if (arc !== null) { showTip(tip, event, describeArc(drawing.names, drawing.arcs[arc], isClass())); return; }
    tip.hidden = true;
    const n = numberOf(event.target), row = event.target.closest(".state-row");
    if (row) { onState(n, Number(row.dataset.k)); return; }
    choose(n);
  });
  svg.addEventListener("pointerover", (event) => {
    if (dragged) return;
    const n = numberOf(event.target), arc = arcOf(event.target);
    if (n !== null) {
      const row = event.target.closest(".state-row"), states = drawing.states?.[n];
      showTip(tip, event, row ? `${drawing.names[n]} = ${states[row.dataset.k]}` : drawing.names[n]);
    } else if (arc !== null) {
      paths[arc].classList.add("over");
      showTip(tip, event, describeArc(drawing.names, drawing.arcs[arc], isClass()));
    }
  });
  svg.addEventListener("pointerout", (event) => {
    const arc = arcOf(event.target);
    if (arc !== null) paths[arc].classList.remove("over");
    tip.hidden = true;
  });

  // -- drag a variable

  function place(n, x, y) {
    boxes[n][0] = x;
    boxes[n][1] = y;
    nodes[n].setAttribute("transform", `translate(${x} ${y})`);
    for (const i of structure.touching[n]) {
      const d = joinBoxes(boxes[drawing.arcs[i][PARENT]], boxes[drawing.arcs[i][CHILD]]);
      paths[i].setAttribute("d", d);
      wides[i].setAttribute("d", d);
    }
  }
  svg.addEventListener("pointerdown", (event) => {
    const n = numberOf(event.target);
    if (event.button !== 0 || n === null) { dragged = null; return; }
    const at = viewport.toWorld(event);
    dragged = { n, dx: boxes[n][0] - at.x, dy: boxes[n][1] - at.y, x: event.clientX, y: event.clientY, moved: false, isDown: true };
  });
  svg.addEventListener("pointermove", (event) => {
    if (!dragged?.isDown) return;
    if (!dragged.moved && Math.hypot(event.clientX - dragged.x, event.clientY - dragged.y) < 5) return;
    if (!dragged.moved) { dragged.moved = true; svg.setPointerCapture(event.pointerId); tip.hidden = true; }
    const at = viewport.toWorld(event);
    place(dragged.n, at.x + dragged.dx, at.y + dragged.dy);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    svg.addEventListener(end, () => { if (dragged) dragged.isDown = false; });
  }
  function resetPlaces() {
    drawing.boxes.forEach(([x, y], n) => {
      [boxes[n][0], boxes[n][1]] = [x, y];
      nodes[n].setAttribute("transform", `translate(${x} ${y})`);
    });
    drawing.paths.forEach((d, i) => { paths[i].setAttribute("d", d); wides[i].setAttribute("d", d); });
  }

  // -- keys

  svg.addEventListener("keydown", (event) => {
    const n = numberOf(event.target), next = n === null ? undefined : findNearest(boxes, n, event.key);
    if (next !== undefined) {
      if (next !== null) {
        nodes[n].tabIndex = -1;
        nodes[next].tabIndex = 0;
        nodes[next].focus({ preventScroll: true });
        if (!isVisible(nodes[next])) viewport.centre(boxes[next]);
      }
    } else if (n !== null && (event.key === "Enter" || event.key === " ")) choose(n);
    else if (event.key === "Escape") choose(null);
    else if (!onKey(event, n) && !pressViewKey(viewport, event.key)) return;
    event.preventDefault();
  });
  function isVisible(node) {
    const inner = node.getBoundingClientRect(), outer = svg.getBoundingClientRect();
    return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom;
  }

  function start() {
    if (viewport.start(boxes[findBusiest(structure)])) say("A part of the graph is shown. Drag it to move; Fit shows all of it.");
  }
  return {
    figure, svg, nodes, paths, wides, rows, viewport, structure,
    choose, clearLight, highlight, lightPaths, resetPlaces, start, say, showArrows, isClass,
    get chosen() { return chosen; },
  };
}

// The legend, in the words of the report; each part belongs to one of the two views (page.css).
function makeLegend({ arcs, is_learned: isLearned }) {
  const own = arcs.filter((arc) => arc[KIND] !== "missing"), counts = [0, 1, 2].map((by) => own.filter((arc) => arc[DIRECTED] === by).length);
  const caption = make("figcaption", undefined, { class: "legend" });
  const add = (view, kind, text) => {
    const item = make("span", undefined, { class: view }), sample = makeSvg("svg", { class: "sample cpdag", viewBox: "0 0 38 14", "aria-hidden": "true" });
    sample.append(makeSvg("path", { class: `arc ${kind}`, d: "M2 7L34 7", "stroke-width": 1.6 }));
    item.append(...(kind ? [sample] : []), text);
    caption.append(item);
  };
  if (counts[1]) add("of-class", "same", "directed by the data");
  if (counts[2]) add("of-class", "same known", "directed by the constraints");
  if (counts[0]) add("of-class", "same undirected", "direction unknown: both directions fit equally well");
  if (own.length) add("of-dag", "same", "parent to child");
  if (isLearned && counts[0]) add("of-dag", "", `${counts[0]} of ${own.length} directions are not known`);
  return caption;
}

// The button that shows the DAG. `view` returns the graph; a new one is told by its caller.
export function makeArrowsButton(view, drawing) {
  const button = make("button", ARROWS, { type: "button", "aria-pressed": String(!drawing.is_learned), title: ARROWS_TITLE });
  button.addEventListener("click", () => {
    const isAll = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isAll));
    view().showArrows(isAll);
  });
  return button;
}

// The buttons that zoom a graph.
export function makeZoomButtons(view) {
  const group = make("div", undefined, { class: "choice zoom", role: "group", "aria-label": "Zoom" });
  for (const [text, label, run] of [
    ["\u2212", "Zoom out", () => view().viewport.zoom(1 / 1.4)],
    ["+", "Zoom in", () => view().viewport.zoom(1.4)],
    ["Fit", "Fit the view", () => view().viewport.fit()],
  ]) {
    const button = make("button", text, { type: "button", "aria-label": label, title: label });
    button.addEventListener("click", run);
    group.append(button);
  }
  return group;
}

// The field that searches for a variable.
export function makeSearchField() {
  const holder = make("div", undefined, { class: "search" });
  const search = make("input", undefined, {
    type: "search", class: "find", placeholder: "Search for a variable", "aria-label": "Search for a variable",
    role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false",
  });
  const found = make("ul", undefined, { role: "listbox", "aria-label": "Matching variables" });
  found.hidden = true;
  holder.append(search, found);
  return { holder, search, found };
}
