"""The files of compiled kernels: private, with a digest each, and never needed.

Machine code and its description are stored as numba writes them, that is, pickled. Whoever can
write such a file can run code here. So an entry is read only from a folder that belongs to this
user or to root and that nobody else can write to. New folders have the mode 700, or 755 if
``COEVO_CACHE_DIR`` names them, so that an image can be made by root and used by others.

Each entry starts with a digest of its name and content. An entry that a crash or a full disk has
damaged is the same as none: the kernel is compiled and stored again. If it cannot be stored, a
warning says so once, and nothing else changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

from coevo.errors import warn_caller

__all__ = ["KernelFiles", "find_fault", "has_warned", "make_folder", "warn_once"]

WORKER_MARK = "COEVO_IS_WORKER"  # `coevo.parallel.signals` sets it in worker processes
_DIGEST_BYTES = 32
_O_BINARY = getattr(os, "O_BINARY", 0)  # of Windows
_AGAIN = "Each start compiles its kernels again."


class _State:
    """Whether this process has warned about the cache."""

    has_warned = False


def has_warned() -> bool:
    """Return whether this process could not store a kernel, or could not trust the folder."""
    return _State.has_warned


def warn_once(message: str) -> None:
    """Warn about the cache, unless this process did so before, or the one that it works for."""
    if not _State.has_warned:
        _State.has_warned = True
        if WORKER_MARK not in os.environ:
            warn_caller(message)


def make_folder(folder: Path) -> None:
    """Make the folder of the cache, so that only this user can write to it."""
    mode = 0o755 if os.environ.get("COEVO_CACHE_DIR") else 0o700
    folder.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=mode)
        folder.chmod(mode)  # whatever the umask is


def find_fault(folder: Path) -> str:
    """Return why the entries of a folder cannot be trusted; an empty text if they can."""
    return _find_fault(folder.stat())


def _find_fault(found: os.stat_result) -> str:
    if not hasattr(os, "geteuid"):  # Windows: the folder is below the home of the user
        return ""
    if found.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    return "other users can write to it" if stat.S_IMODE(found.st_mode) & 0o022 else ""


class KernelFiles:
    """The stored forms of one kernel, a file each. It has the interface that numba calls."""

    def __init__(self, folder: Path, base: str) -> None:
        self._folder, self._base = folder, base

    def load(self, key: Any) -> Any:
        """Return what is stored for a key, or None."""
        name = self._make_name(key)
        content = b""
        with contextlib.suppress(OSError), self._open_folder() as (place, fault):
            if fault:
                warn_once(
                    f"Compiled kernels in {str(self._folder)!r} are not used, because {fault}. "
                    f"{_AGAIN} Set COEVO_CACHE_DIR to a folder of your own."
                )
                return None
            path = self._find_path(name, place)
            with open(os.open(path, os.O_RDONLY | _O_BINARY, dir_fd=place), "rb") as file:
                content = file.read()
        entry = content[_DIGEST_BYTES:]
        is_intact = content[:_DIGEST_BYTES] == _compute_digest(name, entry)
        return pickle.loads(entry) if is_intact else None

    def save(self, key: Any, data: Any) -> None:
        """Store what a key stands for; warn if that fails."""
        name = self._make_name(key)
        try:
            make_folder(self._folder)
            with self._open_folder() as (place, fault):
                if not fault:  # `load` has warned of a fault
                    self._write(name, dumps(data), place)
        except OSError as error:
            warn_once(
                f"Compiled kernels cannot be stored in {str(self._folder)!r} "
                f"({error.strerror or error}). {_AGAIN} Free some space, or set COEVO_CACHE_DIR "
                "to a folder that is writable."
            )

    def flush(self) -> None:
        """Do nothing: a damaged entry is never read."""

    def _write(self, name: str, entry: bytes, place: int | None) -> None:
        path = self._find_path(name, place)
        temporary = f"{path}.{secrets.token_hex(8)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _O_BINARY
        descriptor = os.open(temporary, flags, 0o644, dir_fd=place)
        try:
            with open(descriptor, "wb") as file:
                file.write(_compute_digest(name, entry) + entry)
            os.replace(temporary, path, src_dir_fd=place, dst_dir_fd=place)
        except BaseException:
            os.unlink(temporary, dir_fd=place)
            raise

    def _make_name(self, key: Any) -> str:
        return f"{self._base}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def _find_path(self, name: str, place: int | None) -> str:
        return str(self._folder / name) if place is None else name

    @contextlib.contextmanager
    def _open_folder(self) -> Iterator[tuple[int | None, str]]:
        """Yield the open folder, where a system has such a thing, and why it cannot be trusted.

        Entries are opened relative to it. So nobody can replace the folder after the check.
        """
        if os.open not in os.supports_dir_fd:
            yield None, ""
            return
        place = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield place, _find_fault(os.fstat(place))
        finally:
            os.close(place)


def _compute_digest(name: str, entry: bytes) -> bytes:
    """Return the digest of an entry. It depends on the name: nobody can swap two entries."""
    return hashlib.sha256(name.encode() + b"\0" + entry).digest()
