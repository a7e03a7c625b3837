"""Measure how the time of every parser grows: the size of a valid file doubled three times.

    python benchmarks/parser_growth.py            print the table
    python benchmarks/parser_growth.py --write    also replace the tables of benchmarks/README.md
                                                  and docs/explanation/testing.md, and the figure

A linear parser takes eight times as long for a file that is eight times as large. The files of
networks are chains of variables with two states, tables have eight columns. The garbage collector
of Python is off while a file is read: its runs would fall on some sizes and not on others.
"""

from __future__ import annotations

import argparse
import gc
import json
import sqlite3
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from coevo.data import Variable, read_data, read_incomplete
from coevo.files.checkpoints import read_entries, write_entries
from coevo.io import FORMATS, format_model, read_knowledge
from coevo.network import BayesianNetwork
from harness import Task, describe_run, measure_least_seconds, replace_block

README = Path(__file__).parent / "README.md"
PAGE = Path(__file__).parents[1] / "docs/explanation/testing.md"
FIGURE = Path(__file__).parent / "parser-growth.png"
REPEATS = 3
DOUBLINGS = 3
VARIABLES, MATRIX, ROWS, ENTRIES = 1000, 150, 20_000, 10_000  # of the smallest files


def make_chain(n: int) -> BayesianNetwork:
    """Return a chain of variables with two states."""
    variables = [Variable(f"v{i}", ("no", "yes")) for i in range(n)]
    parents = {f"v{i}": (f"v{i - 1}",) if i else () for i in range(n)}
    tables = {f"v{i}": np.array([[0.25, 0.75]] * (2 if i else 1)) for i in range(n)}
    return BayesianNetwork(variables, parents, tables)


def list_files(folder: Path, factor: int) -> Iterator[tuple[str, Path, Task]]:
    """Yield the name of each parser, a file of this size, and a function that reads it."""
    for name, known in FORMATS.items():
        n = MATRIX * round(factor**0.5 * 100) // 100 if name == "adjacency" else VARIABLES * factor
        text = format_model(make_chain(n), name)
        path = folder / f"{factor}.{name}"
        path.write_text(text)
        yield known.label, path, partial(known.parse, text, "file")
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (ROWS * factor, 8)).tolist()
    header = [f"c{i}" for i in range(8)]
    csv = folder / f"{factor}.csv"
    csv.write_text("\n".join(",".join(map(str, row)) for row in [header, *cells]) + "\n")
    yield "a text table", csv, partial(read_data, csv)
    lines = folder / f"{factor}.jsonl"
    records = (dict(zip(header, row, strict=True)) for row in cells[: len(cells) // 4])
    lines.write_text("\n".join(map(json.dumps, records)))
    yield "a table in JSON", lines, partial(read_incomplete, lines)
    yield from list_binary_tables(folder, factor, header, cells)
    state = folder / f"{factor}.npz"
    write_entries(
        state, {"a": rng.integers(0, 9, 150_000 * factor), "b": rng.random(50_000 * factor)}
    )
    yield "a checkpoint", state, partial(read_entries, state)
    knowledge = folder / f"{factor}.known.json"
    arcs = [[f"v{i}", f"v{i + 1}"] for i in range(ENTRIES * factor)]
    knowledge.write_text(json.dumps({"required": arcs}))
    names = [f"v{i}" for i in range(ENTRIES * factor + 1)]
    yield "prior knowledge", knowledge, partial(read_knowledge, knowledge, names)


def list_binary_tables(
    folder: Path, factor: int, header: list[str], cells: list[list[int]]
) -> Iterator[tuple[str, Path, Task]]:
    """Yield the tables that other libraries read."""
    import openpyxl
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet

    columns = list(zip(*cells, strict=True))
    table = pyarrow.table(
        {name: list(map(str, one)) for name, one in zip(header, columns, strict=True)}
    )
    parquet, feather = folder / f"{factor}.parquet", folder / f"{factor}.feather"
    pyarrow.parquet.write_table(table, parquet)
    pyarrow.feather.write_feather(table, feather)
    yield "a Parquet table", parquet, partial(read_data, parquet)
    yield "a Feather table", feather, partial(read_data, feather)
    book, sheet = openpyxl.Workbook(), folder / f"{factor}.xlsx"
    for row in [header, *cells[: len(cells) // 10]]:
        book.active.append(row)
    book.save(sheet)
    yield "a spreadsheet", sheet, partial(read_data, sheet)
    database = folder / f"{factor}.sqlite"
    with sqlite3.connect(database) as connection:
        connection.execute(f"CREATE TABLE t ({', '.join(header)})")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", cells)
    connection.close()
    yield "an SQLite table", database, partial(read_data, database)


def _return(task: Task) -> Task:
    gc.collect()
    return task


def measure() -> tuple[dict[str, list[float]], dict[str, list[int]]]:
    """Return the seconds and the bytes of each file, by size."""
    gc.disable()
    factors = [2**i for i in range(DOUBLINGS + 1)]
    seconds: dict[str, list[float]] = {}
    sizes: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for factor in factors:
            files = list(list_files(Path(folder), factor))
            makers = {name: partial(_return, task) for name, _, task in files}
            for name, least in measure_least_seconds(makers, REPEATS).items():
                seconds.setdefault(name, []).append(least)
            for name, path, _ in files:
                sizes.setdefault(name, []).append(path.stat().st_size)
    gc.enable()
    return seconds, sizes


def format_rows(seconds: dict[str, list[float]], sizes: dict[str, list[int]]) -> list[str]:
    """Return the rows of the table."""
    rows = ["| file | kB | ms | ms, doubled three times | size x | time x |"]
    rows.append("|---|--:|--:|--:|--:|--:|")
    for name, times in seconds.items():
        listed = ", ".join(f"{1000 * one:,.0f}" for one in times[1:])
        growth = sizes[name][-1] / sizes[name][0]
        rows.append(
            f"| {name} | {sizes[name][0] / 1000:,.0f} | {1000 * times[0]:,.0f} | {listed} | "
            f"{growth:.1f} | {times[-1] / times[0]:.1f} |"
        )
    return rows


def draw(seconds: dict[str, list[float]], sizes: dict[str, list[int]]) -> None:
    """Draw the time over the size, both as multiples of those of the smallest file."""
    from matplotlib import colormaps

    from coevo.view.figures import GREY, apply_style, make_figure

    figure, (panel,) = make_figure(1, width=7.0, height=4.4)
    with apply_style():
        panel.plot([1, 9], [1, 9], color=GREY, linewidth=3, alpha=0.5, label="linear")
        panel.plot([1, 9], [1, 81], color=GREY, linestyle=":", label="quadratic")
        for number, (name, times) in enumerate(seconds.items()):
            size = [one / sizes[name][0] for one in sizes[name]]
            time = [one / times[0] for one in times]
            colour = colormaps["tab20"](number % 20)
            panel.plot(size, time, "o-", color=colour, markersize=4, linewidth=1.2, label=name)
        panel.set_xscale("log", base=2)
        panel.set_yscale("log", base=2)
        panel.set_ylim(0.8, 64)
        panel.set_xlabel("size of the file (the smallest is 1)")
        panel.set_ylabel("CPU time (of the smallest is 1)")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_formatter("{x:g}")
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    figure.savefig(FIGURE, dpi=150)


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    caption = f"CPU time of the best of {REPEATS} ({describe_run()['machine']}):"
    found = measure()
    table = "\n".join([caption, "", *format_rows(*found)])
    print(table)
    if options.write:
        for page in (README, PAGE):
            replace_block(page, "growth of parsers", table)
        draw(*found)


if __name__ == "__main__":
    main()
