"""States and checkpoints as files: NPZ, one entry a field, readable by NumPy alone.

A checkpoint file is a state with two entries more, both JSON: the history, and facts that
tell one search from another; and with the arrays that are kept beside the state, if there are
some. It is one file, so that its parts always belong together.

Nothing is pickled, neither way. A random generator is not part of a state: the stream of a
generation is found by its number (`coevo.randomness`), so that a state and a seed are all
that a search needs to go on.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from coevo.errors import FormatError
from coevo.files import open_source, replacing
from coevo.search.base import STATES_OF, SearchState
from coevo.search.result import Checkpoint, HistoryRow

__all__ = ["StoredCheckpoint", "read_state", "write_checkpoint", "write_state"]

State = TypeVar("State", bound=SearchState)
KIND = "kind"  # the entry that names the type of the state
HISTORY, FACTS = "history.json", "facts.json"  # the entries that a checkpoint has besides
BESIDE = "beside/"  # how the names of arrays begin that are kept beside a state


def write_state(state: SearchState, path: str | PathLike[str]) -> None:
    """Write a state to an NPZ file, whole or not at all."""
    _write(state, Path(path), {})


def read_state(path: str | PathLike[str], kind: type[State]) -> State:
    """Read a state of a type back.

    >>> import tempfile
    >>> empty = SearchState(0, 0, 0, -1.5, np.zeros((2, 2), dtype=np.bool_))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_state(empty, Path(folder) / "state.npz")
    ...     read_state(Path(folder) / "state.npz", SearchState).score
    -1.5
    """
    return _state(Path(path), _entries(Path(path)), kind)


def write_checkpoint(checkpoint: Checkpoint, facts: Mapping[str, Any], path: Path) -> None:
    """Write a checkpoint and facts about its search, whole or not at all."""
    history = [row.as_dict() for row in checkpoint.history]
    texts = {HISTORY: json.dumps(history), FACTS: json.dumps(facts)}
    beside = {BESIDE + name: array for name, array in checkpoint.beside.items()}
    _write(checkpoint.state, path, texts | beside)


class StoredCheckpoint:
    """A checkpoint file, opened: its facts can be looked at before its state is understood.

    >>> import tempfile
    >>> empty = SearchState(0, 0, 0, -1.5, np.zeros((2, 2), dtype=np.bool_))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "checkpoint.npz"
    ...     write_checkpoint(Checkpoint(empty, ()), {"seed": 7}, path)
    ...     stored = StoredCheckpoint(path)
    >>> stored.facts, stored.checkpoint(SearchState).state.score
    ({'seed': 7}, -1.5)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values = _entries(path)
        try:
            self.facts: dict[str, Any] = json.loads(str(self._values[FACTS]))
            self._history = [_row(line) for line in json.loads(str(self._values[HISTORY]))]
        except (KeyError, TypeError, ValueError):
            raise FormatError(f"{str(path)!r} is not a checkpoint.") from None

    def checkpoint(self, kind: type[SearchState], *others: type[SearchState]) -> Checkpoint:
        """Return the checkpoint of a search that has states of this type, or of one of others."""
        held = str(self._values.get(KIND))
        own = next((other for other in others if other.__name__ == held), kind)
        state = _state(self._path, self._values, own)
        named = self._values.items()
        beside = {name.removeprefix(BESIDE): v for name, v in named if name.startswith(BESIDE)}
        return Checkpoint(state, tuple(self._history), beside)


def _row(line: dict[str, Any]) -> HistoryRow:
    own = {field.name for field in fields(HistoryRow)} - {"details"}
    details = {name: value for name, value in line.items() if name not in own}
    return HistoryRow(**{name: line[name] for name in own}, details=details)


def _write(state: SearchState, path: Path, others: Mapping[str, Any]) -> None:
    entries = {**_entries_of(state), KIND: type(state).__name__, **others}
    with replacing(path) as stream:
        np.savez_compressed(stream, allow_pickle=False, **entries)


def _entries_of(state: SearchState, before: str = "") -> dict[str, Any]:
    """Return the fields of a state by name; of states in it, by ``name.number.name``."""
    entries: dict[str, Any] = {}
    for field in fields(state):
        name, value = before + field.name, getattr(state, field.name)
        if STATES_OF in field.metadata:
            entries[name] = len(value)
            for number, part in enumerate(value):
                entries |= _entries_of(part, f"{name}.{number}.")
        else:
            entries[name] = value
    return entries


def _entries(path: Path) -> dict[str, Any]:
    """Return everything that a file holds, by name."""
    with open_source(path) as source:
        content = io.BytesIO(source.read_all())
    try:
        with np.load(content, allow_pickle=False) as entries:
            return {name: entries[name] for name in entries.files}
    except Exception:  # a damaged archive fails in many ways
        raise _not_a_state(path) from None


def _state(path: Path, values: Mapping[str, Any], kind: type[State]) -> State:
    held = str(values.get(KIND))
    if held != kind.__name__:
        if held.endswith("State"):
            raise FormatError(f"{str(path)!r} holds a {held}, not a {kind.__name__}.")
        raise _not_a_state(path)
    try:
        return _made(kind, values)
    except (KeyError, TypeError, ValueError):
        raise _not_a_state(path) from None


def _made(kind: type[State], values: Mapping[str, Any], before: str = "") -> State:
    """Return the state of a type whose entries have names that begin so."""
    found: dict[str, Any] = {}
    for field in fields(kind):
        name = before + field.name
        value, inner = values[name], field.metadata.get(STATES_OF)
        if inner is not None:
            parts = (_made(inner, values, f"{name}.{number}.") for number in range(int(value)))
            found[field.name] = tuple(parts)
        else:
            found[field.name] = value.item() if value.ndim == 0 else value
    return kind(**found)


def _not_a_state(path: Path) -> FormatError:
    return FormatError(f"{str(path)!r} is not the state of a search.")
