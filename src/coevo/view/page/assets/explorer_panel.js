import { make, makeButton } from "./elements.js";
import { describeFinding, formatError, formatLogProbability, formatPercent, listChanges } from "./evidence.js";
import { renderProbabilities } from "./probabilities.js";
import { CHILD, DIRECTED, PARENT, describeFacts } from "./structure.js";

// The panel of the explore view: the chosen variable, then the evidence.
const MOST_CHANGES = 8;
const MOST_TOLD = 10;

const link = (context, n) => makeButton(context.drawing.names[n], () => context.choose(n), { class: "name" });

function makeBar(p, before) {
  const bar = make("span", undefined, { class: "wide-bar" }), inner = make("span", undefined, { class: "inner" });
  inner.style.width = `${100 * p}%`;
  bar.append(inner);
  if (before !== undefined && Math.abs(before - p) >= 5e-4) {
    const mark = make("span", undefined, { class: "before" });
    mark.style.left = `${100 * before}%`;
    bar.append(mark);
  }
  return bar;
}

// The states of a variable as buttons: press one to observe it, press it again to retract it.
function listStates(context, n) {
  const { drawing, evidence } = context, name = drawing.names[n], finding = evidence.given[name];
  const list = make("ul", undefined, { class: evidence.now.estimate ? "states estimated" : "states", "aria-label": `States of ${name}` });
  drawing.states[n].forEach((state, k) => {
    const p = evidence.now.marginals[n][k], before = evidence.base?.marginals[n][k];
    const error = formatError(evidence.now.standard_errors?.[n][k]);
    const button = makeButton(state, () => evidence.toggle(n, k), {
      class: "state-button", "aria-pressed": String(finding === state), "data-keep": `state ${k}`,
      "aria-label": `${state}, ${formatPercent(p)}${error}${before === undefined || before === p ? "" : `, before ${formatPercent(before)}`}`,
    });
    const item = make("li");
    item.append(button, makeBar(p, before), make("small", formatPercent(p) + error));
    list.append(item);
  });
  return list;
}

// Soft evidence: how much more probable the finding is with one state than with another. The fields stay while
// the variable and its finding do: the answer about another finding must not take away weights that are typed.
function makeSoft(context, n) {
  const { drawing, evidence, soft } = context, name = drawing.names[n], finding = evidence.given[name];
  const key = JSON.stringify([n, finding ?? null]);
  if (soft.key !== key) Object.assign(soft, { key, form: makeSoftForm(drawing, evidence, n, finding) });
  return soft.form;
}

function makeSoftForm(drawing, evidence, n, finding) {
  const name = drawing.names[n];
  const current = finding === undefined || typeof finding === "string" ? null : finding;
  const details = make("details", undefined, { class: "soft-evidence" });
  details.open = current !== null;
  details.append(make("summary", "Uncertain finding"), make("p", "Weight each state by how probable the finding is if the state is true."));
  const fields = drawing.states[n].map((state, k) => {
    const field = make("input", undefined, {
      type: "number", min: 0, step: "any", value: current && Object.hasOwn(current, state) ? current[state] : 1, "aria-label": `Weight of ${state}`, "data-keep": `weight ${k}`,
    });
    const label = make("label");
    label.append(make("span", state), field);
    details.append(label);
    return [state, field];
  });
  details.append(makeButton("Enter", () => {
    evidence.soften(name, Object.fromEntries(fields.map(([state, field]) => [state, Number(field.value)])));
  }, { "data-keep": "soft" }));
  return details;
}

function listArcs(context, title, arcs, end) {
  const { drawing } = context, list = make("ul");
  for (const i of arcs) {
    const item = make("li"), facts = describeFacts(drawing.arcs[i]);
    const open = drawing.arcs[i][DIRECTED] || !context.view.isClass() ? "" : (facts ? ", " : "") + "direction unknown";
    item.append(link(context, drawing.arcs[i][end]), make("small", facts + open));
    list.append(item);
  }
  return [make("h3", `${title}: ${arcs.length}`), list];
}

