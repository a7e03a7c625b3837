"""The options that change how a table is read, as messages name them: Python, then a command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from coevo.data.column_types import ColumnInfo
from coevo.errors import MAX_LISTED

__all__ = [
    "find_part_types",
    "format_drop_hint",
    "format_label_hint",
    "format_merge_hint",
    "format_part_hint",
    "format_rename_hint",
    "format_type_hint",
]


def format_drop_hint(name: str) -> str:
    """Return the options that leave out a column, in Python and on the command line.

    >>> print(format_drop_hint("id"))
    drop=['id'], or --drop id
    """
    return f"drop=[{name!r}], or --drop {shlex.quote(name)}"


def format_type_hint(names: str | Sequence[str], type_: str) -> str:
    """Return the options that declare the type of columns, in Python and on the command line.

    >>> print(format_type_hint("id", "categorical"))
    types={'id': 'categorical'}, or --type id=categorical
    """
    listed = [names] if isinstance(names, str) else names
    return _format_pairs("types", "--type", [(name, type_) for name in listed])


def format_label_hint(parameter: str, column: str, labels: Sequence[str]) -> str:
    """Return the options that give labels of a column, in Python and on the command line.

    `parameter` is ``'missing_labels'`` or ``'keep_labels'``.

    >>> print(format_label_hint("missing_labels", "age", ["-99"]))
    missing_labels={'age': ['-99']}, or --missing-label age=-99
    """
    stripped = [label.strip() for label in labels]
    option = {"missing_labels": "--missing-label", "keep_labels": "--keep-label"}[parameter]
    words = [f"{option} {shlex.quote(f'{column}={label}')}" for label in stripped]
    return f"{parameter}={{{column!r}: {stripped!r}}}, or {' '.join(words)}"


def format_merge_hint(column: str, states: Mapping[str, str]) -> str:
    """Return the options that merge states of a column, given the new state of each old one.

    >>> print(format_merge_hint("smoker", {"Y": "yes", "j": "yes"}))
    merge={'smoker': {'Y': 'yes', 'j': 'yes'}}, or --merge smoker:Y,j=yes
    """
    by_new: dict[str, list[str]] = {}
    for old, new in states.items():
        by_new.setdefault(new, []).append(old)
    texts = []
    for new, listed in by_new.items():
        has_comma = any("," in state for state in listed)
        joined = listed if has_comma else [",".join(listed)]
        texts += [f"{column}:{state}={new}" for state in joined]
    words = " ".join(f"--merge {shlex.quote(text)}" for text in texts)
    return f"merge={{{column!r}: {dict(states)!r}}}, or {words}"


def format_rename_hint(pairs: Sequence[tuple[str, str]]) -> str:
    """Return the options that rename columns, given old and new names.

    >>> print(format_rename_hint([("a.1", "b")]))
    rename={'a.1': 'b'}, or --rename a.1=b
    """
    return _format_pairs("rename", "--rename", pairs)


def _format_pairs(parameter: str, option: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Return a mapping as a parameter, and its pairs as options of a command."""
    shown = pairs[:MAX_LISTED]
    python = ", ".join(f"{name!r}: {value!r}" for name, value in shown)
    text = f"{parameter}={{{python}}}"
    if not any("=" in value for _, value in shown):  # a command splits at the last equals sign
        words = [f"{option} {shlex.quote(f'{name}={value}')}" for name, value in shown]
        text += f", or {' '.join(words)}"
    return f"{text}; other columns in the same way" if len(pairs) > MAX_LISTED else text


def find_part_types(columns: Iterable[ColumnInfo]) -> dict[str, tuple[str, str]]:
    """Return how to leave out each part of a date: its column of dates, and a type of this column.

    The table has no column of the name of a part, so ``drop`` cannot name it.

    >>> month = ColumnInfo("visit_month", "categorical", source="visit")
    >>> find_part_types([ColumnInfo("visit", "month"), month])
    {'visit_month': ('visit', 'ignore')}
    >>> year = ColumnInfo("visit_year", "categorical", source="visit")
    >>> find_part_types([ColumnInfo("visit", "year+month", format="dmy"), month, year])
    {'visit_month': ('visit', 'year+dmy'), 'visit_year': ('visit', 'month+dmy')}
    """
    parts: dict[str, list[str]] = {}
    orders: dict[str, str] = {}
    found: dict[str, tuple[str, str]] = {}
    listed = list(columns)
    kinds = {info.name: info.type for info in listed if info.source is None}
    for info in listed:
        if info.source is None:
            orders[info.name] = info.format
        elif kinds.get(info.source) in ("choices", "days"):
            found[info.name] = info.source, "ignore"  # one of them cannot be left out alone
        else:
            parts.setdefault(info.source, []).append(info.name.removeprefix(f"{info.source}_"))
    for source, names in parts.items():
        order = [orders[source]] if orders.get(source) else []
        for part in names:
            others = [name for name in names if name != part]
            found[f"{source}_{part}"] = source, "+".join(others + order) if others else "ignore"
    return found


def format_part_hint(source: str, type_: str) -> str:
    """Return the options that leave out a part of a date.

    >>> print(format_part_hint("visit", "ignore"))
    it is a part of 'visit': drop=['visit'], or --drop visit
    >>> print(format_part_hint("visit", "year"))
    it is a part of 'visit': types={'visit': 'year'}, or --type visit=year
    """
    is_all = type_ == "ignore"
    hint = format_drop_hint(source) if is_all else format_type_hint(source, type_)
    return f"it is a part of {source!r}: {hint}"
