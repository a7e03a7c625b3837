"""Tables of family weights for the tests of the posterior, for coevo and for the naive oracle."""

import numpy as np

from coevo.posteriors.family_weights import FamilyWeights, OutsideFamilies

NO_OUTSIDE = (np.zeros(0), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))


def make_weights(rows):
    """Return the weights of complete tables: one row of 2^(n-1) log weights for each child."""
    n = len(rows)
    candidates = tuple(np.delete(np.arange(n), child) for child in range(n))
    outside = OutsideFamilies(np.zeros(n + 1, dtype=np.int64), *NO_OUTSIDE)
    tables = tuple(np.array(row, dtype=np.float64) for row in rows)
    return FamilyWeights(candidates, tables, outside, sum(map(len, tables)))


def list_families(weights):
    """Return {(child, parents): log weight} of all families with a weight above zero."""
    found, outside = {}, weights.outside
    for child, (chosen, table) in enumerate(zip(weights.candidates, weights.tables, strict=True)):
        for number, weight in enumerate(table.tolist()):
            parents = frozenset(v for j, v in enumerate(chosen.tolist()) if number >> j & 1)
            found[child, parents] = weight
        for family in range(outside.begin[child], outside.begin[child + 1]):
            parents = outside.parents[outside.start[family] : outside.start[family + 1]]
            found[child, frozenset(parents.tolist())] = float(outside.log_weight[family])
    return {family: weight for family, weight in found.items() if weight > -np.inf}


def random_rows(rng, n, spread=3.0, zeros=0.0):
    """Return random log weights; a share `zeros` of the families has the weight zero."""
    rows = rng.normal(scale=spread, size=(n, 1 << (n - 1)))
    rows[rng.random(rows.shape) < zeros] = -np.inf
    rows[:, 0] = np.where(rows[:, 0] == -np.inf, -spread, rows[:, 0])  # the empty DAG is possible
    return rows


def number_set(members, child=None, left_out=None):
    """Return the number of a set, without the place of a child, and of one more variable."""
    gone = [v for v in (child, left_out) if v is not None]
    return sum(1 << (v - sum(u < v for u in gone)) for v in members)


def key_of(matrix):
    """Return the parent sets of all variables of an adjacency matrix, as the oracle has them."""
    return tuple(frozenset(np.flatnonzero(column).tolist()) for column in matrix.T)
