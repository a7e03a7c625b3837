"""Families whose table would be larger than the data: count what occurs.

The rows' joint codes are sorted and runs of equal codes counted, so that memory grows
with the rows and never with the table. Plain NumPy: its sort is faster than one that
numba compiles, such families are rare, and what is not compiled need not be waited for.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from coevo.score.count_kernels import ARITY
from coevo.score.family_kernels import Index, ScoreSpec
from coevo.score.score_kernels import ALL_ONES, DIRICHLET_SEEN, LIKELIHOOD

__all__ = ["count_seen", "score_sparse"]

LARGEST_CODE = 2.0**62
SMALL_CODE = 2.0**31
LARGEST_LOG = 600.0  # safely below that of the largest float


def count_seen(
    index: Index, child: int, parents: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each cell and each configuration of the parents that occur do.

    Both in the order of the table, the child fastest, so that one sort serves both: the
    cells of a configuration stand side by side.
    """
    joint = np.zeros(index.codes.shape[1], dtype=np.int64)
    size = 1.0
    for variable in (*parents, child):
        arity = int(index.facts[variable, ARITY])
        if size * arity >= LARGEST_CODE:  # keep the order of the cells, close the gaps
            seen, joint = np.unique(joint, return_inverse=True)
            size = float(len(seen))
        joint *= arity
        joint += index.codes[variable]
        size *= arity
    if size < SMALL_CODE:
        joint = joint.astype(np.int32)  # which sort faster
    if len(index.weights):
        order = np.argsort(joint, kind="stable")
        joint, weights = joint[order], index.weights[order]
    else:
        joint.sort()
        weights = None
    cells = np.flatnonzero(np.append(True, joint[1:] != joint[:-1]))
    above = joint[cells] // int(index.facts[child, ARITY])
    configurations = cells[np.append(True, above[1:] != above[:-1])]
    return _sums(cells, weights, len(joint)), _sums(configurations, weights, len(joint))


def _sums(
    begins: NDArray[np.int64], weights: NDArray[np.int64] | None, n_rows: int
) -> NDArray[np.int64]:
    """Return the weight of each run of rows."""
    if weights is None:
        return np.diff(begins, append=n_rows)
    sums: NDArray[np.int64] = np.add.reduceat(weights, begins)
    return sums


def score_sparse(index: Index, spec: ScoreSpec, child: int, variables: NDArray[np.int32]) -> float:
    """Return the local score of the family of `child` over `variables`, child included."""
    parents = variables[variables != child]
    cells, configurations = count_seen(index, child, parents)
    r = int(index.facts[child, ARITY])
    if spec.kind == ALL_ONES:
        return _log_rising(0.0, cells) - _log_rising(math.log(r), configurations)
    log_q = float(np.log(index.facts[parents, ARITY]).sum())
    if spec.kind == LIKELIHOOD:
        fit = float(xlogy(cells, cells).sum() - xlogy(configurations, configurations).sum())
        return fit - _price(spec.price, log_q, r)
    if spec.kind == DIRICHLET_SEEN:
        log_q = math.log(len(configurations))
    log_a = math.log(spec.ess) - log_q
    return _log_rising(log_a - math.log(r), cells) - _log_rising(log_a, configurations)


def _price(price: float, log_q: float, r: int) -> float:
    """Return the price of q (r - 1) parameters; infinite where q exceeds every float."""
    if price == 0 or r == 1:
        return 0.0
    return price * math.exp(log_q) * (r - 1.0) if log_q < LARGEST_LOG else math.inf


def _log_rising(log_a: float, counts: NDArray[np.int64]) -> float:
    """Return the sum of log(a (a + 1) ... (a + n - 1)) over all counts n >= 1.

    Where a vanishes beside 1, the product is a (n - 1)!.
    """
    if log_a < -LARGEST_LOG:
        return float(len(counts) * log_a + gammaln(counts).sum())
    a = math.exp(log_a)
    return float((gammaln(a + counts) - gammaln(a)).sum())
