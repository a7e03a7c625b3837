"""Tables of features, as scikit-learn passes them: data frames, arrays, lists of rows.

`open_features` finds the names of the columns. An array has none; its columns are called x0, x1
and so on. `FeatureTable.align` gives the columns of a new table the names of the training table,
where one of the two has no names of its own. `FeatureTable.add_labels` adds a column of text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, IncompleteDataset, read_data
from coevo.errors import DataError, ParameterError, warn_caller

__all__ = ["FeatureTable", "open_features"]


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """A table that `read_data` accepts.

    Attributes
    ----------
    table : Any
        The table.
    names : tuple of str, optional
        The names of its columns; None if the source must be read to find them (a path, a Dataset).
    has_names : bool
        Whether the names are those of the source.
    n_rows : int, optional
        Number of rows; None if the source must be read to find it.
    """

    table: Any
    names: tuple[str, ...] | None = None
    has_names: bool = True
    n_rows: int | None = None

    @property
    def array_names(self) -> list[str] | None:
        """The names to pass to `read_data`: those of an array without names."""
        is_plain = isinstance(self.table, np.ndarray) and self.table.dtype.names is None
        return list(self.names or ()) if is_plain else None

    def align(self, expected: Sequence[str], has_names: bool, owner: str) -> FeatureTable:
        """Return the table with the names of the training table, if one of them has no names.

        `expected` are the names of the training table. If both tables have names of their own, the
        names say which column is which.
        """
        if self.names is None or (self.has_names and has_names):
            return self
        if len(self.names) != len(expected):
            raise ParameterError(
                f"X has {len(self.names):,} features, but {owner} is expecting "
                f"{len(expected):,} features as input."
            )
        if has_names:
            warn_caller(
                f"X does not have valid feature names, but {owner} was fitted with feature names; "
                "the columns are taken in the order of the training data."
            )
        elif self.has_names:
            warn_caller(
                f"X has feature names, but {owner} was fitted without feature names; the columns "
                "are taken in the order of the training data."
            )
        return self._rename(tuple(expected))

    def _rename(self, names: tuple[str, ...]) -> FeatureTable:
        """Return the table with other names, in the order of the columns."""
        if self.array_names is not None:
            return replace(self, names=names)
        if isinstance(self.table, np.ndarray):
            fields = [(new, self.table.dtype[i]) for i, new in enumerate(names)]
            return replace(self, names=names, table=self.table.astype(fields))
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        renamed = frame.rename(dict(zip(frame.columns, names, strict=True)))
        return replace(self, names=names, table=renamed.to_native())

    def select(self, rows: NDArray[np.intp]) -> FeatureTable:
        """Return some of the rows."""
        if isinstance(self.table, np.ndarray):
            return replace(self, table=self.table[rows], n_rows=len(rows))
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        return replace(self, table=frame[rows].to_native(), n_rows=len(rows))

    def list_columns(self) -> list[Any]:
        """Return the cells of each column, sorted by name."""
        names = list(self.names or ())
        places = sorted(range(len(names)), key=lambda place: names[place])
        if isinstance(self.table, np.ndarray):
            fields = self.table.dtype.names
            return [self.table[fields[i]] if fields else self.table[:, i] for i in places]
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        return [frame[frame.columns[i]].to_list() for i in places]

    def add_labels(self, name: str, labels: NDArray[np.str_]) -> Any:
        """Return a table with a further column of text."""
        if isinstance(self.table, np.ndarray):
            columns = self.table if self.table.dtype.names is not None else self.table.T
            old = self.table.dtype.names or range(len(columns))
            names = list(self.names or ())
            fields = [(new, columns[i].dtype) for new, i in zip(names, old, strict=True)]
            is_masked = isinstance(self.table, np.ma.MaskedArray)
            make_empty: Any = np.ma.empty if is_masked else np.empty
            joined = make_empty(len(labels), dtype=[*fields, (name, labels.dtype)])
            for new, i in zip(names, old, strict=True):
                joined[new] = columns[i]
            joined[name] = labels
            return joined
        import narwhals as nw

        frame = nw.from_native(self.table, eager_only=True)
        backend = nw.get_native_namespace(frame)
        column = nw.new_series(name, labels.tolist(), nw.String(), backend=backend)
        if hasattr(self.table, "index"):  # pandas would align the rows by their labels
            column = nw.maybe_set_index(column, index=nw.maybe_get_index(frame))
        return frame.with_columns(column).to_native()


def open_features(table: Any, owner: str, min_features: int = 1) -> FeatureTable:
    """Return a table with the names of its columns; raise `DataError` if it has none.

    >>> open_features([[1, 2], [3, 4]], "fit").names
    ('x0', 'x1')
    """
    from coevo.data.frame_reader import as_frame

    if isinstance(table, str | os.PathLike | Dataset | IncompleteDataset):
        return FeatureTable(table)
    if isinstance(table, list | tuple):
        array = _stack_rows(table)
    elif isinstance(table, np.ndarray):
        array = table
    elif (frame := as_frame(table)) is not None:
        found = FeatureTable(table, tuple(map(str, frame.columns)), n_rows=len(frame))
        _check_shape((len(frame), len(frame.columns)), min_features)
        return found
    elif hasattr(table, "__array__") and not hasattr(table, "to_frame"):
        array = np.asarray(table)
    else:
        read_data(table)  # raises, and says how to convert it
    return _open_array(array, min_features)


def _stack_rows(rows: Sequence[Any]) -> NDArray[Any]:
    try:
        return np.asarray(rows)
    except ValueError:
        raise DataError(
            "The rows of X have different lengths. Give each row the same number of values."
        ) from None


def _open_array(given: NDArray[Any], min_features: int) -> FeatureTable:
    array = given if isinstance(given, np.ma.MaskedArray) else np.asarray(given)  # no matrix
    if array.dtype.names is not None:
        return FeatureTable(array, tuple(array.dtype.names), n_rows=len(array))
    if array.dtype.kind == "c":
        raise DataError(
            "Complex data not supported. Give the real and the imaginary parts as two columns."
        )
    if array.ndim != 2:
        raise DataError(
            f"Expected 2D array, got an array of the shape {array.shape}. Reshape your data to "
            "rows and columns."
        )
    _check_shape(array.shape, min_features)
    names = tuple(f"x{i}" for i in range(array.shape[1]))
    return FeatureTable(array, names, has_names=False, n_rows=len(array))


def _check_shape(shape: tuple[int, ...], min_features: int) -> None:
    n_rows, n_columns = shape
    if n_columns < min_features:
        raise DataError(
            f"X has {n_columns} feature(s) (shape={shape}) while a minimum of {min_features} is "
            "required."
        )
    if not n_rows:
        raise DataError(f"X has 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
