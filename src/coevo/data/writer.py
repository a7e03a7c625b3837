"""Write datasets to files, as text or Parquet, and copies of text tables with further columns.

Write a dataset to a file; the suffix of its name determines the format.
"""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import Binning
from coevo.data.columns import Column
from coevo.data.dataset import Codes, Dataset
from coevo.data.labels import parse_number
from coevo.data.read.csv_fields import (
    BLOCK_ROWS,
    ENCODING_ERRORS,
    CsvBlock,
    RowTexts,
    render_uint8,
    render_uint16,
)
from coevo.data.read.formats import open_parquet
from coevo.data.read.header_names import has_units_row
from coevo.data.read.source_kinds import detect_kind
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import DEFAULT_OPENING, SourceOptions
from coevo.errors import DataError, ParameterError, bad_parameter, import_optional
from coevo.files.files import check_output_path, open_source, replace_file

__all__ = [
    "check_writable",
    "choose_delimiter",
    "choose_new_names",
    "copy_with_columns",
    "copy_with_predictions",
    "count_skipped_rows",
    "iter_raw_blocks",
    "iter_table_blocks",
    "load_raw_columns",
    "write_blocks",
    "write_csv",
    "write_csv_blocks",
    "write_data",
    "write_parquet_table",
]

_CSV = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}
_PARQUET = (".parquet", ".pq")


def write_data(dataset: Dataset, path: str | os.PathLike[str]) -> None:
    """Write the observations of a dataset to a file.

    Columns and labels are those of the source. A row with a weight is repeated. The rows of a
    deduplicated dataset are in the order of storage, not in that of the source. The file is
    written under a temporary name and renamed when it is complete.

    Parameters
    ----------
    dataset : Dataset
        The observations.
    path : str or path
        The file. The suffix determines the format: ``.csv``, ``.tsv``, both also with ``.gz``, or
        ``.parquet`` (``.pq``), which needs PyArrow.

    Examples
    --------
    >>> import tempfile
    >>> from coevo.data import Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> rows = Dataset([rain, wet], [[0, 1], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_data(rows, f"{folder}/rows.csv")
    ...     print(Path(f"{folder}/rows.csv").read_text(), end="")
    rain,wet
    no,no
    yes,yes
    """
    if not isinstance(dataset, Dataset):
        raise bad_parameter("dataset", "write_data", "a Dataset", dataset)
    try:
        _choose_writer(path)(dataset, Path(path))
    except UnicodeEncodeError as error:  # a lone surrogate, half of a UTF-16 pair
        character = error.object[error.start : error.end]
        raise DataError(
            f"{str(path)!r} cannot be written: a name or a state holds {character!r}, which "
            "UTF-8 does not have. Rename it."
        ) from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the error that `write_data` would raise for this path.

    >>> check_writable("rows.xlsx")
    Traceback (most recent call last):
    coevo.errors.ParameterError: The name of a table must end in one of .csv, .csv.gz, .tsv, \
