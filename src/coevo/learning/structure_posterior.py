"""`posterior`: a table in, the probability of every arc out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Unpack

from coevo.data import Dataset
from coevo.errors import warn_caller
from coevo.files.run_folder import check_output
from coevo.learning.arguments import flatten
from coevo.learning.checkpoints import CheckpointFile
from coevo.learning.result import POSTERIOR, LearnResult
from coevo.learning.settings import LearnSettings, check_settings
from coevo.learning.task import LearnTask, open_task
from coevo.options import (
    ChainOptions,
    FlatOptions,
    MovedOfPosterior,
    PosteriorOptions,
    select_options,
)
from coevo.parallel import Cluster, check_cluster
from coevo.posteriors import Posterior
from coevo.posteriors.run import compute_posterior, make_chain_method
from coevo.posteriors.settings import PosteriorSettings, describe_score
from coevo.progress import check_progress, show_progress
from coevo.runtime.deadline import defer_interrupts
from coevo.search import Callback, Checkpoint, HistoryRow
from coevo.signatures import accept_options

__all__ = [
    "describe_step",
    "extend_with_posterior",
    "limit_search",
    "posterior",
    "run_posterior",
    "was_posterior_interrupted",
]


@accept_options(PosteriorOptions, MovedOfPosterior)
def posterior(
    data: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool | None = None,
    **options: Unpack[PosteriorOptions],
) -> Posterior:
    """Compute the posterior probability of every arc, given the rows of a table.

    The posterior of a structure is proportional to the exponential of its score. Up to about a
    dozen variables it is summed exactly over all structures. Larger tables are sampled: a search
    finds the candidate parents of each variable, and several chains start from its result. The
    answer says whether the chains agree.

    Parameters
    ----------
    data : path, data frame, PyArrow table, array, SQL query or Dataset
        The observations, as for `learn`. Missing values are imputed once; the probabilities do not
        account for the uncertainty of the imputed values.
    **options
        The posterior, the search whose result its chains start from, and how the table is read.
    output : path, optional
        The run folder, as for `learn`, with the posterior in its sub-folder ``posterior``.
    resume : bool
        Resume the search and the chains from the checkpoints of `output`. The answer is the same
        as without the interruption. With a larger limit chains that have ended continue.
    progress : bool, optional
        Whether to show progress, as for `learn`.

    Notes
    -----
    The default objective is that of `learn`: its parent penalty is a prior that favours few arcs.
    ``'bdeu'``, ``'bds'`` and ``'k2'`` are marginal likelihoods; ``'bic'``, ``'fnml'`` and
    ``'qnml'`` approximate one. Weights of arcs are log priors.

    The chains have the limit `max_time` (default: 60 seconds), and so has the search before them.
    Three quarters of the time of the chains are for the choice of the candidate parents. If they
    are too short for it, the chains have fewer candidates, and a warning says so; with more time
    the choice starts again. With `cluster`, the chains run on the workers of a Dask cluster; the
    answer is the same. Unlike in `learn`, the rows stay here.

    Returns
    -------
    Posterior
        Ctrl-C stops the chains with what they have so far. Before there is anything to sample it
        is a `KeyboardInterrupt`; the network of the search is then in `output`.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("cancer"), 500, random_state=1)
    >>> found = coevo.posterior(rows, score="bdeu")
    >>> found
    <Posterior: 5 variables, 2 edges above 0.5, exact>
    >>> found.verdict
    'Exact: the weights of all structures are summed.'
    >>> [(edge.parent, edge.child, round(edge.probability, 2)) for edge in found.edges[:2]]
    [('Cancer', 'Xray', 0.92), ('Cancer', 'Smoker', 0.82)]
    """
    check_progress(progress, "posterior")
    check_output(output, resume, "posterior")
    cluster = options["cluster"]  # for the chains; the rows stay here
    check_cluster("posterior", cluster)
    chosen = PosteriorSettings(**select_options(ChainOptions, options))
    asked = select_options(FlatOptions, flatten("posterior", {**options, "cluster": None}))
    asked = {**asked, "bootstraps": 0, "posterior": True}
    settings = check_settings("posterior", **asked)
    settings = limit_search(settings)
    is_file = isinstance(data, str | os.PathLike) and settings.opening["connection"] is None
    source = os.path.basename(data) if is_file else None
    with open_task(settings, data, source=source, output=output, resume=resume) as task:
        for decision in task.info.decisions:
            warn_caller(str(decision))
        with show_progress(progress, f"Learning by {settings.spec.method.name} ...") as show:
            learned = task.search([task.make_progress().as_callback(show)])
            learned = run_posterior(
                task, learned, chosen, resume, [describe_step(show)], cluster=cluster
            )
    for notice in (*task.notices, *task.describe_failures()):
        warn_caller(notice)
    assert learned.posterior is not None
    return learned.posterior


def run_posterior(
    task: LearnTask,
    learned: LearnResult,
    settings: PosteriorSettings,
    resume: bool = False,
    callbacks: Iterable[Callback] = (),
    cluster: Cluster = None,
) -> LearnResult:
    """Return the result of a search with the posterior on its rows, and write the run folder.

    The chains have the time limit of the search, from their own beginning. On a cluster each step
    of a chain is a job of a worker. After an interrupted search, and after Ctrl-C before there are
    families to sample, it raises `KeyboardInterrupt`.
    """
    if learned.search.stop_reason == "interrupt":
        raise KeyboardInterrupt  # there is nothing to report of the posterior
    spec, scorer = task.spec, task.scorer
    if task.incomplete is not None:
        assert isinstance(learned.dataset, Dataset)
        scorer = spec.make_scorer(learned.dataset, task.settings.n_jobs)
    checkpoints, state = None, None
    if task.folder is not None:
        checkpoints = _open_checkpoints(task, settings)
        if resume:
            state = checkpoints.load()
        else:
            checkpoints.check_replaceable()

    def finish(last: Checkpoint | None, stop_reason: str) -> None:
        if checkpoints is not None:
            task.note_failure("posterior", checkpoints.finish(last, stop_reason))

    found = compute_posterior(
        scorer,
        spec,
        settings,
        learned.search,
        max_time=task.settings.spec.budget.max_time,
        cluster=cluster,
        callbacks=callbacks,
        state=state,
        on_checkpoint=None if checkpoints is None else checkpoints.write_if_due,
        on_end=finish,
    )
    sentence = describe_score(spec.score)
    task.notices.extend(() if sentence is None else (sentence,))
    task.notices.extend(() if found.is_converged else (found.verdict,))
    task.notices.extend(() if found.n_candidates is None else (found.coverage,))
    with defer_interrupts():  # keep the result even if Ctrl-C comes now
        return task.write(replace(learned, posterior=found))


def extend_with_posterior(
    task: LearnTask, learned: LearnResult, resume: bool = False, callbacks: Iterable[Callback] = ()
) -> LearnResult:
    """Return the result of `learn` with a posterior, or as it was if Ctrl-C came before that."""
    if learned.search.stop_reason == "interrupt":
        return learned
    try:
        return run_posterior(task, learned, PosteriorSettings(), resume, callbacks)
    except KeyboardInterrupt:
        return learned


def was_posterior_interrupted(result: LearnResult) -> bool:
    """Return whether Ctrl-C ended the posterior of a result that was asked for one."""
    return result.posterior is None or result.posterior.stop_reason == "interrupt"


def _open_checkpoints(task: LearnTask, settings: PosteriorSettings) -> CheckpointFile:
    """Return the checkpoint file of the chains, which knows the rows and the settings."""
    assert task.folder is not None
    method = make_chain_method(settings, None)
    rows = task.dataset if task.incomplete is None else task.incomplete
    values = {**method.settings, "name": method.name}
    fingerprint = replace(task.spec, start=None).fingerprint(rows.content_hash, chains=values)
    return CheckpointFile(task.folder / POSTERIOR, fingerprint, method)


def limit_search(settings: LearnSettings) -> LearnSettings:
    """Return settings whose search also ends by itself where only its time is limited."""
    spec = settings.spec
    if spec.budget.patience is not None or spec.budget.max_generations is not None:
        return settings
    default = spec.method.default_budget
    budget = replace(default, max_time=spec.budget.max_time, target=spec.budget.target)
    return replace(settings, spec=replace(spec, budget=budget))


def describe_step(show: Callable[[str], object]) -> Callback:
    """Return a callback that shows the progress of the chains."""

    def callback(row: HistoryRow) -> None:
        difference = row.details["largest_difference"]
        show(f"Sampling: step {row.generation:,}, largest difference of chains {difference:.3f}")

    return callback
