"""Read files of Stata, SPSS and SAS with pyreadstat.

If each observed value of a column has a value label, these labels are its states, in the order of
the values. ``value_labels=False`` keeps the values. Values that the file declares as missing are
missing.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from coevo.data.cell_values import collect_columns, read_cells
from coevo.data.columns import Column
from coevo.data.decisions import Decision, RawTable
from coevo.data.header_names import clean_names, drop_unnamed
from coevo.data.read_options import ReadPlan
from coevo.errors import CoevoError, DataError, format_count, format_list, import_optional
from coevo.files import ByteSource

__all__ = ["read_sas", "read_sas_transport", "read_spss", "read_spss_portable", "read_stata"]

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
    table = collect_columns(selected, _read_column, options)
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


def _read_column(name: str, given: tuple[Sequence[Any], ValueLabels], options: ReadPlan) -> Column:
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
