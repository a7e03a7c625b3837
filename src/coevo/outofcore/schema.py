"""What the variables of a table in pieces are, once each piece has been looked at.

Every piece says which labels its columns show and how often (`ColumnSurvey`); `agree` makes
one `Schema` of all that, with the states and the notes that a reader of the whole table
would come to. Refused is what needs the whole table: to find out where numbers are cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import ColumnInfo
from coevo.data.columns import Column, refuse_overflow, variable_of
from coevo.data.cut_points import CutPoints
from coevo.data.infer_columns import are_states
from coevo.data.number_labels import numbers_of
from coevo.data.read_options import ReadOptions, leave_out
from coevo.data.variable import MAX_STATES, Variable, natural_order
from coevo.errors import DataError

__all__ = ["ColumnSurvey", "Schema", "agree", "check_cuts", "held", "overflow", "say_cuts"]


@dataclass(frozen=True)
class ColumnSurvey:
    """Which labels a column shows, and how often; the states that it declares, if it does."""

    name: str
    counts: dict[str, int]
    declared: tuple[str, ...] | None
    holds: str = ""  # as in `ColumnInfo`


@dataclass(frozen=True)
class Schema:
    """What all pieces agree on.

    `source` are the variables as people see them, `variables` the same in canonical order,
    `counts` the rows of each state of those, and `notes` what was decided about columns.
    """

    source: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    counts: tuple[tuple[int, ...], ...]
    n_rows: int
    notes: tuple[ColumnInfo, ...] = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a code."""
        return np.dtype(np.uint8 if max(v.arity for v in self.variables) <= 256 else np.uint16)


def agree(surveys: Sequence[Sequence[ColumnSurvey]], request: ReadOptions) -> Schema:
    """Return the variables that the surveys of all pieces, in their order, make together.

    The survey of a piece without rows is empty.
    """
    surveys = [survey for survey in surveys if survey]
    if not surveys:
        raise DataError("The table has no rows. Give at least one observation.")
    source, totals, notes = [], {}, []
    for name in [column.name for column in surveys[0]]:
        own = [column for piece in surveys for column in piece if column.name == name]
        seen: Counter[str] = Counter()
        for column in own:
            seen.update(column.counts)
        n_rows = sum(seen.values())
        if all(column.declared is not None for column in own):
            states = dict.fromkeys(state for c in own for state in c.declared or ())
            source.append(Variable(name, _in_order(name, tuple(states), request)))
        elif len(seen) == n_rows or len(seen) <= MAX_STATES:
            is_identifier = len(seen) == n_rows
            rows = np.arange(len(seen) + (not is_identifier)) % len(seen)
            whole = Column(name, list(seen), rows)
            source.append(variable_of(whole))
            _refuse_measurement(name, seen, request)
        else:
            raise overflow(name, seen, n_rows)
        totals[name] = seen
        notes.append(_note(source[-1], held([one.holds for one in own]), request))
    notes += [ColumnInfo(name, "ignore") for name in sorted(set(request.ignored))]
    variables = tuple(v.canonical() for v in sorted(source, key=lambda v: v.name))
    counts = tuple(tuple(totals[v.name][state] for state in v.states) for v in variables)
    return Schema(tuple(source), variables, counts, n_rows, tuple(notes))


def check_cuts(request: ReadOptions) -> None:
    """Raise `DataError` if a column is to be cut at points that are not given."""
    for name, said in request.types.items():
        if said.kind == "continuous" and said.cuts is None:
            raise DataError(
                f"Column {name!r} is to be cut into bins, and no piece of a table can tell where. "
                "Give its cut points with types= (--types); the run.json of a run on some of the "
                "rows has them."
            )


def _refuse_measurement(name: str, seen: Counter[str], request: ReadOptions) -> None:
    """Raise `DataError` for numbers that `learn` would cut, if it could."""
    numbers = numbers_of(list(seen)) if request.refuses_measurements else None
    if numbers is None:
        return
    n_distinct, n_rows = len(np.unique(numbers)), sum(seen.values())
    if not are_states(n_distinct, n_rows, is_whole=_are_whole(numbers)):
        raise DataError(
            f"Column {name!r} holds {n_distinct:,} different numbers, too many for states, and no "
            f"piece of a table can tell where to cut them. {say_cuts(name)}"
        )


def _are_whole(numbers: NDArray[np.float64]) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def say_cuts(name: str) -> str:
    """Return the way out for numbers that no piece can tell where to cut."""
    return (
        "Give its cut points with types= (--types), as the run.json of a run on some of the rows "
        f"has them, or say 'categorical' there, or leave it out ({leave_out(name)})."
    )


def _in_order(name: str, states: tuple[str, ...], request: ReadOptions) -> tuple[str, ...]:
    """Return declared states, those that pieces declare one by one as the whole would."""
    said = request.types.get(name)
    if said is None or said.kind != "categorical" or said.states is not None:
        return states
    numbers = numbers_of(states)
    if numbers is None:
        return natural_order(states)
    return tuple(states[i] for i in np.argsort(numbers, kind="stable").tolist())


def held(found: Sequence[str]) -> str:
    """Return what a column holds whose pieces hold this."""
    for holds in ("text", "decimal numbers"):
        if holds in found:
            return holds
    return next(filter(None, found), "")


def _note(variable: Variable, holds: str, request: ReadOptions) -> ColumnInfo:
    """Return what was decided about a column, as a reader of whole tables says it."""
    said = request.types.get(variable.name)
    cuts = None if said is None else said.cuts
    if holds == "declared states":
        cuts = CutPoints.from_states(variable.states)
    elif not holds and request.refuses_measurements:
        numbers = numbers_of(variable.states)
        kinds = ("decimal numbers", "whole numbers")
        holds = "text" if numbers is None else kinds[_are_whole(numbers)]
    kind = "categorical" if cuts is None else "continuous"
    return ColumnInfo(variable.name, kind, variable.states, holds, cuts)


def overflow(name: str, seen: Counter[str], n_rows: int) -> DataError:
    """Return what is wrong with a column of more labels than there can be states."""
    rows = np.arange(len(seen) + (len(seen) < n_rows)) % len(seen)
    return refuse_overflow(Column(name, list(seen), rows))
