"""The folder of a run: its records, and its lock.

The folder of a run: make it, and write records into it as JSON.

Every command that writes a folder uses these functions. What a folder holds is the business of the
subpackage that writes it, as of `coevo.io.run_folder` for networks.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from coevo.checks import as_plain, is_bool
from coevo.errors import CoevoError, FileError, FormatError, ParameterError, bad_parameter
from coevo.files.files import load_json, remove_temporary_files, replace_file, write_text

__all__ = [
    "check_run_folder",
    "format_json_line",
    "lock_run_folder",
    "make_run_folder",
    "refuse_damaged_facts",
    "refuse_foreign_files",
    "write_json",
    "write_json_lines",
]


def check_output(output: Any, resume: Any, owner: str) -> None:
    """Raise `ParameterError` unless these are the run folder of a function, and a bool."""
    if not is_bool(resume):
        raise bad_parameter("resume", owner, "a bool", resume)
    if output is None and resume:
        raise ParameterError(f"'resume' of {owner} needs 'output', the run folder to resume.")
    if output is not None and not isinstance(output, str | os.PathLike):
        raise bad_parameter("output", owner, "the path of a folder or None", output)


def check_run_folder(folder: Path) -> None:
    """Raise `FileError` unless this folder can be created, or exists and can be written to."""
    if not _can_be_named(folder):
        raise FileError(f"{str(folder)!r} cannot be the name of a folder. Choose another name.")
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{str(folder)!r} is a file. Name a folder.")
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise FileError(f"{str(folder)!r} cannot be created: {str(nearest)!r} is a file.")
    if not os.access(nearest, os.W_OK):
        raise FileError(f"{str(folder)!r} cannot be written: {str(nearest)!r} is write-protected.")


def refuse_foreign_files(folder: Path, names: Iterable[str]) -> None:
    """Raise `FileError` if a folder holds files of these names, but nothing that coevo wrote.

    So a command never replaces the README or the results of somebody else.
    """
    found = sorted(name for name in names if (folder / name).is_file())
    if found and not _holds_a_run(folder):
        raise FileError(
            f"{str(folder)!r} holds {found[0]!r}, which coevo did not write and would replace. "
            "Give another folder."
        )


def _holds_a_run(folder: Path) -> bool:
    """Return whether a folder is one of coevo: it has a checkpoint, or a record of a run."""
    if (folder / "checkpoint.npz").is_file():
        return True
    for name in ("run.json", "experiment.json", "strength.json"):
        with contextlib.suppress(OSError, ValueError):
            found = load_json((folder / name).read_text(encoding="utf-8"))
            if isinstance(found, dict) and "version" in found:
                return True
    return False


def _can_be_named(folder: Path) -> bool:
    try:
        return b"\0" not in os.fsencode(folder)
    except UnicodeEncodeError:
        return False


def make_run_folder(folder: Path) -> None:
    """Create a folder and its parent folders; do nothing if it exists."""
    check_run_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{str(folder)!r} cannot be created: {error.strerror}.") from None


@contextlib.contextmanager
def refuse_damaged_facts(folder: Path) -> Iterator[None]:
    """Raise `FormatError` for facts of other types, which are JSON, but not of a run."""
    try:
        yield
    except CoevoError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        path = str(folder / "run.json")
        raise FormatError(f"{path!r} is damaged: it does not hold the facts of a run.") from None


def format_json_line(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, default=as_plain) + "\n"


def write_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write an object as indented JSON."""
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False, default=as_plain)
    write_text(path, f"{text}\n")


def write_json_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records as JSON, one a line."""
    with replace_file(path) as stream:
        stream.writelines(format_json_line(record).encode() for record in records)


# Lock a run folder: two commands never write to one folder at the same time.
#
# The lock is one of the operating system, on the folder itself. So it leaves no file, and it ends
# with its process, however that ends: a killed command never blocks the next one. On Windows,
# where a folder cannot be locked, it is a lock on a file of the folder. Where a file system has no
# locks, there is none.


LOCK_FILE = ".lock"  # on Windows
_IS_HELD = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)  # errors of a lock that another has

_HOLDERS: dict[tuple[int, int], int] = {}  # the threads of this process that have locked a folder
_CHANGE = threading.Lock()  # of the dictionary


@contextlib.contextmanager
def lock_run_folder(folder: Path | None, writes: Iterable[str] = ()) -> Iterator[None]:
    """Hold the lock of a run folder, which is created if it does not exist.

    `writes` are files that the caller will write: if the folder has one of them, it must be one
    of coevo. What killed commands left half written in the folder and its subfolders is removed
    first. A thread that has the lock can take it again. Folders that were created here and stay
    empty are removed at the end. None is no folder: there is nothing to lock.

    Raises
    ------
    FileError
        If another process or thread has the lock, or the folder cannot be created, or it holds
        files of somebody else.
    """
    if folder is None:
        yield
        return
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    make_run_folder(folder)
    refuse_foreign_files(folder, writes)
    try:
        with _hold(folder):
            yield
    finally:
        with contextlib.suppress(OSError):  # it is not empty
            for path in new:
                path.rmdir()


@contextlib.contextmanager
def _hold(folder: Path) -> Iterator[None]:
    facts, thread = os.stat(folder), threading.get_ident()
    key = (facts.st_dev, facts.st_ino)
    with _CHANGE:
        holder = _HOLDERS.get(key)
        if holder not in (None, thread):
            raise _make_error(folder)
        descriptor = _lock(folder) if holder is None else None
        _HOLDERS[key] = thread
    try:
        if holder is None:
            _remove_rests(folder)
        yield
    finally:
        if holder is None:
            with _CHANGE:
                del _HOLDERS[key]
                if descriptor is not None:
                    os.close(descriptor)  # this ends the lock


def _remove_rests(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for place in (folder, *filter(Path.is_dir, folder.iterdir())):
            remove_temporary_files(place)


def _lock(folder: Path) -> int | None:
    """Return an open file that holds the lock; None if the file system has no locks."""
    try:
        if sys.platform == "win32":
            descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT)
        else:
            descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in _IS_HELD:
            raise _make_error(folder) from None
        return None
    return descriptor


def _make_error(folder: Path) -> FileError:
    return FileError(
        f"Another command is writing to {str(folder)!r}. Wait until it has ended, or give another "
        "folder."
    )
