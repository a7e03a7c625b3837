"""Compare ways to discretise numbers by the skeletons that are learned from the bins.

Rows are drawn from random networks of 15 numeric variables (linear, curved, heavy tails) and
discretised. Hill climbing learns a structure under BDeu. The table shows the mean F1 of its
skeleton, compared with the true one.

    python benchmarks/bins.py
    python benchmarks/bins.py --tables 3 --format json
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo import DAG, FamilyScorer, compare, read_data, run_search
from harness import describe_run, print_json

N_VARIABLES = 15
KINDS = ("linear", "curved", "heavy tails")
BINNINGS: dict[str, dict[str, Any]] = {
    "mdl, at most 5": {"discretise": "mdl"},
    "mdl, at most 8": {"discretise": "mdl", "bins": 8},
    **{f"{b} quantiles": {"discretise": "quantile", "bins": b} for b in (2, 3, 4, 5)},
    "k-means, 4": {"discretise": "kmeans", "bins": 4},
    "uniform, 4": {"discretise": "uniform", "bins": 4},
}


def draw_table(rng: Generator, n_rows: int, kind: str) -> tuple[NDArray[np.float64], DAG]:
    """Return numbers, one column for each variable, and the true structure."""
    names = [f"v{i:02}" for i in range(N_VARIABLES)]
    columns: list[NDArray[np.float64]] = []
    arcs = []
    for child in range(N_VARIABLES):
        heavy = kind == "heavy tails"
        values = rng.standard_t(3, size=n_rows) if heavy else rng.normal(size=n_rows)
        for parent in rng.permutation(child)[: rng.integers(0, 3)]:
            weight = rng.uniform(0.5, 1.2) * rng.choice([-1, 1])
            cause = columns[parent]
            values = values + weight * (np.tanh(2 * cause) + cause if kind == "curved" else cause)
            arcs.append((names[parent], names[child]))
        columns.append(values / values.std())
    return np.array(columns).T, DAG(names, arcs)


def measure(rows: int, kind: str, n_tables: int) -> dict[str, float]:
    """Return the mean F1 after each binning."""
    found: dict[str, list[float]] = {binning: [] for binning in BINNINGS}
    for number in range(n_tables):
        table, true = draw_table(
            np.random.default_rng([number, rows, KINDS.index(kind)]), rows, kind
        )
        for binning, options in BINNINGS.items():
            dataset = read_data(table, names=list(true.nodes), **options)
            result = run_search("hill_climb", FamilyScorer(dataset, "bdeu"), random_state=0)
            found[binning].append(compare(result.dag, true).skeleton_f1)
    return {binning: statistics.mean(values) for binning, values in found.items()}


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", default="300,1000,5000")
    parser.add_argument(
        "--tables", type=int, default=5, help="tables of each kind and size (default: 5)"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    sizes = [int(rows) for rows in options.rows.split(",")]
    measured = {
        f"{kind}, {rows:,} rows": measure(rows, kind, options.tables)
        for kind in KINDS
        for rows in sizes
    }
    means = {
        binning: statistics.mean(row[binning] for row in measured.values()) for binning in BINNINGS
    }
    if options.format == "json":
        print_json(
            {"skeleton_f1": measured, "mean": means, "tables": options.tables, **describe_run()}
        )
        return
    print("| measurements | " + " | ".join(BINNINGS) + " |")
    print("|---|" + "---:|" * len(BINNINGS))
    for name, row in {**measured, "*mean*": means}.items():
        print(f"| {name} | " + " | ".join(f"{row[binning]:.2f}" for binning in BINNINGS) + " |")


if __name__ == "__main__":
    main()
