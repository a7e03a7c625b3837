"""`learn`: a table in, a network out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

from coevo.data import Dataset, IncompleteDataset
from coevo.data.root_names import describe_roots
from coevo.errors import warn_caller
from coevo.learning.options import LEARN_DEFAULTS, LearnOptions, Path
from coevo.learning.result import LearnResult
from coevo.learning.settings import check_settings
from coevo.learning.task import open_task
from coevo.progress import check_progress, show_progress
from coevo.run_files import check_output
from coevo.search import Callback
from coevo.search.run import list_callbacks
from coevo.signatures import accept_options

__all__ = ["learn"]


@accept_options(LearnOptions, LEARN_DEFAULTS)
def learn(
    table: Any,
    *,
    output: Path | None = None,
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
    table : path, data frame, PyArrow table, array, SQL query or Dataset
        The observations, as for `read_data`: any common kind of file, ``'-'`` for the standard
        input, or an SQL query with `connection`. With `shards` or `cluster`: a Parquet file, a
        folder of them, or a Dask data frame.
    method : str or Method
        The search method: ``'ccma'`` (memetic coevolution), ``'ccga'`` (the algorithm of the 2011
        paper), ``'islands'`` (several populations of ccma), ``'hill_climb'``, ``'tabu'``,
        ``'ges'`` (greedy search over equivalence classes), ``'k2'``, ``'k2ga'`` (a genetic
        algorithm over orders for k2), ``'ga'`` (a genetic algorithm over graphs), ``'mdlep'``
        (evolutionary programming over graphs), ``'wong'`` (tests, then one species for each
        variable), ``'pc'`` (tests of independence, no score), ``'mmhc'`` (tests, then hill
        climbing) or ``'chow_liu'`` (the best tree); a name with
        settings, as ``'hill_climb:restarts=5'`` or ``'tan:class_variable=ill'``; a method object,
        as ``TAN(class_variable='ill')``; or a method of your own, as
        ``'mypackage.search:MySearch'`` (see the guide to own methods).
    score : str or Score, optional
        The score to maximise: ``'bdeu'``, ``'bds'``, ``'k2'``, ``'bic'``, ``'aic'``, ``'fnml'``,
        ``'qnml'`` or ``'loglik'``. All are natural logarithms; higher is better.
    ess : float, optional
        Equivalent sample size of ``'bdeu'`` and ``'bds'`` (default: 5; with `score`: 1).
    parent_penalty : float, optional
        Cost of each parent in nats: a parent must gain more than this (default: 4; with `score`:
        0). The default objective is BDeu with an `ess` of 5, this cost and the sparse penalty:
        ``benchmarks/defaults.py`` compares it with others.
    sparse_penalty : float, optional
        Cost of tables with more cells than the rows can fill, as a multiple of the cost of learning
        the variable without parents (default: 1; with `score`: 0). It keeps parents out that are
        found in noise, and changes nothing where the rows suffice.
    max_table : int, optional
        Maximum number of cells of the conditional probability table of a variable with parents
        (default: 10,000). It is a constraint of every search, so that each table can be written,
        shown and read. None is no limit.
    max_parents : int, optional
        Maximum number of parents of a variable.
    max_time, max_generations, patience, target : optional
        When to stop, as for `Budget`. Without a limit the method's default holds.
    random_state : int, numpy Generator or None
        The same int gives the same network; None gives a new seed each time.
    constraints : Constraints, Knowledge, dict or path, optional
        Required and forbidden arcs, tiers, roots, leaves and weights; `read_knowledge` describes
        the file. A dict has the keys of a JSON file, as ``{"tiers": [["age"], ["ill"]]}``.
    roots, leaves : iterable of str
        Variables without parents, such as age and sex, and variables without children. They are
        added to the constraints.
    start : DAG, BayesianNetwork, Method, path or name, optional
        The structure to start from; the result is at least as good. A file that `open_structure`
        reads, or the name of a bundled network. Or a method that finds the structure first, on
        the same rows and under the same constraints: ``'pc'``, or an object with settings.
    states, drop, names : optional
        Declared states, columns to leave out, and the names of an array's columns, as for
        `read_data`.
    encoding, delimiter, comment, header, skiprows, skipfooter, units_row : optional
        How a text table is written, as for `read_data` (default: as detected).
    bad_rows, keep_empty_rows, rename, value_labels : optional
        What to do with rows of a wrong number of fields and with empty rows, new names of columns,
        and whether value labels are states, as for `read_data`.
    sheet, query, connection : optional
        Sheet of a spreadsheet or table of an SQLite file, SQL query, and DB-API connection, as for
        `read_data`.
    types : mapping or path, optional
        Types of some columns, as for `read_data`; or a file, as for `read_types`. A type undoes
        what was decided about a column.
    discretise : str, optional
        How numeric columns are discretised: ``'mdl'``, ``'quantile'``, ``'uniform'``,
        ``'kmeans'`` or ``'none'`` (default: ``'mdl'``, or ``'quantile'`` with `bins`).
    bins : int, optional
        Number of bins; for ``'mdl'`` the maximum.
    missing : str, optional
        Policy for missing values: ``'evolve'`` (values are drawn again and again under the
        structures of the search; under ``'ccga'`` a third species evolves them), ``'em'``,
        ``'available'``, ``'state'`` or ``'drop'``; see `learn_incomplete`. ``'refuse'`` makes a
        missing value an error. The default is ``'evolve'``; with `strict`, `shards` or `cluster` it
        is ``'refuse'``. ``imputation`` of the result has the missing values per column and the
        imputed table.
    missing_labels, keep_labels, merge : optional
        Labels that stand for a missing value, labels that never do, and states to merge, as for
        `read_data`: ``missing_labels={"age": -99}``, ``merge={"smoker": {"Y": "yes"}}``.
    decimal : str, optional
        The decimal mark of numbers, ``'.'`` or ``','`` (default: found from the table).
    strict : bool
        Raise an error for everything that would be decided about the table: columns that would be
        left out, dates, numbers in unusual formats, missing values.
    bootstraps : int, optional
        Number of bootstrap samples to learn from as well; ``bootstrap`` of the result then has the
        strength of each arc, as `bootstrap_strength` gives it. `n_jobs` is then the number of
        processes, and a limit holds for each sample. By default ``quick_bootstrap`` of the result
        has strengths from 25 to 40 samples, learned by shorter searches, where they take seconds
        (`coevo.posteriors.quick_bootstrap`); 0 turns that off.
    posterior : bool
        Whether to compute the posterior probability of every arc as well, as `posterior` does with
        its defaults; ``posterior`` of the result has it.
    prove : float, optional
        Number of seconds to spend on a proof of how far from the best network this one can be, as
        `prove` does; ``proof`` of the result has it. Needs coevo[prove].
    n_jobs : int
        Number of threads. It changes the time, never the answer.
    shards : path, optional
        For a Parquet or Dask table that does not fit into memory: read it in chunks into files of
        about a byte per value in this folder, and remove them at the end. The answer is the
        same to the last bit. Numbers need cut points from `types`; `missing` and `bootstraps`
        need the rows in memory.
    cluster : str or distributed.Client, optional
        Keep the rows on the workers of a Dask cluster instead: its address, ``'local:4'`` for four
        workers on this machine, or a client. The workers must find the file under the same
        path. With the method ``'islands'`` rows are read here, and the islands evolve there.
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
    >>> found = learn(rows, max_generations=20, random_state=7)
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
        _warn([f"{describe_roots(roots, f'roots={list(roots)}')}."])
    return result


def _warn(notices: Sequence[str]) -> int:
    """Issue warnings; return their number."""
    for notice in notices:
        warn_caller(notice)
    return len(notices)
