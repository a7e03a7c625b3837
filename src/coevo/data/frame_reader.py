"""Data frames as columns of codes: pandas, polars and Arrow.

narwhals says what a column is; its own library turns text into codes, because each has a
fast way of its own and none that the others share. No cell becomes a Python object unless
the frame already holds it as one. The frame is only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from coevo.data.array_reader import read_objects, read_values
from coevo.data.columns import Column, refuse_type
from coevo.data.number_labels import NumberLabels
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError, first_repeated

__all__ = ["as_frame", "read_frame"]

Coded = tuple[list[str | None], NDArray[np.integer]]  # labels, and a code for each row


def as_frame(source: object) -> nw.DataFrame[Any] | None:
    """Return a data frame as narwhals sees it, or None if it is not one."""
    try:
        return nw.from_native(source, eager_only=True)
    except DuplicateError:
        twice = first_repeated(str(name) for name in _native_names(source))
        raise DataError(f"Two columns are called {twice!r}. Rename one of them.") from None
    except TypeError:
        return None


def read_frame(frame: nw.DataFrame[Any], request: ReadOptions) -> list[Column]:
    """Read the columns of a data frame."""
    names = [str(name) for name in frame.columns]
    kept = set(request.kept(names))
    return [
        read_series(name, series, request)
        for i, (name, series) in enumerate(zip(names, frame.iter_columns(), strict=True))
        if i in kept
    ]


def read_series(name: str, series: nw.Series[Any], request: ReadOptions) -> Column:
    """Read one column of a data frame."""
    declared = request.states.get(name)
    native, kind = series.to_native(), series.dtype
    if not len(series):
        return Column(name, [], np.zeros(0, dtype=np.uint8))  # of no particular type
    if str(getattr(native, "dtype", "")) == "object":  # pandas; narwhals looks inside it
        inside = nw.get_native_namespace(series).api.types.infer_dtype(native, skipna=False)
        if inside == "string":
            return Column(name, *_coded_text(series), declared)
        return read_objects(name, native.tolist(), declared)
    if kind in (nw.Categorical, nw.Enum) and _has_own_categories(series):
        labels, codes = _coded_categories(series)
        states = tuple(label for label in labels if label is not None)
        return Column(name, labels, codes, declared or states)
    if kind in (nw.String, nw.Categorical):
        return Column(name, *_coded_text(series.cast(nw.String)), declared)
    nulls = series.is_null()
    if nulls.any() and not request.keeps_missing:  # refused, whatever else it holds
        return Column(name, ["present", None], nulls.to_numpy().astype(np.uint8))
    if not (kind == nw.Boolean or kind.is_integer() or kind.is_float()):
        raise refuse_type(name, kind)
    if not nulls.any():
        return read_values(name, series.to_numpy(), request)
    present = read_values(name, series.drop_nulls().to_numpy(), request)
    return _among_nulls(present, nulls.to_numpy())


def _among_nulls(column: Column, nulls: NDArray[np.bool_]) -> Column:
    """Return a column with the nulls put back that it was read without."""
    labels: Sequence[str | None] = [*column.labels, None]
    if isinstance(column.labels, NumberLabels):
        labels = NumberLabels(np.append(column.labels.numbers, np.nan))
    codes = np.full(len(nulls), len(column.labels))
    codes[~nulls] = column.codes
    return Column(column.name, labels, codes, column.declared, column.decimal)


def _has_own_categories(series: nw.Series[Any]) -> bool:
    """Return whether the categories are those of this column alone.

    In polars a Categorical shares its categories with other columns, so that they do not
    declare anything; an Enum does.
    """
    return series.dtype == nw.Enum or not series.implementation.is_polars()


def _coded_categories(series: nw.Series[Any]) -> Coded:
    native = series.to_native()
    if isinstance(series.dtype, nw.Enum) and series.implementation.is_polars():
        labels = list(series.dtype.categories)
        codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
    elif series.implementation.is_pyarrow():
        return _coded_dictionary(native)
    elif hasattr(native.dtype, "pyarrow_dtype"):  # of which pandas makes no categories, if null
        return _coded_dictionary(native.array.__arrow_array__())
    else:
        labels = native.cat.categories.tolist()
        codes = native.cat.codes.to_numpy()
    return _with_null(labels, codes)


def _coded_text(series: nw.Series[Any]) -> Coded:
    native = series.to_native()
    if series.implementation.is_polars():
        labels = native.drop_nulls().unique().to_list()
        physical = series.cast(nw.Enum(labels)).to_native().to_physical()
        return _with_null(labels, physical.cast(int).fill_null(-1).to_numpy())
    if series.implementation.is_pyarrow():
        return _coded_dictionary(native.dictionary_encode())
    codes, labels = native.factorize()
    return _with_null(labels.tolist(), codes)


def _coded_dictionary(native: Any) -> Coded:
    """Return the dictionary and the indices of an Arrow column, which may be in pieces."""
    chunks = native.unify_dictionaries().chunks
    if not chunks:
        return [], np.zeros(0, dtype=np.uint8)
    indices = [chunk.indices.cast("int64").fill_null(-1).to_numpy() for chunk in chunks]
    return _with_null(chunks[0].dictionary.to_pylist(), np.concatenate(indices))


def _with_null(values: Sequence[Any], codes: NDArray[np.integer]) -> Coded:
    """Return values as labels, with a last one for the code -1 if that occurs."""
    labels = [None if value is None else str(value) for value in values]
    null = codes < 0
    if null.any():
        return [*labels, None], np.where(null, len(labels), codes).astype(np.int64)
    return labels, codes


def _native_names(source: Any) -> list[Any]:
    """Return the names of a frame that narwhals refuses."""
    names = getattr(source, "column_names", None)
    return list(source.columns if names is None else names)
