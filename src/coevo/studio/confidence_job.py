"""Bootstraps and the posterior as a job of the studio, on a run whose search has ended.

The steps are those of ``coevo learn --resume --bootstraps N --posterior``. The search continues
from its checkpoint, which is its end, so it takes no time. Each sample is stored as it ends, so a
job that was killed resumes where it was.

    status      what is being done, as a text
    samples     the number of samples that are done, and of all
    strengths   the strengths are written
"""

from __future__ import annotations

from typing import Any

from coevo.learning import LearnResult, LearnTask
from coevo.learning.structure_posterior import describe_step, run_posterior
from coevo.posteriors.settings import PosteriorSettings
from coevo.studio.jobs import JobContext, open_job_task

__all__ = ["run"]


def run(context: JobContext) -> bool:
    """Run what ``job.json`` asks for; return whether a user stopped it."""
    asked = context.options
    n_samples, posterior = asked.get("bootstraps", 0), bool(asked.get("posterior"))
    chosen = {"bootstraps": n_samples, "posterior": posterior}
    with open_job_task(context, resume=True, **chosen) as (task, _):
        result = task.search()
        is_stopped = result.search.stop_reason == "interrupt"
        if n_samples and not is_stopped:
            result = _run_bootstraps(context, task, result, n_samples)
            is_stopped = result.bootstrap is None or not result.bootstrap.is_complete
        if posterior and not is_stopped:
            run_posterior(
                task,
                result,
                PosteriorSettings(),
                True,
                [describe_step(lambda text: context.emit("status", text=text))],
            )
    for failure in task.failures.values():
        raise failure
    context.emit("strengths")
    return is_stopped


def _run_bootstraps(
    context: JobContext, task: LearnTask, result: LearnResult, n_samples: int
) -> LearnResult:
    """Run the bootstrap samples, with an event for each."""
    context.emit("status", text=f"Bootstrap: {n_samples:,} samples ...")

    def report(_run: Any, done: int, total: int) -> None:
        context.emit("samples", done=done - 1, total=total - 1)  # the original table is one

    return task.run_bootstraps(result, report)
