"""Where progress is shown on a stream: lines that move on a terminal, else a line now and then."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from coevo.progress.search_progress import SearchProgress

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

__all__ = ["COMPILING", "News", "OccasionalLines", "Say", "can_move", "lines_on", "on_console"]

COMPILING = "Compiling kernels for this machine; later runs will load them ..."
SECONDS_A_LINE = 5.0  # between two lines of progress where nothing can move

News = str | SearchProgress


class Say(Protocol):
    """Shows what is new, in place of what was new before."""

    def __call__(self, news: News, at_once: bool = False) -> None:
        """Show it; where that cannot be often, news that is not `at_once` may be left out."""


class OccasionalLines:
    """Progress where nothing can move: a line on stderr every few seconds at most.

    `width` is that of a terminal, where a search takes several lines rather than one that
    would be broken; None if there is no terminal.
    """

    def __init__(self, width: int | None = None, ascii_only: bool = False) -> None:
        self._width, self._ascii_only = width, ascii_only
        self._last = time.monotonic()

    def say(self, news: News, at_once: bool = False) -> None:
        """Print the news, if it is time to or if it cannot wait."""
        if at_once or time.monotonic() - self._last >= SECONDS_A_LINE:
            self._last = time.monotonic()
            if self._width is None or isinstance(news, str):
                print(news, file=sys.stderr)
            else:
                print(*news.lines(self._width, self._ascii_only), sep="\n", file=sys.stderr)


def lines_on(console: Console) -> OccasionalLines:
    """Return plain lines that fit a console."""
    is_plain = console.is_dumb_terminal or console.options.ascii_only
    return OccasionalLines(_width(console) if console.is_terminal else None, is_plain)


def _width(console: Console) -> int:
    """Return how wide a terminal is; for a dumb one, rich would not look."""
    try:
        return os.get_terminal_size(console.file.fileno()).columns or console.width
    except (OSError, ValueError):
        return console.width


def can_move(console: Console) -> bool:
    """Return whether lines of a console can be written over."""
    return console.is_terminal and not console.is_dumb_terminal


@contextlib.contextmanager
def on_console(console: Console, doing: str) -> Iterator[Say]:
    """Show what is being done, on a terminal; yield the function that says what is new.

    Elsewhere nothing moves; what is new is printed every few seconds at most.
    """
    if not can_move(console):
        yield lines_on(console).say
        return
    with console.status(_Renderable(doing)) as status:

        def say(news: News, at_once: bool = False) -> None:
            status.update(_Renderable(news))

        yield say


class _Renderable:
    """News for rich, which asks again many times a second: none of its lines is ever broken."""

    def __init__(self, news: News) -> None:
        self._news = news

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        news, width = self._news, options.max_width
        lines = [news] if isinstance(news, str) else news.lines(width, options.ascii_only)
        for line in lines:
            yield Text(line, no_wrap=True, overflow="ellipsis")
