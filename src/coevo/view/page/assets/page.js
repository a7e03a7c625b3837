import { make, makeButton } from "./elements.js";
import { layOut } from "./neighbourhood.js";
import { renderProbabilities } from "./probabilities.js";
import { makeSearch } from "./search.js";
import { chooseChartWidth, drawChildren, drawIndividuals, drawMasks, drawOrders, drawPaid, drawWork } from "./species_charts.js";
import { PARENT, CHILD, DIRECTED, SAYS, describeArc, describeDirection, describeFacts, findBusiest, makeStructure } from "./structure.js";
import { copyText, makeSortable } from "./tables.js";
import { showTip } from "./tip.js";
import { findNearest, makeViewport, pressViewKey } from "./viewport.js";

// The page of a report. Its graph is in the document already; the script makes it move and speak.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const svg = byId("graph"), stage = byId("stage"), panel = byId("panel");
const tip = byId("tip"), search = byId("search");
const nodes = data.names.map((_, i) => byId("n" + i));
const paths = data.arcs.map((_, i) => byId("a" + i));
const structure = makeStructure(data);
const { into, outOf, touching, blanketOf, membersAround } = structure;
const HEIGHT = 26; // of a variable

// -- the view

let places = data.boxes; // the centre of each variable, in the drawing that is shown
const isAway = (n) => nodes[n].classList.contains("away");
const viewport = makeViewport(svg, byId("world"), {
  listBoxes: () => places.map(([x, y], n) => [x, y, data.boxes[n][2], HEIGHT]).filter((_, n) => !isAway(n)),
  onFit: () => { if (!part) say(""); },
});
byId("zoom-in").addEventListener("click", () => viewport.zoom(1.4));
byId("zoom-out").addEventListener("click", () => viewport.zoom(1 / 1.4));
byId("zoom-fit").addEventListener("click", viewport.fit);
window.addEventListener("resize", viewport.refit);

// -- the selected variable

let chosen = null;
let view = svg.classList.contains("cpdag") ? "cpdag" : "dag";
const numberOf = (target) => {
  const node = target.closest && target.closest(".node");
  return node ? Number(node.id.slice(1)) : null;
};

function highlight(n) {
  for (const element of svg.querySelectorAll(".hot, .blanket")) element.classList.remove("hot", "blanket");
  svg.classList.toggle("focus", n !== null);
  if (n === null) return;
  nodes[n].classList.add("hot");
  for (const i of touching[n]) {
    paths[i].classList.add("hot");
    nodes[data.arcs[i][PARENT]].classList.add("hot");
    nodes[data.arcs[i][CHILD]].classList.add("hot");
  }
  for (const other of blanketOf(n)) {
    if (!nodes[other].classList.contains("hot")) nodes[other].classList.add("hot", "blanket");
  }
}
function choose(n, { move = false } = {}) {
  if (chosen !== null) nodes[chosen].classList.remove("chosen");
  for (const node of nodes) if (node.tabIndex === 0) node.tabIndex = -1;
  chosen = n;
  nodes[n === null ? 0 : n].tabIndex = 0;
  const opens = (n === null) !== panel.hidden; // or closes
  panel.hidden = n === null;
  stage.classList.toggle("open", n !== null);
  if (n !== null) { nodes[n].classList.add("chosen"); fillPanel(n); }
  if (n === null) depth = 0;
  showPart();
  highlight(n);
  if (move && n !== null && !depth) viewport.centre(places[n]); else if (opens) viewport.refit();
  if (n !== null) reveal();
}
// On a narrow screen the panel is below the graph: scroll to it.
function reveal() {
  const isBelow = panel.getBoundingClientRect().top >= svg.getBoundingClientRect().bottom;
  (isBelow ? panel : svg).scrollIntoView({ block: "nearest" });
}
svg.addEventListener("click", (event) => {
  if (viewport.takeMoved()) return;
  const arc = arcOf(event.target);
  pinned = arc !== null;
  if (pinned) { showTip(tip, event, describeArc(data.names, data.arcs[arc])); return; } // until the next click
  tip.hidden = true;
  const n = numberOf(event.target);
  if (n !== null || !depth) choose(n); // a click beside a neighbourhood does not leave it
});
svg.addEventListener("pointerover", (event) => {
  if (pinned) return;
  const n = numberOf(event.target), arc = arcOf(event.target);
  if (n !== null) {
    if (chosen === null) highlight(n);
    showTip(tip, event, data.names[n]);
  } else if (arc !== null) {
    paths[arc].classList.add("over");
    showTip(tip, event, describeArc(data.names, data.arcs[arc]));
  }
});
svg.addEventListener("pointerout", (event) => {
  const arc = arcOf(event.target);
  if (arc !== null) paths[arc].classList.remove("over");
  if (chosen === null) highlight(null);
  if (!pinned) tip.hidden = true;
});

