// The layout of a part of the graph. It has the steps of coevo.view.picture (layers, order, places,
// curves) in a shorter form, and starts from the places in the complete drawing.
const HEIGHT = 26, GAP = 22, DUMMY_GAP = 14, PORT_GAP = 13; // as in coevo.view.picture.routing
const [TIGHT, STEP, MAX_STEP] = [50, 60, 150]; // between the centres of two layers
const MIN_WIDTH = 700; // of a layer that is split
const sum = (values) => values.reduce((a, b) => a + b, 0);
const pairs = (list) => list.slice(1).map((item, i) => [list[i], item]);
const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value));

// Return the layer of each node: below all its parents, near its children, and not too wide.
function assignLayers(nodes, arcs, maxWidth) {
  const order = nodes.map((_, i) => i).sort((a, b) => nodes[a].y - nodes[b].y || a - b);
  const layer = nodes.map(() => 0), hasParent = nodes.map(() => false);
  for (const node of order) {
    for (const [up, down] of arcs) {
      if (up === node) { layer[down] = Math.max(layer[down], layer[node] + 1); hasParent[down] = true; }
    }
  }
  for (const node of order) {
    const below = arcs.filter(([up]) => up === node).map(([, down]) => layer[down]);
    if (!hasParent[node] && below.length) layer[node] = Math.min(...below) - 1;
  }
  let next = 0;
  const result = [...layer];
  for (const number of [...new Set(layer)].sort((a, b) => a - b)) {
    const here = order.filter((node) => layer[node] === number).sort((a, b) => nodes[a].x - nodes[b].x || a - b);
    const width = sum(here.map((node) => nodes[node].width + GAP));
    const pieces = Math.min(here.length, Math.ceil(width / maxWidth));
    here.forEach((node, i) => { result[node] = next + (i % pieces); });
    next += pieces;
  }
  return result;
}

// Add a dummy node where an arc passes a layer; each segment then joins adjacent layers.
function addDummies(nodes, arcs, layer) {
  const all = nodes.map((node, i) => ({ ...node, layer: layer[i], ups: [], downs: [] }));
  const chains = arcs.map(([up, down]) => {
    const chain = [up], span = layer[down] - layer[up];
    for (let i = 1; i < span; i++) {
      const x = nodes[up].x + (nodes[down].x - nodes[up].x) * i / span;
      chain.push(all.push({ x, width: 0, layer: layer[up] + i, ups: [], downs: [], isDummy: true }) - 1);
    }
    chain.push(down);
    for (const [one, two] of pairs(chain)) { all[one].downs.push(two); all[two].ups.push(one); }
    return chain;
  });
  return { all, chains };
}

function countCrossings(all, rows) {
  const place = new Map(rows.flatMap((row) => row.map((node, i) => [node, i])));
  let crossings = 0;
  for (const row of rows) {
    const segments = row.flatMap((node) => all[node].downs.map((down) => [place.get(node), place.get(down)]));
    segments.forEach(([a, b], i) => {
      for (let j = 0; j < i; j++) if ((segments[j][0] - a) * (segments[j][1] - b) < 0) crossings++;
    });
  }
  return crossings;
}

// Return the nodes of each layer from left to right, after sweeps that sort by the mean neighbour.
function orderLayers(all) {
  const n = Math.max(...all.map((node) => node.layer)) + 1;
  let rows = Array.from({ length: n }, () => []);
  all.forEach((node, i) => rows[node.layer].push(i));
  for (const row of rows) row.sort((a, b) => all[a].x - all[b].x || a - b);
  let best = rows, fewest = countCrossings(all, rows);
  for (let sweep = 0; sweep < 8 && fewest; sweep++) {
    const down = sweep % 2 === 0, place = new Map(rows.flatMap((row) => row.map((node, i) => [node, i])));
    rows = rows.map((row) => [...row]);
    for (const row of down ? rows : [...rows].reverse()) {
      const mean = new Map(row.map((node) => {
        const near = down ? all[node].ups : all[node].downs;
        return [node, near.length ? sum(near.map((other) => place.get(other))) / near.length : place.get(node)];
      }));
      row.sort((a, b) => mean.get(a) - mean.get(b) || place.get(a) - place.get(b));
      row.forEach((node, i) => place.set(node, i));
    }
    const crossings = countCrossings(all, rows);
    if (crossings < fewest) { best = rows; fewest = crossings; }
  }
  return best;
}

// Move the nodes of a layer near their neighbours, in their order (pool adjacent violators).
function placeRow(all, row, offsets, centres) {
  const blocks = []; // weight, weighted sum of places, number of nodes
  row.forEach((node, i) => {
    const near = [...all[node].ups, ...all[node].downs];
    const weigh = (other) => (all[node].isDummy && all[other].isDummy ? 6 : all[node].isDummy || all[other].isDummy ? 2 : 1);
    let block = [sum(near.map(weigh)), sum(near.map((other) => weigh(other) * (centres[other] - offsets[i]))), 1];
    if (!near.length) block = [1e-3, 1e-3 * (centres[node] - offsets[i]), 1];
    while (blocks.length && blocks.at(-1)[1] * block[0] >= block[1] * blocks.at(-1)[0]) {
      const last = blocks.pop();
      block = block.map((value, k) => value + last[k]);
    }
    blocks.push(block);
  });
  let at = 0;
  for (const [weight, total, size] of blocks) {
    for (let i = at; i < at + size; i++) centres[row[i]] = total / weight + offsets[i];
    at += size;
  }
}

