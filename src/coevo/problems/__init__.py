"""Other graph problems with the two species of the 2011 paper: tours and orderings.

- `solve_tour`: the symmetric travelling salesman problem (TSP)
- `solve_ordering`: the linear ordering problem (LOP), or the heaviest acyclic subgraph

The paper names such problems as later work. This package shares the generational core
(`coevo.search.cooperation`), the loop with its budgets and random streams, and the checkpoint files
with the searches for networks, and nothing else. Nothing of the rest of coevo imports it, except
the command line.
"""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.problems.instance_files import ORDERINGS, TOURS, open_ordering, open_tour
    from coevo.problems.problem import OrderingProblem, TourProblem
    from coevo.problems.result import SolveResult
    from coevo.problems.solver import SolveRow
    from coevo.problems.task import FORMS, solve_ordering, solve_tour
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        instance_files="ORDERINGS TOURS open_ordering open_tour",
        problem="OrderingProblem TourProblem",
        result="SolveResult",
        solver="SolveRow",
        task="FORMS solve_ordering solve_tour",
    )

__all__ = [
    "FORMS",
    "ORDERINGS",
    "TOURS",
    "OrderingProblem",
    "SolveResult",
    "SolveRow",
    "TourProblem",
    "open_ordering",
    "open_tour",
    "solve_ordering",
    "solve_tour",
]
