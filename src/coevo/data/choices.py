"""Answers to a question with several choices: ``a;b;c`` becomes one yes-or-no column a choice.

A form writes all choices of a person into one cell. As states, each combination would be a value
of its own. A column is split if its cells are lists: they have different numbers of items, some
have one, the items are few, and most of them occur in several combinations. A compound such as
``Austin, TX`` always has the same number of items, and prose has too many. The new columns are
named after the column and the choice: ``sport_tennis``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column
from coevo.data.decisions import Decision
from coevo.data.drafts import Draft, Notes
from coevo.data.number_labels import NumberLabels, parse_numbers
from coevo.data.option_hints import format_type_hint
from coevo.data.read_options import CHOICE_STATES
from coevo.errors import DataError, format_list

__all__ = ["split_choices"]

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
MIN_ROWS = 5  # rows of a choice, on average
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
        and sum(rows.values()) >= MIN_ROWS * len(rows)
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
