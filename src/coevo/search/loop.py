"""The loop around every search, and its limits.

The loop around every search: budget, clock, history and interrupts, for any kind of state.

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
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol, TypeVar

from numpy.random import Generator

from coevo.checks import is_int, is_number, is_true
from coevo.errors import bad_parameter
from coevo.runtime.deadline import (
    DeferredInterrupts,
    OutOfTime,
    defer_interrupts,
    is_interrupt,
    limit_work_time,
    measure_work_time,
)
from coevo.runtime.randomness import random_stream

__all__ = ["SHARE_OF_GRACE", "Budget", "GenerationLoop", "StopReason"]


# The limits of a search: time, generations, evaluations, patience and target.
#
# A search always holds its best structure so far, so a budget only limits how long it looks for a
# better one. All limits are checked between generations. The first limit reached ends the search.
# A generation that would last much longer than the time limit is dropped; the others are never
# left half done. A run without a time limit is reproducible bit by bit.


LEAST_GRACE, GRACE_SHARE = 0.5, 0.05  # seconds, and share of the limit

StopReason = Literal[
    "target", "generations", "evaluations", "patience", "time", "finished", "callback", "interrupt"
]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search; None means no limit.

    Parameters
    ----------
    max_time : float, optional
        Wall-clock time in seconds.
    max_generations : int, optional
        Number of generations (steps, for a method without generations).
    max_evaluations : int, optional
        Number of local scores requested, cached ones included.
    patience : int, optional
        Number of generations in a row without a better structure.
    target : float, optional
        Stop when the score reaches this value.

    Examples
    --------
    >>> Budget(max_time=60, patience=200)
    Budget(max_time=60, max_generations=None, max_evaluations=None, patience=200, target=None)
    >>> Budget(max_time=-1)
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'max_time' of Budget must be a number >= 0 or None; got -1.
    """

    max_time: float | None = None
    max_generations: int | None = None
    max_evaluations: int | None = None
    patience: int | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        if self.max_time is not None and not (is_number(self.max_time) and self.max_time >= 0):
            raise bad_parameter("max_time", "Budget", "a number >= 0 or None", self.max_time)
        if self.target is not None and not is_number(self.target):
            raise bad_parameter("target", "Budget", "a number or None", self.target)
        for name, least in (("max_generations", 0), ("max_evaluations", 0), ("patience", 1)):
            value = getattr(self, name)
            if value is not None and not is_int(value, least):
                raise bad_parameter(name, "Budget", f"an int >= {least} or None", value)

    @property
    def is_bounded(self) -> bool:
        """Whether every search ends under these limits. A target alone may never be reached."""
        limits = (self.max_time, self.max_generations, self.max_evaluations, self.patience)
        return any(limit is not None for limit in limits)

    @property
    def grace(self) -> float:
        """The seconds that a search with its answer may take beyond the time limit.

        >>> Budget(max_time=2).grace, Budget(max_time=60).grace, Budget().grace
        (0.5, 3.0, inf)
        """
        if self.max_time is None:
            return math.inf
        return max(LEAST_GRACE, GRACE_SHARE * self.max_time)

    def with_default(self, default: Budget) -> Budget:
        """Return these limits; if they are not bounded, the default ones with this target.

        >>> Budget(target=-100).with_default(Budget(patience=25))
        Budget(max_time=None, max_generations=None, max_evaluations=None, patience=25, target=-100)
        """
        return self if self.is_bounded else replace(default, target=self.target)

    def shorten_patience(self, least: int, improved: int) -> Budget:
        """Return these limits with a patience that is in proportion to the search so far.

        A search that found its best structure in generation 5, and nothing in the next ten, has
        less to hope for than one that still improved in generation 60. So it waits twice as long
        as it took to find the best structure, at least `least` generations.

        >>> [Budget(patience=25).shorten_patience(14, g).patience for g in (3, 9, 60)]
        [14, 18, 25]
        """
        if self.patience is None:
            return self
        return replace(self, patience=min(self.patience, max(least, 2 * improved)))

    def find_reached_limit(
        self, *, seconds: float, generation: int, improved: int, evaluations: int, score: float
    ) -> StopReason | None:
        """Return the first limit that is reached, or None. The time limit comes last.

        `improved` is the generation that found the best structure so far.
        """
        if self.target is not None and score >= self.target:
            return "target"
        if self.max_generations is not None and generation >= self.max_generations:
            return "generations"
        if self.max_evaluations is not None and evaluations >= self.max_evaluations:
            return "evaluations"
        if self.patience is not None and generation - improved >= self.patience:
            return "patience"
        if self.max_time is not None and seconds >= self.max_time:
            return "time"
        return None


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
