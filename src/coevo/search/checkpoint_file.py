"""Read and write states and checkpoints as NPZ files.

A state file has one entry for each field. NumPy alone can read it. A checkpoint file is a
state file with more entries, all JSON: the history, facts that identify the search, and the number
of families that were scored (not in files of 0.2.0).
It may also hold the extra arrays of the checkpoint. All parts are in one file, so they always
belong together.

A file is checked when it is read: a digest shows whether an entry was changed, and the schema of
the state (`coevo.search.base`) whether its fields can be used.

Nothing is pickled. A random generator is not part of a state: the number of a generation
determines its random stream (`coevo.runtime.randomness`). A state and a seed are all that a search
needs to resume.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from coevo.checks import is_int, is_number
from coevo.errors import FormatError
from coevo.files.checkpoints import (
    DIGEST,
    make_damage_error,
    make_not_a_state_error,
    read_entries,
    write_entries,
)
from coevo.search.base import STATES_OF, SearchState, find_flaw
from coevo.search.result import Checkpoint, HistoryRow

__all__ = ["StoredCheckpoint", "read_state", "write_checkpoint", "write_state"]

State = TypeVar("State", bound=SearchState)
KIND = "kind"  # the entry with the name of the state type
HISTORY, FACTS = "history.json", "facts.json"  # the further entries of a checkpoint
FAMILIES_SCORED = "families_scored.json"
EXTRA = "beside/"  # the prefix of the entries of extra arrays


def write_state(state: SearchState, path: str | PathLike[str]) -> None:
    """Write a state to an NPZ file. The file is replaced only when writing succeeds."""
    _write_state(state, Path(path), {})


def read_state(path: str | PathLike[str], kind: type[State]) -> State:
    """Read a state of the given type from an NPZ file.

    >>> import tempfile
    >>> empty = SearchState(0, 0, 0, -1.5, np.zeros((2, 2), dtype=np.bool_))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_state(empty, Path(folder) / "state.npz")
    ...     read_state(Path(folder) / "state.npz", SearchState).score
    -1.5
    """
    return _build_state(Path(path), read_entries(Path(path)), kind)


def write_checkpoint(checkpoint: Checkpoint, facts: Mapping[str, Any], path: Path) -> None:
    """Write a checkpoint and the facts that identify its search.

    The file is replaced only when writing succeeds.
    """
    history = [row.as_dict() for row in checkpoint.history]
    texts = {HISTORY: json.dumps(history), FACTS: json.dumps(facts)}
    if checkpoint.families_scored is not None:
        texts[FAMILIES_SCORED] = json.dumps(checkpoint.families_scored)
    extra = {EXTRA + name: array for name, array in checkpoint.extra_arrays.items()}
    _write_state(checkpoint.state, path, texts | extra)


class StoredCheckpoint:
    """A checkpoint file in memory. Its facts can be read before its state is built.

    >>> import tempfile
    >>> empty = SearchState(0, 0, 0, -1.5, np.zeros((2, 2), dtype=np.bool_))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "checkpoint.npz"
    ...     write_checkpoint(Checkpoint(empty, ()), {"seed": 7}, path)
    ...     stored = StoredCheckpoint(path)
    >>> stored.facts, stored.to_checkpoint(SearchState).state.score
    ({'seed': 7}, -1.5)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values = read_entries(path)
        try:
            self.facts: dict[str, Any] = dict(json.loads(str(self._values[FACTS])))
            self._history = [_parse_row(line) for line in json.loads(str(self._values[HISTORY]))]
            self._n_scored = json.loads(str(self._values.get(FAMILIES_SCORED, "null")))
            if self._n_scored is not None and not is_int(self._n_scored, 0):
                raise ValueError
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            raise FormatError(f"{str(path)!r} is not a checkpoint.") from None

    def to_checkpoint(self, kind: type[SearchState], *others: type[SearchState]) -> Checkpoint:
        """Return the checkpoint, whose state must have one of these types."""
        stored_kind = str(self._values.get(KIND))
        state_type = next((other for other in others if other.__name__ == stored_kind), kind)
        state = _build_state(self._path, self._values, state_type)
        entries = self._values.items()
        extra = {name.removeprefix(EXTRA): v for name, v in entries if name.startswith(EXTRA)}
        return Checkpoint(state, tuple(self._history), extra, self._n_scored)


def _parse_row(line: dict[str, Any]) -> HistoryRow:
    """Return a row of the history; raise `ValueError` if one of its figures is no number."""
    counts = ("generation", "evaluations", "improved", "n_arcs")
    are_counts = all(is_int(line[name], 0) for name in counts)
    if not are_counts or not all(isinstance(value, int | float) for value in line.values()):
        raise ValueError
    if not is_number(line["seconds"]) or line["seconds"] < 0:
        raise ValueError
    columns = {field.name for field in fields(HistoryRow)} - {"details"}
    details = {name: value for name, value in line.items() if name not in columns}
    return HistoryRow(**{name: line[name] for name in columns}, details=details)


def _write_state(state: SearchState, path: Path, others: Mapping[str, Any]) -> None:
    write_entries(path, {**_flatten_state(state), KIND: type(state).__name__, **others})


def _flatten_state(state: SearchState, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a state by name. Nested states get ``name.number.name``."""
    entries: dict[str, Any] = {}
    for field in fields(state):
        name, value = prefix + field.name, getattr(state, field.name)
        if STATES_OF in field.metadata:
            entries[name] = len(value)
            for number, part in enumerate(value):
                entries |= _flatten_state(part, f"{name}.{number}.")
        else:
            entries[name] = value
    return entries


def _build_state(path: Path, values: Mapping[str, Any], kind: type[State]) -> State:
    stored_kind = str(values.get(KIND))
    if stored_kind != kind.__name__:
        if stored_kind.endswith("State"):
            raise FormatError(f"{str(path)!r} holds a {stored_kind}, not a {kind.__name__}.")
        raise make_not_a_state_error(path)
    try:
        state = _rebuild(kind, values)
        flaw = find_flaw(state)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise make_not_a_state_error(path) from None
    if flaw:
        raise make_damage_error(path, flaw)
    if DIGEST not in values:  # written by an older version
        raise make_not_a_state_error(path)
    return state


def _rebuild(kind: type[State], values: Mapping[str, Any], prefix: str = "") -> State:
    """Return a state of this type from the entries whose names have this prefix."""
    arguments: dict[str, Any] = {}
    entries = {**values, **kind.upgrade_entries(values, prefix)}
    for field in fields(kind):
        name = prefix + field.name
        value, inner = entries[name], field.metadata.get(STATES_OF)
        if inner is not None:
            n_parts = min(int(value), len(values))  # each part has several entries
            parts = (_rebuild(inner, values, f"{name}.{number}.") for number in range(n_parts))
            arguments[field.name] = tuple(parts)
        else:
            is_scalar = value.ndim == 0
            arguments[field.name] = value.item() if is_scalar else np.ascontiguousarray(value)
    return kind(**arguments)
