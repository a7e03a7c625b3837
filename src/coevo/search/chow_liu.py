"""Chow-Liu: the best forest, in which each variable has at most one parent.

Chow and Liu (1968) connect the variables by the tree with the largest sum of mutual information.
Here the weight of an arc is its gain in the score; with the score ``'loglik'`` that is the mutual
information times the number of rows. A score that penalises parameters leaves weak arcs out. The
result is the best structure with at most one parent for each variable, under any score: nothing is
random, and no search is better under ``max_parents=1``.

The root of each tree is its first variable by name, unless the score or a constraint depends on the
direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from coevo.search.base import Method, Problem, SearchState
from coevo.search.budget import Budget
from coevo.search.tree_search import TreeSearch, TreeState

__all__ = ["ChowLiu"]


@dataclass(frozen=True)
class ChowLiu(Method):
    """Chow-Liu; it has no settings."""

    name: ClassVar[str] = "chow_liu"
    state_type: ClassVar[type[SearchState]] = TreeState
    default_budget: ClassVar[Budget] = Budget()

    def make_search(self, problem: Problem) -> TreeSearch:
        """Return the search on a problem."""
        return TreeSearch(problem, problem.rules.required)
