"""Many solutions at once: pairs of orders and masks in, scores out.

A generation is scored as one batch. Its solutions are read by a kernel into families, of
which only those are asked for that no recent generation had; the scorer computes those that
it does not know either. Very large generations are cut into parts to bound memory; that
changes no score.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.base import Problem
from coevo.search.decode_kernels import Known, read_families
from coevo.search.encoding import n_bits
from coevo.search.operators import Chosen, Masks, Orders, Scores

__all__ = ["SolutionScorer"]

FAMILIES_A_PART = 1 << 17
RECENT_FAMILIES = 1 << 14  # that are kept at hand; what this much memory takes stays in the CPU

Bits = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]


class SolutionScorer:
    """Scores of pairs of orders and masks, under the constraints of a problem."""

    def __init__(self, problem: Problem) -> None:
        rules = problem.rules
        self._problem = problem
        self._n = problem.n_variables
        upper, lower = np.triu_indices(self._n, k=1)
        self._upper, self._lower = upper.astype(np.uint32), lower.astype(np.uint32)
        any_required = bool(rules.required.any())
        any_rule = rules.about_arcs or rules.max_parents < self._n - 1
        limit = rules.max_parents
        self._rules = (rules.allowed, rules.required, any_required, any_rule, limit)
        self._start_over(0)

    def _start_over(self, room: int) -> None:
        """Forget the families that were read; make room for as many, and the recent ones."""
        capacity = room + RECENT_FAMILIES
        self._known = self._nothing_known(capacity)
        self._local = np.empty(capacity)  # the local score of each
        self._n_known = 0

    def _nothing_known(self, capacity: int) -> Known:
        """Return no families, and room for as many."""
        return Known(
            slots=np.full(2 << (capacity - 1).bit_length(), -1, dtype=np.int32),
            child=np.empty(capacity, dtype=np.int32),
            parents=np.empty((capacity, (self._n + 63) // 64), dtype=np.uint64),
        )

    def scores(self, orders: Orders, order_of: Chosen, masks: Masks, mask_of: Chosen) -> Scores:
        """Return the score of each solution: order ``order_of[s]`` with ``mask_of[s]``."""
        bits = self._set_bits(masks)
        scores = np.empty(len(order_of))
        step = max(1, FAMILIES_A_PART // self._n)
        for begin in range(0, len(order_of), step):
            part = slice(begin, begin + step)
            local = self._local_scores(orders, order_of[part], bits, mask_of[part])[0]
            scores[part] = local.sum(axis=1)
        return scores

    def structure(self, order: Orders, mask: Masks) -> tuple[NDArray[np.bool_], float]:
        """Return the adjacency matrix and the exact score of one solution."""
        one = np.zeros(1, dtype=np.int64)
        local, which = self._local_scores(order[None], one, self._set_bits(mask[None]), one)
        return self._matrix(self._known, which[0]), math.fsum(local[0])

    def adjacency(self, order: Orders, mask: Masks) -> NDArray[np.bool_]:
        """Return the adjacency matrix of one solution; nothing is scored or remembered."""
        one, bits = np.zeros(1, dtype=np.int64), self._set_bits(mask[None])
        known, which = self._nothing_known(self._n), np.empty((1, self._n), dtype=np.int32)
        read_families(order[None], one, bits, one, self._rules, known, np.int64(0), which)
        return self._matrix(known, which[0])

    def _matrix(self, known: Known, families: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return the adjacency matrix of known families, one of each child."""
        words = known.parents[families]  # (n, words), of each child
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=self._n, bitorder="little")
        return bits.T.astype(np.bool_)

    def _set_bits(self, masks: Masks) -> Bits:
        """Return where the bits of each mask begin, and the two positions of each bit."""
        length = n_bits(self._n)
        flat = np.flatnonzero(masks)
        begin = np.searchsorted(flat, length * np.arange(len(masks) + 1))
        bit = flat - length * np.repeat(np.arange(len(masks)), np.diff(begin))
        return begin, self._upper[bit], self._lower[bit]

    def _local_scores(
        self, orders: Orders, order_of: Chosen, bits: Bits, mask_of: Chosen
    ) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return the local scores of all solutions, and which known family each is of."""
        which = np.empty((len(order_of), self._n), dtype=np.int32)
        if self._n_known + which.size > len(self._local):
            self._start_over(which.size)
        n_known, self._n_known = self._n_known, len(self._local)  # until the scores are there
        members, start = read_families(
            orders, order_of, bits, mask_of, self._rules, self._known, np.int64(n_known), which
        )
        n_new = len(start) - 1
        scores = self._problem.scorer.local_scores(FamilyBatch(members, start))
        self._local[n_known : n_known + n_new] = scores
        self._n_known = n_known + n_new
        return self._local[which], which
