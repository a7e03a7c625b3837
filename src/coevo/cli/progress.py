"""Progress of work that consists of many runs: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from coevo.cli.common import narrated

__all__ = ["runs_progress"]


@contextlib.contextmanager
def runs_progress(unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yield a function to call after each run with (done, total, what is new)."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from coevo.progress import OccasionalLines, can_move

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with (
        narrated() as console,
        Progress(*columns, console=console, disable=not can_move(console)) as bar,
    ):
        task = bar.add_task("starting", total=None)
        lines = OccasionalLines()

        def tell(done: int, total: int, news: str) -> None:
            bar.update(task, completed=done, total=total, description=news)
            if not can_move(console):
                lines.say(f"{done:,} of {total:,} {unit}: {news}", at_once=done == total)

        yield tell
