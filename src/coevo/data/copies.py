"""Find columns that repeat another column, value for value or in other words.

Two columns are copies if each value of one goes with one value of the other. A copy needs
evidence: the number of ways to arrange the values of the column over the rows must be so large
that chance does not explain it. Two columns of measurements whose values all differ always
fulfil the condition. They are copies if one rises or falls with the other and their values
recur, or if one is a linear function of the other or of its logarithm.

Text is kept before numbers, whole numbers before decimal numbers, and then the first column by
name, so that no order of columns matters.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.decisions import STRICT_UNDO, Decision
from coevo.data.number_labels import NumberLabels
from coevo.data.option_hints import format_type_hint

__all__ = ["CopyCandidate", "find_copies"]

MIN_CORRELATION = 0.99999  # of values that are on one line, apart from rounding
MIN_LOG_ARRANGEMENTS = math.log(1e6)  # chance explains fewer arrangements


@dataclass(frozen=True, slots=True)
class CopyCandidate:
    """A column that can be a copy, or have one.

    `numbers` has the number of each label if the column is a measurement. `is_text` says whether
    the labels are not numbers. `is_part` says whether the column is a part of a date: the table has
    no column of its name, so no type can be declared for it.
    """

    column: Column
    numbers: NDArray[np.float64] | None = None
    is_text: bool = False
    is_part: bool = False

    @property
    def rank(self) -> tuple[bool, bool, str]:
        """The column with the smallest rank is kept."""
        return not self.is_text, self._has_fractions, self.column.name

    @property
    def _has_fractions(self) -> bool:
        if self.numbers is None:
            return False
        occurring = self.numbers[self.column.counts > 0]
        return bool((occurring != np.floor(occurring)).any())

    def find_classes(self) -> NDArray[np.intp]:
        """Return the class of each row: equal values are in one class, missing values too."""
        classes = self._classify_labels()
        of_rows: NDArray[np.intp] = classes[self.column.codes]
        if self.column.missing is not None:
            of_rows[self.column.missing] = len(classes)
        return of_rows

    def count_classes(self) -> NDArray[np.int64]:
        """Return the number of rows of each class that occurs, without missing values."""
        counts = np.bincount(self._classify_labels(), weights=self.column.counts)
        return counts[counts > 0].astype(np.int64)

    def _classify_labels(self) -> NDArray[np.intp]:
        """Return the class of each label: two labels can be the same number."""
        if self.numbers is None or isinstance(self.column.labels, NumberLabels):
            return np.arange(len(self.column.labels))
        return np.unique(self.numbers, return_inverse=True)[1]


def find_copies(candidates: Sequence[CopyCandidate]) -> list[Decision]:
    """Return a decision on each column that repeats another one."""
    groups: dict[bytes, list[CopyCandidate]] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.rank):
        if (key := _sign(candidate)) is not None:
            groups.setdefault(key, []).append(candidate)
    found = []
    for group in groups.values():
        if len(group) > 1:
            found += list(_compare(group))
    return found


def _sign(candidate: CopyCandidate) -> bytes | None:
    """Return what copies have in common: the sorted counts of their values; None without any."""
    column = candidate.column
    counts = candidate.count_classes()
    sizes = [*counts[counts > 1].tolist(), len(column.codes) - column.n_observed]
    evidence = math.lgamma(len(column.codes) + 1) - sum(math.lgamma(n + 1) for n in sizes)
    if len(counts) < 2 or evidence < MIN_LOG_ARRANGEMENTS:
        return None
    all_counts = np.append(np.sort(counts), len(column.codes) - column.n_observed)
    return hashlib.blake2b(all_counts.astype(np.int64).tobytes(), digest_size=16).digest()


def _compare(group: Sequence[CopyCandidate]) -> Iterator[Decision]:
    """Yield the copies in a group of columns with the same counts."""
    originals: dict[bytes, list[CopyCandidate]] = {}
    for candidate in group:
        partition = _hash_partition(candidate.find_classes())
        known = originals.setdefault(partition, [])
        original = next((one for one in known if _are_copies(one, candidate)), None)
        if original is None:
            known.append(candidate)
            continue
        name, other = candidate.column.name, original.column.name
        yield Decision(
            "copy",
            (name, other),
            f"{name!r} repeats {other!r}: each value of one goes with one value of the other; "
            f"{name!r} is left out.",
            _format_undo(candidate, original),
        )


def _format_undo(*copies: CopyCandidate) -> str:
    """Return the options that keep both of two copies: the declared type of either does so."""
    declared = next((one for one in copies if not one.is_part), None)
    if declared is None:
        return STRICT_UNDO
    kind = "categorical" if declared.numbers is None else "continuous"
    return format_type_hint(declared.column.name, kind)


def _hash_partition(classes: NDArray[np.intp]) -> bytes:
    """Return a hash of a partition of the rows, whatever the names of its classes."""
    n_rows = len(classes)
    first = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    first[classes[::-1]] = np.arange(n_rows)[::-1]  # the last assignment is the first row
    return hashlib.blake2b(first[classes].tobytes(), digest_size=16).digest()


def _are_copies(first: CopyCandidate, second: CopyCandidate) -> bool:
    """Return whether two columns with the same partition are copies, and not by chance."""
    if first.numbers is None or second.numbers is None:
        smaller = min(np.count_nonzero(one.column.counts) for one in (first, second))
        return bool(2 * smaller <= first.column.n_observed)
    a, b = (one.numbers[one.column.codes] for one in (first, second))  # type: ignore[index]
    if first.column.missing is not None:
        a, b = a[~first.column.missing], b[~first.column.missing]
    rises = np.diff(b[np.argsort(a, kind="stable")])
    if not ((rises >= 0).all() or (rises <= 0).all()):
        return False
    return bool(2 * len(np.unique(a)) <= len(a)) or _is_simple_function(a, b)


def _is_simple_function(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return whether two measurements, or their logarithms, are on one line."""
    pairs = [(a, b)]
    if a.min() > 0 and b.min() > 0:
        pairs += [(np.log(a), b), (a, np.log(b)), (np.log(a), np.log(b))]
    return any(abs(float(np.corrcoef(x, y)[0, 1])) > MIN_CORRELATION for x, y in pairs)
