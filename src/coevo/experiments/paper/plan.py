"""What there is to do: data sets, runs and their seeds.

A data set belongs to (seed, network, rows), a run to (seed, network, rows, algorithm,
number). So runs can be added, left out or spread over processes without a change to any
other run.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from coevo.checks import is_int
from coevo.errors import bad_parameter
from coevo.experiments.data_sets import check_sources, named_seed
from coevo.search.ccga import GENERATIONS

__all__ = ["ALGORITHMS", "DataSet", "Job", "Paper"]

ALGORITHMS = ("ccga", "k2")


@dataclass(frozen=True, order=True)
class DataSet:
    """Rows drawn from a network; `seed` is that of `coevo sample`."""

    network: str
    rows: int
    seed: int

    @property
    def label(self) -> str:
        """The paper's name for it.

        >>> DataSet("alarm", 1000, 7).label
        'Alarm 1000'
        """
        return f"{self.network.capitalize()} {self.rows}"


@dataclass(frozen=True)
class Job:
    """One run of one algorithm."""

    data: DataSet
    algorithm: str
    run: int
    seed: int
    generations: int
    population: int

    @property
    def key(self) -> tuple[str, int, str, int]:
        """What tells it from the other runs of the experiment."""
        return self.data.network, self.data.rows, self.algorithm, self.run


@dataclass(frozen=True)
class Paper:
    """The experiment; the defaults are those of the paper.

    Parameters
    ----------
    networks : sequence of str
        Bundled networks, or BIF files.
    rows : sequence of int
        Sizes of the data sets.
    runs : int
        Runs of each algorithm on each data set.
    seed : int
        The same seed gives the same tables and figures.
    generations, population : int
        Of CCGA.
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
        least = {"seed": 0, "generations": 0, "population": 2, "runs": 2}
        for name, bound in least.items():
            if not is_int(getattr(self, name), bound):
                raise bad_parameter(name, "paper", f"an int >= {bound}", getattr(self, name))
        check_sources("paper", self.networks, self.rows)

    def data_sets(self) -> list[DataSet]:
        """Return the data sets, in the order of the tables."""
        return [
            DataSet(network, rows, named_seed(self.seed, network, rows))
            for network in self.networks
            for rows in self.rows
        ]

    def jobs(self) -> list[Job]:
        """Return all runs, in the order of the journal."""
        return [
            Job(
                data,
                algorithm,
                run,
                named_seed(self.seed, data.network, data.rows, 1 + place, run),
                self.generations,
                self.population,
            )
            for data in self.data_sets()
            for place, algorithm in enumerate(ALGORITHMS)
            for run in range(self.runs)
        ]

    def settings(self) -> dict[str, Any]:
        """Return the experiment as plain values."""
        return asdict(self)
