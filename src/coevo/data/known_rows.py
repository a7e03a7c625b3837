"""Rows of which only a part is known: the evidence for predictions with a network.

`read_known_rows` reads any table in the states and bins of given variables. A cell is unknown if
its value is missing, if no state of its variable matches it, or if the table has no such column.
Unknown cells are counted, so that a command can say how many there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data.bins import CutPoints
from coevo.data.column_types import ColumnType
from coevo.data.columns import Column, check_rows
from coevo.data.dataset import Dataset
from coevo.data.decisions import Decision
from coevo.data.incomplete import IncompleteDataset
from coevo.data.prepare.columns import prepare_columns
from coevo.data.prepare.spellings import UNKNOWN, match_labels
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import SourceOptions
from coevo.data.variable import Variable
from coevo.errors import ParameterError, bad_parameter, format_count, format_list
from coevo.options import SourceParameters

__all__ = ["KnownRows", "UnknownCells", "read_known_rows"]

Codes = NDArray[np.int32]  # (n_rows,), the number of the state, or -1 if it is unknown

_SHOWN = 3  # unseen labels of one column in a sentence


@dataclass(frozen=True, slots=True)
class UnknownCells:
    """The cells of a table that are unknown, and why.

    Attributes
    ----------
    absent : tuple of str
        The variables without a column.
    missing : dict of str to int
        Number of missing values of each column that has some.
    unseen : dict of str to dict of str to int
        For each column with labels that are no states: how often each of them occurs.
    """

    absent: tuple[str, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    unseen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def describe(self) -> list[str]:
        """Return one sentence for each reason."""
        sentences = []
        if self.absent:
            columns = format_count(len(self.absent), "variable")
            has = "has" if len(self.absent) == 1 else "have"
            listed = format_list([repr(name) for name in self.absent])
            sentences.append(f"{columns} {has} no column and {_are(len(self.absent))}: {listed}.")
        if self.missing:
            n = sum(self.missing.values())
            listed = format_list([f"{name!r} ({count:,})" for name, count in self.missing.items()])
            sentences.append(f"{format_count(n, 'missing value')} {_are(n)}: {listed}.")
        for name, labels in self.unseen.items():
            n = sum(labels.values())
            first = sorted(labels, key=lambda label: (-labels[label], label))[:_SHOWN]
            listed = ", ".join(f"{label!r} ({labels[label]:,})" for label in first)
            more = ", ..." if len(labels) > _SHOWN else ""
            sentences.append(
                f"{format_count(n, 'value')} of {name!r} {_are(n)}, because the network has no "
                f"such state: {listed}{more}."
            )
        return sentences

    def leave_out(self, name: str) -> UnknownCells:
        """Return the counts without those of a variable."""
        return UnknownCells(
            tuple(other for other in self.absent if other != name),
            {other: n for other, n in self.missing.items() if other != name},
            {other: labels for other, labels in self.unseen.items() if other != name},
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "absent": list(self.absent),
            "missing": dict(self.missing),
            "unseen": {name: dict(labels) for name, labels in self.unseen.items()},
        }


def _are(n: int) -> str:
    return "is unknown" if n == 1 else "are unknown"


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Rows in the states of a network's variables; a code of -1 is unknown.

    Attributes
    ----------
    variables : tuple of Variable
        The variables, also those without a column.
    codes : dict of str to array
        The code of each row, for each variable with a column.
    n_stored : int
        Number of stored rows.
    weights : array of int, optional
        Number of occurrences of each stored row.
    unknown : UnknownCells
        What is unknown, and why.
    decisions : tuple of Decision
        What the reader decided about the table.
    """

    variables: tuple[Variable, ...]
    codes: Mapping[str, Codes]
    n_stored: int
    weights: NDArray[np.int64] | None = None
    unknown: UnknownCells = field(default_factory=UnknownCells)
    decisions: tuple[Decision, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.n_stored if self.weights is None else int(self.weights.sum())

    def describe_row(self, place: int) -> str:
        """Return a row for a message. Rows of deduplicated data have no number of their own."""
        return f"{'Row' if self.weights is None else 'Distinct row'} {place + 1:,}"

    def hide(self, name: str) -> KnownRows:
        """Return the rows as if nothing was known or asked about a variable."""
        codes = {key: column for key, column in self.codes.items() if key != name}
        return replace(self, codes=codes, unknown=self.unknown.leave_out(name))


def read_known_rows(
    source: Any,
    variables: Sequence[Variable],
    *,
    only: Iterable[str] | None = None,
    drop: Iterable[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, Any] | None = None,
    decimal: str | None = None,
    **opening: Unpack[SourceParameters],
) -> KnownRows:
    """Read a table in the states and bins of variables; other columns are ignored.

    Parameters
    ----------
    source : path, data frame, array, Dataset, IncompleteDataset or KnownRows
        A table of any kind that `read_data` accepts. `KnownRows` are returned unchanged.
    variables : sequence of Variable
        The variables of a network.
    only : iterable of str, optional
        The variables to read (default: all).
    drop, names, decimal
        As for `read_incomplete`. A dropped column is as one that the table does not have.
    types : mapping of str to type, optional
        The order of day and month of columns of dates: ``'dmy'`` or ``'mdy'``, and ``'date+dmy'``
        or ``'date+mdy'`` for dates in bins. A variable keeps its states and bins.
    **opening
        How the source is opened, labels of missing values and merged states, as for `read_data`.

    Examples
    --------
    >>> rain = Variable("rain", ("no", "yes"))
    >>> mm, wet = Variable("mm", ("below_2", "from_2")), Variable("wet", ("no", "yes"))
    >>> table = np.array([["yes", "7.5"], ["?", "0.1"], ["snow", "3"]])
    >>> rows = read_known_rows(table, [rain, mm, wet], names=["rain", "mm"])
    >>> {name: codes.tolist() for name, codes in rows.codes.items()}
    {'rain': [1, -1, -1], 'mm': [1, 0, 1]}
    >>> for sentence in rows.unknown.describe():
    ...     print(sentence)
    1 variable has no column and is unknown: 'wet'.
    1 missing value is unknown: 'rain' (1).
    1 value of 'rain' is unknown, because the network has no such state: 'snow' (1).
    """
    if isinstance(source, KnownRows):
        return source
    wanted = tuple(variables)
    if only is not None:
        chosen = set(only)
        wanted = tuple(variable for variable in variables if variable.name in chosen)
    if isinstance(source, Dataset):
        return _convert_dataset(source, None, wanted)
    if isinstance(source, IncompleteDataset):
        return _convert_dataset(source.dataset, source.missing, wanted)
    opened = SourceOptions.from_parameters("read_known_rows", **opening)
    options = ReadPlan.from_parameters(
        wanted,
        drop,
        _fit_types(wanted, types),
        only=[variable.name for variable in wanted],
        opening=opened,
    )
    lenient = options.use_decimal(decimal).allow_missing()
    columns, decisions = _load_columns(source, lenient, names)
    return _match_columns(columns, wanted, tuple(decisions))


def _fit_types(
    variables: Sequence[Variable], types: Mapping[str, Any] | None
) -> dict[str, ColumnType] | None:
    """Return types of columns; a variable keeps its states and bins, whatever its type."""
    if types is None:
        return None
    if not isinstance(types, Mapping):
        raise bad_parameter("types", "read_rows", "a mapping of column to its type", types)
    by_name = {variable.name: variable for variable in variables}
    found = {}
    for name, given in types.items():
        declared = ColumnType.parse(str(name), given)
        if str(name) in by_name:
            cuts = CutPoints.from_states(by_name[str(name)].states)
            if cuts is None or declared.kind != "continuous":
                raise ParameterError(
                    f"'types' of read_rows names {str(name)!r}, a variable of the network, whose "
                    "states are known. Give types only of columns of dates, as 'dmy' or 'date+dmy'."
                )
            declared = replace(declared, cuts=cuts)
        found[str(name)] = declared
    return found


def _load_columns(
    source: Any, options: ReadPlan, names: Sequence[str] | None
) -> tuple[list[Column], list[Decision]]:
    """Return the columns of a table with their numbers and dates read, and the decisions."""
    raw = load_table(source, replace(options, is_lenient=True), names)
    check_rows(raw.columns)
    n_rows = len(raw.columns[0].codes)
    filled, empty = list[Column](), list[Column]()
    for column in raw.columns:
        n_missing = int(column.counts[options.find_missing(column)].sum())
        is_empty = n_missing == n_rows and not column.overflow
        (empty if is_empty else filled).append(column)
    decisions = list(raw.decisions)
    if filled:
        prepared = prepare_columns(filled, options)
        filled, decisions = prepared.columns, [*decisions, *prepared.notes.decisions]
    nothing = np.ones(n_rows, dtype=np.bool_)
    return [*filled, *(replace(column, missing=nothing) for column in empty)], decisions


class _Matching:
    """Columns that are matched with variables one by one, and what is unknown in them."""

    def __init__(self, variables: tuple[Variable, ...]) -> None:
        self._variables = variables
        self._codes: dict[str, Codes] = {}
        self._missing: dict[str, int] = {}
        self._unseen: dict[str, dict[str, int]] = {}

    def add(
        self,
        variable: Variable,
        labels: Sequence[str | None],
        codes: NDArray[np.integer],
        counts: NDArray[np.int64],
        missing: NDArray[np.bool_] | None,
    ) -> None:
        """Add a column; `counts` has the number of rows with each label."""
        matched = match_labels(variable, labels)
        own = matched[codes]
        strange = np.flatnonzero((matched == UNKNOWN) & (counts > 0)).tolist()
        if strange:
            self._unseen[variable.name] = {str(labels[i]): int(counts[i]) for i in strange}
        if missing is not None and missing.any():
            own[missing] = UNKNOWN
            self._missing[variable.name] = int(missing.sum())
        self._codes[variable.name] = own

    def make_rows(
        self,
        n_stored: int,
        weights: NDArray[np.int64] | None = None,
        decisions: tuple[Decision, ...] = (),
    ) -> KnownRows:
        """Return the rows; a variable without a column is absent."""
        absent = tuple(v.name for v in self._variables if v.name not in self._codes)
        unknown = UnknownCells(absent, self._missing, self._unseen)
        return KnownRows(self._variables, self._codes, n_stored, weights, unknown, decisions)


def _match_columns(
    columns: Sequence[Column], variables: tuple[Variable, ...], decisions: tuple[Decision, ...]
) -> KnownRows:
    """Return the rows of columns in the states of the variables."""
    by_name = {column.name: column for column in columns}
    matching = _Matching(variables)
    for variable in variables:
        column = by_name.get(variable.name)
        if column is not None:
            matching.add(variable, column.labels, column.codes, column.counts, column.missing)
    return matching.make_rows(len(columns[0].codes), decisions=decisions)


def _convert_dataset(
    dataset: Dataset, mask: NDArray[np.bool_] | None, variables: tuple[Variable, ...]
) -> KnownRows:
    """Return the rows of a dataset; `mask` has its missing values."""
    matching = _Matching(variables)
    for variable in variables:
        if variable.name not in dataset.names:
            continue
        place = dataset.find_position(variable.name)
        states, codes = dataset.variables[place].states, dataset.codes[place]
        missing = None if mask is None else mask[place]
        observed = slice(None) if missing is None else ~missing
        weights = None if dataset.weights is None else dataset.weights[observed]
        counts = np.bincount(codes[observed], weights, minlength=len(states))
        matching.add(variable, states, codes, counts, missing)
    return matching.make_rows(dataset.codes.shape[1], dataset.weights)
