"""What there is to compare: data sets, who runs on them, and their seeds.

A data set belongs to (seed, network, rows, repetition), so that the repetitions show how
results vary over samples as well as over searches; a search's seed belongs to its name
too. So runs can be added or left out without a change to any other run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from coevo.checks import is_int, is_number
from coevo.errors import ParameterError, bad_choice, bad_parameter
from coevo.experiments.data_sets import check_no_repeats, check_sources, named_seed
from coevo.experiments.peers import PEERS
from coevo.score import BDeu, Score
from coevo.search import METHODS

__all__ = ["METHODS_BY_DEFAULT", "Bench", "DataSet", "Job", "Kind", "Setting"]

Kind = Literal["ours", "peer"]
METHODS_BY_DEFAULT = ("ccma", "ccga", "k2", "hill_climb", "tabu")


@dataclass(frozen=True)
class Setting:
    """The data sets of one network and size, which differ in their rows only."""

    network: str
    rows: int

    @property
    def label(self) -> str:
        """Its name in tables and figures.

        >>> Setting("alarm", 5000).label
        'alarm, 5,000 rows'
        """
        return f"{self.network}, {self.rows:,} rows"


@dataclass(frozen=True)
class DataSet:
    """Rows drawn from a network; `seed` is that of ``coevo sample``."""

    setting: Setting
    repetition: int
    seed: int


@dataclass(frozen=True)
class Job:
    """One run of one method or peer on one data set; a peer takes no seed."""

    data: DataSet
    method: str
    kind: Kind
    seed: int | None
    score: Score
    max_time: float

    @property
    def key(self) -> tuple[str, int, int, str]:
        """What tells it from the other runs."""
        setting = self.data.setting
        return setting.network, setting.rows, self.data.repetition, self.method


@dataclass(frozen=True)
class Bench:
    """A comparison of methods and peers.

    Parameters
    ----------
    networks : sequence of str
        Bundled networks, or BIF files.
    rows : sequence of int
        Sizes of the data sets.
    seeds : int
        Data sets of each network and size; each method runs once on each of them.
    methods, peers : sequence of str
        Who runs; a peer that is not installed is left out.
    score : Score
        What is asked of everyone, and by what everyone is judged.
    max_time : float
        Seconds that a run may take.
    seed : int
        The same seed gives the same data sets and the same searches.
    """

    networks: tuple[str, ...] = ("alarm", "insurance")
    rows: tuple[int, ...] = (1000, 5000)
    seeds: int = 5
    methods: tuple[str, ...] = METHODS_BY_DEFAULT
    peers: tuple[str, ...] = tuple(PEERS)
    score: Score = field(default_factory=BDeu)
    max_time: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("networks", "rows", "methods", "peers"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        check_sources("bench", self.networks, self.rows)
        for name, known in (("methods", METHODS), ("peers", PEERS)):
            for one in getattr(self, name):
                if one not in known:
                    raise bad_choice(name, "bench", known, one)
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
        """Those of the peers that are not installed."""
        return tuple(name for name in self.peers if not PEERS[name].is_installed)

    @cached_property
    def runners(self) -> dict[str, Kind]:
        """Everyone who runs, in the order of the tables."""
        ours: dict[str, Kind] = dict.fromkeys(self.methods, "ours")
        present = [name for name in self.peers if name not in self.missing_peers]
        return ours | dict.fromkeys(present, "peer")

    def check_runners(self) -> None:
        """Raise `ParameterError` if there is nobody to run."""
        if not self.runners:
            raise ParameterError("There is nobody to run: name a method, or a peer to install.")

    def settings(self) -> list[Setting]:
        """Return networks and sizes, in the order of the tables."""
        return [Setting(network, rows) for network in self.networks for rows in self.rows]

    def data_sets(self) -> list[DataSet]:
        """Return all data sets, in the order of the tables."""
        return [
            DataSet(s, repetition, named_seed(self.seed, s.network, s.rows, repetition))
            for s in self.settings()
            for repetition in range(self.seeds)
        ]

    def jobs(self) -> list[Job]:
        """Return all runs, in the order of the journal."""
        return [
            Job(data, name, kind, self._search_seed(data, name, kind), self.score, self.max_time)
            for data in self.data_sets()
            for name, kind in self.runners.items()
        ]

    def _search_seed(self, data: DataSet, name: str, kind: Kind) -> int | None:
        if kind == "peer":
            return None
        setting = data.setting
        return named_seed(self.seed, setting.network, setting.rows, data.repetition, name)