// Thin lines are hard to hit, so each has a wide, invisible one below it.
let pinned = false; // the tip of an arc stays
const wides = paths.map((path) => {
  const wide = path.cloneNode();
  wide.id = "w" + path.id.slice(1);
  wide.setAttribute("class", "wide-arc");
  return wide;
});
if (wides.length) paths[0].parentNode.prepend(...wides);
function arcOf(target) {
  const arc = target.closest && target.closest(".arc, .wide-arc");
  return arc ? Number(arc.id.slice(1)) : null;
}

// -- the panel

const link = (n) => make("button", data.names[n], { type: "button", class: "name", "data-n": n });
function listArcs(title, arcs, otherEnd) {
  const list = make("ul");
  for (const i of arcs) {
    const item = make("li"), facts = [describeFacts(data.arcs[i]), describeDirection(data.arcs[i])];
    item.append(link(otherEnd(data.arcs[i])), make("small", facts.filter(Boolean).join(", ")));
    if (data.arcs[i][SAYS]) item.append(make("small", data.arcs[i][SAYS], { class: "says" }));
    list.append(item);
  }
  return [make("h3", `${title}: ${arcs.length}`), list];
}
function fillPanel(n) {
  const close = makeButton("Close", () => { choose(null); svg.focus(); }, { class: "close" });
  const around = makeButton(undefined, () => { setDepth(depth ? 0 : 1); }, { class: "around" });
  const line = make("div", undefined, { class: "line" });
  line.append(make("p", data.states ? `${data.states[n].length} states` : ""), around);
  const parts = [close, make("h2", data.names[n]), line];
  const isShown = (i) => view === "dag" || data.arcs[i][DIRECTED];
  parts.push(...listArcs("Parents", into[n].filter(isShown), (arc) => arc[PARENT]));
  parts.push(...listArcs("Children", outOf[n].filter(isShown), (arc) => arc[CHILD]));
  const open = [...into[n], ...outOf[n]].filter((i) => !isShown(i));
  if (open.length) parts.push(...listArcs("Joined, direction unknown", open, (arc) => arc[arc[PARENT] === n ? CHILD : PARENT]));
  const blanket = blanketOf(n), names = make("div", undefined, { class: "blanket-list" });
  names.append(...blanket.map(link));
  parts.push(make("h3", `Markov blanket: ${blanket.length}`), names);
  if (data.tables) parts.push(make("h3", "Probabilities"), ...renderProbabilities(data, n));
  else parts.push(make("p", "This page has no probability tables."));
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}

// -- the neighbourhood of the selected variable

let depth = 0; // steps; 0 shows all variables
let part = ""; // the variable and the depth that are shown; empty if all variables are
const wholeBox = svg.getAttribute("viewBox"), wholePaths = paths.map((path) => path.getAttribute("d"));
const depths = [...byId("depths").children], shown = byId("shown");
const count = (n, noun) => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;
function drawNode(n, isShown) {
  nodes[n].classList.toggle("away", !isShown);
  nodes[n].setAttribute("transform", `translate(${places[n][0]} ${places[n][1]})`);
}
function drawArc(i, d) {
  for (const line of [paths[i], wides[i]]) {
    line.classList.toggle("away", !d);
    if (d) line.setAttribute("d", d);
  }
}
function drawPart(members) {
  const index = new Map(members.map((m, i) => [m, i]));
  const falls = (arc) => data.boxes[arc[PARENT]][1] < data.boxes[arc[CHILD]][1]; // not so if only the other network has it
  const inside = data.arcs.map((_, i) => i).filter((i) => index.has(data.arcs[i][PARENT]) && index.has(data.arcs[i][CHILD]));
  const ends = inside.map((i) => {
    const both = [index.get(data.arcs[i][PARENT]), index.get(data.arcs[i][CHILD])];
    return falls(data.arcs[i]) ? both : both.reverse();
  });
  const boxes = members.map((m) => ({ x: data.boxes[m][0], y: data.boxes[m][1], width: data.boxes[m][2] }));
  const drawing = layOut(boxes, ends, svg.clientWidth / svg.clientHeight);
  const curves = new Map(inside.map((i, at) => [i, falls(data.arcs[i]) ? drawing.curves[at] : [...drawing.curves[at]].reverse()]));
  places = data.boxes.map((each, m) => (index.has(m) ? drawing.places[index.get(m)] : each));
  nodes.forEach((_, m) => drawNode(m, index.has(m)));
  paths.forEach((_, i) => {
    const [first, ...rest] = curves.get(i) || [];
    drawArc(i, first && `M${first.join(" ")}C${rest.flat().join(" ")}`);
  });
  const width = Math.max(760, drawing.width + 56), height = Math.max(430, drawing.height + 56);
  svg.setAttribute("viewBox", [(drawing.width - width) / 2, (drawing.height - height) / 2, width, height].join(" "));
}
function drawAll() {
  places = data.boxes;
  nodes.forEach((_, n) => drawNode(n, true));
  paths.forEach((_, i) => drawArc(i, wholePaths[i]));
  svg.setAttribute("viewBox", wholeBox);
}
// Draw what the depth and the selected variable ask for.
function showPart() {
  depths.forEach((button, i) => button.setAttribute("aria-pressed", String(i === depth)));
  const around = panel.querySelector(".around");
  if (around) around.textContent = depth ? "Show all variables" : "Show its neighbourhood";
  const wanted = depth && chosen !== null ? `${chosen} ${depth}` : "";
  if (!wanted) say(depth ? "Choose a variable: click on it, or search for it." : "");
  if (wanted === part) return;
  part = wanted;
  svg.classList.toggle("part", part !== "");
  if (part) {
    const members = membersAround(chosen, depth);
    drawPart(members);
    viewport.start(places[chosen]);
    say(`${data.names[chosen]} and its neighbourhood, ${count(depth, "step")}: ` +
      `${members.length.toLocaleString("en-US")} of ${count(data.names.length, "variable")}.`);
  } else {
    drawAll();
    if (chosen === null) viewport.fit(); else viewport.start(places[chosen]);
  }
}
function say(text) { shown.textContent = text; shown.hidden = !text; }
function setDepth(steps) {
  depth = steps;
  showPart();
  if (depth && chosen === null) search.focus();
  else svg.scrollIntoView({ block: "nearest" });
}
depths.forEach((button, i) => button.addEventListener("click", () => setDepth(i)));