function placeNodes(all, rows) {
  const centres = all.map(() => 0);
  const offsets = rows.map((row) => {
    let at = 0;
    const list = row.map((node, i) => {
      const before = all[row[i - 1]];
      if (before) at += (before.width + all[node].width) / 2 + (before.isDummy || all[node].isDummy ? DUMMY_GAP : GAP);
      return at;
    });
    row.forEach((node, i) => { centres[node] = list[i] - at / 2; });
    return list;
  });
  for (let sweep = 0; sweep < 30; sweep++) {
    const numbers = rows.map((_, i) => (sweep % 2 ? rows.length - 1 - i : i));
    for (const i of numbers) placeRow(all, rows[i], offsets[i], centres);
  }
  const left = Math.min(...centres.map((centre, i) => centre - all[i].width / 2));
  return centres.map((centre) => centre - left);
}

// Return the centre of each layer; layers come closer if the drawing is higher than it should be.
function placeLayers(all, rows, centres, maxHeight) {
  const steps = rows.slice(0, -1).map((row) => {
    const lengths = row.flatMap((node) => all[node].downs.map((down) => Math.abs(centres[node] - centres[down])));
    return Math.min(MAX_STEP, STEP + Math.max(0, ...lengths) / 9);
  });
  const spare = sum(steps) - TIGHT * steps.length;
  const excess = Math.min(spare, Math.max(0, sum(steps) + HEIGHT - maxHeight));
  const share = spare > 0 ? 1 - excess / spare : 1;
  const heights = [HEIGHT / 2];
  for (const step of steps) heights.push(heights.at(-1) + TIGHT + share * (step - TIGHT));
  return heights;
}

function placePorts(all, chains, centres, isStart) {
  const ports = chains.map(() => 0), atNode = new Map();
  chains.forEach((chain, number) => {
    const [node, other] = isStart ? [chain[0], chain[1]] : [chain.at(-1), chain.at(-2)];
    if (!atNode.has(node)) atNode.set(node, []);
    atNode.get(node).push([centres[other], number]);
  });
  for (const [node, arcs] of atNode) {
    arcs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const step = Math.min(PORT_GAP, 0.8 * all[node].width / arcs.length);
    arcs.forEach(([, number], i) => { ports[number] = centres[node] + (i - (arcs.length - 1) / 2) * step; });
  }
  return ports;
}

// Replace each point inside by two, at the top and the bottom of the boxes of its layer.
function widenPassages(points) {
  return points.flatMap(([x, y], i) => {
    if (i === 0 || i === points.length - 1) return [[x, y]];
    const [before, after] = [points[i - 1], points[i + 1]].map(([x2, y2]) => (x2 - x) / (y2 - y));
    const nearer = before * after > 0 ? (Math.abs(before) < Math.abs(after) ? before : after) : 0;
    const slope = clamp(nearer, 0.3), half = HEIGHT / 2;
    return [[x - slope * half, y - half], [x + slope * half, y + half]];
  });
}

// Return a curve through points, each below the previous one; it never turns upwards.
function fitCurve(points) {
  const secants = pairs(points).map(([[x1, y1], [x2, y2]]) => (x2 - x1) / (y2 - y1));
  const slopes = [clamp(secants[0], 1.1)];
  for (const [one, two] of pairs(secants)) {
    slopes.push(clamp(one * two > 0 ? (one + two) / 2 : 0, Math.min(0.5, 3 * Math.abs(one), 3 * Math.abs(two))));
  }
  slopes.push(clamp(secants.at(-1), 1.1));
  const curve = [points[0]];
  pairs(points).forEach(([[x1, y1], [x2, y2]], i) => {
    const third = (y2 - y1) / 3;
    curve.push([x1 + slopes[i] * third, y1 + third], [x2 - slopes[i + 1] * third, y2 - third], [x2, y2]);
  });
  return curve;
}

// nodes: x, y and width in the complete drawing; arcs: pairs of indices, the upper end first; ratio:
// width / height of the canvas. Returns the size, the place of each node and the curve of each arc.
export function layOut(nodes, arcs, ratio) {
  const area = sum(nodes.map((node) => (node.width + GAP) * 2.5 * HEIGHT));
  const layer = assignLayers(nodes, arcs, Math.max(MIN_WIDTH, Math.sqrt(ratio * area)));
  const { all, chains } = addDummies(nodes, arcs, layer), rows = orderLayers(all);
  const centres = placeNodes(all, rows);
  const width = Math.max(...centres.map((centre, i) => centre + all[i].width / 2));
  const heights = placeLayers(all, rows, centres, Math.max(430, width / ratio));
  const starts = placePorts(all, chains, centres, true), ends = placePorts(all, chains, centres, false);
  const curves = chains.map((chain, i) => fitCurve(widenPassages([
    [starts[i], heights[all[chain[0]].layer] + HEIGHT / 2],
    ...chain.slice(1, -1).map((node) => [centres[node], heights[all[node].layer]]),
    [ends[i], heights[all[chain.at(-1)].layer] - HEIGHT / 2],
  ])));
  return {
    width, height: heights.at(-1) + HEIGHT / 2, curves,
    places: nodes.map((_, i) => [centres[i], heights[layer[i]]]),
  };
}
