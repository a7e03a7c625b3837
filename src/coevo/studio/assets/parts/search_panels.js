// The pictures of a search: its score, its species, and the best network so far.
import { drawChart } from "../charts.js";
import { formatNumber, h, show } from "../dom.js";
import { makeArrowsButton, makeGraphView } from "../page/graph_view.js";
import { whenIdle } from "../page/press.js";
import { drawChildren, drawIndividuals, drawMasks, drawOrders, drawPaid, drawWork } from "../page/species_charts.js";
import { CHILD, DIRECTED, PARENT, describeDirection } from "../page/structure.js";

const WITH_SPECIES = ["ccma", "ccga", "islands", "k2ga"];
const MOST_DRAWN = 150; // variables, as in coevo.studio.routes.learn

// What the score is compared with: levels of the search itself, a proof, the best other run.
function listLevels(model, run) {
  const levels = [...model.levels];
  const bound = run.saved?.bound, best = run.levels?.[0];
  if (typeof bound === "number") levels.push({ name: "proved upper bound", value: bound });
  if (best) levels.push({ name: `run ${best.name}`, value: best.score });
  return levels;
}

export function drawScore(model, run, width) {
  if (!model.rows.length) return h("p", { class: "soft" }, "No generation yet.");
  const points = model.rows.map(row => [row[2], row[4]]);
  // The greedy start climbs far; the rest of the search would be a flat line beside it.
  const best = points.at(-1)[1], greedy = model.levels.find(level => level.name.startsWith("the greedy"))?.value;
  const first = points[0][1];
  const low = greedy !== undefined && best > greedy ? Math.max(first, best - 2.5 * (best - greedy)) : first;
  return drawChart({
    title: `Score over time, now ${formatNumber(best)}`, lines: [{ name: "best score so far", points, kind: "score" }],
    levels: listLevels(model, run), xTitle: "seconds", yTitle: "score", low: Math.min(low, best - 1e-6), steps: true, width,
  });
}

export function drawConvergence(model, width) {
  const lines = [{ name: "orders", kind: "orders", points: model.convergence.map(row => [row[0], row[1]]) }];
  const masks = model.convergence.filter(row => row[2] !== null);
  if (masks.length) lines.push({ name: "masks", kind: "masks", points: masks.map(row => [row[0], row[2]]) });
  return [
    drawChart({ title: "Agreement of orders and of masks", lines, xTitle: "generation", yTitle: "agreement", low: Math.min(0, ...lines[0].points.map(([, y]) => y)), high: 1, width }),
    h("p", { class: "legend" }, h("span", { class: "key-orders" }, "orders: mean rank correlation"), lines.length > 1 && h("span", { class: "key-masks" }, "masks: shared pairs")),
  ];
}

// Why there are no species to draw.
function explainAbsence(model, run, isActive) {
  const method = model.opened?.method ?? run.options?.method;
  if (method && !WITH_SPECIES.includes(method)) return "This method has no species.";
  if (!model.rows.length) return "No generation yet.";
  if (isActive) return "Evolution has not begun: the first generations climb greedily.";
  return run.has_events ? "The search ended before evolution began." : "This run does not store its species.";
}

// What each species is, and what scores it, as in the report (coevo.view.page.species_section).
function explainSpecies({ masks, work }) {
  const order = "An order is a sequence of all variables. A parent must come before its child.";
  if (work) return `${order} A mask lists candidate parents for each child; it decides which families are scored. An order is scored by the best families that the masks have found for it, a mask by its credit: what the orders gain for each family that it scores. The higher its credit, the more families it may score.`;
  if (masks) return `${order} A mask says for each two positions whether an arc joins them. Order and mask together are a network, and its score is the score of both.`;
  return order;
}

function makeFigure(title, text, chart) {
  return h("figure", {}, h("figcaption", {}, h("strong", {}, `${title}.`), ` ${text}`), chart);
}

// What the masks did for the orders, and which of them got the budget for it.
function drawMaskWork({ work }, credit, names, width) {
  if (!work) return [];
  const share = work.families ? Math.round(100 * work.families_of_earning / work.families) : 0;
  return [
    makeFigure("Masks: budget and credit", `${formatNumber(work.families)} families scored; the orders gained ${formatNumber(work.nats)} nats by them on average. The darker a square, the higher the credit at that time: the nats for each family.`, drawWork(work, credit, width)),
    makeFigure("Children: budget", `${formatNumber(work.n_earning)} of ${formatNumber(work.n_children)} children brought nats; ${share} % of the families were spent on them.`, drawChildren(work, names, width)),
    makeFigure("Candidates that paid", "The nats that the parent last added to a parent set of the child. Filled: an arc of the best network; pale: its reverse is one; empty: neither.", drawPaid(work, names, width)),
  ];
}

