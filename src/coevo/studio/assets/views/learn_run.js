// One search: its score over time, the best network so far, and both species at work.
//
// Everything shown follows from the events of the run, in their order. A tab that opens late, or
// connects again, receives all of them and shows the same.
import { path } from "../api.js";
import { chooseWidth, drawChart, drawMasks, drawOrders } from "../charts.js";
import { formatNumber, formatSeconds, h, show } from "../dom.js";
import { makeGraphView } from "../page/graph_view.js";
import { makeBudget } from "./learn.js";

const MOST_DRAWN = 150; // variables, as in coevo.studio.routes.learn

const ACTIVE = ["queued", "running"];
const STATES = {
  queued: "waiting for its turn", running: "running", done: "done", failed: "failed", stopped: "stopped",
  interrupted: "interrupted", unknown: "no result",
};
const REASONS = {
  time: "stopped by the time limit", generations: "stopped by the limit on generations",
  evaluations: "stopped by the limit on evaluations", patience: "stopped after generations without improvement",
  target: "stopped at the target score", interrupt: "stopped by the user", finished: "finished",
  callback: "stopped by a callback",
};

// What is known about a search, from its events.
export class SearchModel {
  constructor() {
    this.clear();
  }

  clear() {
    Object.assign(this, {
      variables: [], rows: [], levels: [], arcs: [], convergence: [], species: null, result: null,
      status: "", left: null, fraction: null, opened: null, error: null,
    });
  }

  add(event) {
    if (event.job && event.job !== "learn") return; // other work on the same run
    this[`on_${event.kind}`]?.(event);
  }

  on_restart() { this.clear(); }

  on_begin(event) {
    if (!event.resume) this.clear();
    this.result = null;
    this.error = null;
  }

  on_status(event) { this.status = event.text; }

  on_opened(event) {
    this.opened = event;
    this.variables = event.variables;
  }

  on_resumed(event) {
    this.rows = this.rows.filter(row => row[0] <= event.generation);
    this.convergence = this.convergence.filter(row => row[0] <= event.generation);
  }

  on_rows(event) {
    const last = this.rows.at(-1)?.[0] ?? -1;
    this.rows.push(...event.rows.filter(row => row[0] > last));
    this.left = event.left;
    this.fraction = event.fraction;
  }

  on_level(event) {
    this.levels = [...this.levels.filter(level => level.name !== event.name), { name: event.name, value: event.score }];
  }

  on_network(event) { this.arcs = event.arcs; }

  on_species(event) {
    this.species = event;
    this.convergence.push([event.generation, event.orders.agreement, event.masks?.agreement ?? null]);
  }

  on_result(event) {
    this.result = event;
    this.left = null;
    this.status = "";
  }

  on_done() { this.status = ""; this.left = null; }

  on_failed(event) { this.error = event.error; this.status = ""; }
}

function describe(model, isActive) {
  const row = model.rows.at(-1);
  if (!row) return model.status || "Waiting ...";
  const [generation, evaluations, seconds, improved, score, nArcs] = row;
  const limits = model.opened?.limits ?? {};
  const of = (value, limit) => limit ? `${value} of ${formatNumber(limit)}` : value;
  const parts = [
    `generation ${of(formatNumber(generation), limits.max_generations)}`,
    `${of(formatSeconds(seconds), limits.max_time)}`,
    `best score ${formatNumber(score)}, found in generation ${formatNumber(improved)}`,
    `${formatNumber(nArcs)} arcs`,
    `${formatNumber(evaluations)} evaluations`,
  ];
  if (limits.patience && isActive) parts.push(`${generation - improved} of ${limits.patience} generations without improvement`);
  if (isActive && model.left !== null && model.left >= 1) parts.push(`about ${formatSeconds(model.left)} left${limits.max_time || limits.max_generations ? "" : " unless it improves"}`);
  if (model.result) parts.push(REASONS[model.result.stop_reason] ?? model.result.stop_reason);
  return parts.join(" · ");
}

