"""What ``coevo strength`` and ``coevo learn --bootstraps`` share: progress and interrupts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from coevo.cli.console import show_run_progress
from coevo.errors import format_count

if TYPE_CHECKING:
    from coevo.posteriors import BootstrapResult, BootstrapRun

__all__ = ["describe_interrupt", "show_bootstrap_progress"]


@contextlib.contextmanager
def show_bootstrap_progress() -> Iterator[Callable[[BootstrapRun, int, int], None]]:
    """Show a progress bar; yield a function to call after each run of a bootstrap."""
    with show_run_progress("networks") as show:

        def show_run(run: BootstrapRun, done: int, total: int) -> None:
            name = f"sample {run.bootstrap:,}" if run.bootstrap else "the original table"
            show(
                done,
                total,
                f"{name}, score {run.score:z,.1f}, {format_count(len(run.arcs), 'arc')}",
            )

        yield show_run


def describe_interrupt(result: BootstrapResult, output: str | None, subject: str) -> str:
    """Return the sentence after Ctrl-C: the number of samples that `subject` is based on."""
    done, asked = result.n_bootstraps, result.n_asked
    sentence = f"Interrupted. {subject} on {done:,} of {asked:,} bootstrap samples."
    return sentence if output is None else f"{sentence} Repeat the command to resume."
