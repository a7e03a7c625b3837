"""Clusters of rows: the visits of a patient, the members of a household.

Rows of a cluster are not independent. A bootstrap that draws rows would treat a patient with ten
visits as ten patients, and its strengths would be too high. The caller names the column of
clusters; this module reads it, and finds columns that look like one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from coevo.data.columns import IDENTIFIER_ABOVE, Column
from coevo.data.dataset import Clusters
from coevo.data.number_labels import parse_numbers
from coevo.data.table_audit import Finding
from coevo.data.variable import MAX_STATES
from coevo.errors import DataError, format_count

__all__ = ["find_group_column", "read_clusters"]

MIN_MEAN_SIZE = 1.5  # rows of a group
MIN_CONSTANT_SHARE = 0.9  # of the groups with several rows in which another column is constant
MAX_EXPECTED_SHARE = 0.6  # such groups, if the rows were drawn at random

_GROUP_NAME = re.compile(
    r"(?:.*[_\W])?(?:id|pid|uid|subject|subj|patient|person|participant|respondent|individual|indiv"
    r"|household|hh|hhid|family|stratum|strata|cluster|group|pair|litter|twin|client|customer|user"
    r"|case|child|student|pupil|animal|firm|company)"
    r"(?:[_\W]?(?:id|no|nr|num|number|code|key))?\.?|.*[a-z](?:Id|ID)",
    re.IGNORECASE,
)


def read_clusters(column: Column, missing: Sequence[int]) -> Clusters:
    """Return the number of the cluster of each row; `missing` are the codes of missing values."""
    if column.overflow:
        raise DataError(
            f"Column {column.name!r} cannot give clusters: it has more than {MAX_STATES:,} "
            "different texts. Number the clusters."
        )
    is_missing = np.isin(column.codes, missing)
    if column.missing is not None:
        is_missing |= column.missing
    if is_missing.any():
        raise DataError(
            f"Column {column.name!r} cannot give clusters: it has no value in "
            f"{format_count(int(is_missing.sum()), 'row')}, first in row "
            f"{int(np.argmax(is_missing)) + 1:,}. Fill it in, or leave these rows out."
        )
    clusters = column.codes.astype(np.int64)
    if len(np.unique(clusters)) < 2:
        raise DataError(
            f"Column {column.name!r} cannot give clusters: it has the same value in every row."
        )
    return clusters


def find_group_column(columns: Sequence[Column], free: Sequence[Column]) -> Finding | None:
    """Return a proposal to draw groups of rows; None if no column numbers groups.

    The name of such a column says what it numbers, its values are many, and another column is
    constant in nearly all groups, although chance would not make it so.
    """
    for column in free:
        if column.overflow or not _GROUP_NAME.fullmatch(column.name) or not _numbers(column):
            continue
        others = [one for one in columns if one is not column and not one.overflow]
        constant = [one.name for one in others if _is_constant_in(column, one)]
        if constant:
            sizes = column.counts[column.counts > 0]
            return Finding(
                "clusters",
                (column.name,),
                f"{column.name!r} seems to number {len(sizes):,} groups of rows: {constant[0]!r} "
                "is the same within a group. Rows of a group are not independent, so strengths are "
                f"too high. Draw groups with cluster_by={column.name!r} "
                f"(--cluster-by {column.name}).",
            )
    return None


def _numbers(column: Column) -> bool:
    """Return whether a column has many values, each in several rows: numbers, or codes."""
    counts = column.counts[column.counts > 0]
    if len(counts) <= IDENTIFIER_ABOVE or counts.sum() < MIN_MEAN_SIZE * len(counts):
        return False
    labels = [column.labels[code] or "" for code in np.flatnonzero(column.counts).tolist()]
    numbers = parse_numbers(labels)
    if numbers is None:
        return all(any(sign.isdigit() for sign in label) for label in labels)
    return bool((numbers == np.floor(numbers)).all())


def _is_constant_in(groups: Column, other: Column) -> bool:
    """Return whether a column is constant in most groups of rows, and not by chance."""
    n_values = int(np.count_nonzero(other.counts))
    if not 1 < n_values < np.count_nonzero(groups.counts):
        return False
    order = np.lexsort((other.codes, groups.codes))
    group, value = groups.codes[order], other.codes[order]
    is_same_group = group[1:] == group[:-1]
    breaks = np.unique(group[1:][is_same_group & (value[1:] != value[:-1])])
    several = np.flatnonzero(groups.counts > 1)
    if len(several) < IDENTIFIER_ABOVE or len(breaks) > (1 - MIN_CONSTANT_SHARE) * len(several):
        return False
    shares = other.counts / other.counts.sum()
    sizes = groups.counts[several]
    expected = np.mean([(shares**size).sum() for size in sizes.tolist()])
    return bool(expected < MAX_EXPECTED_SHARE)
