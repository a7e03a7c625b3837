"""Compare two readings of whole numbers with few values: as states, or cut into bins.

The columns are all complete columns of whole numbers with 8 to 20 values in the tables of
`real_tables.py`. Each table is read twice, and learned from with the defaults: once with these
columns as states, once cut into bins by `mdl`. *Difference* is the held-out log-likelihood of a row
with bins minus that with states, over three folds; above 0 bins are better. Both are on one scale:
the probability of a bin is divided by the number of its values. Rows with a value that no row for
learning has are left out. Smaller samples of the rows show how it depends on the rows of a value.

    python benchmarks/whole_numbers.py --write
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import coevo
from coevo.data import CutPoints
from harness import replace_block
from real_tables import TABLES, load_table

MIN_VALUES, MAX_VALUES = 8, 20
SIZES = (3000, 200, 80)  # rows
N_FOLDS, N_USED = 5, 3  # three of the folds are held out
HEADER = "| table | columns | rows | rows a value | states | bins | difference |"


def find_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns of whole numbers with few values."""
    numeric = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    return [
        name
        for name in numeric
        if (frame[name] == np.floor(frame[name])).all()
        and MIN_VALUES <= frame[name].nunique() <= MAX_VALUES
    ]


def measure_fold(train: pd.DataFrame, test: pd.DataFrame, columns: list[str], kind: str) -> float:
    """Return the mean log-likelihood of the rows of a fold, on the scale of the values."""
    result = coevo.learn(
        train,
        bootstraps=0,
        random_state=0,
        read=coevo.ReadOptions(types=dict.fromkeys(columns, kind)),
        budget=coevo.Budget(max_time=10),
    )
    total = result.network.log_likelihood(test).total
    for variable in result.network.variables:
        cuts = CutPoints.from_states(variable.states) if variable.name in columns else None
        if cuts is not None:
            seen = np.searchsorted(cuts.points, train[variable.name].unique(), side="right")
            n_values = np.bincount(seen, minlength=len(cuts.points) + 1)
            bins = np.searchsorted(cuts.points, test[variable.name], side="right")
            total -= float(np.log(n_values[bins]).sum())
    return total / len(test)


def measure(frame: pd.DataFrame) -> dict[str, Any] | None:
    """Return the means over the folds for both readings; None if a fold has no such column."""
    fold = np.random.default_rng(0).integers(0, N_FOLDS, len(frame))
    sums = {"categorical": 0.0, "continuous": 0.0}
    columns: list[str] = []
    for number in range(N_USED):
        train, test = frame[fold != number], frame[fold == number]
        columns = find_columns(train)
        if not columns:
            return None
        is_seen = np.logical_and.reduce([test[c].isin(train[c].unique()) for c in columns])
        for kind in sums:
            sums[kind] += measure_fold(train, test[is_seen], columns, kind) / N_USED
    n_values = np.mean([frame[name].nunique() for name in columns])
    return {"columns": len(columns), "rows": len(frame), "per_value": len(frame) / n_values, **sums}


def iter_samples() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the complete rows of each table with such columns, and smaller samples of them."""
    for name in TABLES:
        frame = load_table(name).dropna().reset_index(drop=True)
        frame.columns = [str(column) for column in frame.columns]
        if not find_columns(frame):
            continue
        for size in SIZES:
            if size == SIZES[0] or len(frame) >= 2 * size:
                some = frame.sample(min(size, len(frame)), random_state=1)
                yield name, some.reset_index(drop=True)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--write", action="store_true", help="write into benchmarks/README.md")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines, differences = [HEADER, "|---|---:|---:|---:|---:|---:|---:|"], []
    for name, frame in iter_samples():
        try:
            found = measure(frame)
        except coevo.CoevoError as error:  # a small sample can be too poor to be a table
            print(name, len(frame), error, flush=True)
            continue
        if found is None:
            continue
        differences.append(found["continuous"] - found["categorical"])
        lines.append(
            f"| {name} | {found['columns']} | {found['rows']:,} | {found['per_value']:.1f} "
            f"| {found['categorical']:.3f} | {found['continuous']:.3f} | {differences[-1]:+.3f} |"
        )
        print(lines[-1], flush=True)
    better = sum(difference > 0 for difference in differences)
    summary = (
        f"Bins are better on {better} of {len(differences)} samples; the mean difference is "
        f"{np.mean(differences):+.3f} nats a row, the largest {max(differences):+.3f}."
    )
    text = "\n".join([*lines, "", summary])
    print(summary)
    if arguments.write:
        replace_block(Path(__file__).parent / "README.md", "whole numbers", text)


if __name__ == "__main__":
    main()
