"""How commands print: answers on stdout; progress, warnings and notices on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from coevo.cli.safe_output import escape_controls, get_terminal
from coevo.errors import CoevoWarning

if TYPE_CHECKING:
    from rich.console import Console

    from coevo.progress import ProgressCallback

__all__ = [
    "announce_interrupt",
    "open_console",
    "print_json",
    "show_run_progress",
    "show_status",
    "show_warnings",
]


def print_json(answer: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print an answer as JSON."""
    from coevo.checks import as_plain

    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(answer, indent=2, ensure_ascii=not is_unicode, default=as_plain))


@contextlib.contextmanager
def show_status(message: str) -> Iterator[ProgressCallback]:
    """Show the status of a command on stderr; yield the function that changes it.

    On a terminal the status is redrawn in place. Elsewhere a new status is printed every few
    seconds at most.
    """
    from coevo.progress import PeriodicLines, show_on_console

    if not _may_be_terminal(sys.stderr):  # rich takes longer to import than many answers need
        with show_warnings():
            yield PeriodicLines().show
        return
    with open_console() as console, show_on_console(console, escape_controls(message)) as show:
        yield show


def _may_be_terminal(stream: Any) -> bool:
    """Return whether rich could call a stream a terminal."""
    asked = os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE")
    return bool(asked) or (stream is not None and stream.isatty())


@contextlib.contextmanager
def open_console() -> Iterator[Console]:
    """Yield a console on stderr; print warnings as lines."""
    from rich.console import Console

    console = Console(file=get_terminal(sys.stderr), stderr=True, highlight=False)
    with show_warnings():
        yield console


@contextlib.contextmanager
def show_warnings() -> Iterator[None]:
    """Print each warning as one line on stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = _print_warning
        warnings.simplefilter("always", CoevoWarning)
        yield


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    print(f"Warning: {escape_controls(str(message))}", file=sys.stderr)


@contextlib.contextmanager
def show_run_progress(unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show the progress of many runs: a bar on a terminal, lines elsewhere.

    Yields a function to call after each run, with the number of runs done, the number of all runs
    and a message.
    """
    from coevo.progress import show_runs_on_console

    with open_console() as console, show_runs_on_console(console, unit) as show:
        yield show


def announce_interrupt() -> None:
    """Confirm the first Ctrl-C; it may come while another line is printed."""
    line = "Stopping after the current runs ..."
    try:
        print(line, file=sys.stderr)
    except (RuntimeError, OSError):  # the stream is being written to at this moment, or is closed
        with contextlib.suppress(OSError):
            os.write(2, f"{line}\n".encode())
