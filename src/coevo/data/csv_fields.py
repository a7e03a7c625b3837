"""One column of a text table while it is read: codes of labels, or numbers.

A column has at most 65,535 labels. A column of measurements can have more distinct values. If
the caller wants bins, the reader then stores the column as numbers, and creates its labels from
the numbers. A few cells that are no numbers become missing values, and the column names them
(`Column.strays`). A column of text with more labels is an error, or the reader gives it up
(`Column.overflow`) if it is lenient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column, Stray, make_overflow_error
from coevo.data.label_store import LabelStore
from coevo.data.missing_words import looks_like_code
from coevo.data.number_labels import (
    MISSING_LABELS,
    NumberLabels,
    find_decimal,
    parse_numbers,
)
from coevo.data.read_options import ReadPlan
from coevo.data.text_encoding import LabelDecoder

__all__ = ["MAX_STRAYS", "CsvField", "parse_label_values"]

MAX_STRAYS = 50  # distinct labels that are no numbers; more are no slips


def parse_label_values(
    labels: Sequence[str | None],
) -> tuple[NDArray[np.float64], list[int]] | None:
    """Return the value of each label of a column with very many labels, and the codes of strays.

    NaN stands for a missing value. None if too many labels are no numbers.
    """
    numbers = parse_numbers(labels)
    if numbers is not None:
        return numbers, []
    values = np.full(len(labels), np.nan)
    strays: list[int] = []
    for code, label in enumerate(labels):
        own = parse_numbers([label])
        if own is not None:
            values[code] = own[0]
        elif len(strays) == MAX_STRAYS or looks_like_code(str(label)):
            return None
        else:
            strays.append(code)
    return values, strays


class CsvField:
    """The fields of one column, encoded chunk by chunk."""

    def __init__(
        self, name: str, options: ReadPlan, decoder: LabelDecoder, is_index: bool = False
    ) -> None:
        self._name, self._decoder = name, decoder
        self._declared = options.states.get(name)
        self._find_missing = options.find_missing
        self._wants_numbers = options.wants_numbers(name) or options.is_lenient or is_index
        self._is_lenient = options.is_lenient or is_index
        self._store = LabelStore()
        self._codes: list[NDArray[np.unsignedinteger]] = []
        self._numbers: list[NDArray[np.float64]] | None = None
        self._start: Column | None = None  # of a column that was given up
        self._strays: dict[str, Stray] = {}

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
            column = Column(self._name, labels, codes, self._declared)
            missing = set(self._find_missing(column))
            kept = [label for code, label in enumerate(labels) if code not in missing]
            if any((label or "").strip() in MISSING_LABELS for label in kept):
                return column  # the caller keeps such a label, so the column holds text
            texts = ["" if code in missing else label for code, label in enumerate(labels)]
            return replace(column, decimal=find_decimal(texts))
        values = np.concatenate(self._numbers)
        distinct, indices = np.unique(values, return_inverse=True)
        fractions = np.flatnonzero(distinct != np.floor(distinct))
        decimal = int(fractions[0]) if len(fractions) else None
        strays = tuple(self._strays[label] for label in sorted(self._strays))
        column = Column(self._name, NumberLabels(distinct), indices, self._declared, decimal)
        return replace(column, strays=strays)

    def _convert_to_numbers(self, is_allowed: bool) -> None:
        """Convert the codes so far to numbers and start again with no labels.

        If that is not allowed, or if a label is not a number, give the column up, or raise
        `DataError`.
        """
        labels, codes = self._decode_labels()
        found = parse_label_values(labels) if is_allowed else None
        if found is not None and len({*self._strays, *(labels[c] for c in found[1])}) <= MAX_STRAYS:
            numbers, strays = found
            self._add_strays(labels, codes, strays)
            self._numbers = [*(self._numbers or []), numbers[codes]]
        else:
            decimal = find_decimal(labels)
            column = Column(self._name, labels, codes, self._declared, decimal, overflow=True)
            if not self._is_lenient:
                raise make_overflow_error(column, is_late=self._numbers is not None)
            self._start, self._numbers = column, None
        self._store, self._codes = LabelStore(), []

    def _add_strays(
        self,
        labels: Sequence[str | None],
        codes: NDArray[np.unsignedinteger],
        strays: Sequence[int],
    ) -> None:
        """Count the labels that are no numbers."""
        n_before = sum(map(len, self._numbers or []))
        for code in strays:
            label, rows = str(labels[code]), np.flatnonzero(codes == code)
            known = self._strays.get(label)
            first = n_before + int(rows[0]) if known is None else known.first_row
            count = len(rows) + (0 if known is None else known.count)
            self._strays[label] = Stray(label, count, first)

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
