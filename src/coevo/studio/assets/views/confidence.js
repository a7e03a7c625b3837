// The Confidence view: how strong is each arc? A bootstrap is started here, and its strengths are shown.

import { path } from "../api.js";
import { h, s } from "../dom.js";
import { ARROWS, ARROWS_TITLE } from "../page/graph_view.js";
import { whenIdle } from "../page/press.js";
import { count, fill, label, makeAbsent, select } from "../parts/element.js";
import { StopButton, once } from "../parts/once.js";

const SHOWN = 60; // arcs before "Show all"
const ACTIVE = ["queued", "running"];
const DIRECTED_BY = { data: "data", knowledge: "constraints" }; // as in a report

// The shares of both directions. Runs of before 0.3.0 have no reverse: they counted undirected edges half.
const formatDirections = ({ direction, reverse }) =>
  [direction, reverse].map(share => typeof reverse === "number" ? share.toFixed(3) : "–");

// What directs an arc of the network, and whether the network has it the other way round.
const formatDirectedBy = ({ in_network: isThere, directed_by: by, is_reversed: isReversed }) =>
  !isThere ? "–" : by ? `${DIRECTED_BY[by]}${isReversed ? " (←)" : ""}` : "unknown";

class ConfidenceView {
  constructor(container, context, runs, name) {
    Object.assign(this, { container, context, name, api: context.api });
    this.least = null;
    this.samples = h("input", { type: "number", min: 0, max: 10000, value: 50, id: "samples" });
    this.posterior = h("input", { type: "checkbox", id: "posterior" });
    this.button = h("button", { class: "main", id: "start" }, "Start");
    this.stop = new StopButton(body => this.end(body), { id: "stop" });
    this.progress = h("div", { class: "row", role: "status", id: "progress" });
    this.body = h("div", { id: "strengths" });
    fill(container, h("h1", {}, "Confidence"),
      h("p", { class: "soft" }, "A bootstrap draws the rows of the table again and again, with replacement, and " +
        "learns a network from each sample. The strength of an arc is the share of the samples that have it."),
      h("form", { class: "fields", onsubmit: once(() => this.begin()) },
        label("Run", chooseRun(context, runs, name)), label("Bootstrap samples", this.samples),
        h("label", { class: "check" }, this.posterior, "posterior probabilities, too"), this.button, this.stop.node),
      this.progress, this.body);
    context.follow(name);
    context.onEvent("samples", event => this.showSamples(event));
    context.onEvent("status", event => { if (event.job === "confidence" && this.isActive) this.say(event.text); });
    context.onEvent("failed", () => this.load());
    context.onEvent("runs", () => this.load());
  }

  async load() {
    const record = await this.context.attempt(() => this.api.get(path`/api/confidence/${this.name}`));
    if (!record) return;
    const { state, kind, error } = record.run;
    this.isActive = ACTIVE.includes(state);
    this.button.disabled = this.isActive;
    this.stop.node.hidden = !this.isActive;
    if (!this.isActive) this.stop.reset();
    if (!this.isActive) this.say(kind === "confidence" ? error ?? "" : "");
    else if (kind !== "confidence") this.say("The search of this run is not done yet.");
    whenIdle(() => this.draw(record));
  }

  say(text) {
    fill(this.progress, text);
  }

  showSamples({ done, total }) {
    if (!this.isActive) return;
    fill(this.progress, h("progress", { max: total, value: done, "aria-label": "Bootstrap samples" }),
      `${done} of ${count(total, "sample")}`);
  }

  begin() {
    return this.context.attempt(async () => {
      await this.api.post(path`/api/confidence/${this.name}`, {
        bootstraps: Number(this.samples.value), posterior: this.posterior.checked,
      });
      await this.load();
    });
  }

  end(body) {
    return this.context.attempt(() => this.api.post(path`/api/runs/${this.name}/stop`, body));
  }

  draw(record) {
    this.record = record;
    if (!record.source && !record.posterior) {
      fill(this.body, h("p", { class: "empty" }, "No strengths yet. Start a bootstrap."));
      return;
    }
    const words = record.source === "climbs"
      ? `From a quick bootstrap of an older version: ${count(record.n_bootstraps, "sample")}, learned by hill climbing, ` +
        "which makes many strengths too high. Start a full one."
      : `From ${count(record.n_bootstraps, "bootstrap sample")}${record.n_bootstraps < record.n_asked ? ` of ${record.n_asked} (stopped)` : ""}${record.source === "quick" ? ", each learned by a short search" : ""}. ` +
        `Arcs above the threshold ${record.threshold.toFixed(2)} are significant. ` +
        `The consensus network has ${count(record.consensus.length, "arc")}.`;
    if (this.source !== record.source) this.least = record.threshold ?? 0.5;
    this.source = record.source;
    fill(this.body, record.source && [
      h("p", { id: "source" }, words), this.makeSlider(), this.makeGraph(), this.makeTable()],
    record.posterior && this.makePosterior(record.posterior));
  }

