"""States as files: NPZ, one entry a field, readable by NumPy alone.

Nothing is pickled, neither way. A random generator is not part of a state: the stream of a
generation is found by its number (`coevo.randomness`), so that a state and a seed are all
that a search needs to go on.
"""

from __future__ import annotations

import io
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from coevo.errors import FormatError
from coevo.files import open_source, replacing
from coevo.search.contract import SearchState

__all__ = ["read_state", "write_state"]

State = TypeVar("State", bound=SearchState)
KIND = "kind"  # the entry that names the type of the state


def write_state(state: SearchState, path: str | PathLike[str]) -> None:
    """Write a state to an NPZ file, whole or not at all."""
    entries: dict[str, Any] = {field.name: getattr(state, field.name) for field in fields(state)}
    with replacing(Path(path)) as stream:
        np.savez_compressed(stream, allow_pickle=False, **{KIND: type(state).__name__}, **entries)


def read_state(path: str | PathLike[str], kind: type[State]) -> State:
    """Read a state of a type back.

    >>> import tempfile
    >>> empty = SearchState(0, 0, 0, -1.5, np.zeros((2, 2), dtype=np.bool_))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_state(empty, Path(folder) / "state.npz")
    ...     read_state(Path(folder) / "state.npz", SearchState).score
    -1.5
    """
    with open_source(Path(path)) as source:
        content = io.BytesIO(source.read_all())
    not_a_state = FormatError(f"{str(path)!r} is not the state of a search.")
    try:
        with np.load(content, allow_pickle=False) as entries:
            values = {name: entries[name] for name in entries.files}
    except Exception:  # a damaged archive fails in many ways
        raise not_a_state from None
    held = str(values.get(KIND))
    if held != kind.__name__:
        if held.endswith("State"):
            raise FormatError(f"{str(path)!r} holds a {held}, not a {kind.__name__}.")
        raise not_a_state
    wanted = [field.name for field in fields(kind)]
    if not set(wanted) <= values.keys():
        raise not_a_state
    values = {name: values[name] for name in wanted}
    return kind(**{name: v.item() if v.ndim == 0 else v for name, v in values.items()})
