"""The systems that the 2011 paper names, and CCMA: what each is, and its runs.

A system is a method of `coevo.search` with its settings. Some need an order of the variables: a
*random* order, drawn anew for each run, or the *true* order, which is a topological order of the
network that the data come from. No user has the true order. It shows what the order is worth.

The data sets are those of `coevo.experiments.paper`. Run r of every system on a data set has the
seed of run r of CCGA there. So CCGA does the same runs in both experiments, and systems can be
compared run by run: those that use a random order use the same one. Each run has its own scorer, so
that its time does not depend on the runs before it. Times are CPU times. They exclude the sampling
of data.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from coevo import __version__
from coevo.bundled import open_network
from coevo.data import Dataset
from coevo.errors import bad_choice, bad_parameter
from coevo.experiments.experiment import check_no_repeats
from coevo.experiments.paper.plan import (
    ALGORITHMS,
    COMMON,
    SCORE,
    Paper,
    PaperDataSet,
    make_run_journal,
    open_network_once,
)
from coevo.graph import CPDAG
from coevo.io.journal import Journal
from coevo.network import sample
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import (
    CCGA,
    CCMA,
    GA,
    GES,
    K2,
    K2GA,
    MDLEP,
    MMHC,
    PC,
    Budget,
    HillClimb,
    Method,
    SearchSpec,
    Wong,
    make_spec,
)
from coevo.search.ccga import GENERATIONS

__all__ = [
    "SYSTEMS",
    "Order",
    "Reviewed",
    "ReviewedRecord",
    "count_ccga_evaluations",
    "draw_order",
    "make_reviewed_journal",
    "run_reviewed_job",
    "score_true_network",
]


Order = tuple[str, ...] | None  # all variables, possible parents first


@dataclass(frozen=True)
class System:
    """A system of the comparison.

    Attributes
    ----------
    name : str
        The name on the command line and in the files.
    label : str
        The name in sentences.
    description : str
        What it is and where it comes from.
    make_method : callable
        Returns the method for a population size of CCGA and an order.
    order : str or None
        The order that it needs: ``'random'``, ``'true'`` or None.
    evolves : bool
        Whether it uses all evaluations that it may. The others end by themselves, early.
    has_randomness : bool
        Whether runs differ. One run is enough for the others.
    patience : int or None
        The number of generations without a better structure after which it has converged.
    """

    name: str
    label: str
    description: str
    make_method: Callable[[int, Order], Method]
    order: str | None = None
    evolves: bool = True
    has_randomness: bool = True
    patience: int | None = None


_ALL = (
    System(
        "ccga",
        "CCGA",
        "the algorithm of the paper: orders and masks, CCGA-2 (Carvalho 2011)",
        lambda size, order: CCGA(population=size),
    ),
    System(
        "ccga-1",
        "CCGA-1",
        "the same with the more greedy credit: only the best partner (Potter and De Jong 1994)",
        lambda size, order: CCGA(population=size, random_partners=0),
    ),
    System(
        "ga",
        "GA",
        "graphs as connectivity matrices; repair removes random arcs of cycles (Larrañaga et "
        "al. 1996)",
        lambda size, order: GA(),
    ),
    System(
        "ga-information",
        "GA with repair by information",
        "the same; repair removes the weakest arc of a cycle (Delaplace et al. 2007)",
        lambda size, order: GA(repair="information"),
    ),
    System(
        "ga-random-order",
        "GA under a random order",
        "the same without repair: only arcs along a fixed order, drawn anew for each run",
        lambda size, order: GA(order=order),
        order="random",
    ),
    System(
        "ga-true-order",
        "GA under the true order",
        "the same with an order of the true network, which no user has",
        lambda size, order: GA(order=order),
        order="true",
    ),
    System(
        "k2ga",
        "K2GA",
        "orders, each completed by K2 (Larrañaga et al. 1996)",
        lambda size, order: K2GA(),
    ),
    System(
        "wong",
        "Wong's hybrid",
        "independence tests, then one species for each variable, and a belief factor (Wong et "
        "al. 2004)",
        lambda size, order: Wong(),
        patience=200,
    ),
    System(
        "mdlep",
        "MDLEP",
        "evolutionary programming over graphs: mutations and tournaments, no crossover (Wong et "
        "al. 1999)",
        lambda size, order: MDLEP(),
        patience=200,
    ),
    System(
        "ccma",
        "CCMA",
        "the method of coevo: orders and masks with local search and an archive of families",
        lambda size, order: CCMA(),
        patience=25,
    ),
    System(
        "k2",
        "K2",
        "the baseline of the paper: K2 with random orders, at most ten parents (Cooper and "
        "Herskovits 1992)",
        lambda size, order: K2(),
        evolves=False,
    ),
    System(
        "k2-true-order",
        "K2 with the true order",
        "the same with an order of the true network, which no user has",
        lambda size, order: K2(order=order),
        order="true",
        evolves=False,
        has_randomness=False,
    ),
    System(
        "hill_climb",
        "hill climbing",
        "the simplest score-based method: the best change of one arc, until none helps",
        lambda size, order: HillClimb(),
        evolves=False,
        has_randomness=False,
    ),
    System(
        "ges",
        "GES",
        "score-based, over equivalence classes (Chickering 2002)",
        lambda size, order: GES(),
        evolves=False,
        has_randomness=False,
    ),
    System(
        "mmhc",
        "MMHC",
        "tests find the neighbours, hill climbing the arcs (Tsamardinos et al. 2006)",
        lambda size, order: MMHC(),
        evolves=False,
        has_randomness=False,
    ),
    System(
        "pc",
        "PC",
        "constraint-based: independence tests only (PC-stable, Colombo and Maathuis 2014)",
        lambda size, order: PC(),
        evolves=False,
        has_randomness=False,
    ),
)
SYSTEMS = {system.name: system for system in _ALL}


@dataclass(frozen=True)
class ReviewedJob:
    """One run of one system on one data set."""

    data: PaperDataSet
    system: str
    run: int
    seed: int
    max_evaluations: int
    population: int  # of CCGA

    @property
    def key(self) -> tuple[str, int, str, int]:
        """The key that identifies the run."""
        return self.data.network, self.data.rows, self.system, self.run

    def make_spec(self, order: Order) -> SearchSpec:
        """Return the search. A system that evolves has the common limit on evaluations."""
        system = SYSTEMS[self.system]
        budget = Budget(max_evaluations=self.max_evaluations, patience=system.patience)
        return make_spec(
            "paper",
            method=system.make_method(self.population, order),
            score=SCORE,
            budget=budget if system.evolves else None,
            random_state=self.seed,
            max_table=None,  # the paper has no such limit
        )


@dataclass(frozen=True)
class Reviewed:
    """The comparison of the systems that the paper names.

    Parameters
    ----------
    networks : sequence of str
        Bundled networks, or BIF files.
    rows : sequence of int
        Numbers of rows of the data sets.
    runs : int
        Number of runs of each system on each data set; a system without randomness has one.
    seed : int
        The same seed gives the same tables and figures.
    generations, population : int
        The number of generations and the population size of CCGA. The evaluations that CCGA
        needs for them are the limit of every system that evolves.
    systems : sequence of str
        The names of the systems (default: all).
    """

    networks: tuple[str, ...] = ("alarm", "insurance")
    rows: tuple[int, ...] = (1000, 3000, 5000)
    runs: int = 20
    seed: int = 0
    generations: int = GENERATIONS
    population: int = 100
    systems: tuple[str, ...] = tuple(SYSTEMS)

    def __post_init__(self) -> None:
        object.__setattr__(self, "networks", tuple(self.networks))
        object.__setattr__(self, "rows", tuple(self.rows))
        self._make_paper()  # this checks all but the systems
        object.__setattr__(self, "systems", _sort_systems(self.systems))

    def _make_paper(self) -> Paper:
        return Paper(
            self.networks, self.rows, self.runs, self.seed, self.generations, self.population
        )

    @property
    def chosen_systems(self) -> tuple[System, ...]:
        """The systems, in the order of the tables."""
        return tuple(SYSTEMS[name] for name in self.systems)

    def list_data_sets(self) -> list[PaperDataSet]:
        """Return the data sets, in the order of the tables."""
        return self._make_paper().list_data_sets()

    def count_runs(self, system: System) -> int:
        """Return the number of runs of a system on a data set."""
        return self.runs if system.has_randomness else 1

    def count_evaluations(self, network: str) -> int:
        """Return the limit on evaluations of a run on a network."""
        n_variables = len(open_network(network).variables)
        return count_ccga_evaluations(n_variables, self.generations, self.population)

    def list_jobs(self) -> list[ReviewedJob]:
        """Return all runs, in the order of the journal."""
        limits = {network: self.count_evaluations(network) for network in self.networks}
        paper_jobs = self._make_paper().list_jobs()
        seeds = {
            (job.data, job.run): job.seed for job in paper_jobs if job.algorithm == ALGORITHMS[0]
        }
        return [
            ReviewedJob(
                data, system.name, run, seeds[data, run], limits[data.network], self.population
            )
            for data in self.list_data_sets()
            for system in self.chosen_systems
            for run in range(self.count_runs(system))
        ]


def count_ccga_evaluations(n_variables: int, generations: int, population: int) -> int:
    """Return the number of local scores that a run of CCGA requests.

    The start scores each individual of both species once, a generation scores each child twice.

    >>> count_ccga_evaluations(37, 250, 100)
    3707400
    """
    return n_variables * 2 * population * (1 + 2 * generations)


def _sort_systems(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of systems in the order of the tables; raise `ParameterError` for others."""
    chosen = tuple(names)
    for name in chosen:
        if name not in SYSTEMS:
            raise bad_choice("systems", "paper", tuple(SYSTEMS), name)
    if not chosen:
        raise bad_parameter("systems", "paper", "names of systems", chosen)
    check_no_repeats("paper", systems=chosen)
    return tuple(name for name in SYSTEMS if name in chosen)


