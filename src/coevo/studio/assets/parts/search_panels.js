// The pictures of a search: its score, its species, and the best network so far.
import { drawChart, drawMasks, drawOrders } from "../charts.js";
import { formatNumber, h, show } from "../dom.js";
import { makeArrowsButton, makeGraphView } from "../page/graph_view.js";
import { whenIdle } from "../page/press.js";
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
  return run.has_events ? "The search ended before evolution began." : "Runs of the command line do not store their species.";
}

export function drawSpecies(model, run, isActive, width) {
  const { species, variables, arcs } = model;
  if (!species) return h("p", { class: "soft" }, explainAbsence(model, run, isActive));
  const { orders, masks } = species;
  const credit = masks?.credit;
  return h("div", { class: "grid-2" },
    h("figure", {},
      h("figcaption", {}, h("strong", {}, `Orders: agreement ${orders.agreement.toFixed(2)}`), ` over ${orders.n} orders. Dot: position in the best order; bar: over all orders.`),
      drawOrders(orders, variables, width)),
    masks && h("figure", {},
      h("figcaption", {}, h("strong", {}, `Masks: agreement ${masks.agreement.toFixed(2)}`), ` over ${masks.n} masks. ${masks.n_pairs} pairs, ${masks.n_common} in all masks.`,
        typeof credit === "number" && ` Highest credit ${formatNumber(credit)}.`,
        " Rows are parents and columns children, in the best order; a ring is an arc of the best network."),
      drawMasks(masks, orders, arcs, variables)));
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
