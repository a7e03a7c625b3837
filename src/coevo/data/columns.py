"""Validate the columns of a table and assemble them into a `Dataset`.

Each reader turns each column into labels and codes (a `Column`). All readers share the rules in
this module. `check_complete` rejects missing values; `mask_codes` keeps them.
`coevo.data.prepare.drafts` then cuts numbers into bins. `assemble_dataset` rejects decimal
numbers, identifiers and undeclared values, and builds the `Dataset`. Each error names the
column, the first row and the way out. Rows are counted from 1, without the header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import format_drop_hint, format_label_hint
from coevo.data.dataset import Clusters, Dataset
from coevo.data.labels import (
    MISSING_LABELS,
    NumberLabels,
    find_decimal,
    parse_numbers,
    sort_naturally,
)
from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import DataError, format_list, warn_caller

__all__ = [
    "IDENTIFIER_ABOVE",
    "Column",
    "MissingMask",
    "Stray",
    "UnsupportedTypeError",
    "assemble_dataset",
    "check_complete",
    "check_no_missing",
    "check_rows",
    "check_states",
    "make_overflow_error",
    "make_unsupported_type_error",
    "make_variable",
    "mask_codes",
    "recode_column",
    "relabel_column",
]

# In a table with fewer rows, distinct values in each row are more likely a coincidence or a
# small example than an identifier.
IDENTIFIER_ABOVE = 20

MissingMask = NDArray[np.bool_]  # (n_rows,), True where the value is missing


@dataclass(frozen=True, slots=True)
class Stray:
    """A label among numbers that is no number: its number of rows, and the first, from 0."""

    label: str
    count: int
    first_row: int


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table: labels, and a code for each row.

    Parameters
    ----------
    name : str
        The name in the source.
    labels : sequence of str or None
        The text of each code; None stands for a missing value. A label need not occur.
    codes : array of int
        For each row an index into `labels`.
    declared : tuple of str, optional
        All states, in the declared order. If left out, the observed labels are the states.
    decimal : int, optional
        The code of the first decimal number, if the source contains numbers and not text.
    missing : array of bool, optional
        Rows with a missing value; their codes have no meaning. With this mask no label stands
        for a missing value.
    overflow : bool, default: False
        The column has more than 65,535 distinct labels, and its reader gave it up: `labels` and
        `codes` are only its start. Later code must leave such a column out.
    is_text : bool, default: False
        Whether the labels are text even if they look like numbers (codes with leading zeros).
    strays : tuple of Stray
        Cells that are no numbers, in a column with so many numbers that its reader stores them as
        numbers. Their values are missing.
    """

    name: str
    labels: Sequence[str | None]
    codes: NDArray[np.integer]
    declared: tuple[str, ...] | None = None
    decimal: int | None = None
    missing: MissingMask | None = None
    overflow: bool = False
    is_text: bool = False
    strays: tuple[Stray, ...] = ()
    counts: NDArray[np.int64] = field(init=False)  # number of rows with each label

    def __post_init__(self) -> None:
        # All columns of a table are in memory at the same time, so small codes save memory.
        dtype = np.min_scalar_type(max(0, len(self.labels) - 1))
        object.__setattr__(self, "codes", self.codes.astype(dtype, copy=False))
        observed = self.codes if self.missing is None else self.codes[~self.missing]
        counts = np.bincount(observed, minlength=len(self.labels))
        object.__setattr__(self, "counts", counts)

    @property
    def n_observed(self) -> int:
        """Number of rows with a value."""
        return int(self.counts.sum())

    def take(self, rows: NDArray[np.intp]) -> Column:
        """Return some rows of the column."""
        missing = None if self.missing is None else self.missing[rows]
        return replace(self, codes=self.codes[rows], missing=missing)

    def find_first_row(self, codes: Sequence[int]) -> int:
        """Return the first row, counted from 0, with one of these codes."""
        matches = np.isin(self.codes, codes)
        return int(np.argmax(matches if self.missing is None else matches & ~self.missing))

    def format_first_row(self, code: int) -> str:
        """Return the first row with this code, counted from 1, as text for a message."""
        return f"{self.find_first_row([code]) + 1:,}"

    def find_missing(self) -> list[int]:
        """Return the codes that stand for a missing value in any column, unless declared."""
        if isinstance(self.labels, NumberLabels):
            return self.labels.find_missing()
        observed = np.flatnonzero(self.counts).tolist()
        return [code for code in observed if self._is_missing(code)]

    def _is_missing(self, code: int) -> bool:
        label = self.labels[code]
        if label is None:
            return True
        return label.strip() in MISSING_LABELS and label not in (self.declared or ())


LEARN_WITH_MISSING = (
    ", or learn with missing='evolve' (--missing evolve of coevo learn and strength)"
)
MissingCodes = Mapping[str, list[int]]  # further codes that stand for a missing value, by column


