"""Search for a tree over a fixed part of the structure; Chow-Liu, naive Bayes and TAN share it.

The fixed part holds the required arcs, and the arcs of the class for naive Bayes and TAN. The tree
adds at most one parent to each variable. The gain of an arc is the gain of the score, given the
fixed parents of the child, so that any score can be used; an arc without a gain is left out, and
the tree is then a forest. One step scores the arcs into some variables (all of them, unless there
are many). The tree is the best one over the arcs scored so far.

Constraints come before the form. A variable with a required parent takes no further one from the
tree. Where required arcs give a variable several parents, or lead to the class, arcs that would
close a cycle are left out, the one with the smallest gain first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.score import FamilyBatch
from coevo.search.base import LEAST_GAIN, Info, Problem, Search, SearchState
from coevo.search.branching import (
    NO_PARENT,
    Gains,
    choose_first_roots,
    find_best_branching,
)
from coevo.search.state_schema import FINITE, SCORES, Array, Number, Schema
from coevo.work_time import check_deadline

__all__ = ["TreeSearch", "TreeState", "find_paths"]

FAMILIES_PER_STEP = 20_000  # a step ends after the variable that reaches this number


@dataclass(frozen=True, eq=False)
class TreeState(SearchState):
    """The gains of the arcs that were scored so far."""

    schema: ClassVar[Schema] = {
        **SearchState.schema,
        "local": Array(np.float64, ("n",), FINITE),
        "gains": Array(np.float64, ("n", "n"), SCORES),
        "n_scored": Number(0, "n"),
    }

    local: NDArray[np.float64]  # (n,), local scores of the fixed part
    gains: Gains  # (n, n), -inf if the arc is not possible, or not scored yet
    n_scored: int  # number of variables whose arcs were scored


class TreeSearch(Search[TreeState]):
    """The search for the best tree over a fixed part.

    Parameters
    ----------
    problem : Problem
        The scorer and the constraints.
    fixed : array of bool, (n, n)
        The arcs of the fixed part, ``[parent, child]``.
    class_variable : int, optional
        The variable that is no part of the tree (default: none).
    has_tree : bool
        Whether there is a tree at all. Naive Bayes has none.
    """

    def __init__(
        self,
        problem: Problem,
        fixed: NDArray[np.bool_],
        class_variable: int | None = None,
        has_tree: bool = True,
    ) -> None:
        self._problem, self._fixed = problem, fixed
        in_tree = fixed.copy()
        if class_variable is not None:
            in_tree[class_variable] = False
        self._parent = np.where(in_tree.any(axis=0), in_tree.argmax(axis=0), NO_PARENT)
        possible = problem.rules.allowed & ~find_paths(fixed).T
        possible &= (self._parent == NO_PARENT) & (fixed.sum(axis=0) < problem.rules.max_parents)
        if class_variable is not None:
            possible[class_variable] = possible[:, class_variable] = False
        self._possible = possible & has_tree

    def start(self, rng: Generator) -> tuple[TreeState, Info]:
        """Return the fixed part, or the given start structure if that is better."""
        problem, n = self._problem, self._problem.n_variables
        local = problem.local_scores(self._fixed)
        best, score, evaluations = self._fixed, math.fsum(local), n
        if problem.has_start:
            start_score = problem.score(problem.start)
            evaluations += n
            if start_score > score + LEAST_GAIN:
                best, score = problem.start, start_score
        state = TreeState(
            generation=0,
            evaluations=evaluations,
            improved=0,
            score=score,
            adjacency=best.copy(),
            local=local,
            gains=np.full((n, n), -np.inf),
            n_scored=0,
        )
        return state, {"n_scored": 0.0}

    def step(self, rng: Generator, state: TreeState) -> tuple[TreeState, Info]:
        """Score the arcs into some variables, and find the best tree."""
        problem = self._problem
        n_arcs = np.cumsum(self._possible.sum(axis=0)[state.n_scored :])
        n_new = int(np.searchsorted(n_arcs, FAMILIES_PER_STEP)) + 1
        last = min(state.n_scored + n_new, problem.n_variables)
        gains, n_scores = self._score_arcs(state, last)
        better, evaluations = None, n_scores
        if n_scores:
            adjacency = self._fixed | self._find_tree(gains)
            score = problem.score(adjacency)
            evaluations += problem.n_variables
            if score > state.score + LEAST_GAIN:
                better = (adjacency, score)
        after = state.advance(evaluations, better, gains=gains, n_scored=last)
        return after, {"n_scored": float(last)}

    def is_finished(self, state: TreeState) -> bool:
        """Return whether all arcs were scored."""
        return state.n_scored == self._problem.n_variables

    def is_compatible(self, state: TreeState) -> bool:
        """Return whether the state holds scores of arcs that are possible here."""
        return not (np.isfinite(state.gains) & ~self._possible).any()

    def _score_arcs(self, state: TreeState, last: int) -> tuple[Gains, int]:
        """Return the gains with those of the next variables, and the number of new scores."""
        children, parents = np.nonzero(self._possible[:, state.n_scored : last].T)
        children += state.n_scored
        fixed = [np.flatnonzero(self._fixed[:, child]).tolist() for child in range(last)]
        pairs = [
            (child, [*fixed[child], parent])
            for child, parent in zip(children.tolist(), parents.tolist(), strict=True)
        ]
        gains = state.gains.copy()
        if pairs:
            scores = self._problem.scorer.local_scores(FamilyBatch.from_pairs(pairs))
            gains[parents, children] = scores - state.local[children]
        return gains, len(pairs)

    def _find_tree(self, gains: Gains) -> NDArray[np.bool_]:
        """Return the arcs of the best tree that closes no cycle with the fixed part."""
        check_deadline()
        possible = _make_symmetric(gains)
        while True:
            check_deadline()
            parents = find_best_branching(possible, self._parent)
            if not self._problem.rules.has_arc_constraints:
                parents = choose_first_roots(parents, possible)
            tree = np.zeros_like(self._fixed)
            children = np.flatnonzero((parents != NO_PARENT) & (self._parent == NO_PARENT))
            tree[parents[children], children] = True
            if not self._problem.rules.required.any():
                return tree
            cycle = _find_cycle(tree | self._fixed)
            arcs = [arc for arc in cycle if tree[arc]]
            if not arcs:
                return tree
            weakest = min(arcs, key=lambda arc: (possible[arc], arc))
            possible[weakest] = -np.inf


def _make_symmetric(gains: Gains) -> Gains:
    """Return gains without round-off: an arc and its reverse that should be equal are equal."""
    with np.errstate(invalid="ignore"):
        is_equal = np.abs(gains - gains.T) <= LEAST_GAIN
    return np.where(is_equal, np.maximum(gains, gains.T), gains)


def find_paths(adjacency: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether a path leads from each variable to each other one."""
    paths = adjacency.copy()
    for middle in np.flatnonzero(paths.any(axis=0) & paths.any(axis=1)).tolist():
        paths |= paths[:, middle, None] & paths[middle]
    return paths


def _find_cycle(adjacency: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the arcs of one cycle; none if there is no cycle."""
    left = np.ones(len(adjacency), dtype=np.bool_)
    while True:  # remove variables without parents, again and again
        has_parents = (adjacency & left[:, None]).any(axis=0) & left
        if has_parents.sum() == left.sum():
            break
        left = has_parents
    if not left.any():
        return []
    path = [int(left.argmax())]
    while path[-1] not in path[:-1]:
        path.append(int((adjacency[:, path[-1]] & left).argmax()))
    path = path[path.index(path[-1]) :]
    return [(parent, child) for child, parent in pairwise(path)]
