// The two species in pictures, from the summary of coevo.search.species. The report draws them once,
// the studio after each event. A picture is as wide as its place, so its text has the same size there.
const SVG = "http://www.w3.org/2000/svg"; // a name; nothing is loaded from there
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const exact = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 });
const WIDEST = 560, CHARACTER = 5.6; // mean width of a character of a label
const DECADES = 4; // of credit, from the darkest to the lightest square
const MAX_SQUARES = 60;

export const chooseChartWidth = (element) => Math.max(300, Math.min(WIDEST, element.clientWidth || WIDEST));
const shorten = (text, length) => (text.length <= length ? text : `${text.slice(0, length - 1)}…`);

function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const makeText = (kind, x, y, text, anchor = "start") => s("text", { class: kind, x, y, "text-anchor": anchor }, text);
const makeTitle = (text) => s("title", {}, text);
const makeChart = (kind, width, height, about) =>
  s("svg", { class: `chart ${kind}`, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": about });
const listByPlace = (orders, names) => names.map((_, i) => i).sort((a, b) => orders.best[a] - orders.best[b]);

// The positions of each variable over all orders: a bar from the lowest to the highest one, a dot
// in the best order. A short bar is a variable on whose place the population agrees.
export function drawOrders(orders, names, width = WIDEST, limit = 60) {
  const ranked = listByPlace(orders, names).slice(0, limit);
  const n = names.length, row = 15, left = 118, height = ranked.length * row + 26;
  const x = (place) => left + (width - left - 14) * (n > 1 ? place / (n - 1) : 0.5);
  const chart = makeChart("orders", width, height, `Positions of ${ranked.length} variables over ${orders.n} orders`);
  ranked.forEach((variable, i) => {
    const y = i * row + row / 2 + 2, [low, high, mean, best] = ["low", "high", "mean", "best"].map((key) => orders[key][variable]);
    chart.append(s("g", {},
      makeTitle(`${names[variable]}: position ${best + 1} in the best order, ${low + 1} to ${high + 1} over all orders, mean ${(mean + 1).toFixed(1)}`),
      makeText("name", left - 8, y + 4, shorten(names[variable], 16), "end"),
      s("line", { class: "grid", x1: left, x2: width - 14, y1: y, y2: y }),
      s("line", { class: "range", x1: x(low), x2: x(high), y1: y, y2: y }),
      s("line", { class: "mean", x1: x(mean), x2: x(mean), y1: y - 5, y2: y + 5 }),
      s("circle", { class: "best", cx: x(best), cy: y, r: 3.5 })));
  });
  chart.append(makeText("axis", left, height - 4, n > limit ? `first; the first ${limit} of ${n}` : "first"),
    makeText("axis", width - 14, height - 4, "last position", "end"));
  return chart;
}

// The pairs that masks contain, as a matrix: parents in rows, children in columns, both in the
// best order. The darker, the more masks have the pair. A ring is an arc of the best network.
export function drawMasks(masks, orders, arcs, names, limit = 80) {
  const ranked = listByPlace(orders, names).slice(0, limit);
  const place = new Map(ranked.map((variable, i) => [variable, i]));
  const n = ranked.length, cell = Math.max(5, Math.min(14, 520 / n)), size = n * cell;
  const chart = s("svg", {
    viewBox: `-4 -4 ${size + 8} ${size + 8}`, class: "chart masks", role: "img",
    "aria-label": `${masks.n_pairs} pairs in ${masks.n} masks; ${masks.n_common} pairs are in all of them`,
  });
  chart.style.maxWidth = `${Math.max(200, Math.min(520, 1.6 * size))}px`;
  chart.append(s("rect", { class: "field", x: 0, y: 0, width: size, height: size }),
    s("path", { class: "grid", d: `M0 0L${size} ${size}` }));
  const draw = (kind, [parent, child], inset, more, title) => {
    if (!place.has(parent) || !place.has(child)) return;
    chart.append(s("rect", {
      class: kind, x: place.get(child) * cell + inset, y: place.get(parent) * cell + inset,
      width: cell - 2 * inset, height: cell - 2 * inset, ...more,
    }, makeTitle(`${names[parent]} → ${names[child]}: ${title}`)));
  };
  for (const pair of masks.pairs) {
    const share = pair[2];
    draw("pair", pair, 0, { "fill-opacity": (0.15 + 0.85 * share).toFixed(2) }, `in ${Math.round(share * masks.n)} of ${masks.n} masks`);
  }
  for (const arc of arcs) draw("chosen", arc, 0.5, { rx: 1.5 }, "an arc of the best network");
  return chart;
}

// Rows with a label and bars, one in each column. With `cells`, squares stand before the bars.
// rows: [{label, title, values, kind, cells}]; columns: the name of each value.
function drawBars({ about, rows, columns, cellTitle = "", ends = [], width, left = 118 }) {
  const row = 19, top = 20, hasCells = Boolean(cellTitle);
  const height = top + rows.length * row + (hasCells ? 18 : 6);
  const room = width - left, strip = hasCells ? Math.round(room * 0.36) : 0;
  const each = (room - strip) / columns.length, most = columns.map((_, c) => Math.max(...rows.map(({ values }) => values[c]), 1e-12));
  const chart = makeChart("bars", width, height, about);
  if (hasCells) chart.append(makeText("axis", left, 11, cellTitle));
  columns.forEach((name, c) => chart.append(makeText("axis", left + strip + c * each + 10, 11, name)));
  rows.forEach(({ label, title, values, kind = "", cells = [] }, i) => {
    const y = top + i * row, group = s("g", { class: kind }, makeTitle(title), makeText("name", left - 8, y + 12, shorten(label, Math.floor((left - 8) / CHARACTER)), "end"));
    if (hasCells) group.append(s("rect", { class: "field", x: left, y: y + 1, width: strip, height: row - 4 }));
    cells.forEach((shade, k) => {
      if (shade > 0) group.append(s("rect", { class: "shade", x: left + strip * k / cells.length, y: y + 1, width: strip / cells.length, height: row - 4, "fill-opacity": shade.toFixed(2) }));
    });
    values.forEach((value, c) => {
      const x = left + strip + c * each + 10, length = Math.max(value > 0 ? 1 : 0, (each - 54) * value / most[c]);
      group.append(s("rect", { class: `bar bar-${c}`, x, y: y + 3, width: length.toFixed(1), height: row - 8, rx: 1.5 }),
        makeText("tick", x + length + 4, y + 12, value >= 1000 ? compact.format(value) : exact.format(Number(value.toPrecision(3)))));
    });
    chart.append(group);
  });
  if (hasCells) {
    chart.append(makeText("tick", left, height - 3, ends[0]), makeText("tick", left + strip, height - 3, ends[1], "end"));
  }
  return chart;
}

// The credit of each mask over time as shades from 0 to 1. A generation is one square, or a part of one.
function shadeCredit(credit, nMasks) {
  const nSquares = Math.min(MAX_SQUARES, credit.length);
  const highest = Math.max(...credit.flatMap((row) => row.slice(1)), 1e-300);
  const shades = Array.from({ length: nMasks }, () => []);
  for (let k = 0; k < nSquares; k++) {
    const part = credit.slice(Math.floor(k * credit.length / nSquares), Math.floor((k + 1) * credit.length / nSquares));
    for (let mask = 0; mask < nMasks; mask++) {
      const mean = part.reduce((sum, row) => sum + (row[mask + 1] ?? 0), 0) / part.length;
      shades[mask].push(Math.max(0, 1 + Math.log10(Math.max(mean, 1e-300) / highest) / DECADES));
    }
  }
  return shades;
}

// Who got the budget and what it earned: for each mask its credit over time, families and nats.
export function drawWork(work, credit, width = WIDEST) {
  const shades = shadeCredit(credit, work.masks.length);
  const rows = work.masks.map(({ name, meaning, families, nats, credit: last }, i) => ({
    label: name, values: [families, nats], cells: shades[i],
    title: `${name}: ${meaning}. ${exact.format(families)} families, ${exact.format(nats)} nats, credit ${Number(last.toPrecision(3))} at the end`,
  }));
  const best = work.masks.reduce((a, b) => (b.nats > a.nats ? b : a), work.masks[0]);
  return drawBars({
    about: `Families and nats of ${rows.length} masks; ${best?.name} earned most`, rows, columns: ["families", "nats"],
    cellTitle: width < 420 ? "credit" : "credit over time", width, left: 122,
    ends: credit.length ? [`${width < 420 ? "gen." : "generation"} ${credit[0][0]}`, `${credit.at(-1)[0]}`] : ["none yet", ""],
  });
}

// The children that earned most, with the families that were spent on each.
export function drawChildren(work, names, width = WIDEST, limit = 15) {
  const rows = work.children.slice(0, limit).map(([child, families, nats]) => ({
    label: names[child], values: [families, nats], title: `${names[child]}: ${exact.format(families)} families, ${exact.format(nats)} nats`,
  }));
  return drawBars({ about: `Families and nats of ${rows.length} children; the list below has the numbers`, rows, columns: ["families", "nats"], width });
}

// The pairs of the highest value. Filled: an arc of the best network; pale: its reverse is one; empty: neither.
export function drawPaid(work, names, width = WIDEST, limit = 15) {
  const uses = { 1: ["", "an arc of the best network"], [-1]: ["reversed", "the best network has the reverse"], 0: ["unused", "not in the best network"] };
  const rows = work.paid.slice(0, limit).map(([parent, child, value, use]) => ({
    label: `${shorten(names[parent], 14)} → ${shorten(names[child], 14)}`, values: [value], kind: uses[use]?.[0] ?? "",
    title: `${names[parent]} → ${names[child]}: ${exact.format(value)} nats; ${uses[use]?.[1] ?? ""}`,
  }));
  return drawBars({ about: `The ${rows.length} pairs that last added most nats`, rows, columns: ["nats"], width, left: 200 });
}

// One order and one row of a mask, one above the other: the positions of the order are the same in
// both. What is left of the child may be its parent; what is right of it may not.
export function drawIndividuals({ row, orders, arcs, names, width = WIDEST }) {
  const n = names.length, left = 14, line = 72, base = 182, height = 204;
  const x = (variable) => left + (width - 2 * left) * (n > 1 ? orders.best[variable] / (n - 1) : 0.5);
  const parents = arcs.filter(([, child]) => child === row.child).map(([parent]) => parent);
  const at = x(row.child), name = names[row.child];
  const chart = makeChart("individuals", width, height,
    `${name} is at position ${orders.best[row.child] + 1} of the best order; its parents in the best network: ${parents.map((p) => names[p]).join(", ") || "none"}`);
  chart.append(makeText("axis", left, 11, "an order"), makeText("axis", left, 134, `a row of a mask: candidates for ${shorten(name, 24)}`),
    s("line", { class: "divider", x1: at, x2: at, y1: line, y2: base }),
    s("line", { class: "rail", x1: left, x2: width - left, y1: line, y2: line }),
    s("line", { class: "rail", x1: left, x2: width - left, y1: base, y2: base }));
  if (n <= 400) names.forEach((each, i) => chart.append(s("circle", { class: "place", cx: x(i), cy: line, r: n > 60 ? 1.4 : 2.6 }, makeTitle(`${each}: position ${orders.best[i] + 1}`))));

  // The stems of the candidates: as high as their value, or all equal.
  const highest = Math.max(...(row.values ?? []), 1e-12);
  row.candidates.forEach((other, i) => {
    const value = row.values ? row.values[i] : highest, isBefore = orders.best[other] < orders.best[row.child];
    const top = base - 3 - 34 * Math.sqrt(Math.max(0, value) / highest), says = row.values ? ` last added ${exact.format(value)} nats` : " is in the row";
    chart.append(s("g", { class: isBefore ? "before" : "after" },
      makeTitle(`${names[other]}${says}; ${isBefore ? "it comes before the child" : "it comes after the child, so this order does not allow it"}`),
      s("line", { class: "stem", x1: x(other), x2: x(other), y1: base, y2: top }),
      s("circle", { class: "tip", cx: x(other), cy: top, r: 3 })));
  });

  // The arcs of the best network, and the names of their ends in as many lines as they need.
  for (const parent of parents) {
    const from = x(parent), rise = Math.min(50, 12 + Math.abs(at - from) * 0.28), top = line - 2 * rise + 8;
    const steep = Math.atan2(line - top, (at - from) / 2), [dx, dy] = [Math.cos(steep), Math.sin(steep)]; // of the end of the arc
    const head = [[-5, 0], [-13, -4], [-13, 4]].map(([a, b]) => `${(at + a * dx - b * dy).toFixed(1)} ${(line + a * dy + b * dx).toFixed(1)}`);
    chart.append(s("g", { class: "arc-of-order" }, makeTitle(`${names[parent]} → ${name}`),
      s("path", { d: `M${from} ${line}Q${(from + at) / 2} ${top} ${at} ${line}` }), s("path", { class: "point", d: `M${head.join("L")}z` })));
  }
  const lanes = [0, 0, 0];
  const labelled = [row.child, ...parents, ...(n <= 14 ? names.map((_, i) => i) : [])];
  for (const variable of [...new Set(labelled)].slice(0, 16).sort((a, b) => x(a) - x(b))) {
    const text = shorten(names[variable], 18), size = text.length * 6.6 + 8;
    const start = Math.min(Math.max(2, x(variable) - size / 2), width - size);
    const lane = lanes.findIndex((end) => start >= end);
    const kind = variable === row.child ? "child" : parents.includes(variable) ? "parent" : "place";
    chart.append(s("circle", { class: `end ${kind}`, cx: x(variable), cy: line, r: kind === "place" ? 2.6 : 4.5 }, makeTitle(names[variable])));
    if (lane < 0) continue;
    lanes[lane] = start + size;
    chart.append(makeText(`name ${kind}`, start + size / 2, line + 17 + 13 * lane, text, "middle"));
  }
  chart.append(makeText("axis", left, height - 6, "first"), makeText("axis", width - left, height - 6, "last position", "end"));
  return chart;
}
