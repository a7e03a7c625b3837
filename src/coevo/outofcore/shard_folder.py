"""A folder for the shards of one process, that not even a killed one leaves behind for good.

Its owner holds a lock in it for as long as it lives, however it ends. Whoever opens such a
folder next removes those beside it whose lock nobody holds any more.
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

__all__ = ["shard_folder"]

PREFIX = "coevo-shards-"
LOCK = "owner.lock"


@contextlib.contextmanager
def shard_folder(parent: str | Path | None = None) -> Iterator[Path]:
    """Yield a new folder, in `parent` or among the temporary ones, and remove it at the end."""
    where = Path(tempfile.gettempdir() if parent is None else parent)
    _remove_left(where)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=where) as name:
        own = Path(name)
        with (own / "new.lock").open("wb") as stream:
            _is_locked(stream)
            (own / "new.lock").rename(own / LOCK)  # nobody ever sees it without its lock
            yield own


def _remove_left(parent: Path) -> None:
    """Remove the folders of processes that are gone."""
    for folder in parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # of another user, or gone already
            with (folder / LOCK).open("rb+") as stream:
                is_left = _is_locked(stream)
            if is_left:
                shutil.rmtree(folder)


def _is_locked(stream: IO[bytes]) -> bool:
    """Lock a file, and return True, unless another process holds its lock."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
