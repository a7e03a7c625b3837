"""The plan of the experiment: data sets, runs and their seeds.

A data set is identified by (seed, network, rows), a run by (seed, network, rows, algorithm,
number). So runs can be added, left out or distributed over processes without changing any other
run.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from coevo.checks import is_int
from coevo.errors import bad_parameter
from coevo.experiments.data_sets import check_data_sources, derive_seed
from coevo.search import CCGA, K2, Budget, SearchSpec, make_spec
from coevo.search.ccga import GENERATIONS

__all__ = ["ALGORITHMS", "SCORE", "Paper", "PaperDataSet", "PaperJob"]

ALGORITHMS = ("ccga", "k2")
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
