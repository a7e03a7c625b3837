"""The tables that the chains read: sums over subsets, and lists of families.

For each child there is the table of sums A[m]: the log of the sum of the weights of all subsets
of the set m of candidates (one zeta transform in logs). It answers in one look-up how much
weight the families have whose parents all lie in a given set. There is also the list of all
families, the heaviest first. A family is drawn by walking along this list.

A family of the table is left out if it cannot matter. If parents of a child are removed, a DAG
stays a DAG. So the probability of the family with the parents P is at most the weight of P over
the sum of the weights of all its subsets. If this bound is below `negligible`, the family is
left out of the sums and of the list alike. The sum of all these bounds is an upper bound on
what this changes in any probability (`ChainTables.dropped`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.posteriors.chain_kernels import ChainArrays
from coevo.posteriors.family_weights import FamilyWeights
from coevo.runtime.deadline import check_deadline
from coevo.runtime.memory import check_memory, get_machine_memory

__all__ = [
    "BlockChoice",
    "ChainTables",
    "check_table_memory",
    "estimate_memory",
    "prepare_tables",
    "sum_subsets",
]

NEGLIGIBLE = 1e-10  # the bound on the probability of a family below which it is left out
PLAUSIBLE = 0.02  # the bound above which the child and the parent are near
NEAR = 0.05  # the probability of an arc above which its variables are near
EVEN_SHARE = 0.3  # of the choice of the first variable of a block
BYTES_PER_SET = 40  # a log weight, a sum, and a third of each set in the list of families
BYTES_PER_HOT_SET = 16  # a sum, and a log weight


class BlockChoice(NamedTuple):
    """How the members of a block are chosen: one at random, then neighbours of those chosen."""

    near_begin: NDArray[np.int64]  # (n + 1,), the plausible neighbours of v
    near: NDArray[np.int64]
    first: NDArray[np.float64]  # (n,), cumulative chances of the first variable of a block


@dataclass(frozen=True)
class ChainTables:
    """The tables of the chains.

    Attributes
    ----------
    arrays : ChainArrays
        What the kernels read.
    blocks : BlockChoice
        How blocks are chosen.
    dropped : float
        An upper bound on the probability that a network has a family that was left out.
    powers : tuple of float
        To which the weights are raised at each temperature of a ladder; the first one is 1.
    hotter : tuple of ChainArrays
        The tables of the other powers; they share what is the same.
    """

    arrays: ChainArrays
    blocks: BlockChoice
    dropped: float
    powers: tuple[float, ...] = (1.0,)
    hotter: tuple[ChainArrays, ...] = ()

    @property
    def n_variables(self) -> int:
        """The number of variables."""
        return len(self.arrays.empty)

    @property
    def pairs(self) -> NDArray[np.int64]:
        """The possible arcs, (n_pairs, 2), parent and child, sorted by child."""
        begin = self.arrays.pair_begin
        child = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
        return np.stack([self.arrays.pair_parent, child], axis=1)

    def with_near(self, arcs: NDArray[np.float64]) -> ChainTables:
        """Return the tables with other neighbours, from rough probabilities of arcs, (n, n).

        Two variables are near if an arc between them has the probability `NEAR` or more. The
        chance to be the first variable of a block is one part even, and for the rest
        proportional to the variance of the arcs of the variable.
        """
        n = self.n_variables
        is_near = arcs + arcs.T >= NEAR
        variance = (arcs * (1 - arcs)).clip(0)
        doubt = variance.sum(axis=0) + variance.sum(axis=1) + 1e-9
        chance = EVEN_SHARE / n + (1 - EVEN_SHARE) * doubt / doubt.sum()
        near = np.nonzero(is_near)[1].copy()
        blocks = BlockChoice(_begin(is_near.sum(axis=1)), near, np.cumsum(chance))
        return replace(self, blocks=blocks)

    def find_required(self) -> NDArray[np.bool_]:
        """Return the arcs that every family of their child has, (n, n), ``[parent, child]``."""
        t, n = self.arrays, self.n_variables
        child = np.repeat(np.arange(n), np.diff(t.begin))
        held = np.zeros((n, n), dtype=np.int64)
        np.add.at(held, (t.parents, np.repeat(child, np.diff(t.start))), 1)
        is_required: NDArray[np.bool_] = (held == np.diff(t.begin)) & (held > 0)
        return is_required

    def make_adjacency(self, choice: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return the DAG or the DAGs, ``[..., parent, child]``, of chosen families, (..., n)."""
        n = self.n_variables
        rows = choice.reshape(-1, n)
        adjacency = np.zeros((len(rows), n, n), dtype=np.bool_)
        start, parents = self.arrays.start, self.arrays.parents
        size = start[rows + 1] - start[rows]
        which = np.repeat(np.arange(rows.size), size.ravel())
        within = np.arange(len(which)) - np.repeat(
            np.cumsum(size.ravel()) - size.ravel(), size.ravel()
        )
        parent = parents[start[rows.ravel()[which]] + within]
        adjacency[which // n, parent, which % n] = True
        return adjacency.reshape(*choice.shape[:-1], n, n)


def estimate_memory(n_variables: int, n_candidates: int, n_temperatures: int = 1) -> int:
    """Return an upper estimate of the bytes of the weights and the tables."""
    n_candidates = min(n_candidates, max(0, n_variables - 1))
    n_bytes = BYTES_PER_SET + BYTES_PER_HOT_SET * (n_temperatures - 1)
    return n_variables * (n_bytes << n_candidates) + 2 * n_variables**2


def check_table_memory(n_variables: int, n_candidates: int, n_temperatures: int = 1) -> None:
    """Raise `ParameterError` if the tables do not fit; name the number of candidates that does."""

    def estimate(number: int) -> int:
        return estimate_memory(n_variables, number, n_temperatures)

    fits, memory = n_candidates, get_machine_memory()
    while memory is not None and fits > 1 and estimate(fits) > memory // 2:
        fits -= 1
    check_memory(
        2 * estimate(n_candidates),
        f"A table of all sets of {n_candidates} candidates for {n_variables} variables",
        f"Set 'candidates' to at most {fits}.",
    )


def sum_subsets(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each set the log of the sum of the weights of all its subsets.

    >>> import numpy as np
    >>> np.exp(sum_subsets(np.log([1.0, 2.0, 3.0, 4.0]))).round(9).tolist()
    [1.0, 3.0, 4.0, 10.0]
    """
    sums = table.copy()
    step = 1
    while step < len(sums):
        halves = sums.reshape(-1, 2, step)
        np.logaddexp(halves[:, 0], halves[:, 1], out=halves[:, 1])
        step *= 2
    return sums


class _Child(NamedTuple):
    """The tables of one child."""

    kept: NDArray[np.float64]  # the log weights of all sets of candidates, -inf if left out
    log_sum: NDArray[np.float64]
    weight: NDArray[np.float64]  # of the families, the heaviest first
    size: NDArray[np.int64]
    parents: NDArray[np.int32]
    code: NDArray[np.int64]
    support: NDArray[np.float64]  # (n,), the largest bound of a family with each parent
    dropped: float


def prepare_tables(
    weights: FamilyWeights, powers: tuple[float, ...] = (1.0,), negligible: float = NEGLIGIBLE
) -> ChainTables:
    """Return the tables of the weights, each raised to the powers, of which the first one is 1.

    Which families are left out does not depend on them.
    """
    children = []
    for v in range(weights.n_variables):
        check_deadline()
        children.append(_prepare_child(weights, v, negligible))
    support = np.stack([child.support for child in children], axis=1)
    n = weights.n_variables
    is_near = (support >= PLAUSIBLE) | (support.T >= PLAUSIBLE)
    begin = _begin([len(child.weight) for child in children])
    code = np.concatenate([child.code for child in children])
    outside = np.flatnonzero(code < 0)
    arrays = ChainArrays(
        cand_begin=_begin([len(chosen) for chosen in weights.candidates]),
        cand=np.concatenate(weights.candidates).astype(np.int64),
        table_begin=_begin([len(child.log_sum) for child in children]),
        log_sum=np.concatenate([child.log_sum for child in children]),
        empty=np.array([child.log_sum[0] for child in children]),
        begin=begin,
        weight=np.concatenate([child.weight for child in children]),
        code=code,
        start=_begin(np.concatenate([child.size for child in children])),
        parents=np.concatenate([child.parents for child in children]),
        outside_begin=np.searchsorted(outside, begin),
        outside=outside,
        pair_begin=_begin((support > 0).sum(axis=0)),
        pair_parent=np.nonzero(support.T > 0)[1].copy(),
        is_possible=support > 0,
    )
    near = np.nonzero(is_near)[1].copy()
    blocks = BlockChoice(_begin(is_near.sum(axis=1)), near, np.arange(1, n + 1) / n)
    dropped = math.fsum(child.dropped for child in children)
    assert len(arrays.empty) == n
    hotter = tuple(_heat(arrays, children, power) for power in powers[1:])
    return ChainTables(arrays, blocks, dropped, powers, hotter)


def _heat(arrays: ChainArrays, children: list[_Child], power: float) -> ChainArrays:
    """Return the tables with all weights raised to a power."""
    sums = [sum_subsets(child.kept * power) for child in children]
    same = dict(zip(arrays.field_types, arrays, strict=True))
    heated = {
        "log_sum": np.concatenate(sums),
        "empty": np.array([log_sum[0] for log_sum in sums]),
        "weight": arrays.weight * power,
    }
    return ChainArrays(**(same | heated))


def _begin(sizes: object) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def _prepare_child(weights: FamilyWeights, v: int, negligible: float) -> _Child:
    """Return the sums and the sorted families of one child."""
    table, candidates = weights.tables[v], weights.candidates[v]
    out = weights.outside
    log_sums = sum_subsets(table)
    with np.errstate(invalid="ignore"):
        bound = np.where(table > -np.inf, np.exp(table - log_sums), 0.0)
    is_kept = (bound >= negligible) & (bound > 0)
    kept = np.flatnonzero(is_kept)
    dropped = math.fsum(bound[~is_kept])
    members = (kept[:, None] >> np.arange(len(candidates))) & 1 == 1
    some = slice(out.begin[v], out.begin[v + 1])
    size = np.concatenate([members.sum(axis=1), np.diff(out.start)[some]]).astype(np.int64)
    parents = np.concatenate(
        [
            np.broadcast_to(candidates, members.shape)[members],
            out.parents[out.start[out.begin[v]] : out.start[out.begin[v + 1]]],
        ]
    ).astype(np.int32)
    log_weight = np.concatenate([table[kept], out.log_weight[some]])
    n_outside = len(size) - len(kept)
    rank = np.argsort(-log_weight, kind="stable")
    start = _begin(size)[:-1][rank]
    flat = np.repeat(start - _begin(size[rank])[:-1], size[rank]) + np.arange(int(size.sum()))
    support = np.zeros(weights.n_variables)
    bounds = np.concatenate([bound[kept], np.ones(n_outside)])
    np.maximum.at(support, parents, np.repeat(bounds, size))
    kept_table = np.where(is_kept, table, -np.inf)
    return _Child(
        kept_table,
        sum_subsets(kept_table),
        log_weight[rank],
        size[rank],
        parents[flat],
        np.concatenate([kept, np.full(n_outside, -1)])[rank],
        support,
        dropped,
    )
