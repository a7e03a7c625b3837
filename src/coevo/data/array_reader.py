"""Read NumPy arrays and Python objects as columns of codes.

The reader of data frames also calls `read_values`, for columns of numbers without nulls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column, make_unsupported_type_error
from coevo.data.number_labels import NumberLabels
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError, ParameterError, bad_parameter

__all__ = ["read_array", "read_objects", "read_values"]

# A lookup table encodes integers with a smaller range; larger ranges need sorting.
MAX_TABLE_RANGE = 1 << 20


def read_array(array: NDArray[Any], names: object, options: ReadOptions) -> list[Column]:
    """Read the columns of a 2-D array, or the fields of a structured array."""
    if array.dtype.names is not None and array.ndim == 1:
        fields = list(array.dtype.names)
        column_names = fields if names is None else _parse_names(names, len(fields))
        values = [array[field] for field in fields]
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
        values = list(array.T)
    kept = options.select_columns(column_names)
    return [read_values(column_names[i], values[i], options) for i in kept]


def read_values(name: str, values: NDArray[Any], options: ReadOptions) -> Column:
    """Read one column from a 1-D array."""
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
        return read_objects(name, values.tolist(), declared)
    raise make_unsupported_type_error(name, values.dtype)


def read_objects(name: str, values: list[Any], declared: tuple[str, ...] | None) -> Column:
    """Read one column from Python objects: text, numbers, booleans and nulls."""
    decimal = None
    if set(map(type, values)) - {str}:
        texts = [_format_value(name, value) for value in values]
        decimal = next((t for t, v in zip(texts, values, strict=True) if _is_decimal(v)), None)
    else:
        texts = values
    labels = list(dict.fromkeys(texts))
    code_of = {label: code for code, label in enumerate(labels)}
    codes = np.fromiter(map(code_of.__getitem__, texts), dtype=np.int64, count=len(texts))
    return Column(name, labels, codes, declared, None if decimal is None else code_of[decimal])


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


def _format_value(name: str, value: Any) -> str | None:
    """Return the label of an object, or None for a null."""
    if isinstance(value, str | bool | int | np.integer | np.bool_):
        return str(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else str(value)
    raise make_unsupported_type_error(name, type(value).__name__)


def _is_decimal(value: Any) -> bool:
    return isinstance(value, float | np.floating) and not math.isnan(value)