.tsv.gz, .parquet, .pq; got 'rows.xlsx'.
    """
    _choose_writer(path)
    check_output_path(Path(path))


def _choose_writer(path: str | os.PathLike[str]) -> Callable[[Dataset, Path], None]:
    """Return the function that writes the format of the suffix."""
    delimiter = choose_delimiter(path)
    if delimiter is not None:
        return partial(write_csv, delimiter=delimiter)
    from coevo.data.read.formats import write_parquet

    import_optional("pyarrow.parquet", "PyArrow", "parquet")
    return write_parquet


def choose_delimiter(path: str | os.PathLike[str]) -> str | None:
    """Return the delimiter of a text table with this name; None for Parquet."""
    if not isinstance(path, str | os.PathLike):
        raise bad_parameter("path", "write_data", "the name of a file", path)
    name = os.fspath(path).lower()
    for suffix, delimiter in _CSV.items():
        if name.endswith(suffix):
            return delimiter
    if name.endswith(_PARQUET):
        return None
    accepted = ", ".join([*_CSV, *_PARQUET])
    raise ParameterError(f"The name of a table must end in one of {accepted}; got {str(path)!r}.")


# Write a dataset, or blocks of rows, as a text table: the inverse of `coevo.data.read.csv_reader`.
#
# The writer turns each label into bytes once, with its quotes and the delimiter or line end that
# follows it. The kernels then only copy bytes.


BUFFER_BYTES = 8 << 20
# Level 6 saves a quarter of the size, and takes nearly three times as long.
GZIP_LEVEL = 3


def write_csv(dataset: Dataset, path: Path, delimiter: str = ",") -> None:
    """Write the rows of a dataset, compressed if the name ends in ``.gz``."""
    names = [variable.name for variable in dataset.source_variables]
    positions = [dataset.find_position(name) for name in names]
    states = [dataset.variables[position].states for position in positions]
    texts = _TextPool(
        [[_quote_field(state, delimiter) for state in column] for column in states],
        positions,
        delimiter,
    )
    stored_rows = None if dataset.weights is None else np.cumsum(dataset.weights)
    with _open_csv(path) as stream:
        stream.write(_format_header(names, delimiter).encode())
        for rows in _iter_rows(dataset.n_rows, texts.chunk_rows):
            if stored_rows is not None:
                rows = np.searchsorted(stored_rows, rows, side="right")
            stream.write(texts.render_rows(dataset.codes, rows))


def write_csv_blocks(
    names: Sequence[str], blocks: Iterable[CsvBlock], path: Path, delimiter: str = ","
) -> None:
    """Write blocks of rows, compressed if the name ends in ``.gz``.

    The text of every cell is written unchanged, except for its quotes. An empty cell has no
    quotes, unless it is the only cell of its line.
    """
    with _open_csv(path) as stream:
        stream.write(_format_header(names, delimiter).encode(errors=ENCODING_ERRORS))
        for block in blocks:
            fields = [
                [
                    _quote_field(label, delimiter) if label or len(names) == 1 else ""
                    for label in labels
                ]
                for labels in block.labels
            ]
            texts = _TextPool(fields, range(len(names)), delimiter, ENCODING_ERRORS)
            for rows in _iter_rows(block.n_rows, texts.chunk_rows):
                stream.write(texts.render_rows(block.codes, rows))


class _TextPool:
    """The bytes of every label of a table, each with the delimiter or line end that follows.

    Parameters
    ----------
    fields : sequence of sequence of str
        The text of each code of each column, with quotes; columns in the order of output.
    positions : sequence of int
        The row of the code array that belongs to each column.
    delimiter : str
        The text between two fields.
    errors : str, default: "strict"
        The handler of characters that UTF-8 cannot encode.
    """

    def __init__(
        self,
        fields: Sequence[Sequence[str]],
        positions: Sequence[int],
        delimiter: str,
        errors: str = "strict",
    ) -> None:
        texts: list[bytes] = []
        first = np.empty((len(fields), 2), dtype=np.int64)  # position, and its first text
        widest = 0  # bytes of the longest line that can occur
        for i, column in enumerate(fields):
            first[i] = positions[i], len(texts)
            end = "\n" if i == len(fields) - 1 else delimiter
            encoded = [(field + end).encode(errors=errors) for field in column]
            widest += max(map(len, encoded))
            texts += encoded
        self.chunk_rows = max(1, BUFFER_BYTES // widest)
        self._texts = RowTexts(
            first_text=first,
            starts=np.cumsum([0, *map(len, texts)], dtype=np.int64),
            pool=np.frombuffer(b"".join(texts), dtype=np.uint8),
            out=np.empty(self.chunk_rows * widest, dtype=np.uint8),
        )

    def render_rows(self, codes: Codes, rows: NDArray[np.int64]) -> memoryview:
        """Return the lines of at most `chunk_rows` rows; the next call overwrites them."""
        has_bytes = codes.dtype == np.uint8
        render: Callable[..., int] = render_uint8 if has_bytes else render_uint16
        n_bytes = render(codes, rows, self._texts)
        return self._texts.out[:n_bytes].data


def _iter_rows(n_rows: int, chunk_rows: int) -> Iterator[NDArray[np.int64]]:
    """Yield all row numbers, `chunk_rows` at a time."""
    for start in range(0, n_rows, chunk_rows):
        yield np.arange(start, min(start + chunk_rows, n_rows), dtype=np.int64)


def _format_header(names: Sequence[str], delimiter: str) -> str:
    return delimiter.join(_quote_field(name, delimiter) for name in names) + "\n"


def _quote_field(text: str, delimiter: str) -> str:
    """Return a text as a field, with quotes if the reader would change it without quotes.

    >>> print(_quote_field("yes, no", ","))
    "yes, no"
    """
    if text and text.strip() == text and not any(c in text for c in (delimiter, '"', "\n", "\r")):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


@contextlib.contextmanager
def _open_csv(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a text table for writing, compressed if its name ends in ``.gz``."""
    with replace_file(path) as stream:
        if path.suffix.lower() != ".gz":
            yield stream
            return
        # The file contains neither its name nor the time: the same rows give the same bytes.
        with gzip.GzipFile("", "wb", GZIP_LEVEL, stream, mtime=0) as packed:
            yield packed


