"""The checkpoint of a run folder: a run that is killed at any moment can be resumed.

    checkpoint.npz   the state of the run, its history, and its fingerprint

A run writes it about every second, atomically, and once more when it ends, before any other file.
So a run that has ended can be resumed too, with a larger budget. Checkpoints never change the
answer. One that cannot be written, because the disk is full for a moment, does not end the run: it
warns once and tries again. What a state is and how it becomes entries of the file is the business
of the subpackage that runs: see `coevo.learning.checkpoints`, `coevo.problems.solver` and
`coevo.exact.run`.

The fingerprint holds all that the answer depends on but the budget. A checkpoint of another run is
refused. A digest shows whether an entry of a file was changed. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from coevo.errors import FileError, FormatError, ParameterError, warn_caller
from coevo.files.files import load_json, open_source, remove_temporary_files, replace_file
from coevo.files.run_folder import make_run_folder
from coevo.runtime.memory import check_memory

__all__ = [
    "CHECKPOINT",
    "DIGEST",
    "HISTORY",
    "BaseCheckpointFile",
    "StateCheckpointFile",
    "describe_difference",
    "make_damage_error",
    "make_not_a_state_error",
    "read_entries",
    "write_arrays",
    "write_entries",
    "write_or_raise",
    "write_with_retries",
]

CHECKPOINT = "checkpoint.npz"
SECONDS_BETWEEN = 1.0  # minimum time between two checkpoints
SHARE_OF_TIME = 0.05  # maximum share of the time for writing them
PAUSES = (0.1, 0.4, 1.0)  # seconds before each further attempt to write the last files
DIGEST = "digest"  # the entry with the hash of all others
KIND, HISTORY, FACTS = "kind", "history.json", "facts.json"  # entries beside those of a state
ENDED = "stop_reason"  # stored once a run has ended; a killed run does not have it
_ABSENT = {"sparse_penalty": 0.0}  # what files of 0.2.0 mean by not having a setting
_LABELS = {"data_hash": "other data: hash", "code_hash": "other code of the method: hash"}

Content = TypeVar("Content")
Facts = Mapping[str, Any]


def write_entries(path: Path, entries: Mapping[str, Any]) -> None:
    """Write arrays, numbers and texts, with their digest, to an NPZ file.

    The file is replaced only when writing succeeds.
    """
    arrays = {name: np.asanyarray(value) for name, value in entries.items()}
    write_arrays(path, {**arrays, DIGEST: _compute_digest(arrays)})


def read_entries(path: Path) -> dict[str, Any]:
    """Return all entries of an NPZ file by name; raise `FormatError` if it is none or changed.

    A file of an older version has no digest.
    """
    with open_source(path) as source:
        content = io.BytesIO(source.read_all())
    try:
        with zipfile.ZipFile(content) as packed:
            n_bytes = sum(info.file_size for info in packed.infolist())
        check_memory(2 * n_bytes, "The checkpoint", "Start a new search.")
        content.seek(0)
        with np.load(content, allow_pickle=False) as archive:
            entries = {name: archive[name] for name in archive.files}
            stored = str(entries.get(DIGEST, ""))
            is_intact = stored in ("", _compute_digest(entries))
    except ParameterError:
        raise
    except Exception:  # a damaged archive fails in many ways
        raise make_not_a_state_error(path) from None
    if not is_intact:
        raise make_damage_error(path, "its content does not match its digest")
    return entries


def _compute_digest(entries: Mapping[str, NDArray[Any]]) -> str:
    """Return the hash of the names, types, shapes and values of all entries but the digest."""
    digest = hashlib.sha256()
    for name in sorted(entries):
        array = entries[name]
        if name != DIGEST and array.dtype != object:  # no object can be stored
            digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def make_damage_error(path: Path, what: str) -> FormatError:
    """Return the exception for a file whose content cannot be used."""
    return FormatError(f"{str(path)!r} is damaged: {what}. Start a new search.")


def make_not_a_state_error(path: Path) -> FormatError:
    """Return the exception for a file that holds no state."""
    return FormatError(f"{str(path)!r} is not the state of a search.")


def describe_difference(stored: Facts, asked: Facts) -> str | None:
    """Return the first setting in which two fingerprints differ, in words; None if none does.

    >>> describe_difference({"seed": 3, "ess": 1.0}, {"seed": 4, "ess": 1.0})
    'seed 3; this is 4'
    """
    for name, value in asked.items():
        found = stored.get(name, _ABSENT.get(name))
        if found != value:
            label = _LABELS.get(name, name)
            return f"{label} {found}; this is {value}"
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
        self._has_warned = False

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
        """Write a checkpoint, if the last one is old enough. Warn if the first one fails."""
        began = time.perf_counter()
        if began < self._due:
            return
        try:
            self._write(content, self._fingerprint)
        except OSError as error:
            self._warn_once(error)
        took = time.perf_counter() - began
        self._due = began + max(SECONDS_BETWEEN, took / SHARE_OF_TIME)

    def finish(self, last: Content | None, stop_reason: str) -> OSError | None:
        """Write the last checkpoint of a run, unless the run stopped before it started.

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

    def _write(self, content: Content, facts: Facts) -> None:
        make_run_folder(self._folder)
        self._write_content(content, facts, self._path)


class StateCheckpointFile(BaseCheckpointFile[Content]):
    """A checkpoint file with the entries of a state, its history, and the facts of the run."""

    command: ClassVar[str]  # whose checkpoints these are
    kind: ClassVar[str]  # of the state

    @abstractmethod
    def _build(self, path: Path, entries: Mapping[str, Any]) -> Content:
        """Return the checkpoint; raise `FormatError` if it does not fit the run."""

    @abstractmethod
    def _list_entries(self, content: Content) -> tuple[dict[str, Any], Sequence[Facts]]:
        """Return the entries of the state, and the rows of the history."""

    def _open(self, path: Path) -> tuple[Facts, Callable[[], Content]]:
        entries = read_entries(path)
        try:
            facts = load_json(str(entries[FACTS]))
            if str(entries[KIND]) != self.kind or not isinstance(facts, dict):
                raise ValueError
        except (KeyError, ValueError):
            raise FormatError(f"{str(path)!r} is not a checkpoint of {self.command}.") from None
        return facts, lambda: self._build(path, entries)

    def _write_content(self, content: Content, facts: Facts, path: Path) -> None:
        entries, rows = self._list_entries(content)
        texts = {KIND: self.kind, HISTORY: json.dumps(rows), FACTS: json.dumps(facts)}
        write_entries(path, {**entries, **texts})


def write_or_raise(write: Callable[[], object]) -> None:
    """Call `write`, again after a pause if it fails; raise the last error."""
    failure = write_with_retries(write)
    if failure is not None:
        raise failure


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


# Write arrays to an NPZ file, without a pickle and with any version of NumPy.
#
# `numpy.savez` takes ``allow_pickle`` only in newer versions of NumPy. Older ones store it as one
# more array. So objects, which alone would be pickled, are refused here.


MOST_COMPRESSED = 1 << 24  # bytes; compressing more would take longer than a search can wait


def write_arrays(path: Path, values: Mapping[str, Any]) -> None:
    """Write arrays, numbers and texts. The file is replaced only when writing succeeds."""
    arrays = {name: np.asanyarray(value) for name, value in values.items()}
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name!r} holds objects, which cannot be stored without a pickle.")
    n_bytes = sum(array.nbytes for array in arrays.values())
    save = np.savez_compressed if n_bytes <= MOST_COMPRESSED else np.savez
    with replace_file(path) as stream:
        save(stream, **arrays)
