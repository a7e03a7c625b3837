"""The run folder of a command: no other command writes to it until this one has ended."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

__all__ = ["hold_folder"]


def hold_folder(output: str | None, writes: Iterable[str]) -> None:
    """Lock a run folder until the command ends; see `lock_run_folder`."""
    if output is not None:
        from coevo.files.run_folder import lock_run_folder

        click.get_current_context().with_resource(lock_run_folder(Path(output), writes))