function drawScore(model, width) {
  if (!model.rows.length) return h("p", { class: "soft" }, "No generation yet.");
  const points = model.rows.map(row => [row[2], row[4]]);
  // The greedy start climbs far; the rest of the search would be a flat line beside it.
  const best = points.at(-1)[1], greedy = model.levels.find(level => level.name.startsWith("the greedy"))?.value;
  const first = points[0][1];
  const low = greedy !== undefined && best > greedy ? Math.max(first, best - 2.5 * (best - greedy)) : first;
  return drawChart({
    title: `Score over time, now ${formatNumber(best)}`, lines: [{ name: "best score so far", points, kind: "score" }],
    levels: model.levels, xTitle: "seconds", yTitle: "score", low: Math.min(low, best - 1e-6), steps: true, width,
  });
}

function drawConvergence(model, width) {
  const lines = [{ name: "orders", kind: "orders", points: model.convergence.map(row => [row[0], row[1]]) }];
  const masks = model.convergence.filter(row => row[2] !== null);
  if (masks.length) lines.push({ name: "masks", kind: "masks", points: masks.map(row => [row[0], row[2]]) });
  return [
    drawChart({ title: "Agreement of orders and of masks", lines, xTitle: "generation", yTitle: "agreement", low: Math.min(0, ...lines[0].points.map(([, y]) => y)), high: 1, width }),
    h("p", { class: "legend" }, h("span", { class: "key-orders" }, "orders: mean rank correlation"), lines.length > 1 && h("span", { class: "key-masks" }, "masks: shared pairs")),
  ];
}

function drawSpecies(model, width) {
  const { species, variables, arcs } = model;
  if (!species) {
    const hasSpecies = ["ccma", "ccga", "islands", "k2ga"].includes(model.opened?.method);
    return h("p", { class: "soft" }, hasSpecies ? "Evolution has not begun: the first generations climb greedily." : "This method has no species.");
  }
  const { orders, masks } = species;
  const credit = masks?.credit;
  return h("div", { class: "grid-2" },
    h("figure", {},
      h("figcaption", {}, h("strong", {}, `Orders: agreement ${orders.agreement.toFixed(2)}`), ` over ${orders.n} orders. Dot: position in the best order; bar: over all orders.`),
      drawOrders(orders, variables, width)),
    masks && h("figure", {},
      h("figcaption", {}, h("strong", {}, `Masks: agreement ${masks.agreement.toFixed(2)}`), ` over ${masks.n} masks. ${masks.n_pairs} pairs, ${masks.n_common} in all masks.`,
        credit && ` Credit of the best: ${formatNumber(credit.high)}, median ${formatNumber(credit.median)}.`,
        " Rows are parents and columns children, in the best order; a ring is an arc of the best network."),
      drawMasks(masks, orders, arcs, variables)));
}

function listArcs(model) {
  const names = model.variables;
  if (!model.arcs.length) return h("p", { class: "soft" }, "No arc yet.");
  const parents = new Map();
  for (const [parent, child] of model.arcs) parents.set(child, [...(parents.get(child) ?? []), names[parent]]);
  return h("ul", { class: "arcs" }, [...parents].sort(([a], [b]) => a - b).map(([child, list]) =>
    h("li", {}, h("strong", {}, names[child]), " ← ", list.join(", "))));
}

