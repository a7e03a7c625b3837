"""How sure a learned network is: bootstraps with its own plan, once it is there.

The network of the whole table is the one that was learned; it is not searched for again. A
limit of the search is a limit of each bootstrap. A structure to start from is not: it would
speak for its own arcs.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import replace

from coevo import bootstrap
from coevo.bootstrap import BootstrapRun, Work, whole_run
from coevo.io.journal import Tell
from coevo.learning.plan import Path
from coevo.learning.result import STRENGTH, LearnResult
from coevo.learning.task import IncompleteTask, Task
from coevo.score import FamilyScorer

__all__ = ["bootstraps_of", "with_strength"]


def bootstraps_of(task: Task, output: Path | None = None) -> Work | None:
    """Return the bootstraps that a task asks for, or refuse a folder with those of another.

    Each one is kept in the folder of the run as it ends; the same work there goes on.
    """
    if task.plan.bootstraps is None:
        return None
    assert isinstance(task.scorer, FamilyScorer)  # a plan in shards has no bootstraps
    folder = None if output is None else pathlib.Path(output) / STRENGTH
    table = task.table if isinstance(task, IncompleteTask) else None
    plan = bootstrap.Plan(
        method=task.plan.method,
        score=task.plan.scoring,
        weights=task.known.weights,
        parent_penalty=task.scorer.parent_penalty,
        constraints=task.known.constraints,
        budget=task.plan.budget,
        seed=task.plan.seed,
        missing=None if table is None else task.plan.missing,
    )
    where = (task.plan.n_jobs, None)
    return Work.on(task.scorer, plan, task.plan.bootstraps, where, folder, table)


def with_strength(
    learned: LearnResult,
    work: Work,
    tell: Tell[BootstrapRun] = lambda run, done, total: None,
    heard: Callable[[], object] = lambda: None,
) -> LearnResult:
    """Return a network with the strengths of arcs, over the bootstraps of its task.

    Nothing is begun if the search was interrupted. Ctrl-C ends the bootstraps with those that
    are done; before the first one, and at the second Ctrl-C, the network is returned as it was.
    """
    if learned.search.stop_reason == "interrupt":
        return learned
    whole = whole_run(learned.search, round(learned.search.seconds, 4), learned.gains)
    try:
        return replace(learned, strength=work.done(tell, heard, whole))
    except KeyboardInterrupt:
        return learned
