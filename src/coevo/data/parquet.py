"""Parquet files, through PyArrow.

Columns are read one at a time, so that a table never stands in memory as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from coevo.data.columns import Column
from coevo.data.dataset import Dataset
from coevo.data.frame_reader import read_series
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError, require
from coevo.files import replacing

__all__ = ["column_names", "open_parquet", "read_parquet", "write_parquet"]

ROW_GROUP = 1 << 20


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Yield the `ParquetFile` of a path; what is wrong with it is said in one sentence."""
    parquet = require("pyarrow.parquet", "PyArrow", "parquet")
    with _said_clearly(path), parquet.ParquetFile(path) as file:
        yield file


def column_names(file: Any) -> list[str]:
    """Return the columns that are data."""
    schema = file.schema_arrow
    index = _pandas_index(schema)
    return [name for name in schema.names if name not in index]


def read_parquet(path: Path, request: ReadOptions) -> list[Column]:
    """Read the columns of a Parquet file."""
    with open_parquet(path) as file:
        names = column_names(file)
        kept = [names[i] for i in request.kept(names)]
        columns = []
        for name in kept:
            table = nw.from_native(file.read(columns=[name]), eager_only=True)
            columns.append(read_series(name, table[name], request))
        return columns


def write_parquet(dataset: Dataset, path: Path) -> None:
    """Write the rows of a dataset as columns of categories."""
    parquet = require("pyarrow.parquet", "PyArrow", "parquet")
    arrow = require("pyarrow", "PyArrow", "parquet")
    columns = {}
    for variable in dataset.source_variables:
        position = dataset.position(variable.name)
        canonical = dataset.variables[position].states
        rank = {state: code for code, state in enumerate(variable.states)}
        recode = np.array([rank[state] for state in canonical], dtype=np.int32)
        codes = recode[dataset.codes[position]]
        if dataset.weights is not None:
            codes = np.repeat(codes, dataset.weights)
        columns[variable.name] = arrow.DictionaryArray.from_arrays(codes, list(variable.states))
    with replacing(path) as stream:
        parquet.write_table(arrow.table(columns), stream, row_group_size=ROW_GROUP)


def _pandas_index(schema: Any) -> frozenset[str]:
    """Return the columns in which pandas keeps the index of a frame; they are not data."""
    try:
        index = json.loads(schema.metadata[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):
        return frozenset()
    return frozenset(name for name in index if isinstance(name, str))


@contextmanager
def _said_clearly(path: Path) -> Iterator[None]:
    """Turn an error of PyArrow about a file into a sentence."""
    arrow = require("pyarrow", "PyArrow", "parquet")
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"{str(path)!r} is not a Parquet file, or is damaged ({reason}). Write it again."
        ) from None
