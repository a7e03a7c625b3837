"""What is left out of a table: useless columns, and copies of columns and rows.

Columns that are left out, because nothing can be learned from them: one decision for each.

A column is left out if it is empty or nearly empty, has the same value in every row, has more
labels than coevo can store, or looks like an identifier or free text. The functions see one column
at a time, so their decisions depend on no order.

*Identifiers.* Text is an identifier if its values occur less than twice on average. Whole
numbers are an identifier if all of them differ, although chance would repeat some: of n numbers
that are drawn from r numbers, about n² / 2r pairs are equal, and any other distribution gives
more pairs. Populations and incomes have a wide range, so they are measurements, and so are
years. A column whose name says "id" needs less evidence.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import format_type_hint
from coevo.data.columns import IDENTIFIER_ABOVE, Column
from coevo.data.dataset import hash_rows
from coevo.data.decisions import STRICT_UNDO, Decision
from coevo.data.labels import NumberLabels, parse_numbers
from coevo.data.variable import MAX_STATES
from coevo.errors import format_count

__all__ = [
    "CopyCandidate",
    "RowCounts",
    "count_rows",
    "find_constant",
    "find_copies",
    "find_empty",
    "find_number_identifier",
    "find_repeated_rows",
    "find_text_identifier",
]

MAX_MISSING_SHARE = 0.8  # with more missing values, most of what is learned is imputed
MIN_OBSERVED = 20  # fewer values say little if half of the rows have none
EXPECTED_PAIRS = 10  # equal pairs that chance would give among the numbers of an identifier
ROWS_PER_ID = 5  # values of a column called "id" occur less often on average
FIRST_YEAR, LAST_YEAR = 1500, 2200  # of a column called "year" or "time"
FREE_TEXT_LENGTH = 20  # mean number of characters
FREE_TEXT_WORDS = 3  # mean number of words

MIN_COMMENTS = 10  # texts that occur once

_TOO_MANY = f"has more than {MAX_STATES:,} different values"
_ID_NAME = re.compile(
    r"(?:.*[_\W])?(?:id|Id|ID|uuid|UUID|guid)|.*[a-z](?:Id|ID)|index|rownames?|Unnamed: 0", re.ASCII
)
_COMMENT_NAME = re.compile("comment|remark|note|bemerkung|kommentar|free.?text", re.IGNORECASE)
_YEAR_NAME = re.compile("year|yr|time|date", re.IGNORECASE)


def find_empty(column: Column) -> Decision | None:
    """Return the decision on a column with few values; None if it has enough values."""
    name, n_rows = column.name, len(column.codes)
    if column.overflow:
        return _leave_out("too_many_states", name, _TOO_MANY, STRICT_UNDO)
    n_missing = n_rows - column.n_observed
    if n_missing == n_rows:
        return _leave_out("empty", name, "has no value in any row", STRICT_UNDO)
    is_sparse = n_missing > MAX_MISSING_SHARE * n_rows
    is_small = column.n_observed < MIN_OBSERVED <= n_rows and 2 * n_missing >= n_rows
    if not (is_sparse or is_small):
        return None
    text = f"has no value in {n_missing:,} of {n_rows:,} rows ({100 * n_missing // n_rows}%)"
    return _leave_out("nearly_empty", name, text)


def find_constant(column: Column) -> Decision | None:
    """Return the decision on a column with one value; None if it has several."""
    if len(column.codes) == 1 or np.count_nonzero(column.counts) != 1:
        return None
    value = column.labels[int(np.argmax(column.counts))]
    where = "in every row" if column.n_observed == len(column.codes) else "wherever it has a value"
    return _leave_out("constant", column.name, f"is {value!r} {where}")


def find_text_identifier(column: Column) -> Decision | None:
    """Return the decision on a column of text with too many values; None if they recur."""
    observed = np.flatnonzero(column.counts).tolist()
    n, n_rows = len(observed), column.n_observed
    if _holds_comments(column, observed):
        text = f"holds free text, {n:,} different texts in {n_rows:,} rows"
        return _leave_out("free_text", column.name, text)
    if n <= IDENTIFIER_ABOVE or not _is_mostly_distinct(column.name, n, n_rows):
        if n <= MAX_STATES:
            return None
        return _leave_out("too_many_states", column.name, _TOO_MANY, STRICT_UNDO)
    texts = [str(column.labels[code]) for code in observed]
    is_long = sum(map(len, texts)) > FREE_TEXT_LENGTH * n
    is_prose = sum(len(text.split()) for text in texts) > FREE_TEXT_WORDS * n
    if is_long and is_prose:
        text = f"holds free text, {n:,} different texts in {n_rows:,} rows"
        return _leave_out("free_text", column.name, text)
    words = [text for text in texts if parse_numbers([text]) is None]
    if words and 2 * len(words) < n:
        text = f"holds numbers and other text like {min(words)!r}, {n:,} different values"
        return _leave_out("mixed", column.name, f"{text} in {n_rows:,} rows")
    return _leave_out("identifier", column.name, _describe_values("value", n, n_rows))


def _holds_comments(column: Column, observed: list[int]) -> bool:
    """Return whether most texts occur once and are prose, although a few others are common.

    "ok" in half of the rows does not make a state of each comment in the other half.
    """
    single = [code for code in observed if column.counts[code] == 1]
    is_named = _COMMENT_NAME.search(column.name) is not None
    if len(single) < MIN_COMMENTS or 2 * len(single) < len(observed):
        return False
    texts = [str(column.labels[code]) for code in single]
    n_words = sum(len(text.split()) for text in texts)
    is_long = sum(map(len, texts)) > FREE_TEXT_LENGTH * len(texts)
    return n_words > FREE_TEXT_WORDS * len(texts) and (is_long or is_named)


def find_number_identifier(column: Column, distinct: NDArray[np.float64]) -> Decision | None:
    """Return the decision on whole numbers that look like an identifier; else None.

    `distinct` are the distinct numbers of the column, in ascending order.
    """
    n, n_rows = len(distinct), column.n_observed
    if n <= IDENTIFIER_ABOVE or (distinct != np.floor(distinct)).any():
        return None
    low, high = float(distinct[0]), float(distinct[-1])
    if _YEAR_NAME.search(column.name) and low >= FIRST_YEAR and high <= LAST_YEAR:
        return None
    if n == n_rows and high - low + 1 == n:
        text = f"holds each whole number from {low:.0f} to {high:.0f} once, like an identifier"
    elif (n == n_rows and n * n >= 2 * EXPECTED_PAIRS * (high - low)) or (
        _ID_NAME.fullmatch(column.name) and _is_mostly_distinct(column.name, n, n_rows)
    ):
        text = _describe_values("whole number", n, n_rows)
    else:
        return None
    hint = format_type_hint(column.name, "continuous")
    return _leave_out("identifier", column.name, text, hint)


def _is_mostly_distinct(name: str, n_distinct: int, n_rows: int) -> bool:
    """Return whether values are so rare that nothing can be learned about each of them."""
    limit = ROWS_PER_ID if _ID_NAME.fullmatch(name) else 2
    return n_distinct * limit > n_rows


def _describe_values(noun: str, n_distinct: int, n_rows: int) -> str:
    if n_distinct == n_rows:
        return f"has a different {noun} in each of its {n_rows:,} rows, like an identifier"
    return f"has {n_distinct:,} different {noun}s in {n_rows:,} rows, like an identifier"


def _leave_out(kind: str, name: str, text: str, undo: str | None = None) -> Decision:
    hint = format_type_hint(name, "categorical") if undo is None else undo
    return Decision(kind, (name,), f"{name!r} {text}; it is left out.", hint)


# Find columns that repeat another column, value for value or in other words.
#
# Two columns are copies if each value of one goes with one value of the other. A copy needs
# evidence: the number of ways to arrange the values of the column over the rows must be so large
# that chance does not explain it. Two columns of measurements whose values all differ always
# fulfil the condition. They are copies if one rises or falls with the other and their values
# recur, or if one is a linear function of the other or of its logarithm.
#
# Text is kept before numbers, whole numbers before decimal numbers, and then the first column by
# name, so that no order of columns matters.


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
        original = next((one for one in known if _are_copied_columns(one, candidate)), None)
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


def _are_copied_columns(first: CopyCandidate, second: CopyCandidate) -> bool:
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


# Find rows that are copies of other rows, and not equal by chance.
#
# Equal rows are natural where a table has few columns with few values: they are what a frequency
# table counts. Copies come from files that were joined twice and from records that were exported
# again. They make every dependence look stronger. Two kinds of evidence tell copies from equal
# observations, whatever the dependence between the columns:
#
# *Multiples.* If all rows occur a multiple of k times, the table repeats itself k times: chance
# would give some rows another number of occurrences. One of k is kept, so rows that are equal by
# chance stay. Designs with the same number of rows in every cell are no evidence.
#
# *No neighbours.* Where chance gives equal rows, it gives more rows that differ in one column
# only. If hardly any of the repeated rows has such a neighbour, their repetitions are copies. One
# of equal rows is kept.


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
