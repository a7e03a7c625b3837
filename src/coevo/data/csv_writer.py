"""A dataset as a text table: the inverse of `coevo.data.csv_reader`.

Each label is turned into bytes once, with its quotes and the delimiter or line end that
follows it; the kernel `render` then only copies.
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from coevo.data.csv_kernels import render
from coevo.data.dataset import Dataset
from coevo.files import replacing

__all__ = ["open_csv", "quoted", "write_csv"]

BLOCK_BYTES = 8 << 20
# Level 6 saves a quarter of the size, and takes nearly three times as long.
GZIP_LEVEL = 3


def write_csv(dataset: Dataset, path: Path, delimiter: str = ",") -> None:
    """Write the rows of a dataset, compressed when the name ends in ``.gz``."""
    texts = _Texts(dataset, delimiter)
    block = max(1, BLOCK_BYTES // texts.widest)
    out = np.empty(block * texts.widest, dtype=np.uint8)
    with open_csv(path) as stream:
        stream.write(texts.header)
        for rows in _row_blocks(dataset, block):
            n_bytes = render(dataset.codes, rows, texts.first, texts.starts, texts.pool, out)
            stream.write(out[:n_bytes].data)


class _Texts:
    """The bytes of every label, each with what follows it in a line."""

    first: NDArray[np.int64]  # (n_columns, 2), variable and its first text, in source order
    starts: NDArray[np.int64]  # (n_texts + 1,), where each text begins in the pool
    pool: NDArray[np.uint8]
    header: bytes
    widest: int  # bytes of the longest line that can occur

    def __init__(self, dataset: Dataset, delimiter: str) -> None:
        names = [variable.name for variable in dataset.source_variables]
        first: list[tuple[int, int]] = []
        texts: list[bytes] = []
        self.widest = 0
        for name in names:
            position = dataset.position(name)
            first.append((position, len(texts)))
            follows = "\n" if name == names[-1] else delimiter
            states = dataset.variables[position].states
            found = [(quoted(state, delimiter) + follows).encode() for state in states]
            self.widest += max(map(len, found))
            texts += found
        self.first = np.array(first, dtype=np.int64)
        self.starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self.pool = np.frombuffer(b"".join(texts), dtype=np.uint8)
        self.header = (delimiter.join(quoted(name, delimiter) for name in names) + "\n").encode()


def quoted(text: str, delimiter: str) -> str:
    """Return a text as it stands in a field, in quotes where it would not survive bare.

    >>> print(quoted("yes, no", ","))
    "yes, no"
    """
    if text and text.strip() == text and not any(c in text for c in (delimiter, '"', "\n", "\r")):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _row_blocks(dataset: Dataset, block: int) -> Iterator[NDArray[np.int64]]:
    """Yield the stored row of each observation, so many at a time."""
    ends = None if dataset.weights is None else np.cumsum(dataset.weights)
    for start in range(0, dataset.n_rows, block):
        rows = np.arange(start, min(start + block, dataset.n_rows), dtype=np.int64)
        yield rows if ends is None else np.searchsorted(ends, rows, side="right")


@contextlib.contextmanager
def open_csv(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a text table to be written, compressed when its name ends in ``.gz``."""
    with replacing(path) as stream:
        if path.suffix.lower() != ".gz":
            yield stream
            return
        # Neither the name nor the time goes into the file: same rows, same bytes.
        with gzip.GzipFile("", "wb", GZIP_LEVEL, stream, mtime=0) as packed:
            yield packed
