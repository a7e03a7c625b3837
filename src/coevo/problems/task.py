"""Solve a problem in one call, and the steps that calls and the command share.

The steps of a run, shared by `solve_tour`, `solve_ordering` and ``coevo solve``.

`open_task` validates the settings and the run folder. `SolveTask.run` runs the solver with
checkpoints and writes the folder.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo import __version__
from coevo.checks import is_choice
from coevo.errors import ParameterError, bad_choice, bad_parameter, warn_caller
from coevo.files.checkpoints import write_with_retries
from coevo.files.run_folder import check_run_folder, lock_run_folder
from coevo.problems.champion import ChampionOrderings, ChampionTours
from coevo.problems.instance_files import open_ordering, open_tour
from coevo.problems.literal import LiteralSolver
from coevo.problems.problem import OrderingProblem, Problem, TourProblem
from coevo.problems.result import SolveResult
from coevo.problems.solver import Callback, SolveCheckpoint, SolveCheckpointFile, Solver, run_solver
from coevo.runtime.deadline import defer_interrupts
from coevo.runtime.randomness import RandomState, resolve_seed
from coevo.search import Budget, StopReason

__all__ = ["FORMS", "SolveSettings", "SolveTask", "open_task", "solve_ordering", "solve_tour"]

FORMS = ("champion", "literal")
Path = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class SolveSettings:
    """The options of a run, as the caller gave them."""

    form: str = "champion"
    budget: Budget | None = None
    random_state: RandomState = 0
    output: Path | None = None
    resume: bool = False
    command: Sequence[str] | None = None  # the arguments of ``coevo``, for run.json


@dataclass(frozen=True, slots=True)
class SolveTask:
    """A run on a problem, validated and ready.

    `failures` has the errors of files that could not be written; the result is there all the same.
    """

    problem: Problem
    form: str
    budget: Budget  # its target is a length or a weight
    seed: int
    solver: Solver
    folder: pathlib.Path | None = None
    command: Sequence[str] | None = None
    checkpoint_file: SolveCheckpointFile | None = None
    checkpoint: SolveCheckpoint | None = None
    failures: list[OSError] = field(default_factory=list)

    @property
    def fingerprint(self) -> dict[str, Any]:
        """All that the answer depends on but the budget."""
        return {
            "version": __version__,
            "data_hash": _hash_problem(self.problem),
            "problem": self.problem.kind,
            "form": self.form,
            "seed": self.seed,
        }

    def run(self, callbacks: Iterable[Callback] = ()) -> SolveResult:
        """Run the solver, and write the run folder. Ctrl-C stops with the best so far."""
        with lock_run_folder(self.folder):
            return self._run(callbacks)

    def _run(self, callbacks: Iterable[Callback]) -> SolveResult:
        file = self.checkpoint_file
        limits = self.budget
        if limits.target is not None:  # of the solver it is a score
            limits = replace(limits, target=self.solver.sign * limits.target)
        last, reason = run_solver(
            self.solver,
            limits,
            self.seed,
            callbacks,
            self.checkpoint,
            None if file is None else file.write_if_due,
        )
        with defer_interrupts():  # keep the result even if Ctrl-C comes now
            if file is not None:
                self._note(file.finish(last, reason))
            return self._finish(last, reason)

    def _open_folder(self, resume: bool) -> SolveTask:
        """Return the task with the checkpoint of its folder, validated."""
        if self.folder is None:
            return self
        check_run_folder(self.folder)
        file = SolveCheckpointFile(self.folder, self.fingerprint, self.solver)
        if not resume:
            file.check_replaceable()
            return replace(self, checkpoint_file=file)
        checkpoint = file.load()
        if checkpoint is None:
            warn_caller(file.describe_missing())
        return replace(self, checkpoint_file=file, checkpoint=checkpoint)

    def _note(self, failure: OSError | None) -> None:
        if failure is not None:
            self.failures.append(failure)

    def _finish(self, last: SolveCheckpoint, reason: StopReason) -> SolveResult:
        """Return the result, and write it if there is a folder. A failure does not lose it."""
        order = last.state.order
        if isinstance(self.problem, TourProblem):
            order = _rotate(order)
        result = SolveResult(
            problem=self.problem,
            form=self.form,
            order=tuple(order.tolist()),
            value=self.problem.measure(order),
            history=tuple(last.history),
            stop_reason=reason,
            seed=self.seed,
        )
        folder, files = self.folder, dict[str, str]()
        if folder is None:
            return result
        facts = {
            **({} if self.command is None else {"command": list(self.command)}),
            "data_hash": self.fingerprint["data_hash"],
            "limits": asdict(self.budget.with_default(self.solver.default_budget)),
        }
        self._note(write_with_retries(lambda: files.update(result.write(folder, facts))))
        return replace(result, files=files)


def open_task(problem: Problem, settings: SolveSettings, owner: str) -> SolveTask:
    """Validate the settings and the run folder; return the task."""
    if not is_choice(settings.form, FORMS):
        raise bad_choice("form", owner, FORMS, settings.form)
    budget = Budget() if settings.budget is None else settings.budget
    if not isinstance(budget, Budget):
        raise bad_parameter("budget", owner, "a Budget or None", budget)
    if settings.resume and settings.output is None:
        raise ParameterError(f"'resume' of {owner} needs 'output', the run folder to resume.")
    seed = resolve_seed(settings.random_state, owner)
    folder = None if settings.output is None else pathlib.Path(settings.output)
    solver = _make_solver(problem, settings.form)
    task = SolveTask(problem, settings.form, budget, seed, solver, folder, settings.command)
    with lock_run_folder(folder):  # another command may be writing its checkpoint
        return task._open_folder(settings.resume)


def _make_solver(problem: Problem, form: str) -> Solver:
    if form == "literal":
        return LiteralSolver(problem)
    if isinstance(problem, TourProblem):
        return ChampionTours(problem)
    return ChampionOrderings(problem)


def _hash_problem(problem: Problem) -> str:
    """Return a hash of the matrix. Names and coordinates do not change an answer."""
    content = f"{problem.kind} {problem.n_places}\n".encode() + problem.matrix.tobytes()
    return hashlib.sha256(content).hexdigest()


def _rotate(tour: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a tour that starts with city 0 and goes to the neighbour with the lower number."""
    start = int(np.flatnonzero(tour == 0)[0])
    rotated = np.roll(tour, -start)
    is_backwards = len(tour) > 2 and rotated[-1] < rotated[1]
    return np.concatenate([rotated[:1], rotated[:0:-1]]) if is_backwards else rotated


# Solve a problem in one call: `solve_tour` and `solve_ordering`.


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