  makeSlider() {
    const shown = h("output", { for: "least" }, this.least.toFixed(2));
    const slider = h("input", {
      type: "range", id: "least", min: 0, max: 1, step: 0.01, value: this.least, "data-key": "least",
      oninput: () => { shown.textContent = Number(slider.value).toFixed(2); },
      onchange: () => { this.least = Number(slider.value); this.draw(this.record); },
    });
    return h("div", { class: "row" }, label("Show arcs of at least this strength", slider), shown);
  }

  makeGraph() {
    const address = `${path`/api/confidence/${this.name}/graph.svg`}?least=${this.least}&n=${this.record.n_bootstraps}${this.hasAllArrows ? "&arrows=all" : ""}`;
    const shown = this.record.arcs.filter(arc => arc.strength >= this.least);
    const box = h("input", {
      type: "checkbox", id: "arrows", "data-key": "arrows", checked: Boolean(this.hasAllArrows),
      onchange: () => { this.hasAllArrows = box.checked; this.draw(this.record); },
    });
    return h("figure", {}, h("label", { class: "check", title: ARROWS_TITLE }, box, ARROWS), h("img", {
      class: "picture", src: address, alt: `${count(shown.length, "arc")} of at least this strength; wider lines are stronger`,
    }), h("figcaption", { class: "soft" }, "Wider lines are stronger.",
      !this.hasAllArrows && shown.some(arc => !arc.directed_by) && " Without an arrowhead: the direction is unknown, both directions fit equally well.",
      shown.some(arc => !arc.in_network) && " Dashed arcs are not in the network of this run."));
  }

  makeTable() {
    const { threshold } = this.record;
    const arcs = this.record.arcs.filter(arc => arc.strength >= this.least);
    const rows = this.isAll ? arcs : arcs.slice(0, SHOWN);
    const heads = ["from", "to", "strength", "", "95 % interval", "→", "←", "directed by", "gain", "in the network", "in the consensus"];
    return h("div", {},
      h("p", { class: "soft" }, "→ and ←: the shares of the samples with this arc in which the data direct it this " +
        "way and the other way; the others leave it undirected. Gain: the loss of score without the arc."),
      h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Strength of each arc" },
        h("table", { id: "arcs" }, h("thead", {}, h("tr", {}, heads.map(one => h("th", { scope: "col" }, one)))),
          h("tbody", {}, rows.map(arc => h("tr", { class: arc.in_network ? "" : "outside" },
            h("td", {}, arc.from), h("td", {}, arc.to), h("td", {}, arc.strength.toFixed(3)),
            h("td", {}, makeBar(arc.strength, threshold)),
            h("td", {}, arc.interval ? arc.interval.map(end => end.toFixed(2)).join(" to ") : "–"),
            ...formatDirections(arc).map(share => h("td", {}, share)),
            h("td", {}, formatDirectedBy(arc)),
            h("td", {}, arc.gain === null || arc.gain === undefined ? "–" : arc.gain.toFixed(2)),
            h("td", {}, arc.in_network ? "yes" : "no"), h("td", {}, arc.in_consensus ? "yes" : "no")))))),
      rows.length < arcs.length && h("button", {
        type: "button", onclick: () => { this.isAll = true; this.draw(this.record); },
      }, `Show all ${count(arcs.length, "arc")}`));
  }

  makePosterior({ edges, verdict }) {
    return h("section", { id: "posterior-edges" }, h("h2", {}, "Posterior probabilities"), h("p", {}, verdict),
      h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Posterior probability of each edge" },
        h("table", {}, h("thead", {}, h("tr", {}, ["from", "to", "probability", "", "direction"].map(
          one => h("th", { scope: "col" }, one)))),
        h("tbody", {}, edges.slice(0, SHOWN).map(edge => h("tr", {}, h("td", {}, edge.from), h("td", {}, edge.to),
          h("td", {}, edge.probability.toFixed(3)), h("td", {}, makeBar(edge.probability, 0.5)),
          h("td", {}, edge.direction?.toFixed(3) ?? "–")))))));
  }
}

function chooseRun(context, runs, name) {
  const field = select(runs.map(run => [run.name, run.name]), name, {
    id: "run", onchange: () => context.go("confidence", field.value),
  });
  return field;
}

function makeBar(share, threshold) {
  return s("svg", { class: "strength-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: "back", width: 100, height: 10 }), s("rect", { width: 100 * share, height: 10 }),
    threshold !== null && threshold !== undefined && s("path", { d: `M${100 * threshold} 0V10` }));
}

export default {
  id: "confidence",
  title: "Confidence",
  async mount(container, context) {
    const { runs } = await context.api.get("/api/workspace");
    const ready = runs.filter(run => run.has_network);
    const wanted = context.params[0];
    const name = wanted ?? ready[0]?.name;
    if (!runs.length || !name) {
      fill(container, h("h1", {}, "Confidence"), h("p", { class: "empty" }, "There is no run yet. ",
        h("a", { href: context.makeAddress("learn") }, "Learn a network"), " first."));
      return;
    }
    if (!runs.some(run => run.name === name)) {
      fill(container, h("h1", {}, "Confidence"),
        h("div", { class: "fields" }, label("Run", chooseRun(context, runs, name))), makeAbsent("run", name));
      return;
    }
    await new ConfidenceView(container, context, runs, name).load();
  },
};
