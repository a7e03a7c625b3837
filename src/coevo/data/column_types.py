"""Types of columns, and the options that change them as messages name them.

Types of columns: categorical, continuous (cut into bins), parts of dates, or ignored.

A caller can declare the type of a column as a word, as cut points, or as the object that a run
writes (`ColumnInfo.as_dict`). With the object of an earlier run, a later table gets the same
states and bins. `coevo.data.prepare.drafts` infers the type of the other columns.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coevo.checks import is_choice, is_int
from coevo.data.bins import BINNINGS, CutPoints
from coevo.data.prepare.dates import DATE_ORDERS, DATE_PARTS
from coevo.data.variable import Variable
from coevo.errors import (
    MAX_LISTED,
    DataError,
    FormatError,
    ParameterError,
    bad_choice,
    suggest_match,
)
from coevo.files.user_files import CsvRow, UserFile, read_csv_rows, read_json

__all__ = [
    "BIN_METHODS",
    "TYPES",
    "Binning",
    "ColumnInfo",
    "ColumnType",
    "find_part_types",
    "format_drop_hint",
    "format_label_hint",
    "format_merge_hint",
    "format_part_hint",
    "format_rename_hint",
    "format_type_hint",
    "read_types",
]

# "date" is a date as a number: a decimal year. "dmy" and "mdy" give the order of day and month.
# "choices" are lists with separators, "days" the days since an earlier column of dates.
TYPES = (
    *("categorical", "continuous", "ignore", "choices", "days", "date"),
    *DATE_PARTS,
    *DATE_ORDERS,
)
BIN_METHODS = (*sorted(BINNINGS), "mdl")
# The defaults; `benchmarks/bins.py` compares them with other numbers.
DEFAULT_BINS = 3
MAX_MDL_BINS = 5
NO_CUTS = "none"  # in a CSV file: the column is continuous, and has no cut point
_KEYS = (
    *("type", "cuts", "bins", "method", "states", "holds", "source", "format", "reason"),
    *("missing", "merge"),
)


@dataclass(frozen=True, slots=True)
class Binning:
    """A binning method and its number of bins (for `mdl`: the maximum)."""

    method: str
    bins: int

    @classmethod
    def from_parameters(cls, method: object, bins: object, owner: str) -> Binning:
        """Validate a method and a number of bins; either can be None.

        A number without a method means quantiles, because they give exactly this number of bins.
        """
        default = "mdl" if bins is None else "quantile"
        chosen = default if method is None else method
        if not is_choice(chosen, BIN_METHODS):
            raise bad_choice("discretise", owner, BIN_METHODS, method)
        if bins is None:
            return cls(str(chosen), MAX_MDL_BINS if chosen == "mdl" else DEFAULT_BINS)
        if not is_int(bins, 2):
            raise ParameterError(f"'bins' of {owner} must be an int >= 2; got {bins!r}.")
        return cls(str(chosen), int(bins))  # type: ignore[call-overload]  # is_int checked it


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The declared type of one column, validated.

    `kind` is ``'categorical'``, ``'continuous'``, ``'ignore'``, ``'choices'``, ``'days'`` or
    ``'parts'`` (of dates). `parts` names the parts; without names they are chosen. `format` is the
    order of day and month, or the decimal mark. `source` is the column of dates that this column is
    a part of. `missing` are labels of missing values, `merge` has the new label of some labels.
    """

    kind: str
    cuts: CutPoints | None = None
    states: tuple[str, ...] | None = None
    method: str | None = None
    bins: int | None = None
    parts: tuple[str, ...] = ()
    format: str = ""
    source: str | None = None
    missing: tuple[str, ...] = ()
    merge: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def parse(cls, name: str, given: object) -> ColumnType:
        """Validate the declared type of the column `name`."""
        if isinstance(given, ColumnType):
            return given
        if isinstance(given, CutPoints):
            return cls("continuous", given)
        if isinstance(given, str):
            return cls._from_word(name, given)
        if isinstance(given, Mapping):
            return cls._from_mapping(name, given)
        if isinstance(given, Iterable) and not isinstance(given, bytes):
            return cls("continuous", _parse_cuts(name, given))
        raise _make_declared_type_error(name, given)

    @classmethod
    def _from_word(cls, name: str, given: object) -> ColumnType:
        """Return the type of a word, or of parts of a date with plus signs between them.

        The order of day and month can follow: ``'year+month+dmy'``, ``'date+mdy'``.
        """
        words = given.split("+") if isinstance(given, str) else []
        order = words.pop() if words and words[-1] in DATE_ORDERS else ""
        if (words or order) and all(word in DATE_PARTS for word in words):
            return cls("parts", parts=tuple(words), format=order)
        if words == ["date"]:
            return cls("continuous", format=order)
        if given not in TYPES:
            raise _make_declared_type_error(name, given)
        return cls(str(given))

    @classmethod
    def _from_mapping(cls, name: str, given: Mapping[str, Any]) -> ColumnType:
        for key in given:
            if key not in _KEYS:
                near = suggest_match(key, _KEYS)
                raise DataError(f"The type of column {name!r} has no {key!r}.{near}")
        declared = cls._from_word(name, given.get("type", "continuous"))
        source = given.get("source")
        declared = replace(
            declared,
            format=str(given.get("format", declared.format)),
            source=None if source is None else str(source),
            missing=_parse_missing(name, given.get("missing", ())),
            merge=_parse_merge(name, given.get("merge", {})),
        )
        cuts, states = given.get("cuts"), given.get("states")
        if declared.kind == "categorical" and isinstance(states, list | tuple):
            return replace(declared, states=Variable(name, tuple(map(str, states))).states)
        if declared.kind != "continuous":
            return declared
        if cuts is not None:
            return replace(declared, cuts=_parse_cuts(name, cuts))
        owner = f"column {name!r}"
        Binning.from_parameters(given.get("method"), given.get("bins"), owner)
        return replace(declared, method=given.get("method"), bins=given.get("bins"))


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """The type, states and cut points of one column of a table.

    Attributes
    ----------
    name : str
        The name of the column.
    type : str
        ``'categorical'``, ``'continuous'`` or ``'ignore'``; for a column of dates the parts that
        replace it, like ``'year+month'``.
    states : tuple of str
        Its states, or the names of its bins, in order; empty if the column is ignored.
    holds : str
        The kind of its values: ``'text'``, ``'whole numbers'``, ``'decimal numbers'``,
        ``'dates'`` or ``'declared states'``.
    cuts : CutPoints or None
        Its cut points, if the column is continuous.
    method : str or None
        The method that found the cut points; None if the caller gave them.
    source : str or None
        The column of dates that this column is a part of; None for other columns.
    format : str
        The order of day and month (``'dmy'``, ``'mdy'``), or the decimal mark if it is a comma.
    reason : str
        Why the column is ignored; empty if the caller asked for it.
    missing : tuple of str
        Labels of this column that stand for missing values, beside those of all columns.
    merge : dict of str to str
        The new label of labels that were merged with others.
    """

    name: str
    type: str
    states: tuple[str, ...] = ()
    holds: str = ""
    cuts: CutPoints | None = None
    method: str | None = None
    source: str | None = None
    format: str = ""
    reason: str = ""
    missing: tuple[str, ...] = ()
    merge: Mapping[str, str] = field(default_factory=dict, hash=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the info as plain values; `types` of `read_data` accepts them.

        >>> cuts = CutPoints((18, 65))
        >>> ColumnInfo("age", "continuous", holds="whole numbers", cuts=cuts).as_dict()
        {'type': 'continuous', 'holds': 'whole numbers', 'cuts': [18.0, 65.0]}
        """
        found: dict[str, Any] = {"type": self.type}
        if self.holds:
            found["holds"] = self.holds
        if self.method is not None:
            found["method"] = self.method
        if self.cuts is not None:
            found["cuts"] = list(self.cuts.points)
        if self.states:
            found["states"] = list(self.states)
        extra: dict[str, Any] = {
            "source": self.source,
            "format": self.format,
            "reason": self.reason,
        }
        extra |= {"missing": list(self.missing), "merge": dict(self.merge)}
        return found | {key: value for key, value in extra.items() if value}


def read_types(path: str | Path) -> dict[str, Any]:
    r"""Read the types of columns from a JSON or CSV file, for `types` of `read_data`.

    JSON is an object with one entry per column: ``"continuous"``, ``"categorical"``, ``"ignore"``,
    parts of dates (``"year+month"``), a list of cut points, or an object (``{"type":
    "continuous", "bins": 3, "method": "kmeans"}``). The ``run.json`` of an earlier run is
    accepted too. CSV has the columns ``column,type``, and optionally ``cuts`` (numbers,
    separated by blanks, or ``none``), ``bins`` and ``method``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "types.csv")
    ...     _ = path.write_text("column,type,cuts\nage,continuous,18 65\nid,ignore\n")
    ...     read_types(path)
    {'age': {'type': 'continuous', 'cuts': [18.0, 65.0]}, 'id': {'type': 'ignore'}}
    """
    source = Path(path)
    file = UserFile(source)
    if not file.is_json:
        return _parse_rows(source, read_csv_rows(file, ("column", "type"), _KEYS[1:4]))
    found = read_json(file)
    if isinstance(found, dict) and "data_hash" in found and isinstance(found.get("columns"), dict):
        found = found["columns"]  # the file is the run.json of a run
    if not isinstance(found, dict):
        raise FormatError(f"{str(source)!r} must hold an object with a type for each column.")
    return found


def _parse_rows(source: Path, rows: list[CsvRow]) -> dict[str, Any]:
    types: dict[str, Any] = {}
    for line, cells in rows:
        name = cells["column"]
        if not name:
            raise FormatError(f"{str(source)!r}, line {line}: the name of the column is missing.")
        if name in types:
            raise FormatError(f"{str(source)!r}, line {line}: column {name!r} occurs twice.")
        found: dict[str, Any] = {key: cell for key, cell in cells.items() if cell}
        try:
            if "cuts" in found:
                listed = found["cuts"].split()
                found["cuts"] = [] if listed == [NO_CUTS] else [float(cut) for cut in listed]
            if "bins" in found:
                found["bins"] = int(found["bins"])
        except ValueError as error:
            raise FormatError(f"{str(source)!r}, line {line}: {error}.") from None
        types[found.pop("column")] = found
    return types


def _parse_cuts(name: str, given: Any) -> CutPoints:
    try:
        return CutPoints(tuple(given))
    except (ParameterError, TypeError) as error:
        if isinstance(error, ParameterError):
            raise DataError(f"Column {name!r}: {error}") from None
        raise DataError(
            f"The cuts of column {name!r} must be a list of numbers; got {given!r}."
        ) from None


def _parse_missing(name: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, list | tuple):
        raise DataError(f"'missing' of column {name!r} must be a list of labels; got {given!r}.")
    return tuple(map(str, given))


def _parse_merge(name: str, given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise DataError(
            f"'merge' of column {name!r} must be an object of old and new labels; got {given!r}."
        )
    return {str(old): str(new) for old, new in given.items()}


def _make_declared_type_error(name: str, given: object) -> DataError:
    listed = ", ".join(map(repr, TYPES))
    return DataError(
        f"The type of column {name!r} must be one of {listed}, or a list of cut points; got "
        f"{given!r}.{suggest_match(given, TYPES)}"
    )


# The options that change how a table is read, as messages name them: Python, then a command.


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
