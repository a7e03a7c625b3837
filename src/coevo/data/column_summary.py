"""Summarise one column: its rows, missing values, numbers and most frequent states.

A summary describes the values of the source, before numbers are cut into bins. It depends on the
values and their counts only, never on the order of the rows. `Column.counts` has the count of each
label already, so the time depends on the number of distinct values and not on the rows.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column
from coevo.data.histogram import Histogram, make_histogram
from coevo.data.number_labels import NumberLabels, parse_numbers
from coevo.data.state_order import sort_naturally

__all__ = ["ColumnSummary", "NumberSummary", "StateCount", "summarise_column"]

MAX_LISTED_STATES = 12  # the rest is counted as "other"
MAX_EXAMPLES = 5

ParseNumbers = Callable[[Sequence[str | None]], NDArray[np.float64] | None]


@dataclass(frozen=True, slots=True)
class StateCount:
    """A state, or another label, and the number of its rows."""

    state: str
    count: int


@dataclass(frozen=True, slots=True)
class NumberSummary:
    """The numbers of a column: five order statistics, a histogram, and the rows of each bin.

    `bins` is empty if the column is not cut into bins.
    """

    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float
    histogram: Histogram
    bins: tuple[StateCount, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values; an infinite number is None."""
        names = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")
        numbers = {name: getattr(self, name) for name in names}
        found: dict[str, Any] = {
            name: number if math.isfinite(number) else None for name, number in numbers.items()
        }
        found["histogram"] = self.histogram.as_dict()
        if self.bins:
            found["bins"] = _as_rows(self.bins)
        return found


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What the values of one column look like.

    Attributes
    ----------
    n_rows, n_missing, n_distinct : int
        Number of rows, of missing values, and of distinct values. Equal numbers with different
        text are one value.
    numbers : NumberSummary or None
        The numbers, if the column holds numbers.
    states : tuple of StateCount
        The states, if the column is categorical: all in their order if there are at most 12, or
        else the 12 most frequent ones.
    n_other_states, n_other_rows : int
        Number of states that are not listed, and of their rows.
    examples : tuple of str
        A few values, if the column is left out.
    """

    n_rows: int
    n_missing: int
    n_distinct: int
    numbers: NumberSummary | None = None
    states: tuple[StateCount, ...] = ()
    n_other_states: int = 0
    n_other_rows: int = 0
    examples: tuple[str, ...] = ()

    @property
    def missing_share(self) -> float:
        """Share of the rows that have no value."""
        return self.n_missing / self.n_rows if self.n_rows else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        found: dict[str, Any] = {
            "n_rows": self.n_rows,
            "n_missing": self.n_missing,
            "n_distinct": self.n_distinct,
        }
        if self.numbers is not None:
            found["numbers"] = self.numbers.as_dict()
        if self.states:
            found["states"] = _as_rows(self.states)
            found["n_other_states"] = self.n_other_states
            found["n_other_rows"] = self.n_other_rows
        if self.examples:
            found["examples"] = list(self.examples)
        return found


def summarise_column(
    column: Column, info: ColumnInfo, parse: ParseNumbers = parse_numbers
) -> ColumnSummary:
    """Summarise a column of a source.

    Parameters
    ----------
    column : Column
        The labels of the source, before they are cut into bins. Its mask has the missing values.
    info : ColumnInfo
        The type, states and cut points of the column.
    parse : callable, default: parse_numbers
        Returns the number of each label, or None if a label is text.

    Examples
    --------
    >>> column = Column("age", ["17", "40", "71"], np.array([0, 1, 1, 2, 2, 2]))
    >>> summary = summarise_column(column, ColumnInfo("age", "categorical", ("17", "40", "71")))
    >>> summary.n_distinct, summary.numbers.median
    (3, 55.5)
    >>> [(state.state, state.count) for state in summary.states]
    [('17', 1), ('40', 2), ('71', 3)]
    """
    n_rows = len(column.codes)
    n_missing = n_rows - column.n_observed
    if info.type not in ("categorical", "continuous"):
        n_distinct = int(np.count_nonzero(column.counts))
        return ColumnSummary(n_rows, n_missing, n_distinct, examples=_choose_examples(column))
    numbers = parse(column.labels) if column.n_observed and not column.is_text else None
    occurs = column.counts > 0
    if numbers is None or np.isnan(numbers[occurs]).any():
        n_distinct = int(np.count_nonzero(occurs))
        return ColumnSummary(n_rows, n_missing, n_distinct, None, *_count_states(column, info, {}))
    if occurs.all():  # do not copy a million numbers
        values, counts = _sort_numbers(numbers, column.counts)
    else:
        values, counts = _sort_numbers(numbers[occurs], column.counts[occurs])
    found = _summarise_numbers(values, counts, info)
    if info.type == "continuous":
        return ColumnSummary(n_rows, n_missing, len(values), found)
    of_number = dict(zip(values.tolist(), counts.tolist(), strict=True))
    states = _count_states(column, info, of_number, parse)
    return ColumnSummary(n_rows, n_missing, len(values), found, *states)


def _choose_examples(column: Column) -> tuple[str, ...]:
    """Return the first few values in natural order, so that the order of rows has no effect."""
    observed = np.flatnonzero(column.counts)
    if isinstance(column.labels, NumberLabels):
        lowest = np.sort(column.labels.numbers[observed])[:MAX_EXAMPLES]
        return tuple(map(str, NumberLabels(lowest)))
    labels = (str(column.labels[code]) for code in observed.tolist())
    shortest = heapq.nsmallest(MAX_EXAMPLES, labels, key=lambda label: (len(label), label))
    return tuple(sort_naturally(shortest))


def _sort_numbers(
    numbers: NDArray[np.float64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct numbers in ascending order, and the rows of each."""
    if (numbers[1:] > numbers[:-1]).all():  # readers of numbers sort them
        return numbers, counts
    values, indices = np.unique(numbers, return_inverse=True)
    return values, np.bincount(indices, weights=counts).astype(np.int64)


