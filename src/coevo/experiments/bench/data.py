"""The data sets of a comparison: rows sampled from a network, or a part of a table.

The rows of a network come with the true structure. A table has none, unless one is given. So some
of its rows are held out. A method does not see them, and the likelihood of these rows says how good
its network is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from coevo.bundled import open_network
from coevo.data import Dataset
from coevo.errors import DataError, GraphError, bad_parameter
from coevo.graph import DAG
from coevo.network import sample
from coevo.randomness import random_stream

__all__ = [
    "BenchDataSet",
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
