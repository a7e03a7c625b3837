// Two changes of the same knowledge become one: what this tab changed, applied to what is stored now.
//
// `base` is what both began with, `mine` is shown here, `theirs` was stored by another tab or program.
// Statements that cannot hold together are kept, both of them: the check for contradictions says so in a
// sentence, and each can be removed. A number has one value only: these conflicts are returned.

const text = value => JSON.stringify(value ?? null);

export function mergeKnowledge(base, mine, theirs) {
  if (text(base) === text(theirs)) return { known: mine, conflicts: [] };
  const known = { ...theirs }, conflicts = [];
  for (const key of ["required", "forbidden", "roots", "leaves"]) known[key] = mergeLists(base[key], mine[key], theirs[key]);
  known.tiers = mergeTiers(base.tiers, mine.tiers, theirs.tiers);

  const limits = [base, mine, theirs].map(one => one.max_parents);
  known.max_parents = mergeValues(...limits, (here, there) => conflicts.push({
    sentence: `A variable has at most ${formatLimit(here)} here, and at most ${formatLimit(there)} in what was saved elsewhere.`,
    choices: [[formatLimit(here), one => one], [formatLimit(there), one => ({ ...one, max_parents: there })]],
    isOpen: one => one.max_parents === here,
  }));

  const weights = [base, mine, theirs].map(one => new Map(one.weights.map(([from, to, weight]) => [text([from, to]), weight])));
  known.weights = [];
  for (const arc of new Set([...weights[2].keys(), ...weights[1].keys()])) {
    const [from, to] = JSON.parse(arc);
    const set = (one, weight) => ({
      ...one, weights: [...one.weights.filter(other => text(other.slice(0, 2)) !== arc), ...(weight === undefined ? [] : [[from, to, weight]])],
    });
    const weight = mergeValues(...weights.map(one => one.get(arc)), (here, there) => conflicts.push({
      sentence: `${from} → ${to} has ${formatWeight(here)} here, and ${formatWeight(there)} in what was saved elsewhere.`,
      choices: [[formatWeight(here), one => one], [formatWeight(there), one => set(one, there)]],
      isOpen: one => one.weights.find(other => text(other.slice(0, 2)) === arc)?.[2] === here,
    }));
    if (weight !== undefined) known.weights.push([from, to, weight]);
  }
  return { known, conflicts };
}

const formatLimit = limit => limit === null ? "any number of parents" : `${limit} parent${limit === 1 ? "" : "s"}`;
const formatWeight = weight => weight === undefined ? "no weight" : `the weight ${weight}`;

function mergeValues(base, mine, theirs, onConflict) {
  if (text(mine) === text(base) || text(mine) === text(theirs)) return theirs;
  if (text(theirs) !== text(base)) onConflict(mine, theirs);
  return mine;
}

function mergeLists(base, mine, theirs) {
  const [inBase, inMine, inTheirs] = [base, mine, theirs].map(list => new Set(list.map(text)));
  return [
    ...theirs.filter(one => inMine.has(text(one)) || !inBase.has(text(one))),
    ...mine.filter(one => !inBase.has(text(one)) && !inTheirs.has(text(one))),
  ];
}

// A tier has no name: it is the tier of the base with which it shares variables, or a new one at its place.
function mergeTiers(base, mine, theirs) {
  const places = [base.map((_, at) => [at, 0]), placeTiers(base, mine), placeTiers(base, theirs)];
  const where = [base, mine, theirs].map((tiers, side) => {
    const found = new Map();
    tiers.forEach((names, i) => names.forEach(name => found.set(name, text(places[side][i]))));
    return found;
  });
  const merged = new Map();
  const put = (place, name) => merged.set(place, [...(merged.get(place) ?? []), name]);
  for (const name of new Set([...theirs.flat(), ...mine.flat()])) {
    const here = where[1].get(name), there = where[2].get(name);
    const conflict = [];
    const place = mergeValues(where[0].get(name), here, there, () => conflict.push(there));
    for (const one of new Set([place, ...conflict])) if (one) put(one, name);
  }
  mine.forEach((names, i) => { if (!names.length) merged.set(text(places[1][i]), merged.get(text(places[1][i])) ?? []); });
  const order = [...merged.keys()].map(place => JSON.parse(place)).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return order.map(place => merged.get(text(place)));
}

// Return the place of each tier: that of its tier of the base, [i, 0], or [i, 1], [i, 2], ... behind it.
function placeTiers(base, tiers) {
  let last = -1, behind = 0;
  return tiers.map(names => {
    const shared = base.map((others, at) => at > last ? others.filter(name => names.includes(name)).length : 0);
    const most = Math.max(0, ...shared);
    if (most) [last, behind] = [shared.indexOf(most), 0];
    else behind++;
    return [last, behind];
  });
}
