"""The schema of a table in chunks: its variables, their states and their counts.

A survey of a chunk holds the labels of each column and their counts (`ColumnSurvey`).
`merge_surveys` makes one `Schema` from the surveys of all chunks. States and infos are the same
as for the complete table in memory. The search for cut points needs the complete table; this
module raises an error for continuous columns without given cut points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column, make_overflow_error, make_variable
from coevo.data.cut_points import CutPoints
from coevo.data.infer_columns import are_states
from coevo.data.number_labels import parse_numbers
from coevo.data.option_hints import format_drop_hint, format_type_hint
from coevo.data.prepare_columns import prepare_columns
from coevo.data.read_options import ReadPlan
from coevo.data.state_order import sort_naturally
from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import DataError

__all__ = [
    "ColumnSurvey",
    "Schema",
    "check_cut_points",
    "format_cut_hint",
    "make_label_overflow_error",
    "merge_holds",
    "merge_surveys",
]


# Decisions about values that are made in memory.
CORRECTIONS = ("blanks", "spelling", "missing_code", "missing_word")
MAX_SKETCH = 100_000  # rows that have about the shares of all rows


@dataclass(frozen=True)
class ColumnSurvey:
    """The labels of a column in one chunk, their counts, and its declared states, if any."""

    name: str
    counts: dict[str, int]
    declared: tuple[str, ...] | None
    holds: str = ""  # as in `ColumnInfo`


@dataclass(frozen=True)
class Schema:
    """The variables of a table, common to all its chunks.

    `source` holds the variables in the order of the table, `variables` the same variables in
    canonical order, `counts` the number of rows of each state of `variables`, and `infos` the
    inferred types of the columns.
    """

    source: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    counts: tuple[tuple[int, ...], ...]
    n_rows: int
    infos: tuple[ColumnInfo, ...] = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the codes."""
        return np.dtype(np.uint8 if max(v.arity for v in self.variables) <= 256 else np.uint16)


def merge_surveys(surveys: Sequence[Sequence[ColumnSurvey]], options: ReadPlan) -> Schema:
    """Return the schema of a table from the surveys of all its chunks, in their order.

    The survey of a chunk without rows is empty.
    """
    surveys = [survey for survey in surveys if survey]
    if not surveys:
        raise DataError("The table has no rows. Give at least one observation.")
    source, totals, infos = [], {}, []
    for name in [column.name for column in surveys[0]]:
        parts = [column for survey in surveys for column in survey if column.name == name]
        seen: Counter[str] = Counter()
        for part in parts:
            seen.update(part.counts)
        n_rows = sum(seen.values())
        if all(part.declared is not None for part in parts):
            states = dict.fromkeys(state for part in parts for state in part.declared or ())
            source.append(Variable(name, _sort_declared(name, tuple(states), options)))
        elif len(seen) == n_rows or len(seen) <= MAX_STATES:
            is_identifier = len(seen) == n_rows
            rows = np.arange(len(seen) + (not is_identifier)) % len(seen)
            source.append(make_variable(Column(name, list(seen), rows)))
            _refuse_measurement(name, seen, options)
        else:
            raise make_label_overflow_error(name, seen, n_rows)
        totals[name] = seen
        if any(part.declared is None for part in parts):
            _refuse_dirt(name, seen)
        holds = merge_holds([part.holds for part in parts])
        infos.append(_make_column_info(source[-1], holds, options))
    infos += [ColumnInfo(name, "ignore") for name in sorted(set(options.ignored))]
    variables = tuple(v.to_canonical() for v in sorted(source, key=lambda v: v.name))
    counts = tuple(tuple(totals[v.name][state] for state in v.states) for v in variables)
    return Schema(tuple(source), variables, counts, n_rows, tuple(infos))


