"""Tables in memory: what all kinds share, and the complete one.

A table of observations in memory: compact codes in canonical order.

A `Dataset` is immutable. Its variables are sorted by name, and the states of each variable by
code point, so that the layout of the source does not affect results. The dataset also keeps the
order of the source, for output. A value takes one byte, or two bytes if a variable has more
than 256 states.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.data.variable import Discrete, Variable
from coevo.errors import DataError, bad_parameter, find_duplicate, import_optional, suggest_match
from coevo.runtime.memory import check_memory

__all__ = [
    "BYTES_PER_DRAW",
    "Clusters",
    "Codes",
    "Dataset",
    "RowDigest",
    "Table",
    "combine_row_hashes",
    "draw_clusters",
    "hash_clusters",
    "hash_rows",
]


# The base class of tables: variables in canonical order, and a hash of the content.
#
# The rows can be in memory, in files or on other machines. The digest of a table is the sum of the
# digests of its parts, so that equal tables have equal hashes wherever their rows are.


RowDigest = tuple[int, int]  # sums over rows: of their hashes, and of the squared hashes


class Table(ABC):
    """Observations of some variables, in memory or elsewhere."""

    _source: tuple[Variable, ...]
    _variables: tuple[Variable, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Variables in canonical order, with their states in canonical order."""
        return self._variables

    @property
    def source_variables(self) -> tuple[Variable, ...]:
        """Variables and states in the order of the source, for output."""
        return self._source

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of observations."""

    @property
    @abstractmethod
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """Number of observations in each state, for each variable in canonical order."""

    @property
    @abstractmethod
    def row_digest(self) -> RowDigest:
        """Two numbers that do not depend on the order of rows; digests of parts add up."""

    @cached_property
    def content_hash(self) -> str:
        """A hash of names, states and rows that does not depend on their order."""
        head = json.dumps([[v.name, v.states] for v in self._variables], ensure_ascii=True)
        digest = [number % 2**64 for number in self.row_digest]
        text = f"{head} {self.n_rows} {digest}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables in canonical order."""
        return tuple(variable.name for variable in self._variables)

    @cached_property
    def arities(self) -> NDArray[np.int64]:
        """Number of states of each variable, in canonical order."""
        arities = np.array([variable.arity for variable in self._variables], dtype=np.int64)
        arities.flags.writeable = False
        return arities

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self._variables)

    def find_position(self, name: str) -> int:
        """Return the index of the variable `name` in canonical order."""
        if name not in self._positions:
            raise DataError(f"There is no column {name!r}.{suggest_match(name, self.names)}")
        return self._positions[name]

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.names)}


Codes = NDArray[np.uint8] | NDArray[np.uint16]  # (n_vars, n_stored_rows)
Weights = NDArray[np.int64]  # (n_stored_rows,), each >= 1
Clusters = NDArray[np.int64]  # (n_rows,), the number of the cluster of each row, from 0

# Counting a weighted row takes longer than counting a bit of a bit set. Weights therefore save
# time only if the share of distinct rows is small (see benchmarks/README.md, "Deduplication").
MAX_DISTINCT_SHARE = 1 / 16

BYTES_PER_CELL = 8  # of a data frame: the number of a state, and a copy
BYTES_PER_DRAW = 24  # a row number, its slot and a copy
BYTES_PER_ROW = 96  # row numbers, hashes and answers, for those who expand a table and use it
MAX_OBSERVATIONS = 2**53  # floats count exactly up to here


