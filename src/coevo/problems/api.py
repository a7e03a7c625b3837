"""Solve a problem in one call: `solve_tour` and `solve_ordering`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.errors import bad_choice, bad_parameter
from coevo.picture import Picture
from coevo.problems.bundled import open_ordering, open_tour
from coevo.problems.champion import ChampionOrderings, ChampionTours
from coevo.problems.literal import LiteralSolver
from coevo.problems.problem import OrderingProblem, TourProblem
from coevo.problems.solver import Callback, Solver, SolveRow, run_solver
from coevo.problems.tour_picture import draw_tour
from coevo.randomness import RandomState, resolve_seed
from coevo.search import Budget, StopReason

__all__ = ["FORMS", "SolveResult", "solve_ordering", "solve_tour"]

FORMS = ("champion", "literal")
TourSource = TourProblem | str | os.PathLike[str] | NDArray[Any]
OrderingSource = OrderingProblem | str | os.PathLike[str] | NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class SolveResult:
    """The best solution of a run.

    Attributes
    ----------
    problem : TourProblem or OrderingProblem
        What was solved; its ``optimum`` is the best value that exists, where it is known.
    form : str
        ``'champion'`` or ``'literal'``.
    order : tuple of int
        The tour or the ordering, as numbers from 0. A tour starts with city 0.
    value : float
        The length of the tour (lower is better), or the weight of the ordering (higher is
        better).
    history : tuple of SolveRow
        The best value after each generation.
    stop_reason : str
        Why the run ended, as in `coevo.search.SearchResult`.
    seed : int
        The seed of the run.
    """

    problem: TourProblem | OrderingProblem
    form: str
    order: tuple[int, ...]
    value: float
    history: tuple[SolveRow, ...]
    stop_reason: StopReason
    seed: int

    @property
    def seconds(self) -> float:
        """The time of the run."""
        return self.history[-1].seconds

    @property
    def generations(self) -> int:
        """The number of generations."""
        return self.history[-1].generation

    @property
    def is_optimal(self) -> bool | None:
        """Whether the value is the known optimum; None if no optimum is known."""
        return None if self.problem.optimum is None else self.value == self.problem.optimum

    def plot(self) -> Picture:
        """Draw the tour; an ordering, or a tour without coordinates, has no picture."""
        return draw_tour(self.problem, self.order, self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain numbers and strings. Places are numbered from 1."""
        is_tour = isinstance(self.problem, TourProblem)
        return {
            "problem": "tsp" if is_tour else "lop",
            "instance": self.problem.name,
            "places": self.problem.n_places,
            "form": self.form,
            "length" if is_tour else "weight": _shorten(self.value),
            "optimum": _shorten(self.problem.optimum),
            "tour" if is_tour else "ordering": [place + 1 for place in self.order],
            "generations": self.generations,
            "evaluations": self.history[-1].evaluations,
            "improved": self.history[-1].improved,
            "seconds": round(self.seconds, 3),
            "stop_reason": self.stop_reason,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        what = "tour of length" if isinstance(self.problem, TourProblem) else "ordering of weight"
        return f"<SolveResult: {self.problem.name}, {what} {_shorten(self.value):,}>"


def _shorten(value: float | None) -> Any:
    """Return a whole number as an int."""
    return int(value) if value is not None and value == int(value) else value


def solve_tour(
    problem: TourSource,
    *,
    form: str = "champion",
    budget: Budget | None = None,
    random_state: RandomState = None,
    callbacks: Iterable[Callback] = (),
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
        The same seed gives the same tour.
    callbacks : iterable of functions
        Each is called with a `SolveRow` after each generation; True stops the run.

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
    _check_form(form, "solve_tour")
    checked = _open(problem, TourProblem, open_tour, TourProblem.from_matrix)
    solver = ChampionTours(checked) if form == "champion" else LiteralSolver(checked)
    limits = Budget() if budget is None else budget
    if limits.target is not None:
        limits = replace(limits, target=-limits.target)  # a score, which is the negative length
    return _run(checked, solver, (form, "solve_tour"), limits, random_state, callbacks)


def solve_ordering(
    problem: OrderingSource,
    *,
    form: str = "champion",
    budget: Budget | None = None,
    random_state: RandomState = None,
    callbacks: Iterable[Callback] = (),
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
        The same seed gives the same ordering.
    callbacks : iterable of functions
        Each is called with a `SolveRow` after each generation; True stops the run.

    Returns
    -------
    SolveResult
        After Ctrl-C it is the best ordering so far.

    Examples
    --------
    >>> solve_ordering([[0, 5, 1], [2, 0, 4], [3, 1, 0]], random_state=0).order
    (0, 1, 2)
    """
    _check_form(form, "solve_ordering")
    checked = _open(problem, OrderingProblem, open_ordering, OrderingProblem.from_matrix)
    solver = ChampionOrderings(checked) if form == "champion" else LiteralSolver(checked)
    limits = Budget() if budget is None else budget
    return _run(checked, solver, (form, "solve_ordering"), limits, random_state, callbacks)


def _check_form(form: str, owner: str) -> None:
    if form not in FORMS:
        raise bad_choice("form", owner, FORMS, form)


def _open(
    problem: Any, kind: type[Any], read: Callable[[Any], Any], convert: Callable[[Any], Any]
) -> Any:
    """Return the problem of a source: a problem, a name or path, or a matrix."""
    if isinstance(problem, kind):
        return problem
    return read(problem) if isinstance(problem, str | os.PathLike) else convert(problem)


def _run(
    problem: TourProblem | OrderingProblem,
    solver: Solver,
    names: tuple[str, str],
    budget: Budget,
    random_state: RandomState,
    callbacks: Iterable[Callback],
) -> SolveResult:
    form, owner = names
    if not isinstance(budget, Budget):
        raise bad_parameter("budget", owner, "a Budget or None", budget)
    seed = resolve_seed(random_state, owner)
    state, history, reason = run_solver(solver, budget, seed, callbacks)
    order = state.order
    if isinstance(problem, TourProblem):
        order = _rotate(order)
    value = problem.measure(order)
    return SolveResult(problem, form, tuple(order.tolist()), value, history, reason, seed)


def _rotate(tour: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a tour that starts with city 0 and goes to the neighbour with the lower number."""
    start = int(np.flatnonzero(tour == 0)[0])
    rotated = np.roll(tour, -start)
    is_backwards = len(tour) > 2 and rotated[-1] < rotated[1]
    return np.concatenate([rotated[:1], rotated[:0:-1]]) if is_backwards else rotated
