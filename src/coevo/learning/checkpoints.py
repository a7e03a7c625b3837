"""The checkpoint of a run folder: a search that is killed at any moment can be resumed.

    checkpoint.npz   the state of the search, its history, and its fingerprint

The search writes it about every second, atomically, and once more when it ends, before any other
file. So a search that has ended can be resumed too, with a larger budget. Checkpoints never change
the answer. One that cannot be written, because the disk is full for a moment, does not end the
search: it warns once and tries again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from coevo.errors import FileError, warn_caller
from coevo.files import remove_temporary_files
from coevo.io import make_run_folder
from coevo.search import (
    Checkpoint,
    Method,
    StoredCheckpoint,
    describe_difference,
    write_checkpoint,
)

__all__ = ["CheckpointFile", "write_with_retries"]

CHECKPOINT = "checkpoint.npz"
SECONDS_BETWEEN = 1.0  # minimum time between two checkpoints
SHARE_OF_TIME = 0.05  # maximum share of the time for writing them
PAUSES = (0.1, 0.4, 1.0)  # seconds before each further attempt to write the last files
ENDED = "stop_reason"  # stored once a search has ended; a killed search does not have it


class CheckpointFile:
    """The checkpoint file of one search.

    Parameters
    ----------
    folder : Path
        The run folder; it is made when the first checkpoint is written.
    fingerprint : mapping
        The fingerprint of the search; see `SearchSpec.fingerprint`.
    *methods : Method
        The method of the search, and others whose states the file may hold.
    """

    def __init__(self, folder: Path, fingerprint: Mapping[str, Any], *methods: Method) -> None:
        self._folder, self._path = folder, folder / CHECKPOINT
        self._fingerprint, self._methods = dict(fingerprint), methods
        self._due = time.perf_counter() + SECONDS_BETWEEN
        self._has_warned = False

    def load(self) -> Checkpoint | None:
        """Return the checkpoint to resume from; None if the folder has none.

        Raises `FileError` if it belongs to another search.
        """
        remove_temporary_files(self._folder)
        if not self._path.is_file():
            return None
        stored = StoredCheckpoint(self._path)
        version, stored_version = self._fingerprint["version"], stored.facts.get("version")
        if stored_version != version:
            raise FileError(
                f"{str(self._folder)!r} holds a search of coevo {stored_version}, which coevo "
                f"{version} cannot resume. Give another folder."
            )
        difference = describe_difference(stored.facts, self._fingerprint)
        if difference is not None:
            raise FileError(
                f"{str(self._folder)!r} holds a search with {difference}. Repeat its settings to "
                "resume it, or give another folder."
            )
        return stored.to_checkpoint(*(method.state_type for method in self._methods))

    def check_replaceable(self) -> None:
        """Raise `FileError` if the folder holds a search that was killed before its end."""
        remove_temporary_files(self._folder)
        if self._path.is_file() and ENDED not in StoredCheckpoint(self._path).facts:
            raise FileError(
                f"{str(self._folder)!r} holds a search that was interrupted. Resume it (--resume), "
                f"or remove {str(self._path)!r} to start again."
            )

    def write_if_due(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, if the last one is old enough. Warn if the first one fails."""
        began = time.perf_counter()
        if began < self._due:
            return
        try:
            self._write(checkpoint, self._fingerprint)
        except OSError as error:
            self._warn_once(error)
        took = time.perf_counter() - began
        self._due = began + max(SECONDS_BETWEEN, took / SHARE_OF_TIME)

    def finish(self, last: Checkpoint | None, stop_reason: str) -> OSError | None:
        """Write the last checkpoint of a search, unless the search stopped before it started.

        Return the error if it cannot be written.
        """
        if last is None:
            return None
        facts = {**self._fingerprint, ENDED: stop_reason}
        return write_with_retries(lambda: self._write(last, facts))

    def _warn_once(self, error: OSError) -> None:
        if not self._has_warned:
            self._has_warned = True
            warn_caller(f"{error} The search continues, and tries again to write a checkpoint.")

    def _write(self, checkpoint: Checkpoint, facts: Mapping[str, Any]) -> None:
        make_run_folder(self._folder)
        write_checkpoint(checkpoint, facts, self._path)


def write_with_retries(write: Callable[[], object]) -> OSError | None:
    """Call `write`, again after a pause if it fails; return the last error, or None."""
    failure: OSError | None = None
    for pause in (0.0, *PAUSES):
        time.sleep(pause)
        try:
            write()
        except OSError as error:
            failure = error
        else:
            return None
    return failure
