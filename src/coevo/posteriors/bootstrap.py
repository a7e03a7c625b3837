"""The bootstrap: networks learned from resampled rows, and the strength of each arc.

A sample depends on the seed and on its number alone: not on the process that draws it, the number
of samples or the order of rows. Number 0 is the original table with the seed itself, so that its
network is the one that `run_search` finds.

With a journal each run is stored as it ends, and the same call resumes from there. It does not
matter where a sample runs: here, in another process or on a worker. The network of the original
table is one of the runs; a caller that has it already passes it in.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from coevo.checks import is_int
from coevo.data import Dataset, IncompleteDataset, Rows, as_rows
from coevo.errors import DataError, bad_parameter
from coevo.files.run_folder import lock_run_folder
from coevo.graph import CPDAG, DAG, Arc, ArcRules
from coevo.io.journal import Journal, RecordFormat, RunCallback
from coevo.io.knowledge import read_number
from coevo.missing import POLICIES, check_policy
from coevo.options import SpecOptions
from coevo.parallel import Cluster, check_workers, open_workers
from coevo.posteriors.consensus import (
    ArcStrength,
    build_consensus,
    count_arcs,
    find_interval,
    find_threshold,
    measure_strengths,
)
from coevo.runtime.deadline import defer_interrupts
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer, arc_gains
from coevo.search import SearchResult, SearchSpec, make_spec
from coevo.signatures import accept_options

if TYPE_CHECKING:
    from coevo.view.picture import Picture

__all__ = [
    "ORIGINAL",
    "BootstrapResult",
    "BootstrapRun",
    "bootstrap_strength",
    "choose_rows",
    "make_consensus_rules",
    "open_journal",
    "record_original",
    "run_bootstrap",
    "run_bootstraps",
    "summarise_runs",
]


@dataclass(frozen=True)
class BootstrapResult:
    """The strength of each arc over bootstrap samples, and the consensus network.

    Attributes
    ----------
    arcs : tuple of ArcStrength
        Every arc of any sample's network or of the original table's, each pair of variables once,
        strongest first.
    threshold : float
        The strength above which an arc is significant, estimated from the strengths.
    consensus : DAG
        The significant arcs, added by falling strength, without those that would close a cycle.
    network : DAG
        The network of the original table, to which the gains refer.
    score : float
        Its score.
    n_bootstraps : int
        Number of bootstrap samples that this result is based on.
    n_asked : int
        Number of samples that were asked for; larger than `n_bootstraps` after Ctrl-C.
    seed : int
        The same seed gives the same result on the same data with the same settings.
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
        """The equivalence class of the consensus."""
        return CPDAG(self.consensus)

    @cached_property
    def _by_pair(self) -> dict[frozenset[str], ArcStrength]:
        return {frozenset((arc.parent, arc.child)): arc for arc in self.arcs}

    @property
    def is_complete(self) -> bool:
        """Whether every bootstrap sample was run."""
        return self.n_bootstraps == self.n_asked

    def strength_of(self, arc: Arc) -> tuple[float, float]:
        """Return the strength of an arc, and its direction.

        The direction is the share of the samples that join the two variables whose CPDAG has the
        arc. It is 0 if no sample joins them.
        """
        found = self._by_pair.get(frozenset(arc))
        if found is None:
            return 0.0, 0.0
        return found.strength, found.direction if arc[0] == found.parent else found.reverse

    def describe_arc(self, arc: Arc) -> dict[str, Any]:
        """Return the strength of an arc, its interval and its two directions, by name."""
        strength, direction = self.strength_of(arc)
        found = self._by_pair.get(frozenset(arc))
        interval = find_interval(0, self.n_bootstraps) if found is None else found.interval
        return {
            "strength": strength,
            "interval": list(interval),
            "direction": direction,
            "reverse": self.strength_of((arc[1], arc[0]))[1],
        }

    def arcs_missing_in(self, dag: DAG) -> tuple[ArcStrength, ...]:
        """Return the significant arcs between variables that a network does not join."""
        joined = {frozenset(arc) for arc in dag.arcs}
        return tuple(
            arc
            for arc in self.arcs
            if arc.strength > self.threshold and {arc.parent, arc.child} not in joined
        )

    def plot(self, *, cpdag: bool = True) -> Picture:
        """Draw the consensus. The width of a line is the strength of its arc.

        Parameters
        ----------
        cpdag : bool
            Whether only those arcs have an arrowhead that most samples direct so (default: True).
            False draws the consensus as a DAG, with an arrowhead on each arc.

        Returns
        -------
        Picture
            It shows itself in a notebook. ``save("graph.svg")`` writes it as SVG, PNG or PDF.
        """
        from coevo.view.picture import Link, draw_graph

        links = []
        for arc in self.consensus.arcs:
            strength, direction = self.strength_of(arc)
            note = f"strength {strength:.2f}, direction {direction:.2f}"
            is_directed = not cpdag or direction > 0.5
            links.append(Link(*arc, is_directed=is_directed, share=strength, note=note))
        return draw_graph(self.consensus.nodes, links)

    def _repr_html_(self) -> str:
        from coevo.view.picture.notebook import Table, render_block, render_graph_and_table

        rows = [
            (
                *(arc.parent, arc.child, f"{arc.strength:.2f}"),
                *(f"{arc.direction:.2f}", f"{arc.reverse:.2f}"),
                "yes" if arc.in_consensus else "no",
            )
            for arc in self.arcs
        ]
        headers = ["parent", "child", "strength", "direction", "reverse", "in consensus"]
        table = Table(headers, rows, numbers={2, 3, 4})
        graph = render_graph_and_table(
            len(self.consensus.nodes),
            self.plot,
            table,
            "The consensus network. Wider lines are stronger arcs. An arrowhead stands where most "
            "samples direct the arc.",
            "Arcs, the strongest first",
        )
        return render_block(repr(self)[1:-1], graph)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
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
            f"<BootstrapResult: {len(self.consensus.arcs)} of {len(self.arcs)} arcs above "
            f"{self.threshold:g}, {self.n_bootstraps:,} bootstrap samples>"
        )