// A path in words; an arc whose direction is unknown has an arrowhead only in the DAG.
function formatPath({ drawing, view }, nodes) {
  const isClass = view.svg.classList.contains("cpdag");
  return nodes.map((n, at) => {
    if (!at) return drawing.names[n];
    const arc = drawing.arcs.find((one) => [nodes[at - 1], n].includes(one[PARENT]) && [nodes[at - 1], n].includes(one[CHILD]));
    const link = isClass && !arc[DIRECTED] ? "--" : arc[CHILD] === n ? "->" : "<-";
    return `${link} ${drawing.names[n]}`;
  }).join(" ");
}

// Why two variables are connected: the active paths, in words and lit in the graph.
function makeConnection(context, n) {
  const { drawing, evidence, view } = context, holder = make("div"), answer = make("div", undefined, { "aria-live": "polite" });
  const select = make("select", undefined, { "aria-label": "The other variable", "data-keep": "other" });
  select.append(make("option", "choose a variable", { value: "" }));
  drawing.names.forEach((name, m) => { if (m !== n) select.append(make("option", name, { value: m })); });
  select.addEventListener("change", async () => {
    if (select.value === "") return;
    const other = Number(select.value);
    try {
      const found = await context.ask("paths", { source: drawing.names[n], target: drawing.names[other], given: evidence.given });
      view.lightPaths(found.paths.length ? found.paths.map((path) => path.nodes) : [[n], [other]]);
      if (!found.paths.length) {
        const known = found.known.map((m) => drawing.names[m]).join(", ");
        answer.replaceChildren(make("p", known ? `They are independent, given ${known}.` : "They are independent: no path connects them."));
        return;
      }
      const list = make("ol");
      for (const path of found.paths) {
        const item = make("li", formatPath(context, path.nodes));
        if (path.opened_by.length) item.append(make("small", `opened by the evidence on ${path.opened_by.map((m) => drawing.names[m]).join(", ")}`));
        list.append(item);
      }
      answer.replaceChildren(make("p", "Information flows along:"), list);
    } catch (error) {
      context.notify(error.message, "error");
    }
  });
  holder.append(make("h3", "Why is it connected with ...?"), select, answer);
  return holder;
}

// What would tell most about a variable: mutual information given the evidence.
function makeTold(context, n) {
  const { drawing, evidence } = context, holder = make("div"), answer = make("div", undefined, { "aria-live": "polite" });
  const ask = async () => {
    try {
      const told = await context.ask("information", { target: drawing.names[n], given: evidence.given });
      const list = make("ul", undefined, { class: told.estimate ? "told estimated" : "told" });
      for (const { variable, nats, standard_error: error } of told.rows.slice(0, MOST_TOLD)) {
        const item = make("li"), share = told.entropy > 0 ? Math.min(1, nats / told.entropy) : 0;
        item.append(link(context, variable), makeBar(share), make("small", formatPercent(share) + formatError(error / told.entropy)));
        list.append(item);
      }
      answer.replaceChildren(make("p", told.rows.length ? "Share of the uncertainty that knowing it would remove, on average:" : "No other variable would tell anything."), list,
        ...(told.estimate ? [make("p", told.estimate, { class: "estimate" })] : []));
    } catch (error) {
      context.notify(error.message, "error");
    }
  };
  holder.append(make("h3", "What would tell most about it?"), makeButton("Rank the other variables", ask, { "data-keep": "told" }), answer);
  return holder;
}

function makeTable(context, n) {
  const { drawing, tables } = context, details = make("details", undefined, { class: "table" });
  details.append(make("summary", "Probability table"));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    try {
      if (!tables.has(n)) tables.set(n, await context.ask("table", { variable: drawing.names[n] }));
      details.append(...renderProbabilities({ ...drawing, tables: { [n]: tables.get(n) } }, n));
    } catch (error) {
      context.notify(error.message, "error");
    }
  });
  return details;
}

function makeColours(context, n) {
  const group = make("div", undefined, { class: "colours", role: "group", "aria-label": "Colour of this variable" });
  for (let colour = 0; colour <= context.nColours; colour++) {
    const label = colour ? `Colour ${colour}` : "No colour";
    group.append(makeButton("", () => context.setColour(n, colour), { class: `swatch colour-${colour}`, "aria-label": label, title: label }));
  }
  return group;
}

