"""Dates and times as people write them, decided by the column and never by the cell.

All labels of a column must match the same form: ISO dates, with or without a time; day, month and
year in either order; months by name; years with months (``2021-03``) or quarters (``2021Q1``);
times of day. If the order of day and month is not clear from the column, the month comes first
after slashes, and the day comes first after points and hyphens.

The parts of a date are the year, the month, the weekday and the hour. `as_number` gives a date as a
decimal year (2021.5 is the middle of 2021), and a time as a decimal hour, so that cut points of
dates can be read.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DATE_ORDERS",
    "DATE_PARTS",
    "WEEKDAYS",
    "ParsedDates",
    "make_days_name",
    "parse_dates",
    "split_days_name",
]

DATE_PARTS = ("year", "month", "weekday", "hour")
DATE_ORDERS = ("dmy", "mdy")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MIN_COMPACT = 3  # distinct numbers like 20210305 that must be dates
FIRST_YEAR, LAST_YEAR = 1000, 2999

_MONTHS = {name: i for i, name in enumerate(
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
)}  # fmt: skip
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d++)?)?"
    r"(?:\s*+(?P<half>[AaPp][Mm]))?"
)
_ZONE = (
    r"(?:\s*+(?:(?:UTC|GMT)?(?P<offset>[+-]\d{1,2}(?::?\d\d)?)|Z|[A-Z]{3,5})"
    r"(?:\s*+\[[\w/+-]++\])?)?"
)
_CLOCK = rf"(?:(?:T|\s++){_TIME}{_ZONE})?"
_MONTH_NAME = r"(?P<name>[A-Za-z]{3,9})\.?"
_WEEKDAY_NAME = r"(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?,?\s++)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = {
    form: re.compile(pattern)
    for form, pattern in {
        "iso": rf"{_YEAR}(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_CLOCK}",
        "numbers": r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_>\d{1,2})(?P=mark)"
        rf"(?P<year>\d{{4}}|\d\d){_CLOCK}",
        "name": rf"{_WEEKDAY_NAME}{_MONTH_NAME}[\s-]++(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[\s-]++"
        rf"{_YEAR}{_CLOCK}",
        "day name": rf"{_WEEKDAY_NAME}(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th)?[\s-]{_MONTH_NAME}[\s-]"
        rf"(?P<year>\d{{4}}|\d\d){_CLOCK}",
        "month": rf"{_YEAR}[-/](?P<month>\d\d)|(?P<month2>\d\d)/(?P<year2>\d{{4}})",
        "named month": rf"{_MONTH_NAME}[\s-]{_YEAR}",
        "quarter": rf"{_YEAR}\s*+(?:-\s*+)?[Qq](?P<quarter>[1-4])",
        "time": _TIME,
        "compact": r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)",
    }.items()
}


@dataclass(frozen=True, slots=True)
class ParsedDates:
    """The dates of the labels of a column.

    Attributes
    ----------
    values : dict of int to datetime
        The date of each observed label, by code. Times of day have the date 1900-01-01.
    has_date, has_day, has_time : bool
        Whether the labels hold a date, the day of the month, and a time.
    order : str
        ``'dmy'`` or ``'mdy'`` if the labels hold day and month as numbers, else empty.
    is_ambiguous : bool
        Whether both orders fit the column.
    offsets : dict of int to float
        The hours by which the time of a label is ahead of UTC, if the label says so. Parts are
        those of the local time; days between dates are not.
    """

    values: dict[int, datetime.datetime]
    has_date: bool
    has_day: bool
    has_time: bool
    order: str = ""
    is_ambiguous: bool = False
    offsets: dict[int, float] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that the dates have."""
        has = {"year": self.has_date, "month": self.has_date, "weekday": self.has_day}
        return tuple(part for part in DATE_PARTS if has.get(part, self.has_time))

    def take_part(self, part: str) -> dict[int, str]:
        """Return one part of each date, by code."""
        take = _TAKE_PART[part]
        return {code: take(value) for code, value in self.values.items()}

    def as_numbers(self, n_labels: int) -> NDArray[np.float64]:
        """Return each date as a decimal year, each time as a decimal hour; NaN elsewhere."""
        numbers = np.full(n_labels, np.nan)
        for code, value in self.values.items():
            numbers[code] = _to_decimal_year(value) if self.has_date else _to_decimal_hour(value)
        return numbers

    def as_days(self, n_labels: int) -> NDArray[np.float64]:
        """Return each date as a number of days in UTC; NaN elsewhere."""
        numbers = np.full(n_labels, np.nan)
        start = datetime.datetime(1900, 1, 1)
        for code, value in self.values.items():
            hours = (value - start) / datetime.timedelta(hours=1) - self.offsets.get(code, 0.0)
            numbers[code] = hours / 24
        return numbers


def make_days_name(first: str, second: str) -> str:
    """Return the name of the days from one column of dates to another.

    >>> make_days_name("admission", "discharge")
    'admission_to_discharge_days'
    """
    return f"{first}_to_{second}_days"


