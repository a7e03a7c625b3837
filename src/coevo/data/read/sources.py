"""Open a source of any supported kind and return its raw columns.

Each kind of source has a reader module of its own. This module imports a reader when it needs it,
because narwhals takes longer to import than many tables take to read.
"""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coevo.data.columns import Column
from coevo.data.dataset import Dataset
from coevo.data.decisions import RawTable
from coevo.data.incomplete import IncompleteDataset
from coevo.data.read.arrays import read_array
from coevo.data.read.header_names import skip_units_row
from coevo.data.read.source_kinds import detect_kind, open_archive
from coevo.data.read_options import ReadPlan
from coevo.errors import FileError, ParameterError, describe_shortage, get_address_space
from coevo.files.files import ByteSource, open_input
from coevo.runtime.memory import limit_memory

__all__ = ["load_table", "make_raw_table"]

_ACCEPTED = (
    "the path of a table (CSV, Excel, Parquet, JSON and others), '-' for the standard input, a "
    "pandas or polars data frame, a PyArrow table, a 2-D NumPy array or a Dataset"
)
# The module and the function that read each kind of file.
_READERS = {
    "text": ("read.csv_reader", "read_csv"),
    "parquet": ("read.formats", "read_parquet"),
    "arrow": ("read.formats", "read_arrow"),
    "excel": ("read.excel", "read_excel"),
    "json": ("read.formats", "read_json"),
    "sqlite": ("read.sql", "read_sqlite"),
    "stata": ("read.formats", "read_stata"),
    "spss": ("read.formats", "read_spss"),
    "spss_portable": ("read.formats", "read_spss_portable"),
    "sas": ("read.formats", "read_sas"),
    "sas_transport": ("read.formats", "read_sas_transport"),
}


def load_table(source: Any, options: ReadPlan, names: Sequence[str] | None) -> RawTable:
    """Return the columns of a source, and what its reader decided."""
    if isinstance(source, RawTable):
        return source
    return skip_units_row(_load(source, options, names), options)


def _load(source: Any, options: ReadPlan, names: Sequence[str] | None) -> RawTable:
    """Return the columns of a source with all its rows."""
    if isinstance(source, np.ndarray):
        return read_array(source, names, options)
    if names is not None:
        raise ParameterError(
            "'names' of read_data is for NumPy arrays only; this table has column names already."
        )
    if options.opening.connection is not None:
        from coevo.data.read.sql import read_query

        return read_query(source, options)
    if isinstance(source, str | os.PathLike):
        return _read_file(Path(source), options)
    return _read_frame(source, options)


def make_raw_table(rows: Dataset | IncompleteDataset) -> RawTable:
    """Return the columns of a dataset, each with its declared states."""
    dataset = rows.dataset if isinstance(rows, IncompleteDataset) else rows.expand()
    columns = []
    for variable in dataset.source_variables:
        place = dataset.find_position(variable.name)
        missing = rows.missing[place] if isinstance(rows, IncompleteDataset) else None
        own = missing if missing is not None and missing.any() else None
        states = dataset.variables[place].states
        codes = dataset.codes[place]
        columns.append(Column(variable.name, states, codes, variable.states, missing=own))
    return RawTable(columns, clusters=dataset.clusters, has_rows=True)


def _read_frame(source: object, options: ReadPlan) -> RawTable:
    from coevo.data.read.frames import as_frame, read_frame

    frame = as_frame(source)
    if frame is None:
        raise _make_source_error(source)
    return read_frame(frame, options)


def _read_file(path: Path, options: ReadPlan) -> RawTable:
    if os.path.isdir(path) and any(path.glob("*.parquet")):
        raise FileError(
            f"{str(path)!r} is a folder of Parquet files. Learn from it in chunks with shards= "
            "(--shards DIR) or cluster= (--cluster), or give one of its files."
        )
    with open_input(path) as source:
        return _read_source(source, options)


def _read_source(source: ByteSource, options: ReadPlan, is_member: bool = False) -> RawTable:
    """Read an open file; `is_member` says that it is in a zip archive."""
    kind, decisions = detect_kind(source)
    if kind == "zip":
        file = source.path.open("rb") if source.is_file else io.BytesIO(source.read_all())
        with file:
            kind, name, stream = open_archive(source, file)
            if kind == "file":
                if is_member:
                    raise FileError(
                        f"{str(source.path)!r} is a zip archive inside another one. Unpack it."
                    )
                member = ByteSource(name, io.BufferedReader(stream), is_file=False)
                return _read_source(member, options, is_member=True)
            if not source.is_file:
                file.seek(0)
                source.unread(file.read())
    _check_opening(kind, options)
    module, function = _READERS[kind]
    read = getattr(importlib.import_module(f"coevo.data.{module}"), function)
    try:
        with limit_memory():
            table: RawTable = read(source, options)
    except MemoryError:
        if get_address_space() is not None:  # then the size of the file is not the cause
            raise FileError(describe_shortage(f"to read {str(source.path)!r}")) from None
        raise FileError(
            f"{str(source.path)!r} does not fit into memory: it expands to more than half of it. "
            "Save the table as Parquet and learn with shards= (--shards DIR)."
        ) from None
    return RawTable(table.columns, [*decisions, *table.decisions])


def _check_opening(kind: str, options: ReadPlan) -> None:
    """Raise `ParameterError` for an option that does not apply to this kind of file."""
    opening = options.opening
    if opening.query is not None and kind != "sqlite":
        raise ParameterError(
            "'query' of read_data needs an SQLite file; for another database give 'connection'."
        )
    if opening.sheet is not None and kind not in ("excel", "sqlite"):
        raise ParameterError("'sheet' of read_data needs a spreadsheet or an SQLite file.")


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
