"""What a caller asked of a reader: columns to leave out, states and types to take as said.

Every reader asks the same `ReadOptions` which of its columns to read, so that a wrong name is
refused with the same sentence for a file, a data frame and an array.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from coevo.data.column_types import Binning, ColumnType
from coevo.data.cut_points import CutPoints
from coevo.data.number_labels import MISSING_LABELS
from coevo.data.variable import Variable
from coevo.errors import DataError, bad_parameter, listed, suggestion

__all__ = ["ReadOptions", "leave_out"]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Columns to leave out, declared states and types by column; all checked."""

    states: Mapping[str, tuple[str, ...]]
    drop: tuple[str, ...]
    whole_network: bool = False  # the states of columns that are not there do not matter
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    binning: Binning | None = None  # None: numbers are cut where a type says so only
    only: tuple[str, ...] | None = None  # columns to read, where there are such
    missing_labels: Set[str] = MISSING_LABELS
    keeps_missing: bool = False  # else a missing cell is refused
    refuses_measurements: bool = False  # numbers that would have to be cut, and cannot be

    @classmethod
    def of(
        cls,
        states: object = None,
        drop: object = (),
        types: object = None,
        discretise: object = None,
        bins: object = None,
        only: object = None,
    ) -> ReadOptions:
        """Check the parameters of `read_data` and keep them."""
        dropped = _names("drop", drop, "a list of column names")
        wanted = None if only is None else _names("only", only, "a list of column names or None")
        said = _said(types)
        binning = None
        if discretise is not None or bins is not None:
            binning = Binning.of(discretise, bins, "read_data")
        declared: dict[str, tuple[str, ...]]
        if is_network := _is_variables(states):
            declared = {variable.name: variable.states for variable in states}
        else:
            declared = _declared(states)
        for name, kind in said.items():
            if name in declared and not is_network:
                raise DataError(
                    f"Column {name!r} has declared states and the type {kind.kind!r}. Give one of "
                    "the two."
                )
            if kind.states is not None:
                declared[name] = kind.states
            elif kind.kind != "ignore":
                declared.pop(name, None)
        return cls(declared, dropped, is_network, said, binning, wanted)

    def keeping_missing(self, labels: object = None) -> ReadOptions:
        """Return the request of one who takes missing cells, with the labels of those."""
        if labels is None:
            return replace(self, keeps_missing=True)
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            raise bad_parameter("missing_labels", "read_incomplete", "a list of labels", labels)
        stripped = frozenset(str(label).strip() for label in labels)
        return replace(self, keeps_missing=True, missing_labels=stripped)

    @property
    def ignored(self) -> tuple[str, ...]:
        """All columns to leave out."""
        return (*self.drop, *(name for name, said in self.types.items() if said.kind == "ignore"))

    def wants_numbers(self, name: str) -> bool:
        """Return whether the numbers of a column must be kept, however many there are."""
        if name in self.states:
            return CutPoints.from_states(self.states[name]) is not None
        return self.binning is not None or name in self.types

    def kept(self, names: Sequence[str], hint: str = "") -> list[int]:
        """Return the positions of the columns to read, once all names are in order.

        Parameters
        ----------
        names : sequence of str
            All columns of the source, in its order.
        hint : str, default: ""
            A sentence to add when there are too few columns.
        """
        if not names:
            raise DataError(f"The table has no columns. A network needs at least two.{hint}")
        declared = () if self.whole_network else tuple(self.states)
        asked_for = (("drop", self.drop), ("types", tuple(self.types)), ("states", declared))
        for parameter, asked in asked_for:
            for name in asked:
                if name not in names:
                    raise DataError(
                        f"{parameter!r} names {name!r}, which is not a column of the table."
                        f"{suggestion(name, names)}"
                    )
        left_out = set(self.ignored)
        kept = [i for i, name in enumerate(names) if name not in left_out]
        if self.only is not None:
            return self._wanted(names, kept)
        _check_names([names[i] for i in kept], kept)
        if len(kept) < 2:
            after = " left after dropping" if left_out else ""
            left = f"one column{after}, {names[kept[0]]!r}" if kept else f"no column{after}"
            raise DataError(f"The table has {left}. A network needs at least two.{hint}")
        return kept

    def _wanted(self, names: Sequence[str], kept: Iterable[int]) -> list[int]:
        """Return which of these positions are among the only columns to read."""
        only = self.only or ()
        wanted = [i for i in kept if names[i] in only]
        _check_names([names[i] for i in wanted], wanted)
        if not wanted:
            raise DataError(f"The table has none of the columns {listed(list(map(repr, only)))}.")
        return wanted


def _names(parameter: str, names: object, expected: str) -> tuple[str, ...]:
    """Return the names of a list of columns."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise bad_parameter(parameter, "read_data", expected, names)
    return tuple(str(name) for name in names)


def _is_variables(states: object) -> TypeGuard[Sequence[Variable]]:
    """Return whether these are variables, as a network has them."""
    return isinstance(states, list | tuple) and all(isinstance(v, Variable) for v in states)


def _said(types: object) -> dict[str, ColumnType]:
    """Return what is said about the type of some columns."""
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        raise bad_parameter("types", "read_data", "a mapping of column to its type", types)
    return {str(name): ColumnType.of(str(name), given) for name, given in types.items()}


def _declared(states: object) -> dict[str, tuple[str, ...]]:
    """Return the declared states of each column as text."""
    if states is None:
        return {}
    if not isinstance(states, Mapping):
        raise bad_parameter(
            "states", "read_data", "a mapping of column to its states, or variables", states
        )
    declared = {}
    for name, labels in states.items():
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            expected = f"a list of states for column {str(name)!r}"
            raise bad_parameter("states", "read_data", expected, labels)
        # A variable refuses an empty list and a state that is declared twice.
        declared[str(name)] = Variable(str(name), tuple(str(label) for label in labels)).states
    return declared


def _check_names(names: Sequence[str], positions: Sequence[int]) -> None:
    seen: set[str] = set()
    for name, position in zip(names, positions, strict=True):
        if not name:
            raise DataError(
                f"Column {position + 1} has no name. Give it one, or leave it out "
                f"({leave_out(name)})."
            )
        if name in seen:
            raise DataError(f"Two columns are called {name!r}. Rename one of them.")
        seen.add(name)


def leave_out(name: str) -> str:
    """Return how a column is left out, in Python and on the command line.

    >>> print(leave_out("id"))
    drop=['id'], or --drop id
    """
    return f"drop=[{name!r}], or --drop {shlex.quote(name)}"
