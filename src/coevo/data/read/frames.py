"""Read data frames of pandas, polars and Arrow as columns of codes.

narwhals determines the type of a column. The native library turns text into codes, because each
library has its own fast way. No cell becomes a Python object, unless it is one in the frame. The
reader does not change the frame. A column of lists or of bytes is left out, with a decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from coevo.data.columns import Column, make_unsupported_type_error
from coevo.data.decisions import RawTable
from coevo.data.read.arrays import (
    collect_columns,
    insert_nulls,
    read_cells,
    read_objects,
    read_values,
)
from coevo.data.read.header_names import clean_names, drop_unnamed
from coevo.data.read_options import ReadPlan
from coevo.errors import DataError, find_duplicate

__all__ = ["as_frame", "read_frame", "read_series"]

CodedLabels = tuple[list[str | None], NDArray[np.integer]]  # labels, and a code for each row


def as_frame(source: object) -> nw.DataFrame[Any] | None:
    """Return the narwhals frame of a data frame, or None if the object is not a data frame."""
    try:
        return nw.from_native(source, eager_only=True)
    except DuplicateError:
        twice = find_duplicate(str(name) for name in _list_native_names(source))
        raise DataError(f"Two columns are called {twice!r}. Rename one of them.") from None
    except TypeError:
        return None


def read_frame(frame: nw.DataFrame[Any], options: ReadPlan) -> RawTable:
    """Read the columns of a data frame."""
    names = options.opening.rename_columns([str(name) for name in frame.columns])
    kept = set(options.select_columns(names))
    selected = [
        (name, series)
        for i, (name, series) in enumerate(zip(names, frame.iter_columns(), strict=True))
        if i in kept
    ]
    table = collect_columns(selected, read_series, options)
    unnamed = replace(clean_names(names), names=names, decisions=table.decisions)
    return drop_unnamed(table.columns, unnamed, options)


def read_series(name: str, series: nw.Series[Any], options: ReadPlan) -> Column:
    """Read one column of a data frame."""
    declared = options.states.get(name)
    native, kind = series.to_native(), series.dtype
    if not len(series):
        return Column(name, [], np.zeros(0, dtype=np.uint8))  # the type does not matter
    if str(getattr(native, "dtype", "")) == "object":  # pandas; narwhals would infer another type
        value_type = nw.get_native_namespace(series).api.types.infer_dtype(native, skipna=False)
        if value_type == "string":
            return Column(name, *_encode_text(series), declared)
        return read_objects(name, native.tolist(), options)
    if kind in (nw.Categorical, nw.Enum) and _has_own_categories(series):
        labels, codes = _encode_categories(series)
        states = tuple(label for label in labels if label is not None)
        return Column(name, labels, codes, declared or states)
    if kind in (nw.String, nw.Categorical):
        return Column(name, *_encode_text(series.cast(nw.String)), declared)
    if isinstance(kind, nw.Datetime) and kind.time_zone is not None:
        series = _take_wall_clock(series)
    nulls = series.is_null()
    if nulls.any() and not options.keeps_missing:  # a later check rejects the nulls
        return Column(name, ["present", None], nulls.to_numpy().astype(np.uint8))
    if kind.is_decimal() or kind == nw.Time:
        return read_objects(name, series.to_list(), options)
    if kind in (nw.Int128, nw.UInt128):  # NumPy has no such type
        return read_cells(name, series.to_list(), options)
    if not (kind == nw.Boolean or kind.is_numeric() or kind.is_temporal()):
        if options.wants_text(name):
            return read_objects(name, series.to_list(), options)
        raise make_unsupported_type_error(name, kind)
    if not nulls.any():
        return read_values(name, series.to_numpy(), options)
    present = read_values(name, series.drop_nulls().to_numpy(), options)
    return insert_nulls(present, nulls.to_numpy())


def _take_wall_clock(series: nw.Series[Any]) -> nw.Series[Any]:
    """Return moments as a clock in their time zone shows them, without the zone.

    A text table holds them so, and the hour and the day of a person are those of the clock.
    """
    native = series.to_native()
    if hasattr(
        getattr(native, "dtype", None), "pyarrow_dtype"
    ):  # before 3, pandas takes that of UTC
        from pyarrow import compute

        local = compute.local_timestamp(native.array.__arrow_array__())
        return nw.from_native(local, series_only=True)
    return series.dt.replace_time_zone(None)


def _has_own_categories(series: nw.Series[Any]) -> bool:
    """Return whether the categories belong to this column only, and so declare its states.

    In polars an Enum declares its categories; a Categorical shares them with other columns.
    """
    return series.dtype == nw.Enum or not series.implementation.is_polars()


def _encode_categories(series: nw.Series[Any]) -> CodedLabels:
    native = series.to_native()
    if isinstance(series.dtype, nw.Enum) and series.implementation.is_polars():
        labels = list(series.dtype.categories)
        codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
    elif series.implementation.is_pyarrow():
        return _encode_dictionary(native)
    elif hasattr(
        native.dtype, "pyarrow_dtype"
    ):  # pandas has no categories for it if there are nulls
        return _encode_dictionary(native.array.__arrow_array__())
    else:
        labels = native.cat.categories.tolist()
        codes = native.cat.codes.to_numpy()
    return _label_nulls(labels, codes)


def _encode_text(series: nw.Series[Any]) -> CodedLabels:
    native = series.to_native()
    if series.implementation.is_polars():
        labels = native.drop_nulls().unique().to_list()
        physical = series.cast(nw.Enum(labels)).to_native().to_physical()
        return _label_nulls(labels, physical.cast(int).fill_null(-1).to_numpy())
    if series.implementation.is_pyarrow():
        return _encode_dictionary(native.dictionary_encode())
    codes, labels = native.factorize()
    return _label_nulls(labels.tolist(), codes)


def _encode_dictionary(native: Any) -> CodedLabels:
    """Return the dictionary and the indices of an Arrow column, which can have several chunks."""
    chunks = native.unify_dictionaries().chunks
    if not chunks:
        return [], np.zeros(0, dtype=np.uint8)
    indices = [chunk.indices.cast("int64").fill_null(-1).to_numpy() for chunk in chunks]
    return _label_nulls(chunks[0].dictionary.to_pylist(), np.concatenate(indices))


def _label_nulls(values: Sequence[Any], codes: NDArray[np.integer]) -> CodedLabels:
    """Return values as labels; if the code -1 occurs, it gets an additional label, None."""
    labels = [None if value is None else str(value) for value in values]
    null = codes < 0
    if null.any():
        return [*labels, None], np.where(null, len(labels), codes).astype(np.int64)
    return labels, codes


def _list_native_names(source: Any) -> list[Any]:
    """Return the column names of a frame that narwhals rejects."""
    names = getattr(source, "column_names", None)
    return list(source.columns if names is None else names)
