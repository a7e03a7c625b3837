"""Lock a run folder: two commands never write to one folder at the same time.

The lock is one of the operating system, on the folder itself. So it leaves no file, and it ends
with its process, however that ends: a killed command never blocks the next one. On Windows, where a
folder cannot be locked, it is a lock on a file of the folder. Where a file system has no locks,
there is none.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from coevo.errors import FileError
from coevo.files import remove_temporary_files
from coevo.run_files import make_run_folder, refuse_foreign_files

__all__ = ["lock_run_folder"]

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
