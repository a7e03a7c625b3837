"""Replace a column of dates by its parts, or leave it out: one decision for each column.

The parts that are chosen vary and recur: the year if a year has at least two rows on average, the
month, and the hour. More than 20 years are used only if numbers are cut into bins. The weekday is
used if the caller asks for it. Few dates that recur stay as they are: they are states, like the
waves of a survey.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.dates import WEEKDAYS, ParsedDates
from coevo.data.decisions import Decision, format_type_hint
from coevo.data.number_labels import NumberLabels
from coevo.data.variable import sort_naturally

__all__ = ["DatePart", "ReplacedDates", "choose_parts", "convert_to_numbers", "replace_dates"]

MAX_YEARS = 20  # states of a column of numbers, as in `coevo.data.infer_columns`
ROWS_PER_YEAR = 2  # on average; otherwise the year numbers the rows
CHOICES = "'year', 'month', 'weekday', 'hour', 'date' (a number) or 'categorical'"


@dataclass(frozen=True, slots=True)
class DatePart:
    """One part of a column of dates, as a column of its own."""

    column: Column
    part: str


@dataclass(frozen=True, slots=True)
class ReplacedDates:
    """The parts that replace a column of dates, and the decision about it."""

    name: str
    parts: tuple[DatePart, ...]
    decision: Decision
    order: str = field(default="")


def choose_parts(column: Column, dates: ParsedDates, has_bins: bool) -> tuple[str, ...]:
    """Return the parts of dates that vary and recur."""
    chosen = []
    for part in dates.parts:
        if part == "weekday":
            continue
        n_values = len(set(dates.take_part(part).values()))
        recurs = n_values * ROWS_PER_YEAR <= column.n_observed
        if n_values > 1 and recurs and (n_values <= MAX_YEARS or has_bins):
            chosen.append(part)
    return tuple(chosen)


def replace_dates(column: Column, dates: ParsedDates, parts: Sequence[str]) -> ReplacedDates:
    """Return the columns of the parts, and the decision that replaces the column by them."""
    made = tuple(DatePart(_take_part(column, dates, part), part) for part in parts)
    noun = "dates" if dates.has_date else "times"
    text = (
        f"{column.name!r} holds {noun} from {_format_end(dates, min)} to {_format_end(dates, max)}"
    )
    if dates.is_ambiguous:
        day, month = ("day", "month") if dates.order == "dmy" else ("month", "day")
        text += f", in which the {day} is read before the {month}"
    if made:
        *first, last = [repr(one.column.name) for one in made]
        names = f"{', '.join(first)} and {last}" if first else last
        text += f"; it is replaced by {names}."
    else:
        text += ", whose parts do not recur; it is left out."
    other = "mdy" if dates.order == "dmy" else "dmy"
    undo = format_type_hint(
        column.name, other if dates.is_ambiguous else "ignore" if made else "date"
    )
    undo += f"; other types are {CHOICES}"
    return ReplacedDates(
        column.name, made, Decision("date", (column.name,), text, undo), dates.order
    )


def convert_to_numbers(column: Column, dates: ParsedDates) -> Column:
    """Return a column of dates as a column of numbers."""
    return number_column(column, dates.as_numbers(len(column.labels)))


def number_column(column: Column, numbers: NDArray[np.float64]) -> Column:
    """Return a column whose labels are these numbers, one for each label; NaN is missing."""
    distinct, position = np.unique(numbers, return_inverse=True)
    is_missing = np.isnan(numbers)[column.codes]
    if column.missing is not None:
        is_missing |= column.missing
    fractions = np.flatnonzero(distinct != np.floor(distinct))
    decimal = int(fractions[0]) if len(fractions) and not np.isnan(distinct[fractions[0]]) else None
    kept = distinct[~np.isnan(distinct)]
    codes = np.where(is_missing, 0, position[column.codes])
    missing = is_missing if is_missing.any() else None
    return Column(column.name, NumberLabels(kept), codes, column.declared, decimal, missing)


def _take_part(column: Column, dates: ParsedDates, part: str) -> Column:
    """Return one part of a column of dates."""
    texts = dates.take_part(part)
    used = set(texts.values())
    states = [day for day in WEEKDAYS if day in used] if part == "weekday" else []
    labels = states or list(sort_naturally(used))
    position = {label: code for code, label in enumerate(labels)}
    recode = np.zeros(len(column.labels), dtype=np.int64)
    for code, text in texts.items():
        recode[code] = position[text]
    name = f"{column.name}_{part}"
    declared = tuple(states) or None
    return Column(name, labels, recode[column.codes], declared, missing=column.missing)


def _format_end(
    dates: ParsedDates, choose: Callable[[Iterable[datetime.datetime]], datetime.datetime]
) -> str:
    end = choose(dates.values.values())
    return f"{end:%Y-%m-%d}" if dates.has_date else f"{end:%H:%M}"
