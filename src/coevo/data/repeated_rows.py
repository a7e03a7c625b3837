"""Find rows that are copies of other rows, and not equal by chance.

Equal rows are natural where a table has few columns with few values: they are what a frequency
table counts. Copies come from files that were joined twice and from records that were exported
again. They make every dependence look stronger. Two kinds of evidence tell copies from equal
observations, whatever the dependence between the columns:

*Multiples.* If all rows occur a multiple of k times, the table repeats itself k times: chance would
give some rows another number of occurrences. One of k is kept, so rows that are equal by chance
stay. Designs with the same number of rows in every cell are no evidence.

*No neighbours.* Where chance gives equal rows, it gives more rows that differ in one column only.
If hardly any of the repeated rows has such a neighbour, their repetitions are copies. One of
equal rows is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column
from coevo.data.dataset import hash_rows
from coevo.data.decisions import Decision
from coevo.data.number_labels import parse_numbers
from coevo.errors import format_count

__all__ = ["RowCounts", "count_rows", "find_repeated_rows"]

RowNumbers = NDArray[np.intp]

MIN_REPEATED, MIN_SHARE = 5, 0.01  # fewer copies do no harm
MIN_DISTINCT = 20  # rows that occur a multiple of times: with fewer, chance may do it
MAX_EXPECTED = 0.01  # equal pairs that chance gives to independent columns, for each repetition
MAX_NEIGHBOURS = 0.1  # share of the repeated rows that have a neighbour
MIN_FINE, FINE_SHARE = 2, 0.9  # columns with a different value in most of the distinct rows
MIN_EXPECTED_TRIPLES = 4.0  # rows that should occur three times; fewer prove nothing
UNDO = "duplicates='keep', or --duplicates keep"


@dataclass(frozen=True)
class RowCounts:
    """The distinct rows of a table.

    `first` has the first row of each, `counts` its number of rows, `index` the distinct row of each
    row, `codes` the codes of a column in the distinct rows, and `hashes` a hash of each label. The
    hash of a row is the sum of those of its cells.
    """

    first: RowNumbers
    counts: NDArray[np.int64]
    index: RowNumbers
    codes: list[NDArray[np.integer]]
    hashes: list[NDArray[np.uint64]]

    def iter_cells(self) -> Iterator[NDArray[np.uint64]]:
        """Yield the hashes of the cells of each column in the distinct rows."""
        for codes, hashes in zip(self.codes, self.hashes, strict=True):
            yield hashes[codes]

    @property
    def n_repeated(self) -> int:
        """Number of rows that repeat an earlier row."""
        return int(self.counts.sum()) - len(self.counts)

    def keep_some(self, n_kept: NDArray[np.int64]) -> RowNumbers:
        """Return the first rows of each distinct row: as many as `n_kept` says."""
        order = np.argsort(self.index, kind="stable")
        starts = np.cumsum(self.counts) - self.counts
        rank = np.arange(len(order)) - np.repeat(starts, self.counts)
        return np.sort(order[rank < np.repeat(n_kept, self.counts)])


def count_rows(columns: Sequence[Column]) -> RowCounts:
    """Find the distinct rows; two cells are equal if their labels are."""
    n_rows = len(columns[0].codes)
    total = np.zeros(n_rows, dtype=np.uint64)
    hashes = []
    for place, column in enumerate(columns):
        labels = np.arange(len(column.labels) + 1, dtype=np.uint32)  # the last one is missing
        hashes.append(hash_rows(np.stack([np.full_like(labels, place), labels])))
        total += hashes[-1][_get_codes(column)]
    _, first, index, counts = np.unique(
        total, return_index=True, return_inverse=True, return_counts=True
    )
    codes = [_get_codes(column, first) for column in columns]
    return RowCounts(first, counts.astype(np.int64), index, codes, hashes)


def _get_codes(column: Column, rows: RowNumbers | slice = slice(None)) -> NDArray[np.integer]:
    """Return the codes of some rows; missing values have the code after the last one."""
    codes = column.codes[rows]
    if column.missing is None:
        return codes
    return np.where(column.missing[rows], len(column.labels), codes)


def find_repeated_rows(columns: Sequence[Column]) -> tuple[Decision, RowNumbers] | None:
    """Return the decision on rows that are copies, and the rows to keep; None without copies.

    A column that numbers the rows is not compared.
    """
    compared = [column for column in columns if not _is_row_number(column)]
    if len(compared) < 2 or any(_count_values(c) == len(c.codes) for c in compared):
        return None
    found = count_rows(compared)
    n_distinct, n_rows = len(found.counts), len(found.index)
    if found.n_repeated < max(MIN_REPEATED, MIN_SHARE * n_rows):
        return None
    times = int(np.gcd.reduce(found.counts))
    if times > 1 and n_distinct >= MIN_DISTINCT and not _is_design(found):
        kept = found.keep_some(found.counts // times)
        every = "occurs" if (found.counts == times).all() else "occurs a multiple of"
        sentence = (
            f"Each row {every} {times:,} times, so the table repeats itself; "
            f"{len(kept):,} of {n_rows:,} rows are kept."
        )
        return Decision("duplicates", (), sentence, UNDO), kept
    if not _are_copies(found, compared):
        return None
    repeat = "repeats another row" if found.n_repeated == 1 else "repeat other rows"
    sentence = (
        f"{format_count(found.n_repeated, 'row')} of {n_rows:,} {repeat} in all columns, more than "
        "chance explains; one of equal rows is kept."
    )
    return Decision("duplicates", (), sentence, UNDO), np.sort(found.first)


def _is_row_number(column: Column) -> bool:
    """Return whether a column numbers the rows in their order."""
    if _count_values(column) != len(column.codes):
        return False
    numbers = parse_numbers(column.labels)
    return numbers is not None and bool((np.diff(numbers[column.codes]) == 1).all())


def _count_values(column: Column) -> int:
    return int(np.count_nonzero(column.counts))


def _is_design(found: RowCounts) -> bool:
    """Return whether the distinct rows are a design: all values of a column are as frequent."""
    frequencies = (np.bincount(codes) for codes in found.codes)
    is_even = all(len(set(counts[counts > 0].tolist())) == 1 for counts in frequencies)
    return is_even and bool((found.counts == found.counts[0]).all())


def _are_copies(found: RowCounts, columns: Sequence[Column]) -> bool:
    """Return whether repeated rows have too few neighbours to be equal by chance."""
    n_distinct, is_repeated = len(found.counts), found.counts > 1
    # Columns that repeat each other prove nothing: expect at most what independent columns give.
    chances = []
    for codes in found.codes:
        share = np.bincount(codes) / n_distinct
        chances.append(math.log(float((share * share).sum())))
    n_pairs = len(found.index) * (len(found.index) - 1) / 2
    if math.log(n_pairs) + math.fsum(chances) > math.log(MAX_EXPECTED * found.n_repeated):
        return False
    if not (_lacks_triples(found.counts) or _count_fine(found, columns) >= MIN_FINE):
        return False
    rows = np.zeros(n_distinct, dtype=np.uint64)
    for cells in found.iter_cells():
        rows += cells
    has_neighbour = np.zeros(n_distinct, dtype=np.bool_)
    for cells in found.iter_cells():
        _, index, counts = np.unique(rows - cells, return_inverse=True, return_counts=True)
        has_neighbour |= counts[index] > 1
        if has_neighbour[is_repeated].mean() > MAX_NEIGHBOURS:
            return False
    return True


def _lacks_triples(counts: NDArray[np.int64]) -> bool:
    """Return whether too few rows occur three times, given how many occur once and twice.

    The number of occurrences of a row is a Poisson variable, whatever its probability. For each
    mixture of Poisson distributions (2 f2)^2 <= 6 f1 f3 holds, by the inequality of Cauchy and
    Schwarz, where fk is the expected number of rows that occur k times.
    """
    once, twice, thrice = np.bincount(counts, minlength=4)[1:4].tolist()
    expected = 4 * twice**2 / (6 * max(once, 1))
    return bool(expected >= MIN_EXPECTED_TRIPLES and 4 * thrice <= expected)


def _count_fine(found: RowCounts, columns: Sequence[Column]) -> int:
    """Return the number of columns that tell nearly all of the distinct rows apart.

    Text does so only where most rows occur once: a city occurs with all that depends on it.
    """
    n_distinct = len(found.counts)
    fine = [one for one in columns if _count_values(one) >= FINE_SHARE * n_distinct]
    if 2 * np.count_nonzero(found.counts == 1) >= n_distinct:
        return len(fine)
    return sum(parse_numbers(one.labels) is not None for one in fine)
