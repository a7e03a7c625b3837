// One search: its score over time, the best network so far, and both species at work.
//
// Everything shown follows from the events of the run, in their order. A tab that opens late, or
// connects again, receives all of them and shows the same.
import { path } from "../api.js";
import { chooseWidth } from "../charts.js";
import { h, show } from "../dom.js";
import { whenIdle } from "../page/press.js";
import { StopButton, once } from "../parts/once.js";
import { STATES, removeRun } from "../parts/run_actions.js";
import { SearchModel, describeSearch } from "../parts/search_model.js";
import { NetworkPanel, drawConvergence, drawScore, drawSpecies } from "../parts/search_panels.js";
import { makeBudget } from "./learn.js";

const ACTIVE = ["queued", "running"];
const RESUMABLE = ["stopped", "interrupted", "failed", "damaged"];

function makePanel(title, ...children) {
  const body = h("div", {}, ...children);
  return { body, panel: h("section", { class: "panel-box" }, h("h2", {}, title), body) };
}

// A run of the command line has no events: its files say the same.
function fillFromFiles(model, run) {
  const saved = run.saved;
  if (!saved?.rows) return;
  const variables = saved.species?.variables ?? saved.variables; // the numbers of the species are those of their list
  model.variables = variables;
  const number = new Map(variables.map((name, i) => [name, i]));
  model.opened = { method: saved.method, limits: {}, variables };
  model.rows = saved.rows;
  model.arcs = saved.arcs.map(arc => [number.get(arc.from), number.get(arc.to)]).filter(([a, b]) => a !== undefined && b !== undefined);
  model.result = saved;
  model.species = saved.species;
  model.credit = saved.credit;
}

export function mountRun(container, context, first) {
  const model = new SearchModel();
  let run = first, isDue = false, ended = false, isLeaving = false;
  const call = (action, body) => context.attempt(() => context.api.post(`${path`/api/runs/${run.name}`}/${action}`, body));

  const buttons = h("div", { class: "actions" });
  const stop = new StopButton(body => call("stop", body));
  const facts = h("p", { class: "progress-text" });
  const status = h("p", { class: "soft", role: "status" });
  const bar = h("progress", { max: "1", "aria-label": "Used share of the budget" });
  const error = h("p", { class: "error", role: "alert" });
  const score = makePanel("Score over time");
  const network = new NetworkPanel(context, run.name);
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

  const startAgain = async () => {
    const made = await call("again", {});
    if (made) context.go("learn", made.name);
    return Boolean(made);
  };
  const remove = async () => {
    isLeaving = true; // the server says that the runs have changed before it answers
    isLeaving = await removeRun(context, run.name);
    if (isLeaving) context.go("home");
    return isLeaving;
  };

  const drawButtons = () => {
    const isActive = ACTIVE.includes(run.state);
    if (!isActive) stop.reset();
    show(buttons,
      h("span", { class: `state ${run.state}` }, STATES[run.state] ?? run.state),
      isActive && stop.node,
      !isActive && run.table && RESUMABLE.includes(run.state) && h("button", { onclick: once(() => call("resume", {})) }, "Resume"),
      run.table && ["failed", "damaged"].includes(run.state) && h("button", {
        title: "A new run with the same options, on the table and the knowledge as they are now", onclick: once(startAgain),
      }, "Start again"),
      !isActive && run.table && ["done", "stopped"].includes(run.state) && h("button", { onclick: extend }, "Extend ..."),
      !isActive && run.has_network && h("a", { class: "button main", href: context.makeAddress("explore", `run:${run.name}`) }, "Explore the network"),
      !isActive && h("button", { onclick: once(remove) }, "Remove"));
  };

  const draw = () => {
    isDue = false;
    if (ended) return;
    const isActive = ACTIVE.includes(run.state);
    const width = chooseWidth(score.body);
    facts.textContent = describeSearch(model, isActive);
    status.textContent = isActive ? model.status : "";
    error.textContent = run.error ?? model.error ?? "";
    bar.hidden = !isActive;
    if (model.fraction === null) bar.removeAttribute("value");
    else bar.value = model.fraction;
    show(score.body, drawScore(model, run, width));
    network.update(model);
    if (model.convergence.length > 1) show(converge.body, drawConvergence(model, width));
    converge.panel.hidden = model.convergence.length < 2;
    show(species.body, drawSpecies(model, run, isActive, width));
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
  context.onEvent("runs", () => !isLeaving && context.attempt(async () => {
    run = await context.api.get(path`/api/runs/${run.name}`);
    whenIdle(drawButtons);
    plan();
  }));
  context.follow(run.name);
  window.addEventListener("resize", plan);
  return () => {
    ended = true;
    window.removeEventListener("resize", plan);
    network.end();
    stop.reset();
    context.follow(null);
  };
}
