"""Run systems one by one, each in its own process, with a limit of CPU time, resumably.

A limit of CPU time means the same on a busy machine as on a quiet one. A run that reaches it has
the status `timeout`. With a journal (JSON lines), each run is written down as it ends, and a run
that is already there is not made again.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from coevo.parallel.processes import StartClock, run_isolated

__all__ = ["Job", "Journal", "add_journal_options", "format_peer_time", "measure"]

MAX_WALL = 10  # times the limit: the last resort if a system ignores the signal
MAX_BYTES = 10 << 30  # of address space


class Job(NamedTuple):
    """One run of one system."""

    system: str
    network: str
    n_rows: int
    scoring: str
    seed: int
    max_time: float


class OutOfTime(BaseException):
    """The limit of CPU time is reached. No library catches it by mistake."""


def _raise_out_of_time(*_: object) -> None:
    raise OutOfTime


def run_limited(
    task: tuple[Callable[[Job], Callable[[], Any]], Callable[[Job, Any], dict[str, Any]], Job],
    start_clock: StartClock,
) -> dict[str, Any]:
    """Prepare a run, learn for at most so many CPU seconds, then describe the result."""
    prepare, describe, job = task
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    learn = prepare(job)
    start_clock()
    signal.signal(signal.SIGPROF, _raise_out_of_time)
    signal.setitimer(signal.ITIMER_PROF, job.max_time)
    began = time.process_time()
    try:
        learned = learn()
    except OutOfTime:
        return {"status": "timeout"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - began
    return {"status": "done", "seconds": seconds, **describe(job, learned)}


class Journal:
    """The runs that have ended, in memory and, with a path, in a file.

    A journal that is closed takes no further runs: what it lacks is not run.
    """

    def __init__(self, path: Path | None, is_closed: bool = False) -> None:
        self._path, self.is_closed = path, is_closed
        self._answers: dict[Job, dict[str, Any]] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                answer = json.loads(line)
                self._answers[Job(*(answer[name] for name in Job._fields))] = answer

    def get(self, job: Job) -> dict[str, Any] | None:
        """Return a run that has ended, or None."""
        return self._answers.get(job)

    def add(self, job: Job, answer: dict[str, Any]) -> None:
        """Write a run down."""
        self._answers[job] = answer
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(answer) + "\n")


def add_journal_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all benchmarks with a journal have."""
    parser.add_argument("--journal", type=Path, help="file of the runs that have ended, to resume")
    parser.add_argument(
        "--only-journal", action="store_true", help="make the table of these runs; run nothing"
    )


def measure(
    jobs: Iterable[Job],
    prepare: Callable[[Job], Callable[[], Any]],
    describe: Callable[[Job, Any], dict[str, Any]],
    journal: Journal,
    max_timeouts: int,
) -> list[dict[str, Any]]:
    """Run the jobs in their order; give a system up after so many timeouts with a score."""
    answers: list[dict[str, Any]] = []
    timeouts: dict[tuple[str, str], int] = {}
    for job in jobs:
        key = (job.system, job.scoring)
        if timeouts.get(key, 0) >= max_timeouts:
            answers.append({**job._asdict(), "status": "not run"})
            continue
        answer = journal.get(job)
        if answer is None and journal.is_closed:
            answer = {**job._asdict(), "status": "not run"}
        elif answer is None:
            answer = _run(job, prepare, describe)
            journal.add(job, answer)
        answers.append(answer)
        timeouts[key] = timeouts.get(key, 0) + (answer["status"] == "timeout")
    return answers


def _run(
    job: Job,
    prepare: Callable[[Job], Callable[[], Any]],
    describe: Callable[[Job, Any], dict[str, Any]],
) -> dict[str, Any]:
    environment = {"PYTHONHASHSEED": "0"}  # pgmpy depends on it
    tasks = [(prepare, describe, job)]
    outcomes = run_isolated(
        run_limited, tasks, lambda task: MAX_WALL * task[2].max_time, environment=environment
    )
    outcome = next(iter(outcomes))
    answer = {**job._asdict(), "status": outcome.status, "error": outcome.error}
    return answer | (outcome.result or {})


def format_peer_time(peer: dict[str, Any], ours: dict[str, Any]) -> tuple[str, str]:
    """Return the seconds of a peer and their ratio to ours, also if it has not ended."""
    if peer["status"] == "timeout":
        return f"> {peer['max_time']:g}", f"> {peer['max_time'] / ours['seconds']:,.0f}"
    if peer["status"] != "done":
        return peer["status"], ""
    return f"{peer['seconds']:.1f}", f"{peer['seconds'] / ours['seconds']:,.0f}"
