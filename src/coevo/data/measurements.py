"""Read the numbers of columns that are cut into bins, as numbers.

A dataset holds the bin of each number. The density of a row needs the number itself: see
`coevo.estimators.stacking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from coevo.data.columns import Column, check_rows
from coevo.data.labels import NumberLabels, parse_numbers
from coevo.data.prepare.columns import prepare_columns
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import SourceOptions
from coevo.data.variable import Variable
from coevo.options import SourceParameters

__all__ = ["read_measurements"]

Numbers = NDArray[np.float64]  # (n_rows,), NaN if there is no finite number


def read_measurements(
    source: Any,
    variables: Sequence[Variable],
    *,
    names: Sequence[str] | None = None,
    decimal: str | None = None,
    **opening: Unpack[SourceParameters],
) -> dict[str, Numbers]:
    """Return the numbers of columns of a table, one for each row.

    Parameters
    ----------
    source : path, data frame or array
        A table of any kind that `read_data` accepts.
    variables : sequence of Variable
        The columns to read; the states name their bins. A column that the table does not have is
        left out of the answer.
    names, decimal, **opening
        As for `read_incomplete`. A missing value is NaN, and so is a value that is no number.

    Examples
    --------
    >>> table = np.array([["7,5", "no"], ["?", "yes"], ["0,25", "no"]])
    >>> age = Variable("mm", ("below_2", "from_2"))
    >>> {name: list(map(float, found)) for name, found in
    ...     read_measurements(table, [age], names=["mm", "wet"]).items()}
    {'mm': [7.5, nan, 0.25]}
    """
    wanted = tuple(variables)
    only = [variable.name for variable in wanted]
    opened = SourceOptions.from_parameters("read_measurements", **opening)
    options = ReadPlan.from_parameters(wanted, only=only, opening=opened)
    lenient = options.use_decimal(decimal).allow_missing()
    raw = load_table(source, replace(lenient, is_lenient=True), names)
    check_rows(raw.columns)
    found, filled = {}, []
    for column in raw.columns:
        found[column.name] = np.full(len(column.codes), np.nan)
        n_missing = int(column.counts[lenient.find_missing(column)].sum())
        if n_missing < len(column.codes):
            filled.append(column)
    if filled:
        prepared = prepare_columns(filled, lenient).columns
        found |= {column.name: _parse_numbers(column) for column in prepared}
    return found


def _parse_numbers(column: Column) -> Numbers:
    """Return the number of each row; NaN if it is missing or not finite."""
    labels = column.labels
    if isinstance(labels, NumberLabels):
        numbers = labels.numbers.astype(np.float64)
    else:
        parsed = [parse_numbers([label]) for label in labels]
        numbers = np.array([np.nan if one is None else one[0] for one in parsed])
    found = numbers[column.codes]
    if column.missing is not None:
        found[column.missing] = np.nan
    return np.where(np.isfinite(found), found, np.nan)
