"""A block of rows of a text table, with the exact text of every cell.

A block stores the distinct texts of each column once, and a code for each row. The CSV reader
yields blocks and the CSV writer writes them, so that a table can be copied with some of its
cells replaced. The copy is UTF-8; half of a surrogate pair, which UTF-8 cannot hold, is ``?``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK_ROWS", "ENCODING_ERRORS", "CsvBlock"]

# A column of a block has at most one text per row. One replacement of all texts can double the
# number of texts, and 16-bit codes still suffice.
BLOCK_ROWS = 1 << 15
ENCODING_ERRORS = "replace"


@dataclass(frozen=True, slots=True)
class CsvBlock:
    """Some rows of a text table.

    Attributes
    ----------
    labels : list of list of str
        The distinct texts of each column.
    codes : array of int, (n_columns, n_rows)
        For each cell an index into the texts of its column.

    Examples
    --------
    >>> block = CsvBlock.from_texts([["no", "yes", "no"], ["1", "?", "?"]])
    >>> block.replace_texts(1, np.array([2]), ["7"])
    >>> block.list_texts(1)
    ['1', '?', '7']
    """

    labels: list[list[str]]
    codes: NDArray[np.uint16]

    @classmethod
    def from_texts(cls, columns: Sequence[Sequence[str]]) -> CsvBlock:
        """Return a block of columns of text, at most `BLOCK_ROWS` rows."""
        labels = [list(dict.fromkeys(column)) for column in columns]
        codes = np.empty((len(columns), len(columns[0])), dtype=np.uint16)
        for i, column in enumerate(columns):
            code_of = {label: code for code, label in enumerate(labels[i])}
            codes[i] = [code_of[text] for text in column]
        return cls(labels, codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    def list_texts(self, column: int) -> list[str]:
        """Return the text of each cell of a column."""
        labels = self.labels[column]
        return [labels[code] for code in self.codes[column].tolist()]

    def replace_texts(self, column: int, rows: NDArray[np.intp], texts: Sequence[str]) -> None:
        """Replace the texts of some rows of a column, in place."""
        labels = self.labels[column]
        code_of = {label: code for code, label in enumerate(labels)}
        for text in texts:
            if text not in code_of:
                code_of[text] = len(labels)
                labels.append(text)
        self.codes[column, rows] = [code_of[text] for text in texts]
