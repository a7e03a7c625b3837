"""Write a dataset, or blocks of rows, as a text table: the inverse of `coevo.data.csv_reader`.

The writer turns each label into bytes once, with its quotes and the delimiter or line end that
follows it. The kernels then only copy bytes.
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_block import ENCODING_ERRORS, CsvBlock
from coevo.data.csv_kernels import RowTexts, render_uint8, render_uint16
from coevo.data.dataset import Codes, Dataset
from coevo.files import replace_file

__all__ = ["write_csv", "write_csv_blocks"]

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
