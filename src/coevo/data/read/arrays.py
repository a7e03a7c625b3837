"""Read values that are in memory: NumPy arrays, and columns of Python values.

Read NumPy arrays as columns of codes.

The reader of data frames also calls `read_values`, for columns of numbers without nulls. Dates
and times become text in the form of ISO 8601, durations become seconds.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import format_type_hint
from coevo.data.columns import Column, UnsupportedTypeError, make_unsupported_type_error
from coevo.data.decisions import Decision, RawTable
from coevo.data.labels import NumberLabels
from coevo.data.read_options import ReadPlan
from coevo.errors import DataError, ParameterError, bad_parameter

__all__ = [
    "collect_columns",
    "insert_nulls",
    "read_array",
    "read_cells",
    "read_objects",
    "read_values",
]


# Read columns of Python values: text, numbers, booleans, dates, times and nulls.
#
# Spreadsheets, JSON, databases and files of statistics programs give such values. Dates and times
# become text in the form of ISO 8601, so that later code treats them as it treats those of a text
# table: a date without a time if no value of the column has one, and the wall clock if they have a
# time zone. A column of lists or of bytes cannot have states. `collect_columns` leaves it out,
# unless the caller declares that the column is categorical: its states are then JSON for lists and
# objects, and text for all other values.


Values = TypeVar("Values")
_MAX_EXACT = 1 << 53  # larger floats do not have all whole numbers
_MAX_INT64 = 1 << 63
_MAX_DIGITS = 4000  # Python makes no text of an integer with more than 4,300 digits
_LARGEST = 10**_MAX_DIGITS


def collect_columns(
    columns: Iterable[tuple[str, Values]],
    read: Callable[[str, Values, ReadPlan], Column],
    options: ReadPlan,
) -> RawTable:
    """Return the columns that can be read; one of lists or of bytes is left out.

    Raise `UnsupportedTypeError` if fewer than two columns are left because of that.
    """
    table = RawTable([])
    errors: list[UnsupportedTypeError] = []
    for name, values in columns:
        try:
            table.columns.append(read(name, values, options))
        except UnsupportedTypeError as error:
            errors.append(error)
            sentence = (
                f"Column {name!r} has the type {error.kind}, which cannot be states; it was left "
                "out."
            )
            undo = format_type_hint(name, "categorical")
            table.decisions.append(Decision("unsupported", (name,), sentence, undo))
    if errors and len(table.columns) < (2 if options.only is None else 1):
        raise errors[0]
    return table


def read_cells(name: str, values: Sequence[Any], options: ReadPlan) -> Column:
    """Read one column of Python values; whole numbers that are floats are whole numbers."""
    nulls = np.array([_is_null(value) for value in values], dtype=np.bool_)
    present = [value for value in values if not _is_null(value)]
    if not present:
        return Column(name, [None] if len(values) else [], np.zeros(len(values), dtype=np.uint8))
    kinds = set(map(type, present))
    whole = [_make_whole(value) for value in present]
    has_large = any(isinstance(value, int) and abs(value) >= _MAX_INT64 for value in whole)
    if has_large or not kinds <= {int, float}:  # a float would change a large int
        return read_objects(name, [_make_whole(value) for value in values], options)
    is_whole = all(isinstance(value, int) for value in whole)
    column = read_values(name, np.array(whole, dtype=np.int64 if is_whole else float), options)
    return insert_nulls(column, nulls) if nulls.any() else column


def read_objects(name: str, values: Sequence[Any], options: ReadPlan) -> Column:
    """Read one column from Python objects: text, numbers, booleans, dates and nulls."""
    number, declared = None, options.states.get(name)
    texts: Sequence[str | None]
    if set(map(type, values)) - {str}:
        has_time = any(map(_has_time, values))
        try:
            texts = [_format_value(name, value, has_time) for value in values]
        except UnsupportedTypeError:
            if not options.wants_text(name):
                raise
            texts = [_format_any(value) for value in values]
        number = next((t for t, v in zip(texts, values, strict=True) if _is_decimal(v)), None)
    else:
        texts = values
    labels = list(dict.fromkeys(texts))
    code_of = {label: code for code, label in enumerate(labels)}
    codes = np.fromiter(map(code_of.__getitem__, texts), dtype=np.int64, count=len(texts))
    return Column(name, labels, codes, declared, None if number is None else code_of[number])


def _make_whole(value: Any) -> Any:
    """Return a float that is a whole number as an int, and other values unchanged."""
    if isinstance(value, float) and value.is_integer() and abs(value) < _MAX_EXACT:
        return int(value)
    return value


def _is_null(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)


def _has_time(value: Any) -> bool:
    """Return whether a value is a moment other than midnight."""
    return (
        isinstance(value, datetime.datetime)
        and not _is_null(value)
        and value.time() != datetime.time()
    )


def _format_value(name: str, value: Any, has_time: bool) -> str | None:
    """Return the label of an object, or None for a null."""
    if isinstance(value, int) and abs(value) >= _LARGEST:
        raise DataError(
            f"Column {name!r} holds an integer of more than {_MAX_DIGITS:,} digits. Replace it by "
            "a text."
        )
    if isinstance(value, str | bool | int | np.integer | np.bool_):
        return str(value)
    if _is_null(value):
        return None
    if isinstance(value, float | np.floating):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return None if value.is_nan() else format(value, "f") if value.is_finite() else str(value)
    if isinstance(value, datetime.timedelta):
        return str(_make_whole(value.total_seconds()))
    if isinstance(value, datetime.date):  # a datetime is a date, too
        return _format_date(value, has_time)
    if isinstance(value, datetime.time):
        return value.replace(tzinfo=None).isoformat()
    raise make_unsupported_type_error(name, type(value).__name__)


def _format_any(value: Any) -> str | None:
    """Return the text of a value of any type; the same value always has the same text."""
    if _is_null(value) or (isinstance(value, complex) and value != value):
        return None
    plain = _make_plain(value)
    if isinstance(plain, str):
        return plain
    try:
        return json.dumps(plain, ensure_ascii=False, sort_keys=True, default=_make_plain)
    except (TypeError, ValueError):  # keys that are no text, or a value that contains itself
        return str(plain)


def _make_plain(value: Any) -> Any:
    """Return a value as a list, a dict or a text: UTF-8 or hexadecimal digits for bytes."""
    if isinstance(value, np.ndarray | np.generic):
        return _make_plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, list | tuple | dict):
        return value
    if not isinstance(value, bytes | bytearray | memoryview):
        return str(value)
    data = bytes(value)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.hex()


def _format_date(value: datetime.date, has_time: bool) -> str:
    if not isinstance(value, datetime.datetime):
        return f"{value.isoformat()}T00:00:00" if has_time else value.isoformat()
    wall_clock = value.replace(tzinfo=None)
    return wall_clock.isoformat() if has_time else wall_clock.date().isoformat()


def _is_decimal(value: Any) -> bool:
    """Return whether a value is a number that is not an int, as a float is."""
    if isinstance(value, decimal.Decimal):
        return value.is_finite() and value != value.to_integral_value()
    return isinstance(value, float | np.floating) and not math.isnan(value)


# A lookup table encodes integers with a smaller range; larger ranges need sorting.
MAX_TABLE_RANGE = 1 << 20


def read_array(array: NDArray[Any], names: object, options: ReadPlan) -> RawTable:
    """Read the columns of a 2-D array, or the fields of a structured array."""
    # The columns of a matrix are matrices again.
    table = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    if table.dtype.names is not None and table.ndim == 1:
        fields = list(table.dtype.names)
        column_names = fields if names is None else _parse_names(names, len(fields))
        values = [table[field] for field in fields]
        for field, cells in zip(fields, values, strict=True):
            if cells.ndim != 1:
                raise DataError(
                    f"The field {field!r} of the array has the shape {cells.shape[1:]} in each "
                    "row. Give one field for each value."
                )
    else:
        if array.ndim != 2:
            raise DataError(
                f"The array has the shape {array.shape}. Give one with two dimensions, rows "
                "and columns."
            )
        if names is None:
            raise ParameterError(
                "'names' of read_data must be given for a NumPy array: one name for each of "
                f"its {array.shape[1]:,} columns."
            )
        column_names = _parse_names(names, array.shape[1])
        values = list(table.T)
    column_names = options.opening.rename_columns(column_names)
    kept = options.select_columns(column_names)
    selected = [(column_names[i], values[i]) for i in kept]
    return collect_columns(selected, read_values, options)


def read_values(name: str, values: NDArray[Any], options: ReadPlan) -> Column:
    """Read one column from a 1-D array. Masked cells and nulls of strings are missing values."""
    nulls = _find_nulls(values)
    if nulls is not None:
        return insert_nulls(read_values(name, _drop_nulls(values, nulls), options), nulls)
    declared = options.states.get(name)
    kind = values.dtype.kind
    if kind in "iu":
        return Column(name, *_encode_integers(values), declared)
    if kind == "b":
        return Column(name, ["False", "True"], values.astype(np.uint8), declared)
    if kind == "f":
        distinct, codes = np.unique(values, return_inverse=True)
        return Column(name, NumberLabels(distinct), codes, declared, None if declared else 0)
    if kind in "UT":
        texts, codes = np.unique(values, return_inverse=True)
        return Column(name, [str(text) for text in texts], codes, declared)
    if kind == "O":
        return read_objects(name, values.tolist(), options)
    if kind == "M":
        return _read_moments(name, values, declared)
    if kind == "m":
        seconds = values / np.timedelta64(1, "s")
        is_whole = not np.isnan(seconds).any() and bool((seconds == np.floor(seconds)).all())
        return read_values(name, seconds.astype(np.int64) if is_whole else seconds, options)
    if options.wants_text(name):
        return read_objects(name, values.tolist(), options)
    raise make_unsupported_type_error(name, values.dtype)


def _find_nulls(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return which cells are masked, or are the null of their string type; None if none is."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values)
    if values.dtype.kind != "T" or not hasattr(values.dtype, "na_object"):
        return None
    null = values.dtype.na_object  # NaN, None, or a text
    cells = values.tolist()
    is_null = [not isinstance(cell, str) or cell == null for cell in cells]
    return np.array(is_null, dtype=np.bool_)


def _drop_nulls(values: NDArray[Any], nulls: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the cells that are no nulls, as a plain array."""
    present: NDArray[Any] = np.ma.getdata(values)[~nulls]
    return present.astype(np.dtypes.StringDType()) if present.dtype.kind == "T" else present


