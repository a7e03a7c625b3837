"""The network that collects the best parent sets of all species, and the order it feeds back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.climb_kernels import compute_reachability
from coevo.work_time import check_deadline

__all__ = ["WongNetwork"]

N_TRIED = 6  # best sets of a variable that the network tries


class WongNetwork:
    """A DAG with its local scores; `collect` changes both, for the better only.

    Parameters
    ----------
    problem : Problem
        The problem.
    adjacency : array of bool
        The structure, ``[parent, child]``; it is copied.
    local : array of float
        Its local scores; they are copied.
    """

    def __init__(
        self, problem: Problem, adjacency: NDArray[np.bool_], local: NDArray[np.float64]
    ) -> None:
        self._problem = problem
        self.adjacency = adjacency.copy()
        self.local = local.copy()

    def find_barred(self, belief: float) -> tuple[NDArray[np.bool_], int]:
        """Return which parents, ``[parent, child]``, the order bars, and the number of scores.

        The descendants of a variable along arcs of enough belief are barred as its parents.
        """
        binding, n_scored = self._find_binding_arcs(belief)
        reach = compute_reachability(binding)  # [ancestor, descendant]
        barred: NDArray[np.bool_] = np.ascontiguousarray(reach.T).astype(np.bool_)
        np.fill_diagonal(barred, False)
        return barred, n_scored

    def _find_binding_arcs(self, belief: float) -> tuple[NDArray[np.bool_], int]:
        """Return the arcs whose belief is at least the factor, and the number of scores."""
        arcs = np.argwhere(self.adjacency).tolist()
        if belief == 0 or not arcs:
            return self.adjacency.copy(), 0
        pairs = []
        for parent, child in arcs:
            parents = np.flatnonzero(self.adjacency[:, child])
            pairs.append((child, parents[parents != parent]))
            others = np.flatnonzero(self.adjacency[:, parent])
            pairs.append((parent, np.append(others, child)))
        without, turned = (
            self._problem.scorer.local_scores(FamilyBatch.from_pairs(pairs)).reshape(-1, 2).T
        )
        binding = np.zeros_like(self.adjacency)
        for (parent, child), low, high in zip(arcs, without, turned, strict=True):
            gain = self.local[child] - low
            turned_gain = max(0.0, high - self.local[parent])
            share = 1 - turned_gain / gain if gain > 0 else 0.0
            binding[parent, child] = share >= belief
        return binding, len(pairs)

    def collect(
        self,
        order: NDArray[np.int64],
        sets: NDArray[np.bool_],
        scores: NDArray[np.float64],
    ) -> int:
        """Install better parent sets, for one variable after another; return the scores asked."""
        n_scored = 0
        for child in order.tolist():
            check_deadline()
            for member in range(min(N_TRIED, sets.shape[1])):
                if scores[child, member] == -np.inf:
                    break
                is_better, n_asked = self._try(child, sets[child, member], sets, scores, member)
                n_scored += n_asked
                if is_better:
                    break
        return n_scored

    def _try(
        self,
        child: int,
        parents: NDArray[np.bool_],
        sets: NDArray[np.bool_],
        scores: NDArray[np.float64],
        member: int,
    ) -> tuple[bool, int]:
        """Install a set if the network gains from it; return whether, and the scores asked."""
        adjacency, local = self.adjacency.copy(), self.local.copy()
        adjacency[:, child], local[child] = parents, scores[child, member]
        turned = np.flatnonzero(parents & self.adjacency[child]).tolist()
        if self._problem.rules.required[child, turned].any():
            return False, 0
        adjacency[child, turned] = False
        n_asked = 0
        for parent in turned:
            n_asked += self._give_up(child, parent, sets[parent], scores[parent], adjacency, local)
        is_better = local.sum() > self.local.sum() + LEAST_GAIN and not _has_cycle(adjacency)
        if is_better:
            self.adjacency, self.local = adjacency, local
        return bool(is_better), n_asked

    def _give_up(
        self,
        child: int,
        parent: int,
        sets: NDArray[np.bool_],
        scores: NDArray[np.float64],
        adjacency: NDArray[np.bool_],
        local: NDArray[np.float64],
    ) -> int:
        """Give `parent` its best set without `child` that closes no cycle, in place.

        Where it has none, it keeps its other parents. Return the number of scores asked.
        """
        own = adjacency[:, parent].copy()
        for member in np.flatnonzero(~sets[:, child] & np.isfinite(scores)).tolist():
            adjacency[:, parent], local[parent] = sets[member], scores[member]
            if not _has_cycle(adjacency):
                return 0
        adjacency[:, parent] = own
        batch = FamilyBatch.from_pairs([(parent, np.flatnonzero(own))])
        local[parent] = self._problem.scorer.local_scores(batch)[0]
        return 1


def _has_cycle(adjacency: NDArray[np.bool_]) -> bool:
    return bool(compute_reachability(adjacency).diagonal().any())
