// One column of a table: its type, its values, and the cut points of its numbers.

import { h, s } from "../dom.js";
import { count, fill, formatShare, formatValue, label, latest, select } from "./element.js";
import { makeCutEditor } from "./histogram.js";

const KINDS = [
  ["", "as detected"], ["categorical", "categories"], ["continuous", "numbers, cut into bins"],
  ["ignore", "leave out"], ["year+month", "date: year and month"],
  ["month+weekday", "date: month and weekday"], ["date", "date as a number"],
];
const WORDS = {
  categorical: "categories", continuous: "numbers in bins", "left out": "left out",
  replaced: "replaced by parts of dates",
};

// Return bars of states with their rows.
export function makeBars(states, title) {
  const tallest = Math.max(...states.map(one => one.count), 1);
  return h("ul", { class: "bars", "aria-label": title }, states.map(one => h("li", {},
    h("span", { class: "state", title: one.state }, one.state || "(empty)"),
    s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      s("rect", { width: Math.max(one.count ? 0.8 : 0, 100 * one.count / tallest), height: 10 })),
    h("span", { class: "count" }, one.count.toLocaleString("en-US")))));
}

function describeValues(column) {
  const summary = column.summary;
  if (!summary) return "not read";
  const numbers = summary.numbers;
  if (numbers && column.kind === "continuous") {
    return `${formatValue(numbers.minimum)} to ${formatValue(numbers.maximum)}, ` +
      `median ${formatValue(numbers.median)}`;
  }
  if (column.is_variable) return count(summary.n_distinct, "value");
  return (summary.examples || []).slice(0, 3).join(", ");
}

// A card that opens. `actions` = {setType(name, type), countBins(name, cuts), open(name)}.
export class ColumnCard {
  constructor(column, actions, isOpen, onToggle) {
    this.actions = actions;
    this.name = column.name;
    this.body = h("div", { class: "column-body" });
    this.title = h("summary", { "data-key": `column-${column.name}` });
    this.node = h("details", {
      class: "column", open: isOpen, "data-column": column.name,
      ontoggle: () => {
        onToggle(this.name, this.node.open);
        if (this.node.open && !this.body.hasChildNodes()) this.drawBody();
      },
    }, this.title, this.body);
    this.update(column);
    if (isOpen) this.drawBody();
  }

  update(column) {
    this.column = column;
    const missing = column.summary?.n_missing || 0;
    fill(this.title,
      h("strong", {}, column.name),
      h("span", { class: `kind ${column.is_variable ? "" : "out"}` }, WORDS[column.kind] || column.kind),
      h("span", { class: "values" }, describeValues(column)),
      missing > 0 && h("span", { class: "missing-note" },
        `${formatShare(missing / column.summary.n_rows)} missing`),
      column.is_changed && h("span", { class: "changed" }, "changed by you"));
    if (this.node.open && this.body.hasChildNodes()) this.drawBody();
  }

  drawBody() {
    const { column } = this;
    const parts = [h("div", { class: "row" }, column.info.source ? this.makeSource() : this.makeType(),
      column.is_changed && h("button", {
        type: "button", "data-key": `restore-${column.name}`,
        onclick: () => this.actions.setType(this.name, null),
      }, "Restore what was detected"))];
    if (column.info.reason) parts.push(h("p", { class: "note" }, column.info.reason));
    const numbers = column.summary?.numbers;
    if (column.kind === "continuous" && numbers) parts.push(this.makeCuts(column, numbers));
    else if (column.summary?.states) {
      const others = column.summary.n_other_states
        ? [{ state: count(column.summary.n_other_states, "other state"), count: column.summary.n_other_rows }]
        : [];
      parts.push(makeBars([...column.summary.states, ...others], `States of ${column.name}`));
    }
    if (this.editor && column.kind === "continuous" && numbers) {
      // The editor stays, so that the focus and a drag are not lost.
      this.editor.setCuts(column.info.cuts || []);
    }
    fill(this.body, parts);
  }

