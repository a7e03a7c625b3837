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

from coevo.errors import ParameterError, bad_parameter, suggest_match
from coevo.runtime.deadline import check_deadline
from coevo.score import FamilyBatch
from coevo.search.base import (
    FINITE,
    LEAST_GAIN,
    SCORES,
    Array,
    Info,
    Method,
    Number,
    Problem,
    Schema,
    Search,
    SearchState,
)
from coevo.search.loop import Budget

__all__ = [
    "NO_PARENT",
    "TAN",
    "ChowLiu",
    "ClassStructure",
    "Gains",
    "NaiveBayes",
    "Parents",
    "TreeSearch",
    "TreeState",
    "choose_first_roots",
    "find_best_branching",
    "find_paths",
]


# The best branching: a forest in which each variable has at most one parent.
#
# Given the gain of each arc, `find_best_branching` returns the forest with the largest total gain.
# If the gain of an arc does not depend on its direction, this is a maximum-weight spanning forest,
# as Chow and Liu (1968) use it. Some scores and all constraints depend on the direction, so the
# algorithm is that of Chu and Liu (1965) and Edmonds (1967): each variable takes its best arc; a
# cycle of these arcs is contracted to one node, whose arcs are worth what they gain over the arc
# that they replace. A virtual root with arcs of gain 0 lets a variable stay without a parent.
#
# All ties go to the first variable by name.
#
# References ---------- C. K. Chow, C. N. Liu (1968). Approximating discrete probability
# distributions with dependence trees. IEEE Transactions on Information Theory 14, 462-467.
#
# J. Edmonds (1967). Optimum branchings. Journal of Research of the National Bureau of Standards
# 71B, 233-240.


NO_PARENT = -1

Gains = NDArray[np.float64]  # (n, n), gain of each arc ``[parent, child]``; -inf: not possible
Parents = NDArray[np.int64]  # (n,), the parent of each variable, or NO_PARENT


def find_best_branching(gains: Gains, fixed: Parents | None = None) -> Parents:
    """Return the parent of each variable in the forest with the largest total gain.

    Only arcs with a gain are used. `fixed` has the parents of variables that are decided already;
    without a cycle among them there is always a forest.

    >>> gains = np.full((3, 3), -np.inf)
    >>> gains[0, 1], gains[1, 0], gains[2, 0], gains[1, 2] = 6, 7, 5, 3
    >>> find_best_branching(gains).tolist()
    [2, 0, -1]
    """
    return _Contraction(gains, fixed).find_parents()


