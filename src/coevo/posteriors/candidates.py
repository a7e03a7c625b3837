"""Choose the candidate parents of each child.

The tables of the posterior hold all sets of the candidates of a child, so candidates are few. A
good candidate is in a family of high weight. The archive of a finished search with `ccma` holds
the best scored families of each child under many orders. It ranks the parents of a child by the
best family that contains them. Without an archive, the best family is grown greedily.

The best family of a child often has its children as parents. A parent in the best network can
then rank low, although it has a high probability. So good structures that a search has found come
first: all variables that are adjacent to the child, those of the most structures first.

The other variables follow by their gain: the largest difference that a variable makes to the
score beside any subset of the best family (Viinikka et al. 2020 choose candidates in this way).

Required parents are always candidates, and come first. A forbidden parent never is one.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.errors import bad_parameter
from coevo.score import FamilyBatch
from coevo.search.archive import Archive
from coevo.search.base import LEAST_GAIN, Problem

__all__ = ["choose_candidates", "choose_least_candidates"]

MAX_CORE = 4  # parents of the best family beside whose subsets gains are computed


def choose_candidates(
    problem: Problem,
    archive: Archive | None,
    n_candidates: int,
    structures: NDArray[np.bool_] | None = None,
) -> list[NDArray[np.int64]]:
    """Return the candidate parents of each child, ascending: at most `n_candidates`.

    Parameters
    ----------
    problem : Problem
        The scorer and the constraints.
    archive : Archive, optional
        The families that a search has scored: ``SearchResult.state.archive`` of `ccma`.
    n_candidates : int
        Number of candidates of each child, if there are as many allowed parents. A child with
        more required parents has these.
    structures : array of bool, (m, n, n), optional
        Good structures, ``[structure, parent, child]``: the best network of a search, or those
        of its population.
    """
    if not is_int(n_candidates, 1):
        raise bad_parameter("candidates", "posterior", "an int >= 1", n_candidates)
    n = problem.n_variables
    adjacent = np.zeros((n, n), dtype=np.int64)
    if structures is not None:
        adjacent = structures.sum(axis=0) + structures.sum(axis=0).T
    return [
        _choose_for_child(problem, archive, child, n_candidates, adjacent[child])
        for child in range(n)
    ]


def choose_least_candidates(problem: Problem, n_candidates: int) -> list[NDArray[np.int64]]:
    """Return the required parents of each child, and others that the start has: without a score."""
    rules, start = problem.rules, problem.start
    is_near = (start | start.T) & rules.allowed
    chosen = []
    for child in range(problem.n_variables):
        required = np.flatnonzero(rules.required[:, child]).tolist()
        parents = np.flatnonzero(start[:, child]).tolist()
        near = np.flatnonzero(is_near[:, child]).tolist()
        ranked = list(dict.fromkeys([*required, *parents, *near]))
        kept = ranked[: max(n_candidates, len(required))]
        chosen.append(np.array(sorted(kept), dtype=np.int64))
    return chosen


def _choose_for_child(
    problem: Problem,
    archive: Archive | None,
    child: int,
    n_candidates: int,
    adjacent: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the candidates of one child, ascending.

    ``adjacent[v]`` is the number of structures in which v is adjacent to the child.
    """
    rules = problem.rules
    required = np.flatnonzero(rules.required[:, child]).tolist()
    allowed = np.flatnonzero(rules.allowed[:, child]).tolist()
    if len(allowed) <= n_candidates:
        return np.array(allowed, dtype=np.int64)
    if archive is None:
        core, ranked = _grow_family(problem, child, required, allowed), list[int]()
    else:
        core, ranked = _rank_by_family(archive, child)
    near = [v for v in np.argsort(-adjacent, kind="stable").tolist() if adjacent[v]]
    is_allowed = problem.rules.allowed[:, child]
    near = [v for v in near if is_allowed[v]]
    chosen = list(dict.fromkeys([*required, *near, *core, *ranked]))
    if len(chosen) < n_candidates:
        others = [v for v in allowed if v not in set(chosen)]
        chosen += _rank_by_gain(problem, child, core, others)
    kept = chosen[: max(n_candidates, len(required))]
    return np.array(sorted(kept), dtype=np.int64)


def _rank_by_family(archive: Archive, child: int) -> tuple[list[int], list[int]]:
    """Return the parents of the best family, and those of all families, the best first."""
    first, last = int(archive.begin[child]), int(archive.begin[child + 1])
    parents = archive.parents[archive.start[first] : archive.start[last]].tolist()
    return list(archive.parents_of(first)), list(dict.fromkeys(parents))


def _grow_family(
    problem: Problem, child: int, required: list[int], allowed: list[int]
) -> list[int]:
    """Return the parents of a family that grows by the best parent as long as one gains."""
    family, score = list(required), -np.inf
    score = float(_score(problem, child, [tuple(family)])[0])
    while len(family) < problem.rules.max_parents:
        more = [v for v in allowed if v not in set(family)]
        if not more:
            break
        scores = _score(problem, child, [tuple(sorted([*family, v])) for v in more])
        best = int(scores.argmax())
        if scores[best] <= score + LEAST_GAIN:
            break
        family.append(more[best])
        score = float(scores[best])
    return family


def _rank_by_gain(problem: Problem, child: int, core: list[int], others: list[int]) -> list[int]:
    """Return the others by the largest gain beside a subset of the core, the largest first."""
    near = sorted(core[:MAX_CORE])
    limit = problem.rules.max_parents - 1
    bases = [s for k in range(len(near) + 1) if k <= limit for s in itertools.combinations(near, k)]
    if not bases:
        return others
    families = [tuple(sorted([*base, v])) for base in bases for v in others]
    scores = _score(problem, child, families).reshape(len(bases), len(others))
    gains = (scores - _score(problem, child, bases)[:, None]).max(axis=0)
    return [others[i] for i in np.argsort(-gains, kind="stable").tolist()]


def _score(problem: Problem, child: int, sets: list[tuple[int, ...]]) -> NDArray[np.float64]:
    """Return the scores of a child with each of these parent sets."""
    return problem.scorer.local_scores(FamilyBatch.from_pairs((child, s) for s in sets))
