"""What a column is taken for: states, numbers to cut into bins, or nothing at all.

A caller may say it for some columns, as a word, as cut points, or as an object of the form
that a run writes down (`ColumnInfo.as_dict`), so that a later table can be read as an
earlier one was. For the others it is inferred from what they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.checks import is_int
from coevo.data.binning import BINNINGS
from coevo.data.cut_points import CutPoints
from coevo.data.variable import Variable
from coevo.errors import DataError, FormatError, ParameterError, bad_choice, suggestion
from coevo.user_files import Row, is_json_file, read_json, read_rows

__all__ = ["BIN_METHODS", "TYPES", "Binning", "ColumnInfo", "ColumnType", "read_types"]

TYPES = ("categorical", "continuous", "ignore")
BIN_METHODS = (*sorted(BINNINGS), "mdl")
# Where nothing is said; `benchmarks/bins.py` shows what other numbers would find.
DEFAULT_BINS = 3
MOST_MDL_BINS = 5
_KEYS = ("type", "cuts", "bins", "method", "states", "holds")


@dataclass(frozen=True, slots=True)
class Binning:
    """A method that cuts numbers, and how many bins it makes (`mdl`: at most)."""

    method: str
    bins: int

    @classmethod
    def of(cls, method: object, bins: object, owner: str) -> Binning:
        """Check a method and a number of bins; either may be None.

        Who asks for so many bins gets so many: a number alone means quantiles.
        """
        usual = "mdl" if bins is None else "quantile"
        chosen = usual if method is None else method
        if chosen not in BIN_METHODS:
            raise bad_choice("discretise", owner, BIN_METHODS, method)
        if bins is None:
            return cls(str(chosen), MOST_MDL_BINS if chosen == "mdl" else DEFAULT_BINS)
        if not is_int(bins, 2):
            raise ParameterError(f"'bins' of {owner} must be an int >= 2; got {bins!r}.")
        return cls(str(chosen), int(bins))  # type: ignore[call-overload]  # is_int says so


@dataclass(frozen=True, slots=True)
class ColumnType:
    """What a caller says about one column; checked."""

    kind: str  # one of TYPES
    cuts: CutPoints | None = None
    states: tuple[str, ...] | None = None
    method: str | None = None
    bins: int | None = None

    @classmethod
    def of(cls, name: str, given: object) -> ColumnType:
        """Check what is said about the column called `name`."""
        if isinstance(given, ColumnType):
            return given
        if isinstance(given, CutPoints):
            return cls("continuous", given)
        if isinstance(given, str):
            return cls(_checked_kind(name, given))
        if isinstance(given, Mapping):
            return cls._of_object(name, given)
        if isinstance(given, Iterable) and not isinstance(given, bytes):
            return cls("continuous", _checked_cuts(name, given))
        raise _bad_type(name, given)

    @classmethod
    def _of_object(cls, name: str, given: Mapping[str, Any]) -> ColumnType:
        for key in given:
            if key not in _KEYS:
                near = suggestion(key, _KEYS)
                raise DataError(f"The type of column {name!r} has no {key!r}.{near}")
        kind = _checked_kind(name, given.get("type", "continuous"))
        cuts, states = given.get("cuts"), given.get("states")
        if kind == "categorical" and isinstance(states, list | tuple):
            return cls(kind, states=Variable(name, tuple(map(str, states))).states)
        if kind != "continuous":
            return cls(kind)
        if cuts is not None:
            return cls(kind, _checked_cuts(name, cuts))
        owner = f"column {name!r}"
        Binning.of(given.get("method"), given.get("bins"), owner)
        return cls(kind, method=given.get("method"), bins=given.get("bins"))


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """What was decided about one column, for people and for a later table.

    Attributes
    ----------
    name : str
        The column.
    type : str
        ``'categorical'``, ``'continuous'`` or ``'ignore'``.
    states : tuple of str
        Its states, or the names of its bins, in their order; none if it is ignored.
    holds : str
        ``'text'``, ``'whole numbers'``, ``'decimal numbers'`` or ``'declared states'``.
    cuts : CutPoints or None
        Its cut points, if it is continuous.
    method : str or None
        What chose them; None if they were given.
    """

    name: str
    type: str
    states: tuple[str, ...] = ()
    holds: str = ""
    cuts: CutPoints | None = None
    method: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the note as plain values, which `types` of `read_data` takes.

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
        return found


def read_types(path: str | Path) -> dict[str, Any]:
    r"""Read what each column is, from JSON or CSV, for `types` of `read_data`.

    JSON is an object with one entry a column: ``"continuous"``, ``"categorical"``,
    ``"ignore"``, a list of cut points, or an object (``{"type": "continuous", "bins": 3,
    "method": "kmeans"}``). The ``run.json`` of an earlier run will do as well. CSV has the
    columns ``column,type`` and may have ``cuts`` (numbers, with blanks between them),
    ``bins`` and ``method``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "types.csv")
    ...     _ = path.write_text("column,type,cuts\nage,continuous,18 65\nid,ignore\n")
    ...     read_types(path)
    {'age': {'type': 'continuous', 'cuts': [18.0, 65.0]}, 'id': {'type': 'ignore'}}
    """
    source = Path(path)
    if not is_json_file(source):
        return _types_of_rows(source, read_rows(source, ("column", "type"), _KEYS[1:4]))
    found = read_json(source)
    if isinstance(found, dict) and "data_hash" in found and isinstance(found.get("columns"), dict):
        found = found["columns"]  # of the file that a run has written
    if not isinstance(found, dict):
        raise FormatError(f"{str(source)!r} must hold an object with a type for each column.")
    return found


def _types_of_rows(source: Path, rows: list[Row]) -> dict[str, Any]:
    types: dict[str, Any] = {}
    for line, cells in rows:
        name = cells["column"]
        if name in types:
            raise FormatError(f"{str(source)!r}, line {line}: {name!r} is there twice.")
        found: dict[str, Any] = {key: cell for key, cell in cells.items() if cell}
        try:
            if "cuts" in found:
                found["cuts"] = [float(cut) for cut in found["cuts"].split()]
            if "bins" in found:
                found["bins"] = int(found["bins"])
        except ValueError as error:
            raise FormatError(f"{str(source)!r}, line {line}: {error}.") from None
        types[found.pop("column")] = found
    return types


def _checked_kind(name: str, given: object) -> str:
    if given not in TYPES:
        raise _bad_type(name, given)
    return str(given)


def _checked_cuts(name: str, given: Any) -> CutPoints:
    try:
        return CutPoints(tuple(given))
    except (ParameterError, TypeError) as error:
        if isinstance(error, ParameterError):
            raise DataError(f"Column {name!r}: {error}") from None
        raise DataError(
            f"The cuts of column {name!r} must be a list of numbers; got {given!r}."
        ) from None


def _bad_type(name: str, given: object) -> DataError:
    listed = ", ".join(map(repr, TYPES))
    return DataError(
        f"The type of column {name!r} must be one of {listed}, or a list of cut points; got "
        f"{given!r}.{suggestion(given, TYPES)}"
    )
