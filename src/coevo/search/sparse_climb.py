"""Hill climbing among the candidates of a mask: the greedy start of CCMA.

A move adds, deletes or reverses one arc. The gains are a table of the candidates of each child,
not of all pairs, and a test for cycles follows the few arcs that there are. So the cost grows with
the number of candidates. With few variables the best move of all is made, as in `hill_climb`. With
many, one round makes several moves of different children, the best first, and scores all their new
gains in one batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from coevo.runtime.deadline import OutOfTime, check_deadline
from coevo.score import FamilyBatch
from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.graph_kernels import (
    N_KINDS,
    NEVER,
    SparseGraph,
    choose_moves,
    list_toggles,
    rank_moves,
)

__all__ = ["SparseClimb", "add_best_parents"]

VARIABLES_PER_MOVE = 64  # one move a round for each so many variables, at least one
TIE = 10 * LEAST_GAIN  # gains are rounded to this, so that round-off does not decide


class SparseClimb:
    """A structure and the gains of its moves, changed in place. The given arrays are copied."""

    def __init__(
        self,
        problem: Problem,
        candidates: NDArray[np.int32],
        adjacency: NDArray[np.bool_],
        gains: NDArray[np.float64] | None = None,
        local: NDArray[np.float64] | None = None,
    ) -> None:
        n = len(candidates)
        rules, child = problem.rules, np.arange(n)[:, None]
        self._problem, self._candidates = problem, candidates
        self._is_parent = adjacency[candidates, child]
        self._may_change = rules.allowed[candidates, child] & ~rules.required[candidates, child]
        self._reverse_of = _find_reverse_places(candidates)
        self._graph = SparseGraph(
            candidates=candidates,
            reverse_of=self._reverse_of,
            is_parent=self._is_parent,
            changed=np.zeros(n, dtype=np.bool_),
            seen=np.zeros(n, dtype=np.int64),
            waiting=np.empty(n, dtype=np.int64),
        )
        n_moves = N_KINDS * candidates.size
        self._moves, self._rounded = np.empty(n_moves, dtype=np.int64), np.empty(n_moves)
        self.evaluations = 0
        if gains is None or local is None:
            self.local = problem.local_scores(adjacency)
            self.gains = np.full(candidates.shape, NEVER)
            self.evaluations += n
            self._update_gains(np.arange(n))
        else:
            self.gains, self.local = gains.copy(), local.copy()

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """The structure, ``[parent, child]``."""
        n = len(self._candidates)
        adjacency = np.zeros((n, n), dtype=np.bool_)
        child, place = np.nonzero(self._is_parent)
        adjacency[self._candidates[child, place], child] = True
        return adjacency

    def compute_score(self) -> float:
        """Return the score of the structure, rounded once. `local` has the round-off of gains."""
        child, place = np.nonzero(self._is_parent)
        parent = self._candidates[child, place].astype(np.int64)
        ranked = np.lexsort((parent, child))
        batch = FamilyBatch.from_arcs(child[ranked], parent[ranked], len(self._candidates))
        return math.fsum(self._problem.scorer.local_scores(batch))

    def climb(self, n_rounds: int) -> bool:
        """Make up to `n_rounds` rounds of moves; return whether a local optimum is reached.

        Out of time, offer the structure after the last round.
        """
        try:
            for _ in range(n_rounds):
                check_deadline()
                if not self._make_round():
                    return True
        except OutOfTime as late:
            late.offered = self.adjacency
            raise
        return False

    def _make_round(self) -> bool:
        """Make the best moves of different children; return whether there was one."""
        n = len(self._candidates)
        before = self._is_parent.copy()
        if not choose_moves(self._graph, self._rank_moves(), max(1, n // VARIABLES_PER_MOVE)):
            return False
        children = np.flatnonzero(self._graph.changed)
        toggled = before != self._is_parent
        for child in children.tolist():  # one toggle each
            self.local[child] += self.gains[child, toggled[child]].sum()
        self._update_gains(children)
        return True

    def _rank_moves(self) -> NDArray[np.int64]:
        """Return all moves with a gain, as numbers for `choose_moves`, the best first.

        Among equal ones a deletion comes first, then an addition, then a reversal; then the first
        parent and child by name.
        """
        max_parents = self._problem.rules.max_parents
        work = (self.gains, max_parents, LEAST_GAIN, TIE, self._moves, self._rounded)
        return self._moves[: rank_moves(self._graph, *work)]

    def _update_gains(self, children: NDArray[np.int64]) -> None:
        """Compute the gain of toggling each candidate of these children."""
        k = self._candidates.shape[1]
        n_most = len(children) * k
        size = k * (2 * len(children) + int(self._is_parent[children].sum()))
        members = np.empty(size, dtype=np.int32)
        start, toggled = np.empty(n_most + 1, dtype=np.int64), np.empty(n_most, dtype=np.int64)
        work = (children, self._problem.rules.max_parents, members, start, toggled)
        n = list_toggles(self._graph, self._may_change, *work)
        start, toggled = start[: n + 1], toggled[:n]
        scores = self._problem.scorer.local_scores(FamilyBatch(members[: start[n]], start))
        self.evaluations += n
        self.gains[children] = NEVER
        self.gains.reshape(-1)[toggled] = scores - self.local[toggled // max(1, k)]


def _find_reverse_places(candidates: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return for each candidate of a child the place of the child in its row; -1 if not in it.

    >>> _find_reverse_places(np.array([[1, 2], [2, 0], [2, 2]], dtype=np.int32)).tolist()
    [[1, -1], [-1, 0], [-1, -1]]
    """
    n, k = candidates.shape
    child, other = np.repeat(np.arange(n), k), candidates.ravel().astype(np.int64)
    pair = child * n + other
    ascending = np.argsort(pair, kind="stable")
    wanted = other * n + child
    at = np.searchsorted(pair[ascending], wanted)
    at = ascending[np.minimum(at, max(0, len(pair) - 1))]
    is_found = (pair[at] == wanted) & (child != other)
    return np.where(is_found, at % max(1, k), -1).reshape(n, k)


