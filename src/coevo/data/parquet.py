"""Read and write Parquet files with PyArrow.

The reader reads one column at a time, so that the text of the table is never in memory at once.
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
from coevo.errors import DataError, import_optional
from coevo.files import replace_file

__all__ = ["list_columns", "open_parquet", "read_parquet", "write_parquet"]

ROW_GROUP_ROWS = 1 << 20


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Yield the `ParquetFile` of a path; raise `DataError` if it is damaged."""
    parquet = import_optional("pyarrow.parquet", "PyArrow", "parquet")
    with _translate_errors(path), parquet.ParquetFile(path) as file:
        yield file


def list_columns(file: Any) -> list[str]:
    """Return the names of the columns, without the index of pandas."""
    schema = file.schema_arrow
    index = _find_pandas_index(schema)
    return [name for name in schema.names if name not in index]


def read_parquet(path: Path, options: ReadOptions) -> list[Column]:
    """Read the columns of a Parquet file."""
    with open_parquet(path) as file:
        names = list_columns(file)
        kept = [names[i] for i in options.select_columns(names)]
        columns = []
        for name in kept:
            table = nw.from_native(file.read(columns=[name]), eager_only=True)
            columns.append(read_series(name, table[name], options))
        return columns


def write_parquet(dataset: Dataset, path: Path) -> None:
    """Write the rows of a dataset as columns of categories."""
    parquet = import_optional("pyarrow.parquet", "PyArrow", "parquet")
    arrow = import_optional("pyarrow", "PyArrow", "parquet")
    columns = {}
    for variable in dataset.source_variables:
        position = dataset.find_position(variable.name)
        canonical = dataset.variables[position].states
        rank = {state: code for code, state in enumerate(variable.states)}
        recode = np.array([rank[state] for state in canonical], dtype=np.int32)
        codes = recode[dataset.codes[position]]
        if dataset.weights is not None:
            codes = np.repeat(codes, dataset.weights)
        columns[variable.name] = arrow.DictionaryArray.from_arrays(codes, list(variable.states))
    with replace_file(path) as stream:
        parquet.write_table(arrow.table(columns), stream, row_group_size=ROW_GROUP_ROWS)


def _find_pandas_index(schema: Any) -> frozenset[str]:
    """Return the names of the columns that store the index of a pandas frame."""
    try:
        index = json.loads(schema.metadata[b"pandas"])["index_columns"]
    except (KeyError, TypeError, ValueError):
        return frozenset()
    return frozenset(name for name in index if isinstance(name, str))


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise `DataError` in place of an error of PyArrow."""
    arrow = import_optional("pyarrow", "PyArrow", "parquet")
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"{str(path)!r} is not a Parquet file, or is damaged ({reason}). Write it again."
        ) from None
