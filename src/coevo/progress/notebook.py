"""Progress for who calls from Python: a notebook, a terminal, or neither.

A notebook shows one line, which is replaced through IPython's ``display_id``. (rich would
need ipywidgets for that.) Where there is a notebook, IPython has been imported already.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from coevo.errors import bad_parameter
from coevo.jit import announce_compilation
from coevo.progress.search_progress import SearchProgress
from coevo.progress.terminal import COMPILING, News, Say, lines_on, on_console

__all__ = ["check_progress", "shown"]

SECONDS_A_CHANGE = 0.1  # between two changes of the line in a notebook


def check_progress(progress: bool | None, owner: str) -> None:
    """Raise `ParameterError` unless progress is asked for in one of the three ways.

    >>> check_progress("yes", "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'progress' of learn must be True, False or None; got 'yes'.
    """
    if progress is not None and not isinstance(progress, bool):
        raise bad_parameter("progress", owner, "True, False or None", progress)


@contextlib.contextmanager
def shown(progress: bool | None, doing: str) -> Iterator[Say]:
    """Yield a function that shows what is new; what was said last stays to be read.

    `progress` is whether to show anything; None means in notebooks only.
    """
    display = _notebook()
    if progress is False or (progress is None and display is None):
        yield _silent
        return
    place = _on_stderr(doing) if display is None else _in_notebook(display, doing)
    with place as say, announce_compilation(lambda: say(COMPILING, at_once=True)):
        yield say


def _silent(news: News, at_once: bool = False) -> None:
    """Show nothing."""


@contextlib.contextmanager
def _on_stderr(doing: str) -> Iterator[Say]:
    """Show progress on a terminal, or as lines; print how the search stood at its end."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    last: News = ""

    def noted(news: News, at_once: bool = False) -> None:
        nonlocal last
        last = news
        say(news, at_once)

    try:
        with on_console(console, doing) as say:
            yield noted
    finally:
        if isinstance(last, SearchProgress):
            lines_on(console).say(last, at_once=True)


@contextlib.contextmanager
def _in_notebook(display: Any, doing: str) -> Iterator[Say]:
    """Show progress as a line of a notebook's output that is replaced."""
    handle = display(_bundle(doing), raw=True, display_id=True)
    last: News = doing
    shown_at = time.monotonic()

    def say(news: News, at_once: bool = False) -> None:
        nonlocal shown_at, last
        last = news
        if at_once or time.monotonic() - shown_at >= SECONDS_A_CHANGE:
            shown_at = time.monotonic()
            handle.update(_bundle(news), raw=True)

    try:
        yield say
    finally:
        say(last, at_once=True)


def _bundle(news: News) -> dict[str, str]:
    """Return news as IPython takes it: one line, since the browser knows how wide it is."""
    text = news if isinstance(news, str) else " ".join(news.lines(sys.maxsize))
    return {"text/plain": text}


def _notebook() -> Any:
    """Return IPython's ``display`` if this is a notebook, else None."""
    if "IPython" not in sys.modules:
        return None
    shell = import_module("IPython").get_ipython()
    if getattr(shell, "kernel", None) is None:  # an IPython in a terminal has none
        return None
    return import_module("IPython.display").display