class _Contraction:
    """The state of the algorithm: nodes (variables, then contracted cycles) and their arcs.

    The arcs into a node are one array over all variables and the virtual root. `child` has the
    variable inside the node that each arc leads to.
    """

    def __init__(self, gains: Gains, fixed: Parents | None) -> None:
        n = len(gains)
        self.root = n
        self.gain: list[NDArray[np.float64]] = []
        self.child: list[NDArray[np.int64]] = []
        self.members: list[list[int]] = [[] for _ in range(n + 1)]
        self.node_of = np.arange(n + 1)  # the outermost node of each variable
        self.arc: dict[int, tuple[int, int]] = {}  # the chosen arc into each node
        for variable in range(n):
            check_deadline()
            column = gains[:, variable]
            own = np.append(np.where(column > LEAST_GAIN, column, -np.inf), 0.0)
            if fixed is not None and fixed[variable] != NO_PARENT:
                own[:] = -np.inf
                own[fixed[variable]] = 0.0
            own[variable] = -np.inf
            self.gain.append(own)
            self.child.append(np.full(n + 1, variable))
        self.gain.append(np.full(n + 1, -np.inf))  # no arc leads to the root
        self.child.append(np.full(n + 1, n))

    def find_parents(self) -> Parents:
        """Connect each variable to the root, backwards along the best arcs; then expand."""
        is_connected = {self.root}
        for variable in range(self.root):
            check_deadline()
            path: list[int] = []
            node = int(self.node_of[variable])
            while node not in is_connected:
                before = self._choose_arc(node)
                path.append(node)
                if before in path:
                    start = path.index(before)
                    node = self._contract(path[start:])
                    del path[start:]
                else:
                    node = before
            is_connected.update(path)
        return self._expand()

    def _choose_arc(self, node: int) -> int:
        """Choose the best arc into a node; return the node that it comes from."""
        gain = self.gain[node]
        parent = int(np.argmax(gain >= gain.max() - LEAST_GAIN))
        self.arc[node] = (parent, int(self.child[node][parent]))
        return int(self.node_of[parent])

    def _contract(self, cycle: list[int]) -> int:
        """Make one node of a cycle; return it."""
        gains = np.array([self.gain[node] - self.gain[node][self.arc[node][0]] for node in cycle])
        best = np.argmax(gains >= gains.max(axis=0) - LEAST_GAIN, axis=0)
        new, everywhere = len(self.gain), np.arange(self.root + 1)
        gain = gains[best, everywhere]
        inside = np.isin(self.node_of, cycle)
        gain[inside] = -np.inf
        self.node_of[inside] = new
        self.gain.append(gain)
        self.child.append(np.array([self.child[node] for node in cycle])[best, everywhere])
        self.members.append(list(cycle))
        return new

    def _expand(self) -> Parents:
        """Return the parents of all variables: the arc into a cycle replaces one of its arcs."""
        inside = {member: node for node, members in enumerate(self.members) for member in members}
        for node in reversed(range(self.root + 1, len(self.gain))):
            entered = self.arc[node][1]
            while inside[entered] != node:
                entered = inside[entered]
            self.arc[entered] = self.arc[node]
        parents = np.array([self.arc[variable][0] for variable in range(self.root)], dtype=np.int64)
        return np.where(parents == self.root, NO_PARENT, parents)


def choose_first_roots(parents: Parents, gains: Gains) -> Parents:
    """Return the same trees, each with its first variable as the root if that costs no gain.

    The direction of the arcs of a tree does not matter to most scores; this makes it canonical.

    >>> gains = np.ones((3, 3))
    >>> choose_first_roots(np.array([1, 2, -1]), gains).tolist()
    [-1, 0, 1]
    """
    found = parents.copy()
    is_done = np.zeros(len(parents), dtype=np.bool_)  # its tree has its final root
    for first in range(len(parents)):
        path = [first]
        while found[path[-1]] != NO_PARENT:
            path.append(int(found[path[-1]]))
        if is_done[path[-1]]:
            continue
        children, old = np.array(path[:-1], dtype=np.int64), np.array(path[1:], dtype=np.int64)
        change = gains[children, old] - gains[old, children]  # of each arc that is reversed
        if change.sum() >= -LEAST_GAIN * len(path):
            found[old], found[first] = children, NO_PARENT
            is_done[first] = True
    return found


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


# Structures for classification: a class, and perhaps a tree over the other variables.
#
# `NaiveBayes` and `TAN` are methods of this kind. They differ in whether there is a tree.


@dataclass(frozen=True)
class ClassStructure(Method):
    """The settings of a method whose structure has a class that all other variables depend on."""

    state_type: ClassVar[type[SearchState]] = TreeState
    default_budget: ClassVar[Budget] = Budget()
    has_tree: ClassVar[bool]

    class_variable: str | None = None

    def __post_init__(self) -> None:
        given = self.class_variable
        if given is not None and not isinstance(given, str):
            raise bad_parameter(
                "class_variable", type(self).__name__, "the name of a variable", given
            )

    def make_search(self, problem: Problem) -> TreeSearch:
        """Return the search on a problem."""
        number = self._find_class(problem)
        return TreeSearch(problem, _add_class_arcs(problem, number), number, self.has_tree)

    def _find_class(self, problem: Problem) -> int:
        """Return the number of the class variable; raise `ParameterError` if there is none."""
        name, owner, given = self.name, type(self).__name__, self.class_variable
        if given is None:
            raise ParameterError(
                f"The method {name!r} needs the class variable. Give its name: "
                f"method={owner}(class_variable='NAME'), or coevo learn -m {name} "
                "--class-variable NAME."
            )
        if given not in problem.names:
            raise ParameterError(
                f"'class_variable' of {owner} must be a variable of the data; got {given!r}."
                f"{suggest_match(given, problem.names)}"
            )
        return problem.names.index(given)


