"""The runs of an experiment that are missing in its folder, on processes or a cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from coevo.interrupts import defer_interrupts
from coevo.io.journal import Journal, JournalRecord, RunCallback
from coevo.parallel import Workers

__all__ = ["ExperimentJob", "run_missing_jobs"]


class ExperimentJob(Protocol):
    """One run of an experiment; `key` is the key of its record."""

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that identify the run among the runs of the experiment."""


Job = TypeVar("Job", bound=ExperimentJob)
Record = TypeVar("Record", bound=JournalRecord)


def run_missing_jobs(
    run_job: Callable[[Job], Record],
    jobs: Sequence[Job],
    journal: Journal[Record],
    open_workers: Callable[[], AbstractContextManager[Workers]],
    on_run: RunCallback[Record],
    on_interrupt: Callable[[], object],
) -> int:
    """Do the jobs that the journal lacks and save each when it ends; return how many are done.

    After Ctrl-C the running jobs finish and are saved.
    """
    missing = [job for job in jobs if job.key not in journal.records]
    if missing:
        with open_workers() as workers, defer_interrupts(on_interrupt) as interrupts:
            runs = workers.run(run_job, missing, should_stop=lambda: interrupts.is_pending)
            journal.save_runs(runs, len(jobs) - len(missing), len(jobs), on_run)
    return sum(job.key in journal.records for job in jobs)
