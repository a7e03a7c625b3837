"""Naive Bayes: the class is the only parent of every other variable.

The form is given, so there is nothing to search: generation 0 holds the structure, and the only
step changes nothing. Arcs that lower the score are kept, since they are the form. Constraints come
first: a forbidden arc is left out, and required arcs are added. A start structure with a higher
score stays.

References
----------
R. O. Duda, P. E. Hart (1973). Pattern classification and scene analysis. Wiley.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from coevo.search.base import Method, Problem, SearchState
from coevo.search.budget import Budget
from coevo.search.tree_search import (
    TreeSearch,
    TreeState,
    add_class_arcs,
    check_class,
    find_class,
)

__all__ = ["NaiveBayes"]


@dataclass(frozen=True)
class NaiveBayes(Method):
    """Settings of naive Bayes.

    Parameters
    ----------
    class_variable : str
        The variable that the others predict.
    """

    name: ClassVar[str] = "naive_bayes"
    state_type: ClassVar[type[SearchState]] = TreeState
    default_budget: ClassVar[Budget] = Budget()

    class_variable: str | None = None

    def __post_init__(self) -> None:
        check_class(self.class_variable, "NaiveBayes")

    def make_search(self, problem: Problem) -> TreeSearch:
        """Return the search on a problem."""
        number = find_class(problem, self.class_variable, self.name, "NaiveBayes")
        return TreeSearch(problem, add_class_arcs(problem, number), number, has_tree=False)
