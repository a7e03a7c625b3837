"""Many solutions at once: pairs of orders and masks in, scores out.

A generation is scored as one batch. Its solutions are read by a kernel into families, of
which equal ones are asked for once, and the scorer computes those that it does not know
yet. Very large generations are cut into parts to bound memory; that changes no score.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.contract import Problem
from coevo.search.decode_kernels import read_families
from coevo.search.encoding import n_bits
from coevo.search.operators import Chosen, Masks, Orders, Scores

__all__ = ["SolutionScorer"]

FAMILIES_A_PART = 1 << 17


class SolutionScorer:
    """Scores of pairs of orders and masks, under the constraints of a problem."""

    def __init__(self, problem: Problem) -> None:
        rules = problem.rules
        self._problem = problem
        self._n = problem.n_variables
        self._upper, self._lower = np.triu_indices(self._n, k=1)
        any_required = bool(rules.required.any())
        self._rules = (rules.allowed, rules.required, any_required, rules.max_parents)

    def scores(self, orders: Orders, order_of: Chosen, masks: Masks, mask_of: Chosen) -> Scores:
        """Return the score of each solution: order ``order_of[s]`` with ``mask_of[s]``."""
        bits = self._set_bits(masks)
        scores = np.empty(len(order_of))
        step = max(1, FAMILIES_A_PART // self._n)
        for begin in range(0, len(order_of), step):
            part = slice(begin, begin + step)
            batch, which = self._families(orders, order_of[part], bits, mask_of[part])
            scores[part] = self._problem.scorer.local_scores(batch)[which].sum(axis=1)
        return scores

    def structure(self, order: Orders, mask: Masks) -> tuple[NDArray[np.bool_], float]:
        """Return the adjacency matrix and the exact score of one solution."""
        one = np.zeros(1, dtype=np.int64)
        batch, which = self._families(order[None], one, self._set_bits(mask[None]), one)
        local = self._problem.scorer.local_scores(batch)[which[0]]
        adjacency = np.zeros((self._n, self._n), dtype=np.bool_)
        child = np.repeat(batch.members[batch.start[:-1]], np.diff(batch.start))
        adjacency[batch.members, child] = True
        np.fill_diagonal(adjacency, False)
        return adjacency, math.fsum(local)

    def _set_bits(
        self, masks: Masks
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return where the bits of each mask begin, and the two positions of each bit."""
        length = n_bits(self._n)
        if length == 0:
            none = np.empty(0, dtype=np.int64)
            return np.zeros(len(masks) + 1, dtype=np.int64), none, none
        mask, bit = np.divmod(np.flatnonzero(masks), length)
        begin = np.searchsorted(mask, np.arange(len(masks) + 1))
        return begin, self._upper[bit], self._lower[bit]

    def _families(
        self,
        orders: Orders,
        order_of: Chosen,
        bits: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
        mask_of: Chosen,
    ) -> tuple[FamilyBatch, NDArray[np.int32]]:
        """Return the distinct families, and which of them each solution has."""
        which = np.empty((len(order_of), self._n), dtype=np.int32)
        slots = np.full(2 << (which.size - 1).bit_length(), -1, dtype=np.int32)
        read = read_families(orders, order_of, bits, mask_of, self._rules, slots, which)
        return FamilyBatch(*read), which
