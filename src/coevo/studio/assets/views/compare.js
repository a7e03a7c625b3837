// Compare: the differences between two networks of the same variables.
import { path } from "../api.js";
import { h, show } from "../dom.js";
import { makeArrowsButton, makeGraphView, makeSearchField, makeZoomButtons } from "../page/graph_view.js";
import { makeSearch } from "../page/search.js";
import { CLASS_KIND, KIND } from "../page/structure.js";
import { chooseNetwork } from "./explore.js";

const KINDS = [["same", "in both"], ["added", "only in the first"], ["missing", "only in the second"], ["reversed", "in both with different directions"]];
const MEASURES = [["shd", "SHD"], ["shd_cpdag", "SHD of the CPDAGs"], ["sid", "SID"], ["arc_f1", "F1 of arcs"], ["skeleton_f1", "F1 of the skeleton"]];

function drawFacts(answer) {
  const number = value => (Number.isInteger(value) ? value.toLocaleString("en-GB") : value.toFixed(3));
  const rows = ["first", "second"].map(which => answer[which]);
  const facts = [...new Set(rows.flatMap(row => Object.keys(row.facts)))];
  return [
    h("dl", { class: "facts measures" }, MEASURES.map(([key, title]) => h("div", {}, h("dt", {}, title), h("dd", {}, number(answer.measures[key]))))),
    h("div", { class: "wide" }, h("table", { class: "two" },
      h("thead", {}, h("tr", {}, ["network", "arcs", ...facts].map(title => h("th", { scope: "col" }, title)))),
      h("tbody", {}, rows.map(row => h("tr", {}, h("th", { scope: "row" }, row.title), h("td", {}, String(row.n_arcs)),
        facts.map(fact => h("td", {}, row.facts[fact] ?? ""))))))),
  ];
}

export default {
  id: "compare",
  title: "Compare",
  async mount(container, context) {
    const [first, second] = context.params;
    const { networks } = await context.api.get("/api/explore");
    const go = (one, two) => context.go("compare", ...[one || "-", two].filter(Boolean));
    const known = id => (id && id !== "-" ? id : "");
    const head = h("div", { class: "fields" }, h("h1", {}, "Compare"),
      chooseNetwork(context, networks, known(first), "First network", one => go(one, known(second))),
      chooseNetwork(context, networks, known(second), "Second network", two => go(known(first), two)));
    if (!known(first) || !known(second)) {
      show(container, head, h("p", { class: "soft" }, "Choose two networks of the same variables. The second one is taken as the reference."));
      return undefined;
    }
    const answer = await context.api.get(path`/api/compare/${first}/${second}`).catch(error => ({ error }));
    if (answer.error) {
      show(container, head, h("p", { class: "error", role: "alert" }, answer.error.message));
      return undefined;
    }
    const view = makeGraphView(answer.drawing, { onChoose: () => {} });
    view.svg.classList.add("compared");
    const { holder, search, found } = makeSearchField();
    makeSearch(search, found, answer.drawing.names, n => view.choose(n, { move: true }));
    const toggle = (text, name) => {
      const box = h("input", { type: "checkbox", onchange: () => view.svg.classList.toggle(name, box.checked) });
      return h("label", {}, box, ` ${text}`);
    };
    // What is compared is what is shown: the DAGs, or the directions that are known.
    const legend = h("p", { class: "legend" });
    const drawLegend = () => {
      const at = view.svg.classList.contains("cpdag") ? CLASS_KIND : KIND;
      show(legend, KINDS.map(([kind, text]) => h("span", {}, h("i", { class: `sample-line ${kind}` }),
        `${answer.drawing.arcs.filter(arc => arc[at] === kind).length} ${text}`)));
    };
    const arrows = makeArrowsButton(() => view, answer.drawing);
    arrows.addEventListener("click", drawLegend);
    drawLegend();
    show(container, head, ...drawFacts(answer),
      h("div", { class: "tools" }, holder, toggle("Differences only", "differ"), arrows, makeZoomButtons(() => view)),
      h("div", { class: "stage" }, view.figure), legend);
    view.start();
    const onResize = () => view.viewport.refit();
    window.addEventListener("resize", onResize);
    return () => window.removeEventListener("resize", onResize);
  },
};
