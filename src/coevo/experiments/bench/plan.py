"""The plan of a comparison: the data sets, the methods and peers, and their seeds.

A data set is identified by (seed, network, rows, repetition). So the repetitions show how results
vary over samples as well as over searches. The seed of a search also depends on the name of its
method. So runs can be added or left out without changing any other run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from coevo.checks import is_int, is_number
from coevo.errors import ParameterError, bad_choice, bad_parameter
from coevo.experiments.data_sets import check_data_sources, check_no_repeats, derive_seed
from coevo.experiments.peers import PEERS
from coevo.score import BDeu, Score
from coevo.search import METHODS, SearchSpec, make_spec

__all__ = ["DEFAULT_METHODS", "Bench", "BenchDataSet", "BenchJob", "BenchSetting", "RunnerKind"]

RunnerKind = Literal["ours", "peer"]
DEFAULT_METHODS = ("ccma", "ccga", "k2", "hill_climb", "tabu")
CLASSIFIERS = ("naive_bayes", "tan")  # they need a class variable, which a network does not have


@dataclass(frozen=True)
class BenchSetting:
    """A network and a size. Its data sets differ only in their rows."""

    network: str
    rows: int

    @property
    def label(self) -> str:
        """The name in tables and figures.

        >>> BenchSetting("alarm", 5000).label
        'alarm, 5,000 rows'
        """
        return f"{self.network}, {self.rows:,} rows"


@dataclass(frozen=True)
class BenchDataSet:
    """Rows sampled from a network; `seed` is the ``--seed`` of ``coevo sample``."""

    setting: BenchSetting
    repetition: int
    seed: int


@dataclass(frozen=True)
class BenchJob:
    """One run of one method or peer on one data set. A peer takes no seed."""

    data: BenchDataSet
    method: str
    kind: RunnerKind
    seed: int | None
    score: Score
    max_time: float

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The key that identifies the run."""
        setting = self.data.setting
        return setting.network, setting.rows, self.data.repetition, self.method

    def make_spec(self) -> SearchSpec:
        """Return the search of a method of coevo: its default budget, with the time limit."""
        budget = replace(METHODS[self.method].default_budget, max_time=self.max_time)
        return make_spec(
            "bench", method=self.method, score=self.score, budget=budget, random_state=self.seed
        )


@dataclass(frozen=True)
class Bench:
    """A comparison of methods and peers.

    Parameters
    ----------
    networks : sequence of str
        Bundled networks, or BIF files.
    rows : sequence of int
        Numbers of rows of the data sets.
    seeds : int
        Number of data sets of each network and size. Each method runs once on each of them.
    methods, peers : sequence of str
        The methods of coevo and the peers. A peer that is not installed is left out.
    score : Score
        The score that each method maximises and by which each result is compared.
    max_time : float
        Maximum seconds of a run.
    seed : int
        The same seed gives the same data sets and the same searches.
    """

    networks: tuple[str, ...] = ("alarm", "insurance")
    rows: tuple[int, ...] = (1000, 5000)
    seeds: int = 5
    methods: tuple[str, ...] = DEFAULT_METHODS
    peers: tuple[str, ...] = tuple(PEERS)
    score: Score = field(default_factory=BDeu)
    max_time: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("networks", "rows", "methods", "peers"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check_data_sources("bench", self.networks, self.rows)
        compared = [name for name in METHODS if name not in CLASSIFIERS]
        for name, known in (("methods", compared), ("peers", list(PEERS))):
            for value in getattr(self, name):
                if value not in known:
                    raise bad_choice(name, "bench", known, value)
        check_no_repeats("bench", methods=self.methods, peers=self.peers)
        for name, least in (("seeds", 1), ("seed", 0)):
            if not is_int(getattr(self, name), least):
                raise bad_parameter(name, "bench", f"an int >= {least}", getattr(self, name))
        if not (is_number(self.max_time) and self.max_time > 0):
            raise bad_parameter("max_time", "bench", "a number > 0", self.max_time)
        if not isinstance(self.score, Score):
            raise bad_parameter("score", "bench", "a Score", self.score)

    @cached_property
    def missing_peers(self) -> tuple[str, ...]:
        """The requested peers that are not installed."""
        return tuple(name for name in self.peers if not PEERS[name].is_installed)

    @cached_property
    def runners(self) -> dict[str, RunnerKind]:
        """All methods and installed peers, in the order of the tables."""
        ours: dict[str, RunnerKind] = dict.fromkeys(self.methods, "ours")
        installed = [name for name in self.peers if name not in self.missing_peers]
        return ours | dict.fromkeys(installed, "peer")

    def check_runners(self) -> None:
        """Raise `ParameterError` if there is no method and no installed peer."""
        if not self.runners:
            raise ParameterError(
                "There is nothing to run. Give a method, or install one of the peers."
            )

    def list_settings(self) -> list[BenchSetting]:
        """Return the networks and sizes, in the order of the tables."""
        return [BenchSetting(network, rows) for network in self.networks for rows in self.rows]

    def list_data_sets(self) -> list[BenchDataSet]:
        """Return all data sets, in the order of the tables."""
        return [
            BenchDataSet(s, repetition, derive_seed(self.seed, s.network, s.rows, repetition))
            for s in self.list_settings()
            for repetition in range(self.seeds)
        ]

    def list_jobs(self) -> list[BenchJob]:
        """Return all runs, in the order of the journal."""
        return [
            BenchJob(
                data,
                name,
                kind,
                self._derive_search_seed(data, name, kind),
                self.score,
                self.max_time,
            )
            for data in self.list_data_sets()
            for name, kind in self.runners.items()
        ]

    def _derive_search_seed(self, data: BenchDataSet, name: str, kind: RunnerKind) -> int | None:
        if kind == "peer":
            return None
        setting = data.setting
        return derive_seed(self.seed, setting.network, setting.rows, data.repetition, name)
