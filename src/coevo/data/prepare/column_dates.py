"""Replace columns of dates by their parts, or leave them out: one decision for each column.

The parts that are chosen vary and recur: the year if a year has at least two rows on average, the
month, and the hour. More than 20 years are used only if numbers are cut into bins. The weekday is
used if the caller asks for it. Few dates that recur stay as they are: they are states, like the
waves of a survey.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.bins import CutPoints
from coevo.data.column_types import ColumnInfo, ColumnType, format_type_hint
from coevo.data.columns import Column
from coevo.data.decisions import Decision
from coevo.data.labels import NumberLabels, sort_naturally
from coevo.data.prepare.dates import DATE_ORDERS, WEEKDAYS, ParsedDates, make_days_name, parse_dates
from coevo.data.prepare.drafts import Draft, Notes, are_states, use_numbers_as_labels
from coevo.errors import DataError

__all__ = ["find_days", "read_dates", "take_days"]


# Two columns of dates, one after the other: their difference in days says more than their parts.
#
# A discharge follows an admission. Its month repeats that of the admission, and the length of the
# stay is hidden. A column of dates that follows another one in nearly all rows is therefore
# replaced by the days between the two, ``admission_to_discharge_days``. If several columns follow
# the same one, each is replaced.


Days = NDArray[np.float64]  # (n_rows,), NaN is missing

MIN_ROWS = 20  # with both dates
MIN_FOLLOWING = 0.95  # share of them in which the second date is not before the first
DIGITS = 4  # of a day: eight seconds


def find_days(
    drafts: Sequence[Draft], parsed: Mapping[str, ParsedDates], notes: Notes
) -> dict[str, str]:
    """Return the columns of dates that follow another one, each with the earlier column."""
    names = [draft.column.name for draft in drafts]
    found = {pair[1]: pair[0] for pair in notes.options.find_wanted_days(names).values()}
    asked = [name for name in names if _is_asked(name, notes)]
    days = {
        draft.column.name: _read_days(draft.column, parsed[draft.column.name])
        for draft in drafts
        if draft.column.name in parsed and _may_be_paired(draft, parsed, asked)
    }
    followers = {
        one: [two for two in days if two != one and _follows(days[one], days[two])] for one in days
    }
    # Columns that follow each other hold the same dates: `find_copies` compares them.
    ranked = sorted(days, key=lambda name: (-len(followers[name]), name))
    free = {draft.column.name for draft in drafts if draft.is_free}
    for first in ranked[:1]:
        for second in followers[first]:
            is_new = make_days_name(first, second) not in names and second in free
            if is_new and first not in followers[second]:
                found.setdefault(second, first)
    for name in asked:
        earlier = next((one for one in ranked if name in followers.get(one, ())), None)
        if name not in found and earlier is None:
            raise DataError(
                f"Column {name!r} has the type 'days', but there is no other column of dates that "
                "it follows. Remove the type, or give 'date' or parts such as 'month'."
            )
        found.setdefault(name, str(earlier))
    return found


def take_days(
    first: Draft, second: Draft, parsed: Mapping[str, ParsedDates], notes: Notes
) -> Draft:
    """Return the days between two columns of dates, and record the decision."""
    names = first.column.name, second.column.name
    one, two = (_read_days(d.column, parsed[d.column.name]) for d in (first, second))
    name = make_days_name(*names)
    values, dates = np.round(two - one, DIGITS), parsed[names[1]].values.values()
    sentence = (
        f"{names[1]!r} holds dates from {min(dates):%Y-%m-%d} to {max(dates):%Y-%m-%d} that follow "
        f"those of {names[0]!r}; it is replaced by {name!r}, the days between them."
    )
    if name not in notes.options.find_wanted_days(names) and not _is_asked(names[1], notes):
        undo = format_type_hint(names[1], "year+month")
        notes.decisions.append(Decision("duration", (names[1], names[0]), sentence, undo))
    notes.left_out.append(ColumnInfo(names[1], "days", reason=sentence))
    notes.sources[name] = names[1]
    missing = np.isnan(values)
    distinct, codes = np.unique(np.where(missing, 0.0, values), return_inverse=True)
    fractions = np.flatnonzero(distinct != np.floor(distinct))
    declared = notes.options.states.get(name)
    column = Column(
        name,
        NumberLabels(distinct),
        codes,
        declared,
        int(fractions[0]) if len(fractions) else None,
        missing if missing.any() else None,
    )
    return Draft(column, declared is None and name not in notes.types)


def _is_asked(name: str, notes: Notes) -> bool:
    declared = notes.types.get(name)
    return declared is not None and declared.kind == "days"


def _may_be_paired(draft: Draft, parsed: Mapping[str, ParsedDates], asked: Sequence[str]) -> bool:
    """Return whether a column has days that are clear, and too many to be states."""
    column, dates = draft.column, parsed[draft.column.name]
    if not (dates.has_date and dates.has_day) or dates.is_ambiguous or column.declared is not None:
        return False
    n_dates = int(np.count_nonzero(column.counts))
    return bool(asked) or not are_states(n_dates, column.n_observed, is_integer=False)


def _read_days(column: Column, dates: ParsedDates) -> Days:
    days: Days = dates.as_days(len(column.labels))[column.codes]
    if column.missing is not None:
        days[column.missing] = np.nan
    return days


def _follows(first: Days, second: Days) -> bool:
    """Return whether the second date is nearly never before the first one."""
    between = second - first
    between = between[np.isfinite(between)]
    if len(between) < max(MIN_ROWS, len(first) / 2):
        return False
    return bool((between >= 0).mean() >= MIN_FOLLOWING and len(np.unique(between)) > 1)


MAX_VALUES = 20  # states of a part, as for whole numbers in `coevo.data.prepare.drafts`
ROWS_PER_VALUE = 2  # on average; otherwise a part numbers the rows
CHOICES = "'year', 'month', 'weekday', 'hour', 'date' (a number) or 'categorical'"


def read_dates(drafts: Sequence[Draft], notes: Notes) -> list[Draft]:
    """Return the columns with parts instead of dates, or numbers where numbers are wanted."""
    names = [draft.column.name for draft in drafts]
    wanted = notes.options.find_wanted_parts(names)
    needed = {name for pair in notes.options.find_wanted_days(names).values() for name in pair}
    parsed = {
        draft.column.name: dates
        for draft in drafts
        if (draft.column.name in {*wanted, *needed} or _may_be_date(draft, notes))
        and (dates := _parse(draft, notes)) is not None
    }
    clear = {dates.order for dates in parsed.values() if not dates.is_ambiguous} - {""}
    order = clear.pop() if len(clear) == 1 else ""
    if order:
        for draft in drafts:
            known = parsed.get(draft.column.name)
            if known is not None and known.is_ambiguous:
                parsed[draft.column.name] = _parse(draft, notes, order) or known
    days, by_name = find_days(drafts, parsed, notes), {d.column.name: d for d in drafts}
    found: list[Draft] = []
    for draft in drafts:
        name = draft.column.name
        dates = parsed.get(name)
        parts = tuple(part for part in wanted.get(name, ()))
        if name in days and dates is not None and days[name] in parsed:
            found.append(take_days(by_name[days[name]], draft, parsed, notes))
            if not parts:
                continue
        if name in needed and not parts and _is_only_source(name, ("day",), notes):
            continue
        if dates is not None:
            found += _replace(draft, dates, parts, names, notes)
        elif not _is_only_source(name, parts, notes):
            _check_not_dates(draft.column, notes.types.get(name))
            found.append(draft)
    return found


def _may_be_date(draft: Draft, notes: Notes) -> bool:
    column = draft.column
    if isinstance(column.labels, NumberLabels) or not column.n_observed:
        return False
    declared = notes.types.get(column.name)
    if declared is not None:
        return declared.kind in ("parts", "continuous", "days")
    return column.declared is None or CutPoints.from_states(column.declared) is not None


def _parse(draft: Draft, notes: Notes, order: str = "") -> ParsedDates | None:
    column, declared = draft.column, notes.types.get(draft.column.name)
    if declared is not None and declared.format in DATE_ORDERS:
        order = declared.format
    return parse_dates(column.labels, np.flatnonzero(column.counts).tolist(), order)


def _is_only_source(name: str, parts: Sequence[str], notes: Notes) -> bool:
    """Return whether a column was read only because a network may want a part of it."""
    only = notes.options.only
    return bool(parts) and only is not None and name not in only


def _replace(
    draft: Draft, dates: ParsedDates, wanted: tuple[str, ...], names: Sequence[str], notes: Notes
) -> list[Draft]:
    """Return what replaces a column of dates."""
    column, declared = draft.column, notes.types.get(draft.column.name)
    if declared is not None and declared.kind == "parts":
        parts = declared.parts or wanted or _choose_parts(column, dates, notes.has_bins)
        return _take_parts(draft, dates, parts, notes, is_asked=bool(declared.parts or wanted))
    if wanted:
        kept = [draft] if column.declared is not None else []
        return kept + _take_parts(draft, dates, wanted, notes, is_asked=True)
    if not draft.is_free:  # the caller wants numbers
        notes.dates.add(column.name)
        notes.formats[column.name] = dates.order
        if dates.is_ambiguous:
            notes.decisions.append(_decide(column, dates, "it is read as numbers", "date+"))
        numbers = dates.as_numbers(len(column.labels))
        return [replace(draft, column=use_numbers_as_labels(column, numbers))]
    if are_states(int(np.count_nonzero(column.counts)), column.n_observed, is_integer=False):
        return [draft]
    chosen = _choose_parts(column, dates, notes.has_bins)
    free = tuple(part for part in chosen if f"{column.name}_{part}" not in names)
    return _take_parts(draft, dates, free, notes, is_asked=False)


def _choose_parts(column: Column, dates: ParsedDates, has_bins: bool) -> tuple[str, ...]:
    """Return the parts of dates that vary and recur."""
    chosen = []
    for part in dates.parts:
        n_values = len(set(dates.take_part(part).values()))
        recurs = n_values * ROWS_PER_VALUE <= column.n_observed
        if part != "weekday" and n_values > 1 and recurs and (n_values <= MAX_VALUES or has_bins):
            chosen.append(part)
    return tuple(chosen)


def _take_parts(
    draft: Draft, dates: ParsedDates, parts: Sequence[str], notes: Notes, is_asked: bool
) -> list[Draft]:
    """Return the parts of a column of dates, and record the decision."""
    name, options = draft.column.name, notes.options
    made = [_take_part(draft.column, dates, part) for part in parts]
    what = "its parts do not recur, and it is left out"
    if made:
        *first, last = [repr(column.name) for column in made]
        what = f"it is replaced by {', '.join(first) + ' and ' if first else ''}{last}"
    given = notes.types.get(name)
    asked = () if given is None else given.parts
    decision = _decide(draft.column, dates, what, "".join(f"{part}+" for part in asked))
    if dates.is_ambiguous or not is_asked:
        notes.decisions.append(decision)
    kind, reason = "+".join(parts) or "ignore", decision.sentence
    notes.left_out.append(ColumnInfo(name, kind, format=dates.order, reason=reason))
    drafts = []
    for column in made:
        declared = options.states.get(column.name, column.declared)
        notes.sources[column.name] = name
        is_free = declared is None and column.name not in notes.types
        drafts.append(Draft(replace(column, declared=declared), is_free))
    return drafts


def _take_part(column: Column, dates: ParsedDates, part: str) -> Column:
    """Return one part of a column of dates."""
    texts = dates.take_part(part)
    used = set(texts.values())
    days = [day for day in WEEKDAYS if day in used] if part == "weekday" else []
    labels = days or list(sort_naturally(used))
    position = {label: code for code, label in enumerate(labels)}
    recode = np.zeros(max(len(column.labels), 1), dtype=np.int64)
    for code, text in texts.items():
        recode[code] = position[text]
    name, declared = f"{column.name}_{part}", tuple(days) or None
    return Column(name, labels, recode[column.codes], declared, missing=column.missing)


def _decide(column: Column, dates: ParsedDates, what: str, asked: str = "") -> Decision:
    """Return the decision about a column of dates; `what` is its outcome.

    `asked` is the type that the caller wants, with a plus sign. The undo of an order keeps it.
    """
    values, name = dates.values.values(), column.name
    form = "%Y-%m-%d" if dates.has_date else "%H:%M"
    noun = "dates" if dates.has_date else "times"
    text = f"{name!r} holds {noun} from {min(values):{form}} to {max(values):{form}}; {what}."
    if len({dates.offsets.get(code) for code in dates.values}) > 1 and dates.has_time:
        text += " Its time zones differ; the times are the local ones."
    if not dates.is_ambiguous:
        undo = f"{format_type_hint(name, 'ignore')}; other types are {CHOICES}"
        return Decision("date", (name,), text, undo)
    first, second = ("day", "month") if dates.order == "dmy" else ("month", "day")
    text += f" The {first} is read before the {second}."
    undo = format_type_hint(name, asked + ("mdy" if dates.order == "dmy" else "dmy"))
    return Decision("date_order", (name,), text, undo)


def _check_not_dates(column: Column, declared: ColumnType | None) -> None:
    """Raise `DataError` for a column without dates whose declared type needs dates."""
    if declared is None or declared.kind not in ("parts", "days"):
        return
    word = "+".join(declared.parts) or declared.format or declared.kind
    first = column.labels[int(column.codes[column.find_first_row(range(len(column.labels)))])]
    raise DataError(
        f"Column {column.name!r} has the type {word!r}, but does not hold dates that coevo knows; "
        f"its first value is {first!r}. Write dates like 2021-03-05, or remove the type."
    )
