"""The interface of all solvers, and the loop around them.

`Solver.start` and `Solver.step` are pure, as those of a search method (`coevo.search.base`). The
loop, the budget and the random streams are those of a search, so a run without a time limit is
reproducible, and a state is all that a run needs to resume.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.checks import is_int, is_number
from coevo.files.checkpoints import (
    DIGEST,
    HISTORY,
    StateCheckpointFile,
    make_damage_error,
    make_not_a_state_error,
)
from coevo.files.files import load_json
from coevo.search import Budget, GenerationLoop, StopReason
from coevo.search.base import PERMUTATIONS, Array, Number, Schema, find_flaw

__all__ = [
    "Callback",
    "CheckpointCallback",
    "SolveCheckpoint",
    "SolveCheckpointFile",
    "SolveRow",
    "SolveState",
    "Solver",
    "run_solver",
]


@dataclass(frozen=True, slots=True, eq=False)
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

    `schema` declares what each field must be (`coevo.search.base`); the populations are
    declared by the solver.
    """

    schema: ClassVar[Schema] = {
        "generation": Number(),
        "evaluations": Number(),
        "improved": Number(),
        "order": Array(np.int64, ("n",), PERMUTATIONS),
    }

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

    def find_flaw(self) -> str:
        """Return what the schema cannot say: the numbers of an instance have no common bound."""
        is_score = isinstance(self.score, float) and math.isfinite(self.score)
        return "" if is_score else "'score' must be a finite number"


@dataclass(frozen=True, slots=True)
class SolveRow:
    """One generation of the history. The value is the length or the weight of the best so far."""

    generation: int
    evaluations: int
    seconds: float
    improved: int
    value: float

    def as_dict(self) -> dict[str, Any]:
        """Return one flat record."""
        return asdict(self) | {"seconds": round(self.seconds, 6)}


@dataclass(frozen=True, slots=True)
class SolveCheckpoint:
    """The state and the history of a run: all that is needed to resume it."""

    state: SolveState
    history: Sequence[SolveRow]  # may grow during the run

    @property
    def seconds(self) -> float:
        """The time that the run has taken so far."""
        return self.history[-1].seconds if self.history else 0.0


Callback = Callable[[SolveRow], bool | None]
CheckpointCallback = Callable[[SolveCheckpoint], object]


class Solver(ABC):
    """A form of a solver, applied to a problem."""

    default_budget: ClassVar[Budget]
    sign: float = 1.0  # value = sign * score; -1 where the value is minimised
    n_places: int

    @abstractmethod
    def start(self, rng: Generator) -> SolveState:
        """Return the state of generation 0."""

    @abstractmethod
    def step(self, rng: Generator, state: SolveState) -> SolveState:
        """Return the state of the next generation."""

    @abstractmethod
    def declare_parts(self) -> tuple[Array, ...]:
        """Return what each population must be; ``n`` is the number of places."""

    def find_flaw(self, state: SolveState) -> str:
        """Return the first flaw of a state from a file; "" if none. Kernels check no range."""
        sizes = {"n": self.n_places}
        flaw = find_flaw(state, sizes)
        if flaw:
            return flaw
        declared = self.declare_parts()
        if len(state.parts) != len(declared):
            return f"'parts' must be {len(declared)} arrays"
        for number, (one, part) in enumerate(zip(declared, state.parts, strict=True)):
            flaw = one.find_flaw(part, sizes)
            if flaw:
                return f"'part.{number}' {flaw}"
        return ""

    def is_finished(self, state: SolveState) -> bool:
        """Return whether no better solution exists."""
        return False


class _Loop(GenerationLoop[SolveState, SolveRow]):
    """A running solver."""

    def __init__(
        self,
        solver: Solver,
        budget: Budget,
        seed: int,
        callbacks: tuple[Callback, ...],
        on_checkpoint: CheckpointCallback | None,
    ) -> None:
        super().__init__(budget, seed, callbacks)
        self.solver, self.on_checkpoint = solver, on_checkpoint

    def start(self, rng: Generator) -> SolveState:
        return self.solver.start(rng)

    def step(self, rng: Generator, state: SolveState) -> SolveState:
        return self.solver.step(rng, state)

    def is_finished(self, state: SolveState) -> bool:
        return self.solver.is_finished(state)

    def make_row(self, state: SolveState) -> SolveRow:
        value = self.solver.sign * state.score
        return SolveRow(state.generation, state.evaluations, self.seconds, state.improved, value)

    def save(self, state: SolveState) -> None:
        if self.on_checkpoint is not None:
            self.on_checkpoint(SolveCheckpoint(state, self.history))


