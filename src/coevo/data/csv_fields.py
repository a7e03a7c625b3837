"""One column of a text table while it is read: codes of labels, or numbers.

A column has at most 65,535 labels. A column of measurements can have more distinct values. If
the caller wants bins, the reader then stores the column as numbers, and creates its labels from
the numbers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column, make_overflow_error
from coevo.data.label_store import LabelStore
from coevo.data.number_labels import NumberLabels, find_decimal, parse_numbers
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError

__all__ = ["CsvField"]

MakeError = Callable[[str, bytes], DataError]  # the error for text that is not UTF-8


class CsvField:
    """The fields of one column, encoded chunk by chunk."""

    def __init__(self, name: str, options: ReadOptions, make_utf8_error: MakeError) -> None:
        self._name, self._make_utf8_error = name, make_utf8_error
        self._declared = options.states.get(name)
        self._wants_numbers = options.wants_numbers(name)
        self._missing_labels = options.missing_labels
        self._store = LabelStore()
        self._codes: list[NDArray[np.unsignedinteger]] = []
        self._numbers: list[NDArray[np.float64]] | None = None

    def add(
        self, buffer: NDArray[np.uint8], starts: NDArray[np.int32], lengths: NDArray[np.int32]
    ) -> None:
        """Add the fields of the next rows."""
        while True:
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
        if self._numbers is None:
            labels = self._decode_labels()
            decimal = find_decimal(labels, self._missing_labels)
            return Column(self._name, labels, self._join_codes(), self._declared, decimal)
        values = np.concatenate(self._numbers)
        distinct, codes = np.unique(values, return_inverse=True)
        fractions = np.flatnonzero(distinct != np.floor(distinct))
        decimal = int(fractions[0]) if len(fractions) else None
        return Column(self._name, NumberLabels(distinct), codes, self._declared, decimal)

    def _convert_to_numbers(self, is_allowed: bool) -> None:
        """Convert the codes so far to numbers and start again with no labels.

        Raise `DataError` if that is not allowed, or if a label is not a number.
        """
        labels = self._decode_labels()
        numbers = parse_numbers(labels) if is_allowed else None
        if numbers is None:
            decimal = find_decimal(labels)
            column = Column(self._name, labels, self._join_codes(), self._declared, decimal)
            raise make_overflow_error(column, is_late=self._numbers is not None)
        self._numbers = [*(self._numbers or []), numbers[self._join_codes()]]
        self._store, self._codes = LabelStore(), []

    def _join_codes(self) -> NDArray[np.unsignedinteger]:
        return np.concatenate(self._codes)

    def _decode_labels(self) -> list[str | None]:
        labels: list[str | None] = []
        for code, text in enumerate(self._store.list_labels()):
            try:
                labels.append(text.decode())
            except UnicodeDecodeError:
                n_before = sum(map(len, self._numbers or []))
                row = n_before + int(np.argmax(self._join_codes() == code)) + 1
                place = f"Column {self._name!r} in row {row:,}"
                raise self._make_utf8_error(place, text) from None
        return labels
