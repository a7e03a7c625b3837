"""The types file of an inspection: one entry for each column, short enough to edit.

`read_types` reads it. Numbers have their cut points, so a later table gets the same bins. States
are written only if they are declared, because they may not occur in the rows.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coevo.data import ColumnInfo
from coevo.data.column_types import NO_CUTS
from coevo.data.cut_points import format_number
from coevo.errors import FileError, ParameterError

__all__ = ["check_types_path", "format_types", "make_types"]

_NOTES = ("holds", "method", "reason")  # what `as_dict` adds for readers
_FORMATS = (".json", ".csv")


def make_types(infos: Iterable[ColumnInfo]) -> dict[str, Any]:
    """Return the type of each column, as `types` of `read_data` accepts it.

    >>> from coevo.data import CutPoints
    >>> age = ColumnInfo("age", "continuous", (), "whole numbers", CutPoints((18, 65)))
    >>> make_types([age, ColumnInfo("id", "ignore")])
    {'age': {'type': 'continuous', 'cuts': [18.0, 65.0]}, 'id': 'ignore'}
    """
    return {info.name: _make_type(info) for info in infos if not _is_implied(info)}


def _is_implied(info: ColumnInfo) -> bool:
    """Return whether the type of a column follows from the type of its column of dates."""
    return info.source is not None and info.type == "categorical"


def _make_type(info: ColumnInfo) -> Any:
    found = {key: value for key, value in info.as_dict().items() if key not in _NOTES}
    if info.holds == "declared states":
        found.pop("cuts", None)  # the states name the bins
        return found | {"type": "categorical", "states": list(info.states)}
    found.pop("states", None)
    return info.type if found == {"type": info.type} else found


def check_types_path(path: Path, force: bool = False) -> None:
    """Raise an error unless a types file of this name may be written."""
    if path.suffix.lower() not in _FORMATS:
        raise ParameterError(
            f"The types of columns are written as JSON or CSV; got {str(path)!r}. Give a name that "
            "ends with .json or .csv."
        )
    if path.exists() and not path.is_dir() and not force:
        raise FileError(
            f"{str(path)!r} exists already. Give another name, or replace it with force=True "
            "(--force)."
        )


def format_types(types: dict[str, Any], path: Path) -> str:
    """Return the text of a types file, in the format that the name of the file says."""
    return _format_csv(types, path) if path.suffix.lower() == ".csv" else _format_json(types)


def _format_json(types: dict[str, Any]) -> str:
    """Return an object with one line for each column."""
    lines = [
        f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(given, ensure_ascii=False)}"
        for name, given in types.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _format_csv(types: dict[str, Any], path: Path) -> str:
    """Return a table with one row for each column."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["column", "type", "cuts"])
    for name, given in types.items():
        entry = given if isinstance(given, dict) else {"type": given}
        unknown = entry.keys() - {"type", "cuts"}
        if unknown:
            raise ParameterError(
                f"A CSV file cannot hold the {sorted(unknown)[0]} of column {name!r}. Write "
                f"the types to {str(path.with_suffix('.json'))!r} instead."
            )
        cuts = " ".join(map(format_number, entry.get("cuts", ()))) or NO_CUTS
        writer.writerow([name, entry["type"], cuts if "cuts" in entry else ""])
    return stream.getvalue()
