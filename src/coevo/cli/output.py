"""How commands print: answers on stdout; progress, warnings and notices on stderr."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from coevo.errors import CoevoWarning, format_count

if TYPE_CHECKING:
    from rich.console import Console

    from coevo.progress import ProgressCallback

__all__ = [
    "announce_interrupt",
    "escape_controls",
    "format_audit",
    "format_columns",
    "format_confusion",
    "format_decision",
    "format_decisions",
    "format_metrics",
    "format_states",
    "get_terminal",
    "open_console",
    "print_json",
    "protect_output",
    "show_run_progress",
    "show_status",
    "show_warnings",
]


# What reaches a terminal: text without control characters from names and cells.
#
# A column may be called ``\x1b[2J``, which clears a screen, or hold characters that reverse the
# text around them. On a terminal they are printed as escapes. A file or a pipe gets the text
# unchanged.
#
# A file name that is not UTF-8 has lone surrogates, which no encoding can hold. They are printed
# as escapes everywhere, as JSON writes them.


# Control characters without tab and line end; marks that change the direction of text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_HANDLER = "coevo.escape_surrogates"


def escape_controls(text: str) -> str:
    r"""Return a text with escapes for characters that control a terminal.

    >>> print(escape_controls("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def _escape_surrogates(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace lone surrogates; raise the error for all other characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    if not "\ud800" <= error.object[error.start] <= "\udfff":
        raise error
    return ascii(error.object[error.start])[1:-1], error.start + 1


codecs.register_error(_HANDLER, _escape_surrogates)


class _Terminal:
    """A stream that escapes control characters; all else is that of the stream inside."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> Any:
        return self.stream.write(escape_controls(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def get_terminal(stream: Any) -> Any:
    """Return the stream inside a protected one, for a writer that escapes names itself."""
    return stream.stream if isinstance(stream, _Terminal) else stream


@contextlib.contextmanager
def protect_output() -> Iterator[None]:
    """Protect the two output streams inside the ``with`` block."""
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure") and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors=_HANDLER)
    sys.stdout, sys.stderr = protected = tuple(map(_protect, before))
    try:
        yield
    finally:
        # click replaces the streams where the reader closed the pipe: leave them as they are
        if (sys.stdout, sys.stderr) == protected:
            sys.stdout, sys.stderr = before


def _protect(stream: Any) -> Any:
    is_terminal = stream is not None and hasattr(stream, "isatty") and stream.isatty()
    return _Terminal(stream) if is_terminal else stream


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


# The lines that commands print about columns: their types, and what the audit found.


SHOWN = 10  # columns or findings that are printed before the rest is only counted


def format_columns(columns: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the number of columns of each type, and all cut points."""
    kinds = [column["type"] for column in columns.values()]
    words = {"categorical": "categorical", "continuous": "continuous", "ignore": "ignored"}
    words |= {kind: "replaced" for kind in kinds if kind not in words}
    numbers = {word: sum(words[kind] == word for kind in kinds) for word in words.values()}
    counts = [f"{number:,} {word}" for word, number in numbers.items() if number]
    yield f"columns     {', '.join(counts)}"
    lines = []
    for name, column in columns.items():
        if column["type"] == "continuous":
            points = ", ".join(f"{point:zg}" for point in column["cuts"])
            method = f" ({column['method']})" if "method" in column else ""
            text = f"cut points {points}{method}" if points else "no cut point"
            lines.append(f"  {name}: {text}")
        elif column.get("holds", "").endswith("numbers"):
            lines.append(f"  {name}: {len(column['states'])} {column['holds']} as states")
    yield from _truncate(lines)


def format_audit(findings: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the findings of the audit, one per line."""
    if findings:
        yield f"audit       {format_count(len(findings), 'finding')}"
        yield from _truncate([f"  {finding['sentence']}" for finding in findings])


def format_decisions(decisions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what was decided about the table, one per line, with the option that undoes it.

    The line about missing values is left out: `format_missing` prints it.
    """
    listed = [decision for decision in decisions if decision["kind"] != "missing"]
    if listed:
        yield f"decisions   {len(listed):,}"
        yield from _truncate([f"  {format_decision(decision)}" for decision in listed])


def format_decision(decision: dict[str, Any]) -> str:
    """Return a decision, with its undo as an option of the command."""
    _, found, option = decision["undo"].partition(", or --")
    undo = f"--{option}" if found else decision["undo"]
    return f"{decision['sentence']} Undo: {undo}"


def _truncate(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN:,} more, all in run.json and --format json"


# How commands print the quality of a prediction.


def format_metrics(metrics: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the measures of a prediction."""
    confusion, loss = metrics["confusion"], metrics["log_loss"]
    n_correct = sum(row[i] for i, row in enumerate(confusion))
    rows = format_count(metrics["n_rows"], "row")
    yield f"accuracy    {metrics['accuracy']:.6f}  ({n_correct:,} of {rows})"
    yield f"log loss    {'inf' if loss is None else f'{loss:z.6f}'}  (lower is better)"
    yield f"Brier       {metrics['brier']:.6f}  (lower is better)"
    if metrics["auc"] is not None:
        mean = "" if len(confusion) == 2 else "  (mean over the states)"
        yield f"AUC         {metrics['auc']:.6f}{mean}"


def format_confusion(states: Sequence[str], confusion: Sequence[Sequence[int]]) -> Iterator[str]:
    """Yield the confusion matrix: a row for each true state, a column for each predicted one."""
    if len(states) > SHOWN:
        yield f"confusion   {len(states):,} states; see --format json"
        return
    from coevo.data.summary import shorten_states

    yield "confusion   rows: true states; columns: predicted states"
    shown = [*shorten_states(tuple(states)).values()]
    cells = [["", *shown]]
    cells += [
        [state, *map("{:,}".format, row)] for state, row in zip(shown, confusion, strict=True)
    ]
    first, *widths = (max(map(len, column)) for column in zip(*cells, strict=True))
    for name, *others in cells:
        padded = (cell.rjust(width) for cell, width in zip(others, widths, strict=True))
        yield f"  {name.ljust(first)}  {'  '.join(padded)}".rstrip()


def format_states(metrics: dict[str, Any]) -> Iterator[str]:
    """Yield sensitivity, specificity and AUC of each state, and the calibration error."""
    yield f"calibration {metrics['calibration_error']:.6f}  (mean error of a probability)"
    if len(metrics["per_state"]) > SHOWN:
        yield f"states      {len(metrics['per_state']):,} states; see --format json"
        return
    from coevo.data.summary import shorten_states

    shown = shorten_states(tuple(metrics["per_state"]))
    yield "states      sensitivity  specificity       AUC     rows"
    for state, one in metrics["per_state"].items():
        numbers = [one["sensitivity"], one["specificity"], one["auc"]]
        cells = ["-" if number is None else f"{number:.4f}" for number in numbers]
        measures = f"{cells[0]:>11}  {cells[1]:>11}  {cells[2]:>8}"
        yield f"            {measures} {one['n_rows']:>8,}  {shown[state]}"
