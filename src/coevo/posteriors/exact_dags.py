"""Exact sums over DAGs: the uniform prior, for which each DAG counts once.

**Layers.** The first layer of a DAG has the variables without parents. Each further layer has the
variables with all parents in earlier layers, and at least one of them in the last one. So each DAG
has one sequence of layers [3]_. With U the variables of all layers so far, and R those of all
layers but the last,

    H(R, U) = sum over layers L outside U of H(U, U + L) * product over v in L of t_v(R, U),

where t_v(R, U) is the sum of the weights of the parent sets of v that are subsets of U and no
subsets of R. There are 3^n states (R, U) and 4^n triples (R, U, L). The sum over L for one state is
the value of a polynomial, linear in each t_v, and takes one addition and one multiplication for
each L. Memory for 3^n numbers is the limit (16 variables: 0.34 GB, twice for the arcs).

**All terms are positive.** Inclusion and exclusion over the variables without children needs only
3^n steps and 2^n numbers [1]_ [2]_. Its terms have both signs, and those of a DAG with k variables
without children add up to 2^k times its weight, in each step. How many digits this costs depends on
the weights (for the evidence of 14 variables three digits, where all weights are equal), and no
bound is known before. Here nothing is subtracted. The parent sets that are no subsets of R are
split into *pieces*: with t1, t2, ... the variables of the last layer, the sets within R + t1 that
contain t1, the sets within R + t1 + t2 that contain t2, and so on.

**Plain floats.** Let A_v(U) be the sum over all parent sets of v within U. The shares
t_v / A_v(U) are between 0 and 1. The weights of the layers that follow U, with A_v(U) in place of
t_v, are divided by the largest of them. So all terms are between 0 and 1, whatever the weights. A
term below 1e-50 is dropped. This is negligible for the posterior: if the variables of L may have
any parents within U, or if the heaviest layer follows instead of L, the structures are still DAGs,
each of which counts once, and their sum is at most the evidence. So the posterior probability of
a dropped sequence of layers is below 1e-50, and there are less than 1e11 of them.

**Arcs.** A second pass computes the probability of each state, and of each piece for each
child. The probability of a family within its piece is its weight over the weight of the piece. So
one sum over supersets for each child and each t gives all arcs.

**Draws.** Layers are drawn from the first to the last by the terms of H. Then each child draws its
parents. Draws in the same state share the weights of the layers that follow.

.. [1] J. Tian and R. He, Computing posterior probabilities of structural features in Bayesian
   networks, UAI 2009.
.. [2] T. Talvitie, A. Vuoksenmaa and M. Koivisto, Exact sampling of directed acyclic graphs from
   modular distributions, UAI 2019.
.. [3] J. Kuipers and G. Moffa, Partition MCMC for inference on acyclic digraphs, JASA 112, 2017.
   (The layers.)
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.posteriors.exact_dag_kernels import (
    LayerDraws,
    LayerSums,
    LayerTables,
    draw_layers,
    make_scratch,
    share_layerings,
    sum_layerings,
)
from coevo.posteriors.exact_kernels import (
    SortedFamilies,
    add_member_weights,
    draw_families,
    sum_subsets,
    sum_supersets,
)
from coevo.posteriors.exact_tables import (
    CompleteTables,
    make_impossible_error,
    sort_families,
    sum_all_subsets,
)

__all__ = ["DagSampler"]

SETS_PER_CALL = 1 << 10  # sets that a kernel visits at once: Ctrl-C waits for the end of the call


def _make_layer_tables(tables: CompleteTables) -> LayerTables:
    """Return the sums over parent sets that the kernels read."""
    n = tables.n_variables
    sums = sum_all_subsets(tables)
    steps = np.zeros((n * (n - 1), 1 << max(n - 2, 0), 2))
    for child in range(n):
        for place in range(n - 1):
            larger = _select(sums[child], place, 1)
            is_possible = larger > -np.inf
            within = _select(tables.log_weight[child], place, 1)
            sum_subsets(within)
            for i, part in enumerate((within, _select(sums[child], place, 0))):
                part[is_possible] -= larger[is_possible]
                np.exp(part, out=steps[child * (n - 1) + place, :, i])
    powers = np.zeros(1, dtype=np.int64)
    for variable in range(n):
        powers = np.concatenate([powers, powers + 3**variable])
    return LayerTables(sums, steps, powers)


def _select(row: NDArray[np.float64], place: int, bit: int) -> NDArray[np.float64]:
    """Return a copy of the entries of the sets with (or without) the thing at a place."""
    return row.reshape(-1, 2, 1 << place)[:, bit].flatten()


def _sum_states(layer_tables: LayerTables) -> tuple[LayerSums, float]:
    """Return the sums over all that follows, and the log of the total."""
    n = len(layer_tables.sums)
    sums, scratch = LayerSums(np.full(3**n, -np.inf), np.empty(1 << n)), make_scratch(n)
    log_total = -np.inf
    for begin in reversed(range(0, 1 << n, SETS_PER_CALL)):
        end = min(begin + SETS_PER_CALL, 1 << n)
        log_total = sum_layerings(layer_tables, sums, scratch, begin, end)
    if log_total == -np.inf:
        raise make_impossible_error()
    return sums, log_total


def _share_piece(
    tables: CompleteTables,
    layer_tables: LayerTables,
    found: NDArray[np.float64],
    child: int,
    place: int,
) -> NDArray[np.float64]:
    """Return the probability of each parent of a child in pieces of one variable."""
    pair = child * (tables.n_variables - 1) + place
    probability = found[pair]
    factors = np.full(len(probability), -np.inf)
    is_possible = probability > 0
    within = np.log(layer_tables.steps[pair, is_possible, 0])
    within += _select(layer_tables.sums[child], place, 1)[is_possible]
    factors[is_possible] = np.log(probability[is_possible]) - within
    sum_supersets(factors)
    totals = np.zeros(tables.n_variables - 2)
    total = add_member_weights(_select(tables.log_weight[child], place, 1), factors, totals)
    return np.insert(totals, place, total)


class DagSampler:
    """Exact draws of DAGs under the uniform prior, and the probabilities of arcs."""

    def __init__(self, tables: CompleteTables) -> None:
        self._complete = tables
        self._tables = _make_layer_tables(tables)
        self._sums, log_total = _sum_states(self._tables)
        self.log_evidence = tables.log_scale + log_total

    @cached_property
    def _families(self) -> SortedFamilies:
        return sort_families(self._complete)

    def compute_arcs(self) -> NDArray[np.float64]:
        """Return the probability of each arc, ``[parent, child]``."""
        n, tables = self._complete.n_variables, self._tables
        found, scratch = np.zeros(tables.steps.shape[:2]), make_scratch(n)
        sums = LayerSums(self._sums.states.copy(), self._sums.scales)
        for begin in range(0, 1 << n, SETS_PER_CALL):
            share_layerings(tables, sums, scratch, begin, begin + SETS_PER_CALL, found)
        arcs = np.zeros((n, n))
        for child in range(n):
            totals = np.zeros(n - 1)
            for place in range(n - 1):
                totals += _share_piece(self._complete, tables, found, child, place)
            arcs[:, child] = np.insert(totals, child, 0.0)
        return np.minimum(arcs, 1.0)

    def draw_dags(self, number: int, rng: Generator) -> NDArray[np.bool_]:
        """Return independent draws, (number, n, n), ``[parent, child]``."""
        n = len(self._tables.sums)
        random = rng.random((number, 2, n))
        bounds = np.empty((number, n, 2), dtype=np.int64)
        lots = np.empty((number, n, 2))
        lots[:, :, 0] = random[:, 1]
        log_totals = np.empty((number, n))
        reached = np.zeros((number, 2), dtype=np.int64)
        variables, scratch = np.arange(n), make_scratch(n)
        for step in range(n):
            before = reached.copy()
            waiting = np.flatnonzero(reached[:, 0] != (1 << n) - 1)
            sequence = waiting[np.lexsort(reached[waiting].T)]
            drawn = np.ascontiguousarray(random[:, 0, step])
            draws = LayerDraws(reached, drawn, log_totals)
            draw_layers(self._tables, self._sums, scratch, sequence, draws)
            is_new = ((reached[:, :1] & ~before[:, :1]) >> variables & 1) == 1
            earlier = np.where(before[:, :1] == 0, -1, before[:, 1:])
            limits = np.stack([before[:, :1], earlier], axis=2)
            bounds = np.where(is_new[:, :, None], limits, bounds)
        lots[:, :, 1] = log_totals
        adjacency = np.empty((number, n, n), dtype=np.bool_)
        draw_families(self._families, bounds, lots, adjacency)
        return adjacency
