"""Run many bootstrap samples, here or on workers, and summarise them.

A sample depends on its number alone, so it does not matter where it runs. With a journal each run
is stored as it ends, and the same call resumes from there. The network of the original table is one
of the runs; a caller that has it already passes it in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from coevo.data import Dataset, IncompleteDataset, Rows
from coevo.graph import DAG, ArcRules
from coevo.interrupts import defer_interrupts
from coevo.io.journal import Journal, RunCallback
from coevo.parallel import Cluster, open_workers
from coevo.posteriors.bootstrap.consensus import (
    build_consensus,
    count_arcs,
    find_threshold,
    measure_strengths,
)
from coevo.posteriors.bootstrap.result import BootstrapResult
from coevo.posteriors.bootstrap.samples import ORIGINAL, BootstrapRun, run_bootstrap
from coevo.search import SearchSpec

__all__ = ["choose_rows", "make_consensus_rules", "run_bootstraps", "summarise_runs"]


def run_bootstraps(
    table: Rows,
    spec: SearchSpec,
    bootstraps: int,
    *,
    missing: str | None = None,
    workers: tuple[int, Cluster] = (1, None),
    journal: Journal[BootstrapRun] | None = None,
    original: BootstrapRun | None = None,
    on_run: RunCallback[BootstrapRun] = lambda run, done, total: None,
    on_interrupt: Callable[[], object] = lambda: None,
) -> BootstrapResult:
    """Run the bootstrap samples that are not in the journal; summarise all of them.

    Parameters
    ----------
    table : Dataset or IncompleteDataset
        The original table. With the policy ``'drop'`` samples are drawn from its complete rows.
    spec : SearchSpec
        The search of each sample.
    bootstraps : int
        Number of bootstrap samples.
    missing : str, optional
        The policy for missing values.
    workers : (int, Cluster)
        Number of processes, and the cluster if there is one; see `open_workers`.
    journal : Journal, optional
        Where each run is stored as it ends.
    original : BootstrapRun, optional
        The run on the original table, if the caller has it.
    on_run, on_interrupt : callable
        Called after each run, and at the first Ctrl-C. Ctrl-C stops after the current runs;
        before the first sample has ended it is a `KeyboardInterrupt`.
    """
    table = choose_rows(table, missing)
    if journal is not None:
        journal.open(is_late=original is not None)
    stored = () if journal is None else journal.records.values()
    runs = {
        run.bootstrap: run
        for run in stored
        if run.bootstrap <= bootstraps and (run.bootstrap != ORIGINAL or run.worth is not None)
    }

    def store(new: Iterable[BootstrapRun], is_shown: bool = True) -> None:
        for run in new:
            if journal is not None:
                journal.save(run)
            runs[run.bootstrap] = run
            if is_shown:
                on_run(run, len(runs), bootstraps + 1)

    if original is not None:  # it replaces a stored one, which another time limit may have ended
        store([original], is_shown=False)
    elif ORIGINAL not in runs:
        store([run_bootstrap(table, spec, missing, workers[0], ORIGINAL)])
    numbers = [number for number in range(1, bootstraps + 1) if number not in runs]
    with defer_interrupts(on_interrupt) as interrupts:
        if numbers:
            with open_workers(*workers) as opened:
                shared = (table, spec, missing, 1)
                store(
                    opened.run(run_bootstrap, numbers, lambda: interrupts.is_pending, shared=shared)
                )
        if journal is not None:
            journal.finish()
    if len(runs) == 1:
        raise KeyboardInterrupt  # no sample has ended: there is nothing to summarise
    rules = make_consensus_rules(table, spec, missing)
    return summarise_runs(table.names, rules, spec, bootstraps, runs)


def choose_rows(table: Rows, missing: str | None) -> Rows:
    """Return the rows that samples are drawn from: the complete ones, if others are dropped."""
    if missing == "drop" and isinstance(table, IncompleteDataset):
        return table.drop_incomplete_rows()
    return table


def make_consensus_rules(table: Rows, spec: SearchSpec, missing: str | None = None) -> ArcRules:
    """Return the rules of the consensus, with the limit on tables."""
    rows = table
    if isinstance(table, IncompleteDataset):
        rows = table.add_missing_state() if missing == "state" else table.dataset
    assert isinstance(rows, Dataset)
    return spec.constraints.to_rules(rows.names).with_table_limit(rows.arities, spec.max_table)


def summarise_runs(
    names: tuple[str, ...],
    rules: ArcRules,
    spec: SearchSpec,
    n_asked: int,
    runs: Mapping[int, BootstrapRun],
) -> BootstrapResult:
    """Count the arcs of all runs, find the threshold and build the consensus."""
    original, n_done = runs[ORIGINAL], len(runs) - 1
    network = DAG(names, original.arcs)
    dags = (DAG(names, runs[number].arcs) for number in sorted(runs) if number != ORIGINAL)
    arcs = measure_strengths(count_arcs(dags, names, rules), n_done, network, original.gains)
    threshold = find_threshold(arc.strength for arc in arcs)
    arcs = build_consensus(arcs, threshold, names, rules)
    support = original.support_by_pair
    if support is not None:
        arcs = tuple(
            replace(arc, support=support.get(frozenset((arc.parent, arc.child)), 0.0))
            for arc in arcs
        )
    return BootstrapResult(
        arcs=arcs,
        threshold=threshold,
        consensus=DAG(names, [(arc.parent, arc.child) for arc in arcs if arc.in_consensus]),
        network=network,
        score=original.score,
        n_bootstraps=n_done,
        n_asked=n_asked,
        seed=spec.seed,
    )
