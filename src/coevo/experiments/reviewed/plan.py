"""The plan of the comparison: data sets, systems, runs and their seeds.

The data sets are those of `coevo.experiments.paper`. Run r of every system on a data set has the
seed of run r of CCGA there. So CCGA does the same runs in both experiments, and systems can be
compared run by run: those that use a random order use the same one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from coevo.bundled import open_network
from coevo.errors import bad_choice, bad_parameter
from coevo.experiments.data_sets import check_no_repeats
from coevo.experiments.paper.plan import ALGORITHMS, SCORE, Paper, PaperDataSet
from coevo.experiments.reviewed.systems import SYSTEMS, Order, System
from coevo.search import Budget, SearchSpec, make_spec
from coevo.search.ccga import GENERATIONS

__all__ = ["Reviewed", "ReviewedJob", "count_ccga_evaluations"]


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
