"""Progress for callers from Python: in a notebook, on a terminal, or none.

A notebook shows one line, which is replaced through IPython's ``display_id``. (rich would need
ipywidgets for that.) In a notebook, IPython is already imported.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from coevo.errors import bad_parameter
from coevo.progress.search_progress import SearchProgress
from coevo.progress.terminal import (
    PeriodicLines,
    ProgressCallback,
    ProgressMessage,
    show_on_console,
)

__all__ = ["check_progress", "show_progress"]

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
