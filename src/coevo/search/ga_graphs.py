"""Graphs as bit strings, and their repair: what `coevo.search.ga` and `coevo.search.mdlep` breed.

A string has one bit for each arc that is free: neither required nor forbidden. The bits stand
column after column, so that the possible parents of a child are together. With an order, only arcs
along the order have bits.

Repair is one rule: each arc has a key, and the arcs are inserted by falling key. An arc is skipped
if it closes a cycle with those before it, or if its child would have too many parents. Required
arcs come first. A DAG within the limits stays as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.base import Problem
from coevo.search.decode_kernels import ParentLimits
from coevo.search.repair_kernels import insert_arcs, make_repair_table
from coevo.work_time import check_deadline

__all__ = ["Bits", "GraphStrings", "Graphs", "measure_pairs"]

PAIRS_PER_CALL = 1 << 21  # pairs of variables of all graphs, between two checks of the deadline

Bits = NDArray[np.bool_]  # (n_graphs, n_bits)
Graphs = NDArray[np.bool_]  # (n_graphs, n, n), [parent, child]


class GraphStrings:
    """Turns bit strings into graphs, repairs them and scores them, for one problem."""

    def __init__(
        self, problem: Problem, max_parents: int, order: NDArray[np.int64] | None = None
    ) -> None:
        rules = problem.rules
        is_free = rules.allowed & ~rules.required & ~rules.required.T
        if order is not None:
            places = np.argsort(order)
            is_free &= places[:, None] < places
        self._problem = problem
        self._child, self._parent = np.nonzero(is_free.T)
        self._table = make_repair_table(rules.required)
        self._limits = ParentLimits(
            arities=problem.scorer.dataset.arities.astype(np.float64),
            max_cells=rules.max_table,
            max_parents=min(max_parents, rules.max_parents),
        )

    @property
    def n_bits(self) -> int:
        """The number of free arcs."""
        return len(self._child)

    @property
    def parents(self) -> NDArray[np.int64]:
        """The parent of the arc of each bit."""
        return self._parent

    @property
    def children(self) -> NDArray[np.int64]:
        """The child of the arc of each bit, ascending."""
        return self._child

    def draw(self, rng: Generator, n_graphs: int, n_parents: float) -> Bits:
        """Return random strings in which a variable has so many parents on average."""
        share = min(1.0, n_parents * self._problem.n_variables / max(self.n_bits, 1))
        bits = np.empty((n_graphs, self.n_bits), dtype=np.bool_)
        for row in bits:  # the same numbers as in one call
            check_deadline()
            row[:] = rng.random(self.n_bits) < share
        return bits

    def encode(self, graphs: Graphs) -> Bits:
        """Return the strings of graphs."""
        bits: Bits = graphs[:, self._parent, self._child]
        return bits

    def decode(self, bits: Bits) -> Graphs:
        """Return the graphs of strings, with the required arcs and without a repair."""
        graphs = np.tile(self._problem.rules.required, (len(bits), 1, 1))
        graphs[:, self._parent, self._child] = bits
        return graphs

    def repair(self, bits: Bits, keys: NDArray[np.float64]) -> Graphs:
        """Return the DAGs of strings; `keys` has a key for each bit that is set, row by row.

        Among equal keys, the first bit of the string comes first.
        """
        graph_of, bit = _find_bits(bits)
        by_key, small = _sort_falling(keys), np.min_scalar_type(len(bits))  # small: radix sort
        by_key = by_key[np.argsort(graph_of[by_key].astype(small), kind="stable")]
        begin = np.searchsorted(graph_of, np.arange(len(bits) + 1))
        parents, children = self._parent[bit[by_key]], self._child[bit[by_key]]
        n = self._problem.n_variables
        graphs = np.empty((len(bits), n, n), dtype=np.bool_)
        step = max(1, PAIRS_PER_CALL // max(1, n * n))
        for first in range(0, len(bits), step):
            check_deadline()
            part, part_begin = graphs[first : first + step], begin[first : first + step + 1]
            insert_arcs(part_begin, parents, children, self._table, self._limits, part)
        return graphs

    def get_values(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value of each bit, from a table ``[parent, child]``."""
        values: NDArray[np.float64] = table[self._parent, self._child]
        return values

    def get_keys(self, bits: Bits, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the key of each bit that is set, from a table ``[parent, child]``."""
        bit = np.flatnonzero(bits) % max(self.n_bits, 1)
        keys: NDArray[np.float64] = table[self._parent[bit], self._child[bit]]
        return keys

    def score(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the local scores of graphs, (n_graphs, n), as one batch of families."""
        n_graphs, n = graphs.shape[:2]
        families = np.ascontiguousarray(graphs.transpose(0, 2, 1)).reshape(n_graphs * n, n)
        scores = self.score_families(np.tile(np.arange(n), n_graphs), families)
        return scores.reshape(n_graphs, n)

    def score_families(
        self, children: NDArray[np.int64], parents: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the local scores of families; ``parents[i]`` has a flag for each variable."""
        check_deadline()
        n_parents = np.count_nonzero(parents, axis=1)
        start = np.concatenate([[0], np.cumsum(1 + n_parents)])
        members = np.empty(int(start[-1]), dtype=np.int32)
        is_parent = np.ones(len(members), dtype=np.bool_)
        is_parent[start[:-1]] = False
        members[start[:-1]] = children
        members[is_parent] = np.flatnonzero(parents) % parents.shape[1]
        return self._problem.scorer.local_scores(FamilyBatch(members, start))


def _sort_falling(keys: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of keys by falling key; among equal keys the first one is first.

    Without equal keys, which is the rule, a sort that is not stable gives the same and is faster.
    """
    by_key = np.argsort(-keys)
    ranked = keys[by_key]
    return np.argsort(-keys, kind="stable") if (ranked[1:] == ranked[:-1]).any() else by_key


def _find_bits(bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the graph and the number of each bit that is set, row by row."""
    found = []
    for row in bits:
        check_deadline()
        found.append(np.flatnonzero(row))
    lengths = [len(numbers) for numbers in found]
    return np.repeat(np.arange(len(bits)), lengths), np.concatenate([np.empty(0, np.int64), *found])


def measure_pairs(problem: Problem) -> NDArray[np.float64]:
    """Return what the score says that two variables know about each other, as a symmetric table.

    It is the gain of an arc between two variables that have no parents, the mean of both
    directions. With the log-likelihood it is the number of rows times the mutual information.
    An arc that is not allowed has no gain to measure and counts as zero.
    """
    n = problem.n_variables
    may_join = problem.rules.allowed
    if problem.rules.arities is not None:
        arities = problem.rules.arities.astype(np.float64)
        may_join = may_join & (arities[:, None] * arities <= problem.rules.max_table)
    parents, children = np.nonzero(may_join)
    families: list[tuple[int, tuple[int, ...]]] = [(child, ()) for child in range(n)]
    for parent, child in zip(parents.tolist(), children.tolist(), strict=True):
        families.append((child, (parent,)))
    scores = problem.scorer.local_scores(FamilyBatch.from_pairs(families))
    gains = np.zeros((n, n))
    gains[parents, children] = scores[n:] - scores[children]
    n_directions = np.maximum(may_join.astype(np.float64) + may_join.T, 1.0)
    means: NDArray[np.float64] = (gains + gains.T) / n_directions
    return means
