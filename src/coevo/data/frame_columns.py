"""Add columns to a copy of a data frame; its index, types and columns stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from coevo.data.copy_rows import choose_new_names
from coevo.data.frame_reader import as_frame
from coevo.errors import DataError, bad_parameter

__all__ = ["add_columns"]


def add_columns(frame: Any, columns: Sequence[tuple[str, Sequence[Any]]], owner: str) -> Any:
    """Return a copy of a pandas, polars or Arrow table with further columns at the end.

    A name that the table has already gets a number.

    >>> import pandas as pd
    >>> add_columns(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]), [("a", [3, 4])], "join")
       a  a_2
    x  1    3
    y  2    4
    """
    table = as_frame(frame)
    if table is None:
        raise bad_parameter("frame", owner, "a data frame", frame)
    if len(table) != len(columns[0][1]):
        raise DataError(
            f"The data frame has {len(table):,} rows, but there are {len(columns[0][1]):,} "
            "predictions. Give the rows that were predicted."
        )
    names = choose_new_names(map(str, table.columns), [name for name, _ in columns])
    backend = nw.get_native_namespace(table)
    index = nw.maybe_get_index(table)
    for name, (_, values) in zip(names, columns, strict=True):
        series = nw.new_series(name, list(values), backend=backend)
        if index is not None:  # pandas aligns by the index
            series = nw.maybe_set_index(series, index=index)
        table = table.with_columns(series)
    return table.to_native()
