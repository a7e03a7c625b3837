"""Read files of other programs: JSON, Parquet and Arrow, Stata, SPSS and SAS.

Read JSON files: lines of records, a list of records or of rows, or an object of columns.

A record is an object without objects inside; a key that it lacks is a missing value. A column of
lists or of objects is left out, with a decision.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw

from coevo.data.columns import Column, make_unsupported_type_error
from coevo.data.dataset import Dataset
from coevo.data.decisions import Decision, RawTable
from coevo.data.read.arrays import collect_columns, read_cells
from coevo.data.read.csv_layout import convert_to_utf8
from coevo.data.read.frames import as_frame, read_frame, read_series
from coevo.data.read.header_names import clean_names, drop_unnamed
from coevo.data.read_options import ReadPlan
from coevo.errors import CoevoError, DataError, format_count, format_list, import_optional
from coevo.files.files import ByteSource, load_json, replace_file
from coevo.runtime.memory import check_memory

__all__ = [
    "list_columns",
    "open_parquet",
    "read_arrow",
    "read_json",
    "read_parquet",
    "read_sas",
    "read_sas_transport",
    "read_spss",
    "read_spss_portable",
    "read_stata",
    "write_parquet",
]

MIN_CELLS = 1_000_000  # a table of any shape may have so many
MAX_RATIO = 100  # cells for each value in a file


def read_json(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a table from JSON lines, or from one JSON value."""
    decoder = convert_to_utf8(source, options.opening.encoding)
    data = source.read_all()
    if b"\0" in data:
        raise _make_shape_error(source.path)
    text = decoder.decode(data, "The text")
    names, columns = _find_columns(_parse(text, source.path), source.path)
    clean = clean_names(names, options.opening)
    selected = [(clean.names[i], columns[i]) for i in clean.select(options)]
    table = collect_columns(selected, _read_json_column, options)
    found = drop_unnamed(table.columns, clean, options)
    decisions = [*decoder.decisions, *found.decisions, *table.decisions]
    return RawTable(found.columns, decisions)


def _parse(text: str, path: Path) -> Any:
    """Return the JSON value of a text; JSON lines are a list."""
    try:
        return load_json(text)
    except json.JSONDecodeError:
        pass
    except ValueError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}.") from None
    values = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values.append(load_json(line))
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise DataError(
                f"Line {number:,} of {str(path)!r} is not JSON: {reason}. Correct the line, or "
                "write the file again."
            ) from None
    return values


def _find_columns(value: Any, path: Path) -> tuple[list[str], list[list[Any]]]:
    """Return names and values of the columns of a JSON value."""
    if isinstance(value, dict):
        is_record = not any(isinstance(column, list | dict) for column in value.values())
        is_nested = bool(value) and all(isinstance(column, dict) for column in value.values())
        value = [value] if is_record else _find_rows(value) if not is_nested else _turn(value, path)
    if isinstance(value, dict):
        lengths = {len(column) for column in value.values()}
        if len(lengths) == 1:
            return list(value), list(value.values())
    elif isinstance(value, list) and value:
        if all(isinstance(record, dict) for record in value):
            names = list(dict.fromkeys(name for record in value for name in record))
            _check_keys(path, len(names), value)
            return names, [[record.get(name) for record in value] for name in names]
        is_table = all(isinstance(row, list) and len(row) == len(value[0]) for row in value)
        if is_table and all(isinstance(name, str) for name in value[0]):
            rows = value[1:]
            return value[0], [[row[i] for row in rows] for i in range(len(value[0]))]
    raise _make_shape_error(path)


def _find_rows(value: dict[str, Any]) -> Any:
    """Return the columns of an object of lists, or the only list of records inside it."""
    if all(isinstance(column, list) for column in value.values()) and len(value) > 1:
        return value
    lists = [column for column in value.values() if isinstance(column, list)]
    return lists[0] if len(lists) == 1 else None


def _check_keys(path: Path, n_keys: int, objects: Sequence[Mapping[str, Any]]) -> None:
    """Raise `DataError` if nearly all cells of a table would be missing.

    Objects that share no keys make a table with the square of their number.
    """
    n_cells, n_given = n_keys * len(objects), sum(map(len, objects))
    if n_cells > max(MIN_CELLS, MAX_RATIO * n_given):
        raise DataError(
            f"{str(path)!r} has {len(objects):,} objects with {n_keys:,} different keys, and most "
            "objects lack most keys. Give each object the same keys."
        )


def _turn(value: dict[str, dict[str, Any]], path: Path) -> dict[str, list[Any]]:
    """Return the columns of objects with a key for each row, as pandas writes them."""
    keys = list(dict.fromkeys(key for column in value.values() for key in column))
    _check_keys(path, len(keys), list(value.values()))
    return {name: [column.get(key) for key in keys] for name, column in value.items()}


def _make_shape_error(path: Path) -> DataError:
    return DataError(
        f"{str(path)!r} is not a table in JSON. It needs one object with the values of a row on "
        "each line, or a list of such objects."
    )


def _read_json_column(name: str, values: list[Any], options: ReadPlan) -> Column:
    for value in () if options.wants_text(name) else values:
        if isinstance(value, list | dict):
            kind = "list" if isinstance(value, list) else "object"
            raise make_unsupported_type_error(name, kind)
    return read_cells(name, values, options)


# Read and write Parquet files with PyArrow; read Feather and Arrow files.
#
# The reader of Parquet reads one column at a time, so that the text of the table is never in
# memory at once.


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
        return collect_columns(kept, _read_arrow_column, options)


