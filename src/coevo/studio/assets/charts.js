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
