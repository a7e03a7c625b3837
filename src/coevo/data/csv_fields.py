"""One column of a text table while it is read: codes of labels, or numbers.

A column has at most 65,535 labels. A column of measurements can have more distinct values. If
the caller wants bins, the reader then stores the column as numbers, and creates its labels from
the numbers. A column of text with more labels is an error, or the reader gives it up
(`Column.overflow`) if it is lenient.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column, make_overflow_error
from coevo.data.label_store import LabelStore
from coevo.data.number_labels import NumberLabels, find_decimal, parse_numbers
from coevo.data.read_options import ReadOptions
from coevo.data.text_encoding import LabelDecoder

__all__ = ["CsvField", "parse_label_values"]


def parse_label_values(labels: Sequence[str | None]) -> NDArray[np.float64] | None:
    """Return the value of each label of a column with very many labels, or None if one is text.

    NaN stands for a missing value.
    """
    return parse_numbers(labels)


class CsvField:
    """The fields of one column, encoded chunk by chunk."""

    def __init__(
        self, name: str, options: ReadOptions, decoder: LabelDecoder, is_index: bool = False
    ) -> None:
        self._name, self._decoder = name, decoder
        self._declared = options.states.get(name)
        self._wants_numbers = options.wants_numbers(name) or options.is_lenient or is_index
        self._is_lenient = options.is_lenient or is_index
        self._missing_labels = options.missing_labels
        self._store = LabelStore()
        self._codes: list[NDArray[np.unsignedinteger]] = []
        self._numbers: list[NDArray[np.float64]] | None = None
        self._start: Column | None = None  # of a column that was given up

    def add(
        self, buffer: NDArray[np.uint8], starts: NDArray[np.int32], lengths: NDArray[np.int32]
    ) -> None:
        """Add the fields of the next rows."""
        while self._start is None:
            codes = np.empty(len(starts), dtype=np.uint16)
            done = self._store.encode(buffer, starts, lengths, codes)
            part = codes[:done]
            self._codes.append(part.astype(np.uint8) if len(self._store) <= 256 else part)
            if done == len(starts):
                break
            self._convert_to_numbers(self._wants_numbers)
            starts, lengths = starts[done:], lengths[done:]
        if self._numbers is not None:
            self._convert_to_numbers(True)

    def build_column(self) -> Column:
        """Return the column of all rows."""
        if self._start is not None:
            return self._start
        if self._numbers is None:
            labels, codes = self._decode_labels()
            decimal = find_decimal(labels, self._missing_labels)
            return Column(self._name, labels, codes, self._declared, decimal)
        values = np.concatenate(self._numbers)
        distinct, indices = np.unique(values, return_inverse=True)
        fractions = np.flatnonzero(distinct != np.floor(distinct))
        decimal = int(fractions[0]) if len(fractions) else None
        return Column(self._name, NumberLabels(distinct), indices, self._declared, decimal)

    def _convert_to_numbers(self, is_allowed: bool) -> None:
        """Convert the codes so far to numbers and start again with no labels.

        If that is not allowed, or if a label is not a number, give the column up, or raise
        `DataError`.
        """
        labels, codes = self._decode_labels()
        numbers = parse_label_values(labels) if is_allowed else None
        if numbers is not None:
            self._numbers = [*(self._numbers or []), numbers[codes]]
        else:
            decimal = find_decimal(labels)
            column = Column(self._name, labels, codes, self._declared, decimal, overflow=True)
            if not self._is_lenient:
                raise make_overflow_error(column, is_late=self._numbers is not None)
            self._start, self._numbers = column, None
        self._store, self._codes = LabelStore(), []

    def _decode_labels(self) -> tuple[list[str | None], NDArray[np.unsignedinteger]]:
        """Return the labels as text, and the codes so far."""
        labels: list[str | None] = []
        codes = np.concatenate(self._codes)
        for code, text in enumerate(self._store.list_labels()):
            try:
                labels.append(text.decode())
            except UnicodeDecodeError:
                n_before = sum(map(len, self._numbers or []))
                row = n_before + int(np.argmax(codes == code)) + 1
                place = f"Column {self._name!r} in row {row:,}"
                labels.append(self._decoder.decode(text, place))
        return _merge_labels(labels, codes)


def _merge_labels(
    labels: list[str | None], codes: NDArray[np.unsignedinteger]
) -> tuple[list[str | None], NDArray[np.unsignedinteger]]:
    """Return labels that are all different; two encodings can give the same text."""
    distinct = list(dict.fromkeys(labels))
    if len(distinct) == len(labels):
        return labels, codes
    code_of = {label: code for code, label in enumerate(distinct)}
    recode = np.array([code_of[label] for label in labels], dtype=np.uint16)
    return distinct, recode[codes]
