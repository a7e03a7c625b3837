// What the arcs of a graph say about its variables: neighbours, Markov blankets, facts of an arc.
// `data` has names and arcs as coevo.view.page.drawing writes them.

// The parts of an arc.
export const PARENT = 0;
export const CHILD = 1;
export const DIRECTED = 2; // 0: the direction is unknown; 1: from the data; 2: from the constraints
export const KIND = 3;
export const CLASS_KIND = 4;
export const FACTS = 5;
const FACT_NAMES = [["gain", 2], ["strength", 3], ["direction", 3], ["reverse", 3]]; // name and number of digits
const WORD = FACTS + FACT_NAMES.length;
export const SAYS = WORD + 1;

const figure = (value, digits) => (Number(value.toFixed(digits)) || 0).toLocaleString("en-US",
  { minimumFractionDigits: digits, maximumFractionDigits: digits }); // "|| 0": no sign of a zero

// Gain, strength and direction of an arc in words.
export function describeFacts(arc) {
  const values = arc.slice(FACTS);
  const parts = FACT_NAMES.map(([name, digits], at) => values[at] === null ? "" : `${name} ${figure(values[at], digits)}`);
  if (parts[0]) parts[0] += ` (${arc[WORD]})`;
  return parts.filter(Boolean).join(", ");
}

export const describeDirection = (arc) =>
  ["direction unknown", "directed by the data", "directed by the constraints"][arc[DIRECTED]];

// `isClass`: the direction of an arc may be unknown; else the network is given, with all its directions.
export function describeArc(names, arc, isClass = true) {
  const parts = [`${names[arc[PARENT]]} ${arc[DIRECTED] || !isClass ? "\u2192" : "\u2014"} ${names[arc[CHILD]]}`];
  const facts = describeFacts(arc);
  if (facts) parts.push(facts);
  if (isClass) parts.push(describeDirection(arc));
  return parts.join(", ") + (arc[SAYS] ? "\n" + arc[SAYS] : "");
}

// Arcs by their ends. An arc that only another network has is in `touching` alone.
export function makeStructure({ names, arcs }) {
  const into = names.map(() => []), outOf = names.map(() => []), touching = names.map(() => []);
  arcs.forEach((arc, i) => {
    touching[arc[PARENT]].push(i);
    touching[arc[CHILD]].push(i);
    if (arc[KIND] === "missing") return;
    into[arc[CHILD]].push(i);
    outOf[arc[PARENT]].push(i);
  });
  const parentsOf = (n) => into[n].map((i) => arcs[i][PARENT]);
  const childrenOf = (n) => outOf[n].map((i) => arcs[i][CHILD]);

  function blanketOf(n) {
    const all = new Set([...parentsOf(n), ...childrenOf(n)]);
    for (const child of childrenOf(n)) parentsOf(child).forEach((p) => all.add(p));
    all.delete(n);
    return [...all].sort((a, b) => a - b);
  }
  function membersAround(n, steps) {
    const members = new Set([n]);
    for (let i = 0; i < steps; i++) {
      for (const m of [...members]) {
        const ends = touching[m].flatMap((arc) => [arcs[arc][PARENT], arcs[arc][CHILD]]);
        for (const other of [...ends, ...blanketOf(m)]) members.add(other);
      }
    }
    return [...members].sort((a, b) => a - b);
  }
  return { into, outOf, touching, parentsOf, childrenOf, blanketOf, membersAround };
}

// The variable with many arcs, but not so many that they hide all others: a large graph starts there.
export function findBusiest({ touching }) {
  const degrees = touching.map((arcs) => (arcs.length > 10 ? 0 : arcs.length));
  return degrees.indexOf(Math.max(...degrees));
}
