"""The runs of the paper's experiment: data sets, seeds, one run on a worker, and the journal.

A data set is identified by (seed, network, rows), a run by (seed, network, rows, algorithm,
number). So runs can be added, left out or distributed over processes without changing any other
run.

A worker keeps the data and one scorer per algorithm for its last data set, so runs on the same
data share the cache of local scores. Times are CPU times. They exclude the sampling of data.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from coevo import __version__
from coevo.bundled import open_network
from coevo.checks import is_int
from coevo.errors import bad_parameter
from coevo.experiments.experiment import check_data_sources, derive_seed, hash_networks
from coevo.io.journal import Journal, JournalRecord, RecordFormat
from coevo.io.knowledge import read_number
from coevo.network import BayesianNetwork, sample
from coevo.score import FamilyScorer
from coevo.search import CCGA, K2, Budget, SearchSpec, make_spec
from coevo.search.ccga import GENERATIONS

__all__ = [
    "ALGORITHMS",
    "SCORE",
    "Paper",
    "PaperDataSet",
    "PaperRecord",
    "make_paper_journal",
    "make_run_journal",
    "open_network_once",
    "run_paper_job",
    "score_original_dag",
]


ALGORITHMS = ("ccga", "k2")
Record = TypeVar("Record", bound=JournalRecord)
SCORE = "k2"  # the paper's "BDe with every hyperparameter 1"


@dataclass(frozen=True, order=True)
class PaperDataSet:
    """Rows sampled from a network; `seed` is the ``--seed`` of ``coevo sample``."""

    network: str
    rows: int
    seed: int

    @property
    def label(self) -> str:
        """The name in the paper.

        >>> PaperDataSet("alarm", 1000, 7).label
        'Alarm 1000'
        """
        return f"{self.network.capitalize()} {self.rows}"


@dataclass(frozen=True)
class PaperJob:
    """One run of one algorithm on one data set."""

    data: PaperDataSet
    algorithm: str
    run: int
    seed: int
    generations: int
    population: int

    @property
    def key(self) -> tuple[str, int, str, int]:
        """The key that identifies the run."""
        return self.data.network, self.data.rows, self.algorithm, self.run

    def make_spec(self) -> SearchSpec:
        """Return the search: CCGA with the settings of the experiment, or K2."""
        is_ccga = self.algorithm == "ccga"
        return make_spec(
            "paper",
            method=CCGA(population=self.population) if is_ccga else K2(),
            score=SCORE,
            budget=Budget(max_generations=self.generations) if is_ccga else None,
            random_state=self.seed,
            max_table=None,  # the paper has no such limit
        )


@dataclass(frozen=True)
class Paper:
    """The experiment; the defaults are those of the paper.

    Parameters
    ----------
    networks : sequence of str
        Bundled networks, or BIF files.
    rows : sequence of int
        Numbers of rows of the data sets.
    runs : int
        Number of runs of each algorithm on each data set.
    seed : int
        The same seed gives the same tables and figures.
    generations, population : int
        The number of generations and the population size of CCGA.
    """

    networks: tuple[str, ...] = ("alarm", "insurance")
    rows: tuple[int, ...] = (1000, 3000, 5000)
    runs: int = 100
    seed: int = 0
    generations: int = GENERATIONS
    population: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "networks", tuple(self.networks))
        object.__setattr__(self, "rows", tuple(self.rows))
        minimum = {"seed": 0, "generations": 0, "population": 2, "runs": 2}
        for name, bound in minimum.items():
            if not is_int(getattr(self, name), bound):
                raise bad_parameter(name, "paper", f"an int >= {bound}", getattr(self, name))
        check_data_sources("paper", self.networks, self.rows)

    def list_data_sets(self) -> list[PaperDataSet]:
        """Return the data sets, in the order of the tables."""
        return [
            PaperDataSet(network, rows, derive_seed(self.seed, network, rows))
            for network in self.networks
            for rows in self.rows
        ]

    def list_jobs(self) -> list[PaperJob]:
        """Return all runs, in the order of the journal."""
        return [
            PaperJob(
                data,
                algorithm,
                run,
                derive_seed(self.seed, data.network, data.rows, 1 + place, run),
                self.generations,
                self.population,
            )
            for data in self.list_data_sets()
            for place, algorithm in enumerate(ALGORITHMS)
            for run in range(self.runs)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class PaperRecord:
    """The record of a run; `improvements` has (generation, score), including the start."""

    network: str
    rows: int
    algorithm: str
    run: int
    seed: int
    score: float
    n_arcs: int
    generations: int
    evaluations: int
    improvements: tuple[tuple[int, float], ...]
    seconds: float

    @property
    def key(self) -> tuple[str, int, str, int]:
        """The key that identifies the run."""
        return self.network, self.rows, self.algorithm, self.run


@cache
def open_network_once(name: str) -> BayesianNetwork:
    """Open a bundled network or a BIF file; the second call returns the same one."""
    return open_network(name)


@lru_cache(maxsize=2)  # one data set, both algorithms
def _make_scorer(data: PaperDataSet, algorithm: str) -> FamilyScorer:
    return FamilyScorer(sample(open_network_once(data.network), data.rows, data.seed), SCORE)


def score_original_dag(data: PaperDataSet) -> float:
    """Return the score of the DAG from which the rows were sampled."""
    return _make_scorer(data, "k2").score(open_network_once(data.network).dag)


def run_paper_job(job: PaperJob) -> PaperRecord:
    """Run one algorithm on one data set."""
    scorer = _make_scorer(job.data, job.algorithm)
    spec = job.make_spec()
    start = time.process_time()
    result = spec.run(scorer)
    if result.stop_reason == "interrupt":  # a second Ctrl-C; an unfinished run is not recorded
        raise KeyboardInterrupt
    seconds = time.process_time() - start
    improvements = tuple(
        (row.generation, round(row.score, 6))
        for row in (result.history if job.algorithm == "ccga" else ())  # K2 has no generations
        if row.improved == row.generation
    )
    return PaperRecord(
        network=job.data.network,
        rows=job.data.rows,
        algorithm=job.algorithm,
        run=job.run,
        seed=job.seed,
        score=result.score,
        n_arcs=len(result.dag.arcs),
        generations=result.generations,
        evaluations=result.evaluations,
        improvements=improvements,
        seconds=round(seconds, 4),
    )


COMMON = ("seed", "generations", "population")  # settings that all runs of a folder share


def make_paper_journal(folder: Path, paper: Paper) -> Journal[PaperRecord]:
    """Return the journal of a folder; raise an error if it holds another experiment."""
    settings = {"version": __version__, **{name: getattr(paper, name) for name in COMMON}}
    return make_run_journal(folder, settings, paper.networks, "algorithm", ALGORITHMS, _read_record)


def make_run_journal(
    folder: Path,
    settings: Mapping[str, Any],
    networks: Sequence[str],
    field: str,
    names: Sequence[str],
    read: Callable[[dict[str, Any]], Record],
) -> Journal[Record]:
    """Return a journal of runs of algorithms on data sets, in the order of the tables.

    `field` is the field of a record with the algorithm, and `names` has all algorithms.
    """
    first = {name: i for i, name in enumerate(networks)}
    places = {name: i for i, name in enumerate(names)}

    def get_sort_key(key: tuple[str, int, str, int]) -> tuple[int, str, int, int, int]:
        network, rows, name, run = key
        return first.get(network, len(first)), network, rows, places[name], run

    form = RecordFormat(
        ("network", "rows", field, "run"),
        ("seconds",),
        read,
        lambda line: {"seconds": read_number(line["seconds"])},
    )
    return Journal(folder, form, settings, get_sort_key, inputs=hash_networks(networks))


def _read_record(line: dict[str, Any]) -> PaperRecord:
    """Return the record of a line, without its time, which is in another file."""
    steps = tuple((int(generation), float(score)) for generation, score in line["improvements"])
    record = PaperRecord(**{**line, "improvements": steps}, seconds=0.0)
    integers = (record.rows, record.run, record.seed, record.n_arcs, record.generations)
    if (
        not isinstance(record.network, str)
        or record.algorithm not in ALGORITHMS
        or not all(isinstance(number, int) for number in integers)
        or not math.isfinite(record.score)
        or (record.algorithm == "ccga" and (not steps or steps[0][0] != 0))
    ):
        raise ValueError
    return record