def insert_nulls(column: Column, nulls: NDArray[np.bool_]) -> Column:
    """Return a column with nulls inserted at these rows."""
    labels: Sequence[str | None] = [*column.labels, None]
    if isinstance(column.labels, NumberLabels):
        labels = NumberLabels(np.append(column.labels.numbers, np.nan))
    if not nulls.any():
        return column
    codes = np.full(len(nulls), len(column.labels))
    codes[~nulls] = column.codes
    return Column(column.name, labels, codes, column.declared, column.decimal)


def _read_moments(name: str, values: NDArray[Any], declared: tuple[str, ...] | None) -> Column:
    """Read dates, or dates with times if one of them is not midnight."""
    nulls = np.isnat(values)
    distinct, codes = np.unique(values[~nulls], return_inverse=True)
    unit = next(
        (
            unit
            for unit in ("D", "s", "ms", "us")
            if (distinct.astype(f"M8[{unit}]") == distinct).all()
        ),
        "ns",
    )
    texts = np.datetime_as_string(distinct.astype(f"M8[{unit}]")).tolist() if len(distinct) else []
    column = Column(name, texts, codes, declared)
    return insert_nulls(column, nulls) if nulls.any() else column


def _parse_names(names: object, n_columns: int) -> list[str]:
    if isinstance(names, str | bytes) or not isinstance(names, Sequence | np.ndarray):
        raise bad_parameter("names", "read_data", "a list of column names", names)
    if len(names) != n_columns:
        raise ParameterError(
            f"'names' of read_data must have one name for each of the {n_columns:,} columns; "
            f"got {len(names):,}."
        )
    return [str(name) for name in names]


def _encode_integers(values: NDArray[Any]) -> tuple[list[str | None], NDArray[np.integer]]:
    """Return the labels of integers, and the code of each integer."""
    if not len(values):
        return [], np.zeros(0, dtype=np.uint8)
    low, high = int(values.min()), int(values.max())
    if high - low < MAX_TABLE_RANGE and high < 1 << 63:
        offsets = values.astype(np.int64) - low
        occurs = np.bincount(offsets) > 0
        recode = np.cumsum(occurs, dtype=np.int32) - 1
        return [str(low + i) for i in np.flatnonzero(occurs).tolist()], recode[offsets]
    distinct, codes = np.unique(values, return_inverse=True)
    return [str(value) for value in distinct.tolist()], codes
