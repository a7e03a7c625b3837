"""Measure how the time of every parser grows: the size of a valid file doubled three times.

    python benchmarks/parser_growth.py            print the table
    python benchmarks/parser_growth.py --write    also replace the table of benchmarks/README.md

A linear parser takes eight times as long for a file that is eight times as large. The files of
networks are chains of variables with two states, tables have eight columns.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from coevo.data import Variable, read_data, read_incomplete
from coevo.io import FORMATS, format_model, read_knowledge
from coevo.network import BayesianNetwork
from harness import Task, describe_run, measure_least_seconds, replace_block

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
    knowledge = folder / f"{factor}.known.json"
    arcs = [[f"v{i}", f"v{i + 1}"] for i in range(ENTRIES * factor)]
    knowledge.write_text(json.dumps({"required": arcs}))
    names = [f"v{i}" for i in range(ENTRIES * factor + 1)]
    yield "prior knowledge", knowledge, partial(read_knowledge, knowledge, names)


def _return(task: Task) -> Task:
    return task


def measure() -> list[str]:
    """Return the rows of the table."""
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


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    caption = f"CPU time of the best of {REPEATS} ({describe_run()['machine']}):"
    table = "\n".join([caption, "", *measure()])
    print(table)
    if options.write:
        replace_block(Path(__file__).parent / "README.md", "growth of parsers", table)


if __name__ == "__main__":
    main()
