"""Frequency tables: a column of counts says how often each row occurs.

Such a table is read as the table of all its rows: each row is repeated as often as it counts. So
everything that follows, from cut points to bootstrap samples, is the same as for that table.

A column is used without being asked if its name says that it counts rows (``Freq``, ``count``,
``n``), if the other columns are categorical, and if no two rows agree in all of them. That is what
R's ``as.data.frame(table(...))`` and SQL's ``GROUP BY`` return.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.decisions import Decision
from coevo.data.infer_columns import MAX_INTEGER_STATES
from coevo.data.number_labels import MISSING_LABELS, parse_numbers
from coevo.data.option_hints import format_type_hint
from coevo.data.repeated_rows import count_rows
from coevo.errors import DataError
from coevo.memory import check_memory

__all__ = ["find_weights", "repeat_rows"]

MAX_TOTAL = 20_000_000  # rows that are stored without being asked
BYTES_PER_CELL = 4  # a code, and copies of it
MIN_OTHERS = 2  # columns of a network

_COUNT_NAME = re.compile(
    r"(?:n|freqs?|frequenc(?:y|ies)|counts?|n_?(?:obs|rows|cases)|num_?(?:obs|rows|cases)"
    r"|row_?counts?|cell_?counts?|anzahl|häufigkeit|haeufigkeit|effectifs?|frecuencia|frequenza)\.?",
    re.IGNORECASE,
)


def find_weights(columns: Sequence[Column], free: Sequence[Column]) -> Decision | None:
    """Return the decision to use a column of counts as weights; None if there is no such column.

    `free` are the columns about which the caller has said nothing.
    """
    named = [column for column in free if _COUNT_NAME.fullmatch(column.name)]
    if len(named) != 1 or len(columns) <= MIN_OTHERS:
        return None
    column = named[0]
    others = [other for other in columns if other.name != column.name]
    counts = _read_counts(column)
    if counts is None or counts.max() < 2 or not 2 * len(counts) <= counts.sum() <= MAX_TOTAL:
        return None
    if not all(map(_is_factor, others)) or count_rows(others).n_repeated:
        return None
    sentence = (
        f"{column.name!r} counts how often each row occurs, {int(counts.sum()):,} times in all; it "
        "is used as a weight and is no variable."
    )
    return Decision(
        "weights", (column.name,), sentence, format_type_hint(column.name, "continuous")
    )


def repeat_rows(column: Column, n_columns: int) -> NDArray[np.intp]:
    """Return the rows of a table, each as often as this column says; `n_columns` are repeated."""
    counts = _read_counts(column)
    if counts is None:
        wrong = _find_wrong(column)
        raise DataError(
            f"Column {column.name!r} cannot give weights: {wrong}. Weights are whole numbers from "
            "0 on, the number of times that each row counts."
        )
    total = float(counts.sum(dtype=np.float64))
    check_memory(
        int(total) * n_columns * BYTES_PER_CELL,
        f"The table with the weights {column.name!r}, {total:,.0f} rows,",
        "Divide the weights by a common number.",
    )
    if not total:
        raise DataError(f"All weights in {column.name!r} are 0. Give at least one observation.")
    return np.repeat(np.arange(len(counts)), counts)


def _read_counts(column: Column) -> NDArray[np.int64] | None:
    """Return the count of each row; None if a cell is not a whole number from 0 on."""
    if column.overflow or column.missing is not None or column.declared is not None:
        return None
    occurs = column.counts > 0
    labels = [column.labels[code] for code in np.flatnonzero(occurs).tolist()]
    numbers = parse_numbers(labels)
    if numbers is None or not np.isfinite(numbers).all():
        return None
    if (numbers < 0).any() or (numbers != np.floor(numbers)).any() or numbers.max() > 2**53:
        return None
    of_label = np.zeros(len(column.labels), dtype=np.int64)
    of_label[occurs] = numbers.astype(np.int64)
    of_row: NDArray[np.int64] = of_label[column.codes]
    return of_row


def _find_wrong(column: Column) -> str:
    """Return what is wrong with the first cell that is no count."""
    if column.overflow:
        return "it has too many different values"
    if column.missing is not None:
        return f"row {int(np.argmax(column.missing)) + 1:,} has no value"
    for code in np.flatnonzero(column.counts).tolist():
        label = column.labels[code]
        row = column.format_first_row(code)
        if label is None or label.strip() in MISSING_LABELS:
            return f"row {row} has no value"
        numbers = parse_numbers([label])
        if numbers is None or not (numbers[0] >= 0 and numbers[0] == np.floor(numbers[0]) < 2**53):
            return f"it holds {label!r} in row {row}"
    return "its states are declared"


def _is_factor(column: Column) -> bool:
    """Return whether a column is categorical, and its values recur."""
    n_values = int(np.count_nonzero(column.counts))
    return (
        not column.overflow
        and column.decimal is None
        and n_values <= MAX_INTEGER_STATES
        and 2 * n_values <= len(column.codes)
    )
