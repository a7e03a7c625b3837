"""The plan of a comparison: its data sets, its methods and peers, and their seeds.

The rows of a network come with the true structure. A table has none, unless one is given. So some
of its rows are held out. A method does not see them, and the likelihood of these rows says how good
its network is.

A data set is identified by (seed, network or rows of a table, size, repetition). So the repetitions
show how results vary over samples as well as over searches. The seed of a search also depends on
the text of its method. So runs can be added or left out without changing any other run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

from coevo.bundled import open_network
from coevo.checks import is_int, is_number
from coevo.data import Dataset
from coevo.errors import DataError, GraphError, ParameterError, bad_choice, bad_parameter
from coevo.experiments.experiment import check_data_sources, check_no_repeats, derive_seed
from coevo.experiments.peers import PEERS
from coevo.graph import DAG
from coevo.names import match_name
from coevo.network import sample
from coevo.runtime.randomness import random_stream
from coevo.score import BDeu, Score
from coevo.search import ChosenMethod, SearchSpec, choose_method, make_spec

__all__ = [
    "DEFAULT_METHODS",
    "Bench",
    "BenchDataSet",
    "BenchJob",
    "BenchSetting",
    "BenchTable",
    "find_true_structure",
    "open_held_out_rows",
    "open_rows",
]


MIN_ROWS = 5  # of a table


@dataclass(frozen=True)
class BenchTable:
    """A table without missing values.

    Parameters
    ----------
    name : str
        Its name in tables, figures and seeds.
    dataset : Dataset
        All rows.
    true : DAG, optional
        The true structure, if it is known. It must have the variables of the table.

    Examples
    --------
    >>> import coevo
    >>> rows = coevo.sample(coevo.load_network("asia"), 200, random_state=1)
    >>> BenchTable("patients", rows).count_held_out(0.2)
    40
    """

    name: str
    dataset: Dataset
    true: DAG | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise bad_parameter("name", "BenchTable", "a name", self.name)
        if not isinstance(self.dataset, Dataset):
            raise bad_parameter("dataset", "BenchTable", "a Dataset", self.dataset)
        if self.dataset.n_rows < MIN_ROWS:
            raise DataError(
                f"{self.name!r} has {self.dataset.n_rows} rows, too few to hold some of them out. "
                f"Give at least {MIN_ROWS}."
            )
        if self.true is not None:
            self._check_true(self.true)

    def _check_true(self, true: DAG) -> None:
        columns, nodes = set(self.dataset.names), set(true.nodes)
        if columns - nodes:
            raise GraphError(
                f"The true structure of {self.name!r} has no variable {min(columns - nodes)!r}, "
                "which the table has. Leave the column out, or add the variable."
            )
        if nodes - columns:
            raise GraphError(
                f"{self.name!r} has no column {min(nodes - columns)!r}, which the true structure "
                "has. Both must have the same variables."
            )

    def count_held_out(self, share: float) -> int:
        """Return the number of rows to hold out."""
        return max(1, round(share * self.dataset.n_rows))


@dataclass(frozen=True)
class BenchSetting:
    """A network or a table, and a number of rows. Its data sets differ only in their rows."""

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
    """Rows sampled from a network (`seed` is the ``--seed`` of ``coevo sample``) or of a table."""

    setting: BenchSetting
    repetition: int
    seed: int
    table: BenchTable | None = None


def open_rows(data: BenchDataSet) -> Dataset:
    """Return the rows to learn from."""
    if data.table is not None:
        return _split_table(data)[0]
    return sample(open_network(data.setting.network), data.setting.rows, data.seed)


def open_held_out_rows(data: BenchDataSet) -> Dataset | None:
    """Return the rows that were held out; None for the rows of a network."""
    return None if data.table is None else _split_table(data)[1]


@lru_cache(maxsize=1)  # runs on the same data follow each other
def _split_table(data: BenchDataSet) -> tuple[Dataset, Dataset]:
    assert data.table is not None
    dataset = data.table.dataset
    return dataset.split(random_stream(data.seed), dataset.n_rows - data.setting.rows)


def find_true_structure(data: BenchDataSet) -> DAG | None:
    """Return the true structure, if it is known."""
    return open_network(data.setting.network).dag if data.table is None else data.table.true


RunnerKind = Literal["ours", "peer"]
DEFAULT_METHODS = ("ccma", "ccga", "k2", "hill_climb", "tabu")


@dataclass(frozen=True)
class BenchJob:
    """One run of one method or peer on one data set. A peer takes no seed."""

    data: BenchDataSet
    method: str
    kind: RunnerKind
    seed: int | None
    score: Score
    max_time: float
    text: str = ""  # how a method is named, with its file and its settings

    @property
    def key(self) -> tuple[str, int, int, str]:
        """The key that identifies the run."""
        setting = self.data.setting
        return setting.network, setting.rows, self.data.repetition, self.method

    def make_spec(self) -> SearchSpec:
        """Return the search of a method: its own limits or default budget, with the time limit."""
        chosen = choose_method(self.text, "bench")
        budget = chosen.limit(None, "bench").with_default(chosen.method.default_budget)
        seconds = self.max_time if budget.max_time is None else min(budget.max_time, self.max_time)
        return make_spec(
            "bench",
            method=chosen.method,
            score=self.score,
            budget=replace(budget, max_time=seconds),
            random_state=self.seed,
        )


@dataclass(frozen=True)
class Bench:
    """A comparison of methods and peers.

    Parameters
    ----------
    networks : sequence of str
        Bundled networks, or BIF files, to sample rows from.
    rows : sequence of int
        Numbers of rows of the samples.
    seeds : int
        Number of data sets of each network and size, and of splits of each table. Each method runs
        once on each of them.
    methods, peers : sequence of str
        The methods, as texts (`coevo.search.registry`), and the peers. A peer that is not
        installed is left out.
    score : Score
        The score that each method maximises and by which each result is compared.
    max_time : float
        Maximum seconds of a run.
    seed : int
        The same seed gives the same data sets and the same searches.
    tables : sequence of BenchTable
        Tables to learn from, beside or instead of the networks.
    held_out : float
        The share of the rows of a table that is held out.
    table_options : str
        The options of the command with which the tables were read, for the README.
    """

    networks: tuple[str, ...] = ("alarm", "insurance")
    rows: tuple[int, ...] = (1000, 5000)
    seeds: int = 5
    methods: tuple[str, ...] = DEFAULT_METHODS
    peers: tuple[str, ...] = tuple(PEERS)
    score: Score = field(default_factory=BDeu)
    max_time: float = 60.0
    seed: int = 0
    tables: tuple[BenchTable, ...] = ()
    held_out: float = 0.2
    table_options: str = ""

    def __post_init__(self) -> None:
        for name in ("networks", "rows", "methods", "peers", "tables"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.networks or not self.tables:
            check_data_sources("bench", self.networks, self.rows)
        check_no_repeats("bench", tables=[*(t.name for t in self.tables), *self.networks])
        object.__setattr__(self, "methods", _check_methods(self.methods))
        object.__setattr__(self, "peers", tuple(map(_check_peer, self.peers)))
        check_no_repeats("bench", peers=self.peers)
        for name, least in (("seeds", 1), ("seed", 0)):
            if not is_int(getattr(self, name), least):
                raise bad_parameter(name, "bench", f"an int >= {least}", getattr(self, name))
        if not (is_number(self.max_time) and self.max_time > 0):
            raise bad_parameter("max_time", "bench", "a number > 0", self.max_time)
        if not (is_number(self.held_out) and 0 < self.held_out < 1):
            expected = "a number between 0 and 1, such as 0.2"
            raise bad_parameter("held_out", "bench", expected, self.held_out)
        if not isinstance(self.score, Score):
            raise bad_parameter("score", "bench", "a Score", self.score)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The name of each method in tables: its text, without the folder of a file."""
        return {text: choose_method(text, "bench", "methods").label for text in self.methods}

    @cached_property
    def missing_peers(self) -> tuple[str, ...]:
        """The requested peers that are not installed."""
        return tuple(name for name in self.peers if not PEERS[name].is_installed)

    @cached_property
    def runners(self) -> dict[str, RunnerKind]:
        """All methods and installed peers, in the order of the tables."""
        ours: dict[str, RunnerKind] = dict.fromkeys(self.labels.values(), "ours")
        installed = [name for name in self.peers if name not in self.missing_peers]
        return ours | dict.fromkeys(installed, "peer")

    def check_runners(self) -> None:
        """Raise `ParameterError` if there is no method and no installed peer."""
        if not self.runners:
            raise ParameterError(
                "There is nothing to run. Give a method, or install one of the peers."
            )

    @property
    def sources(self) -> tuple[str, ...]:
        """The networks and the tables, in the order of the tables."""
        return (*self.networks, *(table.name for table in self.tables))

    def list_settings(self, source: str | None = None) -> list[BenchSetting]:
        """Return the sources and sizes, in the order of the tables; or those of one source."""
        settings = [BenchSetting(network, rows) for network in self.networks for rows in self.rows]
        for table in self.tables:
            n_rows = table.dataset.n_rows
            n_held_out = min(table.count_held_out(self.held_out), n_rows - 2)  # two rows to learn
            settings.append(BenchSetting(table.name, n_rows - n_held_out))
        return [setting for setting in settings if source in (None, setting.network)]

    def list_data_sets(self) -> list[BenchDataSet]:
        """Return all data sets, in the order of the tables."""
        tables = {table.name: table for table in self.tables}
        return [
            BenchDataSet(
                s,
                repetition,
                self._derive_seed(s, repetition),
                tables.get(s.network),
            )
            for s in self.list_settings()
            for repetition in range(self.seeds)
        ]

    def list_jobs(self) -> list[BenchJob]:
        """Return all runs, in the order of the journal."""
        texts = {label: text for text, label in self.labels.items()}
        return [
            BenchJob(
                data,
                name,
                kind,
                self._derive_seed(data.setting, data.repetition, name) if kind == "ours" else None,
                self.score,
                self.max_time,
                texts.get(name, ""),
            )
            for data in self.list_data_sets()
            for name, kind in self.runners.items()
        ]

    def _derive_seed(self, setting: BenchSetting, *key: str | int) -> int:
        """Return the seed of a data set or a run. That of a table does not depend on its path."""
        hashes = {table.name: table.dataset.content_hash for table in self.tables}
        source = hashes.get(setting.network, setting.network)
        return derive_seed(self.seed, source, setting.rows, *key)


def _check_methods(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of methods; raise `ParameterError` if two are the same search."""
    chosen: list[ChosenMethod] = []
    for text in texts:
        method = choose_method(text, "bench", "methods")
        if method in chosen:
            raise ParameterError(f"'methods' of bench names {method.label} twice.")
        chosen.append(method)
    return tuple(method.text for method in chosen)


def _check_peer(name: str) -> str:
    """Return the peer that was meant."""
    peer = match_name(name, PEERS)
    if peer is None:
        raise bad_choice("peers", "bench", PEERS, name)
    return peer