@dataclass(frozen=True)
class ReviewedRecord:
    """The record of a run; `improvements` has (evaluations, score), including the start.

    `shd` is the structural Hamming distance between the CPDAGs of the structure and of the true
    network.
    """

    network: str
    rows: int
    system: str
    run: int
    seed: int
    score: float
    shd: int
    n_arcs: int
    generations: int
    evaluations: int
    improvements: tuple[tuple[int, float], ...]
    seconds: float

    @property
    def key(self) -> tuple[str, int, str, int]:
        """The key that identifies the run."""
        return self.network, self.rows, self.system, self.run


@lru_cache(maxsize=1)  # the runs on one data set follow each other
def _sample_rows(data: PaperDataSet) -> Dataset:
    return sample(open_network_once(data.network), data.rows, data.seed)


def score_true_network(data: PaperDataSet) -> float:
    """Return the score of the network from which the rows were sampled."""
    return FamilyScorer(_sample_rows(data), SCORE).score(open_network_once(data.network).dag)


def draw_order(names: tuple[str, ...], seed: int) -> tuple[str, ...]:
    """Return the order that K2 draws for a seed."""
    return tuple(names[i] for i in random_stream(seed, 0).permutation(len(names)))


def run_reviewed_job(job: ReviewedJob) -> ReviewedRecord:
    """Run one system on one data set."""
    system, true = SYSTEMS[job.system], open_network_once(job.data.network).dag
    dataset = _sample_rows(job.data)
    order: Order = None
    if system.order == "true":
        order = true.topological_order
    elif system.order == "random":
        order = draw_order(tuple(dataset.names), job.seed)

    spec = job.make_spec(order)
    scorer = spec.make_scorer(dataset)
    start = time.process_time()
    result = spec.run(scorer)
    seconds = time.process_time() - start
    if result.stop_reason == "interrupt":  # a second Ctrl-C; an unfinished run is not recorded
        raise KeyboardInterrupt

    improvements = tuple(
        (row.evaluations, round(row.score, 3))
        for row in (result.history if system.evolves else ())
        if row.improved == row.generation
    )
    differing = CPDAG(result.dag).directions ^ CPDAG(true).directions
    return ReviewedRecord(
        network=job.data.network,
        rows=job.data.rows,
        system=job.system,
        run=job.run,
        seed=job.seed,
        score=result.score,
        shd=len({frozenset(arc) for arc in differing}),
        n_arcs=len(result.dag.arcs),
        generations=result.generations,
        evaluations=result.evaluations,
        improvements=improvements,
        seconds=round(seconds, 4),
    )


def make_reviewed_journal(folder: Path, reviewed: Reviewed) -> Journal[ReviewedRecord]:
    """Return the journal of a folder; raise an error if it holds another experiment."""
    settings = {
        "experiment": "reviewed",
        "version": __version__,
        **{name: getattr(reviewed, name) for name in COMMON},
    }
    return make_run_journal(
        folder, settings, reviewed.networks, "system", tuple(SYSTEMS), _read_record
    )


def _read_record(line: dict[str, Any]) -> ReviewedRecord:
    """Return the record of a line, without its time, which is in another file."""
    steps = tuple((int(evaluations), float(score)) for evaluations, score in line["improvements"])
    record = ReviewedRecord(**{**line, "improvements": steps}, seconds=0.0)
    integers = (record.rows, record.run, record.seed, record.shd, record.n_arcs)
    if (
        not isinstance(record.network, str)
        or record.system not in SYSTEMS
        or not all(isinstance(number, int) for number in integers)
        or not all(isinstance(n, int) for n in (record.generations, record.evaluations))
        or not math.isfinite(record.score)
        or bool(steps) != SYSTEMS[record.system].evolves
    ):
        raise ValueError
    return record
