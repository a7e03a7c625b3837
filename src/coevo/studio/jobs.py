"""Jobs: long work in processes of their own, seen from the server and from inside.

Long work, each in its own process: start, stop, resume, and what is known after a kill.

The work on a run is a *job*. Its kind (one of `TASKS`) and its
state stand in ``job.json`` of the run folder:

    queued, running     it waits for its turn; its process runs
    done, failed        it has ended; with the error in one sentence
    stopped             a user stopped it: the best network so far is there
    interrupted         the server ended or was killed; the next server resumes the job

The process ends with the server, however the server ends: its input is a pipe that closes then.
The server tells it to stop through the same pipe. It tells the server through its output that
there are new events. The server alone writes ``job.json``.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.errors import (
    CoevoError,
    FileError,
    FormatError,
    ParameterError,
    describe_shortage,
    is_shortage,
)
from coevo.files.run_folder import write_json
from coevo.runtime.deadline import is_interrupt
from coevo.runtime.threads import count_usable_cores
from coevo.studio.events import EventLog, parse_event, read_events
from coevo.studio.run_options import check_given
from coevo.studio.workspace import (
    JOB_FILE,
    RUNS,
    STUDIO_FILE,
    InUseError,
    StoredTable,
    Workspace,
    read_object,
)

if TYPE_CHECKING:
    from coevo.learning import LearnTask

__all__ = [
    "ACTIVE",
    "KINDS",
    "TASKS",
    "Job",
    "JobContext",
    "Jobs",
    "main",
    "open_job_task",
    "read_job",
]

ACTIVE = ("queued", "running")
STATES = (*ACTIVE, "done", "failed", "stopped", "interrupted")
KINDS = ("learn", "confidence")  # of work; see `TASKS`
WORKER = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from coevo.studio.jobs import main; main()"
)
SECONDS_TO_END = 10.0  # for processes to save their work when the server ends
UNKNOWN_END = "The process ended without a result, perhaps because memory ran out."


@dataclass
class Job:
    """The work on a run, while it waits or runs."""

    name: str
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    is_stopping: bool = False
    unsaved: list[bytes] = field(default_factory=list)  # events for which there is no space
    ended: threading.Event = field(default_factory=threading.Event)


def read_job(folder: Path) -> dict[str, Any]:
    """Return what ``job.json`` of a run holds; empty for a run of the command line.

    A file that holds anything else raises `FormatError`.
    """
    known = read_object(folder / JOB_FILE)
    state, kind, error = (known.get(key) for key in ("state", "kind", "error"))
    is_right = (
        state in (None, *STATES)
        and kind in (None, *KINDS)
        and isinstance(known.get("options", {}), dict)
        and (error is None or isinstance(error, str))
    )
    if not is_right:
        raise FormatError(
            f"{str(folder / JOB_FILE)!r} is damaged: it does not hold the state of a run. "
            "Resume the run to write it anew."
        )
    return known


class Jobs:
    """All jobs of a workspace.

    Parameters
    ----------
    workspace : Workspace
        The workspace.
    on_events : callable
        Called with a run folder when there are new events, and with those of them for which the
        disk has no space; from any thread.
    on_change : callable
        Called when the state of a job has changed; from any thread.
    n_parallel : int
        Number of jobs that run at a time. A search uses all cores.
    """

    def __init__(
        self,
        workspace: Workspace,
        on_events: Callable[[Path, tuple[bytes, ...]], object] = lambda folder, unsaved: None,
        on_change: Callable[[], object] = lambda: None,
        n_parallel: int = 1,
    ) -> None:
        self._workspace, self._on_events, self._on_change = workspace, on_events, on_change
        self._n_parallel = n_parallel
        self._lock = threading.RLock()
        self._waiting: deque[Job] = deque()
        self._running: dict[str, Job] = {}
        self._unwritten: dict[str, dict[str, Any]] = {}  # how jobs ended while a disk was full
        self._is_closed = False

    def read_state(self, name: str, folder: Path | None = None) -> dict[str, Any]:
        """Return what ``job.json`` of a run holds; empty for a run of the command line."""
        known = read_job(self._workspace.locate(RUNS, name) if folder is None else folder)
        return {**known, **self._unwritten.get(name, {})}

    def check_idle(self, name: str) -> None:
        """Raise an error if a job of a run waits or runs."""
        with self._lock:
            if self._find(name) is not None:
                raise InUseError(f"The run {name!r} is being worked on. Stop it first.")

    def submit(self, name: str, kind: str, options: Mapping[str, Any] | None = None) -> None:
        """Start a job on a run, or let it wait for its turn.

        `options` reach the worker in ``job.json``. With ``resume`` it continues earlier work.
        """
        with self._lock:
            if self._is_closed:
                raise FileError("The studio is ending.")
            self.check_idle(name)
            folder = self._workspace.locate(RUNS, name)
            job = Job(name, folder)
            self._write_state(job, "queued", kind=kind, options=dict(options or {}), error=None)
            self._waiting.append(job)
            self._start_waiting()

    def resume_interrupted(self) -> list[str]:
        """Resume all jobs that an earlier server left behind; return the names of their runs."""
        names = []
        for name in self._workspace.list_names(RUNS):
            with contextlib.suppress(CoevoError, OSError):  # the list says what is wrong with it
                state = self.read_state(name)
                if state.get("state") in (*ACTIVE, "interrupted"):
                    options = {**state.get("options", {}), "resume": True}
                    self.submit(name, str(state.get("kind", "learn")), options)
                    names.append(name)
        return names

    def stop(self, name: str, at_once: bool = False) -> None:
        """Stop a job: it saves the best result so far, unless it must end at once."""
        with self._lock:
            job = self._find(name)
            if job is None:
                raise ParameterError(f"No work is under way on the run {name!r}.")
            if job in self._waiting:
                self._waiting.remove(job)
                self._keep_state(job, "stopped", None)
                job.ended.set()
                return
            if job.process is not None:
                if at_once:
                    job.process.kill()
                elif not job.is_stopping:
                    _send(job.process, b"stop\n")
            job.is_stopping = True

    def wait(self, name: str, timeout: float | None = None) -> bool:
        """Wait until the job of a run has ended; return whether it has."""
        with self._lock:
            job = self._find(name)
        return True if job is None else job.ended.wait(timeout)

    def close(self) -> None:
        """End all processes; their work is saved, and the next server resumes it."""
        with self._lock:
            self._is_closed = True
            jobs = list(self._running.values())
            self._waiting.clear()
            for job in jobs:
                if job.process is not None:
                    _send(job.process, b"stop\n")
        for job in jobs:
            if not job.ended.wait(SECONDS_TO_END) and job.process is not None:
                job.process.kill()
                job.ended.wait(SECONDS_TO_END)

    def _find(self, name: str) -> Job | None:
        waiting = (job for job in self._waiting if job.name == name)
        return self._running.get(name) or next(waiting, None)

    def _start_waiting(self) -> None:
        """Start jobs while there is room for them; the caller holds the lock."""
        while self._waiting and len(self._running) < self._n_parallel and not self._is_closed:
            job = self._waiting.popleft()
            self._running[job.name] = job
            threading.Thread(target=self._run, args=(job,), daemon=True).start()

    def _run(self, job: Job) -> None:
        """Run the process of a job to its end. This thread is the parent that it ends with."""
        try:
            with self._lock:
                self._keep_state(job, "running", None)
                job.process = _start_process(self._workspace.root, job.folder)
                if job.is_stopping or self._is_closed:  # a user was faster
                    _send(job.process, b"stop\n")
            _follow(job.process, lambda line: self._pass_on(job, line))
            state, error = self._judge(job)
        except Exception as failure:  # whatever it is, the run must not stay "running"
            state, error = "failed", f"The process could not be started: {failure}"
        with self._lock:
            self._running.pop(job.name, None)
            self._keep_state(job, state, error)
            self._start_waiting()
        self._on_events(job.folder, tuple(job.unsaved))
        job.ended.set()

    def _pass_on(self, job: Job, line: bytes) -> None:
        """Pass on that there are new events: in the file, or, if there is no space, in the line."""
        if line.strip():
            job.unsaved.append(line.rstrip(b"\n"))
        else:
            job.unsaved.clear()
        self._on_events(job.folder, tuple(job.unsaved))

    def _judge(self, job: Job) -> tuple[str, str | None]:
        """Return the state of a job whose process has ended, and its error."""
        if self._is_closed:
            return "interrupted", None
        if job.unsaved:
            last = parse_event(job.unsaved[-1]) or {}
        else:
            last = next(reversed(read_events(job.folder)), {})
        if last.get("kind") == "failed":
            return "failed", str(last.get("error", UNKNOWN_END))
        if last.get("kind") == "done":
            return ("stopped" if last.get("is_stopped") else "done"), None
        return ("stopped", None) if job.is_stopping else ("failed", UNKNOWN_END)

    def _write_state(self, job: Job, state: str, **more: Any) -> None:
        known: dict[str, Any] = {}
        with contextlib.suppress(FormatError):  # a damaged file is written anew
            known = read_job(job.folder)
        write_json(job.folder / JOB_FILE, {**known, "state": state, **more})
        self._unwritten.pop(job.name, None)
        self._on_change()

    def _keep_state(self, job: Job, state: str, error: str | None) -> None:
        """Write the state of a job; keep it in mind where it cannot be written, on a full disk."""
        try:
            self._write_state(job, state, error=error)
        except (CoevoError, OSError):
            self._unwritten[job.name] = {"state": state, "error": error}
            self._on_change()


def _start_process(root: Path, folder: Path) -> subprocess.Popen[bytes]:
    """Start the process of a job, in the workspace, so that relative paths are those of it."""
    source = str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WORKER, source, str(folder)],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the server; it tells the processes
    )


def _follow(process: subprocess.Popen[bytes], on_line: Callable[[bytes], object]) -> None:
    """Call a function for each line that a process prints, until it ends."""
    assert process.stdin is not None
    assert process.stdout is not None
    while line := process.stdout.readline():
        on_line(line)
    process.wait()
    process.stdout.close()
    with contextlib.suppress(OSError):  # something may be left that it did not read
        process.stdin.close()


def _send(process: subprocess.Popen[bytes], line: bytes) -> None:
    """Tell a process something; it may have ended."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(line)
        process.stdin.flush()


# What the process of a job does: it reads ``job.json``, works, and appends events.
#
# Its input is a pipe from the server. The line ``stop`` is a Ctrl-C: the work is saved. When the
# pipe closes the server has ended, and so does this process. Its output tells the server, with an
# empty line, that there are new events. A line that is not empty is an event for which the disk
# has no space. Nothing else may write to it.


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


# The task of a job: the table and the options of its run, opened as ``coevo learn`` opens them.


@contextlib.contextmanager
def open_job_task(
    context: JobContext, *, resume: bool, **more: Any
) -> Iterator[tuple[LearnTask, StoredTable]]:
    """Yield the task of the run and its table, on all cores; `more` are further options."""
    from coevo.learning import check_settings, open_task  # the server does not need them

    given = context.given
    table = context.workspace.open_table(given["table"])
    context.emit("status", text=f"Reading {table.name} ...")
    options = {**given["options"], "n_jobs": count_usable_cores(), **more}
    settings = check_settings("learn", "--max-parents", **options)
    path = table.path.relative_to(context.workspace.root)
    with open_task(
        settings,
        str(path),
        source=path.name,
        output=context.folder,
        resume=resume,
        command=given["command"],
    ) as task:
        yield task, table
