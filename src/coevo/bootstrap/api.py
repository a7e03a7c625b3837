"""The strength of each arc: learn from many samples of the rows, then count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from coevo.bootstrap.result import BootstrapResult
from coevo.bootstrap.runs import BootstrapRun, Plan
from coevo.bootstrap.work import Work
from coevo.checks import is_int
from coevo.data import Dataset, IncompleteDataset, Rows
from coevo.errors import DataError, bad_parameter
from coevo.graph import Arc, Constraints
from coevo.io.journal import Tell
from coevo.missing import POLICIES, check_policy
from coevo.parallel import Cluster, check_workers
from coevo.randomness import RandomState, seed_of
from coevo.score import Score, make_score
from coevo.search import Budget, Method, make_method

__all__ = ["strength"]


def strength(
    dataset: Rows,
    *,
    bootstraps: int = 200,
    missing: str | None = None,
    method: str | Method = "ccma",
    score: str | Score = "bdeu",
    ess: float | None = None,
    weights: Mapping[Arc, float] | None = None,
    parent_penalty: float = 0.0,
    constraints: Constraints | None = None,
    budget: Budget | None = None,
    random_state: RandomState = None,
    n_jobs: int = 1,
    cluster: Cluster = None,
    folder: str | Path | None = None,
    tell: Tell[BootstrapRun] = lambda run, done, total: None,
    heard: Callable[[], object] = lambda: None,
) -> BootstrapResult:
    """Measure how sure each arc is: in how many bootstrap samples it is found.

    Each bootstrap draws as many rows as the table has, with replacement, and learns a network
    from them. What strength, direction and threshold mean stands in
    `coevo.bootstrap.consensus`. Bins of numbers are those of the whole table.

    Parameters
    ----------
    dataset : Dataset or IncompleteDataset
        The observations.
    bootstraps : int
        How many samples of the rows.
    missing : str, optional
        What becomes of missing cells in each sample, as for `learn_incomplete`: rows are
        drawn with theirs. Under ``'drop'`` samples are drawn from the rows that have none.
    method, score, ess, weights, parent_penalty, constraints, budget
        Of each search, as for `run_search` and `FamilyScorer`. A budget in seconds is for one
        bootstrap, and what is found in it may differ from time to time.
    random_state : int, numpy Generator or None
        The same int gives the same answer; None gives another each time.
    n_jobs : int
        Number of processes. It changes nothing but the time.
    cluster : str or distributed.Client, optional
        Do the bootstraps on a Dask cluster instead: its address, ``'local:4'`` for so many
        workers on this machine, or a client. It changes nothing but the time.
    folder : path, optional
        Keep each bootstrap here as it ends; with the same int the same call then goes on.
    tell, heard : callable
        Called after each network, with the run, how many are done and how many there are (the
        whole table's is one of them); and at the first Ctrl-C.

    Returns
    -------
    BootstrapResult
        Ctrl-C ends after the bootstraps under way; the result then rests on those done.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("cancer"), 2000, random_state=1)
    >>> found = coevo.strength(rows, bootstraps=20, method="hill_climb", random_state=7)
    >>> found
    <BootstrapResult: 3 of 7 arcs above 0.4, 20 bootstraps>
    >>> [(arc.parent, arc.child, arc.strength) for arc in found.arcs[:2]]
    [('Cancer', 'Smoker', 1.0), ('Cancer', 'Xray', 1.0)]
    """
    complete, table = _parts(dataset, missing)
    if not is_int(bootstraps, 1):
        raise bad_parameter("bootstraps", "strength", "an int >= 1", bootstraps)
    check_workers("strength", n_jobs, cluster)
    plan = Plan(
        method=make_method(method, "strength"),
        score=make_score(score, ess, "strength"),
        weights=weights,
        parent_penalty=parent_penalty,
        constraints=Constraints() if constraints is None else constraints,
        budget=Budget() if budget is None else budget,
        seed=seed_of(random_state, "strength"),
        missing=None if table is None else missing,
    )
    for name, given, kind in (
        ("constraints", plan.constraints, Constraints),
        ("budget", plan.budget, Budget),
    ):
        if not isinstance(given, kind):
            raise bad_parameter(name, "strength", f"a {kind.__name__} or None", given)
    scorer = plan.scorer(complete)
    where = (int(n_jobs), cluster)
    return Work.on(scorer, plan, int(bootstraps), where, folder, table).done(tell, heard)


def _parts(rows: Rows, missing: str | None) -> tuple[Dataset, IncompleteDataset | None]:
    """Return the codes of a table, and the table if some cells are missing; check both."""
    if missing is not None:
        check_policy(missing, "strength")
    if isinstance(rows, Dataset):
        return rows, None
    if not isinstance(rows, IncompleteDataset):
        expected = "a Dataset (see read_data) or an IncompleteDataset (see read_incomplete)"
        raise bad_parameter("dataset", "strength", expected, rows)
    if not rows.n_missing:
        return rows.dataset, None
    if missing is None:
        raise DataError(
            f"The table has missing cells ({rows.n_missing:,}). Say what becomes of them with "
            f"'missing': {', '.join(map(repr, POLICIES))}."
        )
    return rows.dataset, rows
