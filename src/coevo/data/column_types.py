"""Types of columns: categorical, continuous (cut into bins), parts of dates, or ignored.

A caller can declare the type of a column as a word, as cut points, or as the object that a run
writes (`ColumnInfo.as_dict`). With the object of an earlier run, a later table gets the same
states and bins. `coevo.data.infer_columns` infers the type of the other columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coevo.checks import is_choice, is_int
from coevo.data.binning import BINNINGS
from coevo.data.cut_points import CutPoints
from coevo.data.dates import DATE_ORDERS, DATE_PARTS
from coevo.data.variable import Variable
from coevo.errors import DataError, FormatError, ParameterError, bad_choice, suggest_match
from coevo.user_files import CsvRow, UserFile, read_csv_rows, read_json

__all__ = ["BIN_METHODS", "TYPES", "Binning", "ColumnInfo", "ColumnType", "read_types"]

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
