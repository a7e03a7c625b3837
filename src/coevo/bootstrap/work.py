"""Bootstraps done, here or in processes, and what they come to.

Each bootstrap belongs to its number, so that it does not matter where it is done. With a
journal each one is kept as it ends, and the same work goes on from there. The network of the
whole table is one of them; who has it already hands it in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.bootstrap.consensus import consensus, measure, significance_threshold, tally
from coevo.bootstrap.journal import strength_journal
from coevo.bootstrap.result import BootstrapResult
from coevo.bootstrap.runs import WHOLE, BootstrapRun, Plan, run_bootstrap
from coevo.data import IncompleteDataset
from coevo.graph import DAG
from coevo.interrupts import gentle_interrupts
from coevo.io.journal import Journal, Tell
from coevo.parallel import Cluster, open_workers
from coevo.score import FamilyScorer

__all__ = ["Work"]


@dataclass(frozen=True)
class Work:
    """Bootstraps to be done; made before anything long begins, as it says what is wrong.

    Parameters
    ----------
    scorer : FamilyScorer
        The table, and the score with the weights of the plan.
    plan : Plan
        What all bootstraps share.
    bootstraps : int
        How many.
    where : (int, Cluster)
        Number of processes, or the cluster; see `open_workers`.
    journal : Journal, optional
        Where each bootstrap is kept as it ends.
    table : IncompleteDataset, optional
        The table, if some of its cells are missing; the scorer then only tells of settings.
        Where rows with such cells are dropped, samples are drawn from those that are left.
    """

    scorer: FamilyScorer
    plan: Plan
    bootstraps: int
    where: tuple[int, Cluster] = (1, None)
    journal: Journal[BootstrapRun] | None = None
    table: IncompleteDataset | None = None

    @classmethod
    def on(
        cls,
        scorer: FamilyScorer,
        plan: Plan,
        bootstraps: int,
        where: tuple[int, Cluster],
        folder: str | os.PathLike[str] | None,
        table: IncompleteDataset | None = None,
    ) -> Work:
        """Return the work, or refuse constraints or a folder that do not go with it."""
        plan.constraints.rules(scorer.dataset.names)
        place = None if folder is None else Path(folder)
        journal = None if place is None else strength_journal(place, scorer, plan, table)
        if table is not None and plan.missing == "drop":
            scorer, table = plan.scorer(table.complete_rows()), None
        return cls(scorer, plan, bootstraps, where, journal, table)

    def done(
        self,
        tell: Tell[BootstrapRun] = lambda run, done, total: None,
        heard: Callable[[], object] = lambda: None,
        whole: BootstrapRun | None = None,
    ) -> BootstrapResult:
        """Do the bootstraps that are not done yet; return what all of them say.

        `whole` is the network of the whole table, if it is there already. Ctrl-C ends after
        the bootstraps under way, and is an interrupt only if there is none at all.
        """
        runs = self._runs(tell, heard, whole)
        if len(runs) == 1:
            raise KeyboardInterrupt  # before the first bootstrap: there is nothing to tell
        return self._result(runs)

    def _runs(
        self, tell: Tell[BootstrapRun], heard: Callable[[], object], whole: BootstrapRun | None
    ) -> dict[int, BootstrapRun]:
        """Do the runs that are not done yet; return all, by number."""
        journal, rows = self.journal, self.scorer.dataset if self.table is None else self.table
        if journal is not None:
            journal.open()
        records = () if journal is None else journal.records.values()
        kept = {
            run.bootstrap: run for run in records if run.bootstrap != WHOLE or run.worth is not None
        }
        found = {number: run for number, run in kept.items() if number <= self.bootstraps}

        def keep(runs: Iterable[BootstrapRun], is_news: bool = True) -> None:
            for run in runs:
                if journal is not None:
                    journal.add(run)
                found[run.bootstrap] = run
                if is_news:
                    tell(run, len(found), self.bootstraps + 1)

        if whole is not None:  # whatever was kept: the clock may have ended that one elsewhere
            keep([whole], is_news=False)
        elif WHOLE not in found:  # here first, so that several processes do not compile the same
            keep([run_bootstrap(rows, self.plan, self.where[0], WHOLE)])
        missing = [number for number in range(1, self.bootstraps + 1) if number not in found]
        with gentle_interrupts(heard) as interrupts:
            if missing:
                shared = (rows, self.plan, 1)
                with open_workers(*self.where) as workers:
                    keep(
                        workers.run(run_bootstrap, missing, lambda: interrupts.asked, shared=shared)
                    )
            if journal is not None:
                journal.put_in_order()
        return found

    def _result(self, runs: Mapping[int, BootstrapRun]) -> BootstrapResult:
        """Count, find the threshold and the consensus."""
        names = self.scorer.dataset.names
        rules = self.plan.constraints.rules(names)
        whole, n_done = DAG(names, runs[WHOLE].arcs), len(runs) - 1
        dags = (DAG(names, runs[number].arcs) for number in sorted(runs) if number != WHOLE)
        halves = tally(dags, names, rules)
        arcs = measure(halves, n_done, whole, runs[WHOLE].gains)
        threshold = significance_threshold(arc.strength for arc in arcs)
        marked = consensus(arcs, threshold, rules.max_parents)
        shares = runs[WHOLE].shares
        if shares is not None:
            marked = tuple(
                replace(arc, support=shares.get(frozenset((arc.parent, arc.child)), 0.0))
                for arc in marked
            )
        return BootstrapResult(
            arcs=marked,
            threshold=threshold,
            consensus=DAG(names, [(arc.parent, arc.child) for arc in marked if arc.in_consensus]),
            network=whole,
            score=runs[WHOLE].score,
            n_bootstraps=n_done,
            n_asked=self.bootstraps,
            seed=self.plan.seed,
        )
