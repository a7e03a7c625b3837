"""Options of all readers, about columns and about rows.

Options of all readers: columns to leave out, declared states, column types, binning.

Every reader calls `ReadPlan.select_columns`, so that an unknown column name gives the same
error for a file, a data frame and an array.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard, Unpack

from coevo.checks import is_choice
from coevo.data.bins import CutPoints
from coevo.data.column_types import Binning, ColumnType, format_drop_hint, read_types
from coevo.data.columns import Column
from coevo.data.prepare.dates import DATE_PARTS, split_days_name
from coevo.data.prepare.number_formats import MARKS
from coevo.data.source_options import DEFAULT_OPENING, CellOptions, SourceOptions
from coevo.data.variable import Variable
from coevo.errors import DataError, ParameterError, bad_parameter, format_list, suggest_match
from coevo.names import split_names
from coevo.options import (
    ReadParameters,
    RowParameters,
    SourceParameters,
    StrictFlags,
    TableOptions,
    check_options,
    select_options,
)

__all__ = ["CHOICE_STATES", "DEFAULT_ROWS", "ReadPlan", "RowOptions", "check_column_count"]


# Options about the rows of a table: copies, totals, weights and clusters.
#
# They have the same names in `read_data`, `read_incomplete`, `learn` and the commands that learn.
# They do not belong to `coevo.data.source_options`, because predictions keep every row as it is.


@dataclass(frozen=True, slots=True)
class RowOptions:
    """Validated options about rows. None lets coevo decide.

    Attributes
    ----------
    duplicates : str, optional
        ``'keep'`` keeps rows that repeat other rows, ``'drop'`` keeps one of equal rows.
    totals : str, optional
        ``'keep'`` keeps rows of totals and subtotals, ``'drop'`` leaves all of them out.
    weights : str, optional
        The column with the number of times that each row counts.
    cluster_by : str, optional
        The column that says which rows belong together.
    """

    duplicates: str | None = None
    totals: str | None = None
    weights: str | None = None
    cluster_by: str | None = None

    @classmethod
    def from_parameters(
        cls, owner: str = "read_data", **options: Unpack[RowParameters]
    ) -> RowOptions:
        """Validate the options; `owner` is the function that error messages name.

        >>> RowOptions.from_parameters(duplicates="kep")
        Traceback (most recent call last):
        coevo.errors.ParameterError: 'duplicates' of read_data must be one of 'drop', 'keep'; \
