"""Score many solutions of CCGA at once: pairs of orders and masks in, scores out.

A generation is scored as one batch. A kernel decodes its solutions into families. Only families
that are new among the recent generations are requested from the scorer, which has a cache of
its own. Very large generations are split into parts to bound memory. That changes no score.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.base import Problem
from coevo.search.decode_kernels import FamilyTable, read_families
from coevo.search.encoding import n_bits
from coevo.search.operators import Indices, Masks, Orders, Scores
from coevo.work_time import check_deadline

__all__ = ["SolutionScorer"]

FAMILIES_PER_PART = 1 << 15
RECENT_FAMILIES = 1 << 14  # size of the table; it fits into the cache of the CPU

Bits = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]


class SolutionScorer:
    """Scores pairs of orders and masks under the constraints of a problem."""

    def __init__(self, problem: Problem) -> None:
        rules = problem.rules
        self._problem = problem
        self._n = problem.n_variables
        upper, lower = np.triu_indices(self._n, k=1)
        self._upper, self._lower = upper.astype(np.uint32), lower.astype(np.uint32)
        any_required = bool(rules.required.any())
        is_limited = rules.max_parents < self._n - 1 or np.isfinite(rules.max_table)
        any_rule = bool(rules.has_arc_constraints or is_limited)
        arities = problem.scorer.dataset.arities.astype(np.float64)
        limits = (rules.max_parents, arities, float(rules.max_table))
        self._rules = (rules.allowed, rules.required, any_required, any_rule, limits)
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
            child=np.empty(capacity, dtype=np.int32),
            parents=np.empty((capacity, (self._n + 63) // 64), dtype=np.uint64),
        )

    def score_solutions(
        self, orders: Orders, order_of: Indices, masks: Masks, mask_of: Indices
    ) -> Scores:
        """Return the score of each solution s: order ``order_of[s]`` with mask ``mask_of[s]``."""
        bits = self._find_set_bits(masks)
        scores = np.empty(len(order_of))
        step = max(1, FAMILIES_PER_PART // self._n)
        for begin in range(0, len(order_of), step):
            check_deadline()
            part = slice(begin, begin + step)
            local = self._score_families(orders, order_of[part], bits, mask_of[part])[0]
            scores[part] = local.sum(axis=1)
        return scores

    def decode_and_score(self, order: Orders, mask: Masks) -> tuple[NDArray[np.bool_], float]:
        """Return the adjacency matrix and the exact score of one solution."""
        one = np.zeros(1, dtype=np.int64)
        local, which = self._score_families(order[None], one, self._find_set_bits(mask[None]), one)
        return self._make_adjacency(self._known, which[0]), math.fsum(local[0])

    def decode(self, order: Orders, mask: Masks) -> NDArray[np.bool_]:
        """Return the adjacency matrix of one solution without scoring it."""
        one, bits = np.zeros(1, dtype=np.int64), self._find_set_bits(mask[None])
        known, which = self._make_table(self._n), np.empty((1, self._n), dtype=np.int32)
        read_families(order[None], one, bits, one, self._rules, known, np.int64(0), which)
        return self._make_adjacency(known, which[0])

    def _make_adjacency(self, known: FamilyTable, families: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return the adjacency matrix of families of a table, one for each child."""
        words = known.parents[families]  # (n, words), of each child
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=self._n, bitorder="little")
        return bits.T.astype(np.bool_)

    def _find_set_bits(self, masks: Masks) -> Bits:
        """Return where the bits of each mask begin, and the two positions of each bit."""
        length = n_bits(self._n)
        flat = np.flatnonzero(masks)
        begin = np.searchsorted(flat, length * np.arange(len(masks) + 1))
        bit = flat - length * np.repeat(np.arange(len(masks)), np.diff(begin))
        return begin, self._upper[bit], self._lower[bit]

    def _score_families(
        self, orders: Orders, order_of: Indices, bits: Bits, mask_of: Indices
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return the local scores of all solutions, and the family number of each in the table."""
        which = np.empty((len(order_of), self._n), dtype=np.int32)
        if self._n_known + which.size > len(self._local):
            self._reset_table(which.size)
        # An interrupt before the scores arrive leaves a full table, which the next call resets.
        n_known, self._n_known = self._n_known, len(self._local)
        members, start = read_families(
            orders, order_of, bits, mask_of, self._rules, self._known, np.int64(n_known), which
        )
        n_new = len(start) - 1
        scores = self._problem.scorer.local_scores(FamilyBatch(members, start))
        self._local[n_known : n_known + n_new] = scores
        self._n_known = n_known + n_new
        return self._local[which], which
