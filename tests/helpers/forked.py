"""Processes in a few milliseconds, forked from one that has imported coevo.

An interpreter that imports coevo and its libraries takes most of the time of a test that starts
processes. The fork server has one thread, runs no search and
is asked for nothing but new processes, so each of them is as good as a new interpreter. Tests of
what differs keep real ones: hash seeds, terminals, imports, the start itself. Each process leads a
session of its own and has the environment and the folder that it is given.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from unittest import mock

TESTS = Path(__file__).resolve().parents[1]


class _Process(ForkServerProcess):
    """A process with the environment of the moment at which it is made, as a spawned one has it."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.environment = dict(os.environ)

    def start(self):
        _ensure_running()
        super().start()

    def run(self):
        os.environ.clear()
        os.environ.update(self.environment)
        super().run()


class _Context(ForkServerContext):
    Process = _Process


CONTEXT = _Context()


def _has_ended(pid):
    """Return whether a child has ended, and leave it to be waited for."""
    if not hasattr(os, "waitid"):  # macOS
        return False
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _ensure_running():
    """Start the server, where it can import `helpers`; again if it has ended.

    It ends with an error if a process that asks for a new one is killed while it asks.
    """
    pid = forkserver._forkserver._forkserver_pid
    if pid is not None and not _has_ended(pid):
        return
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(TESTS), before]))
    try:
        forkserver.set_forkserver_preload(["helpers.preloaded"])
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextlib.contextmanager
def instead_of_spawned():
    """Fork the processes that would be spawned in the ``with`` block."""
    really = multiprocessing.get_context

    def get_context(method=None):
        return CONTEXT if method == "spawn" else really(method)

    with mock.patch.object(multiprocessing, "get_context", get_context):
        yield


class ForkedProcess:
    """A process that runs code with arguments, as `subprocess.Popen` with ``python -c`` does."""

    def __init__(self, code, *arguments, cwd=".", env=None):
        out, out_end = CONTEXT.Pipe(duplex=False)
        err, err_end = CONTEXT.Pipe(duplex=False)
        self._process = CONTEXT.Process(
            target=_run,
            args=(code, [str(argument) for argument in arguments], str(cwd)),
            kwargs={"out": out_end, "err": err_end},
        )
        self._process.environment |= env or {}
        self._process.start()
        out_end.close()
        err_end.close()
        self.stdout, self.stderr = (
            os.fdopen(os.dup(end.fileno()), encoding="utf-8") for end in (out, err)
        )
        out.close()
        err.close()

    @property
    def pid(self):
        return self._process.pid

    @property
    def returncode(self):
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self._process.kill()

    def wait(self, timeout=None):
        self._process.join(timeout)
        assert self._process.exitcode is not None, "The process does not end."
        return self._process.exitcode

    def communicate(self, timeout=None):
        """Return all output; kill a process that takes longer than `timeout` seconds."""
        guard = threading.Timer(timeout, self.kill) if timeout else None
        found = []
        reader = threading.Thread(target=lambda: found.append(self.stderr.read()))
        reader.start()
        if guard:
            guard.start()
        out = self.stdout.read()
        reader.join()
        if guard:
            guard.cancel()
        self.wait()
        return out, found[0]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stdout.close()
        self.stderr.close()
        self.wait()


def _run(code, arguments, folder, out, err):
    """Run code in the new process."""
    os.setsid()  # as the leader of a session, like a command of a shell
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the server may have started with others
    for end, number in ((out, 1), (err, 2)):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    os.chdir(folder)
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
