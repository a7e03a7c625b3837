"""Processes that a command started, and whether they end with it."""

import os
import select
import signal
import threading
import time
from pathlib import Path
from typing import NamedTuple

from helpers.forked import ForkedProcess

TESTS = Path(__file__).parents[1]
LONGEST = 120.0  # seconds, for a command that prints nothing
SECONDS = 60.0  # in which all processes must have ended; it takes a fraction of one

# Prints all progress at once; a shell may have started the tests with signals that are ignored.
LINE_BY_LINE = """
import signal
for name in ("SIGINT", "SIGTERM", "SIGHUP"):
    is_int = name == "SIGINT"
    signal.signal(getattr(signal, name), signal.default_int_handler if is_int else signal.SIG_DFL)
import coevo.cli, coevo.progress.displays
coevo.progress.displays.SECONDS_BETWEEN_LINES = 0.0
coevo.cli.main()
"""


class Signalled(NamedTuple):
    """The end of a command after a signal."""

    code: int
    out: str
    err: list[str]  # what it printed after the signal
    left: list[int]  # processes that it had started and that did not end


def list_descendants(pid):
    """Return the processes that a process started, and those that they started."""
    children = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:  # it has ended
            continue
        children.setdefault(int(rest.split()[1]), []).append(int(name.split()[0]))
    found, waiting = [], [pid]
    while waiting:
        waiting.extend(new := children.get(waiting.pop(), []))
        found.extend(new)
    return found


def wait_for_workers(pid, n_workers):
    """Return all processes that a process started, once so many of them are workers."""
    deadline = time.monotonic() + LONGEST
    while True:
        found = list_descendants(pid)
        n_found = sum(map(_is_worker, found))
        if n_found == n_workers:
            return found
        assert time.monotonic() < deadline, f"{n_found} workers instead of {n_workers}"
        time.sleep(0.01)


def _is_worker(pid):
    """Return whether a process was spawned by multiprocessing, and has not ended."""
    try:
        return b"--multiprocessing-fork" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return False


def open_processes(pids):
    """Return a file descriptor for each process that runs, readable once it has ended."""
    opened = {}
    for pid in pids:
        try:
            opened[os.pidfd_open(pid)] = pid
        except ProcessLookupError:
            continue
    return opened


def wait_until_ended(opened, seconds=SECONDS):
    """Return the processes that still run after some seconds, and kill them."""
    left, deadline = dict(opened), time.monotonic() + seconds
    poll = select.poll()
    for file in left:
        poll.register(file, select.POLLIN)
    while left and time.monotonic() < deadline:
        for file, _ in poll.poll(1000 * max(0.0, deadline - time.monotonic())):
            poll.unregister(file)
            del left[file]
    for pid in left.values():
        os.kill(pid, signal.SIGKILL)
    for file in opened:
        os.close(file)
    return sorted(left.values())


def read_until(process, is_it):
    """Read lines of stderr up to one that is it; kill a command that never prints it."""
    guard = threading.Timer(LONGEST, process.kill)
    guard.start()
    try:
        for line in process.stderr:
            if is_it(line):
                return line
    finally:
        guard.cancel()
    return ""


def signalled_command(*arguments, cwd, number, at, n_workers=0, to_group=False, code=LINE_BY_LINE):
    """Send a signal to a command when it has printed a line that starts with `at`.

    The command must have so many workers then: one may have ended before the next is started.
    """
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]  # the helpers
    env = {"PYTHONPATH": os.pathsep.join(paths)}
    with ForkedProcess(code, *arguments, cwd=cwd, env=env) as process:
        assert read_until(process, lambda line: line.startswith(at)), "the line never came"
        started = open_processes(wait_for_workers(process.pid, n_workers))
        (os.killpg if to_group else os.kill)(process.pid, number)
        guard = threading.Timer(LONGEST, process.kill)
        guard.start()
        process.wait()
        left = wait_until_ended(started)
        out, err = process.stdout.read(), process.stderr.readlines()
        guard.cancel()
    return Signalled(process.returncode, out, err, left)