# Copy a table as text, block by block, with further columns.
#
# The text of every cell stays as it is in the source: identifiers, columns that no network has,
# and numbers that were put into bins. A copy of a text table is in UTF-8; lines that are not part
# of the table, and rows without any value, are not copied.


Texts = Sequence[str]  # one for each row


def copy_with_columns(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    columns: Sequence[tuple[str, Texts]],
    opening: SourceOptions = DEFAULT_OPENING,
) -> None:
    """Write a copy of a file with further columns at the end, each a name and its texts.

    The suffix of `target` determines the format, as for `write_data`. `opening` says how `source`
    was opened. A name that the table has already gets a number.
    """
    n_skipped = count_skipped_rows(Path(source), opening)
    with _open_blocks(Path(source), replace(opening, units_row=False)) as (names, blocks):
        new = choose_new_names(names, [name for name, _ in columns])
        texts = [[""] * n_skipped + list(column) for _, column in columns]
        write_blocks([*names, *new], _extend_blocks(blocks, texts), Path(target))


def copy_with_predictions(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    columns: Sequence[tuple[str, Sequence[Any]]],
    opening: SourceOptions = DEFAULT_OPENING,
) -> None:
    """Write a copy of a file with the columns of a prediction, numbers with twelve digits."""
    texts = [
        (name, [f"{cell:.12g}" if isinstance(cell, float) else cell for cell in column])
        for name, column in columns
    ]
    copy_with_columns(source, target, texts, opening)


def choose_new_names(taken: Iterable[str], names: Sequence[str]) -> list[str]:
    """Return names that a table does not have, with a number at the end where it has.

    >>> choose_new_names(["id", "predicted"], ["predicted", "probability"])
    ['predicted_2', 'probability']
    """
    known, found = set(taken), []
    for name in names:
        new, n = name, 1
        while new in known:
            n += 1
            new = f"{name}_{n}"
        known.add(new)
        found.append(new)
    return found


@contextlib.contextmanager
def _open_blocks(
    path: Path, opening: SourceOptions
) -> Iterator[tuple[list[str], Iterator[CsvBlock]]]:
    """Open a file of any kind; yield the names of its columns and its rows."""
    with open_source(path) as opened:
        kind, _ = detect_kind(opened)
    if kind == "parquet":
        with open_parquet(path) as file:
            table = file.read()
        yield list(table.column_names), iter_table_blocks(table)
    elif kind == "text":
        from coevo.data.read.csv_reader import CsvReader

        with open_source(path) as opened:
            reader = CsvReader(opened, opening)
            yield list(reader.header), reader.iter_blocks(range(len(reader.names)), False)
    else:
        raw = load_raw_columns(path, opening)
        old_names = {new: old for old, new in (opening.rename or {}).items()}
        yield [old_names.get(column.name, column.name) for column in raw], iter_raw_blocks(raw)


