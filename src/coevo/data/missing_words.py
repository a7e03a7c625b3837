"""Words that may stand for missing values: "unknown" among states, "see note" among numbers.

Among many numbers such words are missing values (`coevo.data.column_numbers`). Among states, and
among few numbers, they can be a state: a finding proposes to make them missing values of their
column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from coevo.data.columns import Column
from coevo.data.number_labels import parse_number
from coevo.data.option_hints import format_label_hint
from coevo.data.table_audit import Finding
from coevo.errors import format_count, format_list

__all__ = ["find_missing_words", "find_odd_words", "is_missing_word", "looks_like_code"]

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
