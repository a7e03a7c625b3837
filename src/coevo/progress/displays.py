"""Where progress is shown: a terminal, a stream, a notebook, or nowhere.

Progress on a stream: redrawn lines on a terminal, else a plain line every few seconds.
"""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from coevo.errors import bad_parameter
from coevo.progress.search_progress import SearchProgress

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = [
    "PeriodicLines",
    "ProgressCallback",
    "ProgressMessage",
    "RunsDisplay",
    "SearchDisplay",
    "can_redraw_lines",
    "check_progress",
    "show_on_console",
    "show_progress",
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

    with SearchDisplay(console, message) as display:
        yield display.show


@contextlib.contextmanager
def show_runs_on_console(console: Console, unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show the progress of many runs on a console: a bar on a terminal, lines elsewhere.

    Yields a function to call after each run, with the number of runs done, the number of all runs
    and a message. `unit` is the plural of what is counted, such as ``"runs"``.
    """
    if can_redraw_lines(console):
        with RunsDisplay(console, unit) as display:
            yield display.show
        return
    lines = PeriodicLines()

    def show(done: int, total: int, message: str) -> None:
        lines.show(f"{done:,} of {total:,} {unit}: {message}", at_once=done == total)

    yield show


# The redrawn lines of a terminal, on top of `rich.progress`.
#
# `SearchDisplay` shows one search. Before the search there is one line: a spinner and a message.
# During the search there is a spinner, a bar with the used fraction of the limits and the
# remaining time, and below them the text of `SearchProgress`. `RunsDisplay` shows a bar over many
# runs. rich redraws the lines about ten times a second, shrinks the bar and wraps the text on a
# narrow terminal, and honours ``NO_COLOR``.


BAR_WIDTH = 20  # characters; fewer on a narrow terminal


class SearchDisplay(Progress):
    """The progress of one search on a terminal.

    Use it in a ``with`` statement; its lines disappear at the end.
    """

    def __init__(self, console: Console, message: ProgressMessage) -> None:
        spinner = SpinnerColumn()
        one_line = Column(ratio=1, no_wrap=True, overflow="ellipsis")
        self._message_columns = (
            spinner,
            TextColumn("{task.description}", markup=False, table_column=one_line),
        )
        self._search_columns = (
            spinner,
            BarColumn(BAR_WIDTH),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        self._message = message
        super().__init__(*self._message_columns, console=console, transient=True)
        self.add_task("", total=None)

    def show(self, message: ProgressMessage, at_once: bool = False) -> None:
        """Show a message in place of the last one, at the next redraw."""
        self._message = message

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the lines to draw; rich calls this for each redraw."""
        message = self._message
        self.expand = isinstance(message, str)  # limits the message to the terminal's width
        if isinstance(message, str):
            self.columns = self._message_columns
            for task in self.tasks:
                self.update(task.id, description=message)
            yield from super().get_renderables()
            return
        self.columns = self._search_columns
        fraction = message.fraction
        for task in self.tasks:
            if fraction is not None:
                self.update(task.id, total=1.0, completed=fraction)
        yield from super().get_renderables()
        yield Padding(Text(str(message)), (0, 0, 0, 2))


class RunsDisplay(Progress):
    """The progress of many runs on a terminal: a bar, counts, the remaining time and a message.

    Use it in a ``with`` statement.

    Parameters
    ----------
    console : Console
        The terminal.
    unit : str
        The plural of what is counted, such as ``"runs"``.
    """

    def __init__(self, console: Console, unit: str) -> None:
        super().__init__(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(unit),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=console,
        )
        self._task = self.add_task("starting", total=None)

    def show(self, done: int, total: int, message: str) -> None:
        """Show the number of runs done, the number of all runs, and a message."""
        self.update(self._task, completed=done, total=total, description=message)


# Progress for callers from Python: in a notebook, on a terminal, or none.
#
# A notebook shows one line, which is replaced through IPython's ``display_id``. (rich would need
# ipywidgets for that.) In a notebook, IPython is already imported.


SECONDS_BETWEEN_UPDATES = 0.1  # of the line in a notebook


def check_progress(progress: bool | None, owner: str) -> None:
    """Raise `ParameterError` unless `progress` is True, False or None.

    >>> check_progress("yes", "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'progress' of learn must be True, False or None; got 'yes'.
    """
    if progress is not None and not isinstance(progress, bool):
        raise bad_parameter("progress", owner, "True, False or None", progress)


@contextlib.contextmanager
def show_progress(progress: bool | None, message: str) -> Iterator[ProgressCallback]:
    """Show progress; yield the function that shows the next message. The last message remains.

    Parameters
    ----------
    progress : bool or None
        Whether to show anything. None shows it in notebooks only.
    message : str
        The first message.
    """
    display = _find_notebook_display()
    if progress is False or (progress is None and display is None):
        yield _show_nothing
        return
    place = _show_on_stderr(message) if display is None else _show_in_notebook(display, message)
    with place as show:
        yield show


def _show_nothing(message: ProgressMessage, at_once: bool = False) -> None:
    """Show nothing."""


@contextlib.contextmanager
def _show_on_stderr(message: str) -> Iterator[ProgressCallback]:
    """Show progress on stderr; print the last state of the search at the end."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    last: ProgressMessage = ""

    def remember_and_show(message: ProgressMessage, at_once: bool = False) -> None:
        nonlocal last
        last = message
        show(message, at_once)

    try:
        with show_on_console(console, message) as show:
            yield remember_and_show
    finally:
        if isinstance(last, SearchProgress):
            PeriodicLines.from_console(console).show(last, at_once=True)


@contextlib.contextmanager
def _show_in_notebook(display: Any, message: str) -> Iterator[ProgressCallback]:
    """Show progress as one line of a notebook's output, which is replaced."""
    handle = display(_as_display_data(message), raw=True, display_id=True)
    last: ProgressMessage = message
    shown_at = time.monotonic()

    def show(message: ProgressMessage, at_once: bool = False) -> None:
        nonlocal shown_at, last
        last = message
        if at_once or time.monotonic() - shown_at >= SECONDS_BETWEEN_UPDATES:
            shown_at = time.monotonic()
            handle.update(_as_display_data(message), raw=True)

    try:
        yield show
    finally:
        show(last, at_once=True)


def _as_display_data(message: ProgressMessage) -> dict[str, str]:
    """Return a message as IPython takes it: one line, which the browser wraps."""
    fraction = None if isinstance(message, str) else message.fraction
    percentage = "" if fraction is None else f"{int(100 * fraction)} %: "
    return {"text/plain": f"{percentage}{message}"}


def _find_notebook_display() -> Any:
    """Return IPython's ``display`` if this is a notebook, else None."""
    if "IPython" not in sys.modules:
        return None
    shell = import_module("IPython").get_ipython()
    if getattr(shell, "kernel", None) is None:  # an IPython in a terminal has none
        return None
    return import_module("IPython.display").display
