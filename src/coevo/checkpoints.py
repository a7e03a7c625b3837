"""The checkpoint of a run folder: a run that is killed at any moment can be resumed.

    checkpoint.npz   the state of the run, its history, and its fingerprint

A run writes it about every second, atomically, and once more when it ends, before any other file.
So a run that has ended can be resumed too, with a larger budget. Checkpoints never change the
answer. What a state is and how it becomes entries of the file is the business of the subpackage
that runs: see `coevo.learning.checkpoints` and `coevo.problems.checkpoints`.

The fingerprint holds all that the answer depends on but the budget. A checkpoint of another run is
refused. Nothing is pickled.
"""

from __future__ import annotations

import io
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from coevo.errors import FileError, FormatError
from coevo.files import open_source, remove_temporary_files, replace_file
from coevo.run_files import make_run_folder

__all__ = [
    "CHECKPOINT",
    "BaseCheckpointFile",
    "describe_difference",
    "make_not_a_state_error",
    "read_entries",
    "write_entries",
]

CHECKPOINT = "checkpoint.npz"
SECONDS_BETWEEN = 1.0  # minimum time between two checkpoints
SHARE_OF_TIME = 0.05  # maximum share of the time for writing them
ENDED = "stop_reason"  # stored once a run has ended; a killed run does not have it
_LABELS = {"data_hash": "other data: hash", "code_hash": "other code of the method: hash"}

Content = TypeVar("Content")
Facts = Mapping[str, Any]


def write_entries(path: Path, entries: Mapping[str, Any]) -> None:
    """Write arrays, numbers and texts to an NPZ file. It is replaced only when that succeeds."""
    with replace_file(path) as stream:
        np.savez_compressed(stream, allow_pickle=False, **entries)


def read_entries(path: Path) -> dict[str, Any]:
    """Return all entries of an NPZ file by name; raise `FormatError` if it is none."""
    with open_source(path) as source:
        content = io.BytesIO(source.read_all())
    try:
        with np.load(content, allow_pickle=False) as entries:
            return {name: entries[name] for name in entries.files}
    except Exception:  # a damaged archive fails in many ways
        raise make_not_a_state_error(path) from None


def make_not_a_state_error(path: Path) -> FormatError:
    """Return the exception for a file that holds no state."""
    return FormatError(f"{str(path)!r} is not the state of a search.")


def describe_difference(stored: Facts, asked: Facts) -> str | None:
    """Return the first setting in which two fingerprints differ, in words; None if none does.

    >>> describe_difference({"seed": 3, "ess": 1.0}, {"seed": 4, "ess": 1.0})
    'seed 3; this is 4'
    """
    for name, value in asked.items():
        if stored.get(name) != value:
            label = _LABELS.get(name, name)
            return f"{label} {stored.get(name)}; this is {value}"
    return None


class BaseCheckpointFile(ABC, Generic[Content]):
    """The checkpoint file of one run.

    Parameters
    ----------
    folder : Path
        The run folder; it is made when the first checkpoint is written.
    fingerprint : mapping
        All that the answer depends on but the budget, with the version of coevo.
    """

    def __init__(self, folder: Path, fingerprint: Facts) -> None:
        self._folder, self._path = folder, folder / CHECKPOINT
        self._fingerprint = dict(fingerprint)
        self._due = time.perf_counter() + SECONDS_BETWEEN

    @abstractmethod
    def _open(self, path: Path) -> tuple[Facts, Callable[[], Content]]:
        """Return the facts of a file, and a function that builds its checkpoint.

        The function is called only if the facts are those of this run.
        """

    @abstractmethod
    def _write_content(self, content: Content, facts: Facts, path: Path) -> None:
        """Write a checkpoint with its facts."""

    def load(self) -> Content | None:
        """Return the checkpoint to resume from; None if the folder has none.

        Raises `FileError` if it belongs to another run.
        """
        remove_temporary_files(self._folder)
        if not self._path.is_file():
            return None
        facts, build = self._open(self._path)
        version, stored_version = self._fingerprint["version"], facts.get("version")
        if stored_version != version:
            raise FileError(
                f"{str(self._folder)!r} holds a search of coevo {stored_version}, which coevo "
                f"{version} cannot resume. Give another folder."
            )
        difference = describe_difference(facts, self._fingerprint)
        if difference is not None:
            raise FileError(
                f"{str(self._folder)!r} holds a search with {difference}. Repeat its settings to "
                "resume it, or give another folder."
            )
        return build()

    def check_replaceable(self) -> None:
        """Raise `FileError` if the folder holds a run that was killed before its end."""
        remove_temporary_files(self._folder)
        if self._path.is_file() and ENDED not in self._open(self._path)[0]:
            raise FileError(
                f"{str(self._folder)!r} holds a search that was interrupted. Resume it (--resume), "
                f"or remove {str(self._path)!r} to start again."
            )

    def describe_missing(self) -> str:
        """Return the sentence for a folder without a checkpoint to resume from."""
        return (
            f"There is nothing to resume in {str(self._folder)!r}: it has no {CHECKPOINT}. The "
            "search starts from its beginning."
        )

    def write_if_due(self, content: Content) -> None:
        """Write a checkpoint, if the last one is old enough."""
        began = time.perf_counter()
        if began < self._due:
            return
        self._write(content, self._fingerprint)
        took = time.perf_counter() - began
        self._due = began + max(SECONDS_BETWEEN, took / SHARE_OF_TIME)

    def finish(self, last: Content | None, stop_reason: str) -> None:
        """Write the last checkpoint of a run, unless the run stopped before it started."""
        if last is not None:
            self._write(last, {**self._fingerprint, ENDED: stop_reason})

    def _write(self, content: Content, facts: Facts) -> None:
        make_run_folder(self._folder)
        self._write_content(content, facts, self._path)
