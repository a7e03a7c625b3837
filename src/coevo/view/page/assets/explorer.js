import { make, makeButton } from "./elements.js";
import { formatLogProbability, formatPercent, listChanges, makeEvidence } from "./evidence.js";
import { renderEvidence, renderVariable } from "./explorer_panel.js";
import { makeArrowsButton, makeGraphView, makeSearchField, makeZoomButtons } from "./graph_view.js";
import { whenIdle } from "./press.js";
import { makeSearch } from "./search.js";
import { FACTS } from "./structure.js";

// The explore view: a graph, the evidence, and a panel about both.
const GAIN = 0, STRENGTH = 1; // among the facts of an arc
const COLOURS = 6; // classes colour-1 to colour-6

// options: drawing; ask(question, body); fetchDrawing(hasBars); given; onGiven(given); notify(text, kind);
// tiers: an array with the tier of each variable or null, if there are any.
export function mountExplorer(container, options) {
  const { ask, notify = () => {}, onGiven = () => {} } = options;
  let drawing = options.drawing, view = null, explanation = null;
  const tables = new Map(), colours = new Map(), soft = {};
  const panel = make("aside", undefined, { "aria-label": "Evidence and variable" });
  const stage = make("div", undefined, { class: "stage open" });
  const status = make("p", undefined, { class: "visually-hidden", role: "status", "aria-live": "polite" });

  const evidence = makeEvidence(ask, drawing.names, drawing.states, {
    onBeliefs: () => { explanation = null; showBeliefs(); onGiven(evidence.given); },
    onError: (error) => {
      notify(error.message, "error");
      status.textContent = error.message;
      const last = evidence.now?.given ?? {};
      if (JSON.stringify(last) !== JSON.stringify(evidence.given)) evidence.set(last); // impossible evidence is taken back
    },
  });

  // -- the graph

  function draw() {
    view = makeGraphView(drawing, {
      onChoose: fillPanel,
      onState: (n, k) => evidence.toggle(n, k),
      onKey: pressKey,
    });
    stage.replaceChildren(view.figure, panel);
    stage.classList.toggle("with-bars", drawing.bars);
    view.showArrows(buttons.arrows.getAttribute("aria-pressed") === "true");
    hideWeak();
    paint();
    showBeliefs();
    view.start();
  }
  // A digit observes a state of the variable with the focus; Delete retracts it.
  function pressKey(event, n) {
    if (n === null || event.ctrlKey || event.altKey || event.metaKey) return false;
    const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    if (digit && digit <= drawing.states[n].length) { evidence.toggle(n, digit - 1); return true; }
    if (event.key === "Delete" || event.key === "Backspace") { evidence.retract(drawing.names[n]); return true; }
    return false;
  }

  // -- what the network says

  function showBeliefs() {
    if (!evidence.now) return;
    const { marginals, log_probability: log } = evidence.now, { given, base } = evidence;
    view.nodes.forEach((node, n) => {
      const finding = given[drawing.names[n]];
      node.classList.toggle("observed", finding !== undefined);
      node.classList.toggle("soft-observed", finding !== undefined && typeof finding !== "string");
      view.rows[n].forEach((row, k) => {
        const p = marginals[n][k], before = base?.marginals[n][k] ?? p;
        row.bar.setAttribute("width", (p * row.length).toFixed(1));
        row.mark.setAttribute("x", (row.from + before * row.length - 0.8).toFixed(1));
        row.mark.classList.toggle("away", Math.abs(p - before) < 5e-4);
        row.number.textContent = formatPercent(p);
        row.group.classList.toggle("seen", finding === drawing.states[n][k]);
        row.group.classList.toggle("best", explanation?.states[n] === k);
      });
      node.setAttribute("aria-label", describeNode(n, marginals[n], finding));
    });
    stage.dataset.answered = String(Number(stage.dataset.answered ?? 0) + 1);
    const count = Object.keys(given).length;
    const [most] = base ? listChanges(evidence.now, base, 1) : [];
    status.textContent = count
      ? `${count === 1 ? "1 finding" : `${count} findings`}. P(evidence) = ${formatLogProbability(log)}.` +
        (most ? ` ${drawing.names[most.n]} changed most.` : "")
      : "No evidence.";
    whenIdle(fillPanel);
  }
  function describeNode(n, probabilities, finding) {
    const states = probabilities.map((p, k) => [p, k]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    const text = states.map(([p, k]) => `${drawing.states[n][k]} ${formatPercent(p)}`).join(", ");
    return `${drawing.names[n]}${finding === undefined ? "" : ", observed"}: ${text}`;
  }

  // -- the panel

  function fillPanel() {
    if (!evidence.now) { panel.replaceChildren(make("p", "Computing the probabilities ...", { role: "status" })); return; }
    const context = {
      drawing, evidence, view, explanation, tables, colours, soft, ask, notify,
      choose: (n) => view.choose(n, { move: true }),
      explain: run(async () => {
        explanation = await ask("explanation", { given: evidence.given });
        showBeliefs();
      }),
      refill: fillPanel,
      setColour: (n, colour) => { if (colour) colours.set(n, colour); else colours.delete(n); paint(); },
      nColours: COLOURS,
    };
    const focus = panel.contains(getActive(panel)) ? getActive(panel).dataset.keep : null, top = panel.scrollTop;
    const parts = view.chosen === null ? [] : renderVariable(context, view.chosen);
    panel.replaceChildren(...parts, ...renderEvidence(context));
    if (focus) panel.querySelector(`[data-keep="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    panel.scrollTop = top;
  }
  const run = (work) => async () => {
    try {
      await work();
    } catch (error) {
      notify(error.message, "error");
    }
  };
  const getActive = (element) => element.getRootNode().activeElement;

  // -- colours and weak arcs

  function paint() {
    view.nodes.forEach((node, n) => {
      const tier = select.value === "tier" ? options.tiers?.[n] : null;
      const colour = select.value === "tier" ? (tier === null || tier === undefined ? 0 : 1 + tier % COLOURS)
        : select.value === "own" ? colours.get(n) ?? 0 : 0;
      for (let i = 1; i <= COLOURS; i++) node.classList.toggle(`colour-${i}`, i === colour);
    });
  }
  const fact = [STRENGTH, GAIN].find((which) => drawing.arcs.some((arc) => typeof arc[FACTS + which] === "number"));
  const values = fact === undefined ? [] : drawing.arcs.map((arc) => arc[FACTS + fact]).filter((value) => typeof value === "number");
  const ordered = [...values].sort((a, b) => a - b);
  function hideWeak() {
    if (fact === undefined) return;
    const hidden = Number(slider.value), threshold = ordered[hidden] ?? Infinity;
    let n = 0;
    drawing.arcs.forEach((arc, i) => {
      const weak = typeof arc[FACTS + fact] === "number" && arc[FACTS + fact] < threshold && hidden > 0;
      view.paths[i].classList.toggle("away", weak);
      view.wides[i].classList.toggle("away", weak);
      n += weak ? 1 : 0;
    });
    shownArcs.textContent = n ? `${n} of ${drawing.arcs.length} arcs are hidden (${fact === STRENGTH ? "strength" : "gain"} below ${Number(threshold.toPrecision(3))})` : "all arcs";
  }

  // -- tools

  const tools = make("div", undefined, { class: "tools", role: "toolbar", "aria-label": "Graph tools" });
  const { holder, search, found } = makeSearchField();
  makeSearch(search, found, drawing.names, (n) => view.choose(n, { move: true }));
  const toggleButton = (text, title, pressed, click) => makeButton(text, click, { "aria-pressed": String(pressed), title });
  const buttons = {
    bars: toggleButton("Bars", "Show the probabilities of all states in the graph", drawing.bars, run(async () => {
      const hasBars = !drawing.bars;
      drawing = await options.fetchDrawing(hasBars);
      buttons.bars.setAttribute("aria-pressed", String(hasBars));
      const chosen = view.chosen;
      draw();
      if (chosen !== null) view.choose(chosen, { move: true });
    })),
    arrows: makeArrowsButton(() => view, drawing),
  };
  const choice = make("div", undefined, { class: "choice", role: "group", "aria-label": "What is shown" });
  choice.append(buttons.bars, buttons.arrows);
  const select = make("select", undefined, { "aria-label": "Colour of the variables" });
  for (const [value, text] of [["none", "no colours"], ["own", "my colours"], ...(options.tiers ? [["tier", "colour by tier"]] : [])]) {
    select.append(make("option", text, { value }));
  }
  select.addEventListener("change", () => paint());
  const slider = make("input", undefined, { type: "range", min: 0, max: ordered.length, value: 0, class: "weak", "aria-label": "Hide weak arcs" });
  const shownArcs = make("small", "all arcs", { class: "soft" });
  slider.addEventListener("input", () => hideWeak());
  const weak = make("label", undefined, { class: "labelled" });
  weak.append(make("span", "Hide weak arcs"), slider, shownArcs);
  tools.append(holder, choice, select, ...(fact === undefined ? [] : [weak]),
    makeButton("Undo moves", () => view.resetPlaces(), { title: "Put all variables back to their places" }), makeZoomButtons(() => view));

  container.replaceChildren(tools, stage, status);
  draw();
  const onResize = () => view.viewport.refit();
  window.addEventListener("resize", onResize);
  evidence.start(options.given ?? {});
  return {
    evidence,
    get view() { return view; },
    end: () => window.removeEventListener("resize", onResize),
  };
}