def check_complete(columns: Sequence[Column], way_out: str = LEARN_WITH_MISSING) -> None:
    """Raise `DataError` if the table has no rows or a missing value.

    `way_out` is an alternative to dropping and filling the missing values, for the message.
    """
    check_rows(columns)
    check_no_missing(columns, way_out=way_out)


def check_rows(columns: Sequence[Column]) -> None:
    """Raise `DataError` if the table has no rows."""
    if not len(columns[0].codes):
        raise DataError("The table has no rows. Give at least one observation.")


def mask_codes(column: Column, missing_codes: Sequence[int]) -> Column:
    """Return a column without these codes; the mask `missing` has their rows."""
    if not len(missing_codes):
        return column
    kept = np.ones(len(column.labels), dtype=np.bool_)
    kept[list(missing_codes)] = False
    labels: Sequence[str | None]
    if isinstance(column.labels, NumberLabels):
        labels = NumberLabels(column.labels.numbers[kept])
    else:
        labels = [label for label, keep in zip(column.labels, kept, strict=True) if keep]
    recode = np.maximum(np.cumsum(kept) - 1, 0)
    decimal = None if column.decimal is None else int(recode[column.decimal])
    missing = ~kept[column.codes]
    if column.missing is not None:
        missing |= column.missing
    codes = np.where(missing, 0, recode[column.codes])
    return replace(
        column,
        labels=labels,
        codes=codes,
        decimal=decimal,
        missing=missing if missing.any() else None,
    )


def relabel_column(column: Column, new_labels: Mapping[str, str]) -> Column:
    """Return a column with other labels for some of its labels; equal labels become one.

    >>> column = Column("x", ["Y", "no", "yes"], np.array([0, 1, 2]))
    >>> merged = relabel_column(column, {"Y": "yes"})
    >>> merged.labels, merged.codes.tolist()
    (['yes', 'no'], [0, 1, 0])
    """
    if not new_labels:
        return column
    texts = [label if label is None else new_labels.get(label, label) for label in column.labels]
    labels = list(dict.fromkeys(texts))
    place = {label: i for i, label in enumerate(labels)}
    codes = np.array([place[text] for text in texts], dtype=np.intp)[column.codes]
    declared = column.declared
    if declared is not None:
        declared = tuple(dict.fromkeys(new_labels.get(state, state) for state in declared))
    decimal = find_decimal([label for label in labels if label is not None])
    if decimal is not None:
        decimal = next(i for i, label in enumerate(labels) if find_decimal([label]) == 0)
    return replace(column, labels=labels, codes=codes, declared=declared, decimal=decimal)


def check_states(column: Column) -> None:
    """Raise `DataError` if a column has undeclared values or decimal numbers."""
    if column.declared is not None:
        _check_declared(column, np.flatnonzero(column.counts).tolist())
    elif column.decimal is not None:
        raise _make_decimal_error(column, column.decimal)


def assemble_dataset(
    columns: Sequence[Column], deduplicate: bool = True, clusters: Clusters | None = None
) -> Dataset:
    """Build a dataset from columns of states; `clusters` has the cluster of each row."""
    variables = [make_variable(column) for column in columns]
    coded = [recode_column(*pair) for pair in zip(columns, variables, strict=True)]
    _warn_constant(columns)
    dataset = Dataset(variables, coded, clusters=clusters)
    return dataset.deduplicate() if deduplicate else dataset


def make_overflow_error(column: Column, is_late: bool = False) -> DataError:
    """Return the error for a column with more than `MAX_STATES` labels.

    A reader stops at the first label too many, so `column` is only the start of the column.
    `is_late` says that `column` is a later part, and that all earlier labels were numbers.
    """
    if is_late:
        return _make_too_many_states_error(column)
    if column.declared is not None:
        _check_declared(column, range(len(column.labels)))
    if column.decimal is not None:
        return _make_decimal_error(column, column.decimal)
    if len(column.codes) <= len(column.labels):
        return _make_identifier_error(column, f"first {len(column.codes):,}")
    return _make_too_many_states_error(column)


class UnsupportedTypeError(DataError):
    """A column of a type that coevo cannot read; readers leave the column out if they can."""

    kind: str = ""


def make_unsupported_type_error(name: str, kind: object) -> UnsupportedTypeError:
    """Return the error for a column of a type that coevo cannot read."""
    error = UnsupportedTypeError(
        f"Column {name!r} has the type {kind}, which coevo does not read. Convert it to text "
        f"or categories first, or leave it out ({format_drop_hint(name)})."
    )
    error.kind = str(kind)
    return error


