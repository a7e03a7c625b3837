"""Read JSON files: lines of records, a list of records or of rows, or an object of columns.

A record is an object without objects inside; a key that it lacks is a missing value. A column of
lists or of objects is left out, with a decision.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coevo.data.cell_values import collect_columns, read_cells
from coevo.data.columns import Column, make_unsupported_type_error
from coevo.data.decisions import RawTable
from coevo.data.header_names import clean_names, drop_unnamed
from coevo.data.read_options import ReadPlan
from coevo.data.text_encoding import convert_to_utf8
from coevo.errors import DataError
from coevo.files import ByteSource
from coevo.json_text import load_json

__all__ = ["read_json"]

MIN_CELLS = 1_000_000  # a table of any shape may have so many
MAX_RATIO = 100  # cells for each value in a file


def read_json(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a table from JSON lines, or from one JSON value."""
    decoder = convert_to_utf8(source, options.opening.encoding)
    data = source.read_all()
    if b"\0" in data:
        raise _make_shape_error(source.path)
    text = decoder.decode(data, "The text")
    names, columns = _find_columns(_parse(text, source.path), source.path)
    clean = clean_names(names, options.opening)
    selected = [(clean.names[i], columns[i]) for i in clean.select(options)]
    table = collect_columns(selected, _read_column, options)
    found = drop_unnamed(table.columns, clean, options)
    decisions = [*decoder.decisions, *found.decisions, *table.decisions]
    return RawTable(found.columns, decisions)


def _parse(text: str, path: Path) -> Any:
    """Return the JSON value of a text; JSON lines are a list."""
    try:
        return load_json(text)
    except json.JSONDecodeError:
        pass
    except ValueError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}.") from None
    values = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values.append(load_json(line))
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise DataError(
                f"Line {number:,} of {str(path)!r} is not JSON: {reason}. Correct the line, or "
                "write the file again."
            ) from None
    return values


def _find_columns(value: Any, path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return names and values of the columns of a JSON value."""
    if isinstance(value, dict):
        is_record = not any(isinstance(column, list | dict) for column in value.values())
        is_nested = bool(value) and all(isinstance(column, dict) for column in value.values())
        value = [value] if is_record else _find_rows(value) if not is_nested else _turn(value, path)
    if isinstance(value, dict):
        lengths = {len(column) for column in value.values()}
        if len(lengths) == 1:
            return list(value), list(value.values())
    elif isinstance(value, list) and value:
        if all(isinstance(record, dict) for record in value):
            names = list(dict.fromkeys(name for record in value for name in record))
            _check_keys(path, len(names), value)
            return names, [[record.get(name) for record in value] for name in names]
        is_table = all(isinstance(row, list) and len(row) == len(value[0]) for row in value)
        if is_table and all(isinstance(name, str) for name in value[0]):
            rows = value[1:]
            return value[0], [[row[i] for row in rows] for i in range(len(value[0]))]
    raise _make_shape_error(path)


def _find_rows(value: dict[str, Any]) -> Any:
    """Return the columns of an object of lists, or the only list of records inside it."""
    if all(isinstance(column, list) for column in value.values()) and len(value) > 1:
        return value
    lists = [column for column in value.values() if isinstance(column, list)]
    return lists[0] if len(lists) == 1 else None


def _check_keys(path: Path, n_keys: int, objects: Sequence[Mapping[str, Any]]) -> None:
    """Raise `DataError` if nearly all cells of a table would be missing.

    Objects that share no keys make a table with the square of their number.
    """
    n_cells, n_given = n_keys * len(objects), sum(map(len, objects))
    if n_cells > max(MIN_CELLS, MAX_RATIO * n_given):
        raise DataError(
            f"{str(path)!r} has {len(objects):,} objects with {n_keys:,} different keys, and most "
            "objects lack most keys. Give each object the same keys."
        )


def _turn(value: dict[str, dict[str, Any]], path: Path) -> dict[str, list[Any]]:
    """Return the columns of objects with a key for each row, as pandas writes them."""
    keys = list(dict.fromkeys(key for column in value.values() for key in column))
    _check_keys(path, len(keys), list(value.values()))
    return {name: [column.get(key) for key in keys] for name, column in value.items()}


def _make_shape_error(path: Path) -> DataError:
    return DataError(
        f"{str(path)!r} is not a table in JSON. It needs one object with the values of a row on "
        "each line, or a list of such objects."
    )


def _read_column(name: str, values: list[Any], options: ReadPlan) -> Column:
    for value in () if options.wants_text(name) else values:
        if isinstance(value, list | dict):
            kind = "list" if isinstance(value, list) else "object"
            raise make_unsupported_type_error(name, kind)
    return read_cells(name, values, options)