# A structure from the gains of single arcs, for a search that runs out of time at its start.
#
# On a wide table the first thing that a local search needs, the gain of each possible arc, may
# take longer than its time limit. What is known by then is still worth something: each variable
# takes its best parent, the arcs with the largest gain first, unless one closes a cycle.


def add_best_parents(
    problem: Problem, gains: Iterable[tuple[int, NDArray[np.float64]]]
) -> NDArray[np.bool_]:
    """Return the start structure of a problem with the best further parent of some variables.

    `gains` has these variables, each with the gain of adding every other one to its parents in the
    start structure; minus infinity where that is not allowed.
    """
    adjacency, rules = problem.start.copy(), problem.rules
    found: list[tuple[float, int, int]] = []
    for child, own_gains in gains:
        is_held = adjacency[:, child]
        if is_held.sum() < rules.max_parents:
            possible = np.where(rules.allowed[:, child] & ~is_held, own_gains, -np.inf)
            parent = int(possible.argmax())
            found.append((-float(possible[parent]), child, parent))
    above: dict[int, list[int]] = {}
    for parent, child in np.argwhere(adjacency).tolist():
        above.setdefault(child, []).append(parent)
    for loss, child, parent in sorted(found):
        if -loss > LEAST_GAIN and not _is_above(above, child, parent):
            adjacency[parent, child] = True
            above.setdefault(child, []).append(parent)
    return adjacency


def _is_above(above: Mapping[int, list[int]], variable: int, other: int) -> bool:
    """Return whether a variable is an ancestor of another one, or the same."""
    waiting, seen = [other], {other}
    while waiting:
        one = waiting.pop()
        if one == variable:
            return True
        new = [parent for parent in above.get(one, ()) if parent not in seen]
        seen.update(new)
        waiting.extend(new)
    return False
