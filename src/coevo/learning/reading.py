"""How the table of a plan is read: into memory, or into shards that need not fit there.

Shards lie in files or on the workers of a cluster, so they are there only for a while: as
long as `reading` is open.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from coevo.data import ColumnInfo, Rows
from coevo.data.read_options import ReadOptions
from coevo.errors import ParameterError
from coevo.learning.plan import Plan, States
from coevo.outofcore import Shards, is_dask_dataframe, read_shards

__all__ = ["Read", "reading"]

Read = tuple[Rows | Shards, tuple[ColumnInfo, ...]]


@contextlib.contextmanager
def reading(plan: Plan) -> Iterator[Callable[..., Read]]:
    """Yield the function that reads a table as a plan asks for, with notes on its columns.

    It takes a table and `states`, `drop` and `names`, as `read_data` does.
    """
    with contextlib.ExitStack() as opened:

        def read(
            table: Any,
            states: States | None = None,
            drop: Iterable[str] = (),
            names: Sequence[str] | None = None,
        ) -> Read:
            if not plan.in_shards:
                return plan.read(table, states, drop, names)
            shards = opened.enter_context(_shards(plan, table, states, drop, names))
            return shards, shards.notes

        yield read


@contextlib.contextmanager
def _shards(
    plan: Plan,
    table: Any,
    states: States | None,
    drop: Iterable[str],
    names: Sequence[str] | None,
) -> Iterator[Shards]:
    """Yield the shards of a table."""
    is_path = isinstance(table, str | os.PathLike)
    if names is not None or not (is_path or is_dask_dataframe(table)):
        raise ParameterError(
            "A table is read into shards from a Parquet file, a folder of them, or a data frame of "
            "Dask. Write it as Parquet first, or leave 'shards' and 'cluster' out."
        )
    request = ReadOptions.of(states, drop, plan.bins["types"])
    asked = replace(request, refuses_measurements=plan.bins["discretise"] is not None)
    folder = None if plan.shards is None else pathlib.Path(plan.shards)
    source = pathlib.Path(table) if is_path else table
    with read_shards(source, asked, plan.cluster, folder) as found:
        yield found
