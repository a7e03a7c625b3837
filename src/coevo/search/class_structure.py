"""Structures for classification: a class, and perhaps a tree over the other variables.

`NaiveBayes` and `TAN` are methods of this kind. They differ in whether there is a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, bad_parameter, suggest_match
from coevo.search.base import Method, Problem, SearchState
from coevo.search.budget import Budget
from coevo.search.tree_search import TreeSearch, TreeState, find_paths

__all__ = ["ClassStructure"]


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
