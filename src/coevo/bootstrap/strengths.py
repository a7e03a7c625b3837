"""The strength of each arc: learn from many samples of the rows, then count.

Bootstraps are independent jobs, done here or in processes; each belongs to its number, so
that it does not matter where. With a folder each one is kept as it ends, and the same call
goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coevo.bootstrap.consensus import (
    ArcStrength,
    consensus,
    measure,
    significance_threshold,
    tally,
)
from coevo.bootstrap.journal import strength_journal
from coevo.bootstrap.runs import WHOLE, BootstrapRun, Plan, run_bootstrap
from coevo.checks import is_int
from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.experiments.journal import Journal, Tell
from coevo.graph import CPDAG, DAG, Arc, Constraints
from coevo.interrupts import gentle_interrupts
from coevo.parallel import run_jobs
from coevo.randomness import RandomState, seed_of
from coevo.score import FamilyScorer, Score, arc_gains, make_score
from coevo.search import Budget, Method, make_method

__all__ = ["StrengthResult", "strength"]


@dataclass(frozen=True)
class StrengthResult:
    """How sure each arc is, and the network of those that are.

    Attributes
    ----------
    arcs : tuple of ArcStrength
        Every arc that any bootstrap or the network of the whole table has, each pair of
        variables once, strongest first.
    threshold : float
        The strength above which an arc is significant, found from the strengths.
    consensus : DAG
        The significant arcs, strongest first, without those that would close a cycle.
    network : DAG
        The network of the whole table, which the gains are about.
    score : float
        Its score.
    n_bootstraps : int
        How many bootstraps this rests on.
    n_asked : int
        How many were asked for; more than were done if someone pressed Ctrl-C.
    seed : int
        With the same data, settings and limit it gives the same again.
    """

    arcs: tuple[ArcStrength, ...]
    threshold: float
    consensus: DAG
    network: DAG
    score: float
    n_bootstraps: int
    n_asked: int
    seed: int

    @property
    def cpdag(self) -> CPDAG:
        """The class of the consensus: which of its arcs data can direct."""
        return CPDAG(self.consensus)

    @property
    def is_complete(self) -> bool:
        """Whether every bootstrap was done."""
        return self.n_bootstraps == self.n_asked

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        cpdag = self.cpdag
        return {
            "arcs": [arc.as_dict() for arc in self.arcs],
            "threshold": self.threshold,
            "consensus": [{"from": a, "to": b} for a, b in self.consensus.arcs],
            "cpdag": {"arcs": list(map(list, cpdag.arcs)), "edges": list(map(list, cpdag.edges))},
            "network": [{"from": a, "to": b} for a, b in self.network.arcs],
            "score": self.score,
            "n_bootstraps": self.n_bootstraps,
            "n_asked": self.n_asked,
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return (
            f"<StrengthResult: {len(self.consensus.arcs)} of {len(self.arcs)} arcs above "
            f"{self.threshold:g}, {self.n_bootstraps:,} bootstraps>"
        )


def strength(
    dataset: Dataset,
    *,
    bootstraps: int = 200,
    method: str | Method = "ccma",
    score: str | Score = "bdeu",
    ess: float | None = None,
    weights: Mapping[Arc, float] | None = None,
    parent_penalty: float = 0.0,
    constraints: Constraints | None = None,
    budget: Budget | None = None,
    random_state: RandomState = None,
    n_jobs: int = 1,
    folder: str | Path | None = None,
    tell: Tell[BootstrapRun] = lambda run, done, total: None,
    heard: Callable[[], object] = lambda: None,
) -> StrengthResult:
    """Measure how sure each arc is: in how many bootstrap samples it is found.

    Each bootstrap draws as many rows as the table has, with replacement, and learns a network
    from them. What strength, direction and threshold mean stands in
    `coevo.bootstrap.consensus`. Bins of numbers are those of the whole table.

    Parameters
    ----------
    dataset : Dataset
        The observations.
    bootstraps : int
        How many samples of the rows.
    method, score, ess, weights, parent_penalty, constraints, budget
        Of each search, as for `run_search` and `FamilyScorer`. A budget in seconds is for one
        bootstrap, and what is found in it may differ from time to time.
    random_state : int, numpy Generator or None
        The same int gives the same answer; None gives another each time.
    n_jobs : int
        Number of processes. It changes nothing but the time.
    folder : path, optional
        Keep each bootstrap here as it ends; with the same int the same call then goes on.
    tell, heard : callable
        Called after each network, with the run, how many are done and how many there are (the
        whole table's is one of them); and at the first Ctrl-C.

    Returns
    -------
    StrengthResult
        Ctrl-C ends after the bootstraps under way; the result then rests on those done.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("cancer"), 2000, random_state=1)
    >>> found = coevo.strength(rows, bootstraps=20, method="hill_climb", random_state=7)
    >>> found
    <StrengthResult: 3 of 7 arcs above 0.4, 20 bootstraps>
    >>> [(arc.parent, arc.child, arc.strength) for arc in found.arcs[:2]]
    [('Cancer', 'Smoker', 1.0), ('Cancer', 'Xray', 1.0)]
    """
    if not isinstance(dataset, Dataset):
        raise bad_parameter("dataset", "strength", "a Dataset (see read_data)", dataset)
    for name, value in (("bootstraps", bootstraps), ("n_jobs", n_jobs)):
        if not is_int(value, 1):
            raise bad_parameter(name, "strength", "an int >= 1", value)
    plan = Plan(
        method=make_method(method, "strength"),
        score=make_score(score, ess, "strength"),
        weights=weights,
        parent_penalty=parent_penalty,
        constraints=Constraints() if constraints is None else constraints,
        budget=Budget() if budget is None else budget,
        seed=seed_of(random_state, "strength"),
    )
    for name, given, kind in (
        ("constraints", plan.constraints, Constraints),
        ("budget", plan.budget, Budget),
    ):
        if not isinstance(given, kind):
            raise bad_parameter(name, "strength", f"a {kind.__name__} or None", given)
    scorer = plan.scorer(dataset)
    plan.constraints.rules(dataset.names)
    journal = None if folder is None else strength_journal(Path(folder), scorer, plan)
    runs = _runs(dataset, plan, int(bootstraps), int(n_jobs), journal, tell, heard)
    return _result(scorer, plan, runs, int(bootstraps))


def _runs(
    dataset: Dataset,
    plan: Plan,
    bootstraps: int,
    n_jobs: int,
    journal: Journal[BootstrapRun] | None,
    tell: Tell[BootstrapRun],
    heard: Callable[[], object],
) -> dict[int, BootstrapRun]:
    """Do the runs that are not done yet; return all, by number."""
    if journal is not None:
        journal.open()
    kept = {} if journal is None else {run.bootstrap: run for run in journal.records.values()}
    found = {number: run for number, run in kept.items() if number <= bootstraps}

    def keep(runs: Iterable[BootstrapRun]) -> None:
        for run in runs:
            if journal is not None:
                journal.add(run)
            found[run.bootstrap] = run
            tell(run, len(found), bootstraps + 1)

    if WHOLE not in found:  # here first, so that several processes do not compile the same
        keep([run_bootstrap(dataset, plan, n_jobs, WHOLE)])
    missing = [number for number in range(1, bootstraps + 1) if number not in found]
    with gentle_interrupts(heard) as interrupts:
        function = partial(run_bootstrap, dataset, plan, 1)
        keep(run_jobs(function, missing, n_jobs, stop=lambda: interrupts.asked))
        if journal is not None:
            journal.put_in_order()
    if len(found) == 1:
        raise KeyboardInterrupt  # before the first bootstrap: there is nothing to tell
    return found


def _result(
    scorer: FamilyScorer, plan: Plan, runs: Mapping[int, BootstrapRun], n_asked: int
) -> StrengthResult:
    """Count, find the threshold and the consensus."""
    names = scorer.dataset.names
    rules = plan.constraints.rules(names)
    whole, n_done = DAG(names, runs[WHOLE].arcs), len(runs) - 1
    dags = (DAG(names, runs[number].arcs) for number in sorted(runs) if number != WHOLE)
    halves = tally(dags, names, rules)
    arcs = measure(halves, n_done, whole, arc_gains(scorer, whole))
    threshold = significance_threshold(arc.strength for arc in arcs)
    marked = consensus(arcs, threshold, rules.max_parents)
    return StrengthResult(
        arcs=marked,
        threshold=threshold,
        consensus=DAG(names, [(arc.parent, arc.child) for arc in marked if arc.in_consensus]),
        network=whole,
        score=runs[WHOLE].score,
        n_bootstraps=n_done,
        n_asked=n_asked,
        seed=plan.seed,
    )