def _summarise_numbers(
    values: NDArray[np.float64], counts: NDArray[np.int64], info: ColumnInfo
) -> NumberSummary:
    ends = np.cumsum(counts)
    lower, median, upper = (_find_quantile(values, ends, share) for share in (0.25, 0.5, 0.75))
    bins: tuple[StateCount, ...] = ()
    if info.cuts is not None:
        first = np.searchsorted(values, np.array(info.cuts.points), side="left")
        below = [0, *np.where(first > 0, ends[first - 1], 0).tolist(), int(ends[-1])]
        rows = np.diff(below).tolist()
        bins = tuple(StateCount(*pair) for pair in zip(info.cuts.states, rows, strict=True))
    histogram = make_histogram(values, counts)
    return NumberSummary(float(values[0]), lower, median, upper, float(values[-1]), histogram, bins)


def _find_quantile(values: NDArray[np.float64], ends: NDArray[np.int64], share: float) -> float:
    """Return a quantile of sorted values by linear interpolation; `ends` are cumulated counts."""
    position = share * (int(ends[-1]) - 1)
    at = np.searchsorted(ends, [math.floor(position), math.ceil(position)], side="right")
    low, high = values[at].tolist()
    if low == high or not (math.isfinite(low) and math.isfinite(high)):
        return float(low)
    part = position - math.floor(position)
    return float(low * (1 - part) + high * part)


def _count_states(
    column: Column,
    info: ColumnInfo,
    of_number: dict[float, int],
    parse: ParseNumbers = parse_numbers,
) -> tuple[tuple[StateCount, ...], int, int]:
    """Return the listed states, the number of the other states, and the number of their rows."""
    observed = np.flatnonzero(column.counts).tolist()
    of_label = {str(column.labels[code]): int(column.counts[code]) for code in observed}
    if of_number and not of_label.keys() <= set(info.states):  # ".50" and "0.5" are one state
        numbers = parse(info.states)
        if numbers is not None:
            keys = zip(info.states, numbers.tolist(), strict=True)
            of_label = {state: of_number.get(number, 0) for state, number in keys}
    states = info.states if of_label.keys() <= set(info.states) else tuple(of_label)
    counted = [StateCount(state, of_label.get(state, 0)) for state in states]
    if len(counted) <= MAX_LISTED_STATES:
        return tuple(counted), 0, 0
    place = {state: i for i, state in enumerate(sort_naturally(states))}
    counted.sort(key=lambda one: (-one.count, place[one.state]))
    others = counted[MAX_LISTED_STATES:]
    n_rows = sum(one.count for one in others)
    return tuple(counted[:MAX_LISTED_STATES]), len(others), n_rows


def _as_rows(counted: Sequence[StateCount]) -> list[dict[str, Any]]:
    return [{"state": one.state, "count": one.count} for one in counted]
