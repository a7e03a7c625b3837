"""The checkpoints of ``coevo solve`` (`coevo.checkpoints`).

The entries of the file are the fields of the state, its populations one by one, and two texts of
JSON: the history, and the facts that identify the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coevo.checkpoints import (
    BaseCheckpointFile,
    make_not_a_state_error,
    read_entries,
    write_entries,
)
from coevo.errors import FormatError
from coevo.problems.solver import SolveCheckpoint, Solver, SolveRow, SolveState, are_orders

__all__ = ["SolveCheckpointFile"]

KIND, HISTORY, FACTS = "kind", "history.json", "facts.json"
NUMBERS = ("generation", "evaluations", "improved", "score")


class SolveCheckpointFile(BaseCheckpointFile[SolveCheckpoint]):
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

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any], solver: Solver) -> None:
        super().__init__(folder, fingerprint)
        self._solver = solver

    def _open(self, path: Path) -> tuple[Mapping[str, Any], Callable[[], SolveCheckpoint]]:
        entries = read_entries(path)
        try:
            facts = json.loads(str(entries[FACTS]))
            if str(entries[KIND]) != SolveState.__name__ or not isinstance(facts, dict):
                raise ValueError
        except (KeyError, ValueError):
            raise FormatError(f"{str(path)!r} is not a checkpoint of coevo solve.") from None
        return facts, lambda: self._build(path, entries)

    def _build(self, path: Path, entries: Mapping[str, Any]) -> SolveCheckpoint:
        """Return the checkpoint; raise `FormatError` if it does not fit the problem."""
        try:
            numbers = {name: entries[name].item() for name in NUMBERS}
            parts = tuple(entries[f"part.{i}"] for i in range(int(entries["n_parts"])))
            state = SolveState(**numbers, order=entries["order"], parts=parts)
            history = [SolveRow(**line) for line in json.loads(str(entries[HISTORY]))]
        except (KeyError, TypeError, ValueError):
            raise make_not_a_state_error(path) from None
        is_order = are_orders(state.order, (self._solver.n_places,))
        is_whole = bool(history) and history[-1].generation == state.generation
        if not (is_order and is_whole and self._solver.is_compatible(state)):
            raise FormatError(f"{str(path)!r} does not fit the instance. Give another folder.")
        return SolveCheckpoint(state, history)

    def _write_content(
        self, content: SolveCheckpoint, facts: Mapping[str, Any], path: Path
    ) -> None:
        state = content.state
        entries: dict[str, Any] = {name: getattr(state, name) for name in NUMBERS}
        entries |= {f"part.{i}": part for i, part in enumerate(state.parts)}
        history = json.dumps([row.as_dict() for row in content.history])
        entries |= {KIND: SolveState.__name__, "order": state.order, "n_parts": len(state.parts)}
        write_entries(path, {**entries, HISTORY: history, FACTS: json.dumps(facts)})
