import { make } from "./elements.js";

// The probability table of a variable, with the number of rows behind each parent configuration.
const LONG = 18; // characters of a name from which a cell has a tooltip

const grouped = (n, digits = 0) => n.toLocaleString("en-US", { maximumFractionDigits: digits });

// A name in a cell: at most three lines; the tooltip has all of it.
function clip(tag, text, attributes = {}) {
  const cell = make(tag, undefined, attributes);
  cell.append(make("span", text, text.length > LONG ? { class: "clip", title: text } : { class: "clip" }));
  return cell;
}

function formatCount(count) {
  if (count === 0) return "no rows";
  return count < 0.05 ? "<0.1" : grouped(count, 1);
}
export function formatProbability(p) {
  if (p === 0 || p === 1) return String(p);
  return p < 0.0005 ? p.toExponential(1) : p.toFixed(3);
}

// The state of each parent in a row of the table; the last parent varies fastest.
function parentStates(at, states) {
  const given = [];
  let rest = at;
  for (let i = states.length - 1; i >= 0; i--) {
    given.unshift(states[i][rest % states[i].length]);
    rest = Math.floor(rest / states[i].length);
  }
  return given;
}

function makeRow(data, n, at) {
  const { parents, rows, counts } = data.tables[n];
  const unseen = counts !== undefined && counts[at] === 0;
  const line = make("tr", undefined, unseen
    ? { class: "unseen", title: "No rows: the probabilities come from the prior only." } : {});
  for (const state of parentStates(at, parents.map((p) => data.states[p]))) {
    line.append(clip("td", state, { class: "given" }));
  }
  if (counts) line.append(make("td", formatCount(counts[at]), { class: "count" }));
  for (const p of rows[at]) {
    const cell = make("td", formatProbability(p), { class: "p", title: String(p) });
    cell.style.background = `linear-gradient(to right, var(--bar) ${100 * p}%, transparent ${100 * p}%)`;
    line.append(cell);
  }
  return line;
}

function describe(data, n) {
  const { n: total, rows, counts, unseen } = data.tables[n], notes = [];
  if (rows.length < total) notes.push(`The first ${grouped(rows.length)} of ${grouped(total)} parent configurations.`);
  if (unseen) {
    notes.push(`${grouped(unseen)} of ${grouped(total)} parent configurations ${unseen === 1 ? "has" : "have"} no rows ` +
      "(grey): their probabilities come from the prior only.");
  }
  if (counts && data.means) notes.push("Numbers of rows are means over the imputed tables.");
  return notes;
}

// Return the notes about a table, and the table in a box that scrolls.
export function renderProbabilities(data, n) {
  const { parents, rows, counts } = data.tables[n];
  const head = make("tr"), thead = make("thead"), body = make("tbody");
  for (const p of parents) head.append(clip("th", data.names[p], { scope: "col", class: "given" }));
  if (counts) head.append(make("th", "rows", { scope: "col", class: "count" }));
  for (const state of data.states[n]) head.append(clip("th", state, { scope: "col" }));
  thead.append(head);
  body.append(...rows.map((_, at) => makeRow(data, n, at)));
  const table = make("table", undefined, { class: "cpt" });
  table.append(thead, body);
  const wide = make("div", undefined, { class: "wide", tabindex: "0", role: "region", "aria-label": "Probabilities" });
  wide.append(table);
  return [...describe(data, n).map((note) => make("p", note)), wide];
}
