"""What people read about columns: a summary, a histogram, states in words.

Summarise one column: its rows, missing values, numbers and most frequent states.

A summary describes the values of the source, before numbers are cut into bins. It depends on the
values and their counts only, never on the order of the rows. `Column.counts` has the count of each
label already, so the time depends on the number of distinct values and not on the rows.
"""

from __future__ import annotations

import heapq
import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.bins import CutPoints, format_number, name_bins
from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column
from coevo.data.incomplete import MISSING_STATE
from coevo.data.labels import NumberLabels, parse_numbers, sort_naturally
from coevo.data.variable import Variable

__all__ = [
    "ColumnSummary",
    "Histogram",
    "NumberSummary",
    "StateCount",
    "format_share",
    "format_shares",
    "format_state",
    "make_histogram",
    "shorten_numbers",
    "shorten_states",
    "summarise_column",
]


# A histogram of numbers with round edges, for people to look at.
#
# There are 10 to 25 bars. Their edges are multiples of 1, 2 or 5 times a power of ten. A bar holds
# the numbers from its lower edge up to, but without, its upper edge, as a bin between two cut
# points does. If a few numbers are far away from all others, the bars show the range of the
# others, and the far numbers are counted below and above it.


MAX_BARS = 25
TAIL = 0.01  # share of the rows that may lie outside of the bars, at each end
FAR = 4.0  # a tail is cut off if the range is so many times the range without the tails


@dataclass(frozen=True, slots=True)
class Histogram:
    """Counts between edges. `n_below` and `n_above` are the rows outside of all bars."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n_below: int = 0
    n_above: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the histogram as plain values."""
        return {
            "edges": list(self.edges),
            "counts": list(self.counts),
            "n_below": self.n_below,
            "n_above": self.n_above,
        }


