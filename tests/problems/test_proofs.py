"""The optima of the bundled orderings are proved: an upper bound by linear programming meets them.

The variable of a pair of items says whether the first one comes before the second one. Of three
items, no cycle is allowed (the 3-dicycle inequalities of Groetschel, Juenger and Reinelt 1984).
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

import naive
from coevo.problems import ORDERINGS, open_ordering


def bound_ordering(weights):
    """Return an upper bound of the weights of all orderings of three items or more.

    Each round adds the inequalities that the last solution breaks, until there are none.
    """
    n = len(weights)
    rows, columns = np.triu_indices(n, k=1)
    index = np.empty((n, n), dtype=np.int64)
    index[rows, columns] = np.arange(len(rows))
    i, j, k = np.array(list(itertools.combinations(range(n), 3))).T
    pairs = np.stack([index[i, j], index[j, k], index[i, k]])
    gains = weights[rows, columns] - weights[columns, rows]
    before = (gains > 0).astype(float)  # the best solution without any inequality
    value = gains @ before
    is_used = np.zeros((2, len(i)), dtype=bool)
    while True:
        sums = before[pairs[0]] + before[pairs[1]] - before[pairs[2]]
        is_broken = np.stack([sums > 1 + 1e-6, sums < -1e-6])
        if not is_broken.any():
            return weights[columns, rows].sum() + value
        is_used |= is_broken
        before, value = solve(gains, pairs, is_used)


def solve(gains, pairs, is_used):
    """Return the best solution, and its value, where some sums are at most 1, and others >= 0."""
    blocks = []
    for sign, chosen in zip((1, -1), is_used, strict=True):
        triples = np.tile(np.arange(chosen.sum()), 3)
        cells = sign * np.repeat([1, 1, -1], chosen.sum())
        shape = (chosen.sum(), len(gains))
        blocks.append(coo_array((cells, (triples, pairs[:, chosen].ravel())), shape))
    limits = np.repeat([1, 0], is_used.sum(axis=1))
    found = linprog(-gains, vstack(blocks).tocsr(), limits, bounds=(0, 1), method="highs")
    assert found.status == 0
    return found.x, -found.fun


@pytest.mark.parametrize("name", ORDERINGS)
def test_the_optimum_of_a_bundled_ordering_is_proved(name):
    assert bound_ordering(open_ordering(name).weights) == pytest.approx(ORDERINGS[name], abs=0.5)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_the_bound_holds(n, seed):
    weights = np.random.default_rng([seed, n]).integers(0, 100, (n, n)).astype(float)
    assert bound_ordering(weights) >= naive.heaviest_ordering(weights.tolist()) - 1e-6
