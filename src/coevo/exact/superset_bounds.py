r"""How well a family with more parents can score: proved upper bounds for each score.

`bound_supersets` takes families of one child and returns, for each parent set S, a number that no
strict superset T of S exceeds. If a subset of S scores at least as much, no superset of S is needed
in an optimal network. So families can be enumerated without a limit on the number of parents. The
bounds are part of the score: the proof and its checker both use them, and the tests compare them
with the enumeration of all supersets. Each bound is proved here. The papers are cited for the idea;
the texts of their theorems were not at hand, so nothing rests on them.

Let r be the number of states of the child, q the number of configurations of S, and
:math:`n_{jk}` the counts of S.

**BIC and AIC** (de Campos and Ji 2011). The log-likelihood is at most 0, and a strict superset has
at least q a configurations, where a is the smallest number of states of another variable:
:math:`s(T) \le -c\, q\, a\, (r - 1)`, with c the cost of a parameter.

There is a second rule, `find_redundant` (the idea is in de Campos, Scanagatta, Corani and Zaffalon
2018, *Entropy-based pruning for learning Bayesian networks using BIC*). A parent Y beside S gains
at most the entropy of the child given S, and at most that of Y, each times the rows. If the penalty
of Y is at least as large, every set with S and Y is dominated by the same set without Y, because
entropies fall and penalties grow with S.

**BDeu and BDs** (compare Correia, Cussens and de Campos 2020). A local score is the log probability
of the child's column in an urn scheme with cells a and total a r. In each configuration of T the
first row of each state k has probability at most a / (a r) = 1 / r, and every other row at most 1.
Each cell (j, k) of S that occurs contains at least one cell of T that occurs. So
:math:`s(T) \le -\#\{(j, k): n_{jk} > 0\}\, \log r`, for any equivalent sample size.

**K2** (no bound was published). In the urn scheme with all hyperparameters 1, put
:math:`v(n) = -\log\binom{n + r - 1}{r - 1}`, the log probability that n rows all show one state.
(1) A configuration with counts :math:`n_1, \dots, n_r` scores at most :math:`\sum_k v(n_k)`: the
difference is the logarithm of :math:`\prod_k (r)_{n_k} / (r)_n`, where :math:`(r)_n = r (r + 1)
\cdots (r + n - 1)` and n is the sum; each product on top has the smallest factors that it can have,
so the quotient is at most 1. (2) For the same reason :math:`v(m) + v(n) \le v(m + n)`. The cells of
T divide the cells of S, so (1) and then (2) give :math:`s(T) \le \sum_{jk} v(n_{jk})`. It needs no
limit on the number of parents.

**fNML**. The log-likelihood is at most 0. The regret of rows is at most the sum of the regrets of
its parts, since the largest likelihood of all rows is at most the product of those of the parts:
:math:`s(T) \le -\sum_j \log C(r, n_j)`.

**qNML and the log-likelihood** have no bound here: give a limit on the number of parents.

The weights of arcs and the parent penalty are added: those of S, and the best of further parents.
The sparse penalty of a superset is at least that of `SparsePenalty.bound_supersets`. It can fall
when a parent is added, so `find_redundant` says nothing under a sparse penalty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset
from coevo.exact.proof_kernels import CellRows, sum_cells
from coevo.graph import ArcRules
from coevo.score import FamilyBatch, FamilyScorer, LogLikelihood
from coevo.score.penalties import ArcWeights

__all__ = ["SupersetBounds", "make_batch"]

LARGEST_TABLE = 1 << 22  # cells; a larger table has no bound of its own
MARGIN = 1e-9  # of a score: more than the round-off of a sum over all rows

Sets = NDArray[np.int64]  # (m, k), parents in ascending order
Values = NDArray[np.float64]


def make_batch(child: int, sets: Sets) -> FamilyBatch:
    """Return the families of a child with these parent sets, all of one size."""
    m, k = sets.shape
    members = np.empty((m, k + 1), dtype=np.int32)
    members[:, 0] = child
    members[:, 1:] = sets
    return FamilyBatch(members.ravel(), np.arange(0, m * (k + 1) + 1, k + 1, dtype=np.int64))


def get_parameter_cost(scorer: FamilyScorer) -> float | None:
    """Return the penalty of a free parameter under BIC and AIC, and None for other scores."""
    compute = getattr(scorer.scoring, "compute_penalty", None)
    if compute is None or isinstance(scorer.scoring, LogLikelihood):
        return None
    return float(compute(scorer.dataset.n_rows))


@dataclass(frozen=True)
class SupersetBounds:
    """The upper bounds of one scorer."""

    scorer: FamilyScorer
    rules: ArcRules

    @property
    def exists(self) -> bool:
        """Whether this score has a bound."""
        return self.scorer.scoring.name in _BOUNDS

    @cached_property
    def _arc_weights(self) -> Values:
        """The log prior of each arc, ``[parent, child]``, with the parent penalty."""
        names, penalty = self.scorer.dataset.names, self.scorer.parent_penalty
        return ArcWeights.from_mapping(self.scorer.weights, names, penalty).matrix

    @cached_property
    def likelihood(self) -> FamilyScorer:
        """The scorer of the log-likelihood of the same rows."""
        return FamilyScorer(self.scorer.dataset, "loglik", n_jobs=self.scorer.threads.n)

    def bound_supersets(self, child: int, sets: Sets, scores: Values, useful: Values) -> Values:
        """Return a number for each set that no allowed strict superset of it exceeds.

        `sets` are allowed parent sets of the child, all of one size, and `scores` their scores. A
        bound above `useful` helps nobody, and may be a larger one than is known. It is infinite for
        scores that have none.
        """
        compute = _BOUNDS.get(self.scorer.scoring.name)
        if compute is None or not len(sets):
            return np.full(len(sets), np.inf)
        weights = self._arc_weights[:, child]
        own = weights[sets].sum(axis=1)
        added = own + self._add_best(child, sets) + MARGIN * (1.0 + np.abs(scores))
        if self.scorer.sparse_penalty:
            costs = self.scorer.sparse_costs
            own = own - costs.sum_families(make_batch(child, sets))
            added = added - costs.bound_supersets(child, sets)
        of_rows = compute(self, child, sets, scores - own, useful - added)
        return np.asarray(np.minimum(of_rows, 0.0) + added)  # a probability is at most 1

    def find_redundant(
        self, child: int, sets: Sets, scores: Values, added: NDArray[np.int64], slack: float = 0.0
    ) -> NDArray[np.bool_]:
        """Return whether a further parent beside each set never pays.

        A superset with this parent then scores at least `slack` less than without it. `scores` are
        those of the sets.
        """
        cost = get_parameter_cost(self.scorer)
        if cost is None or self.scorer.sparse_penalty:
            return np.zeros(len(sets), dtype=np.bool_)
        arities = self.scorer.dataset.arities.astype(np.float64)
        weights = self._arc_weights[:, child]
        penalties = cost * arities[sets].prod(axis=1) * (arities[child] - 1.0)
        of_child = penalties - (scores - weights[sets].sum(axis=1))  # its entropy, times the rows
        gains = np.minimum(of_child, self._entropies[added]) + weights[added]
        margin = slack + MARGIN * (1.0 + np.abs(scores))
        return np.asarray(gains + margin <= penalties * (arities[added] - 1.0))

    @cached_property
    def _entropies(self) -> Values:
        """The entropy of each variable, times the rows."""
        none = np.empty((1, 0), dtype=np.int64)
        batches = [make_batch(v, none) for v in range(len(self.rules.allowed))]
        return -np.concatenate([self.likelihood.local_scores(batch) for batch in batches])

    def _add_best(self, child: int, sets: Sets) -> Values:
        """Return the largest sum of weights of further parents, at least one."""
        weights = self._arc_weights[:, child]
        allowed = self.rules.allowed[:, child]
        if allowed.sum() > sets.shape[1] and np.ptp(weights[allowed]) == 0 and weights.max() <= 0:
            return np.full(len(sets), weights[allowed][0])  # one parent, whichever it is
        free = np.where(allowed, weights, -np.inf)
        is_other = np.broadcast_to(allowed, (len(sets), len(allowed))).copy()
        np.put_along_axis(is_other, sets, False, axis=1)
        gains = np.where(is_other, np.maximum(free, 0.0), 0.0).sum(axis=1)
        single = np.where(is_other, free, -np.inf).max(axis=1, initial=-np.inf)
        return np.asarray(np.where(gains > 0, gains, single))


def _bound_by_penalty(
    bounds: SupersetBounds, child: int, sets: Sets, scores: Values, useful: Values
) -> Values:
    arities = bounds.scorer.dataset.arities.astype(np.float64)
    cost = get_parameter_cost(bounds.scorer) or 0.0
    q = arities[sets].prod(axis=1)
    fewest = arities[bounds.rules.allowed[:, child]].min(initial=math.inf)
    return np.asarray(-cost * q * fewest * (arities[child] - 1.0))


def _bound_by_cells(
    bounds: SupersetBounds, child: int, sets: Sets, scores: Values, useful: Values
) -> Values:
    r = int(bounds.scorer.dataset.arities[child])
    value = np.full(bounds.scorer.dataset.n_rows + 1, -math.log(r))
    value[0] = 0.0
    return _sum_values(bounds.scorer.dataset, child, sets, value, useful)


def _bound_by_binomials(
    bounds: SupersetBounds, child: int, sets: Sets, scores: Values, useful: Values
) -> Values:
    n_rows, r = bounds.scorer.dataset.n_rows, int(bounds.scorer.dataset.arities[child])
    steps = np.arange(1, n_rows + 1)
    value = np.concatenate([[0.0], np.cumsum(np.log(steps) - np.log(steps + (r - 1.0)))])
    return _sum_values(bounds.scorer.dataset, child, sets, value, useful)


def _bound_by_regret(
    bounds: SupersetBounds, child: int, sets: Sets, scores: Values, useful: Values
) -> Values:
    return scores - bounds.likelihood.local_scores(make_batch(child, sets))


_BOUNDS: dict[str, Callable[[SupersetBounds, int, Sets, Values, Values], Values]] = {
    "bic": _bound_by_penalty,
    "aic": _bound_by_penalty,
    "bdeu": _bound_by_cells,
    "bds": _bound_by_cells,
    "k2": _bound_by_binomials,
    "fnml": _bound_by_regret,
}


def _sum_values(dataset: Dataset, child: int, sets: Sets, value: Values, useful: Values) -> Values:
    """Return the sum over the cells of each family that occur; infinite where it is not useful.

    ``value[n]`` is the value of a cell with n rows, a convex function from n = 1 on. So m cells
    have at least m times the value of their mean number of rows.
    """
    families = make_batch(child, sets)
    n_cells = families.count_cells(dataset.arities)
    fewest = np.minimum(n_cells, dataset.n_rows)
    mean = np.ceil(dataset.n_rows / fewest).astype(np.int64)
    is_summed = (n_cells <= LARGEST_TABLE) & (fewest * value[mean] <= useful)
    sums = np.full(len(sets), np.inf)
    if not is_summed.any():
        return sums
    rows = families.members.reshape(len(sets), -1)[is_summed]
    weights = dataset.weights
    if weights is None:
        weights = np.ones(dataset.codes.shape[1], dtype=np.int64)
    codes = np.ascontiguousarray(dataset.codes, dtype=np.int32)
    arities = np.ascontiguousarray(dataset.arities, dtype=np.int64)
    cells = np.empty(codes.shape[1], dtype=np.int32)
    counts = np.zeros(int(n_cells[is_summed].max()), dtype=np.int32)
    summed = np.empty(len(rows))
    table = CellRows(codes, weights, arities)
    sum_cells(table, np.ascontiguousarray(rows), value, cells, counts, summed)
    sums[is_summed] = summed
    return sums
