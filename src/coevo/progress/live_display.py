"""The redrawn lines of a terminal, on top of `rich.progress`.

`SearchDisplay` shows one search. Before the search there is one line: a spinner and a message.
During the search there is a spinner, a bar with the used fraction of the limits and the remaining
time, and below them the text of `SearchProgress`. `RunsDisplay` shows a bar over many runs. rich
redraws the lines about ten times a second, shrinks the bar and wraps the text on a narrow
terminal, and honours ``NO_COLOR``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from coevo.progress.terminal import ProgressMessage

__all__ = ["RunsDisplay", "SearchDisplay"]

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
