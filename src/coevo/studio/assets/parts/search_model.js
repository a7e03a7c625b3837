// What is known about a search: everything follows from its events, in their order.
import { formatNumber, formatSeconds } from "../dom.js";

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
      variables: [], rows: [], levels: [], arcs: [], convergence: [], credit: [], species: null, result: null,
      status: "", left: null, fraction: null, patience: null, opened: null, error: null,
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
    this.credit = this.credit.filter(row => row[0] <= event.generation);
  }

  on_rows(event) {
    const last = this.rows.at(-1)?.[0] ?? -1;
    this.rows.push(...event.rows.filter(row => row[0] > last));
    this.credit.push(...(event.credit ?? []).filter(row => row[0] > last));
    this.left = event.left;
    this.patience = event.patience ?? null; // a run of an earlier version has none
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

export function describeSearch(model, isActive) {
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
  const patience = model.patience ?? limits.patience;
  if (patience && isActive) parts.push(`${generation - improved} of ${patience} generations without improvement`);
  if (isActive && model.left !== null && model.left >= 1) parts.push(`about ${formatSeconds(model.left)} left${limits.max_time || limits.max_generations ? "" : " unless it improves"}`);
  if (model.result) parts.push(REASONS[model.result.stop_reason] ?? model.result.stop_reason);
  return parts.join(" · ");
}
