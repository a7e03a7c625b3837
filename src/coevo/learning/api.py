"""`learn`: a table in, a network out."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

from coevo.errors import ParameterError
from coevo.interrupts import gentle_interrupts
from coevo.io import check_run_folder
from coevo.learning.bootstrap import bootstraps_of, with_strength
from coevo.learning.plan import Known, Path, Plan, Start, States, Types
from coevo.learning.reading import reading
from coevo.learning.result import LearnResult
from coevo.learning.task import task_of
from coevo.parallel import Cluster
from coevo.progress import check_progress, shown
from coevo.randomness import RandomState
from coevo.score import Score
from coevo.search import Budget, Callback, Method

__all__ = ["learn"]


def learn(
    table: Any,
    *,
    method: str | Method = "ccma",
    score: str | Score = "bdeu",
    ess: float | None = None,
    max_parents: int | None = None,
    parent_penalty: float = 0.0,
    max_time: float | None = None,
    max_generations: int | None = None,
    patience: int | None = None,
    target: float | None = None,
    n_jobs: int = 1,
    random_state: RandomState = 0,
    constraints: Known | None = None,
    start: Start | None = None,
    states: States | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    types: Types | None = None,
    discretise: str | None = None,
    bins: int | None = None,
    missing: str | None = None,
    missing_labels: Sequence[str] | None = None,
    bootstraps: int | None = None,
    shards: Path | None = None,
    cluster: Cluster = None,
    output: Path | None = None,
    resume: bool = False,
    callbacks: Iterable[Callback] = (),
    progress: bool | None = None,
) -> LearnResult:
    """Learn a network from a table.

    The parameters are those of ``coevo learn``, and give the same network as it does.

    Parameters
    ----------
    table : path, data frame, PyArrow table, array or Dataset
        The observations, as for `read_data`. With `shards` or `cluster`: a Parquet file, a
        folder of them, or a data frame of Dask.
    method : str or Method
        ``'ccma'`` (coevolution with local search), ``'ccga'`` (that of the 2011 paper),
        ``'islands'`` (several populations of ccma), ``'hill_climb'``, ``'tabu'`` or ``'k2'``;
        or one with settings.
    score : str or Score
        ``'k2'``, ``'bdeu'``, ``'bds'``, ``'bic'``, ``'aic'`` or ``'loglik'``; all natural
        logarithms, higher is better.
    ess : float, optional
        Equivalent sample size of ``'bdeu'`` and ``'bds'``; 1 if left out.
    max_parents : int, optional
        The most parents of a variable.
    parent_penalty : float
        What each parent costs, in nats; a parent must gain more than that.
    max_time, max_generations, patience, target : optional
        When to stop, as for `Budget`. Without a limit the method's own holds.
    n_jobs : int
        Threads; they change the time, never the answer.
    random_state : int, numpy Generator or None
        The same int gives the same network; None gives another each time.
    constraints : Constraints, Knowledge or path, optional
        What is known beforehand; a file is read as `read_knowledge` does.
    start : DAG, BayesianNetwork, path or name, optional
        A structure to begin with: the network found is at least as good. Any file that
        `open_structure` reads, or the name of a bundled network.
    states, drop, names : optional
        Declared states, columns to leave out and the names of an array's columns, as for
        `read_data`.
    types : mapping or path, optional
        What some columns are, as for `read_data`, or a file as for `read_types`.
    discretise : str, optional
        How columns of numbers are cut into bins: ``'mdl'``, ``'quantile'``, ``'uniform'``,
        ``'kmeans'``, or ``'none'``. If left out: ``'mdl'``, or ``'quantile'`` with `bins`.
    bins : int, optional
        How many bins; for ``'mdl'`` the most.
    missing : str, optional
        What becomes of missing cells: ``'evolve'`` (a third species fills them while the other
        two evolve), ``'em'``, ``'available'``, ``'state'`` or ``'drop'``, see
        `learn_incomplete`. If left out, a table with missing cells is refused. ``missing`` of
        the result says how much was missing where, and has the completed table.
    missing_labels : sequence of str, optional
        What stands for a missing cell, as for `read_incomplete`.
    bootstraps : int, optional
        Learn from as many bootstrap samples of the rows too, each as the table itself, and say
        how sure each arc is (``strength`` of the result), as `strength` does. `n_jobs` is then
        the number of processes, and a limit holds for each of them.
    shards : path, optional
        For a table that is larger than memory, Parquet or of Dask: read it in pieces
        into files of about a byte a cell in this folder, count there, and remove them at the
        end. The answer is the same to the last bit. Numbers are cut at the points that `types`
        gives; `missing` and `bootstraps` need the rows in memory.
    cluster : str or distributed.Client, optional
        The same with the rows on the workers of a Dask cluster, which must find the file under
        the same path: its address, ``'local:4'`` for so many workers of this machine, or a
        client. With the method ``'islands'`` rows are read here, and the islands evolve there.
    output : path, optional
        The folder that ``LearnResult.save`` writes; while the search goes on, a checkpoint is
        kept in it.
    resume : bool
        Go on from the checkpoint of `output`: the same network and the same history as if
        the search had never stopped. With a larger budget a search that has ended goes on
        (with `missing`, on the completions that it has).
    callbacks : iterable of functions
        Called with each new row of the history; one that returns True ends the search.
    progress : bool, optional
        Whether to show how far the search is: as a line in a notebook, a few that move on a
        terminal, one every few seconds elsewhere. If left out: in notebooks only.

    Returns
    -------
    LearnResult
        The network, what each arc is worth, and how it was found. ``save`` writes it all.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 2000, random_state=1)
    >>> found = learn(rows, max_generations=20, random_state=7)
    >>> found
    <LearnResult: 8 variables, 7 arcs, bdeu -4397.2415, by ccma>
    >>> found.cpdag
    <CPDAG: 8 variables, 5 arcs, 2 edges>
    >>> max(found.gains, key=found.gains.get)
    ('bronc', 'dysp')
    >>> round(found.network.query("lung", given={"smoke": "yes"})["yes"], 2)
    0.08
    >>> learn(rows, score="bicc")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'score' of learn must be one of 'aic', 'bde', 'bdeu', 'bds', \
'bic', 'k2', 'loglik'; got 'bicc'. Did you mean 'bic'?
    """
    check_progress(progress, "learn")
    if resume and output is None:
        raise ParameterError("'resume' of learn needs 'output', the folder to go on from.")
    plan = Plan(
        method=method,
        score=score,
        ess=ess,
        max_parents=max_parents,
        parent_penalty=parent_penalty,
        budget=Budget(max_time, max_generations, None, patience, target),
        n_jobs=n_jobs,
        random_state=random_state,
        constraints=constraints,
        start=start,
        types=types,
        discretise=discretise,
        bins=bins,
        missing=missing,
        missing_labels=missing_labels,
        bootstraps=bootstraps,
        shards=shards,
        cluster=cluster,
    )
    if output is not None:
        check_run_folder(pathlib.Path(output))
    source = os.path.basename(table) if isinstance(table, str | os.PathLike) else None
    with reading(plan) as read:
        task = task_of(plan, *read(table, states, drop, names), source)
        work = bootstraps_of(task, output)
        with shown(progress, f"Learning by {plan.method.name} ...") as say:
            learned = task.run([*callbacks, task.progress().told_by(say)], output, resume)
    _save(learned, output)
    if work is None:
        return learned
    learned = with_strength(learned, work)
    _save(learned, output)
    return learned


def _save(learned: LearnResult, output: Path | None) -> None:
    if output is not None:
        with gentle_interrupts():  # what was found is kept
            learned.save(output)