// The best network so far. The server lays it out, when it has changed and at most once a second.
class NetworkPanel {
  constructor(context) {
    this.context = context;
    this.graph = h("div", { class: "live-graph" });
    this.list = h("div", {});
    this.body = h("div", { class: "best-network" }, this.graph,
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
    show(this.list, listArcs(model));
    if (variables.length > MOST_DRAWN) {
      show(this.graph, h("p", { class: "soft" }, `A search with more than ${MOST_DRAWN} variables is drawn when it has ended, in Explore.`));
      return;
    }
    this.isBusy = true;
    this.draw(variables, arcs);
  }

  async draw(variables, arcs) {
    try {
      const drawing = await this.context.api.post("/api/learn/drawing", { variables, arcs });
      if (this.hasEnded) return;
      const view = makeGraphView(drawing, { onChoose: () => {} });
      show(this.graph, view.figure);
      view.viewport.fit();
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

function makePanel(title, ...children) {
  const body = h("div", {}, ...children);
  return { body, panel: h("section", { class: "panel-box" }, h("h2", {}, title), body) };
}

// A run of the command line has no events: its files say the same.
function fillFromFiles(model, run) {
  const saved = run.saved;
  if (!saved?.rows) return;
  model.variables = saved.variables;
  const number = new Map(saved.variables.map((name, i) => [name, i]));
  model.opened = { method: saved.method, limits: {}, variables: saved.variables };
  model.rows = saved.rows;
  model.arcs = saved.arcs.map(arc => [number.get(arc.from), number.get(arc.to)]).filter(([a, b]) => a !== undefined && b !== undefined);
  model.result = saved;
}

export function mountRun(container, context, first) {
  const model = new SearchModel();
  let run = first, isDue = false, ended = false;
  const call = (action, body) => context.attempt(() => context.api.post(`${path`/api/runs/${run.name}`}/${action}`, body));

  const buttons = h("div", { class: "actions" });
  const facts = h("p", { class: "progress-text" });
  const status = h("p", { class: "soft", role: "status" });
  const bar = h("progress", { max: "1", "aria-label": "Used share of the budget" });
  const error = h("p", { class: "error", role: "alert" });
  const score = makePanel("Score over time");
  const network = new NetworkPanel(context);
  const converge = makePanel("How the species converge");
  const species = makePanel("Both species at work");
  const notes = h("div", {});

  const extend = () => {
    const budget = makeBudget();
    const dialog = h("dialog", { "aria-label": "Extend the search" },
      h("form", { method: "dialog", onsubmit: event => {
        if (event.submitter?.value !== "yes") return;
        call("resume", { options: budget.read() });
      } },
        h("h2", {}, "Extend the search"),
        h("p", { class: "soft" }, "The budget counts from the beginning of the search. The search continues where it stopped."),
        budget.field,
        h("p", {}, h("button", { class: "main", type: "submit", value: "yes" }, "Continue"), " ", h("button", { type: "submit", value: "no" }, "Cancel"))));
    container.append(dialog);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.showModal();
  };

  const drawButtons = () => {
    const isActive = ACTIVE.includes(run.state);
    show(buttons,
      h("span", { class: `state ${run.state}` }, STATES[run.state] ?? run.state),
      isActive && h("button", { onclick: () => call("stop") }, "Stop"),
      !isActive && run.options && run.table && ["stopped", "interrupted", "failed"].includes(run.state) && h("button", { onclick: () => call("resume", {}) }, "Resume"),
      !isActive && run.table && ["done", "stopped"].includes(run.state) && h("button", { onclick: extend }, "Extend ..."),
      !isActive && run.has_network && h("a", { class: "button main", href: context.makeAddress("explore", `run:${run.name}`) }, "Explore the network"));
  };

  const draw = () => {
    isDue = false;
    if (ended) return;
    const isActive = ACTIVE.includes(run.state);
    const width = chooseWidth(score.body);
    facts.textContent = describe(model, isActive);
    status.textContent = isActive ? model.status : "";
    error.textContent = run.error ?? model.error ?? "";
    bar.hidden = !isActive;
    if (model.fraction === null) bar.removeAttribute("value");
    else bar.value = model.fraction;
    show(score.body, drawScore(model, width));
    network.update(model);
    if (model.convergence.length > 1) show(converge.body, drawConvergence(model, width));
    converge.panel.hidden = model.convergence.length < 2;
    show(species.body, drawSpecies(model, width));
    show(notes, (model.opened?.decisions ?? []).map(text => h("p", { class: "soft" }, text)),
      (model.opened?.notices ?? []).map(text => h("p", { class: "soft" }, text)));
  };
  // Events may come faster than the screen is drawn.
  const plan = () => {
    if (!isDue) {
      isDue = true;
      requestAnimationFrame(draw);
    }
  };

  show(container,
    h("h1", {}, run.name), buttons, error, facts, bar, status,
    h("div", { class: "grid-2" }, h("div", {}, score.panel, converge.panel), makePanel("Best network so far", network.body).panel),
    species.panel,
    run.command && h("section", {}, h("h2", {}, "The same on the command line"),
      h("p", { class: "soft" }, "In the folder of the workspace:"),
      h("pre", { class: "command" }, run.command)),
    notes);
  fillFromFiles(model, run);
  drawButtons();
  draw();
  context.onEvent("*", event => {
    model.add(event);
    plan();
  });
  context.onEvent("runs", () => context.attempt(async () => {
    run = await context.api.get(path`/api/runs/${run.name}`);
    drawButtons();
    plan();
  }));
  context.follow(run.name);
  window.addEventListener("resize", plan);
  return () => {
    ended = true;
    window.removeEventListener("resize", plan);
    network.end();
    context.follow(null);
  };
}
