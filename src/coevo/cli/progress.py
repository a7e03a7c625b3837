"""Progress of work that consists of many runs: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from coevo.cli.common import SECONDS_A_LINE, plain_warnings

__all__ = ["runs_progress"]


@contextlib.contextmanager
def runs_progress(unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yield a function to call after each run with (done, total, what is new)."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from coevo.jit import announce_compilation

    console = Console(stderr=True, highlight=False)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    last = time.monotonic()

    def say() -> None:
        console.print("Compiling kernels for this machine; later runs will load them ...")

    with (
        plain_warnings(),
        announce_compilation(say),
        Progress(*columns, console=console, disable=not console.is_terminal) as bar,
    ):
        task = bar.add_task("starting", total=None)

        def tell(done: int, total: int, news: str) -> None:
            nonlocal last
            bar.update(task, completed=done, total=total, description=news)
            is_due = time.monotonic() - last >= SECONDS_A_LINE or done == total
            if not console.is_terminal and is_due:
                last = time.monotonic()
                print(f"{done:,} of {total:,} {unit}: {news}", file=sys.stderr)

        yield tell
