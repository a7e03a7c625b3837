"""What the process of a job does: it reads ``job.json``, works, and appends events.

Its input is a pipe from the server. The line ``stop`` is a Ctrl-C: the work is saved. When the
pipe closes the server has ended, and so does this process. Its output tells the server, with an
empty line, that there are new events. A line that is not empty is an event for which the disk has
no space. Nothing else may write to it.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

from coevo.errors import CoevoError, describe_shortage, is_shortage
from coevo.interrupts import is_interrupt
from coevo.studio.events import EventLog
from coevo.studio.jobs import read_job
from coevo.studio.run_options import check_given
from coevo.studio.workspace import STUDIO_FILE, Workspace, read_object

__all__ = ["TASKS", "JobContext", "main"]

TASKS = {  # modules with ``run(context)``, by the kind of job
    "learn": "coevo.studio.learn_job",
    "confidence": "coevo.studio.confidence_job",
}


class JobContext:
    """What a task sees: the run folder, what was asked, and the log of events."""

    def __init__(self, folder: Path, ticks: int) -> None:
        self.folder, self._ticks = folder, ticks
        self.workspace = Workspace(Path.cwd())
        self.job = read_job(folder)
        self.options: dict[str, Any] = self.job.get("options", {})
        self.log = EventLog(folder)

    @property
    def given(self) -> dict[str, Any]:
        """The table and the options of the run, checked."""
        return check_given(read_object(self.folder / STUDIO_FILE), self.folder.name)

    def emit(self, kind: str, **content: Any) -> None:
        """Append an event, and tell the server."""
        line = memoryview(self.log.append(kind, {"job": self.job.get("kind"), **content}) or b"\n")
        with contextlib.suppress(OSError):
            while line:
                line = line[os.write(self._ticks, line) :]


def main() -> None:
    """Do the work of a job: the run folder is the only argument."""
    ticks = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_obey, daemon=True).start()
    context = JobContext(Path(sys.argv[1]), ticks)
    kind = str(context.job.get("kind"))
    try:
        context.emit("begin", resume=bool(context.options.get("resume")))
        is_stopped = import_module(TASKS[kind]).run(context)
        context.emit("done", is_stopped=bool(is_stopped))
    except BaseException as error:
        if is_interrupt(error):
            context.emit("done", is_stopped=True)
            return
        context.emit("failed", error=_describe(error))
        sys.exit(1)


def _obey() -> None:
    """Follow what the server says; end with it."""
    for line in sys.stdin:
        if line.strip() == "stop":
            _thread.interrupt_main()
    os._exit(1)


def _describe(error: BaseException) -> str:
    """Return an error in one sentence."""
    if is_shortage(error) and not isinstance(error, CoevoError):
        return describe_shortage()
    if isinstance(error, CoevoError | OSError):
        return str(error)
    return f"The work failed: {type(error).__name__}: {error}"
