"""Columns that are computed from others: groups of a number, sums and means of columns.

``low`` is "yes" where ``bwt`` is below 2,500, and ``total`` is the sum of its parts. Such a column
depends on its source by definition, and the source takes its place in the network. Which of them
matters only the user knows, so both are kept, and a finding names them. (A column that repeats
another one is left out: `coevo.data.copies`.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from coevo.data.drafts import Draft
from coevo.data.option_hints import format_drop_hint
from coevo.data.table_audit import Finding
from coevo.errors import format_list

__all__ = ["find_computed"]

MIN_ROWS = 30
MAX_GROUPS = 20  # of a number
MIN_VALUES = 12  # of a number that has groups
MIN_LOG_ARRANGEMENTS = math.log(1e9)  # chance explains fewer arrangements of the groups
MAX_SUMMED = 60  # columns that are compared
MAX_COMPARED = 500  # rows for the solution of the equations; all rows check it
TOLERANCE = 1e-6

Numbers = NDArray[np.float64]  # (n_rows,), NaN is missing


def find_computed(drafts: Sequence[Draft]) -> list[Finding]:
    """Return a finding for each column that is computed from others."""
    ordered = sorted(drafts, key=lambda draft: draft.column.name)
    measured = {
        draft.column.name: _expand(draft)
        for draft in ordered
        if draft.numbers is not None and len(draft.distinct) >= MIN_VALUES
    }
    return [*_find_groups(ordered, measured), *_find_sums(measured)]


def _expand(draft: Draft) -> Numbers:
    """Return the number of each row."""
    assert draft.numbers is not None
    numbers: Numbers = draft.numbers[draft.column.codes].astype(np.float64)
    if draft.column.missing is not None:
        numbers[draft.column.missing] = np.nan
    return numbers


def _find_groups(drafts: Sequence[Draft], measured: dict[str, Numbers]) -> Iterator[Finding]:
    """Yield the columns whose states are ranges of a number, one after the other."""
    n_values = {name: len(np.unique(numbers)) for name, numbers in measured.items()}
    for draft in drafts:
        column = draft.column
        n_states = int(np.count_nonzero(column.counts))
        if not 2 <= n_states <= MAX_GROUPS:
            continue
        observed = np.ones(len(column.codes), dtype=np.bool_)
        if column.missing is not None:
            observed = ~column.missing
        for name, numbers in measured.items():
            if name == column.name or n_values[name] < 2 * n_states:
                continue
            rows = observed & ~np.isnan(numbers)
            ranges = _find_ranges(column.codes[rows], numbers[rows], len(column.labels))
            if ranges is None:
                continue
            (_, _, low), (start, _, high) = ranges[0], ranges[1]
            yield Finding(
                "computed",
                (column.name, name),
                f"{column.name!r} follows from {name!r} in every row: it is "
                f"{column.labels[low]!r} below {start:g}, then {column.labels[high]!r}. If it was "
                f"computed from it, leave one of them out ({format_drop_hint(column.name)}).",
            )
            break


def _find_ranges(
    codes: NDArray[np.integer], numbers: Numbers, n_labels: int
) -> list[tuple[float, float, int]] | None:
    """Return smallest and largest number and the code of each state, if no two ranges overlap."""
    if len(codes) < MIN_ROWS:
        return None
    for rows in (slice(None, None, max(1, len(codes) // 100)), slice(None)):  # most fail soon
        low, high = np.full(n_labels, np.inf), np.full(n_labels, -np.inf)
        np.minimum.at(low, codes[rows], numbers[rows])
        np.maximum.at(high, codes[rows], numbers[rows])
        used = np.flatnonzero(np.isfinite(low))
        ranges = sorted((float(low[i]), float(high[i]), i) for i in used.tolist())
        if any(one[1] >= two[0] for one, two in pairwise(ranges)):
            return None
    counts = np.bincount(codes, minlength=n_labels)[used]
    evidence = math.lgamma(len(codes) + 1) - sum(math.lgamma(n + 1) for n in counts.tolist())
    is_enough = evidence - math.lgamma(len(used) + 1) >= MIN_LOG_ARRANGEMENTS
    return ranges if is_enough and len(used) > 1 else None


def _find_sums(measured: dict[str, Numbers]) -> Iterator[Finding]:
    """Yield the columns that are the sum or the mean of others."""
    if not 3 <= len(measured) <= MAX_SUMMED:
        return
    names = list(measured)
    table = np.column_stack([measured[name] for name in names])
    table = table[np.isfinite(table).all(axis=1)]
    if len(table) < max(MIN_ROWS, 2 * len(names)):
        return
    start = table[:: max(1, len(table) // MAX_COMPARED)]
    scaled = start / np.maximum(np.abs(start).max(axis=0), TOLERANCE)
    if np.linalg.eigvalsh(scaled.T @ scaled)[0] > TOLERANCE**2 * len(start):
        return  # no column is a linear combination of others
    for place, name in enumerate(names):
        others = [i for i in range(len(names)) if i != place]
        solution = np.linalg.lstsq(start[:, others], start[:, place], rcond=None)[0]
        used = [i for i, factor in zip(others, solution, strict=True) if abs(factor) > TOLERANCE]
        factors = solution[np.abs(solution) > TOLERANCE]
        if len(used) < 2 or np.ptp(factors) > TOLERANCE:
            continue
        is_sum = abs(factors[0] - 1) <= TOLERANCE
        if not (is_sum or abs(factors[0] * len(used) - 1) <= TOLERANCE):
            continue
        expected = table[:, used].sum(axis=1) * (1 if is_sum else 1 / len(used))
        if np.abs(table[:, place] - expected).max() > TOLERANCE * np.abs(table[:, place]).max():
            continue
        parts = format_list([repr(names[i]) for i in used])
        yield Finding(
            "computed",
            (name, *(names[i] for i in used)),
            f"{name!r} is the {'sum' if is_sum else 'mean'} of {parts} in every row. Leave it out "
            f"({format_drop_hint(name)}), or its parts.",
        )