def _add_class_arcs(problem: Problem, class_variable: int) -> NDArray[np.bool_]:
    """Return the required arcs, and the arcs from the class to all other variables.

    An arc that the constraints exclude is left out.
    """
    rules, fixed = problem.rules, problem.rules.required.copy()
    leads_to_class = find_paths(fixed)[:, class_variable]
    for child in np.flatnonzero(rules.allowed[class_variable] & ~leads_to_class).tolist():
        parents = {class_variable, *np.flatnonzero(fixed[:, child]).tolist()}
        if len(parents) <= rules.max_parents and rules.fits(child, parents):
            fixed[class_variable, child] = True
    return fixed


# Chow-Liu: the best forest, in which each variable has at most one parent.
#
# Chow and Liu (1968) connect the variables by the tree with the largest sum of mutual information.
# Here the weight of an arc is its gain in the score; with the score ``'loglik'`` that is the
# mutual information times the number of rows. A score that penalises parameters leaves weak arcs
# out. The result is the best structure with at most one parent for each variable, under any score:
# nothing is random, and no search is better under ``max_parents=1``.
#
# The root of each tree is its first variable by name, unless the score or a constraint depends on
# the direction.


@dataclass(frozen=True)
class ChowLiu(Method):
    """Chow-Liu; it has no settings."""

    name: ClassVar[str] = "chow_liu"
    state_type: ClassVar[type[SearchState]] = TreeState
    default_budget: ClassVar[Budget] = Budget()

    def make_search(self, problem: Problem) -> TreeSearch:
        """Return the search on a problem."""
        return TreeSearch(problem, problem.rules.required)


# TAN, tree-augmented naive Bayes: naive Bayes with a tree over the other variables.
#
# The class is a parent of every other variable, as in naive Bayes. In addition, each of them may
# have one parent among the others. Friedman, Geiger and Goldszmidt (1997) weigh an arc by the
# mutual information of its two variables given the class. Here the weight is the gain in the
# score, given the class; with the score ``'loglik'`` it is that information times the number of
# rows. A score that penalises parameters leaves weak arcs out, so the tree can be a forest.
# Nothing is random.
#
# Generation 0 is naive Bayes. Constraints come first, as for all trees. A limit of one
# parent leaves naive Bayes.
#
# References
# ----------
# N. Friedman, D. Geiger, M. Goldszmidt (1997). Bayesian network classifiers. Machine Learning 29,
# 131-163.


@dataclass(frozen=True)
class TAN(ClassStructure):
    """Settings of TAN.

    Parameters
    ----------
    class_variable : str
        The variable that the others predict.
    """

    name: ClassVar[str] = "tan"
    has_tree: ClassVar[bool] = True


# Naive Bayes: the class is the only parent of every other variable.
#
# The form is given, so there is nothing to search: generation 0 holds the structure, and the only
# step changes nothing. Arcs that lower the score are kept, since they are the form. Constraints
# come first: a forbidden arc is left out, and required arcs are added. A start structure with a
# higher score stays.
#
# References
# ----------
# R. O. Duda, P. E. Hart (1973). Pattern classification and scene analysis. Wiley.


@dataclass(frozen=True)
class NaiveBayes(ClassStructure):
    """Settings of naive Bayes.

    Parameters
    ----------
    class_variable : str
        The variable that the others predict.
    """

    name: ClassVar[str] = "naive_bayes"
    has_tree: ClassVar[bool] = False
