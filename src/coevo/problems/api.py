"""Solve a problem in one call: `solve_tour` and `solve_ordering`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import NDArray

from coevo.errors import warn_caller
from coevo.problems.bundled import open_ordering, open_tour
from coevo.problems.problem import OrderingProblem, TourProblem
from coevo.problems.result import SolveResult
from coevo.problems.solver import Callback
from coevo.problems.task import SolveSettings, SolveTask, open_task
from coevo.randomness import RandomState
from coevo.search import Budget

__all__ = ["solve_ordering", "solve_tour"]

Path = str | os.PathLike[str]
TourSource = TourProblem | Path | NDArray[Any]
OrderingSource = OrderingProblem | Path | NDArray[Any]


def solve_tour(
    problem: TourSource,
    *,
    form: str = "champion",
    budget: Budget | None = None,
    random_state: RandomState = 0,
    callbacks: Iterable[Callback] = (),
    output: Path | None = None,
    resume: bool = False,
) -> SolveResult:
    """Find a short tour through all cities (the symmetric travelling salesman problem).

    Parameters
    ----------
    problem : TourProblem, matrix, path or str
        A problem, a symmetric matrix of distances, a TSPLIB file, or the name of a bundled
        instance such as ``'berlin52'``.
    form : {'champion', 'literal'}
        ``'champion'`` climbs by 2-opt and or-opt inside evolving neighbours. ``'literal'`` is the
        algorithm of the 2011 paper: orders, and masks as programmes of 2-opt moves.
    budget : Budget, optional
        The limits; its target is a length (default: 25 generations without improvement, or 250
        generations of the literal form).
    random_state : int, Generator or None
        The same seed gives the same tour (default: 0).
    callbacks : iterable of functions
        Each is called with a `SolveRow` after each generation; True stops the run.
    output : path, optional
        The run folder. It holds a checkpoint during the run, and then the results
        (`coevo.problems.result`).
    resume : bool
        Resume the run of `output` after it was stopped or killed, or extend it with a larger
        budget. The answer is that of one uninterrupted run.

    Returns
    -------
    SolveResult
        After Ctrl-C it is the best tour so far.

    Examples
    --------
    >>> result = solve_tour("berlin52", random_state=0)
    >>> result
    <SolveResult: berlin52, tour of length 7,542>
    >>> result.is_optimal
    True
    """
    opened = _open(problem, TourProblem, open_tour, TourProblem.from_matrix)
    settings = SolveSettings(form, budget, random_state, output, resume)
    return _run(open_task(opened, settings, "solve_tour"), callbacks)


def solve_ordering(
    problem: OrderingSource,
    *,
    form: str = "champion",
    budget: Budget | None = None,
    random_state: RandomState = 0,
    callbacks: Iterable[Callback] = (),
    output: Path | None = None,
    resume: bool = False,
) -> SolveResult:
    """Find a heavy ordering of all items (the linear ordering problem).

    The weight of an ordering is the sum of ``weights[i, j]`` over all i before j. The forward
    arcs of the best ordering are the heaviest acyclic subgraph.

    Parameters
    ----------
    problem : OrderingProblem, matrix, path or str
        A problem, a square matrix of weights, a LOLIB file, or the name of a bundled instance
        such as ``'t59n11xx'``.
    form : {'champion', 'literal'}
        ``'champion'`` climbs by insertion moves. ``'literal'`` is the algorithm of the 2011
        paper: orders, and masks as programmes of insertion moves.
    budget : Budget, optional
        The limits; its target is a weight (default: as `solve_tour`).
    random_state : int, Generator or None
        The same seed gives the same ordering (default: 0).
    callbacks : iterable of functions
        Each is called with a `SolveRow` after each generation; True stops the run.
    output : path, optional
        The run folder. It holds a checkpoint during the run, and then the results
        (`coevo.problems.result`).
    resume : bool
        Resume the run of `output` after it was stopped or killed, or extend it with a larger
        budget. The answer is that of one uninterrupted run.

    Returns
    -------
    SolveResult
        After Ctrl-C it is the best ordering so far.

    Examples
    --------
    >>> solve_ordering([[0, 5, 1], [2, 0, 4], [3, 1, 0]], random_state=0).order
    (0, 1, 2)
    """
    opened = _open(problem, OrderingProblem, open_ordering, OrderingProblem.from_matrix)
    settings = SolveSettings(form, budget, random_state, output, resume)
    return _run(open_task(opened, settings, "solve_ordering"), callbacks)


def _run(task: SolveTask, callbacks: Iterable[Callback]) -> SolveResult:
    """Run a task; warn of the files that could not be written."""
    result = task.run(callbacks)
    for failure in task.failures:
        warn_caller(f"The run folder is not complete: {failure}")
    return result


def _open(
    problem: Any, kind: type[Any], read: Callable[[Any], Any], convert: Callable[[Any], Any]
) -> Any:
    """Return the problem of a source: a problem, a name or path, or a matrix."""
    if isinstance(problem, kind):
        return problem
    return read(problem) if isinstance(problem, str | os.PathLike) else convert(problem)