def run_solver(
    solver: Solver,
    budget: Budget,
    seed: int,
    callbacks: Iterable[Callback] = (),
    resume_from: SolveCheckpoint | None = None,
    on_checkpoint: CheckpointCallback | None = None,
) -> tuple[SolveCheckpoint, StopReason]:
    """Run a solver; return its last state with the history, and the reason for the end.

    Ctrl-C ends the run with the best solution so far; before generation 0 there is none, and
    `KeyboardInterrupt` is raised. `Solver.start` has no deadline, so that there is a solution.
    """
    limits = budget.with_default(solver.default_budget)
    loop = _Loop(solver, limits, seed, tuple(callbacks), on_checkpoint)
    if resume_from is not None:
        loop.resume(resume_from.state, resume_from.history)
    reason = loop.run(0.0 if resume_from is None else resume_from.seconds)
    if loop.state is None:
        raise KeyboardInterrupt
    return SolveCheckpoint(loop.state, tuple(loop.history)), reason


# The checkpoints of ``coevo solve`` (`coevo.files.checkpoints`).
#
# The entries of the file are the fields of the state, its populations one by one, and two texts of
# JSON: the history, and the facts that identify the run.


NUMBERS = ("generation", "evaluations", "improved", "score")


class SolveCheckpointFile(StateCheckpointFile[SolveCheckpoint]):
    """The checkpoint file of one run.

    Parameters
    ----------
    folder : Path
        The run folder; it is made when the first checkpoint is written.
    fingerprint : mapping
        All that the answer depends on but the budget, with the version of coevo.
    solver : Solver
        The solver whose states the file holds.
    """

    command, kind = "coevo solve", SolveState.__name__

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any], solver: Solver) -> None:
        super().__init__(folder, fingerprint)
        self._solver = solver

    def _build(self, path: Path, entries: Mapping[str, Any]) -> SolveCheckpoint:
        """Return the checkpoint; raise `FormatError` if it does not fit the problem."""
        try:
            numbers = {name: entries[name].item() for name in NUMBERS}
            n_parts = min(int(entries["n_parts"]), len(entries))
            parts = tuple(np.ascontiguousarray(entries[f"part.{i}"]) for i in range(n_parts))
            order = np.ascontiguousarray(entries["order"])
            state = SolveState(**numbers, order=order, parts=parts)
            history = [_parse_row(line) for line in load_json(str(entries[HISTORY]))]
        except (KeyError, TypeError, ValueError, OverflowError):
            raise make_not_a_state_error(path) from None
        flaw = self._solver.find_flaw(state)
        if flaw:
            raise make_damage_error(path, flaw)
        if not history or history[-1].generation != state.generation:
            raise make_damage_error(path, "its history does not end with its state")
        if DIGEST not in entries:
            raise make_not_a_state_error(path)
        return SolveCheckpoint(state, history)

    def _list_entries(
        self, content: SolveCheckpoint
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        state = content.state
        entries: dict[str, Any] = {name: getattr(state, name) for name in NUMBERS}
        entries |= {f"part.{i}": part for i, part in enumerate(state.parts)}
        entries |= {"order": state.order, "n_parts": len(state.parts)}
        return entries, [row.as_dict() for row in content.history]


def _parse_row(line: dict[str, Any]) -> SolveRow:
    """Return a row of the history; raise `ValueError` if one of its figures is no number."""
    row = SolveRow(**line)
    are_counts = all(is_int(one, 0) for one in (row.generation, row.evaluations, row.improved))
    if not (are_counts and is_number(row.seconds) and is_number(row.value)) or row.seconds < 0:
        raise ValueError
    return row
