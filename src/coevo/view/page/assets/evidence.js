// The evidence, and what the network says with it. `ask(question, body)` gives an answer later.
// Only the last question counts: answers to earlier ones are dropped.

// Names come from data: an object without a prototype holds any of them, also "constructor".
const hold = (...parts) => Object.assign(Object.create(null), ...parts);

export function makeEvidence(ask, names, states, { onBeliefs, onError }) {
  let given = hold(), prior = null, now = null, kept = null, asked = 0;

  async function renew() {
    const number = ++asked, evidence = hold(given);
    try {
      const answer = await ask("beliefs", { given: evidence });
      const found = { ...answer, given: evidence };
      if (!Object.keys(evidence).length) prior = found; // also if a click came before this answer
      if (number !== asked) return now && onBeliefs();
      if (answer.impossible) throw new Error(answer.impossible);
      now = found;
      onBeliefs();
    } catch (error) {
      if (number === asked) onError(error);
    }
    return undefined;
  }
  function set(next) {
    given = hold(next);
    return renew();
  }
  // A second click on an observed state retracts it.
  function toggle(n, k) {
    const name = names[n], state = states[n][k], next = hold(given);
    if (next[name] === state) delete next[name];
    else next[name] = state;
    return set(next);
  }
  function retract(name) {
    const next = hold(given);
    delete next[name];
    return set(next);
  }
  return {
    set, toggle, retract, renew,
    soften: (name, weights) => set(hold(given, { [name]: weights })),
    keep: () => { kept = now; },
    drop: () => { kept = null; },
    get given() { return given; },
    get now() { return now; },
    get kept() { return kept; },
    get prior() { return prior; },
    get base() { return kept ?? prior; }, // what the beliefs are compared with
    start: async (first = {}) => {
      await renew();
      if (Object.keys(first).length) await set(first);
    },
  };
}

// The variables whose distribution changed most, by half the sum of the absolute differences.
export function listChanges(now, base, most) {
  const changes = now.marginals.map((probabilities, n) => ({
    n, change: probabilities.reduce((sum, p, k) => sum + Math.abs(p - base.marginals[n][k]), 0) / 2,
  }));
  // A change within the errors of two estimates may be chance.
  const noise = (n) => 3 * Math.hypot(...[now, base].map(({ standard_errors: errors }) => (errors ? Math.max(...errors[n]) : 0)));
  return changes.filter(({ n, change }) => change > Math.max(5e-4, noise(n))).sort((a, b) => b.change - a.change || a.n - b.n).slice(0, most);
}

export function formatPercent(p) {
  if (p === 0 || p === 1) return `${100 * p} %`;
  const percent = 100 * p;
  if (percent < 0.1) return "<0.1 %";
  return percent > 99.9 ? ">99.9 %" : `${percent.toFixed(percent < 10 || percent > 90 ? 1 : 0)} %`;
}

// The standard error of a probability: " ± 0.16 %"; empty if it is exact.
export const formatError = (error) => (error ? ` \u00b1 ${Number((100 * error).toPrecision(2))} %` : "");

// A probability from its logarithm; it may be far below the smallest number.
export function formatLogProbability(log) {
  if (log > Math.log(1e-4)) return Math.exp(log).toPrecision(4);
  const exponent = Math.floor(log / Math.LN10), digits = Math.exp(log - exponent * Math.LN10);
  return `${digits.toFixed(2)} × 10^${exponent}`;
}

export const describeFinding = (name, value) => (typeof value === "string" ? `${name} = ${value}`
  : `${name}: ${Object.entries(value).map(([state, weight]) => `${state} ${Number(weight.toFixed(3))}`).join(", ")}`);
