"""`learn`: a table in, a network out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from coevo.data import Dataset, IncompleteDataset
from coevo.data.table_audit import describe_roots
from coevo.errors import warn_caller
from coevo.files.run_folder import check_output
from coevo.learning.arguments import flatten
from coevo.learning.result import LearnResult
from coevo.learning.settings import check_settings
from coevo.learning.task import open_task
from coevo.options import FlatOptions, LearnOptions, MovedOfLearn
from coevo.progress import check_progress, show_progress
from coevo.search import Callback
from coevo.search.run import list_callbacks
from coevo.signatures import accept_options

__all__ = ["learn", "run_learn"]


@accept_options(LearnOptions, MovedOfLearn)
def learn(
    data: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
    **options: Unpack[LearnOptions],
) -> LearnResult:
    """Learn a network from a table.

    The options are those of ``coevo learn``, and give the same network. Columns that nothing can
    be learned from are left out, dates become parts of dates, and missing values are imputed.
    ``decisions`` of the result lists what was done and how to undo it; each is also a warning.

    Parameters
    ----------
    data : path, data frame, PyArrow table, array, SQL query or Dataset
        The observations, as for `read_data`: any common kind of file, ``'-'`` for the standard
        input, or an SQL query with a `connection`. With `shards` or `cluster`: a Parquet file, a
        folder of them, or a Dask data frame.
    **options
        What to learn, and how.
    output : path, optional
        The run folder, as `LearnResult.save` writes it. It holds a checkpoint while the search
        runs.
    resume : bool
        Resume from the checkpoint of `output`. Network and history are the same as without the
        interruption. With a larger budget a search that has ended continues (with `missing`, on
        its last imputations).
    callbacks : iterable of functions
        Called with each new row of the history; one that returns True stops the search.
    progress : bool, optional
        Whether to show progress: one line in a notebook, a few lines that move on a terminal, a
        line every few seconds elsewhere (default: in notebooks only).

    Returns
    -------
    LearnResult
        The network, the gain and the meaning of each arc, and the search. Its ``save`` writes all
        of it.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 2000, random_state=1)
    >>> found = learn(rows, budget=coevo.Budget(max_generations=20), random_state=7)
    >>> found
    <LearnResult: 8 variables, 7 arcs, bdeu -4442.0837, by ccma>
    >>> found.cpdag
    <CPDAG: 8 variables, 5 arcs, 2 edges>
    >>> max(found.gains, key=found.gains.get)
    ('bronc', 'dysp')
    >>> str(found.effects["bronc", "dysp"])
    'P(dysp=yes) is 0.82 where bronc=yes, 0.15 elsewhere'
    >>> round(found.network.query("lung", given={"smoke": "yes"})["yes"], 2)
    0.08
    >>> learn(rows, score="bicc")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'score' of learn must be one of 'aic', 'bde', 'bdeu', 'bds', \
'bic', 'fnml', 'k2', 'loglik', 'qnml'; got 'bicc'. Did you mean 'bic'?
    """
    return run_learn(
        data,
        output=output,
        resume=resume,
        callbacks=callbacks,
        progress=progress,
        **flatten("learn", options),
    )


def run_learn(
    table: Any,
    *,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
    **options: Unpack[FlatOptions],
) -> LearnResult:
    """Learn a network as `learn` does, with single options."""
    check_progress(progress, "learn")
    check_output(output, resume, "learn")
    functions = list_callbacks(callbacks, "learn")
    settings = check_settings("learn", **options)
    is_file = isinstance(table, str | os.PathLike) and settings.opening["connection"] is None
    source = os.path.basename(table) if is_file else None
    with open_task(settings, table, source=source, output=output, resume=resume) as task:
        _warn([str(decision) for decision in task.info.decisions])
        n_shown = _warn(task.notices)
        with show_progress(progress, f"Learning by {settings.spec.method.name} ...") as show:
            result = task.search([*functions, task.make_progress().as_callback(show)])
        result = task.run_bootstraps(result)
        is_stopped = False
        if settings.posterior:
            from coevo.learning.structure_posterior import (
                extend_with_posterior,
                was_posterior_interrupted,
            )

            result = extend_with_posterior(task, result, resume)
            is_stopped = was_posterior_interrupted(result)
        if settings.prove is not None and not is_stopped:
            from coevo.learning.structure_proof import extend_with_proof

            result = extend_with_proof(task, result, settings.prove, resume)
    _warn(task.notices[n_shown:])
    _warn(task.describe_failures())
    roots = result.suggested_roots
    if roots and not isinstance(table, Dataset | IncompleteDataset):  # these are read already
        known = {"roots": list(roots)}
        _warn([f"{describe_roots(roots, f'constraints={known}')}."])
    return result


def _warn(notices: Sequence[str]) -> int:
    """Issue warnings; return their number."""
    for notice in notices:
        warn_caller(notice)
    return len(notices)
