import { CLASS_KIND, DIRECTED, KIND } from "./structure.js";

// A graph as SVG, from the drawing of coevo.view.explorer: the same elements as in a report.
const SVG = "http://www.w3.org/2000/svg";
const HEADS = ["same", "added", "missing", "reversed", "lit", "known"];
const MIN_STROKE = 1.1, MAX_STROKE = 3.2;
export const ROW = 15; // height of a bar with its label, as in coevo.view.explorer
export const MAX_BARS = 8;
const LABEL_HEIGHT = 26, INSET = 6, BAR = 70, PERCENT = 37; // all but the names of states, as in coevo.view.explorer

export function makeSvg(tag, attributes = {}, text) {
  const element = document.createElementNS(SVG, tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function makeHead(kind) {
  const marker = makeSvg("marker", {
    id: `head-${kind}`, class: `head ${kind}`, viewBox: "0 0 10 9", refX: 9, refY: 4.5,
    markerWidth: 10, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto",
  });
  marker.append(makeSvg("path", { d: "M0 0L10 4.5L0 9L2.4 4.5z" }));
  return marker;
}

function makeArc(drawing, i) {
  const arc = drawing.arcs[i], width = MIN_STROKE + drawing.widths[i] * (MAX_STROKE - MIN_STROKE);
  const kinds = `arc ${arc[KIND]} class-${arc[CLASS_KIND]}${[" undirected", "", " known"][arc[DIRECTED]]}`;
  return makeSvg("path", { "data-a": i, class: kinds, d: drawing.paths[i], "stroke-width": width.toFixed(2) });
}

const CHARACTER = 5.9; // mean width at this size of text
const shorten = (text, room) => {
  const most = Math.max(2, Math.floor(room / CHARACTER));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
};

// The bars of a variable: for each state its name, a bar, a mark of the earlier probability and a number.
// A variable with more states than bars shows the first ones; the last row opens the panel.
function makeBars(states, width, height) {
  const rows = [], left = -width / 2 + INSET, room = width - 2 * INSET;
  const nameRoom = room - BAR - PERCENT, from = left + nameRoom, length = BAR;
  const shown = states.length > MAX_BARS ? states.slice(0, MAX_BARS - 1) : states;
  shown.forEach((state, k) => {
    const y = -height / 2 + LABEL_HEIGHT - 2 + k * ROW;
    const group = makeSvg("g", { class: "state-row", "data-k": k });
    const bar = makeSvg("rect", { class: "bar", x: from, y: y + 3, width: 0, height: ROW - 6 });
    const mark = makeSvg("rect", { class: "mark", x: from, y: y + 1, width: 1.6, height: ROW - 2 });
    const number = makeSvg("text", { class: "percent", x: left + room, y: y + 11.5 }, "");
    group.append(
      makeSvg("rect", { class: "row", x: left - 2, y, width: room + 4, height: ROW, rx: 3 }),
      makeSvg("text", { class: "state-name", x: left, y: y + 11.5 }, shorten(state, nameRoom - 3)),
      makeSvg("rect", { class: "track", x: from, y: y + 3, width: length, height: ROW - 6 }), bar, mark, number,
    );
    rows.push({ group, bar, mark, number, from, length });
  });
  if (shown.length < states.length) {
    const y = -height / 2 + LABEL_HEIGHT - 2 + shown.length * ROW;
    rows.more = makeSvg("text", { class: "state-name more", x: left, y: y + 11.5 }, `${states.length - shown.length} more states ...`);
  }
  return rows;
}

function makeNode(drawing, n) {
  const [x, y, width, height] = drawing.boxes[n];
  const node = makeSvg("g", {
    "data-n": n, class: "node", role: "button", "aria-label": drawing.names[n], tabindex: n === 0 ? 0 : -1,
    transform: `translate(${x} ${y})`,
  });
  const top = drawing.bars ? -height / 2 + 17 : 4.2;
  node.append(
    makeSvg("rect", { class: "box", x: -width / 2, y: -height / 2, width, height, rx: 7 }),
    makeSvg("text", { class: "label", y: top }, drawing.labels[n]),
  );
  const rows = drawing.bars ? makeBars(drawing.states[n], width, height) : [];
  node.append(...rows.map((row) => row.group), ...(rows.more ? [rows.more] : []));
  return { node, rows };
}

// Thin lines are hard to hit, so each has a wide, invisible one below it.
function makeWide(path) {
  const wide = path.cloneNode();
  wide.setAttribute("class", "wide-arc");
  return wide;
}

export function drawGraph(drawing) {
  const svg = makeSvg("svg", {
    class: drawing.bars ? "graph with-bars" : "graph", viewBox: drawing.viewBox.join(" "), role: "group", tabindex: 0,
    "aria-label": "The network. Arrow keys move, plus and minus zoom, 0 fits the view.",
  });
  const defs = makeSvg("defs"), world = makeSvg("g", { class: "world" }), below = makeSvg("g"), above = makeSvg("g");
  defs.append(...HEADS.map(makeHead));
  const paths = drawing.arcs.map((_, i) => makeArc(drawing, i)), wides = paths.map(makeWide);
  const made = drawing.names.map((_, n) => makeNode(drawing, n));
  below.append(...wides, ...paths);
  above.append(...made.map(({ node }) => node));
  world.append(below, above);
  svg.append(makeSvg("title", {}, "The network"), defs, world);
  return { svg, world, paths, wides, nodes: made.map(({ node }) => node), rows: made.map(({ rows }) => rows) };
}

// The curve of an arc between two boxes that were moved by hand.
export function joinBoxes([x1, y1, , h1], [x2, y2, , h2]) {
  const isBelow = y2 >= y1, sign = isBelow ? 1 : -1;
  const from = y1 + sign * h1 / 2, to = y2 - sign * h2 / 2, third = (to - from) / 3;
  return `M${x1} ${from}C${x1} ${from + third} ${x2} ${to - third} ${x2} ${to}`;
}
