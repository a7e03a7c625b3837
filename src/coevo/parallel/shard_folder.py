"""A folder for the shards of one process, which is removed even if the process is killed.

The process holds a lock in its folder until it ends, in whatever way. The next process that
opens a shard folder in the same place removes the folders whose lock no process holds.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: folders of killed processes stay
    fcntl = None  # type: ignore[assignment]

__all__ = ["open_shard_folder"]

PREFIX = "coevo-shards-"
LOCK = "owner.lock"


@contextlib.contextmanager
def open_shard_folder(parent: str | Path | None = None) -> Iterator[Path]:
    """Yield a new folder in `parent`, or in the temporary folder; remove it at the end."""
    place = Path(tempfile.gettempdir() if parent is None else parent)
    _remove_abandoned(place)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=place) as name:
        folder = Path(name)
        with (folder / "new.lock").open("wb") as stream:
            _try_lock(stream)
            (folder / "new.lock").rename(folder / LOCK)  # no process ever sees it unlocked
            yield folder


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that have ended."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # a folder of another user, or already removed
            with (folder / LOCK).open("rb+") as stream:
                is_abandoned = _try_lock(stream)
            if is_abandoned:
                shutil.rmtree(folder)


def _try_lock(stream: IO[bytes]) -> bool:
    """Lock a file; return whether that worked, that is, whether no other process holds it."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
