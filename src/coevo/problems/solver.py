"""The loop around a solver: start, step until a limit is reached, keep the best so far.

`Solver.start` and `Solver.step` are pure, as those of a search method (`coevo.search.base`). The
budget and the random streams are those of a search, so a run without a time limit is
reproducible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_true
from coevo.interrupts import DeferredInterrupts, defer_interrupts, is_interrupt
from coevo.randomness import random_stream
from coevo.search import Budget, StopReason
from coevo.warmup import ensure_compiled
from coevo.work_time import measure_work_time

__all__ = ["Callback", "SolveRow", "SolveState", "Solver", "run_solver"]


@dataclass(frozen=True, slots=True)
class SolveState:
    """What the next step needs, with the best solution so far.

    Attributes
    ----------
    generation, evaluations, improved : int
        Number of steps, number of solutions that were measured, and the step that found the best.
    score : float
        The score of the best solution; higher is better.
    order : array, (n,)
        The best solution.
    parts : tuple of arrays
        The populations of the solver.
    """

    generation: int
    evaluations: int
    improved: int
    score: float
    order: NDArray[np.int64]
    parts: tuple[NDArray[Any], ...]

    def advance(
        self, evaluations: int, score: float, order: NDArray[np.int64], *parts: NDArray[Any]
    ) -> SolveState:
        """Return the state of the next generation; the order counts if its score is higher."""
        after = replace(
            self,
            generation=self.generation + 1,
            evaluations=self.evaluations + evaluations,
            parts=parts,
        )
        if score <= self.score:
            return after
        return replace(after, improved=after.generation, score=score, order=order.copy())


@dataclass(frozen=True, slots=True)
class SolveRow:
    """One generation of the history. The value is the length or the weight of the best so far."""

    generation: int
    evaluations: int
    seconds: float
    improved: int
    value: float


Callback = Callable[[SolveRow], bool | None]


class Solver(ABC):
    """A form of a solver, applied to a problem."""

    default_budget: ClassVar[Budget]
    sign: float = 1.0  # value = sign * score; -1 where the value is minimised

    @abstractmethod
    def start(self, rng: Generator) -> SolveState:
        """Return the state of generation 0."""

    @abstractmethod
    def step(self, rng: Generator, state: SolveState) -> SolveState:
        """Return the state of the next generation."""

    def is_finished(self, state: SolveState) -> bool:
        """Return whether no better solution exists."""
        return False


class _Loop:
    """A running solver: its current state and its history."""

    def __init__(self, solver: Solver, budget: Budget, seed: int) -> None:
        self.solver, self.budget, self.seed = solver, budget, seed
        self.state: SolveState | None = None
        self.history: list[SolveRow] = []
        self.started_at = measure_work_time()

    def run(self, callbacks: tuple[Callback, ...]) -> StopReason:
        """Run until a limit is reached and return that limit."""
        try:
            with defer_interrupts() as interrupts:
                return self._run_steps(callbacks, interrupts)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error) or self.state is None:
                raise
            return "interrupt"

    def _run_steps(
        self, callbacks: tuple[Callback, ...], interrupts: DeferredInterrupts
    ) -> StopReason:
        state = self.state = self.solver.start(random_stream(self.seed, 0))
        while True:
            seconds = measure_work_time() - self.started_at
            value = self.solver.sign * state.score
            self.history.append(
                SolveRow(state.generation, state.evaluations, seconds, state.improved, value)
            )
            answers = [callback(self.history[-1]) for callback in callbacks]
            if any(map(is_true, answers)):
                return "callback"
            reason = self.budget.find_reached_limit(
                seconds=seconds,
                generation=state.generation,
                improved=state.improved,
                evaluations=state.evaluations,
                score=state.score,
            )
            if self.solver.is_finished(state):
                return "finished"
            if reason is not None:
                return reason
            if interrupts.is_pending:
                return "interrupt"
            rng = random_stream(self.seed, state.generation + 1)
            state = self.state = self.solver.step(rng, state)


def run_solver(
    solver: Solver, budget: Budget, seed: int, callbacks: Iterable[Callback]
) -> tuple[SolveState, tuple[SolveRow, ...], StopReason]:
    """Run a solver; return its last state, the history and the reason for the end."""
    ensure_compiled("problems")  # before the clock starts
    loop = _Loop(solver, budget.with_default(solver.default_budget), seed)
    reason = loop.run(tuple(callbacks))
    assert loop.state is not None
    return loop.state, tuple(loop.history), reason
