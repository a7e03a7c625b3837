"""Numbers and words that stand for missing values.

Numbers that stand for missing values: -999 among ages, 99 among counts, 9 after 1 to 5.

Such a code is written with nines (99, -999, 99.9), or with sevens and eights beside nines (97, 98,
99), and lies outside of the other numbers. A code that is *far* is a missing value by default. A
code that is *near* can be a number: it is proposed to the user and changes nothing. An outlier is
far from the others, too, but it is hardly ever a row of nines.

The rules read the distinct numbers of one column and their counts, never the order of rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.data.column_types import format_label_hint
from coevo.data.columns import Column
from coevo.data.labels import parse_number
from coevo.data.table_audit import Finding
from coevo.errors import format_count, format_list

__all__ = [
    "MissingCodes",
    "find_missing_codes",
    "find_missing_words",
    "find_odd_words",
    "is_missing_word",
    "looks_like_code",
]

Numbers = NDArray[np.float64]

# A positive code is far if its distance to the other numbers is larger than this many times their
# range. Prices and counts have outliers at some ranges from the rest; benchmarks/dirt.py found no
# row of nines that is a value beyond three.
FAR = 3
MAX_SHARE = 0.5  # of the rows: if most rows have it, the code is a statement ("never contacted")
MIN_REST = 3  # distinct numbers beside a far code
PILE = 3  # a near code has so many rows at least, and so many times the rows of its neighbours
NEIGHBOURS = 5
MAX_SCALE = 7  # the last number of a scale, as 1 to 7, after which 9 is a code
MIN_DISTINCT = 10  # numbers from 0 on, beside which -1 is a code; -1, 0, 1, 2 is a scale

_NINES = re.compile(r"9+(?:\.9+)?")
_OTHERS = re.compile(r"9*[78]|(?P<digit>[78])(?P=digit)*")  # 97, 98, 998; 77, 888


@dataclass(frozen=True, slots=True)
class MissingCodes:
    """Numbers of a column that stand for missing values, and numbers that may do so."""

    far: tuple[float, ...] = ()
    near: tuple[float, ...] = ()


def find_missing_codes(values: Numbers, counts: NDArray[np.int64]) -> MissingCodes:
    """Return the codes of missing values among the distinct numbers of a column.

    Parameters
    ----------
    values : array of float
        The distinct numbers in ascending order, all finite.
    counts : array of int
        The number of rows with each of them.

    Examples
    --------
    >>> ages = np.array([-999.0, 21, 30, 44, 80])
    >>> find_missing_codes(ages, np.array([4, 20, 20, 20, 20])).far
    (-999.0,)
    >>> answers = np.array([1.0, 2, 3, 4, 5, 8, 9])
    >>> find_missing_codes(answers, np.array([20, 20, 20, 20, 20, 2, 3])).near
    (8.0, 9.0)
    """
    n_high = _choose_end(values, counts, _strip(values[::-1], is_negative=False), is_high=True)
    n_low = _choose_end(values, counts, _strip(values, is_negative=True), is_high=False)
    far: list[float] = []
    near: list[float] = []
    rest = values[n_low : len(values) - n_high]
    if not len(rest):
        return MissingCodes()
    for codes, own_counts, is_high in (
        (values[:n_low], counts[:n_low], False),
        (values[len(values) - n_high :], counts[len(values) - n_high :], True),
    ):
        if not len(codes):
            continue
        share = own_counts.sum() / counts.sum()
        is_far = _is_far(codes, rest, is_high) and share <= MAX_SHARE
        (far if is_far else near).extend(codes.tolist())
    return MissingCodes(tuple(far), tuple(near))


def _strip(values: Numbers, is_negative: bool) -> int:
    """Return how many numbers from the start on are codes; the first must have nines, or be -1."""
    n = 0
    for value in values.tolist():
        text = f"{abs(value):.10g}"
        is_nines = bool(_NINES.fullmatch(text))
        is_minus_one = is_negative and value == -1
        is_code = is_nines or is_minus_one or (n > 0 and bool(_OTHERS.fullmatch(text)))
        if (value < 0) is not is_negative or value == 0 or not is_code:
            break
        n += 1
    return n


def _choose_end(values: Numbers, counts: NDArray[np.int64], n_codes: int, is_high: bool) -> int:
    """Return how many of the codes at one end are apart from the other numbers.

    Of 7, 8 and 9 after 1 to 5 all three are, after 1 to 6 only 8 and 9 can be.
    """
    for n in range(n_codes, 0, -1):
        codes = values[len(values) - n :] if is_high else values[:n]
        rest = values[: len(values) - n] if is_high else values[n:]
        rows = counts[len(values) - n :] if is_high else counts[:n]
        others = counts[: len(values) - n][::-1] if is_high else counts[n:]
        if len(rest) >= 2 and (
            _is_far(codes, rest, is_high) or _is_near(codes, rest, rows, others, is_high)
        ):
            return n
    return 0


def _is_far(codes: Numbers, rest: Numbers, is_high: bool) -> bool:
    """Return whether codes are so far from the other numbers that they are no values."""
    if len(rest) < MIN_REST:
        return False
    spread = float(rest[-1] - rest[0])
    nearest = float(codes[0] if is_high else codes[-1])
    size = abs(nearest)
    if is_high:
        return size >= 77 and nearest - float(rest[-1]) > FAR * spread
    gap = float(rest[0]) - nearest
    if size >= 77:  # the only negative numbers of a column, or far below the others
        return bool(rest[0] >= 0) or gap > FAR * spread
    return size >= 7 and bool(rest[0] >= 0) and gap > spread


def _is_near(
    codes: Numbers,
    rest: Numbers,
    rows: NDArray[np.int64],
    others: NDArray[np.int64],
    is_high: bool,
) -> bool:
    """Return whether codes may be missing values; `others` are the counts from the codes on."""
    nearest = float(codes[0] if is_high else codes[-1])
    spread, size = float(rest[-1] - rest[0]), abs(nearest)
    are_whole = bool((rest == np.floor(rest)).all())
    if not is_high:
        if not (are_whole and rest[0] >= 0):
            return False
        return size >= 7 or rest[0] >= 1 or len(rest) > MIN_DISTINCT
    gap = nearest - float(rest[-1])
    if size < 10:  # 8 and 9 after a scale like 1 to 5 or 0 to 3
        is_run = are_whole and rest[0] in (0, 1) and spread == len(rest) - 1
        return is_run and rest[-1] <= MAX_SCALE and gap >= 2
    if gap > spread:
        return True
    is_pile = rows.min() >= PILE and rows.min() > PILE * others[:NEIGHBOURS].mean()
    return bool(is_pile and gap >= 2)


# Words that may stand for missing values: "unknown" among states, "see note" among numbers.
#
# Among many numbers such words are missing values (`coevo.data.prepare.column_numbers`). Among
# states, and among few numbers, they can be a state: a finding proposes to make them missing values
# of their column.


# Letters of words that nearly always stand for a missing value, in lower case. "none", "refused"
# and "not applicable" are answers as often as not, so they are not here.
_WORDS = frozenset(
    """
    unknown unkn unk missing notrecorded notavailable notknown notreported notstated notspecified
    notmeasured notdone notdetermined notassessed nodata noanswer noresponse novalue noinformation
    undetermined unspecified dontknow donotknow na nan nv ka keineangabe keineangaben unbekannt
    fehlt fehlend fehlendewerte nichtbekannt nichterhoben inconnu inconnue desconocido manquant
    sconosciuto empty blank leer
    """.split()  # noqa: SIM905
)
_SHORT = frozenset({"na", "nv", "ka", "nan"})  # with points or slashes only: "n.a.", "k. A.", "n/a"
_CODE = re.compile(r"[A-Za-z]{1,3}[-./ ]?\d.*|\d[\d./-]*[A-Za-z]{1,2}|\d+[-/.:]\d.*")
MIN_NUMBERS = 3  # distinct numbers beside a word that is odd
MAX_ODD_SHARE = 0.05  # of the rows


def is_missing_word(label: str) -> bool:
    """Return whether a label is a word for a missing value.

    >>> [is_missing_word(text) for text in ("Unknown", "not recorded", "k. A.", "Ka", "none")]
    [True, True, True, False, False]
    """
    letters = re.sub(r"[^\w]|_", "", label.casefold().replace("'", ""))
    if letters in _SHORT:
        return any(mark in label for mark in "./")
    return letters in _WORDS


def looks_like_code(label: str) -> bool:
    """Return whether a label that is no number looks like a code among codes, as V57 or 12a.

    >>> [looks_like_code(text) for text in ("V57", "12a", "3-4", "see note", "ca. 60", "60 kg")]
    [True, True, True, False, False, False]
    """
    return bool(_CODE.fullmatch(label.strip()))


def find_missing_words(column: Column) -> Finding | None:
    """Return the finding on the words for missing values among states; None without any."""
    observed = np.flatnonzero(column.counts).tolist()
    words = [code for code in observed if is_missing_word(str(column.labels[code]))]
    if not words or len(words) == len(observed):
        return None
    return _propose(column, words, "may stand for")


def find_odd_words(column: Column) -> Finding | None:
    """Return the finding on a few words among few numbers; None without any.

    The numbers are states, and the word may be one: "rotary" among numbers of cylinders.
    """
    observed = np.flatnonzero(column.counts).tolist()
    is_word = [parse_number(str(column.labels[code])) is None for code in observed]
    words = [code for code, odd in zip(observed, is_word, strict=True) if odd]
    rows = int(column.counts[words].sum())
    is_few = 0 < rows <= max(1, MAX_ODD_SHARE * column.n_observed)
    if not is_few or len(observed) - len(words) < MIN_NUMBERS:
        return None
    if any(looks_like_code(str(column.labels[code])) for code in words):
        return None
    return _propose(column, words, "is no number, and may stand for")


def _propose(column: Column, words: Sequence[int], verb: str) -> Finding:
    labels = sorted(str(column.labels[code]).strip() for code in words)
    rows = format_count(int(column.counts[list(words)].sum()), "row")
    listed = format_list([repr(label) for label in labels])
    hint = format_label_hint("missing_labels", column.name, labels)
    return Finding(
        "missing_word",
        (column.name,),
        f"{listed} in {column.name!r} ({rows}) {verb} a missing value. If so, give {hint}.",
        options={"missing_labels": {column.name: labels}},
    )
