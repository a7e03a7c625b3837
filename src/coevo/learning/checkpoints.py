"""The checkpoint of a run's folder: a search that is killed at any moment can go on.

    checkpoint.npz   the state of the search, its history, and what search it is

It is written every second or so, whole or not at all, and once more when the search ends,
before any other file; so a run that has ended can be gone on with too, with a larger
budget. When it is written never reaches the answer.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coevo.errors import CoevoWarning, FileError
from coevo.files import remove_leftovers
from coevo.io import make_run_folder
from coevo.search import Checkpoint, Method, StoredCheckpoint, write_checkpoint
from coevo.search.fingerprint import first_difference

__all__ = ["CheckpointFile"]

CHECKPOINT = "checkpoint.npz"
SECONDS_BETWEEN = 1.0  # two checkpoints, at least
SHARE_OF_TIME = 0.05  # that writing them may take
ENDED = "stop_reason"  # the fact that a search which was killed does not have


class CheckpointFile:
    """The checkpoint of a folder, for one search.

    Parameters
    ----------
    folder : Path
        Made when the first checkpoint is written.
    identity : mapping
        What search it is, see `coevo.search.fingerprint`.
    *methods : Method
        The method of the search, which knows its states, and others that it begins with.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], *methods: Method) -> None:
        self._folder, self._path = folder, folder / CHECKPOINT
        self._identity, self._methods = dict(identity), methods
        self._due = time.perf_counter() + SECONDS_BETWEEN

    def open(self, resume: bool) -> Checkpoint | None:
        """Return the checkpoint to go on from, if that is asked for and there is one.

        Raises `FileError` if it is one of another search, or if nobody asks to go on with a
        search that was cut off.
        """
        remove_leftovers(self._folder)
        if resume:
            return self._held()
        self._check_ended()
        return None

    def _held(self) -> Checkpoint | None:
        if not self._path.is_file():
            nothing = f"There is nothing to resume in {str(self._folder)!r}: it has no"
            warnings.warn(
                f"{nothing} {CHECKPOINT}. The search starts from its beginning.",
                CoevoWarning,
                stacklevel=5,  # whoever called learn
            )
            return None
        stored = StoredCheckpoint(self._path)
        difference = first_difference(stored.facts, self._identity)
        if difference is not None:
            raise FileError(
                f"{str(self._folder)!r} holds a search with {difference}. Repeat its settings to "
                "resume it, or give another folder."
            )
        return stored.checkpoint(*(method.state_type for method in self._methods))

    def _check_ended(self) -> None:
        if not self._path.is_file():
            return
        stored = StoredCheckpoint(self._path)
        if ENDED not in stored.facts:
            raise FileError(
                f"{str(self._folder)!r} holds a search that was cut off. Resume it (--resume), "
                f"or remove {str(self._path)!r} to start anew."
            )

    def keep(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, if it is time."""
        began = time.perf_counter()
        if began < self._due:
            return
        self._write(checkpoint, self._identity)
        took = time.perf_counter() - began
        self._due = began + max(SECONDS_BETWEEN, took / SHARE_OF_TIME)

    def finish(self, last: Checkpoint | None, stop_reason: str) -> None:
        """Write the last checkpoint of a search, unless it ended before it began."""
        if last is not None:
            self._write(last, {**self._identity, ENDED: stop_reason})

    def _write(self, checkpoint: Checkpoint, facts: Mapping[str, Any]) -> None:
        make_run_folder(self._folder)
        write_checkpoint(checkpoint, facts, self._path)