def check_cut_points(options: ReadPlan) -> None:
    """Raise `DataError` if a continuous column has no given cut points."""
    for name, column_type in options.types.items():
        if column_type.kind == "continuous" and column_type.cuts is None:
            raise DataError(
                f"Column {name!r} is continuous, and cut points cannot be found out of core. "
                "Give its cut points with types= (--types), for example from the run.json of a "
                "run on some of the rows."
            )


def _refuse_measurement(name: str, seen: Counter[str], options: ReadPlan) -> None:
    """Raise `DataError` for numbers that `learn` would cut into bins in memory."""
    numbers = parse_numbers(list(seen)) if options.refuses_measurements else None
    if numbers is None:
        return
    n_distinct, n_rows = len(np.unique(numbers)), sum(seen.values())
    if not are_states(n_distinct, n_rows, is_integer=_are_integers(numbers)):
        raise DataError(
            f"Column {name!r} holds {n_distinct:,} different numbers, too many for states, and cut "
            f"points cannot be found out of core. {format_cut_hint(name)}"
        )


def _refuse_dirt(name: str, seen: Counter[str]) -> None:
    """Raise `DataError` for values that `learn` would correct in memory.

    Out of core each value would stay as it is, and the answer would be another one.
    """
    counts = np.array(list(seen.values()))
    scaled = np.ceil(counts * min(1.0, MAX_SKETCH / counts.sum())).astype(np.int64)
    column = Column(name, list(seen), np.repeat(np.arange(len(seen)), scaled))
    options = ReadPlan.from_parameters(discretise="mdl").allow_missing()
    prepared = prepare_columns([column], options, min_columns=0)
    found = [one for one in prepared.notes.decisions if one.kind in CORRECTIONS]
    if found:
        raise DataError(
            "In memory coevo would correct the table, and out of core it cannot: "
            f"{found[0].sentence} Correct the table, or keep the values as they are "
            f"({format_type_hint(name, 'categorical')})."
        )


def _are_integers(numbers: NDArray[np.float64]) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def format_cut_hint(name: str) -> str:
    """Return what the user can do about a column of numbers without cut points."""
    return (
        "Give its cut points with types= (--types), for example from the run.json of a run on some "
        "of the rows, or give 'categorical' there, or leave it out "
        f"({format_drop_hint(name)})."
    )


def _sort_declared(name: str, states: tuple[str, ...], options: ReadPlan) -> tuple[str, ...]:
    """Return declared states, sorted if each chunk has declared only the states that it shows."""
    column_type = options.types.get(name)
    if column_type is None or column_type.kind != "categorical" or column_type.states is not None:
        return states
    numbers = parse_numbers(states)
    if numbers is None:
        return sort_naturally(states)
    return tuple(states[i] for i in np.argsort(numbers, kind="stable").tolist())


def merge_holds(kinds: Sequence[str]) -> str:
    """Return the kind of values of a column from the kinds of its chunks."""
    for holds in ("text", "decimal numbers"):
        if holds in kinds:
            return holds
    return next(filter(None, kinds), "")


def _make_column_info(variable: Variable, holds: str, options: ReadPlan) -> ColumnInfo:
    """Return the info of a column, as `read_data` would return it."""
    column_type = options.types.get(variable.name)
    cuts = None if column_type is None else column_type.cuts
    if holds == "declared states":
        cuts = CutPoints.from_states(variable.states)
    elif not holds and options.refuses_measurements:
        numbers = parse_numbers(variable.states)
        names = ("decimal numbers", "whole numbers")
        holds = "text" if numbers is None else names[_are_integers(numbers)]
    kind = "categorical" if cuts is None else "continuous"
    return ColumnInfo(variable.name, kind, variable.states, holds, cuts)


def make_label_overflow_error(name: str, seen: Counter[str], n_rows: int) -> DataError:
    """Return the error for a column with more labels than the largest number of states."""
    rows = np.arange(len(seen) + (len(seen) < n_rows)) % len(seen)
    return make_overflow_error(Column(name, list(seen), rows))
