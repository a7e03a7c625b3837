"""Count the arcs that are learned from noise: tables whose columns are independent.

Each table has 30 to 500 rows and 2 to 40 columns. The columns are drawn independently of each
other: text or whole numbers with 2 to 30 states (even or skewed), counts, rounded and continuous
measurements, and months of a year whose rows are shuffled. Some have missing values. Half of the
tables are read from a CSV file, half are data frames, so that they come in as the table of a user
does. `learn` gets no option but its defaults. Every arc is therefore a false one.

The table shows, for each kind of column, in how many tables `learn` finds a "decisive" arc, a
"strong" one, or any arc, and the mean number of arcs.

    python benchmarks/null_tables.py
    python benchmarks/null_tables.py --tables 40 --seed 7 --format json
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

import coevo
from harness import describe_run, print_json, replace_block

N_TABLES = 200
KINDS = ("text", "codes", "counts", "rounded", "continuous", "months", "mixed")


def draw_shares(rng: Generator, n_states: int) -> Any:
    """Return the probabilities of some states: even, falling, or with one common state."""
    shape = rng.integers(3)
    if shape == 0:
        return np.full(n_states, 1 / n_states)
    if shape == 1:
        shares = np.exp(-rng.uniform(0.02, 0.6) * np.arange(n_states))
    else:
        shares = np.ones(n_states)
        shares[0] = rng.uniform(1, 3 * n_states)
    return rng.permutation(shares / shares.sum())


def draw_states(rng: Generator, n_rows: int) -> Any:
    """Return the numbers of the states in each row of a column of 2 to 30 states."""
    n_states = int(np.exp(rng.uniform(np.log(2), np.log(30.99))))
    return rng.choice(n_states, n_rows, p=draw_shares(rng, n_states))


def draw_text(rng: Generator, n_rows: int) -> Any:
    """Return a column of words."""
    return np.array([f"w{state}" for state in draw_states(rng, n_rows)], dtype=object)


def draw_codes(rng: Generator, n_rows: int) -> Any:
    """Return a column of whole numbers: answers, codes, small counts."""
    return draw_states(rng, n_rows) + 1


def draw_counts(rng: Generator, n_rows: int) -> Any:
    """Return counts with a mean of 1 to 60: Poisson, or with a heavier tail."""
    mean = np.exp(rng.uniform(0, np.log(60)))
    spread = rng.gamma(3, 1 / 3, n_rows) if rng.random() < 0.5 else np.ones(n_rows)
    return rng.poisson(mean * spread)


def draw_rounded(rng: Generator, n_rows: int) -> Any:
    """Return measurements with few digits."""
    return np.round(rng.normal(50, np.exp(rng.uniform(0, 3)), n_rows), int(rng.integers(0, 2)))


def draw_continuous(rng: Generator, n_rows: int) -> Any:
    """Return normal, lognormal or uniform numbers."""
    drawn = (rng.normal, rng.lognormal, rng.uniform)[rng.integers(3)](size=n_rows)
    return drawn * np.exp(rng.uniform(-2, 6))


def draw_months(rng: Generator, n_rows: int) -> Any:
    """Return monthly counts: a wave over the year, in a random order of the rows."""
    wave = 1 + 0.5 * np.sin(2 * np.pi * (np.arange(n_rows) + rng.integers(12)) / 12)
    return rng.permutation(rng.poisson(np.exp(rng.uniform(0.5, 3)) * wave))


DRAW: dict[str, Callable[[Generator, int], Any]] = {
    "text": draw_text,
    "codes": draw_codes,
    "counts": draw_counts,
    "rounded": draw_rounded,
    "continuous": draw_continuous,
    "months": draw_months,
}


def draw_table(number: int, seed: int) -> tuple[str, pd.DataFrame]:
    """Return the kind of a null table, and the table."""
    rng = np.random.default_rng([seed, number])
    kind = KINDS[number % len(KINDS)]
    n_rows = int(np.exp(rng.uniform(np.log(30), np.log(500.99))))
    n_columns = int(np.exp(rng.uniform(np.log(2), np.log(40.99))))
    kinds = rng.choice(KINDS[:-1], n_columns) if kind == "mixed" else [kind] * n_columns
    columns = {f"c{i}": DRAW[one](rng, n_rows) for i, one in enumerate(kinds)}
    frame = pd.DataFrame(columns)
    if rng.random() < 0.2:  # some cells are empty
        frame = frame.mask(rng.random(frame.shape) < rng.uniform(0, 0.1))
    return kind, frame


def measure(number: int, seed: int, folder: Path) -> dict[str, Any] | None:
    """Return what `learn` finds in a null table; None if it refuses the table."""
    kind, frame = draw_table(number, seed)
    table: Any = frame
    if number % 2:
        table = folder / f"{number}.csv"
        frame.to_csv(table, index=False)
    began = time.process_time()
    try:
        result = coevo.learn(table, bootstraps=0)
    except coevo.CoevoError as error:  # such as a table of which one column is left
        print(f"table {number} ({kind}) is refused: {error}", flush=True)
        return None
    words = [coevo.score.name_gain(gain) for gain in result.gains.values()]
    return {
        "table": number,
        "kind": kind,
        "rows": len(frame),
        "columns": frame.shape[1],
        "decisive": words.count("decisive"),
        "strong": words.count("strong"),
        "arcs": len(words),
        "largest_gain": max(result.gains.values(), default=None),
        "seconds": time.process_time() - began,
    }


def summarise(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each kind of table, and one for all."""
    rows = []
    for kind in (*KINDS, "all"):
        found = [r for r in records if kind in (r["kind"], "all")]
        rows.append(
            {
                "kind": kind,
                "tables": len(found),
                "decisive": sum(r["decisive"] > 0 for r in found),
                "strong": sum(r["decisive"] + r["strong"] > 0 for r in found),
                "any": sum(r["arcs"] > 0 for r in found),
                "arcs": sum(r["arcs"] for r in found) / max(1, len(found)),
                "largest": max((r["largest_gain"] or 0.0 for r in found), default=0.0),
            }
        )
    return rows


def format_table(rows: list[dict[str, Any]], run: dict[str, Any]) -> str:
    """Return the counts as a Markdown table."""
    lines = [
        f"coevo {run['versions']['coevo']}, tables without any dependence.",
        "",
        "| columns | tables | with a decisive arc | with a decisive or strong arc | with any arc "
        "| arcs a table | largest gain |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {r['kind']} | {r['tables']} | {r['decisive']} | {r['strong']} | {r['any']} "
        f"| {r['arcs']:.2f} | {r['largest']:.1f} |"
        for r in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", type=int, default=N_TABLES)
    parser.add_argument("--first", type=int, default=0, help="number of the first table")
    parser.add_argument("--seed", type=int, default=0, help="of the tables")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--write", action="store_true", help="write into benchmarks/README.md")
    options = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(options.first, options.first + options.tables):
            record = measure(number, options.seed, Path(folder))
            if record is not None:
                records.append(record)
                print(record, flush=True) if record["arcs"] else None
    run = describe_run("coevo", "numpy")
    rows = summarise(records)
    text = format_table(rows, run)
    if options.write:
        replace_block(Path(__file__).parent / "README.md", "null tables", text)
    if options.format == "json":
        print_json({**run, "rows": rows, "tables": records})
    else:
        print(text)


if __name__ == "__main__":
    main()
