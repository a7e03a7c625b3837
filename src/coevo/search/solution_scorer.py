"""Score many solutions of CCGA at once: pairs of orders and masks in, scores out.

A generation is scored as one batch. A kernel decodes its solutions into families. Only families
that are new among the recent generations are requested from the scorer, which has a cache of
its own. Very large generations are split into parts to bound memory. That changes no score.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coevo.runtime.deadline import check_deadline
from coevo.score import FamilyBatch
from coevo.search.base import Problem
from coevo.search.graph_kernels import (
    DecodeRules,
    FamilyTable,
    ParentLimits,
    Solutions,
    list_members,
    make_decode_scratch,
    read_families,
)
from coevo.search.operators import Indices, Masks, Orders, Scores

__all__ = ["SolutionScorer"]

FAMILIES_PER_PART = 1 << 15
RECENT_FAMILIES = 1 << 14  # size of the table; it fits into the cache of the CPU


class SolutionScorer:
    """Scores pairs of orders and masks under the constraints of a problem."""

    def __init__(self, problem: Problem) -> None:
        rules = problem.rules
        self._problem = problem
        self._n = problem.n_variables
        is_limited = rules.max_parents < self._n - 1 or np.isfinite(rules.max_table)
        self._rules = DecodeRules(
            allowed=rules.allowed,
            required=rules.required,
            any_required=bool(rules.required.any()),
            any_rule=bool(rules.has_arc_constraints or is_limited),
        )
        self._limits = ParentLimits(
            arities=problem.scorer.dataset.arities.astype(np.float64),
            max_cells=rules.max_table,
            max_parents=rules.max_parents,
        )
        self._scratch = make_decode_scratch(self._n)
        self._reset_table(0)

    def _reset_table(self, room: int) -> None:
        """Empty the table of families; make room for `room` families and the recent ones."""
        capacity = room + RECENT_FAMILIES
        self._known = self._make_table(capacity)
        self._local = np.empty(capacity)  # the local score of each
        self._n_known = 0

    def _make_table(self, capacity: int) -> FamilyTable:
        """Return an empty table for `capacity` families."""
        return FamilyTable(
            slots=np.full(2 << (capacity - 1).bit_length(), -1, dtype=np.int32),
            families=np.empty((capacity, 1 + (self._n + 63) // 64), dtype=np.uint64),
        )

    def score_solutions(
        self, orders: Orders, order_of: Indices, masks: Masks, mask_of: Indices
    ) -> Scores:
        """Return the score of each solution s: order ``order_of[s]`` with mask ``mask_of[s]``."""
        scores = np.empty(len(order_of))
        step = max(1, FAMILIES_PER_PART // self._n)
        for begin in range(0, len(order_of), step):
            check_deadline()
            part = slice(begin, begin + step)
            solutions = Solutions(orders, order_of[part], masks, mask_of[part])
            scores[part] = self._score_families(solutions)[0].sum(axis=1)
        return scores

    def decode_and_score(self, order: Orders, mask: Masks) -> tuple[NDArray[np.bool_], float]:
        """Return the adjacency matrix and the exact score of one solution."""
        local, which = self._score_families(_combine(order, mask))
        return self._make_adjacency(self._known, which[0]), math.fsum(local[0])

    def decode(self, order: Orders, mask: Masks) -> NDArray[np.bool_]:
        """Return the adjacency matrix of one solution without scoring it."""
        known = self._make_table(self._n)
        which, _ = self._read_families(_combine(order, mask), known, 0)
        return self._make_adjacency(known, which[0])

    def _make_adjacency(self, known: FamilyTable, families: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return the adjacency matrix of families of a table, one for each child."""
        words = np.ascontiguousarray(known.families[families, 1:])  # (n, words), of each child
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=self._n, bitorder="little")
        return bits.T.astype(np.bool_)

    def _read_families(
        self, solutions: Solutions, known: FamilyTable, n_known: int
    ) -> tuple[NDArray[np.int32], FamilyBatch]:
        """Return the family numbers of solutions in a table, and the families that it lacked."""
        which = np.empty((len(solutions.order_of), self._n), dtype=np.int32)
        start = np.empty(which.size + 1, dtype=np.int64)
        n_families = read_families(
            solutions, self._rules, self._limits, known, self._scratch, n_known, which, start
        )
        start = start[: n_families - n_known + 1].copy()
        members = np.empty(start[-1], dtype=np.int32)
        list_members(known, n_known, members)
        return which, FamilyBatch(members, start)

    def _score_families(
        self, solutions: Solutions
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return the local scores of all solutions, and the family number of each in the table."""
        size = len(solutions.order_of) * self._n
        if self._n_known + size > len(self._local):
            self._reset_table(size)
        # An interrupt before the scores arrive leaves a full table, which the next call resets.
        n_known, self._n_known = self._n_known, len(self._local)
        which, new = self._read_families(solutions, self._known, n_known)
        self._local[n_known : n_known + len(new)] = self._problem.scorer.local_scores(new)
        self._n_known = n_known + len(new)
        return self._local[which], which


def _combine(order: Orders, mask: Masks) -> Solutions:
    """Return one solution."""
    first = np.zeros(1, dtype=np.int64)
    return Solutions(order[None], first, mask[None], first)