def make_histogram(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Histogram:
    """Return the histogram of sorted distinct values and the count of each.

    >>> histogram = make_histogram(np.array([0.1, 0.2, 1.0]), np.array([5, 1, 2]))
    >>> histogram.edges[:4], histogram.counts[:4]
    ((0.1, 0.15, 0.2, 0.25), (5, 0, 1, 0))
    """
    ends = np.cumsum(counts)
    first, last = np.searchsorted(values, [-math.inf, math.inf], side="right").tolist()
    last -= int(values[-1] == math.inf)
    if first >= last:  # all numbers are infinite
        n_below = int(ends[first - 1]) if first else 0
        return Histogram((0.0, 1.0), (0,), n_below, int(ends[-1]) - n_below)
    edges = _choose_edges(*_choose_range(values[first:last], counts[first:last]))
    at = np.searchsorted(values, np.array(edges), side="left")
    below = np.where(at > 0, ends[at - 1], 0)
    return Histogram(
        tuple(edges), tuple(np.diff(below).tolist()), int(below[0]), int(ends[-1] - below[-1])
    )


def _choose_range(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Return the range of the bars: all numbers, or all without two small tails that are far."""
    low, high = float(values[0]), float(values[-1])
    ends = np.cumsum(counts)
    n_tail = math.floor(TAIL * int(ends[-1]))
    first = float(values[np.searchsorted(ends, n_tail, side="right")])
    last = float(values[np.searchsorted(ends, int(ends[-1]) - n_tail, side="left")])
    core = last - first
    if core <= 0 or (high / FAR - low / FAR) <= core:
        return low, high
    return first, last


def _choose_edges(low: float, high: float) -> list[float]:
    """Return round edges such that low and high lie inside of them."""
    span = high - low
    if not math.isfinite(span):
        return [low, 0.0, high]
    if span == 0:
        unit = 10.0 ** math.floor(math.log10(abs(low))) if low else 1.0
        return _make_one_bar(low, max(high + min(unit, 1.0), math.nextafter(high, math.inf)))
    power = math.floor(math.log10(span) - math.log10(MAX_BARS))
    for factor, exponent in ((1, power), (2, power), (5, power), (1, power + 1), (2, power + 1)):
        step = float(f"{factor}e{exponent}")
        if step > 0 and span / step <= MAX_BARS - 1:
            break
    else:  # the numbers are closer than a float can say
        return _make_one_bar(low, math.nextafter(high, math.inf))
    # Text gives the float that is nearest to the decimal number: 0.3, not 0.30000000000000004.
    first, last = math.floor(low / step), math.floor(high / step) + 1
    edges = [float(f"{i * factor}e{exponent}") for i in range(first - 1, last + 2)]
    above = next((i for i, edge in enumerate(edges) if edge > high), len(edges) - 1)
    below = max((i for i, edge in enumerate(edges) if edge <= low), default=0)
    edges = edges[below : above + 1]
    if len(set(edges)) < len(edges) or edges[0] > low or edges[-1] <= high:
        return _make_one_bar(low, math.nextafter(high, math.inf))  # too few digits
    return edges


def _make_one_bar(low: float, above: float) -> list[float]:
    """Return the edges of one bar; the largest float of all is above it."""
    return [low, above] if math.isfinite(above) else [low / 2, sys.float_info.max]


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


# States and probabilities as people read them: "age >= 57", "from 0.08 to 0.39".
#
# A label or a cut point can have seventeen digits (-0.044641636506989144). Text and pages show it
# with as few digits as tell the states of its variable apart, and at least four. Files keep all
# digits. `coevo.data.prepare.spellings` accepts the short name as evidence.


MAX_DIGITS = 6  # of a probability
LEAST_DIGITS = 4  # significant digits of a number in the name of a state
_LONG_NUMBER = re.compile(r"-?\d*\.\d{5,40}(?:e-?\d{1,3})?")


def format_state(variable: Variable, state: str) -> str:
    """Return a state of a variable as a condition; bins are written as inequalities.

    >>> age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    >>> [format_state(age, state) for state in age.states]
    ['age < 18', '18 <= age < 65', 'age >= 65']
    >>> format_state(Variable("smoker", ("no", "yes")), "yes")
    'smoker=yes'
    """
    cuts = CutPoints.from_states(name for name in variable.states if name != MISSING_STATE)
    if cuts is None or not cuts.points or state not in cuts.states:
        return f"{variable.name}={shorten_states(variable.states).get(state, state)}"
    place = cuts.states.index(state)
    texts = shorten_numbers(cuts.points)
    if place == 0:
        return f"{variable.name} < {texts[0]}"
    if place == len(texts):
        return f"{variable.name} >= {texts[-1]}"
    return f"{texts[place - 1]} <= {variable.name} < {texts[place]}"


def shorten_numbers(numbers: Sequence[float]) -> list[str]:
    """Return numbers with as few digits as tell them apart, and at least four.

    >>> shorten_numbers([-0.044641636506989144, 0.05068011873981862])
    ['-0.04464', '0.05068']
    >>> shorten_numbers([0.123451, 0.123452, 1234567]), shorten_numbers([0.1 + 0.2])
    (['0.123451', '0.123452', '1234567'], ['0.3'])
    """
    exact = [format_number(number) for number in numbers]
    for digits in range(LEAST_DIGITS, 17):
        short = [
            text if _is_short(text) else format_number(float(f"{number:.{digits}g}"))
            for text, number in zip(exact, numbers, strict=True)
        ]
        if len(set(short)) == len(set(exact)):
            return short
    return exact


def _is_short(text: str) -> bool:
    """Return whether a number is a whole one, or has few decimal places."""
    return "." not in text or len(text.partition(".")[2].partition("e")[0]) <= LEAST_DIGITS


@lru_cache(maxsize=4096)
def shorten_states(states: tuple[str, ...]) -> dict[str, str]:
    """Return the name of each state for people; only long numbers differ from the files.

    >>> shorten_states(("below_0.0012345678", "from_0.0012345678"))
    {'below_0.0012345678': 'below_0.001235', 'from_0.0012345678': 'from_0.001235'}
    >>> shorten_states(("-0.044641636506989144", "1e-05", "v1.123456"))
    {'-0.044641636506989144': '-0.04464', '1e-05': '1e-05', 'v1.123456': 'v1.123456'}
    """
    names = {state: state for state in states}
    cuts = CutPoints.from_states(state for state in states if state != MISSING_STATE)
    if cuts is not None:
        return names | dict(zip(cuts.states, name_bins(shorten_numbers(cuts.points)), strict=True))
    long = [state for state in states if _LONG_NUMBER.fullmatch(state)]
    short = shorten_numbers([float(state) for state in long])
    names |= dict(zip(long, short, strict=True))
    return names if len({*names.values()}) == len(names) else {state: state for state in states}


def format_shares(low: float, high: float, digits: int = 2) -> tuple[str, str]:
    """Return two probabilities, with some digits or as many as tell them apart."""
    texts = format_share(low, digits), format_share(high, digits)
    for more in range(digits + 1, MAX_DIGITS + 1):
        if texts[0] != texts[1]:
            break
        texts = format_share(low, more), format_share(high, more)
    return texts


def format_share(share: float, digits: int) -> str:
    """Return a probability; only 0 and 1 themselves are written without digits.

    >>> [format_share(share, 2) for share in (0, 0.5, 0.0004, 0.9996, 1)]
    ['0', '0.50', '0.0004', '0.9996', '1']
    """
    if share in (0, 1):
        return f"{share:.0f}"
    while digits < MAX_DIGITS and float(f"{share:.{digits}f}") in (0.0, 1.0):
        digits += 1
    return f"{share:.{digits}f}"
