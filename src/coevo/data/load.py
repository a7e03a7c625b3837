"""Open a source of any supported kind and return its raw columns.

Each kind of source has a reader module of its own. This module imports a reader when it needs it,
because numba and narwhals take longer to import than many tables take to read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coevo.data.array_reader import read_array
from coevo.data.decisions import RawTable
from coevo.data.read_options import ReadOptions
from coevo.errors import FileError, ParameterError
from coevo.files import open_source

__all__ = ["load_table"]

_ACCEPTED = (
    "the path of a CSV or Parquet file, a pandas or polars data frame, a PyArrow table, "
    "a 2-D NumPy array or a Dataset"
)


def load_table(source: Any, options: ReadOptions, names: Sequence[str] | None) -> RawTable:
    """Return the columns of a source, and what its reader decided."""
    if isinstance(source, np.ndarray):
        return RawTable(read_array(source, names, options))
    if names is not None:
        raise ParameterError(
            "'names' of read_data is for NumPy arrays only; this table has column names already."
        )
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source), options)
    return _read_frame(source, options)


def _read_frame(source: object, options: ReadOptions) -> RawTable:
    from coevo.data.frame_reader import as_frame, read_frame

    frame = as_frame(source)
    if frame is None:
        raise _make_source_error(source)
    return RawTable(read_frame(frame, options))


def _read_file(path: Path, options: ReadOptions) -> RawTable:
    if os.path.isdir(path) and any(path.glob("*.parquet")):
        raise FileError(
            f"{str(path)!r} is a folder of Parquet files. Learn from it in chunks with shards= "
            "(--shards DIR) or cluster= (--cluster), or give one of its files."
        )
    with open_source(path) as source:
        if not source.is_parquet:
            from coevo.data.csv_reader import read_csv

            return RawTable(read_csv(source, options))
    from coevo.data.parquet import read_parquet

    return RawTable(read_parquet(path, options))


def _make_source_error(source: object) -> ParameterError:
    """Return the error for an object that is not a table, with the way out if there is one."""
    kind = type(source)
    got = f"{kind.__module__.split('.')[0]}.{kind.__name__}"
    got = kind.__name__ if kind.__module__ == "builtins" else got
    hint = ""
    if hasattr(source, "collect"):
        hint = " Call .collect() on it first."
    elif hasattr(source, "to_delayed"):  # a Dask frame
        hint = " Learn from it with shards= or cluster=, or call .compute() on it first."
    elif hasattr(source, "toarray"):
        hint = " Sparse tables are not supported. Call .toarray() on it first."
    elif kind.__name__ == "Series":
        hint = " A network needs at least two columns."
    elif isinstance(source, list | tuple | dict):
        hint = " Convert it to a data frame first."
    return ParameterError(f"'source' of read_data must be {_ACCEPTED}; got a {got}.{hint}")
