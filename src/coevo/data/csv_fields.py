"""One column of a text table while it is read: codes, or numbers once labels run out.

A column has at most 65,535 labels. One of measurements may have more; where bins were asked
for, it then goes on as plain numbers, and its labels are made again from those.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column, refuse_overflow
from coevo.data.label_store import LabelStore
from coevo.data.number_labels import NumberLabels, first_decimal, numbers_of
from coevo.data.read_options import ReadOptions
from coevo.errors import DataError

__all__ = ["CsvField"]

Refuse = Callable[[str, bytes], DataError]  # for a label that is not UTF-8, by its place


class CsvField:
    """A column on its way from fields to codes."""

    def __init__(self, name: str, request: ReadOptions, not_utf8: Refuse) -> None:
        self._name, self._not_utf8 = name, not_utf8
        self._declared = request.states.get(name)
        self._wants_numbers = request.wants_numbers(name)
        self._missing = request.missing_labels
        self._store = LabelStore()
        self._codes: list[NDArray[np.unsignedinteger]] = []
        self._numbers: list[NDArray[np.float64]] | None = None

    def add(
        self, buffer: NDArray[np.uint8], starts: NDArray[np.int32], lengths: NDArray[np.int32]
    ) -> None:
        """Add the fields of some more rows."""
        while True:
            codes = np.empty(len(starts), dtype=np.uint16)
            done = self._store.encode(buffer, starts, lengths, codes)
            part = codes[:done]
            self._codes.append(part.astype(np.uint8) if len(self._store) <= 256 else part)
            if done == len(starts):
                break
            self._make_numbers(self._wants_numbers)
            starts, lengths = starts[done:], lengths[done:]
        if self._numbers is not None:
            self._make_numbers(True)

    def column(self) -> Column:
        """Return the whole column."""
        if self._numbers is None:
            labels = self._labels()
            decimal = first_decimal(labels, self._missing)
            return Column(self._name, labels, self._joined(), self._declared, decimal)
        values = np.concatenate(self._numbers)
        distinct, places = np.unique(values, return_inverse=True)
        fractions = np.flatnonzero(distinct != np.floor(distinct))  # NaN is not counted as one
        found = int(fractions[0]) if len(fractions) else None
        return Column(self._name, NumberLabels(distinct), places, self._declared, found)

    def _make_numbers(self, is_allowed: bool) -> None:
        """Turn the codes so far into numbers and start over with labels, or refuse to."""
        labels = self._labels()
        numbers = numbers_of(labels) if is_allowed else None
        if numbers is None:
            decimal = first_decimal(labels)
            found = Column(self._name, labels, self._joined(), self._declared, decimal)
            raise refuse_overflow(found, is_late=self._numbers is not None)
        self._numbers = [*(self._numbers or []), numbers[self._joined()]]
        self._store, self._codes = LabelStore(), []

    def _joined(self) -> NDArray[np.unsignedinteger]:
        return np.concatenate(self._codes)

    def _labels(self) -> list[str | None]:
        labels: list[str | None] = []
        for code, text in enumerate(self._store.texts()):
            try:
                labels.append(text.decode())
            except UnicodeDecodeError:
                row = (
                    sum(map(len, self._numbers or [])) + int(np.argmax(self._joined() == code)) + 1
                )
                place = f"Column {self._name!r} in row {row:,}"
                raise self._not_utf8(place, text) from None
        return labels
