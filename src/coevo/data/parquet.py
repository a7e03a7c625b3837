"""Read and write Parquet files with PyArrow; read Feather and Arrow files.

The reader of Parquet reads one column at a time, so that the text of the table is never in memory
at once.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw

from coevo.data.cell_values import collect_columns
from coevo.data.columns import Column
from coevo.data.dataset import Dataset
from coevo.data.decisions import RawTable
from coevo.data.frame_reader import as_frame, read_frame, read_series
from coevo.data.read_options import ReadPlan
from coevo.errors import CoevoError, DataError, import_optional
from coevo.files import ByteSource, replace_file
from coevo.memory import check_memory

__all__ = ["list_columns", "open_parquet", "read_arrow", "read_parquet", "write_parquet"]

ROW_GROUP_ROWS = 1 << 20
BYTES_PER_CELL = 4  # a code of two bytes, and a copy of it


@contextmanager
def open_parquet(path: Path, content: bytes | None = None) -> Iterator[Any]:
    """Yield the `ParquetFile` of a path; raise `DataError` if it is damaged.

    `content` has the bytes of the file, if the path does not have them.
    """
    parquet = import_optional("pyarrow.parquet", "PyArrow", "parquet")
    file = path if content is None else io.BytesIO(content)
    with _translate_errors(path), parquet.ParquetFile(file) as opened:
        yield opened


def list_columns(file: Any) -> list[str]:
    """Return the names of the columns, without the index of pandas."""
    schema = file.schema_arrow
    index = _find_pandas_index(schema)
    return [name for name in schema.names if name not in index]


def read_parquet(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read the columns of a Parquet file."""
    content = None if source.is_file else source.read_all()
    with open_parquet(source.path, content) as file:
        stored = list_columns(file)
        n_cells = file.metadata.num_rows * len(stored)  # a few bytes may stand for many equal rows
        check_memory(BYTES_PER_CELL * n_cells, "The table", "Learn with shards= (--shards DIR).")
        names = options.opening.rename_columns(stored)
        kept = [(names[i], (file, stored[i])) for i in options.select_columns(names)]
        return collect_columns(kept, _read_column, options)


def _read_column(name: str, place: tuple[Any, str], options: ReadPlan) -> Column:
    """Read the column that a file stores under a name."""
    file, stored = place
    native = file.read(columns=[stored])
    native.validate(full=True)  # a damaged file may have codes without a category
    n_rows = file.metadata.num_rows  # PyArrow does not compare it with a column that it reads alone
    if len(native) != n_rows:
        raise ValueError(f"column {name!r} has {len(native):,} of {n_rows:,} rows")
    table = nw.from_native(native, eager_only=True)
    return read_series(name, table[stored], options)


def read_arrow(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read the columns of a Feather file, or of a file or stream of Arrow."""
    feather = import_optional("pyarrow.feather", "PyArrow", "parquet")
    arrow = import_optional("pyarrow", "PyArrow", "parquet")
    is_stream = source.magic == b"\xff\xff\xff\xff"
    content = source.path if source.is_file else io.BytesIO(source.read_all())
    with _translate_errors(source.path, "a Feather or Arrow"):
        if is_stream:
            with arrow.ipc.open_stream(content) as reader:
                table = reader.read_all()
        else:
            table = feather.read_table(content)
        table.validate(full=True)  # wrong offsets of a damaged file would end the process
        index = _find_pandas_index(table.schema)
        table = table.drop_columns([name for name in table.schema.names if name in index])
        frame = as_frame(table)
        assert frame is not None
        return read_frame(frame, options)


def write_parquet(dataset: Dataset, path: Path) -> None:
    """Write the rows of a dataset as columns of categories."""
    parquet = import_optional("pyarrow.parquet", "PyArrow", "parquet")
    arrow = import_optional("pyarrow", "PyArrow", "parquet")
    n_cells = dataset.n_rows * dataset.n_variables
    check_memory(2 * BYTES_PER_CELL * n_cells, "The table as Parquet", "Write it as CSV.")
    columns = {
        variable.name: arrow.DictionaryArray.from_arrays(codes, list(variable.states))
        for variable, codes in dataset.iterate_columns()
    }
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
def _translate_errors(path: Path, kind: str = "a Parquet") -> Iterator[None]:
    """Raise `DataError` in place of an error of PyArrow."""
    arrow = import_optional("pyarrow", "PyArrow", "parquet")
    try:
        yield
    except (CoevoError, MemoryError):
        raise
    except (arrow.ArrowException, OSError, ValueError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise DataError(
            f"{str(path)!r} is not {kind} file, or is damaged ({reason}). Write it again."
        ) from None