  makeType() {
    const { column } = this;
    const declared = column.is_changed ? column.info.type : "";
    const known = KINDS.some(([value]) => value === declared);
    const type = select(known ? KINDS : [...KINDS, [declared, declared]], declared, {
      "data-key": `type-${column.name}`,
      onchange: () => this.actions.setType(this.name, type.value || null),
    });
    return label("Type", type);
  }

  // A part of a date is no column of the file: the type of its column of dates decides.
  makeSource() {
    const { source } = this.column.info;
    return [h("p", { class: "note" }, `This is a part of the column ${source}. To leave it out, or to read other ` +
      `parts, change the type of ${source}.`),
    h("button", { type: "button", onclick: () => this.actions.open(source) }, `Open ${source}`)];
  }

  makeCuts(column, numbers) {
    const cuts = column.info.cuts || [];
    if (!this.editor) {
      const showBins = latest(async moved => {
        const found = await this.actions.countBins(this.name, moved);
        if (found && moved === this.moved) this.drawBins(found.bins);
      });
      this.bins = h("div");
      this.fields = h("div", { class: "row cut-fields" });
      this.addButton = h("button", {
        type: "button", "data-key": `add-${this.name}`, onclick: () => this.editor.add(),
      }, "Add a cut point");
      this.showCuts = moved => {
        this.moved = moved;
        this.drawFields(moved);
        showBins(moved);
      };
      this.editor = makeCutEditor({
        name: column.name, numbers, cuts, onInput: this.showCuts, onCommit: moved => this.storeCuts(moved),
      });
    }
    this.moved = null; // an answer about earlier cut points comes too late
    this.drawFields(cuts);
    this.drawBins(numbers.bins || []);
    const how = column.info.method
      ? `The cut points were found by the method ${column.info.method}.`
      : "You chose these cut points.";
    return h("div", {}, this.editor.node,
      h("p", { class: "note" }, `${how} Drag a cut point, or move it with the arrow keys; ` +
        "Delete removes it; a double click adds one."),
      this.fields, this.bins);
  }

  // A field stays as long as its cut point does: a new one would lose the caret, and what is selected in it.
  // A text that is typed over a selection would be added to the old number then.
  drawFields(cuts) {
    this.cuts = cuts;
    const rows = [...this.fields.querySelectorAll(".cut-field")].slice(0, cuts.length);
    const isSame = rows.length === cuts.length && this.fields.childElementCount === cuts.length + 1;
    while (rows.length < cuts.length) rows.push(this.makeField(rows.length));
    rows.forEach((row, i) => {
      const [field, remove] = row.children;
      if (field.value !== String(cuts[i])) field.value = cuts[i];
      remove.setAttribute("aria-label", `Remove the cut point ${formatValue(cuts[i])}`);
    });
    if (!isSame) fill(this.fields, rows, this.addButton);
  }

  makeField(i) {
    const change = text => {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) return;
      this.changeCuts([...new Set(this.cuts.map((cut, j) => (j === i ? value : cut)))].sort((a, b) => a - b));
    };
    return h("span", { class: "cut-field" },
      h("input", {
        type: "number", step: "any", "aria-label": `Cut point ${i + 1}`,
        "data-key": `field-${this.name}-${i}`, onchange: event => change(event.target.value),
      }),
      h("button", {
        type: "button", title: "Remove", onclick: () => this.changeCuts(this.cuts.filter((_, j) => j !== i)),
      }, "×"));
  }

  // Show changed cut points at once: the next change is made to these, even before the server has answered.
  changeCuts(cuts) {
    this.editor.setCuts(cuts);
    this.showCuts(cuts);
    this.storeCuts(cuts);
  }

  storeCuts(cuts) {
    this.actions.setType(this.name, { type: "continuous", cuts });
  }

  drawBins(bins) {
    fill(this.bins, makeBars(bins, `Bins of ${this.name}, with their rows`));
  }
}
