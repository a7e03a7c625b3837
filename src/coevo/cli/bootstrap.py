"""What the commands that do bootstraps share: their progress, and how they are interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from coevo.cli.progress import runs_progress

if TYPE_CHECKING:
    from coevo.bootstrap import BootstrapResult, BootstrapRun

__all__ = ["bootstraps_progress", "said_of_interrupt"]


@contextlib.contextmanager
def bootstraps_progress() -> Iterator[Callable[[BootstrapRun, int, int], None]]:
    """Yield a function to call after each bootstrap, as `coevo.strength` does."""
    with runs_progress("networks") as tell:

        def told(run: BootstrapRun, done: int, total: int) -> None:
            name = f"bootstrap {run.bootstrap:,}" if run.bootstrap else "the whole table"
            tell(done, total, f"{name}, score {run.score:,.1f}, {len(run.arcs):,} arcs")

        yield told


def said_of_interrupt(result: BootstrapResult, output: str | None, what: str) -> str:
    """Return what is said after Ctrl-C: on how many bootstraps something rests."""
    done, asked = result.n_bootstraps, result.n_asked
    rests = f"Interrupted; {what} on {done:,} of {asked:,} bootstraps."
    return rests if output is None else f"{rests} The same command goes on."
