"""A row of units below the header ("kg", "cm", "mg/dl"): it is no observation, and is skipped.

A row of units is found only in the first row. Every column whose other cells are numbers must have
a word there, at least one of these words must be a known unit (or all of them look like units),
and the cells of the other columns must be empty or occur nowhere else in their column. A row of
data fails one of these conditions, because it has numbers, or values that recur.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coevo.data.columns import Column
from coevo.data.decisions import Decision, RawTable
from coevo.data.number_labels import MISSING_LABELS, NumberLabels, find_decimal, parse_number
from coevo.data.read_options import ReadPlan
from coevo.errors import format_list

__all__ = ["has_units_row", "skip_units_row"]

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
