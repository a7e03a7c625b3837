"""The loop around every search: budget, clock, history and interrupts, for any kind of state.

A step is pure, so this loop needs no lock and no clean-up: if a step fails, the previous state
is still valid. A step that lasts beyond the time limit is dropped after a short grace. A first
interrupt (Ctrl-C) ends the search after the current step, a second one ends it at once. In all
cases the result is the best solution so far. `coevo.search.run` uses the loop for networks,
`coevo.problems.solver` for tours and orderings.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from numpy.random import Generator

from coevo.checks import is_true
from coevo.interrupts import DeferredInterrupts, defer_interrupts, is_interrupt
from coevo.randomness import random_stream
from coevo.search.budget import Budget, StopReason
from coevo.work_time import OutOfTime, limit_work_time, measure_work_time

__all__ = ["SHARE_OF_GRACE", "GenerationLoop"]

SHARE_OF_GRACE = 0.3  # for the last step; the rest is for the result


class LoopState(Protocol):
    """What the loop reads of a state."""

    @property
    def generation(self) -> int:
        """Number of steps so far."""

    @property
    def evaluations(self) -> int:
        """Number of evaluations so far."""

    @property
    def improved(self) -> int:
        """The generation that found the best solution."""

    @property
    def score(self) -> float:
        """The score of the best solution; higher is better."""


class LoopRow(Protocol):
    """What the loop reads of a row of the history."""

    @property
    def generation(self) -> int:
        """The generation of this row."""


State = TypeVar("State", bound=LoopState)
Row = TypeVar("Row", bound=LoopRow)


class GenerationLoop(ABC, Generic[State, Row]):
    """A running search: its current state and its history."""

    least_patience: int | None = None  # if the user gave no limits; see `Budget.shorten_patience`

    def __init__(
        self, budget: Budget, seed: int, callbacks: Sequence[Callable[[Row], object]]
    ) -> None:
        self.budget, self.seed, self.callbacks = budget, seed, tuple(callbacks)
        self.started_at = measure_work_time()
        self.state: State | None = None
        self.history: list[Row] = []
        self.offered: Any = None  # a solution of a step that ran out of time

    @abstractmethod
    def start(self, rng: Generator) -> State:
        """Return the state of generation 0."""

    @abstractmethod
    def step(self, rng: Generator, state: State) -> State:
        """Return the state of the next generation."""

    @abstractmethod
    def is_finished(self, state: State) -> bool:
        """Return whether a further step would change nothing."""

    @abstractmethod
    def make_row(self, state: State) -> Row:
        """Return the row of the history for a state."""

    @abstractmethod
    def save(self, state: State) -> None:
        """Take a checkpoint of a state and the history."""

    @property
    def seconds(self) -> float:
        """The time of the search so far, with that before it was resumed."""
        return measure_work_time() - self.started_at

    def resume(self, state: State, history: Sequence[Row]) -> None:
        """Begin with this state and history instead of generation 0."""
        self.state = state
        self.history.extend(history)

    def run(self, earlier_seconds: float = 0.0) -> StopReason:
        """Run until a limit is reached and return that limit."""
        self.started_at -= earlier_seconds
        try:
            with defer_interrupts() as interrupts, limit_work_time(self._find_deadline()):
                return self._run_steps(interrupts)
        except OutOfTime as late:
            self.offered = late.offered
            return "time"
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            self._record_state()  # the last step may have ended just before the interrupt
            return "interrupt"

    def _find_deadline(self) -> float:
        """Return when a step is dropped. The first step has a moment, however small the limit."""
        limit = self.budget.max_time
        if limit is None:
            return math.inf
        end = max(self.started_at + limit, measure_work_time())
        return end + SHARE_OF_GRACE * self.budget.grace

    def _run_steps(self, interrupts: DeferredInterrupts) -> StopReason:
        if self.state is None:
            self.state = self.start(random_stream(self.seed, 0))
            if self._report_state(self.state):
                return "callback"
        while True:
            reason = self._find_stop_reason(self.state)
            if reason is not None:
                return reason
            if interrupts.is_pending:
                return "interrupt"
            rng = random_stream(self.seed, self.state.generation + 1)
            self.state = self.step(rng, self.state)
            if self._report_state(self.state):
                return "callback"

    def _find_stop_reason(self, state: State) -> StopReason | None:
        budget = self.budget
        if self.least_patience is not None:
            budget = budget.shorten_patience(self.least_patience, state.improved)
        reason = budget.find_reached_limit(
            seconds=self.seconds,
            generation=state.generation,
            improved=state.improved,
            evaluations=state.evaluations,
            score=state.score,
        )
        if reason in (None, "time") and self.is_finished(state):
            return "finished"
        return reason

    def _record_state(self) -> None:
        """Add a row for the current state to the history, unless it has one."""
        last_recorded = self.history[-1].generation if self.history else -1
        if self.state is not None and self.state.generation > last_recorded:
            self.history.append(self.make_row(self.state))

    def _report_state(self, state: State) -> bool:
        """Record the state and call all callbacks; return whether one of them stops the search."""
        self._record_state()
        self.save(state)
        answers = [callback(self.history[-1]) for callback in self.callbacks]
        return any(map(is_true, answers))