def _read_arrow_column(name: str, place: tuple[Any, str], options: ReadPlan) -> Column:
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


# Read files of Stata, SPSS and SAS with pyreadstat.
#
# If each observed value of a column has a value label, these labels are its states, in the order
# of the values. ``value_labels=False`` keeps the values. Values that the file declares as missing
# are missing.


ValueLabels = dict[Any, str]
_CELLS_PER_BYTE = 1000  # no compressed file has more
_BYTES_PER_TYPE = 2  # what a column of a Stata file takes at least
_STATA_119 = re.compile(
    rb"<stata_dta><header><release>119</release><byteorder>(?P<order>LSF|MSF)</byteorder>"
    rb"<K>(?P<n>.{4})</K>",
    re.DOTALL,
)


def read_stata(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a Stata file."""
    return _read(source, options, "read_dta", "a Stata file")


def read_spss(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read an SPSS file."""
    return _read(source, options, "read_sav", "an SPSS file")


def read_spss_portable(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a portable SPSS file."""
    return _read(source, options, "read_por", "an SPSS file")


def read_sas(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a SAS file."""
    return _read(source, options, "read_sas7bdat", "a SAS file")


def read_sas_transport(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a SAS transport file."""
    return _read(source, options, "read_xport", "a SAS file")


def _read(source: ByteSource, options: ReadPlan, function: str, title: str) -> RawTable:
    library = import_optional("pyreadstat", "pyreadstat", "stats")
    read: Callable[..., Any] = getattr(library, function)
    content = source.read_all()
    parameters: dict[str, Any] = {"output_format": "dict"}
    if options.opening.encoding is not None:
        parameters["encoding"] = options.opening.encoding
    try:
        _check_stata_header(content)
        _, metadata = read(io.BytesIO(content), metadataonly=True, **parameters)
        _check_size(metadata, len(content))
        values, metadata = read(io.BytesIO(content), **parameters)
    except CoevoError:
        raise
    except Exception as error:  # of pyreadstat, which has no base class for all
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(
            f"{str(source.path)!r} is not {title}, or is damaged ({reason}). Write it again, or "
            "save its table as CSV."
        ) from None
    clean = clean_names([str(name or "") for name in values], options.opening)
    columns = [_make_list(column) for column in values.values()]
    known = metadata.variable_value_labels if options.opening.value_labels else {}
    labels = [known.get(name, {}) for name in values]
    selected = [(clean.names[i], (columns[i], labels[i])) for i in clean.select(options)]
    table = collect_columns(selected, _read_stats_column, options)
    found = drop_unnamed(table.columns, clean, options)
    labelled = [
        name for name, (cells, texts) in selected if _apply_labels(cells, texts) is not None
    ]
    decisions = [*found.decisions, *table.decisions, *_decide_labels(labelled)]
    return RawTable(found.columns, decisions)


def _check_stata_header(content: bytes) -> None:
    """Raise `ValueError` if a Stata file cannot have as many columns as its header says.

    Only release 119 can say so many that pyreadstat takes seconds for each kilobyte.
    """
    found = _STATA_119.match(content)
    if found is None:
        return
    n_columns = int.from_bytes(found["n"], "little" if found["order"] == b"LSF" else "big")
    if n_columns * _BYTES_PER_TYPE > len(content):
        raise ValueError(f"{n_columns:,} columns in {len(content):,} bytes")


def _check_size(metadata: Any, n_bytes: int) -> None:
    """Raise `ValueError` if a file cannot have as many cells as its header says.

    pyreadstat would use all memory of the machine.
    """
    n_rows, n_columns = metadata.number_rows or 0, metadata.number_columns or 0
    if n_rows * n_columns > n_bytes * _CELLS_PER_BYTE:
        raise ValueError(f"{n_rows:,} rows in {n_bytes:,} bytes")


def _make_list(values: Any) -> list[Any]:
    """Return the values of a column; NaN and the empty text are null."""
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    return [None if value == "" or _is_nan(value) else value for value in listed]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _read_stats_column(
    name: str, given: tuple[Sequence[Any], ValueLabels], options: ReadPlan
) -> Column:
    cells, labels = given
    texts = _apply_labels(cells, labels)
    if texts is None:
        return read_cells(name, cells, options)
    column = read_cells(name, texts, options)
    observed = set(cells) - {None}
    ordered = sorted(observed, key=lambda value: (isinstance(value, str), value))
    states = tuple(str(labels[value]).strip() for value in ordered)
    return column if column.declared is not None else replace(column, declared=states)


def _apply_labels(cells: Sequence[Any], labels: ValueLabels) -> list[str | None] | None:
    """Return the label of each cell; None if a value has no label of its own."""
    observed = {cell for cell in cells if cell is not None}
    if not labels or not observed or not observed <= set(labels):
        return None
    texts = [str(labels[value]).strip() for value in observed]
    if len(set(texts)) < len(texts) or "" in texts:
        return None
    return [None if cell is None else str(labels[cell]).strip() for cell in cells]


def _decide_labels(names: Sequence[str]) -> list[Decision]:
    if not names:
        return []
    columns = format_count(len(names), "column")
    listed = format_list([repr(name) for name in names])
    sentence = f"The value labels of {columns} are used as states: {listed}."
    undo = "value_labels=False, or --no-value-labels"
    return [Decision("value_labels", tuple(names), sentence, undo)]