export function renderVariable(context, n) {
  const { drawing, view, evidence } = context, { into, outOf, blanketOf } = view.structure;
  const blanket = blanketOf(n), names = make("div", undefined, { class: "blanket-list" });
  names.append(...blanket.map((m) => link(context, m)));
  const isObserved = evidence.given[drawing.names[n]] !== undefined;
  return [
    makeButton("Close", () => { view.choose(null); view.svg.focus(); }, { class: "close" }),
    make("h2", drawing.names[n]),
    listStates(context, n),
    ...(isObserved ? [makeButton("Retract this finding", () => evidence.retract(drawing.names[n]), { "data-keep": "retract" })] : []),
    makeSoft(context, n),
    makeTold(context, n),
    makeConnection(context, n),
    ...listArcs(context, "Parents", into[n], PARENT),
    ...listArcs(context, "Children", outOf[n], CHILD),
    make("h3", `Markov blanket: ${blanket.length}`), names,
    makeTable(context, n),
    makeColours(context, n),
  ];
}

// The error of a logarithm is that of the probability in parts of it.
const formatEvidence = ({ log_probability: log, log_probability_error: error }) =>
  formatLogProbability(log) + (error ? `${formatError(error)} of it` : "");

function listFindings(context, given, canRetract) {
  const list = make("ul", undefined, { class: "findings" });
  for (const [name, value] of Object.entries(given)) {
    const item = make("li", describeFinding(name, value));
    if (canRetract) item.append(makeButton("Retract", () => context.evidence.retract(name), { "aria-label": `Retract ${name}`, "data-keep": `retract ${name}` }));
    list.append(item);
  }
  return list;
}

function listChanged(context) {
  const { evidence, drawing } = context, list = make("ul", undefined, { class: "changes" });
  for (const { n } of listChanges(evidence.now, evidence.base, MOST_CHANGES + Object.keys(evidence.given).length)) {
    if (evidence.given[drawing.names[n]] !== undefined || list.childElementCount === MOST_CHANGES) continue;
    const [now, before] = [evidence.now.marginals[n], evidence.base.marginals[n]];
    const k = now.map((p, i) => [Math.abs(p - before[i]), i]).sort((a, b) => b[0] - a[0] || a[1] - b[1])[0][1];
    const item = make("li");
    item.append(link(context, n), make("small", `${drawing.states[n][k]}: ${formatPercent(before[k])} \u2192 ${formatPercent(now[k])}`));
    list.append(item);
  }
  return list;
}

export function renderEvidence(context) {
  const { evidence, explanation } = context, count = Object.keys(evidence.given).length;
  const parts = [make("h2", "Evidence", { class: "evidence-title" })];
  if (!count) parts.push(make("p", "Click on a state to observe it. A second click retracts it. On the keyboard: choose a variable with the arrow keys, then press the number of a state, or Enter for this panel."));
  else parts.push(listFindings(context, evidence.given, true), make("p", `P(evidence) = ${formatEvidence(evidence.now)}`, { class: "p-evidence" }));
  if (evidence.now.estimate) parts.push(make("p", evidence.now.estimate, { class: "estimate" }));
  const line = make("div", undefined, { class: "line" });
  line.append(
    makeButton("Clear", () => evidence.set({}), { "data-keep": "clear", ...(count ? {} : { disabled: "" }) }),
    makeButton("Most probable explanation", context.explain, { "data-keep": "explain" }),
    evidence.kept
      ? makeButton("End comparison", () => { evidence.drop(); evidence.renew(); }, { "data-keep": "keep" })
      : makeButton("Keep to compare", () => { evidence.keep(); context.refill(); }, { "data-keep": "keep", title: "Compare later evidence with this one" }),
  );
  parts.push(line);
  if (evidence.kept) {
    const title = Object.keys(evidence.kept.given).length ? "Compared with" : "Compared with no evidence";
    parts.push(make("h3", title), listFindings(context, evidence.kept.given, false),
      make("p", `P(evidence) = ${formatEvidence(evidence.kept)}`));
  }
  if (explanation) {
    parts.push(make("h3", "Most probable explanation"),
      make("p", `The marked states are jointly the most probable ones: ${formatPercent(explanation.share)} given the evidence.`, { class: "explanation" }));
  }
  if (evidence.base && (count || evidence.kept)) parts.push(make("h3", "Changed most"), listChanged(context));
  return parts;
}
