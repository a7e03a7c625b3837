"""Columns made of columns: what is computed from others, and answers with several choices.

Columns that are computed from others: groups of a number, sums and means of columns.

``low`` is "yes" where ``bwt`` is below 2,500, and ``total`` is the sum of its parts. Such a column
depends on its source by definition, and the source takes its place in the network. Which of them
matters only the user knows, so both are kept, and a finding names them. (A column that repeats
another one is left out: `coevo.data.prepare.left_out`.)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo, format_drop_hint, format_type_hint
from coevo.data.columns import Column
from coevo.data.decisions import Decision
from coevo.data.labels import NumberLabels, parse_numbers
from coevo.data.prepare.drafts import Draft, Notes
from coevo.data.read_options import CHOICE_STATES
from coevo.data.table_audit import Finding
from coevo.errors import DataError, format_list

__all__ = ["find_computed", "split_choices"]

MIN_ROWS = 30
MAX_GROUPS = 20  # of a number
MIN_VALUES = 12  # of a number that has groups
MIN_LOG_ARRANGEMENTS = math.log(1e9)  # chance explains fewer arrangements of the groups
MAX_SUMMED = 60  # columns that are compared
MAX_COMPARED = 500  # rows for the solution of the equations; all rows check it
TOLERANCE = 1e-6

Numbers = NDArray[np.float64]  # (n_rows,), NaN is missing


def find_computed(drafts: Sequence[Draft]) -> list[Finding]:
    """Return a finding for each column that is computed from others."""
    ordered = sorted(drafts, key=lambda draft: draft.column.name)
    measured = {
        draft.column.name: _expand(draft)
        for draft in ordered
        if draft.numbers is not None and len(draft.distinct) >= MIN_VALUES
    }
    return [*_find_groups(ordered, measured), *_find_sums(measured)]


def _expand(draft: Draft) -> Numbers:
    """Return the number of each row."""
    assert draft.numbers is not None
    numbers: Numbers = draft.numbers[draft.column.codes].astype(np.float64)
    if draft.column.missing is not None:
        numbers[draft.column.missing] = np.nan
    return numbers


def _find_groups(drafts: Sequence[Draft], measured: dict[str, Numbers]) -> Iterator[Finding]:
    """Yield the columns whose states are ranges of a number, one after the other."""
    n_values = {name: len(np.unique(numbers)) for name, numbers in measured.items()}
    for draft in drafts:
        column = draft.column
        n_states = int(np.count_nonzero(column.counts))
        if not 2 <= n_states <= MAX_GROUPS:
            continue
        observed = np.ones(len(column.codes), dtype=np.bool_)
        if column.missing is not None:
            observed = ~column.missing
        for name, numbers in measured.items():
            if name == column.name or n_values[name] < 2 * n_states:
                continue
            rows = observed & ~np.isnan(numbers)
            ranges = _find_ranges(column.codes[rows], numbers[rows], len(column.labels))
            if ranges is None:
                continue
            (_, _, low), (start, _, high) = ranges[0], ranges[1]
            yield Finding(
                "computed",
                (column.name, name),
                f"{column.name!r} follows from {name!r} in every row: it is "
                f"{column.labels[low]!r} below {start:g}, then {column.labels[high]!r}. If it was "
                f"computed from it, leave one of them out ({format_drop_hint(column.name)}).",
            )
            break


def _find_ranges(
    codes: NDArray[np.integer], numbers: Numbers, n_labels: int
) -> list[tuple[float, float, int]] | None:
    """Return smallest and largest number and the code of each state, if no two ranges overlap."""
    if len(codes) < MIN_ROWS:
        return None
    for rows in (slice(None, None, max(1, len(codes) // 100)), slice(None)):  # most fail soon
        low, high = np.full(n_labels, np.inf), np.full(n_labels, -np.inf)
        np.minimum.at(low, codes[rows], numbers[rows])
        np.maximum.at(high, codes[rows], numbers[rows])
        used = np.flatnonzero(np.isfinite(low))
        ranges = sorted((float(low[i]), float(high[i]), i) for i in used.tolist())
        if any(one[1] >= two[0] for one, two in pairwise(ranges)):
            return None
    counts = np.bincount(codes, minlength=n_labels)[used]
    evidence = math.lgamma(len(codes) + 1) - sum(math.lgamma(n + 1) for n in counts.tolist())
    is_enough = evidence - math.lgamma(len(used) + 1) >= MIN_LOG_ARRANGEMENTS
    return ranges if is_enough and len(used) > 1 else None


def _find_sums(measured: dict[str, Numbers]) -> Iterator[Finding]:
    """Yield the columns that are the sum or the mean of others."""
    if not 3 <= len(measured) <= MAX_SUMMED:
        return
    names = list(measured)
    table = np.column_stack([measured[name] for name in names])
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) < max(MIN_ROWS, 2 * len(names)):
        return
    start = table[:: max(1, len(table) // MAX_COMPARED)]
    scaled = start / np.maximum(np.abs(start).max(axis=0), TOLERANCE)
    if np.linalg.eigvalsh(scaled.T @ scaled)[0] > TOLERANCE**2 * len(start):
        return  # no column is a linear combination of others
    for place, name in enumerate(names):
        others = [i for i in range(len(names)) if i != place]
        solution = np.linalg.lstsq(start[:, others], start[:, place], rcond=None)[0]
        used = [i for i, factor in zip(others, solution, strict=True) if abs(factor) > TOLERANCE]
        factors = solution[np.abs(solution) > TOLERANCE]
        if len(used) < 2 or np.ptp(factors) > TOLERANCE:
            continue
        is_sum = abs(factors[0] - 1) <= TOLERANCE
        if not (is_sum or abs(factors[0] * len(used) - 1) <= TOLERANCE):
            continue
        expected = table[:, used].sum(axis=1) * (1 if is_sum else 1 / len(used))
        if np.abs(table[:, place] - expected).max() > TOLERANCE * np.abs(table[:, place]).max():
            continue
        parts = format_list([repr(names[i]) for i in used])
        yield Finding(
            "computed",
            (name, *(names[i] for i in used)),
            f"{name!r} is the {'sum' if is_sum else 'mean'} of {parts} in every row. Leave it out "
            f"({format_drop_hint(name)}), or its parts.",
        )


# Answers to a question with several choices: ``a;b;c`` becomes one yes-or-no column a choice.
#
# A form writes all choices of a person into one cell. As states, each combination would be a value
# of its own. A column is split if its cells are lists: they have different numbers of items, some
# have one, the items are few, and most of them occur in several combinations. A compound such as
# ``Austin, TX`` always has the same number of items, and prose has too many. The new columns are
# named after the column and the choice: ``sport_tennis``.


SEPARATORS = (";", "|", ",")
MAX_CHOICES = 30
MAX_LENGTH = 60  # characters of a choice
# A cell that says that nothing was chosen: all choices are "no".
NOTHING = (
    "none",
    "nothing",
    "no",
    "neither",
    "none of these",
    "none of the above",
    "keine",
    "nichts",
)
MIN_LISTS = 3  # different cells with several items
MIN_LIST_SHARE = 0.1  # of the rows have several items
MIN_CHOICE_ROWS = 5  # rows of a choice, on average
MIN_SHARED = 0.7  # of the choices occur in several combinations


def split_choices(drafts: Sequence[Draft], notes: Notes) -> list[Draft]:
    """Return the columns with yes-or-no columns instead of lists of choices."""
    names = {draft.column.name for draft in drafts}
    wanted = notes.options.find_wanted_choices(sorted(names))
    found: list[Draft] = []
    for draft in drafts:
        column, name = draft.column, draft.column.name
        declared = notes.types.get(name)
        is_asked = declared is not None and declared.kind == "choices"
        choices: tuple[str, ...] = wanted.get(name, ())
        if not choices and (is_asked or draft.is_free):
            choices = _find_choices(column, is_asked)
            choices = () if any(f"{name}_{choice}" in names for choice in choices) else choices
        if is_asked and not choices:
            raise DataError(
                f"Column {name!r} has the type 'choices', but its cells are no lists of at most "
                f"{MAX_CHOICES} choices with ';', '|' or ',' between them. Remove the type."
            )
        if not choices:
            found.append(draft)
            continue
        sentence = (
            f"{name!r} holds lists of choices; it is replaced by {len(choices):,} columns of yes "
            f"and no: {format_list([repr(f'{name}_{choice}') for choice in choices])}."
        )
        if name not in wanted and not is_asked:
            undo = format_type_hint(name, "categorical")
            notes.decisions.append(Decision("choices", (name,), sentence, undo))
        notes.left_out.append(ColumnInfo(name, "choices", reason=sentence))
        found += _take_choices(draft, choices, notes)
    return found


def _split(label: str, separator: str | None = None) -> list[str]:
    """Return the items of a cell; without a separator, all of them separate."""
    if separator is None:
        for other in SEPARATORS[1:]:
            label = label.replace(other, SEPARATORS[0])
    return [item for text in label.split(separator or SEPARATORS[0]) if (item := text.strip())]


def _find_choices(column: Column, is_asked: bool) -> tuple[str, ...]:
    """Return the choices of a column, sorted; none if its cells are no lists."""
    if isinstance(column.labels, NumberLabels) or column.declared is not None or column.overflow:
        return ()
    cells = {
        str(column.labels[code]): int(column.counts[code])
        for code in np.flatnonzero(column.counts).tolist()
    }
    for separator in SEPARATORS:
        lists = {label: _split(label, separator) for label in cells if separator in label}
        if not lists or (len(lists) < MIN_LISTS and not is_asked):
            continue
        items = {label: lists.get(label) or [label.strip()] for label in cells}
        rows: Counter[str] = Counter()
        combinations: Counter[str] = Counter()
        for label, parts in items.items():
            rows.update(dict.fromkeys(parts, cells[label]))
            combinations.update(set(parts))
        if len(rows) > MAX_CHOICES or any(len(choice) > MAX_LENGTH for choice in rows):
            continue
        if is_asked or _are_choices(separator, items, cells, rows, combinations):
            alone = {parts[0] for parts in items.values() if len(parts) == 1}
            nothing = {item for item in alone if item.lower() in NOTHING and combinations[item] < 2}
            return tuple(sorted(rows.keys() - nothing))
    return ()


def _are_choices(
    separator: str,
    items: dict[str, list[str]],
    cells: dict[str, int],
    rows: Counter[str],
    combinations: Counter[str],
) -> bool:
    """Return whether cells are lists of choices, given their items and the rows of each choice."""
    if separator == "," and any(parse_numbers([choice]) is not None for choice in rows):
        return False  # the comma may be a decimal mark
    sizes = {len(parts) for parts in items.values()}
    n_rows = sum(cells.values())
    n_lists = sum(cells[label] for label, parts in items.items() if len(parts) > 1)
    n_shared = sum(n > 1 for n in combinations.values())
    return (
        len(sizes) > 1
        and min(sizes) <= 1
        and all(len(set(parts)) == len(parts) for parts in items.values())
        and len(rows) < len(cells)
        and n_lists >= MIN_LIST_SHARE * n_rows
        and sum(rows.values()) >= MIN_CHOICE_ROWS * len(rows)
        and n_shared >= MIN_SHARED * len(rows)
    )


def _take_choices(draft: Draft, choices: Sequence[str], notes: Notes) -> list[Draft]:
    """Return a column of yes and no for each choice."""
    column, made = draft.column, []
    lists = [set(_split(label or "")) | {(label or "").strip()} for label in column.labels]
    for choice in choices:
        name = f"{column.name}_{choice}"
        has = np.array([choice in items for items in lists] or [False], dtype=np.int64)
        declared = notes.options.states.get(name, CHOICE_STATES)
        codes = has[column.codes]
        split = Column(name, CHOICE_STATES, codes, declared, missing=column.missing)
        notes.sources[name] = column.name
        is_free = name not in notes.types and name not in notes.options.states
        # A choice that nobody made is a constant, and two choices can be copies.
        made.append(Draft(replace(split, declared=None) if is_free else split, is_free))
    return made
