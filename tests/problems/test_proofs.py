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
    """Return an upper bound of the weights of all orderings of three items or more."""
    n = len(weights)
    rows, columns = np.triu_indices(n, k=1)
    index = np.empty((n, n), dtype=np.int64)
    index[rows, columns] = np.arange(len(rows))
    i, j, k = np.array(list(itertools.combinations(range(n), 3))).T
    used = np.concatenate([index[i, j], index[j, k], index[i, k]])
    signs = np.repeat([1.0, 1.0, -1.0], len(i))
    cycles = coo_array((signs, (np.tile(np.arange(len(i)), 3), used)), (len(i), len(rows)))
    limits = np.concatenate([np.ones(len(i)), np.zeros(len(i))])  # each sum is from 0 to 1
    gains = weights[rows, columns] - weights[columns, rows]
    found = linprog(
        -gains, vstack([cycles, -cycles]).tocsr(), limits, bounds=(0, 1), method="highs-ipm"
    )
    assert found.status == 0
    return weights[columns, rows].sum() - found.fun


@pytest.mark.parametrize("name", ORDERINGS)
def test_the_optimum_of_a_bundled_ordering_is_proved(name):
    assert bound_ordering(open_ordering(name).weights) == pytest.approx(ORDERINGS[name], abs=0.5)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_the_bound_holds(n, seed):
    weights = np.random.default_rng([seed, n]).integers(0, 100, (n, n)).astype(float)
    assert bound_ordering(weights) >= naive.heaviest_ordering(weights.tolist()) - 1e-6
