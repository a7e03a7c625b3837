"""The rows above the first observation: names of columns, and their units.

Names of columns: complete and correct those of a header, and leave out index columns.

A header from a stranger's desk has names with spaces around them, the same name twice, and no name
above the numbers of the rows. Each correction is a `Decision`. The option `rename` gives other
names to the corrected columns; there is no decision about a name that the caller gives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coevo.data.column_types import format_rename_hint, format_type_hint
from coevo.data.columns import Column
from coevo.data.decisions import STRICT_UNDO, Decision, RawTable
from coevo.data.labels import MISSING_LABELS, NumberLabels, find_decimal, parse_number
from coevo.data.read_options import ReadPlan, check_column_count
from coevo.data.source_options import DEFAULT_OPENING, SourceOptions
from coevo.errors import format_count, format_list

__all__ = ["CleanNames", "clean_names", "drop_unnamed", "has_units_row", "skip_units_row"]

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


# A row of units below the header ("kg", "cm", "mg/dl"): it is no observation, and is skipped.
#
# A row of units is found only in the first row. Every column whose other cells are numbers must
# have a word there, at least one of these words must be a known unit (or all of them look like
# units), and the cells of the other columns must be empty or occur nowhere else in their column. A
# row of data fails one of these conditions, because it has numbers, or values that recur.


MIN_ROWS = 3  # below the units
MAX_LENGTH = 24  # characters of a unit, as "mmol per litre"

_KNOWN = frozenset(
    """
    % ‰ kg g mg µg ug ng pg t lb lbs oz m cm mm km µm nm in inch inches ft feet mi miles l dl cl ml
    µl ul gal s sec secs second seconds ms min mins minute minutes h hr hrs hour hours d day days wk
    week weeks mo month months y yr yrs year years °c °f c f k celsius kelvin fahrenheit degc degf
    degrees deg ° rad hz khz mhz ghz pa kpa hpa mbar bar psi mmhg n kn j kj mj kcal cal w kw kwh mw
    v mv kv a ma ohm mol mmol µmol umol nmol iu u ppm ppb bpm rpm mph kmh kn db lux lx usd eur chf
    gbp $ € £ count counts n number score points jahre jahr tage tag stunden wochen monate einheit
    unit units no. index ratio percent pct
    """.split()  # noqa: SIM905
)
_PARTS = re.compile(r"[/*·^ ()\[\]0-9²³⁻¹.-]+")
_LIKE = re.compile(r"[(\[]?[A-Za-zµ°%$€£²³/*·^().\[\] 0-9⁻¹-]+[)\]]?")


def skip_units_row(table: RawTable, options: ReadPlan) -> RawTable:
    """Return a table without its row of units, and the decision about it."""
    asked = options.opening.units_row
    if asked is False or not table.columns or not len(table.columns[0].codes):
        return table
    units = None if asked else _find_units(table.columns)
    if not asked and units is None:
        return table
    rows = np.arange(1, len(table.columns[0].codes))
    kept = [_drop_labels(column.take(rows)) for column in table.columns]
    decisions = list(table.decisions)
    if units is not None:
        sentence = f"The first row holds units, as {format_list(units)}; it was skipped."
        undo = "units_row=False, or --no-units-row"
        decisions.append(Decision("units_row", (), sentence, undo))
    return RawTable(kept, decisions)


def has_units_row(table: RawTable, options: ReadPlan) -> bool:
    """Return whether a row of units was skipped, as the caller asked or as it was found."""
    asked = options.opening.units_row
    return asked is True or any(decision.kind == "units_row" for decision in table.decisions)


def _drop_labels(column: Column) -> Column:
    """Return a column without labels that do not occur any more, with its numbers as numbers."""
    labels = column.labels
    if isinstance(labels, NumberLabels):
        return replace(column, strays=tuple(one for one in column.strays if one.first_row > 0))
    decimal = find_decimal(
        [label if n else "" for label, n in zip(labels, column.counts, strict=True)]
    )
    return replace(column, decimal=decimal if column.declared is None else column.decimal)


def _find_units(columns: Sequence[Column]) -> list[str] | None:
    """Return the units of the first row, quoted; None if it is a row of data."""
    if len(columns[0].codes) <= MIN_ROWS:
        return None
    units: list[str] = []
    for column in columns:
        if column.overflow or column.missing is not None:
            return None
        code = int(column.codes[0])
        label = column.labels[code]
        if isinstance(column.labels, NumberLabels):
            if label is not None:
                return None
            units += [one.label for one in column.strays if one.first_row == 0 and one.count == 1]
            continue
        text = (label or "").strip()
        if label is None or text in MISSING_LABELS or text in ("-", "--"):
            continue  # an empty cell, but a column of numbers needs a unit: see below
        if int(column.counts[code]) > 1 or parse_number(text) is not None:
            return None
        if _are_numbers(column, code):
            units.append(text)
        elif not _is_like_unit(text):
            return None
    known = [text for text in units if _is_known(text)]
    is_clear = len(known) >= 1 and len(units) >= 1 and all(map(_is_like_unit, units))
    if not is_clear or 2 * len(known) < len(units):
        return None
    return sorted({repr(text) for text in known})


def _are_numbers(column: Column, unit: int) -> bool:
    """Return whether all labels of a column but one are numbers or missing."""
    n_numbers = 0
    for code in np.flatnonzero(column.counts).tolist():
        text = (column.labels[code] or "").strip()
        if code == unit or text in MISSING_LABELS:
            continue
        if parse_number(text.replace(",", ".")) is None:
            return False
        n_numbers += 1
    return n_numbers > 0


def _is_like_unit(text: str) -> bool:
    return len(text) <= MAX_LENGTH and bool(_LIKE.fullmatch(text))


def _is_known(text: str) -> bool:
    """Return whether all parts of a text are units, as of "mg/dl", "(kg)" or "kg/m²"."""
    parts = [part for part in _PARTS.split(text.casefold().strip()) if part]
    return bool(parts) and all(part in _KNOWN for part in parts)