ORIGINAL = 0  # the number of the run on the table itself
ROWS, SEARCH = 0, 1  # keys of the random streams of a sample


@dataclass(frozen=True)
class BootstrapRun:
    """The network of one bootstrap sample, and the time it took.

    The run on the original table also holds the gain of each arc (`worth`, its name in the file)
    and the support of each pair of variables that any individual of the last population joins.
    The support is None if the method has no population.
    """

    bootstrap: int
    score: float
    arcs: tuple[Arc, ...]
    generations: int
    seconds: float
    support: tuple[tuple[str, str, float], ...] | None = None
    worth: tuple[tuple[str, str, float], ...] | None = None

    @property
    def gains(self) -> dict[Arc, float]:
        """The gain of each arc of the original table's network."""
        if self.worth is None:
            raise ValueError(f"bootstrap {self.bootstrap} is not the run on the original table")
        return {(parent, child): gain for parent, child, gain in self.worth}

    @property
    def support_by_pair(self) -> dict[frozenset[str], float] | None:
        """The support by pair of variables."""
        if self.support is None:
            return None
        return {frozenset((one, two)): share for one, two, share in self.support}

    @property
    def key(self) -> tuple[int]:
        """The key of the run in a journal."""
        return (self.bootstrap,)


def run_bootstrap(
    table: Rows, spec: SearchSpec, missing: str | None, n_jobs: int, number: int
) -> BootstrapRun:
    """Draw the rows of a sample and search for their network.

    `missing` is the policy for missing values, and `n_jobs` the number of threads.
    """
    began = time.perf_counter()
    rows = table
    if number != ORIGINAL:
        rows = table.resample(random_stream(spec.seed, number, ROWS))
        seed = int(random_stream(spec.seed, number, SEARCH).integers(2**32))
        spec = replace(spec, seed=seed)
    result, scorer = _search(rows, spec, missing, n_jobs)
    if result.stop_reason == "interrupt":  # the result of an interrupted search is not used
        raise KeyboardInterrupt
    seconds = round(time.perf_counter() - began, 4)
    if number == ORIGINAL:
        return record_original(result, seconds, arc_gains(scorer, result.dag))
    return BootstrapRun(number, result.score, result.dag.arcs, result.generations, seconds)


