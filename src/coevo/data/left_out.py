"""Columns that are left out, because nothing can be learned from them: one decision for each.

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

import re

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import IDENTIFIER_ABOVE, Column
from coevo.data.decisions import STRICT_UNDO, Decision
from coevo.data.number_labels import parse_numbers
from coevo.data.option_hints import format_type_hint
from coevo.data.variable import MAX_STATES

__all__ = ["find_constant", "find_empty", "find_number_identifier", "find_text_identifier"]

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
