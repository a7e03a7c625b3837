"""Names of columns: complete and correct those of a header, and leave out index columns.

A header from a stranger's desk has names with spaces around them, the same name twice, and no name
above the numbers of the rows. Each correction is a `Decision`. The option `rename` gives other
names to the corrected columns; there is no decision about a name that the caller gives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coevo.data.columns import Column
from coevo.data.decisions import STRICT_UNDO, Decision, RawTable
from coevo.data.option_hints import format_rename_hint, format_type_hint
from coevo.data.read_options import ReadPlan, check_column_count
from coevo.data.source_options import DEFAULT_OPENING, SourceOptions
from coevo.errors import format_count, format_list

__all__ = ["CleanNames", "clean_names", "drop_unnamed"]

NEW_NAME = "NEW_NAME"  # in an undo: the caller chooses it
_PANDAS_NAME = re.compile(r"Unnamed: (\d+)")


@dataclass(frozen=True, slots=True)
class CleanNames:
    """Column names that are not empty and all different.

    `unnamed` has the positions of the columns without a name of their own. They are called
    ``column_1`` by their position, unless pandas called them ``Unnamed: 0``.
    """

    names: list[str]
    unnamed: frozenset[int]
    decisions: list[Decision]

    def select(self, options: ReadPlan, hint: str = "") -> list[int]:
        """Return the positions of the columns to read; ``drop=['']`` drops unnamed ones."""
        if "" not in options.ignored:
            return options.select_columns(self.names, hint)
        names = ["" if i in self.unnamed else name for i, name in enumerate(self.names)]
        return options.select_columns(names, hint)


def clean_names(header: Sequence[str], opening: SourceOptions = DEFAULT_OPENING) -> CleanNames:
    """Return the names of a header, stripped, completed and made different, as pandas does.

    `opening` has new names for some of them.

    >>> clean = clean_names(["", "a ", "a", "b", ""])
    >>> clean.names, sorted(clean.unnamed)
    (['column_1', 'a', 'a.1', 'b', 'column_5'], [0, 4])
    >>> for decision in clean.decisions:
    ...     print(decision.sentence)
    The names of 1 column had spaces around them, which were removed: 'a '.
    Two columns are called 'a'; the second is now 'a.1'.
    """
    stripped = [name.strip() for name in header]
    names, taken = list(stripped), set(filter(None, stripped))
    for i, name in enumerate(stripped):
        if not name:
            names[i] = _find_free(f"column_{i + 1}", "_", taken)
    duplicates = _rename_duplicates(names, taken)
    renamed = opening.rename_columns(names)
    kept = {i for i, name in enumerate(names) if name not in (opening.rename or {})}
    unnamed = frozenset(i for i in kept if _is_unnamed(i, stripped[i]))
    spaced = [i for i in sorted(kept) if stripped[i] not in ("", header[i])]
    decisions = _decide_spaces([(names[i], header[i]) for i in spaced])
    decisions += _decide_duplicates([(stripped[i], names[i]) for i in duplicates if i in kept])
    return CleanNames(renamed, unnamed, decisions)


def _is_unnamed(position: int, name: str) -> bool:
    match = _PANDAS_NAME.fullmatch(name)
    return not name or (match is not None and int(match[1]) == position)


def _rename_duplicates(names: list[str], taken: set[str]) -> list[int]:
    """Give every further column of the same name a new name, in place; return their positions."""
    seen: set[str] = set()
    changed = []
    for i, name in enumerate(names):
        if name in seen:
            names[i] = _find_free(name, ".", taken)
            changed.append(i)
        seen.add(names[i])
    return changed


def _decide_spaces(pairs: Sequence[tuple[str, str]]) -> list[Decision]:
    """Return the decision on names with spaces around them: (corrected name, old name)."""
    if not pairs:
        return []
    sentence = (
        f"The names of {format_count(len(pairs), 'column')} had spaces around them, which were "
        f"removed: {format_list([repr(old) for _, old in pairs])}."
    )
    return [Decision("names", (), sentence, format_rename_hint(pairs))]


def _decide_duplicates(pairs: Sequence[tuple[str, str]]) -> list[Decision]:
    """Return the decision on columns with the name of an earlier one: (old name, new name)."""
    if not pairs:
        return []
    old, new = pairs[0]
    sentence = f"Two columns are called {old!r}; the second is now {new!r}."
    if len(pairs) > 1:
        listed = format_list([repr(new) for _, new in pairs])
        sentence = f"{len(pairs):,} columns had the name of an earlier one; they are now {listed}."
    names = tuple(new for _, new in pairs)
    return [Decision("names", names, sentence, _hint_new_names(names))]


def _hint_new_names(names: Sequence[str]) -> str:
    """Return the options that give new names to columns; the caller chooses the names."""
    if len(names) == 1:
        return format_rename_hint([(names[0], NEW_NAME)])
    return format_rename_hint([(name, f"{NEW_NAME}_{i + 1}") for i, name in enumerate(names)])


def _find_free(name: str, separator: str, taken: set[str]) -> str:
    """Return a name that is not taken, with a number at its end if needed, and take it."""
    found, n = name, 0
    while found in taken:
        n += 1
        found = f"{name}{separator}{n}"
    taken.add(found)
    return found


def drop_unnamed(columns: Sequence[Column], clean: CleanNames, options: ReadPlan) -> RawTable:
    """Return the columns without empty unnamed ones and without an unnamed index."""
    unnamed = {clean.names[i]: i for i in clean.unnamed}
    kept, decisions, empty, named = [], list(clean.decisions), [], []
    for column in columns:
        position = unnamed.get(column.name)
        if position is None or _is_mentioned(column.name, options):
            kept.append(column)
        elif is_empty(column):
            empty.append(column.name)
        elif position == 0 and is_index(column):
            decisions.append(_decide_index(column.name))
        else:
            kept.append(column)
            if not _PANDAS_NAME.fullmatch(column.name):
                named.append(column.name)
    if empty:
        decisions.append(_decide_empty(empty))
    if named:
        verb = "has no name; it is" if len(named) == 1 else "have no names; they are"
        nouns = "1 column" if len(named) == 1 else f"{len(named):,} columns"
        sentence = f"{nouns} {verb} called {format_list([repr(name) for name in named])}."
        decisions.append(Decision("unnamed", tuple(named), sentence, _hint_new_names(named)))
    if len(kept) < len(columns) and options.only is None:
        check_column_count([column.name for column in kept], "")
    return RawTable(kept, decisions)


def _is_mentioned(name: str, options: ReadPlan) -> bool:
    return name in options.types or name in options.states or name in (options.only or ())


def is_empty(column: Column) -> bool:
    """Return whether a column has no value in any row."""
    return not column.overflow and all(
        not (column.labels[code] or "").strip() for code in np.flatnonzero(column.counts).tolist()
    )


def is_index(column: Column) -> bool:
    """Return whether a column has a different value in each row."""
    n_different = np.count_nonzero(column.counts)
    return bool(n_different == len(column.codes)) and None not in column.labels[:1]


def _decide_index(name: str) -> Decision:
    sentence = (
        "The first column has no name and a different value in each row; it was left out as the "
        "index of the rows."
    )
    return Decision("index", (name,), sentence, format_type_hint(name, "categorical"))


def _decide_empty(names: list[str]) -> Decision:
    listed = format_list([repr(name) for name in names])
    has = "1 column has" if len(names) == 1 else f"{len(names):,} columns have"
    was = "it was" if len(names) == 1 else "they were"
    sentence = f"{has} neither a name nor a value; {was} left out: {listed}."
    return Decision("empty", tuple(names), sentence, STRICT_UNDO)