def split_days_name(name: str, known: Container[str]) -> tuple[str, str] | None:
    """Return the two columns of dates that a duration is named after; None if there are none.

    >>> split_days_name("admission_to_discharge_days", {"admission", "discharge"})
    ('admission', 'discharge')
    """
    stem = name.removesuffix("_days")
    places = [match.start() for match in re.finditer("_to_", stem)] if stem != name else []
    pairs = ((stem[:place], stem[place + 4 :]) for place in places)
    return next((pair for pair in pairs if pair[0] in known and pair[1] in known), None)


_TAKE_PART: dict[str, Callable[[datetime.datetime], str]] = {
    "year": lambda value: str(value.year),
    "month": lambda value: str(value.month),
    "weekday": lambda value: WEEKDAYS[value.weekday()],
    "hour": lambda value: str(value.hour),
}


def parse_dates(
    labels: Sequence[str | None], observed: Iterable[int], order: str = ""
) -> ParsedDates | None:
    """Return the dates of labels; None if they are not dates.

    Parameters
    ----------
    labels : sequence of str or None
        The distinct labels of a column.
    observed : iterable of int
        The codes of the labels that occur and are not missing.
    order : str
        ``'dmy'`` or ``'mdy'`` if the order of day and month is known.

    Examples
    --------
    >>> found = parse_dates(["2021-03-05", "2020-12-31 14:30"], range(2))
    >>> found.take_part("month"), found.parts
    ({0: '3', 1: '12'}, ('year', 'month', 'weekday', 'hour'))
    >>> parse_dates(["31/12/2020", "05/03/2021"], range(2)).order
    'dmy'
    >>> parse_dates(["high", "low"], range(2)) is None
    True
    """
    codes = list(observed)
    texts = {code: (labels[code] or "").strip() for code in islice(codes, 1)}
    form = next((f for f, p in _FORMS.items() for t in texts.values() if p.fullmatch(t)), None)
    if form is None or (form == "compact" and len(codes) < MIN_COMPACT):
        return None
    matches: dict[int, re.Match[str]] = {}
    for code in codes:
        match = _FORMS[form].fullmatch((labels[code] or "").strip())
        if match is None:
            return None
        matches[code] = match
    return _read_matches(form, matches, order)


def _read_matches(form: str, matches: dict[int, re.Match[str]], order: str) -> ParsedDates | None:
    """Return the dates of labels of the same form; None if one of them does not exist."""
    has_time = any(match.groupdict().get("hour") is not None for match in matches.values())
    has_date, has_day = form != "time", form not in ("time", "month", "named month", "quarter")
    offsets = {
        code: _read_offset(offset)
        for code, match in matches.items()
        if (offset := match.groupdict().get("offset"))
    }
    if form != "numbers":
        values = _read_values(matches, "")
        if values is None:
            return None
        return ParsedDates(values, has_date, has_day, has_time, offsets=offsets)
    possible = {o: found for o in DATE_ORDERS if (found := _read_values(matches, o)) is not None}
    if not possible:
        return None
    has_slashes = all(match["mark"] == "/" for match in matches.values())
    default = "mdy" if has_slashes else "dmy"
    chosen = next(o for o in (order, default, *DATE_ORDERS) if o in possible)
    is_ambiguous = len(possible) == 2 and possible["dmy"] != possible["mdy"] and not order
    return ParsedDates(possible[chosen], True, True, has_time, chosen, is_ambiguous, offsets)


def _read_offset(text: str) -> float:
    """Return the hours of an offset from UTC.

    >>> _read_offset("+0530"), _read_offset("-5")
    (5.5, -5.0)
    """
    digits = text[1:].replace(":", "")
    hours = int(digits[:-2]) + int(digits[-2:]) / 60 if len(digits) > 2 else float(digits)
    return -hours if text[0] == "-" else hours


def _read_values(
    matches: dict[int, re.Match[str]], order: str
) -> dict[int, datetime.datetime] | None:
    try:
        return {code: _read_value(match.groupdict(), order) for code, match in matches.items()}
    except (ValueError, KeyError):
        return None


def _read_value(found: dict[str, str | None], order: str) -> datetime.datetime:
    """Return the date of a match. Raise `ValueError` or `KeyError` if there is no such date."""
    text = found.get("year") or found.get("year2") or "1900"
    year = int(text)
    if len(text) == 2:  # the convention of POSIX
        year += 2000 if year < 69 else 1900
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise ValueError
    month, day = found.get("month") or found.get("month2"), found.get("day")
    if order:
        pair = (found["first"], found["second_"])
        day, month = pair if order == "dmy" else (pair[1], pair[0])
    if (name := found.get("name")) is not None:
        month = str(_MONTHS[name[:3].lower()])
    if (quarter := found.get("quarter")) is not None:
        month = str(3 * int(quarter) - 2)
    hour = int(found.get("hour") or 0)
    if (half := found.get("half")) is not None:
        hour = hour % 12 + (12 if half.lower() == "pm" else 0)
    minute, second = int(found.get("minute") or 0), int(found.get("second") or 0)
    return datetime.datetime(year, int(month or 1), int(day or 1), hour, minute, second)


def _to_decimal_year(value: datetime.datetime) -> float:
    start, end = datetime.datetime(value.year, 1, 1), datetime.datetime(value.year + 1, 1, 1)
    return round(value.year + (value - start) / (end - start), 6)


def _to_decimal_hour(value: datetime.datetime) -> float:
    return round(value.hour + value.minute / 60 + value.second / 3600, 6)
