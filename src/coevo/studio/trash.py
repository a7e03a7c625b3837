"""The trash of a workspace: what a user removed can be put back.

Each removed table, run or network is moved into a folder of its own below ``trash``, beside a small
file that says what it was. Nothing empties the trash but the user, who may delete the folder.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from coevo.errors import FileError, FormatError
from coevo.run_files import make_run_folder, write_json
from coevo.run_lock import lock_run_folder
from coevo.studio.workspace import KINDS, RUNS, InUseError, Workspace, check_name, read_object

__all__ = ["TRASH", "put_back", "throw_away"]

TRASH = "trash"
FACTS, CONTENT = "removed.json", "content"
_TOKEN = re.compile(r"[0-9a-f]{32}")


def throw_away(workspace: Workspace, kind: str, name: str) -> str | None:
    """Move something into the trash; return the token that puts it back.

    A path outside of the workspace is only forgotten, and has no token.
    """
    path = workspace.locate(kind, name)
    if not path.is_relative_to(workspace.root):
        workspace.remove(kind, name)
        return None
    token = uuid4().hex
    folder = workspace.root / TRASH / token
    make_run_folder(folder)
    write_json(folder / FACTS, {"kind": kind, "name": name})
    try:
        with _keep_commands_out(path) if kind == RUNS else contextlib.nullcontext():
            path.rename(folder / CONTENT)
    except (InUseError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, InUseError):
            raise
        raise FileError(f"{name!r} cannot be removed: {error.strerror}.") from None
    return token


@contextlib.contextmanager
def _keep_commands_out(folder: Path) -> Iterator[None]:
    """Hold the lock of a run folder; raise `InUseError` if a command is writing to it."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock_run_folder(folder))
        except FileError:
            raise InUseError(
                f"Another command is writing to the run {folder.name!r}. Wait until it has ended, "
                "or end it, then remove the run."
            ) from None
        yield


def put_back(workspace: Workspace, token: str) -> tuple[str, str]:
    """Move something out of the trash; return its kind and its name, which is a free one."""
    folder = workspace.root / TRASH / token
    if not _TOKEN.fullmatch(token) or not (folder / CONTENT).exists():
        raise FileError("There is no such thing in the trash any more.")
    facts = read_object(folder / FACTS)
    kind, name = facts.get("kind"), facts.get("name")
    if kind not in KINDS or not isinstance(name, str):
        raise FormatError(f"{str(folder / FACTS)!r} is damaged: it does not say what was removed.")
    free = workspace.find_free_name(kind, check_name(name))
    try:
        (folder / CONTENT).rename(workspace.root / kind / free)
    except OSError as error:
        raise FileError(f"{name!r} cannot be put back: {error.strerror}.") from None
    (folder / FACTS).unlink(missing_ok=True)
    folder.rmdir()
    return kind, free
