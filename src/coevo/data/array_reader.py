"""Read NumPy arrays as columns of codes.

The reader of data frames also calls `read_values`, for columns of numbers without nulls. Dates
and times become text in the form of ISO 8601, durations become seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.cell_values import collect_columns, read_objects
from coevo.data.columns import Column, make_unsupported_type_error
from coevo.data.decisions import RawTable
from coevo.data.number_labels import NumberLabels
from coevo.data.read_options import ReadPlan
from coevo.errors import DataError, ParameterError, bad_parameter

__all__ = ["insert_nulls", "read_array", "read_values"]

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
