"""Tables with the dirt of real exports, and the same table as files of every kind."""

from __future__ import annotations

import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

N = 240


def make_frame(**columns):
    """Return a table with two columns of states, and others."""
    rng = np.random.default_rng(7)  # no other column repeats one of these
    base = {
        "x": rng.permutation(["a", "b", "c"] * (N // 3)),
        "y": rng.permutation(list("uv") * 120),
    }
    return pd.DataFrame(base | columns)


def spread(cells):
    """Return N cells in random order, each as often as it is listed."""
    return np.random.default_rng(8).permutation((list(cells) * N)[:N]).tolist()


def measure(*extra, n=N):
    """Return `n` numbers from 20 to 79, of which the first are `extra`."""
    return [*extra, *(20 + i * 7 % 60 for i in range(n - len(extra)))]


def make_dirty():
    """Return a table with one column for each kind of advice."""
    return make_frame(
        age=measure(-999, 30),
        kg=["see note", *map(str, measure(n=N - 1))],
        score=[9, 9, *(spread([1, 2, 3, 4, 5])[2:])],
        s=spread(["yes", "no", "y", "no"]),
        job=["unknown", *"pqr" * 79, "p", "q"],
        place=[*"tuvw", *["Bern", "Rome"] * 118],
        sex=spread(["male", "Male", "female ", "female"])[::-1],
    )


def write_sources(frame, folder):
    """Yield the same table as files and frames of every kind."""
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_excel(folder / "t.xlsx", index=False)
    frame.to_json(folder / "t.json", orient="records")
    frame.to_parquet(folder / "t.parquet")
    with sqlite3.connect(folder / "t.db") as connection:
        frame.to_sql("t", connection, index=False)
    connection.close()
    for name in ("t.csv", "t.xlsx", "t.json", "t.parquet", "t.db"):
        yield folder / name
    yield from (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame))