class Dataset(Table):
    """Discrete observations, ready for counting.

    Use `read_data` to read one. The constructor takes coded columns.

    Parameters
    ----------
    variables : iterable of Variable
        One per column. Variables and states are in the order of the source.
    columns : sequence of integer arrays
        For each variable the code of its state in each row, an index into its `states`.
    weights : array of int, optional
        Number of occurrences of each row; 1 if left out.
    clusters : array of int, optional
        The cluster of each row: rows of a cluster belong together, as the visits of a patient do.
        A bootstrap sample draws clusters. A dataset with clusters has no weights.

    Examples
    --------
    >>> dataset = Dataset(
    ...     [Variable("wet", ("no", "yes")), Variable("rain", ("no", "yes"))],
    ...     [[0, 1, 1], [0, 0, 1]],
    ... )
    >>> dataset.names
    ('rain', 'wet')
    >>> dataset.n_rows
    3
    """

    def __init__(
        self,
        variables: Iterable[Variable],
        columns: Sequence[NDArray[np.integer] | Sequence[int]],
        weights: NDArray[np.int64] | None = None,
        clusters: NDArray[np.integer] | None = None,
    ) -> None:
        source = tuple(variables)
        arrays = [np.asarray(column) for column in columns]
        _check_columns(source, arrays)
        order = sorted(range(len(source)), key=lambda i: source[i].name)
        self._source = source
        self._variables = tuple(source[i].to_canonical() for i in order)
        dtype = np.uint8 if max(v.arity for v in source) <= 256 else np.uint16
        codes = np.empty((len(source), len(arrays[0])), dtype=dtype)
        for row, i in enumerate(order):
            rank = {state: code for code, state in enumerate(self._variables[row].states)}
            recode = np.array([rank[state] for state in source[i].states], dtype=dtype)
            np.take(recode, arrays[i], out=codes[row])
        codes.flags.writeable = False
        self._codes: Codes = codes
        self._weights = None if weights is None else _copy_weights(weights, codes.shape[1])
        self._clusters = None if clusters is None else _number_clusters(clusters, codes.shape[1])
        if weights is not None and clusters is not None:
            raise DataError("A dataset with clusters stores every row. Leave the weights out.")

    @classmethod
    def _from_parts(
        cls,
        source: tuple[Variable, ...],
        variables: tuple[Variable, ...],
        codes: Codes,
        weights: Weights | None,
        clusters: Clusters | None = None,
    ) -> Dataset:
        """Return a dataset from parts that were validated before."""
        self = cls.__new__(cls)
        codes.flags.writeable = False
        if weights is not None:
            weights.flags.writeable = False
        self._source, self._variables = source, variables
        self._codes, self._weights = codes, weights
        self._clusters = None if clusters is None else _number_clusters(clusters, codes.shape[1])
        return self

    @property
    def codes(self) -> Codes:
        """State of each variable in each stored row: (n_variables, n_stored), read-only."""
        return self._codes

    @property
    def weights(self) -> Weights | None:
        """Number of occurrences of each stored row, or None if every row is stored."""
        return self._weights

    @property
    def clusters(self) -> Clusters | None:
        """The number of the cluster of each row, from 0; None if rows are independent."""
        return self._clusters

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; None if rows are independent."""
        return None if self._clusters is None else int(self._clusters.max()) + 1

    @cached_property
    def n_rows(self) -> int:
        """Number of observations."""
        return self._codes.shape[1] if self._weights is None else int(self._weights.sum())

    @cached_property
    def state_counts(self) -> tuple[NDArray[np.int64], ...]:
        """Number of observations in each state, for each variable in canonical order."""
        return tuple(
            np.bincount(column, weights=self._weights, minlength=int(arity)).astype(np.int64)
            for column, arity in zip(self._codes, self.arities, strict=True)
        )

    @cached_property
    def row_digest(self) -> RowDigest:
        """Two numbers that do not depend on the order of rows; digests of parts add up."""
        if self._clusters is not None:  # the names of clusters do not matter
            return combine_row_hashes(hash_clusters(self._row_hashes, self._clusters))
        return combine_row_hashes(self._row_hashes, self._weights)

    def deduplicate(self) -> Dataset:
        """Return the same observations with equal rows stored once, as weighted rows.

        Return this dataset if it has so many distinct rows that weights would not save time.
        """
        if self._weights is not None or self._clusters is not None:
            return self
        if not self._may_have_duplicates():
            return self
        first, counts = self._find_distinct_rows()
        if len(first) > MAX_DISTINCT_SHARE * self._codes.shape[1]:
            return self
        if not self._are_hashes_unique(first):
            return self
        codes: Codes = self._codes[:, first].copy(order="C")
        return Dataset._from_parts(self._source, self._variables, codes, counts)

    def expand(self) -> Dataset:
        """Return the same observations with every row stored."""
        if self._weights is None:
            return self
        check_memory(
            self.n_rows * (BYTES_PER_ROW + 2 * len(self._codes) * self._codes.itemsize),
            f"The table with each of its {self.n_rows:,} rows stored",
            "Use a sample of its rows.",
        )
        stored_rows = np.repeat(np.arange(len(self._weights)), self._weights)
        codes: Codes = self._codes[:, stored_rows].copy(order="C")
        return Dataset._from_parts(self._source, self._variables, codes, None)

    def iterate_columns(self) -> Iterator[tuple[Variable, NDArray[np.int32]]]:
        """Yield each variable of the source, and the number of its state in every row.

        Columns and states are in the order of the source; a row with a weight is repeated.

        >>> wet = Variable("wet", ("yes", "no"))
        >>> [codes.tolist() for _, codes in Dataset([wet], [[0, 1]], [2, 1]).iterate_columns()]
        [[0, 0, 1]]
        """
        for variable in self._source:
            position = self.find_position(variable.name)
            rank = {state: code for code, state in enumerate(variable.states)}
            canonical = self._variables[position].states
            recode = np.array([rank[state] for state in canonical], dtype=np.int32)
            codes = recode[self._codes[position]]
            yield variable, codes if self._weights is None else np.repeat(codes, self._weights)

    def to_pandas(self) -> Any:
        """Return the rows as a data frame of pandas, with a categorical column for each variable.

        Columns and categories are in the order of the source, and every state is a category. A row
        with a weight is repeated. `read_data` reads the same observations from it. Clusters are not
        part of it.

        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> Dataset([wet, rain], [[0, 1], [0, 0]]).to_pandas()
           wet rain
        0   no   no
        1  yes   no
        """
        pandas = import_optional("pandas", "pandas", "pandas")
        self._check_frame()
        return pandas.DataFrame(
            {
                variable.name: pandas.Categorical.from_codes(
                    codes, list(variable.states), ordered=variable.is_ordered
                )
                for variable, codes in self.iterate_columns()
            }
        )

    def to_polars(self) -> Any:
        """Return the rows as a data frame of polars, with an `Enum` column for each variable.

        Everything else is as for `to_pandas`.

        >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
        >>> Dataset([wet, rain], [[0, 1], [0, 0]]).to_polars().rows()
        [('no', 'no'), ('yes', 'no')]
        """
        polars = import_optional("polars", "polars", "polars")
        self._check_frame()
        columns = []
        for variable, codes in self.iterate_columns():
            states = list(variable.states)
            series = polars.Series(variable.name, states, dtype=polars.Enum(states))
            columns.append(series.gather(codes))
        return polars.DataFrame(columns)

    def _check_frame(self) -> None:
        check_memory(
            BYTES_PER_CELL * self.n_rows * self.n_variables,
            f"A data frame with {self.n_rows:,} rows",
            "Write the rows to a file with write_data.",
        )

    def __len__(self) -> int:
        """Return the number of observations, as `n_rows`."""
        return self.n_rows

    def resample(self, rng: np.random.Generator) -> Dataset:
        """Return a bootstrap sample: `n_rows` observations, drawn with replacement.

        Rows in clusters are drawn by cluster, as many as there are, each with all its rows. The
        sample then has about as many rows. The draw sorts the observations by their hashes. It
        therefore depends neither on the order of rows nor on deduplication. If this dataset has
        weights, the sample has weights too, so that the same kernels count both.

        >>> dataset = Dataset([Variable("wet", ("no", "yes"))], [[0, 1, 1]])
        >>> dataset.resample(np.random.default_rng(1)).codes
        array([[1, 1, 0]], dtype=uint8)
        """
        _check_generator(rng, "resample")
        if self._weights is not None:  # else the rows that are stored take more than the draw
            check_memory(
                BYTES_PER_DRAW * self.n_rows,
                f"A bootstrap sample of {self.n_rows:,} rows",
                "Use a sample of the rows.",
            )
        if self._clusters is not None:
            rows = draw_clusters(self._row_hashes, self._clusters, rng)
            sample: Codes = self._codes[:, rows].copy(order="C")
            return Dataset._from_parts(self._source, self._variables, sample, None)
        order = np.argsort(self._row_hashes, kind="stable")
        drawn = rng.integers(self.n_rows, size=self.n_rows)
        if self._weights is None:
            codes: Codes = self._codes[:, order[drawn]].copy(order="C")
            return Dataset._from_parts(self._source, self._variables, codes, None)
        slots = np.searchsorted(np.cumsum(self._weights[order]), drawn, side="right")
        counts = np.bincount(slots, minlength=len(order)).astype(np.int64)
        kept = np.flatnonzero(counts)
        codes = self._codes[:, order[kept]].copy(order="C")
        return Dataset._from_parts(self._source, self._variables, codes, counts[kept])

    def split(self, rng: np.random.Generator, n_held_out: int) -> tuple[Dataset, Dataset]:
        """Return the observations in two parts: the rest, and `n_held_out` drawn at random.

        Both parts have all states. Like `resample`, the draw does not depend on the order of rows.

        >>> dataset = Dataset([Variable("wet", ("no", "yes"))], [[0, 1, 1]])
        >>> rest, held_out = dataset.split(np.random.default_rng(1), 1)
        >>> rest.n_rows, held_out.n_rows
        (2, 1)
        """
        _check_generator(rng, "split")
        if not is_int(n_held_out, 0) or n_held_out > self.n_rows:
            expected = f"an int from 0 to {self.n_rows}, the number of rows"
            raise bad_parameter("n_held_out", "split", expected, n_held_out)
        if self._clusters is not None:
            raise DataError(
                "A dataset with clusters cannot be split by rows. Use cross_validate, which keeps "
                "clusters together, or read the table without cluster_by."
            )
        rows = self.expand()
        drawn = np.argsort(rows._row_hashes, kind="stable")[rng.permutation(self.n_rows)]
        parts = (drawn[n_held_out:], drawn[:n_held_out])
        rest, held_out = (
            Dataset._from_parts(self._source, self._variables, rows.codes[:, part].copy("C"), None)
            for part in parts
        )
        return rest.deduplicate(), held_out

    def _may_have_duplicates(self) -> bool:
        """Return whether at most half of the first rows are distinct."""
        start = self._codes[:, :4096]
        return bool(len(np.unique(hash_rows(start))) <= start.shape[1] / 2)

    @cached_property
    def _row_hashes(self) -> NDArray[np.uint64]:
        return hash_rows(self._codes)

    def _find_distinct_rows(self) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return first position and count of each distinct row, sorted by hash."""
        _, first, counts = np.unique(self._row_hashes, return_index=True, return_counts=True)
        return first, counts.astype(np.int64)

    def _are_hashes_unique(self, first: NDArray[np.intp]) -> bool:
        """Return whether rows with equal hashes are equal; different rows can share a hash."""
        same_hash = first[np.searchsorted(self._row_hashes[first], self._row_hashes)]
        return all(np.array_equal(column[same_hash], column) for column in self._codes)

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same observations of the same variables."""
        if not isinstance(other, Dataset):
            return NotImplemented
        return self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def __reduce__(self) -> tuple[Any, ...]:
        # A pickled array becomes writeable; `_from_parts` makes the arrays read-only again.
        parts = (self._source, self._variables, self._codes, self._weights)
        return Dataset._from_parts, (parts if self._clusters is None else (*parts, self._clusters))

    def __repr__(self) -> str:
        stored = "" if self._weights is None else f" ({self._codes.shape[1]:,} distinct)"
        if self._clusters is not None:
            stored = f" in {self.n_clusters:,} clusters"
        return f"<Dataset: {self.n_rows:,} rows{stored}, {self.n_variables} variables>"


def _check_columns(variables: tuple[Variable, ...], columns: Sequence[NDArray[np.integer]]) -> None:
    twice = find_duplicate(variable.name for variable in variables)
    if twice is not None:
        raise DataError(f"Two columns are called {twice!r}. Rename one of them.")
    if len(columns) != len(variables):
        raise DataError(f"{len(variables)} variables are declared for {len(columns)} columns.")
    if not columns:
        raise DataError("The table has no columns. A network needs at least two.")
    for variable, column in zip(variables, columns, strict=True):
        if not isinstance(variable, Discrete):
            raise DataError(
                f"A Dataset holds states, and {getattr(variable, 'name', variable)!r} is no "
                "Discrete variable. Cut numbers into bins with read_data(discretise='mdl')."
            )
        if column.ndim != 1 or len(column) != len(columns[0]):
            raise DataError(f"Column {variable.name!r} does not have one code for each row.")
        if not len(column):
            raise DataError("The table has no rows. Give at least one observation.")
        if column.dtype.kind not in "iu":
            raise DataError(f"The codes of column {variable.name!r} are not integers.")
        if int(column.min()) < 0 or int(column.max()) >= variable.arity:
            raise DataError(
                f"A code of column {variable.name!r} is not one of its {variable.arity} states."
            )


def _copy_weights(weights: NDArray[np.int64], n_stored: int) -> Weights:
    """Validate weights and return a read-only copy."""
    given = np.asarray(weights)
    if given.shape != (n_stored,) or given.dtype.kind not in "iu" or (given < 1).any():
        raise DataError("Weights must be one integer >= 1 for each row.")
    if float(given.sum(dtype=np.float64)) > MAX_OBSERVATIONS:
        raise DataError(f"The weights sum to more than {MAX_OBSERVATIONS:,}.")
    copy = given.astype(np.int64)
    copy.flags.writeable = False
    return copy


def _number_clusters(clusters: NDArray[np.integer], n_stored: int) -> Clusters:
    """Return the number of the cluster of each row, from 0, as a read-only array."""
    given = np.asarray(clusters)
    if given.shape != (n_stored,) or given.dtype.kind not in "iu":
        raise DataError("Clusters must be one integer for each row.")
    numbers: Clusters = np.unique(given, return_inverse=True)[1].astype(np.int64)
    numbers.flags.writeable = False
    return numbers


def hash_clusters(hashes: NDArray[np.uint64], clusters: Clusters) -> NDArray[np.uint64]:
    """Return a hash of each cluster that depends on its rows alone, not on their order."""
    sums = np.zeros(int(clusters.max()) + 1, dtype=np.uint64)
    np.add.at(sums, clusters, hashes * hashes + hashes)  # both wrap around
    return sums


def draw_clusters(
    hashes: NDArray[np.uint64], clusters: Clusters, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw as many clusters as there are, with replacement; return the rows of each that is drawn.

    `hashes` has a hash of each row. Clusters are sorted by the hashes of their rows, so that
    neither the order of rows nor the names of clusters matter.
    """
    ranked = np.argsort(hash_clusters(hashes, clusters), kind="stable")
    drawn = ranked[rng.integers(len(ranked), size=len(ranked))]
    by_cluster = np.argsort(clusters, kind="stable")
    sizes = np.bincount(clusters)
    starts = np.cumsum(sizes) - sizes
    ends = np.cumsum(sizes[drawn])
    within = np.arange(ends[-1]) - np.repeat(ends - sizes[drawn], sizes[drawn])
    rows: NDArray[np.intp] = by_cluster[np.repeat(starts[drawn], sizes[drawn]) + within]
    return rows


def combine_row_hashes(hashes: NDArray[np.uint64], weights: Weights | None = None) -> RowDigest:
    """Return two numbers that identify the rows and do not depend on their order."""
    times = np.uint64(1) if weights is None else weights.astype(np.uint64)
    return int((hashes * times).sum()), int((hashes * hashes * times).sum())  # both wrap around


def hash_rows(codes: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row.

    Each step adds the next code to the hash and applies the mixing function of splitmix64
    (Steele, Lea and Flood 2014).
    """
    hashes = np.zeros(codes.shape[1], dtype=np.uint64)
    shifted = np.empty_like(hashes)
    for column in codes:
        hashes += column
        hashes += np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            np.right_shift(hashes, np.uint64(shift), out=shifted)
            hashes ^= shifted
            hashes *= np.uint64(factor)
        np.right_shift(hashes, np.uint64(31), out=shifted)
        hashes ^= shifted
    return hashes


def _check_generator(rng: object, owner: str) -> None:
    if not isinstance(rng, np.random.Generator):
        raise bad_parameter("rng", owner, "a Generator of NumPy", rng)
