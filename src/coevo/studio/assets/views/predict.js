// The Predict view: a table through a network, and how good its predictions are.

import { h } from "../dom.js";
import { count, fill, formatShare, label, makeAbsent, select } from "../parts/element.js";
import { makeCalibration, makeConfusion, makeRoc } from "../parts/prediction_charts.js";

class PredictView {
  constructor(container, context) {
    Object.assign(this, { container, context, api: context.api });
  }

  async start([network]) {
    const found = await this.api.get("/api/predict");
    if (!found.networks.length) {
      fill(this.container, h("h1", {}, "Predict"), h("p", { class: "soft" }, "There is no network yet. ",
        h("a", { href: this.context.makeAddress("learn") }, "Learn one"), " first."));
      return;
    }
    this.tables = found.tables;
    const ids = found.networks.map(one => one.id);
    this.network = select(found.networks.map(one => [one.id, one.title]),
      network ?? ids[0], { id: "network", onchange: () => this.chooseNetwork() });
    this.table = select(this.tables.map(one => [one, one]), null, { id: "table" });
    this.target = select([], null, { id: "target" });
    this.result = h("section", { id: "result", "aria-live": "polite" });
    this.button = h("button", { class: "main", id: "predict" }, "Predict");
    fill(this.container, h("h1", {}, "Predict"),
      h("p", { class: "soft" }, "The network computes the probability of each state of the target in each " +
        "row, given the other columns. If the table has the target, you see how good this is. Rows that " +
        "the network was learned from make it look better than it is."),
      h("form", { class: "fields", onsubmit: event => { event.preventDefault(); this.predict(); } },
        label("Network", this.network), label("Table", this.table), label("Target", this.target), this.button),
      this.result);
    await this.chooseNetwork();
    if (network && !ids.includes(network)) fill(this.result, makeAbsent("network", network));
  }

  async chooseNetwork() {
    const id = this.network.value, fields = [this.table, this.target, this.button];
    for (const one of fields) one.disabled = true; // the answer sets them
    this.result.querySelector(".error")?.remove();
    if (!id) return; // the address names no network
    const found = await this.context.attempt(() => this.api.get(`/api/predict/${encodeURIComponent(id)}`));
    if (this.network.value !== id) return;
    for (const one of fields) one.disabled = false;
    if (!found) return;
    fill(this.target, found.variables.map(one => h("option", { value: one }, one)));
    this.target.value = found.variables[found.variables.length - 1];
    this.table.value = this.tables.includes(found.table) ? found.table : this.tables[0] ?? "";
    this.button.disabled = !this.tables.length;
  }

  get query() {
    const query = new URLSearchParams({ table: this.table.value, target: this.target.value });
    return `${encodeURIComponent(this.network.value)}?${query}`;
  }

  async predict() {
    const query = this.query;
    this.button.disabled = true;
    fill(this.result, h("p", { class: "soft" }, "Computing …"));
    const [id, rest] = query.split("?");
    const found = await this.context.attempt(() => this.api.get(`/api/predict/${id}/rows?${rest}`));
    this.button.disabled = false;
    if (!found) fill(this.result);
    else this.draw(found, `/api/predict/${id}/file?${rest}`);
  }

  draw(found, address) {
    const notes = [...found.unknown];
    if (found.n_impossible) {
      notes.push(`${count(found.n_impossible, "row")} cannot happen under this network; ` +
        "they are predicted without evidence.");
    }
    fill(this.result,
      h("h2", {}, `${found.target} in ${count(found.n_rows, "row")}`),
      notes.map(one => h("p", { class: "soft" }, one)),
      h("p", {}, h("a", { class: "button", id: "download", href: address, download: "" },
        "Download the table with the predictions")),
      found.metrics ? this.makeMetrics(found)
        : h("p", { class: "soft" }, `The table has no known state of ${found.target}, so the ` +
          "predictions cannot be compared with the truth."),
      h("h2", {}, "First rows"), this.makePreview(found));
  }

  makeMetrics({ metrics, states, n_states: total, roc }) {
    const facts = [
      ["accuracy", formatShare(metrics.accuracy), "rows whose most probable state is the true one"],
      ["AUC", metrics.auc === null ? "–" : metrics.auc.toFixed(4), "1 is best, 0.5 is chance"],
      ["log loss", metrics.log_loss === null ? "infinite" : metrics.log_loss.toFixed(4), "lower is better"],
      ["Brier score", metrics.brier.toFixed(4), "lower is better"],
      ["calibration error", metrics.calibration_error.toFixed(4), "mean error of a probability"],
    ];
    const areas = Object.fromEntries(Object.entries(metrics.per_state).map(([state, one]) => [state, one.auc]));
    return [
      h("dl", { class: "facts", id: "metrics" }, facts.map(([name, value, title]) =>
        h("div", { title }, h("dt", {}, name), h("dd", {}, value)))),
      states.length < total && h("p", { class: "soft", id: "left-out" },
        `The ${states.length} most frequent of ${count(total, "state")} are shown below. The download has the ` +
        "probabilities of all states; coevo evaluate has all measures."),
      h("div", { class: "charts" }, makeConfusion(states, metrics.confusion, states.map(one => metrics.per_state[one].n_rows)),
        Object.keys(roc).length > 0 && makeRoc(roc, areas), makeCalibration(metrics.calibration)),
      this.makeStates(metrics.per_state),
    ];
  }

  makeStates(states) {
    const write = number => (number === null ? "–" : number.toFixed(4));
    return h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Measures of each state" },
      h("table", {}, h("thead", {}, h("tr", {}, ["state", "rows", "sensitivity", "specificity", "AUC"].map(
        one => h("th", { scope: "col" }, one)))),
      h("tbody", {}, Object.entries(states).map(([state, one]) => h("tr", {}, h("th", { scope: "row" }, state),
        h("td", {}, one.n_rows.toLocaleString("en-US")), h("td", {}, write(one.sensitivity)),
        h("td", {}, write(one.specificity)), h("td", {}, write(one.auc)))))));
  }

  makePreview(found) {
    return h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "First predictions" },
      h("table", {}, h("thead", {}, h("tr", {}, ["row", "predicted", "probability"].map(
        one => h("th", { scope: "col" }, one)))),
      h("tbody", {}, found.preview.map(one => h("tr", {}, h("td", {}, String(one.row)),
        h("td", {}, one.predicted), h("td", {}, one.probability.toFixed(4)))))));
  }
}

export default {
  id: "predict",
  title: "Predict",
  async mount(container, context) {
    await new PredictView(container, context).start(context.params);
  },
};
