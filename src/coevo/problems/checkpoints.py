"""The checkpoints of ``coevo solve`` (`coevo.checkpoints`).

The entries of the file are the fields of the state, its populations one by one, and two texts of
JSON: the history, and the facts that identify the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coevo.checkpoints import (
    DIGEST,
    HISTORY,
    StateCheckpointFile,
    make_damage_error,
    make_not_a_state_error,
)
from coevo.checks import is_int, is_number
from coevo.json_text import load_json
from coevo.problems.solver import SolveCheckpoint, Solver, SolveRow, SolveState

__all__ = ["SolveCheckpointFile"]

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