def _extend_blocks(blocks: Iterable[CsvBlock], columns: Sequence[Texts]) -> Iterator[CsvBlock]:
    """Yield blocks with further columns."""
    start = 0
    for block in blocks:
        stop = start + block.n_rows
        new = CsvBlock.from_texts([column[start:stop] for column in columns])
        codes = np.concatenate([block.codes, new.codes])
        yield CsvBlock([*block.labels, *new.labels], codes)
        start = stop
    if start != len(columns[0]):
        raise DataError(
            f"The table has {start:,} rows, but {len(columns[0]):,} rows were read. Do not change "
            "a table while coevo reads it."
        )


def count_skipped_rows(source: Path, opening: SourceOptions) -> int:
    """Return how many rows above the first observation were skipped: 1 for a row of units.

    A copy of the table has this row as it is.
    """
    if opening.units_row is not None:
        return int(opening.units_row)
    with _open_blocks(source, replace(opening, units_row=False)) as (names, blocks):
        block = next(iter(blocks), None)
        if block is None:
            return 0
        first = [block.labels[i][int(block.codes[i][0])] for i in range(len(names))]
    if len(names) < 2 or any(parse_number(text) is not None for text in first):
        return 0  # a row of units has no number, and most tables end here
    options = ReadPlan.from_parameters(discretise="mdl", opening=opening).allow_missing()
    table = load_table(source, replace(options, is_lenient=True), None)
    return int(has_units_row(table, options))


def load_raw_columns(source: Path, opening: SourceOptions) -> list[Column]:
    """Return all columns of a file with all their numbers."""
    numbers = Binning.from_parameters("mdl", None, "read_data")  # keeps all numbers
    options = ReadPlan({}, (), binning=numbers, keeps_missing=True, opening=opening)
    return load_table(source, options, None).columns


def iter_raw_blocks(columns: Sequence[Column]) -> Iterator[CsvBlock]:
    """Yield the rows of raw columns as text."""
    labels = [[label or "" for label in column.labels] for column in columns]
    for start in range(0, len(columns[0].codes), BLOCK_ROWS):
        codes = [column.codes[start : start + BLOCK_ROWS].tolist() for column in columns]
        yield CsvBlock.from_texts(
            [[texts[code] for code in part] for texts, part in zip(labels, codes, strict=True)]
        )


def iter_table_blocks(table: Any) -> Iterator[CsvBlock]:
    """Yield the rows of an Arrow table as text."""
    for start in range(0, table.num_rows, BLOCK_ROWS):
        columns = table.slice(start, BLOCK_ROWS).columns
        yield CsvBlock.from_texts(
            [
                ["" if cell is None else str(cell) for cell in column.to_pylist()]
                for column in columns
            ]
        )


def write_blocks(names: Sequence[str], blocks: Iterable[CsvBlock], path: Path) -> None:
    """Write rows of text in the format of the suffix."""
    delimiter = choose_delimiter(path)
    if delimiter is not None:
        write_csv_blocks(names, blocks, path, delimiter)
        return
    arrow = import_optional("pyarrow", "PyArrow", "parquet")
    chunks: list[list[Any]] = [[] for _ in names]
    for block in blocks:
        for column, labels, codes in zip(chunks, block.labels, block.codes, strict=True):
            column.append(arrow.array(labels).take(arrow.array(codes)))
    arrays = [arrow.chunked_array(column, type=arrow.string()) for column in chunks]
    write_parquet_table(arrow.Table.from_arrays(arrays, names), path)


def write_parquet_table(table: Any, path: Path) -> None:
    """Write an Arrow table."""
    parquet = import_optional("pyarrow.parquet", "PyArrow", "parquet")
    with replace_file(path) as stream:
        parquet.write_table(table, stream)
