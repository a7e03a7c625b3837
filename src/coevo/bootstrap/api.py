"""`bootstrap_strength`: the strength of each arc over bootstrap samples of the rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

from coevo.bootstrap.journal import open_journal
from coevo.bootstrap.result import BootstrapResult
from coevo.bootstrap.run import run_bootstraps
from coevo.bootstrap.samples import BootstrapRun
from coevo.checks import is_int
from coevo.data import Dataset, Rows, as_rows
from coevo.errors import DataError, bad_parameter
from coevo.io.journal import RunCallback
from coevo.missing import POLICIES, check_policy
from coevo.options import SpecOptions
from coevo.parallel import Cluster, check_workers
from coevo.run_lock import lock_run_folder
from coevo.search import make_spec
from coevo.signatures import accept_options

__all__ = ["bootstrap_strength"]


@accept_options(SpecOptions)
def bootstrap_strength(
    table: Any,
    *,
    bootstraps: int = 200,
    missing: str | None = None,
    n_jobs: int = 1,
    cluster: Cluster = None,
    folder: str | Path | None = None,
    on_run: RunCallback[BootstrapRun] = lambda run, done, total: None,
    on_interrupt: Callable[[], object] = lambda: None,
    **options: Unpack[SpecOptions],
) -> BootstrapResult:
    """Measure the strength of each arc: the share of bootstrap samples whose network has it.

    Each bootstrap sample draws as many rows as the table has, with replacement, and learns a
    network from them. `coevo.bootstrap.consensus` defines strength, direction and threshold.
    Numbers keep the bins of the original table.

    Parameters
    ----------
    table : path, data frame, array, Dataset or IncompleteDataset
        The observations. Any other table than a Dataset is read as `learn` reads it.
    bootstraps : int
        Number of bootstrap samples.
    missing : str, optional
        The policy for missing values in each sample, as for `learn`: rows are drawn with their
        missing values. With ``'drop'`` samples are drawn from the complete rows.
    n_jobs : int
        Number of processes. It changes the time, never the answer.
    cluster : str or distributed.Client, optional
        Run on a Dask cluster instead: its address, ``'local:4'`` for four workers on this machine,
        or a client. It changes the time, never the answer.
    folder : path, optional
        Store each run here as it ends; the same call with the same int as `random_state` then
        resumes.
    on_run, on_interrupt : callable
        Called after each run, with the run, the number of runs done and the number of all runs
        (the original table is one of them); and at the first Ctrl-C.
    method, score, ess, constraints, weights, parent_penalty, sparse_penalty, max_table, start, \
budget, random_state : optional
        The search of each sample, as for `run_search` and `FamilyScorer`. A time limit holds for
        one sample; what it finds may then differ from run to run. The same int as
        `random_state` gives the same answer.

    Returns
    -------
    BootstrapResult
        Ctrl-C stops after the samples under way; the result is then based on the finished ones.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("cancer"), 2000, random_state=1)
    >>> found = bootstrap_strength(rows, bootstraps=20, method="hill_climb", random_state=7)
    >>> found
    <BootstrapResult: 3 of 4 arcs above 0.05, 20 bootstrap samples>
    >>> [(arc.parent, arc.child, arc.strength) for arc in found.arcs[:2]]
    [('Cancer', 'Xray', 1.0), ('Cancer', 'Smoker', 0.95)]
    """
    owner = "bootstrap_strength"
    rows = _check_table(table, missing, owner)
    if not is_int(bootstraps, 1):
        raise bad_parameter("bootstraps", owner, "an int >= 1", bootstraps)
    check_workers(owner, n_jobs, cluster)
    spec = make_spec(owner, **options)
    spec.constraints.to_rules(rows.names)
    journal = None if folder is None else open_journal(Path(folder), rows, spec, missing)
    with lock_run_folder(None if folder is None else Path(folder)):
        return run_bootstraps(
            rows,
            spec,
            int(bootstraps),
            missing=missing,
            workers=(int(n_jobs), cluster),
            journal=journal,
            on_run=on_run,
            on_interrupt=on_interrupt,
        )


def _check_table(table: Any, missing: str | None, owner: str) -> Rows:
    """Read the table and check the policy; return a plain `Dataset` if no value is missing."""
    if missing is not None:
        check_policy(missing, owner)
    rows = as_rows(table)
    if isinstance(rows, Dataset):
        return rows
    if not rows.n_missing:
        return rows.dataset
    if missing is None:
        raise DataError(
            f"The table has missing values ({rows.n_missing:,}). Choose a policy with 'missing': "
            f"{', '.join(map(repr, POLICIES))}."
        )
    return rows
