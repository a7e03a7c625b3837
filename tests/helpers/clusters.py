"""Clusters of real processes for tests, on free ports of the loopback interface."""

import contextlib
import os
import signal
import sys
from pathlib import Path

from helpers.forked import ForkedProcess

TESTS = Path(__file__).parent
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
DASK = "from dask.__main__ import main; main()"  # python -m dask


class DaskCommands:
    """A scheduler and its workers, started by Dask's own commands."""

    def __init__(self, processes, *options):
        self._processes, self._options = processes, options
        self.scheduler, line = self._start("scheduler", "Scheduler at:", "--port", "0")
        self.address = line.split()[-1]

    def add_worker(self):
        options = ("--nthreads", "1", "--no-nanny", self.address)
        return self._start("worker", "Registered to:", *options)[0]

    def _start(self, what, ready, *options):
        """Start a command; return its process, and the line that reports that it is ready."""
        command = [what, "--host", "127.0.0.1", "--no-dashboard", *options, *self._options]
        process = self._processes.enter_context(ForkedProcess(DASK, *command, env=ENVIRONMENT))
        self._processes.callback(process.kill)
        for line in process.stderr:
            if ready in line:
                return process, line
        raise AssertionError(f"dask {what} did not start")


@contextlib.contextmanager
def dask_commands(*options):
    with contextlib.ExitStack() as processes:
        yield DaskCommands(processes, *options)


def kill(process):
    """Kill a process by signal, and wait for its end."""
    process.send_signal(signal.SIGKILL)
    process.wait()
