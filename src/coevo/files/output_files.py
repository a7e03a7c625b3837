"""Write files: completely or not at all, and never in place of a device or a link.

A regular file is written under a temporary name in its folder. When it is complete, it goes to the
disk (fsync) and gets its name. So no reader ever sees half a file, not even after a power cut. A
symbolic link stays, and the file that it points to is replaced. A device, a FIFO, ``/dev/stdout``
and ``/dev/fd/N`` cannot be replaced: they are written to directly.

A process locks its temporary files until they have their names. `remove_temporary_files` removes
those without a lock, so it removes what killed processes left, and nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from coevo.errors import FileError

try:
    import fcntl
except ImportError:  # Windows: a file that is open cannot be removed there
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "check_output_path",
    "make_folder_error",
    "remove_temporary_files",
    "replace_file",
    "sync_folder",
    "write_text",
]

_TEMPORARY_NAME = re.compile(r"\..+\.[0-9a-f]{8}\.tmp", flags=re.DOTALL)  # of `replace_file`
_MAX_NAME = 60  # characters of the name in a temporary name: at most 240 of 255 bytes
_DESCRIPTOR = re.compile(r"/(?:dev/fd|proc/self/fd)/([0-9]{1,9})")
_MAX_LINKS = 40  # the limit of Linux for links to links
# Some file systems have no fsync. They report one of these errors.
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)


def check_output_path(path: Path) -> None:
    """Raise `FileError` if a file with this path cannot be written."""
    if path.is_dir():
        raise make_folder_error(path)
    if _is_special(path):
        if not os.access(path, os.W_OK):
            raise FileError(f"{str(path)!r} cannot be written: it is write-protected.")
        return
    folder = _follow_links(path).parent
    if not folder.is_dir():
        raise _make_no_folder_error(path, folder)
    if not os.access(folder, os.W_OK):
        raise FileError(f"{str(path)!r} cannot be written: its folder is write-protected.")


@contextlib.contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing under a temporary name; rename it when the block ends.

    If the block raises, the temporary file is removed and an existing file stays as it was. What
    is not a regular file, such as a device, is written to directly.
    """
    with _open_special(path) if _is_special(path) else _replace(path) as stream:
        yield stream


def remove_temporary_files(folder: Path) -> None:
    """Remove the temporary files of processes that were killed inside `replace_file`."""
    for path in folder.glob(".*.tmp"):
        if _TEMPORARY_NAME.fullmatch(path.name):
            with contextlib.suppress(OSError), path.open("rb") as stream:
                if fcntl is not None:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    r"""Write a text as UTF-8. The file is complete, or it is not written.

    UTF-8 has no lone surrogates, which stand for the bytes of a file name that is not UTF-8. They
    become escapes such as ``\udcff``, as JSON writes them.
    """
    with replace_file(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder_error(path: Path) -> FileError:
    """Return the error for a folder in the place of a file."""
    return FileError(f"{str(path)!r} is a folder. Name a file in it.")


def _is_special(path: Path) -> bool:
    """Return whether a path is neither a regular file nor a folder nor free."""
    if _find_descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _find_descriptor(path: Path) -> int | None:
    """Return the open file that a path like ``/dev/stdout`` stands for, by its number, or None."""
    name = os.path.abspath(path)
    for _ in range(_MAX_LINKS):
        if match := _DESCRIPTOR.fullmatch(name):
            return int(match[1])
        try:
            target = os.readlink(name)
        except (OSError, ValueError):
            return None
        name = os.path.normpath(os.path.join(os.path.dirname(name), target))
    return None


def _follow_links(path: Path) -> Path:
    """Return the file that a symbolic link points to, which may not exist, or the path itself."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise _make_write_error(path, OSError(errno.ELOOP, os.strerror(errno.ELOOP)))
    return target


@contextlib.contextmanager
def _open_special(path: Path) -> Iterator[IO[bytes]]:
    try:
        number = _find_descriptor(path)
        with path.open("wb") if number is None else os.fdopen(os.dup(number), "wb") as stream:
            yield stream
    except (FileError, BrokenPipeError):  # nobody reads the pipe any more: `main` ends in silence
        raise
    except OSError as error:
        raise _make_write_error(path, error) from None


@contextlib.contextmanager
def _replace(path: Path) -> Iterator[IO[bytes]]:
    target = _follow_links(path)
    try:
        temporary, stream = _open_temporary(target)
    except FileNotFoundError:
        raise _make_no_folder_error(path, target.parent) from None
    except (OSError, ValueError) as error:
        raise _make_write_error(path, error) from None
    try:
        with stream:
            yield stream
            _sync(stream)
            if fcntl is not None:
                os.replace(temporary, target)  # while the file is locked
        if fcntl is None:
            os.replace(temporary, target)
        sync_folder(target.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise _make_write_error(path, error) from None
        raise


def _open_temporary(target: Path) -> tuple[Path, IO[bytes]]:
    """Make a temporary file beside the target, with the permissions of the target, and lock it."""
    while True:
        name = f".{target.name[:_MAX_NAME]}.{secrets.token_hex(4)}.tmp"
        temporary = target.with_name(name)
        stream = temporary.open("xb")
        with contextlib.suppress(OSError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        if fcntl is None:
            return temporary, stream
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(stream, fcntl.LOCK_EX)
        # Another process may have removed the file before it was locked.
        if os.fstat(stream.fileno()).st_nlink:
            return temporary, stream
        stream.close()


def _sync(stream: IO[bytes]) -> None:
    """Write what was written to a stream to the disk."""
    if stream.closed:
        return
    stream.flush()
    try:
        os.fsync(stream.fileno())
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def _make_no_folder_error(path: Path, folder: Path) -> FileError:
    return FileError(f"{str(path)!r} cannot be written: there is no folder {str(folder)!r}.")


def _make_write_error(path: Path, error: OSError | ValueError) -> FileError:
    reason = error.strerror if isinstance(error, OSError) else None
    return FileError(f"{str(path)!r} cannot be written: {reason or error}.")
