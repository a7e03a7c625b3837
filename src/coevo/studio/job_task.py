"""The task of a job: the table and the options of its run, opened as ``coevo learn`` opens them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from coevo.learning import LearnTask, check_settings, open_task
from coevo.studio.worker import JobContext
from coevo.studio.workspace import StoredTable
from coevo.threads import count_usable_cores

__all__ = ["open_job_task"]


@contextlib.contextmanager
def open_job_task(
    context: JobContext, *, resume: bool, **more: Any
) -> Iterator[tuple[LearnTask, StoredTable]]:
    """Yield the task of the run and its table, on all cores; `more` are further options."""
    given = context.given
    table = context.workspace.open_table(given["table"])
    context.emit("status", text=f"Reading {table.name} ...")
    options = {**given["options"], "n_jobs": count_usable_cores(), **more}
    settings = check_settings("learn", "--max-parents", **options)
    path = table.path.relative_to(context.workspace.root)
    with open_task(
        settings,
        str(path),
        source=path.name,
        output=context.folder,
        resume=resume,
        command=given["command"],
    ) as task:
        yield task, table
