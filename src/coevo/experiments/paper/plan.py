"""What there is to do: data sets, runs and their seeds.

A data set belongs to (seed, network, rows), a run to (seed, network, rows, algorithm,
number). So runs can be added, left out or spread over processes without a change to any
other run.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from coevo.checks import is_int
from coevo.errors import ParameterError, bad_parameter, first_repeated
from coevo.randomness import stream
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
        if not self.rows or not all(is_int(rows, 1) for rows in self.rows):
            raise bad_parameter("rows", "paper", "ints >= 1", self.rows)
        for name, values in (("networks", self.networks), ("rows", map(str, self.rows))):
            twice = first_repeated(values)
            if twice is not None:
                raise ParameterError(f"{name!r} of paper names {twice} twice.")
        if not self.networks:
            raise bad_parameter("networks", "paper", "names of networks", self.networks)

    def data_sets(self) -> list[DataSet]:
        """Return the data sets, in the order of the tables."""
        return [
            DataSet(network, rows, self._seed(network, rows))
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
                self._seed(data.network, data.rows, 1 + place, run),
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

    def _seed(self, network: str, *key: int) -> int:
        """Return the seed of a data set or a run; 32 bits, so that people can type it."""
        name = int.from_bytes(hashlib.sha256(network.encode()).digest()[:8], "big")
        return int(stream(self.seed, name, *key).integers(2**32))