got 'kep'. Did you mean 'keep'?
        """
        chosen = cls(**options)
        check_options(RowParameters, owner, options)
        if chosen.weights is not None and chosen.weights == chosen.cluster_by:
            raise ParameterError(
                f"'weights' and 'cluster_by' of {owner} name the same column, {chosen.weights!r}. "
                "Give two columns."
            )
        return chosen

    def list_columns(self) -> list[tuple[str, str]]:
        """Return each option that names a column, and this column. It is no variable."""
        named = (("weights", self.weights), ("cluster_by", self.cluster_by))
        return [(option, column) for option, column in named if column is not None]


DEFAULT_ROWS = RowOptions()

CHOICE_STATES = ("no", "yes")  # of a choice in a list of choices


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Validated parameters of `read_data` and `read_incomplete`."""

    states: Mapping[str, tuple[str, ...]]
    drop: tuple[str, ...]
    allows_extra_states: bool = False  # states may be declared for columns that do not exist
    types: Mapping[str, ColumnType] = field(default_factory=dict)
    binning: Binning | None = None  # None: cut only columns whose declared type is continuous
    only: tuple[str, ...] | None = None  # columns to read, if the table has them
    keeps_missing: bool = False  # False: a missing value is an error
    refuses_measurements: bool = False  # a column that needs unknown cut points is an error
    decimal: str | None = None  # the decimal mark; None: it is found
    is_lenient: bool = False  # a column with too many labels is marked (`Column.overflow`)
    opening: SourceOptions = DEFAULT_OPENING  # how the source is opened
    rows: RowOptions = DEFAULT_ROWS  # copies, totals, weights and clusters
    # The columns that each item of `drop` means. `select_columns` fills it, when it sees the names.
    dropped: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    @classmethod
    def from_parameters(
        cls,
        states: object = None,
        drop: object = (),
        types: object = None,
        discretise: object = None,
        bins: object = None,
        only: object = None,
        opening: Any = None,
    ) -> ReadPlan:
        """Validate the parameters of `read_data`."""
        dropped = _parse_names("drop", drop, "a list of column names")
        selected = None
        if only is not None:
            selected = _parse_names("only", only, "a list of column names or None")
        column_types = _parse_types(types)
        binning = None
        if discretise is not None or bins is not None:
            binning = Binning.from_parameters(discretise, bins, "read_data")
        declared: dict[str, tuple[str, ...]]
        if is_network := _is_variables(states):
            declared = {variable.name: variable.states for variable in states}
        else:
            declared = _parse_states(states)
        for name, column_type in column_types.items():
            if name in declared and not is_network:
                raise DataError(
                    f"Column {name!r} has declared states and the type {column_type.kind!r}. Give "
                    "one of the two."
                )
            if column_type.states is not None:
                declared[name] = column_type.states
            elif column_type.kind != "ignore":
                declared.pop(name, None)
        options = cls(declared, dropped, is_network, column_types, binning, selected)
        return options if opening is None else replace(options, opening=opening)

    @classmethod
    def from_keywords(cls, owner: str, options: TableOptions, only: object = None) -> ReadPlan:
        """Validate the options of a reader; `owner` is the function that error messages name."""
        check_options(StrictFlags, owner, options)
        types = options["types"]
        if isinstance(types, str | os.PathLike):
            types = read_types(os.fspath(types))
        columns = (options["states"], options["drop"], types)
        made = cls.from_parameters(*columns, options["discretise"], options["bins"], only)
        made = made.use_source(owner, **select_options(ReadParameters, options))
        return made.use_decimal(options["decimal"])

    def use_source(self, owner: str, **given: Unpack[ReadParameters]) -> ReadPlan:
        """Return options that open a source in this way, and treat its rows in this way."""
        opening = select_options(SourceParameters, given)
        rows = select_options(RowParameters, given)
        return replace(
            self,
            opening=SourceOptions.from_parameters(owner, **opening),
            rows=RowOptions.from_parameters(owner, **rows),
        )

    def use_decimal(self, decimal: object) -> ReadPlan:
        """Return options with this decimal mark; None finds the mark."""
        if decimal is not None and not is_choice(decimal, MARKS):
            raise bad_parameter("decimal", "read_data", "'.', ',' or None", decimal)
        return replace(self, decimal=None if decimal is None else str(decimal))

    def allow_missing(self) -> ReadPlan:
        """Return options that keep missing values."""
        return replace(self, keeps_missing=True)

    def find_missing(self, column: Column) -> list[int]:
        """Return the codes of a column that stand for missing values."""
        declared = self.types.get(column.name)
        found = self.opening.cells.find_missing(column, self.states.get(column.name, ()))
        if declared is None or not declared.missing:
            return found
        named = CellOptions(missing=tuple((column.name, label) for label in declared.missing))
        return sorted({*found, *named.find_missing(column)})

    @property
    def ignored(self) -> tuple[str, ...]:
        """All columns to leave out."""
        names = [name for item in self.drop for name in self.dropped.get(item, (item,))]
        return (*names, *(name for name, type_ in self.types.items() if type_.kind == "ignore"))

    def find_wanted_parts(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the columns of dates with parts that are declared, and these parts.

        `names` are the columns of the table. A network with the variable ``visit_month`` wants the
        month of the column ``visit``, if the table has no column ``visit_month``.
        """
        known, wanted = set(names), dict[str, tuple[str, ...]]()
        sources = {name: type_.source for name, type_ in self.types.items() if type_.source}
        asked = tuple(self.states) if self.only is None else self.only
        for name in dict.fromkeys((*asked, *sources)):
            base, _, part = name.rpartition("_")
            if name not in known and part in DATE_PARTS and base in known:
                wanted[base] = (*wanted.get(base, ()), part)
        return wanted

    def find_wanted_choices(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the columns with choices that are declared, and these choices.

        A network with the variables ``sport_run`` and ``sport_swim``, both with the states "no" and
        "yes", wants them from the column ``sport``, if the table has no columns of these names.
        """
        known, wanted = set(names), dict[str, list[str]]()
        sources = {name: type_.source for name, type_ in self.types.items() if type_.source}
        asked = tuple(self.states) if self.only is None else self.only
        others = {
            f"{base}_{part}"
            for base, parts in self.find_wanted_parts(names).items()
            for part in parts
        } | self.find_wanted_days(names).keys()
        for name in dict.fromkeys((*asked, *sources)):
            is_choice_of = sources.get(name)
            if name in known or name in others:
                continue
            if set(self.states.get(name, CHOICE_STATES)) != set(CHOICE_STATES):
                continue
            places = [i for i, sign in enumerate(name) if sign == "_" and name[:i] in known]
            base = is_choice_of or (name[: places[-1]] if places else "")
            if places and base in known and base not in asked:
                wanted.setdefault(base, []).append(name[len(base) + 1 :])
        return {
            base: tuple(choices)
            for base, choices in wanted.items()
            if len(choices) > 1 or base in sources.values()
        }

    def find_wanted_days(self, names: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Return the durations that are declared, each with its two columns of dates."""
        known = set(names)
        sources = {name: type_.source for name, type_ in self.types.items() if type_.source}
        asked = tuple(self.states) if self.only is None else self.only
        return {
            name: pair
            for name in dict.fromkeys((*asked, *sources))
            if name not in known and (pair := split_days_name(name, known)) is not None
        }

    def find_sources(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the columns of the table that declared variables come from, by variable."""
        found: dict[str, tuple[str, ...]] = dict(self.find_wanted_days(names))
        for base, parts in self.find_wanted_parts(names).items():
            found |= {f"{base}_{part}": (base,) for part in parts}
        for base, choices in self.find_wanted_choices(names).items():
            found |= {f"{base}_{choice}": (base,) for choice in choices}
        return found

    def wants_text(self, name: str) -> bool:
        """Return whether values of any type become text: the column is declared categorical."""
        declared = self.types.get(name)
        return name in self.states or (declared is not None and declared.kind == "categorical")

    def wants_numbers(self, name: str) -> bool:
        """Return whether the reader must keep all numbers of a column, without a limit."""
        if name in self.states:
            return CutPoints.from_states(self.states[name]) is not None
        return self.binning is not None or name in self.types

    def select_columns(self, names: Sequence[str], hint: str = "") -> list[int]:
        """Validate all column names and return the positions of the columns to read.

        Parameters
        ----------
        names : sequence of str
            All columns of the source, in its order.
        hint : str, default: ""
            A sentence to append to the message if there are too few columns.
        """
        if not names:
            raise DataError(f"The table has no columns. A network needs at least two.{hint}")
        declared = () if self.allows_extra_states else tuple(self.states)
        self.dropped.update((item, split_names(item, names)) for item in self.drop)
        listed = tuple(name for item in self.drop for name in self.dropped[item])
        parameters = (
            ("drop", listed),
            ("types", tuple(self.types)),
            ("states", declared),
            *((key, (name,)) for key, name in self.rows.list_columns()),
        )
        derived = self.find_sources(names)
        self.opening.cells.check_columns(names)
        for parameter, columns in parameters:
            for name in columns:
                if name not in names and name not in derived:
                    raise DataError(
                        f"{parameter!r} names {name!r}, which is not a column of the table."
                        f"{suggest_match(name, names)}"
                    )
        ignored = set(self.ignored)
        for parameter, name in self.rows.list_columns():
            if name in ignored:
                raise DataError(f"{parameter!r} names {name!r}, which is left out. Keep it.")
        kept = [i for i, name in enumerate(names) if name not in ignored]
        if self.only is not None:
            return self._select_only(names, kept)
        _check_names([names[i] for i in kept], kept)
        after = " left after dropping" if ignored else ""
        check_column_count([names[i] for i in kept], after, hint)
        return kept

    def _select_only(self, names: Sequence[str], kept: Iterable[int]) -> list[int]:
        """Return the positions of the columns in `only`."""
        only = self.only or ()
        needed = {*only, *(name for _, name in self.rows.list_columns())}
        for sources in self.find_sources(names).values():
            needed |= set(sources)
        selected = [i for i in kept if names[i] in needed]
        _check_names([names[i] for i in selected], selected)
        if not selected:
            raise DataError(
                f"The table has none of the columns {format_list(list(map(repr, only)))}."
            )
        return selected


def check_column_count(names: Sequence[str], after: str, hint: str = "") -> None:
    """Raise `DataError` if fewer than two columns are left; `after` says after what."""
    if len(names) < 2:
        left = f"one column{after}, {names[0]!r}" if names else f"no column{after}"
        raise DataError(f"The table has {left}. A network needs at least two.{hint}")


def _parse_names(parameter: str, names: object, expected: str) -> tuple[str, ...]:
    """Return a list of column names as text."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise bad_parameter(parameter, "read_data", expected, names)
    return tuple(str(name) for name in names)


def _is_variables(states: object) -> TypeGuard[Sequence[Variable]]:
    """Return whether `states` is a list of variables."""
    return isinstance(states, list | tuple) and all(isinstance(v, Variable) for v in states)


def _parse_types(types: object) -> dict[str, ColumnType]:
    """Return the declared type of each column."""
    if types is None:
        return {}
    if not isinstance(types, Mapping):
        raise bad_parameter("types", "read_data", "a mapping of column to its type", types)
    return {str(name): ColumnType.parse(str(name), given) for name, given in types.items()}


def _parse_states(states: object) -> dict[str, tuple[str, ...]]:
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
        # `Variable` rejects an empty list and a repeated state.
        declared[str(name)] = Variable(str(name), tuple(str(label) for label in labels)).states
    return declared


def _check_names(names: Sequence[str], positions: Sequence[int]) -> None:
    seen: set[str] = set()
    for name, position in zip(names, positions, strict=True):
        if not name:
            raise DataError(
                f"Column {position + 1} has no name. Give it one, or leave it out "
                f"({format_drop_hint(name)})."
            )
        if name in seen:
            raise DataError(f"Two columns are called {name!r}. Rename one of them.")
        seen.add(name)
