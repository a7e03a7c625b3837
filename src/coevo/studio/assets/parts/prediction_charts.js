// Charts of a prediction: ROC curves, calibration and the confusion matrix.

import { h, s } from "../dom.js";
import { count, formatValue } from "./element.js";

const SIZE = 260, LEFT = 42, TOP = 12, RIGHT = 12, BOTTOM = 40;
const DASHES = ["", "7 3", "2 3", "9 3 2 3"]; // colours are not the only difference
const COLOURS = 6; // classes line-0 to line-5

const x = share => LEFT + share * SIZE;
const y = share => TOP + (1 - share) * SIZE;

function makeFrame(title, across, up, ...content) {
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return s("svg", {
    class: "prediction-chart", role: "img", "aria-label": title,
    viewBox: `0 0 ${LEFT + SIZE + RIGHT} ${TOP + SIZE + BOTTOM}`,
  },
  s("title", {}, title),
  ticks.map(tick => [
    s("path", { class: "grid", d: `M${x(tick)} ${y(0)}V${y(1)}M${x(0)} ${y(tick)}H${x(1)}` }),
    s("text", { x: x(tick), y: y(0) + 14, "text-anchor": "middle" }, String(tick)),
    s("text", { x: x(0) - 5, y: y(tick) + 4, "text-anchor": "end" }, String(tick)),
  ]).flat(),
  s("path", { class: "diagonal", d: `M${x(0)} ${y(0)}L${x(1)} ${y(1)}` }),
  s("text", { x: x(0.5), y: y(0) + 32, "text-anchor": "middle", class: "axis-name" }, across),
  s("text", { x: 0, y: 0, "text-anchor": "middle", class: "axis-name",
    transform: `translate(11 ${y(0.5)}) rotate(-90)` }, up),
  ...content.flat());
}

// The ROC curve of each state: {state: [[false positives, true positives], ...]}.
export function makeRoc(curves, areas) {
  const names = Object.keys(curves);
  const lines = names.map((state, i) => s("path", {
    class: `roc-line line-${i % COLOURS}`, "stroke-dasharray": DASHES[i % DASHES.length] || null,
    d: `M${curves[state].map(([a, b]) => `${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("L")}`,
  }, s("title", {}, `${state}: AUC ${formatValue(areas[state])}`)));
  const legend = h("ul", { class: "roc-legend" }, names.map((state, i) => h("li", {},
    s("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, s("path", {
      class: `roc-line line-${i % COLOURS}`, d: "M0 4H26",
      "stroke-dasharray": DASHES[i % DASHES.length] || null,
    })), `${state} (AUC ${areas[state] === null ? "–" : areas[state].toFixed(3)})`)));
  return h("figure", { class: "chart-box" }, h("figcaption", {}, "ROC: each state against the others"),
    makeFrame(`ROC curves of ${names.join(", ")}`, "share of other rows (false positives)",
      "share of rows with the state", lines), legend);
}

// The calibration: predicted probability against the share that came true.
export function makeCalibration(bins) {
  const most = Math.max(...bins.map(one => one.n), 1);
  const points = bins.map(one => s("circle", {
    class: "point", cx: x(one.predicted), cy: y(one.observed), r: 2.5 + 6 * Math.sqrt(one.n / most),
  }, s("title", {}, `predicted ${one.predicted.toFixed(3)}, observed ${one.observed.toFixed(3)}, ` +
    count(one.n, "probability").replace("probabilitys", "probabilities"))));
  const path = bins.map(one => `${x(one.predicted).toFixed(1)} ${y(one.observed).toFixed(1)}`).join("L");
  return h("figure", { class: "chart-box" }, h("figcaption", {}, "Calibration: on the diagonal is best"),
    makeFrame("Calibration of the probabilities", "predicted probability", "share that came true",
      s("path", { class: "roc-line line-0", d: `M${path}` }), points));
}

// The confusion matrix: a row for each true state, a column for each predicted one. `sums` are the rows of
// each true state; not all predicted states may be shown.
export function makeConfusion(states, confusion, sums) {
  return h("figure", { class: "chart-box" },
    h("figcaption", {}, "Rows: true states. Columns: predicted states."),
    h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "Confusion matrix" },
      h("table", { class: "confusion", id: "confusion" },
        h("thead", {}, h("tr", {}, h("td", {}), states.map(one => h("th", { scope: "col" }, one)))),
        h("tbody", {}, confusion.map((row, i) => h("tr", {}, h("th", { scope: "row" }, states[i]),
          row.map((n, j) => {
            const cell = h("td", { class: i === j ? "right" : "" }, n.toLocaleString("en-US"));
            cell.style.setProperty("--share", (n / (sums[i] || 1)).toFixed(3));
            return cell;
          })))))));
}