document.addEventListener("click", (event) => {
  const name = event.target.closest(".name");
  if (!name) return;
  choose(Number(name.dataset.n), { move: true });
});
makeSearch(search, byId("found"), data.names, (n) => choose(n, { move: true }));

// -- keys: arrows move from variable to variable, or pan the view

svg.addEventListener("keydown", (event) => {
  const n = numberOf(event.target);
  const next = n === null ? undefined : findNearest(places.map((place, m) => (isAway(m) ? null : place)), n, event.key);
  if (next !== undefined) {
    if (next !== null) {
      nodes[n].tabIndex = -1;
      nodes[next].tabIndex = 0;
      nodes[next].focus({ preventScroll: true });
    }
  } else if (event.key === "Enter" || event.key === " ") {
    if (n === null) return;
    choose(n);
  } else if (/^[1-3]$/.test(event.key)) {
    if (n !== null) choose(n);
    setDepth(Number(event.key));
  } else if (!pressViewKey(viewport, event.key)) return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    pinned = false;
    tip.hidden = true;
    if (depth) setDepth(0); else choose(null);
  }
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});

// -- views

const views = { dag: byId("view-dag"), cpdag: byId("view-cpdag") };
function setView(which) {
  view = which;
  if (chosen !== null) fillPanel(chosen);
  svg.classList.toggle("cpdag", which === "cpdag");
  for (const [name, button] of Object.entries(views)) button.setAttribute("aria-pressed", String(name === which));
}
views.dag.addEventListener("click", () => setView("dag"));
views.cpdag.addEventListener("click", () => setView("cpdag"));
const differences = byId("differences");
if (differences) {
  svg.classList.add("compared");
  differences.addEventListener("change", () => svg.classList.toggle("differ", differences.checked));
}

// -- tables and the command

const table = byId("arcs");
if (table) makeSortable(table);
const copy = byId("copy");
if (copy) copy.addEventListener("click", () => copyText(byId("command"), copy));
if (viewport.start(places[findBusiest(structure)])) say("A part of the graph is shown. Drag it to move; Fit shows all of it.");

// -- both species at work

function drawSpecies({ variables: names, orders, masks, work, row, arcs, credit }) {
  const draws = {
    individuals: (width) => drawIndividuals({ row, orders, arcs, names, width }),
    work: (width) => drawWork(work, credit, width),
    children: (width) => drawChildren(work, names, width),
    paid: (width) => drawPaid(work, names, width),
    orders: (width) => drawOrders(orders, names, width, 30),
    masks: () => drawMasks(masks, orders, arcs, names),
  };
  for (const [name, draw] of Object.entries(draws)) {
    const box = document.querySelector(`#species-${name} .picture`);
    if (box) box.replaceChildren(draw(chooseChartWidth(box)));
  }
}
if (data.species) {
  drawSpecies(data.species);
  window.addEventListener("resize", () => drawSpecies(data.species));
}
