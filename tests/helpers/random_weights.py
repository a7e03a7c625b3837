"""Random weights of families, without rows, for tests of the posterior."""

import itertools

import numpy as np

import naive
from coevo.posteriors.family_weights import FamilyWeights, OutsideFamilies


def make_random_weights(n, seed, n_candidates=None, spread=2.0, max_outside=2):
    """Return weights with normal logs; families outside the candidates have at most 2 parents."""
    rng = np.random.default_rng([n, seed])
    n_candidates = n - 1 if n_candidates is None else n_candidates
    candidates, tables, outside = [], [], []
    for v in range(n):
        others = np.delete(np.arange(n), v)
        chosen = np.sort(rng.permutation(others)[:n_candidates])
        candidates.append(chosen)
        tables.append(rng.normal(0, spread, 1 << n_candidates))
        sets = [
            parents
            for size in range(1, max_outside + 1)
            for parents in itertools.combinations(others.tolist(), size)
            if not set(parents) <= set(chosen.tolist())
        ]
        pairs = zip(rng.normal(0, spread, len(sets)).tolist(), sets, strict=True)
        outside.append(sorted(pairs, key=lambda pair: -pair[0]))
    families = [family for part in outside for family in part]
    found = OutsideFamilies(
        np.cumsum([0, *map(len, outside)]).astype(np.int64),
        np.array([weight for weight, _ in families]),
        np.cumsum([0, *(len(parents) for _, parents in families)]).astype(np.int64),
        np.array([p for _, parents in families for p in parents], dtype=np.int32),
    )
    return FamilyWeights(tuple(candidates), tuple(tables), found, 0)


def weigh_all_dags(weights, prior, power=1.0):
    """Return the weight of each DAG, by its arcs; the weights of families are raised to a power."""
    n = weights.n_variables
    tempered = [
        {family: power * log_weight for family, log_weight in of_child.items()}
        for of_child in list_log_weights(weights)
    ]
    dags = naive.dag_weights(n, tempered)
    if prior == "order":
        dags = {a: w * len(naive.topological_orders(range(n), a)) for a, w in dags.items()}
    return dags


def list_log_weights(weights):
    """Return for each child {parent set: log weight}, as `naive.dag_weights` reads them."""
    listed = []
    out = weights.outside
    for v, (candidates, table) in enumerate(zip(weights.candidates, weights.tables, strict=True)):
        families = {
            frozenset(int(u) for j, u in enumerate(candidates) if number >> j & 1): float(weight)
            for number, weight in enumerate(table)
            if weight > -np.inf
        }
        for f in range(out.begin[v], out.begin[v + 1]):
            parents = out.parents[out.start[f] : out.start[f + 1]].tolist()
            families[frozenset(parents)] = float(out.log_weight[f])
        listed.append(families)
    return listed
