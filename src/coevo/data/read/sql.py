"""Read the result of an SQL query, and tables of SQLite files.

Any DB-API 2 connection works: `sqlite3`, psycopg, duckdb, pyodbc and others. An SQLite file is
opened read-only. The library of Python reads it; nothing has to be installed.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from coevo.data.decisions import RawTable
from coevo.data.read.arrays import collect_columns, read_cells
from coevo.data.read.header_names import clean_names, drop_unnamed
from coevo.data.read_options import ReadPlan
from coevo.errors import CoevoError, DataError, ParameterError, format_list, suggest_match
from coevo.files.files import ByteSource, open_source

__all__ = ["read_query", "read_sqlite"]

_SQLITE = b"SQLite format 3\0"
MOST_STEPS, STEPS_PER_BYTE = 10_000_000, 100  # of the virtual machine of SQLite
STEPS_BETWEEN = 100_000  # from one count of steps to the next


def read_query(query: object, options: ReadPlan) -> RawTable:
    """Read the rows that a query returns, over ``options.opening.connection``."""
    if not isinstance(query, str):
        kind = type(query).__name__
        raise ParameterError(
            f"'source' of read_data must be an SQL query, because 'connection' is given; got a "
            f"{kind}."
        )
    connection = options.opening.connection
    if not isinstance(connection, str | os.PathLike):
        return _run_query(connection, query, options)
    path = Path(connection)
    with open_source(path) as source:
        if source.peek(len(_SQLITE)) != _SQLITE:
            raise DataError(
                f"{str(path)!r} is not an SQLite file. Give a connection to other databases."
            )
    with _open_file(path) as opened:
        return _run_query(opened, query, options)


def read_sqlite(source: ByteSource, options: ReadPlan) -> RawTable:
    """Read a table of an SQLite file, or the result of a query to it."""
    content = None if source.is_file else source.read_all()
    with _open_file(source.path, content) as connection:
        query = options.opening.query
        if query is None:
            n_bytes = os.path.getsize(source.path) if content is None else len(content)
            limit_steps(connection, n_bytes)
            name = _choose_table(connection, source.path, options)
            doubled = name.replace('"', '""')
            query = f'SELECT * FROM "{doubled}"'
        return _run_query(connection, query, options)


def limit_steps(connection: sqlite3.Connection, n_bytes: int) -> None:
    """Let a query take a number of steps in proportion to the size of the file.

    A view can be a query without an end. The rows of a table need a few steps for each byte.
    """
    left = (MOST_STEPS + STEPS_PER_BYTE * n_bytes) // STEPS_BETWEEN

    def count() -> bool:
        nonlocal left
        left -= 1
        return left < 0  # True interrupts the query

    connection.set_progress_handler(count, STEPS_BETWEEN)


@contextlib.contextmanager
def _open_file(path: Path, content: bytes | None = None) -> Iterator[sqlite3.Connection]:
    """Open an SQLite file read-only, or its content."""
    try:
        if content is None:
            address = f"file:{quote(os.fspath(path.absolute()))}?mode=ro"
            connection = sqlite3.connect(address, uri=True)
        else:
            connection = sqlite3.connect(":memory:")
            connection.deserialize(content)
    except sqlite3.Error as error:
        raise _make_file_error(path, error) from None
    try:
        yield connection
    finally:
        connection.close()


def _choose_table(connection: sqlite3.Connection, path: Path, options: ReadPlan) -> str:
    """Return the name of the table to read: the given one, or the only one."""
    query = (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
        "'sqlite_%' ORDER BY name"
    )
    try:
        names = [str(name) for (name,) in connection.execute(query)]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _make_file_error(path, error) from None
    wanted = options.opening.sheet
    if isinstance(wanted, int):
        raise ParameterError("'sheet' of read_data must be the name of a table for SQLite files.")
    if wanted is not None and wanted not in names:
        raise DataError(
            f"{str(path)!r} has no table {wanted!r}; it has {_list_names(names)}."
            f"{suggest_match(wanted, names)}"
        )
    if wanted is not None:
        return wanted
    if len(names) == 1:
        return names[0]
    if not names:
        raise DataError(f"{str(path)!r} has no tables.")
    raise DataError(
        f"{str(path)!r} has {len(names):,} tables: {_list_names(names)}. Give one of them with "
        "sheet=NAME (--table NAME), or a query with query= (--query)."
    )


def _list_names(names: list[str]) -> str:
    return format_list([repr(name) for name in names]) if names else "no tables"


def _run_query(connection: Any, query: str, options: ReadPlan) -> RawTable:
    """Return the rows of a query as columns."""
    try:
        cursor = connection.cursor()
        try:
            cursor.execute(query)
            description = cursor.description
            rows = [] if description is None else cursor.fetchall()
        finally:
            cursor.close()
    except (CoevoError, MemoryError):
        raise
    except sqlite3.OperationalError as error:
        if str(error) != "interrupted":
            raise _make_query_error(error) from None
        raise DataError(
            "The view takes more steps than the size of its file explains. If you trust the file, "
            "give a query with query= (--query)."
        ) from None
    except Exception as error:  # each DB-API library has its own exceptions
        raise _make_query_error(error) from None
    if description is None:
        raise DataError("The query returns no table. Give a SELECT query.")
    clean = clean_names([str(column[0]) for column in description], options.opening)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(description)
    selected = [(clean.names[i], columns[i]) for i in clean.select(options)]
    table = collect_columns(selected, read_cells, options)
    found = drop_unnamed(table.columns, clean, options)
    return RawTable(found.columns, [*found.decisions, *table.decisions])


def _make_query_error(error: Exception) -> DataError:
    reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return DataError(f"The query failed: {reason}. Correct the query.")


def _make_file_error(path: Path, error: Exception) -> DataError:
    reason = " ".join(str(error).split()).rstrip(".")
    return DataError(
        f"{str(path)!r} is not an SQLite file, or is damaged ({reason}). Copy or download it again."
    )
