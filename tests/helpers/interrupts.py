"""Ctrl-C in tests: in this process, where only the code under test may see it, and in a command."""

import contextlib
import os
import signal
import threading
from typing import NamedTuple

import pytest

from helpers.forked import ForkedProcess

# If the tests run in the background, a process inherits that Ctrl-C is ignored.
LINE_BY_LINE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import coevo.cli, coevo.progress.displays
coevo.progress.displays.SECONDS_BETWEEN_LINES = 0.0
coevo.cli.main()
"""
LONGEST = 120.0  # seconds, for a command that ignores Ctrl-C


@contextlib.contextmanager
def ctrl_c_works():
    """Handle SIGINT as a program in a terminal does; an unhandled one fails the test.

    Otherwise pytest-xdist ignores the signal, and plain pytest ends at it.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        pytest.fail("The interrupt was not handled.")
    finally:
        signal.signal(signal.SIGINT, before)


def press_ctrl_c(times=1):
    for _ in range(times):
        signal.raise_signal(signal.SIGINT)


def pressed_after(n_runs, work):
    """Return an experiment that presses Ctrl-C after `n_runs` runs."""

    def run_and_press(*arguments, on_run, **options):
        def press_after_run(record, done, total):
            on_run(record, done, total)
            if done == n_runs:
                press_ctrl_c()

        return work(*arguments, on_run=press_after_run, **options)

    return run_and_press


class Interrupted(NamedTuple):
    """The end of a command; `err` is what it printed after Ctrl-C, without progress."""

    code: int
    out: str
    err: list[str]


def interrupted_command(*arguments, cwd, at):
    """Run a command that prints all its progress; press Ctrl-C at a line that starts with `at`.

    As from a terminal, the signal goes to the command and to all processes it started.
    """
    with ForkedProcess(LINE_BY_LINE, *arguments, cwd=cwd) as process:
        guard = threading.Timer(LONGEST, process.kill)
        guard.start()
        try:
            for line in process.stderr:
                if line.startswith(at):
                    os.killpg(process.pid, signal.SIGINT)
                    break
            after = process.stderr.readlines()
            out = process.stdout.read()
        finally:
            guard.cancel()
    if process.returncode != 130:
        print("after Ctrl-C:", *after)  # shown by pytest if the test fails
    first_word = at.split()[0]
    return Interrupted(
        process.returncode, out, [line for line in after if not _is_progress(line, first_word)]
    )


def _is_progress(line, first_word):
    return line.startswith(first_word) or " runs: " in line