def _search(
    rows: Rows, spec: SearchSpec, missing: str | None, n_jobs: int
) -> tuple[SearchResult, FamilyScorer]:
    """Return the result of the search on some rows, and its scorer."""
    if isinstance(rows, Dataset):
        scorer = spec.make_scorer(rows, n_jobs)
        return spec.run(scorer), scorer
    from coevo.missing import PolicyInput, search_incomplete

    output = search_incomplete(str(missing), PolicyInput(rows, spec, n_jobs))
    return output.result, output.scorer


def record_original(
    result: SearchResult, seconds: float, gains: Mapping[Arc, float]
) -> BootstrapRun:
    """Return the record of the search on the original table, with the gains of its arcs."""
    names, support, shares = result.dag.nodes, None, result.support
    if shares is not None:
        pairs = np.argwhere(np.triu(shares)).tolist()
        support = tuple((names[i], names[j], float(shares[i, j])) for i, j in pairs)
    worth = tuple((*arc, gains[arc]) for arc in result.dag.arcs)
    return BootstrapRun(
        ORIGINAL, result.score, result.dag.arcs, result.generations, seconds, support, worth
    )


def open_journal(
    folder: Path, table: Rows, spec: SearchSpec, missing: str | None = None
) -> Journal[BootstrapRun]:
    """Return the journal of a folder, or refuse one of other data or settings.

    The number of bootstrap samples is not part of the settings: more can be added later.
    """
    limits = {name: value for name, value in asdict(spec.budget).items() if value is not None}
    policy = {"missing": missing} if isinstance(table, IncompleteDataset) else {}
    common = spec.fingerprint(table.content_hash, **policy) | {"budget": limits}
    names = set(table.names)
    form = RecordFormat(
        ("bootstrap",),
        ("seconds",),
        lambda line: _read_run(line, names),
        lambda line: {"seconds": read_number(line["seconds"])},
    )
    return Journal(folder, form, common, lambda key: key)


def _read_numbers(listed: Any) -> tuple[tuple[str, str, float], ...] | None:
    """Return a number for each listed pair of variables."""
    if listed is None:
        return None
    return tuple((parent, child, read_number(number)) for parent, child, number in listed)


def _read_run(line: dict[str, Any], names: set[str]) -> BootstrapRun:
    """Return the run of a line; its time stands in another file."""
    arcs = tuple((parent, child) for parent, child in line["arcs"])
    numbers = {name: _read_numbers(line.get(name)) for name in ("support", "worth")}
    run = BootstrapRun(**{**line, "arcs": arcs, **numbers}, seconds=0.0)
    pairs = (*arcs, *(run.support_by_pair or ()))
    if (
        not all(type(n) is int and n >= 0 for n in (run.bootstrap, run.generations))
        or not math.isfinite(run.score)
        or not all(name in names for pair in pairs for name in pair)
    ):
        raise ValueError
    return run


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
    network from them. `coevo.posteriors.consensus` defines strength, direction and threshold.
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
    **options
        The search of each sample, as for `run_search` and `FamilyScorer`.

    Returns
    -------
    BootstrapResult
        Ctrl-C stops after the samples under way; the result is then based on the finished ones.

    Notes
    -----
    A time limit holds for one sample; what it finds may then differ from run to run. The same int
    as `random_state` gives the same answer.

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
