"""Progress on a stream: redrawn lines on a terminal, else a plain line every few seconds."""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from coevo.progress.search_progress import SearchProgress

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "PeriodicLines",
    "ProgressCallback",
    "ProgressMessage",
    "can_redraw_lines",
    "show_on_console",
    "show_runs_on_console",
]

SECONDS_BETWEEN_LINES = 5.0  # where no line can be redrawn

ProgressMessage = str | SearchProgress


class ProgressCallback(Protocol):
    """A function that shows a message in place of the last one."""

    def __call__(self, message: ProgressMessage, at_once: bool = False) -> None:
        """Show a message. It may be skipped if the last one is recent, unless `at_once` is set."""


class PeriodicLines:
    """Progress on a stream without redrawing: at most one message every few seconds, on stderr.

    Parameters
    ----------
    width : int, optional
        The width of the terminal, at which the text about a search is wrapped. None if there is
        no terminal; then that text is one line.
    """

    def __init__(self, width: int | None = None) -> None:
        self._width = width
        self._last = time.monotonic()

    @classmethod
    def from_console(cls, console: Console) -> PeriodicLines:
        """Return lines that fit a console."""
        return cls(_get_terminal_width(console) if console.is_terminal else None)

    def show(self, message: ProgressMessage, at_once: bool = False) -> None:
        """Print a message, unless the last one is recent and `at_once` is not set."""
        if at_once or time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            text = str(message)
            if self._width is not None and isinstance(message, SearchProgress):
                text = textwrap.fill(text, self._width)
            print(text, file=sys.stderr)


def _get_terminal_width(console: Console) -> int:
    """Return the width of a terminal. rich does not read it for a dumb one."""
    try:
        return os.get_terminal_size(console.file.fileno()).columns or console.width
    except (OSError, ValueError):
        return console.width


def can_redraw_lines(console: Console) -> bool:
    """Return whether a console can overwrite its lines."""
    return console.is_terminal and not console.is_dumb_terminal


@contextlib.contextmanager
def show_on_console(console: Console, message: str) -> Iterator[ProgressCallback]:
    """Show progress on a console; yield the function that shows the next message.

    A terminal shows `message` at once and redraws its lines. Other consoles print a message every
    few seconds at most.
    """
    if not can_redraw_lines(console):
        yield PeriodicLines.from_console(console).show
        return
    from coevo.progress.live_display import SearchDisplay

    with SearchDisplay(console, message) as display:
        yield display.show


@contextlib.contextmanager
def show_runs_on_console(console: Console, unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show the progress of many runs on a console: a bar on a terminal, lines elsewhere.

    Yields a function to call after each run, with the number of runs done, the number of all runs
    and a message. `unit` is the plural of what is counted, such as ``"runs"``.
    """
    if can_redraw_lines(console):
        from coevo.progress.live_display import RunsDisplay

        with RunsDisplay(console, unit) as display:
            yield display.show
        return
    lines = PeriodicLines()

    def show(done: int, total: int, message: str) -> None:
        lines.show(f"{done:,} of {total:,} {unit}: {message}", at_once=done == total)

    yield show