def check_no_missing(
    columns: Sequence[Column],
    codes: MissingCodes | None = None,
    find: Callable[[Column], list[int]] = Column.find_missing,
    way_out: str = LEARN_WITH_MISSING,
) -> None:
    """Raise `DataError` if a value is missing; `codes` and `find` say what stands for one."""
    incomplete = [
        (column, found, int(column.counts[found].sum()))
        for column in columns
        if (found := [*find(column), *(codes or {}).get(column.name, ())])
    ]
    if not incomplete:
        return
    column, missing_codes, n_missing = incomplete[0]
    row = column.find_first_row(missing_codes)
    label = column.labels[int(column.codes[row])]
    values = "1 missing value," if n_missing == 1 else f"{n_missing:,} missing values, the first"
    sentences = [f"Column {column.name!r} has {values} in row {row + 1:,}."]
    if len(incomplete) > 1:
        others = [f"{other.name!r} ({n:,})" for other, _, n in incomplete[1:]]
        verb = "column has" if len(others) == 1 else "columns have"
        total = sum(n for _, _, n in incomplete)
        sentences.append(
            f"{len(others):,} other {verb} missing values too: {format_list(others)}; "
            f"{total:,} in all."
        )
    them = "them" if len(incomplete) > 1 or n_missing > 1 else "it"
    sentences.append(f"Drop or impute {them}{way_out}.")
    stray = next((one for one in column.strays if one.first_row == row), None)
    if stray is not None:
        sentences.append(f"{stray.label!r} among its numbers counts as missing.")
    if label is not None and label.strip():
        hint = format_label_hint("keep_labels", column.name, [label])
        sentences.append(f"If {label!r} is a value, keep it ({hint}).")
    raise DataError(" ".join(sentences))


def make_variable(column: Column) -> Variable:
    """Return the variable of a column. Raise `DataError` if the column cannot be a variable."""
    check_states(column)
    observed = np.flatnonzero(column.counts).tolist()
    if column.declared is not None:
        return Variable(column.name, column.declared)
    n_rows = column.n_observed
    if len(observed) == n_rows > IDENTIFIER_ABOVE:
        raise _make_identifier_error(column, f"{n_rows:,}")
    if len(observed) > MAX_STATES:
        raise _make_too_many_states_error(column)
    return Variable(column.name, sort_naturally(str(column.labels[code]) for code in observed))


def recode_column(column: Column, variable: Variable) -> NDArray[np.unsignedinteger]:
    """Return the codes of a column as positions in the states of its variable."""
    position = {state: i for i, state in enumerate(variable.states)}
    # A label that does not occur need not be a state; no row has its code.
    recode = [position.get(str(label), 0) for label in column.labels]
    dtype = np.uint8 if variable.arity <= 256 else np.uint16
    codes: NDArray[np.unsignedinteger] = np.array(recode, dtype=dtype)[column.codes]
    return codes


def _warn_constant(columns: Sequence[Column]) -> None:
    if len(columns[0].codes) == 1:
        return  # every column of one row is constant
    constant = [
        (column, int(np.argmax(column.counts)))
        for column in columns
        if np.count_nonzero(column.counts) == 1
    ]
    if not constant:
        return
    column, code = constant[0]
    sentence = (
        f"Column {column.name!r} is {column.labels[code]!r} in every row, so it gives "
        "no information about the other columns."
    )
    if len(constant) > 1:
        others = [repr(other.name) for other, _ in constant[1:]]
        sentence += f" The same holds for {format_list(others)}."
    warn_caller(sentence)


def _check_declared(column: Column, codes: Iterable[int]) -> None:
    """Raise `DataError` if the label of one of these codes is not a declared state."""
    declared = column.declared or ()
    known = set(declared)
    undeclared = [code for code in codes if column.labels[code] not in known]
    if not undeclared:
        return
    row = column.find_first_row(undeclared)
    states = format_list([repr(state) for state in declared])
    raise DataError(
        f"Column {column.name!r} holds {column.labels[int(column.codes[row])]!r}, first in row "
        f"{row + 1:,}, which is not one of its declared states {states}. "
        "Correct the value, or add it to states= (--states)."
    )


def _make_decimal_error(column: Column, code: int) -> DataError:
    return DataError(
        f"Column {column.name!r} holds decimal numbers, the first is {column.labels[code]} in "
        f"row {column.format_first_row(code)}. Discretise it with discretise= (coevo learn does), "
        "or declare its states with states= (--states)."
    )


def _make_identifier_error(column: Column, rows: str) -> DataError:
    hint = ""
    if parse_numbers(column.labels) is not None:
        hint = " If it is a measurement, declare its type with types= (--types)."
    return DataError(
        f"Column {column.name!r} has a different value in each of its {rows} rows, so it looks "
        f"like an identifier. Leave it out ({format_drop_hint(column.name)}), or declare its "
        f"states with states= (--states).{hint}"
    )


def _make_too_many_states_error(column: Column) -> DataError:
    return DataError(
        f"Column {column.name!r} has more than {MAX_STATES:,} states, the maximum of coevo. "
        f"Group its values, or leave it out ({format_drop_hint(column.name)})."
    )
