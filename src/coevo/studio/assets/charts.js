// Small charts as SVG: lines over time with levels, drawn anew for each change.
import { formatNumber, s } from "./dom.js";

const WIDEST = 560, HEIGHT = 220, LEFT = 76, RIGHT = 12, TOP = 10, BOTTOM = 34;

// Round numbers between two limits, about `count` of them.
export function makeTicks(low, high, count) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(each => span / each <= count);
  const ticks = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-9; value += step) ticks.push(value);
  return ticks;
}

// At most `limit` of the points, with the first and the last.
function thin(points, limit = 600) {
  if (points.length <= limit) return points;
  const kept = Array.from({ length: limit - 1 }, (_, i) => points[Math.floor(i * points.length / (limit - 1))]);
  return [...kept, points.at(-1)];
}

// The width of a chart in its units, so that its text has the same size on a small screen.
export const chooseWidth = element => Math.max(300, Math.min(WIDEST, element.clientWidth || WIDEST));

// lines: [{name, points: [[x, y]], kind}]; levels: [{name, value}]. Steps hold the last value.
export function drawChart({ title, lines, levels = [], xTitle, yTitle, low, high, steps = false, width: WIDTH = WIDEST }) {
  const chart = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": title });
  const points = lines.flatMap(line => line.points);
  if (!points.length) return chart;
  const right = Math.max(...points.map(([x]) => x)) || 1;
  // A level far below is left out; one above belongs to the picture.
  const values = [...points.map(([, y]) => y), ...levels.map(level => level.value)];
  let bottom = low ?? Math.min(...values), top = high ?? Math.max(...values);
  if (top - bottom < 1e-9) { top += 0.5; bottom -= 0.5; }
  if (high === undefined) top += (top - bottom) * 0.06;
  const x = value => LEFT + (WIDTH - LEFT - RIGHT) * value / right;
  const y = value => TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - bottom) / (top - bottom));
  for (const value of makeTicks(bottom, top, 5)) {
    chart.append(
      s("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      s("text", { class: "tick", x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, formatNumber(value)));
  }
  for (const value of makeTicks(0, right, WIDTH < 420 ? 4 : 6)) {
    chart.append(s("text", { class: "tick", x: x(value), y: HEIGHT - BOTTOM + 15, "text-anchor": "middle" }, formatNumber(value)));
  }
  chart.append(
    s("text", { class: "axis", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle" }, xTitle),
    s("text", { class: "axis", x: 12, y: (TOP + HEIGHT - BOTTOM) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(TOP + HEIGHT - BOTTOM) / 2})` }, yTitle));
  for (const level of levels) {
    if (level.value < bottom || level.value > top) continue;
    const end = lines[0].points.at(-1)?.[1], gap = y(level.value) - y(end);
    const below = gap >= 0 && gap < 18; // the line would run through the name
    chart.append(
      s("line", { class: "level", x1: LEFT, x2: WIDTH - RIGHT, y1: y(level.value), y2: y(level.value) }),
      s("text", { class: "level-name", x: WIDTH - RIGHT - 2, y: y(level.value) + (below ? 13 : -4), "text-anchor": "end" }, level.name));
  }
  lines.forEach((line, i) => chart.append(drawLine(line, i, x, y, bottom, steps)));
  return chart;
}

function drawLine(line, number, x, y, bottom, steps) {
  let path = "", previous = null;
  for (const [at, value] of thin(line.points)) {
    const height = y(Math.max(value, bottom)).toFixed(1);
    if (previous === null) path = `M${x(at).toFixed(1)} ${height}`;
    else path += `${steps ? `H${x(at).toFixed(1)}V${height}` : `L${x(at).toFixed(1)} ${height}`}`;
    previous = height;
  }
  return s("path", { class: `line line-${line.kind ?? number}`, d: path }, s("title", {}, line.name));
}

// The positions of each variable over all orders: a bar from the lowest to the highest one, a dot
// in the best order. A short bar is a variable on whose place the population agrees.
export function drawOrders(orders, names, width = WIDEST, limit = 60) {
  const ranked = names.map((_, i) => i).sort((a, b) => orders.best[a] - orders.best[b]).slice(0, limit);
  const n = names.length, row = 15, left = 118, height = ranked.length * row + 26;
  const x = place => left + (width - left - 14) * (n > 1 ? place / (n - 1) : 0.5);
  const chart = s("svg", {
    viewBox: `0 0 ${width} ${height}`, class: "chart orders", role: "img",
    "aria-label": `Positions of ${ranked.length} variables over ${orders.n} orders`,
  });
  ranked.forEach((variable, i) => {
    const y = i * row + row / 2 + 2;
    chart.append(s("g", {},
      s("title", {}, `${names[variable]}: position ${orders.best[variable] + 1} in the best order, ${orders.low[variable] + 1} to ${orders.high[variable] + 1} over all orders, mean ${(orders.mean[variable] + 1).toFixed(1)}`),
      s("text", { class: "name", x: left - 8, y: y + 4, "text-anchor": "end" }, shorten(names[variable], 16)),
      s("line", { class: "grid", x1: left, x2: width - 14, y1: y, y2: y }),
      s("line", { class: "range", x1: x(orders.low[variable]), x2: x(orders.high[variable]), y1: y, y2: y }),
      s("line", { class: "mean", x1: x(orders.mean[variable]), x2: x(orders.mean[variable]), y1: y - 5, y2: y + 5 }),
      s("circle", { class: "best", cx: x(orders.best[variable]), cy: y, r: 3.5 })));
  });
  chart.append(
    s("text", { class: "axis", x: left, y: height - 4 }, "first"),
    s("text", { class: "axis", x: width - 14, y: height - 4, "text-anchor": "end" }, "last position"));
  return chart;
}

// The pairs that masks contain, as a matrix: parents in rows, children in columns, both in the
// best order. The darker, the more masks have the pair. A ring is an arc of the best network.
export function drawMasks(masks, orders, arcs, names, limit = 80) {
  const ranked = names.map((_, i) => i).sort((a, b) => orders.best[a] - orders.best[b]).slice(0, limit);
  const place = new Map(ranked.map((variable, i) => [variable, i]));
  const n = ranked.length, cell = Math.max(5, Math.min(14, 520 / n)), size = n * cell;
  const chart = s("svg", {
    viewBox: `-4 -4 ${size + 8} ${size + 8}`, class: "chart masks", role: "img",
    "aria-label": `${masks.n_pairs} pairs in ${masks.n} masks; ${masks.n_common} pairs are in all of them`,
  });
  chart.style.maxWidth = `${Math.max(200, Math.min(520, 1.6 * size))}px`;
  chart.append(s("rect", { class: "field", x: 0, y: 0, width: size, height: size }),
    s("path", { class: "grid", d: `M0 0L${size} ${size}` }));
  for (const [parent, child, share] of masks.pairs) {
    if (!place.has(parent) || !place.has(child)) continue;
    chart.append(s("rect", {
      class: "pair", x: place.get(child) * cell, y: place.get(parent) * cell, width: cell, height: cell,
      "fill-opacity": (0.15 + 0.85 * share).toFixed(2),
    }, s("title", {}, `${names[parent]} → ${names[child]}: in ${Math.round(share * masks.n)} of ${masks.n} masks`)));
  }
  for (const [parent, child] of arcs) {
    if (!place.has(parent) || !place.has(child)) continue;
    chart.append(s("rect", {
      class: "chosen", x: place.get(child) * cell + 0.5, y: place.get(parent) * cell + 0.5,
      width: cell - 1, height: cell - 1, rx: 1.5,
    }, s("title", {}, `${names[parent]} → ${names[child]}: an arc of the best network`)));
  }
  return chart;
}

function shorten(text, length) {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