export function drawSpecies(model, run, isActive, width) {
  const { species, variables, arcs, credit } = model;
  if (!species) return h("p", { class: "soft" }, explainAbsence(model, run, isActive));
  const { orders, masks, row } = species;
  const isComplete = species.work && row?.candidates.length >= variables.length - 1;
  const best = species.work ? null : masks?.credit; // with credit over time, the last one says little
  return [h("p", { class: "about" }, explainSpecies(species)), h("div", { class: "grid-2" },
    row && makeFigure("What an individual is", `Above, the best order. Below, one row of ${row.mask}: its candidates for ${variables[row.child]}. What comes before the child may be its parent. Arrows are arcs of the best network.`,
      drawIndividuals({ row, orders, arcs, names: variables, width })),
    drawMaskWork(species, credit, variables, width),
    makeFigure(`Orders: agreement ${orders.agreement.toFixed(2)}`, `${orders.n} orders. Dot: position in the best order; bar: over all orders.`, drawOrders(orders, variables, width, 40)),
    masks && makeFigure(`Masks: agreement ${masks.agreement.toFixed(2)}`,
      `${masks.n} masks. ${masks.n_pairs} pairs, ${masks.n_common} in all masks.${typeof best === "number" ? ` Highest score ${formatNumber(best)}.` : ""} Rows are parents and columns children, in the best order; a ring is an arc of the best network.${isComplete ? " With so few variables each mask holds all pairs; the masks differ in what they extend." : ""}`,
      drawMasks(masks, orders, arcs, variables)))];
}

// The arcs of a drawing, each with what directs it.
function listDrawnArcs({ names, arcs }) {
  return h("ul", { class: "arcs" }, arcs.map(arc => h("li", {},
    `${names[arc[PARENT]]} ${arc[DIRECTED] ? "→" : "—"} ${names[arc[CHILD]]}, `, h("small", { class: "soft" }, describeDirection(arc)))));
}

// The arcs of a search that is not drawn: its DAG, which is one of its class.
function listParents(model) {
  const names = model.variables;
  const parents = new Map();
  for (const [parent, child] of model.arcs) parents.set(child, [...(parents.get(child) ?? []), names[parent]]);
  return [h("p", { class: "soft" }, "The parents of each variable, in one DAG of the class. The data may not give all of these directions."),
    h("ul", { class: "arcs" }, [...parents].sort(([a], [b]) => a - b).map(([child, list]) =>
      h("li", {}, h("strong", {}, names[child]), " ← ", list.join(", "))))];
}

// The best network so far. The server lays it out, when it has changed and at most once a second.
export class NetworkPanel {
  constructor(context, run) {
    this.context = context;
    this.run = run;
    this.graph = h("div", { class: "live-graph" });
    this.view = null;
    this.arrows = makeArrowsButton(() => this.view, { is_learned: true });
    this.arrows.hidden = true; // until there is a graph
    this.list = h("div", {});
    this.body = h("div", { class: "best-network" }, h("p", {}, this.arrows), this.graph,
      h("details", {}, h("summary", {}, "As a list"), this.list));
    this.drawn = "";
    this.isBusy = false;
    this.hasEnded = false;
  }

  update(model) {
    this.model = model;
    const { arcs, variables } = model;
    const key = JSON.stringify(arcs);
    if (this.hasEnded || this.isBusy || key === this.drawn || !variables.length) return;
    this.drawn = key;
    this.body.setAttribute("aria-label", `${arcs.length} arcs`);
    if (!arcs.length) show(this.list, h("p", { class: "soft" }, "No arc yet."));
    if (variables.length > MOST_DRAWN) {
      show(this.graph, h("p", { class: "soft" }, `A search with more than ${MOST_DRAWN} variables is drawn when it has ended, in Explore.`));
      if (arcs.length) show(this.list, listParents(model));
      return;
    }
    this.isBusy = true;
    this.draw(variables, arcs);
  }

  async draw(variables, arcs) {
    try {
      const drawing = await this.context.api.post("/api/learn/drawing", { variables, arcs, run: this.run });
      await new Promise(whenIdle);
      if (this.hasEnded) return;
      this.view = makeGraphView(drawing, { onChoose: () => {} });
      this.view.showArrows(this.arrows.getAttribute("aria-pressed") === "true");
      this.arrows.hidden = false;
      show(this.graph, this.view.figure);
      if (arcs.length) show(this.list, listDrawnArcs(drawing));
      this.view.viewport.fit();
    } catch (error) {
      if (!this.hasEnded) show(this.graph, h("p", { class: "error" }, error.message));
    }
    await new Promise(resolve => setTimeout(resolve, 1000));
    this.isBusy = false;
    this.update(this.model);
  }

  end() {
    this.hasEnded = true;
  }
}
