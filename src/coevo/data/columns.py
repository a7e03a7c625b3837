"""What a column of a table must be before it becomes a variable.

Readers differ in how they find the cells; what they may find is decided here, once. A
reader turns each column into labels and codes (a `Column`). `check_cells` refuses missing
cells; `assemble`, after numbers were cut into bins (`coevo.data.infer_columns`), refuses decimal
numbers, identifiers and undeclared values, and puts what is left into a `Dataset`. Each
refusal is one sentence that names the column, the first row and the way out. Rows are
counted from 1, without the header.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coevo.data.dataset import Dataset
from coevo.data.number_labels import MISSING_LABELS, NumberLabels, numbers_of
from coevo.data.read_options import leave_out
from coevo.data.variable import MAX_STATES, Variable, natural_order
from coevo.errors import CoevoWarning, DataError, listed

__all__ = [
    "IDENTIFIER_ABOVE",
    "Column",
    "Holes",
    "assemble",
    "check_cells",
    "check_states",
    "open_holes",
    "recoded",
    "refuse_overflow",
    "refuse_type",
    "variable_of",
]

# In a table this small, a column of different values is more likely a coincidence, or
# somebody's first example, than an identifier.
IDENTIFIER_ABOVE = 20

Holes = NDArray[np.bool_]  # (n_rows,), which cells of a column are missing


@dataclass(frozen=True, slots=True)
class Column:
    """One column as a reader found it.

    Parameters
    ----------
    name : str
        What the source calls it.
    labels : sequence of str or None
        The text of each code; None stands for a missing cell. Some may be unseen.
    codes : array of int
        For each row an index into `labels`.
    declared : tuple of str, optional
        All states, in the order of whoever declared them. Observed states if left out.
    decimal : int, optional
        The code of the first decimal number, if the source holds numbers and not text.
    holes : array of bool, optional
        Cells whose code means nothing, because they are missing and that was allowed. No
        label then stands for a missing cell.
    """

    name: str
    labels: Sequence[str | None]
    codes: NDArray[np.integer]
    declared: tuple[str, ...] | None = None
    decimal: int | None = None
    holes: Holes | None = None
    counts: NDArray[np.int64] = field(init=False)  # rows that show each label

    def __post_init__(self) -> None:
        # All columns of a table wait here for each other, so that bytes count.
        dtype = np.min_scalar_type(max(0, len(self.labels) - 1))
        object.__setattr__(self, "codes", self.codes.astype(dtype, copy=False))
        seen = self.codes if self.holes is None else self.codes[~self.holes]
        counts = np.bincount(seen, minlength=len(self.labels))
        object.__setattr__(self, "counts", counts)

    @property
    def n_seen(self) -> int:
        """How many rows have a value."""
        return int(self.counts.sum())

    def first_of(self, codes: Sequence[int]) -> int:
        """Return the first row, counted from 0, that shows one of these labels."""
        shows = np.isin(self.codes, codes)
        return int(np.argmax(shows if self.holes is None else shows & ~self.holes))

    def first_row(self, code: int) -> str:
        """Return the first row of a label, counted from 1, as a sentence shows it."""
        return f"{self.first_of([code]) + 1:,}"

    def missing(self, labels: Set[str] = MISSING_LABELS) -> list[int]:
        """Return the codes of the labels that stand for a missing cell in this column."""
        if isinstance(self.labels, NumberLabels):
            return self.labels.missing(labels)
        seen = np.flatnonzero(self.counts).tolist()
        return [code for code in seen if self._is_missing(code, labels)]

    def _is_missing(self, code: int, labels: Set[str]) -> bool:
        label = self.labels[code]
        if label is None:
            return True
        return label.strip() in labels and label not in (self.declared or ())


LEARN_WITH_HOLES = ", or learn with missing='evolve' (--missing evolve of coevo learn and strength)"


def check_cells(columns: Sequence[Column], way_out: str = LEARN_WITH_HOLES) -> None:
    """Raise `DataError` if there are no rows, or if a cell is missing.

    `way_out` is what can be done about missing cells, beside dropping and filling them.
    """
    _check_rows(columns)
    _refuse_missing(columns, way_out)


def open_holes(columns: Sequence[Column], labels: Set[str] = MISSING_LABELS) -> list[Column]:
    """Return the columns with their missing cells noted as holes; `labels` stand for them."""
    _check_rows(columns)
    return [_with_holes(column, column.missing(labels)) for column in columns]


def _check_rows(columns: Sequence[Column]) -> None:
    if not len(columns[0].codes):
        raise DataError("The table has no rows. Give at least one observation.")


def _with_holes(column: Column, missing: list[int]) -> Column:
    """Return a column without the labels of missing cells, whose rows become holes."""
    if not missing:
        return column
    kept = np.ones(len(column.labels), dtype=np.bool_)
    kept[missing] = False
    if not column.counts[kept].any():
        raise DataError(
            f"Column {column.name!r} has no value in any row. Leave it out "
            f"({leave_out(column.name)})."
        )
    labels: Sequence[str | None]
    if isinstance(column.labels, NumberLabels):
        labels = NumberLabels(column.labels.numbers[kept])
    else:
        labels = [label for label, keep in zip(column.labels, kept, strict=True) if keep]
    recode = np.maximum(np.cumsum(kept) - 1, 0)
    decimal = None if column.decimal is None else int(recode[column.decimal])
    holes = ~kept[column.codes]
    codes = np.where(holes, 0, recode[column.codes])
    return Column(column.name, labels, codes, column.declared, decimal, holes)


def check_states(column: Column) -> None:
    """Raise `DataError` if a column shows undeclared values, or decimal numbers."""
    if column.declared is not None:
        _refuse_undeclared(column, np.flatnonzero(column.counts).tolist())
    elif column.decimal is not None:
        raise _decimal(column, column.decimal)


def assemble(columns: Sequence[Column], fold: bool = True) -> Dataset:
    """Put the columns of a table, once they are all states, into a dataset.

    It is folded where that pays.
    """
    variables = [variable_of(column) for column in columns]
    coded = [recoded(*pair) for pair in zip(columns, variables, strict=True)]
    _warn_constant(columns)
    dataset = Dataset(variables, coded)
    return dataset.folded() if fold else dataset


def refuse_overflow(column: Column, is_late: bool = False) -> DataError:
    """Return what is wrong with a column of which a reader gave up the rest.

    A reader may stop once a column shows more than `MAX_STATES` labels. `is_late` says that
    the column is a later part of such a one, which were numbers up to here.
    """
    if is_late:
        return _too_many_states(column)
    if column.declared is not None:
        _refuse_undeclared(column, range(len(column.labels)))
    if column.decimal is not None:
        return _decimal(column, column.decimal)
    if len(column.codes) <= len(column.labels):
        return _identifier(column, f"first {len(column.codes):,}")
    return _too_many_states(column)


def refuse_type(name: str, kind: object) -> DataError:
    """Return the sentence for a column whose type has no states."""
    return DataError(
        f"Column {name!r} has the type {kind}, which coevo does not read. Turn it into text "
        f"or categories first, or leave it out ({leave_out(name)})."
    )


def _refuse_missing(columns: Sequence[Column], way_out: str) -> None:
    found = [
        (column, codes, int(column.counts[codes].sum()))
        for column in columns
        if (codes := column.missing())
    ]
    if not found:
        return
    column, codes, n_cells = found[0]
    row = column.first_of(codes)
    label = column.labels[int(column.codes[row])]
    values = "1 missing value," if n_cells == 1 else f"{n_cells:,} missing values, the first"
    sentences = [f"Column {column.name!r} has {values} in row {row + 1:,}."]
    if len(found) > 1:
        others = [f"{other.name!r} ({n:,})" for other, _, n in found[1:]]
        verb = "column has" if len(others) == 1 else "columns have"
        total = sum(n for _, _, n in found)
        sentences.append(
            f"{len(others):,} other {verb} missing values too: {listed(others)}; "
            f"{total:,} cells in all."
        )
    them = "them" if len(found) > 1 or n_cells > 1 else "it"
    sentences.append(f"Drop or fill {them}{way_out}.")
    if label is not None and label.strip():
        sentences.append(
            f"If {label!r} is a state, declare the states of the column with states= (--states)."
        )
    raise DataError(" ".join(sentences))


def variable_of(column: Column) -> Variable:
    """Return the variable of a column, or refuse what cannot be one."""
    check_states(column)
    seen = np.flatnonzero(column.counts).tolist()
    if column.declared is not None:
        return Variable(column.name, column.declared)
    n_rows = column.n_seen
    if len(seen) == n_rows > IDENTIFIER_ABOVE:
        raise _identifier(column, f"{n_rows:,}")
    if len(seen) > MAX_STATES:
        raise _too_many_states(column)
    return Variable(column.name, natural_order(str(column.labels[code]) for code in seen))


def recoded(column: Column, variable: Variable) -> NDArray[np.unsignedinteger]:
    """Return the codes of a column as positions in the states of its variable."""
    position = {state: i for i, state in enumerate(variable.states)}
    # An unseen label needs no state of its own; nothing points to it.
    recode = [position.get(str(label), 0) for label in column.labels]
    dtype = np.uint8 if variable.arity <= 256 else np.uint16
    recoded: NDArray[np.unsignedinteger] = np.array(recode, dtype=dtype)[column.codes]
    return recoded


def _warn_constant(columns: Sequence[Column]) -> None:
    if len(columns[0].codes) == 1:
        return  # one row says nothing about what varies
    constant = [
        (column, int(np.argmax(column.counts)))
        for column in columns
        if np.count_nonzero(column.counts) == 1
    ]
    if not constant:
        return
    column, code = constant[0]
    sentence = (
        f"Column {column.name!r} is {column.labels[code]!r} in every row, so it can tell "
        "nothing about the other columns."
    )
    if len(constant) > 1:
        others = [repr(other.name) for other, _ in constant[1:]]
        sentence += f" The same holds for {listed(others)}."
    # `read_data` is three calls up, and was called by the one who should see this.
    warnings.warn(sentence, CoevoWarning, stacklevel=5)


def _refuse_undeclared(column: Column, seen: Iterable[int]) -> None:
    declared = column.declared or ()
    known = set(declared)
    strange = [code for code in seen if column.labels[code] not in known]
    if not strange:
        return
    row = column.first_of(strange)
    states = listed([repr(state) for state in declared])
    raise DataError(
        f"Column {column.name!r} holds {column.labels[int(column.codes[row])]!r}, first in row "
        f"{row + 1:,}, which is not one of its declared states {states}. "
        "Correct the value, or add it to states= (--states)."
    )


def _decimal(column: Column, code: int) -> DataError:
    return DataError(
        f"Column {column.name!r} holds decimal numbers, the first is {column.labels[code]} in "
        f"row {column.first_row(code)}. Discretise it with discretise= (coevo learn does), or "
        "declare its states with states= (--states)."
    )


def _identifier(column: Column, rows: str) -> DataError:
    hint = ""
    if numbers_of(column.labels) is not None:
        hint = " If it is a measurement, say so with types= (--types)."
    return DataError(
        f"Column {column.name!r} has a different value in each of its {rows} rows, so it looks "
        f"like an identifier. Leave it out ({leave_out(column.name)}), or declare its states "
        f"with states= (--states).{hint}"
    )


def _too_many_states(column: Column) -> DataError:
    return DataError(
        f"Column {column.name!r} has more than {MAX_STATES:,} states, the most that coevo "
        f"takes. Group its values, or leave it out ({leave_out(column.name)})."
    )
