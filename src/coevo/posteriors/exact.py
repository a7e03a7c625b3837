"""The exact posterior of small problems: the evidence, the arcs, and independent draws of DAGs.

Two priors over structures are kept apart. Under ``'uniform'`` each DAG counts once. Under
``'order'`` a DAG counts once for each of its orders. The arc probabilities of the two can differ
by 0.1.

The work grows as n^2 2^n for orders, and as 4^n for DAGs; the memory as n 2^n and as 3^n.
`estimate_exact_cost` says what a number of variables needs. `MAX_EXACT` has the largest number
that is accepted.

The tables hold one log weight for every family. The largest one of each child is subtracted, so
that logs stay small and exact. Families that are in no table of `FamilyWeights` have the weight
zero here too: the exact sums then belong to the same weights as the chains, also where these are
pruned.

**Sums over orders.** Let A_v(S) be the sum of the weights of all parent sets of v within S. The sum
over all pairs of an order and a DAG that fits it is a recursion over sets of variables [1]_:

    F(S) = sum over v in S of F(S - v) A_v(S - v),  F(none) = 1,

and F(all) is the evidence. B(S) is the same sum over the variables that follow S. The
probability of a family follows for all families at once [2]_:

    P(v, parents) = W_v(parents) * sum over S that contain the parents of F(S) B(S + v) / F(all).

For each child, one transform computes the subset sums A_v, and another one the sums over supersets.
Both take n 2^n steps. All terms are positive, so logs lose no digits.

An order is drawn from the last variable to the first, by the terms of F. Then each child draws its
parents among the variables before it. The DAG is an exact draw from the posterior.

**Sums over DAGs.** The first layer of a DAG has the variables without parents. Each further layer
has the variables with all parents in earlier layers, and at least one of them in the last one. So
each DAG has one sequence of layers [3]_. With U the variables of all layers so far, and R those of
all layers but the last,

    H(R, U) = sum over layers L outside U of H(U, U + L) * product over v in L of t_v(R, U),

where t_v(R, U) is the sum of the weights of the parent sets of v that are subsets of U and no
subsets of R. There are 3^n states (R, U) and 4^n triples (R, U, L). The sum over L for one state is
the value of a polynomial, linear in each t_v, and takes one addition and one multiplication for
each L. Memory for 3^n numbers is the limit (16 variables: 0.34 GB, twice for the arcs).

**All terms are positive.** Inclusion and exclusion over the variables without children needs only
3^n steps and 2^n numbers [4]_ [5]_. Its terms have both signs, and those of a DAG with k variables
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

.. [1] M. Koivisto and K. Sood, Exact Bayesian structure discovery in Bayesian networks, JMLR 5,
   2004.
.. [2] M. Koivisto, Advances in exact Bayesian structure discovery in Bayesian networks, UAI 2006.
.. [3] J. Kuipers and G. Moffa, Partition MCMC for inference on acyclic digraphs, JASA 112, 2017.
   (The layers.)
.. [4] J. Tian and R. He, Computing posterior probabilities of structural features in Bayesian
   networks, UAI 2009.
.. [5] T. Talvitie, A. Vuoksenmaa and M. Koivisto, Exact sampling of directed acyclic graphs from
   modular distributions, UAI 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_choice, is_int
from coevo.errors import ParameterError, bad_choice, bad_parameter
from coevo.posteriors.exact_kernels import (
    LayerDraws,
    LayerSums,
    LayerTables,
    SortedFamilies,
    add_member_weights,
    draw_families,
    draw_layers,
    draw_orders,
    make_scratch,
    share_layerings,
    sum_layerings,
    sum_orders_after,
    sum_orders_before,
    sum_subsets,
    sum_supersets,
    weigh_places,
)
from coevo.posteriors.family_weights import FamilyWeights, count_family_sets
from coevo.runtime.memory import check_memory

__all__ = [
    "MAX_EXACT",
    "STRUCTURE_PRIORS",
    "ExactSampler",
    "compute_exact_posterior",
    "estimate_exact_cost",
    "make_complete_tables",
    "sort_families",
    "sum_all_subsets",
]


class CompleteTables(NamedTuple):
    """The log weights of all sets of the other variables, for each child."""

    log_weight: NDArray[np.float64]  # (n, 2^(n-1)), the largest of each row is 0
    log_scale: float  # what was subtracted, summed over all children

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.log_weight)


def make_impossible_error() -> ParameterError:
    """Return the exception for weights that exclude every DAG."""
    return ParameterError(
        "No network is possible: every DAG has a family with the weight zero. Remove required or "
        "forbidden arcs, or raise the limit on the number of parents."
    )


def make_complete_tables(weights: FamilyWeights) -> CompleteTables:
    """Return the scaled log weights of all families; raise `ParameterError` if they exclude all."""
    n = weights.n_variables
    table = np.full((n, 1 << (n - 1)), -np.inf)
    for child in range(n):
        chosen = weights.candidates[child]
        if len(chosen) == n - 1:
            table[child] = weights.tables[child]
        else:
            table[child, _place_sets(chosen, child)] = weights.tables[child]
        _place_outside(weights, child, table[child])
    largest = table.max(axis=1)
    if not (largest < np.inf).all():  # false for nan too
        raise ParameterError(
            "The log weights of the families have an entry that is nan or inf. Check the score."
        )
    if (largest == -np.inf).any():
        raise make_impossible_error()
    table -= largest[:, None]
    return CompleteTables(table, math.fsum(largest))


def _place_sets(candidates: NDArray[np.int64], child: int) -> NDArray[np.int64]:
    """Return the number of each set of candidates among the sets of all other variables."""
    sets = np.zeros(1, dtype=np.int64)
    for candidate in candidates:
        sets = np.concatenate([sets, sets | 1 << int(candidate - (candidate > child))])
    return sets


def _place_outside(weights: FamilyWeights, child: int, row: NDArray[np.float64]) -> None:
    """Write the log weights of the outside families of a child into its row."""
    outside = weights.outside
    for family in range(outside.begin[child], outside.begin[child + 1]):
        parents = outside.parents[outside.start[family] : outside.start[family + 1]].tolist()
        number = sum(1 << (parent - (parent > child)) for parent in parents)
        row[number] = outside.log_weight[family]


def sum_all_subsets(tables: CompleteTables) -> NDArray[np.float64]:
    """Return, for each child and each set, the log of the sum over all subsets of the set."""
    sums = tables.log_weight.copy()
    for row in sums:
        sum_subsets(row)
    return sums


def sort_families(tables: CompleteTables) -> SortedFamilies:
    """Return the possible families of each child, the heaviest first; ties by number."""
    weights, parents = [], []
    for child, row in enumerate(tables.log_weight):
        chosen = np.argsort(-row, kind="stable")[: np.count_nonzero(row > -np.inf)]
        low = chosen & ((1 << child) - 1)
        weights.append(row[chosen])
        parents.append(low | ((chosen - low) << 1))
    begin = np.concatenate([[0], np.cumsum([len(part) for part in weights])])
    return SortedFamilies(
        begin.astype(np.int64), np.concatenate(weights), np.concatenate(parents).astype(np.int64)
    )


class OrderSampler:
    """Exact draws of DAGs under the prior over orders, and the probabilities of arcs."""

    def __init__(self, tables: CompleteTables) -> None:
        self._complete = tables
        self._sums = sum_all_subsets(tables)
        self._before = np.empty(1 << tables.n_variables)
        sum_orders_before(self._sums, self._before)
        if self._before[-1] == -np.inf:
            raise make_impossible_error()
        self.log_evidence = tables.log_scale + float(self._before[-1])

    @cached_property
    def _families(self) -> SortedFamilies:
        return sort_families(self._complete)

    def compute_arcs(self) -> NDArray[np.float64]:
        """Return the probability of each arc, ``[parent, child]``."""
        n = self._complete.n_variables
        after, places = np.empty(1 << n), np.empty(1 << (n - 1))
        sum_orders_after(self._sums, after)
        arcs = np.zeros((n, n))
        for child in range(n):
            weigh_places(self._before, after, child, places)
            sum_supersets(places)
            totals = np.zeros(n - 1)
            add_member_weights(self._complete.log_weight[child], places, totals)
            arcs[:, child] = np.insert(totals, child, 0.0)
        return np.minimum(arcs, 1.0)

    def draw_dags(self, number: int, rng: Generator) -> NDArray[np.bool_]:
        """Return independent draws, (number, n, n), ``[parent, child]``."""
        n = len(self._sums)
        random = rng.random((number, 2, n))
        orders = np.empty((number, n), dtype=np.int64)
        draw_orders(self._sums, self._before, np.ascontiguousarray(random[:, 0]), orders)
        bounds = np.full((number, n, 2), -1, dtype=np.int64)
        lots = np.empty((number, n, 2))
        lots[:, :, 0] = random[:, 1]
        rows, earlier = np.arange(number), np.zeros(number, dtype=np.int64)
        for place in range(n):
            child = orders[:, place]
            bounds[rows, child, 0] = earlier
            low = earlier & ((1 << child) - 1)
            lots[rows, child, 1] = self._sums[child, low | (earlier - low) >> 1]
            earlier = earlier | (1 << child)
        adjacency = np.empty((number, n, n), dtype=np.bool_)
        draw_families(self._families, bounds, lots, adjacency)
        return adjacency


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


STRUCTURE_PRIORS = ("uniform", "order")
SAMPLERS: dict[str, type[OrderSampler] | type[DagSampler]] = {
    "uniform": DagSampler,
    "order": OrderSampler,
}
MAX_EXACT = {"uniform": 16, "order": 22}  # variables
# nanoseconds on one core, measured: benchmarks/exact_posterior.py
COST_PER_SET = 9.0  # and pair of variables, for orders
COST_PER_TRIPLE = 2.5  # for DAGs: layers so far, the last one, the next one
COST_PER_SHARE = 15.0  # for DAGs: layers so far, the last one, and a child


class ExactCost(NamedTuple):
    """What the exact posterior of a problem needs."""

    operations: float  # of the sums; about 1e9 a second
    n_bytes: int  # peak memory, with the tables of the weights, and with the draws of DAGs
    n_families: int  # families to score before

    @property
    def seconds(self) -> float:
        """An estimate of the seconds for the sums, on one core."""
        return self.operations * 1e-9


@dataclass(frozen=True, eq=False)
class ExactPosterior:
    """The exact posterior over structures.

    Attributes
    ----------
    log_evidence : float
        The log of the sum of the weights of all DAGs; for the prior over orders, of all pairs of a
        DAG and one of its orders.
    arcs : array, (n, n)
        The posterior probability of each arc, ``[parent, child]``.
    """

    log_evidence: float
    arcs: NDArray[np.float64]


def estimate_exact_cost(n_variables: int, max_parents: int, prior: str) -> ExactCost:
    """Return what the exact posterior needs: time, memory, and the families to score.

    The time to score the families depends on the rows and is not included.

    >>> cost = estimate_exact_cost(12, 11, "uniform")
    >>> cost.seconds < 10, cost.n_bytes < 1e9, cost.n_families
    (True, True, 24576)
    """
    _check_prior(prior, "estimate_exact_cost")
    n, n_sets = n_variables, 1 << n_variables
    n_families = n * count_family_sets(n - 1, max_parents)
    n_bytes = 3 * 4 * n * n_sets + 32 * n_families + 64 * n_sets
    if prior == "order":
        return ExactCost(COST_PER_SET * n**2 * n_sets, n_bytes, n_families)
    steps = COST_PER_TRIPLE * 4.0**n + COST_PER_SHARE * n * 3.0**n
    n_bytes += 3 * 2 * n * (n - 1) * n_sets + 128 * n_sets + 16 * 3**n
    return ExactCost(steps, n_bytes, n_families)


def compute_exact_posterior(weights: FamilyWeights, prior: str = "uniform") -> ExactPosterior:
    """Return the log evidence and the probabilities of all arcs.

    Parameters
    ----------
    weights : FamilyWeights
        The weights of the families. Families outside it have the weight zero.
    prior : {'uniform', 'order'}
        The prior over structures: each DAG counts once, or once for each of its orders.

    Raises
    ------
    ParameterError
        If there are too many variables, or if the weights exclude every DAG.

    Examples
    --------
    >>> from coevo.posteriors.family_weights import OutsideFamilies, FamilyWeights
    >>> none = OutsideFamilies(*(np.zeros(k, dtype=t) for k, t in ((3, int), (0, float), (1, int),
    ...     (0, np.int32))))
    >>> candidates = np.array([1]), np.array([0])
    >>> equal = np.zeros(2), np.zeros(2)  # each of the three DAGs has the weight 1
    >>> posterior = compute_exact_posterior(FamilyWeights(candidates, equal, none, 4))
    >>> round(float(np.exp(posterior.log_evidence)), 9), posterior.arcs.round(6).tolist()
    (3.0, [[0.0, 0.333333], [0.333333, 0.0]])
    """
    tables = _prepare(weights, prior, "compute_exact_posterior")
    return _compute_posterior(SAMPLERS[prior](tables))


class ExactSampler:
    """Independent draws of DAGs from the exact posterior.

    Parameters
    ----------
    weights : FamilyWeights
        The weights of the families. Families outside it have the weight zero.
    prior : {'uniform', 'order'}
        The prior over structures: each DAG counts once, or once for each of its orders.

    Raises
    ------
    ParameterError
        If there are too many variables, or if the weights exclude every DAG.
    """

    def __init__(self, weights: FamilyWeights, prior: str = "uniform") -> None:
        tables = _prepare(weights, prior, "ExactSampler")
        self._sampler = SAMPLERS[prior](tables)

    def compute_posterior(self) -> ExactPosterior:
        """Return the log evidence and the probabilities of all arcs, from the same sums."""
        return _compute_posterior(self._sampler)

    @property
    def log_evidence(self) -> float:
        """The log of the sum of all weights, as in `ExactPosterior`."""
        return self._sampler.log_evidence

    def draw_dags(self, number: int, rng: Generator) -> NDArray[np.bool_]:
        """Return independent draws, (number, n, n), ``[parent, child]``.

        Two calls give the same DAGs as one call for both numbers.
        """
        if not is_int(number, 0):
            raise bad_parameter("number", "draw_dags", "an int >= 0", number)
        return self._sampler.draw_dags(number, rng)


def _compute_posterior(sampler: OrderSampler | DagSampler) -> ExactPosterior:
    return ExactPosterior(sampler.log_evidence, sampler.compute_arcs())


def _check_prior(prior: str, owner: str) -> None:
    if not is_choice(prior, STRUCTURE_PRIORS):
        raise bad_choice("prior", owner, STRUCTURE_PRIORS, prior)


def _prepare(weights: FamilyWeights, prior: str, owner: str) -> CompleteTables:
    """Check the prior and the number of variables; return the tables."""
    _check_prior(prior, owner)
    n, largest = weights.n_variables, MAX_EXACT[prior]
    if n > largest:
        raise ParameterError(
            f"The exact posterior under the prior {prior!r} is limited to {largest} variables; "
            f"these are {n}. Sample from the posterior instead."
        )
    needed = estimate_exact_cost(n, n - 1, prior).n_bytes
    check_memory(needed, f"The exact posterior of {n} variables", "Sample from it instead.")
    return make_complete_tables(weights)
