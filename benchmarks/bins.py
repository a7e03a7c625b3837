"""How numbers should be cut: skeletons that are found after each way of binning.

Rows are drawn from random networks of 15 measurements (linear, curved, heavy tails), cut
into bins, and a structure is learned by hill climbing under BDeu. The table has the mean F1
of its skeleton against the true one.

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
from harness import print_json, stamp

N_VARIABLES = 15
KINDS = ("linear", "curved", "heavy tails")
WAYS: dict[str, dict[str, Any]] = {
    "mdl, at most 5": {"discretise": "mdl"},
    "mdl, at most 8": {"discretise": "mdl", "bins": 8},
    **{f"{b} quantiles": {"discretise": "quantile", "bins": b} for b in (2, 3, 4, 5)},
    "k-means, 4": {"discretise": "kmeans", "bins": 4},
    "uniform, 4": {"discretise": "uniform", "bins": 4},
}


def draw(rng: Generator, n_rows: int, kind: str) -> tuple[NDArray[np.float64], DAG]:
    """Return measurements, a column a variable, and the structure behind them."""
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
    """Return the mean F1 after each way of binning."""
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(n_tables):
        table, true = draw(np.random.default_rng([number, rows, KINDS.index(kind)]), rows, kind)
        for way, asked in WAYS.items():
            dataset = read_data(table, names=list(true.nodes), **asked)
            result = run_search("hill_climb", FamilyScorer(dataset, "bdeu"), random_state=0)
            found[way].append(compare(result.dag, true).skeleton_f1)
    return {way: statistics.mean(values) for way, values in found.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", default="300,1000,5000")
    parser.add_argument("--tables", type=int, default=5, help="of each kind and size")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    sizes = [int(rows) for rows in options.rows.split(",")]
    cells = {
        f"{kind}, {rows:,} rows": measure(rows, kind, options.tables)
        for kind in KINDS
        for rows in sizes
    }
    means = {way: statistics.mean(cell[way] for cell in cells.values()) for way in WAYS}
    if options.format == "json":
        print_json({"skeleton_f1": cells, "mean": means, "tables": options.tables, **stamp()})
        return
    print("| measurements | " + " | ".join(WAYS) + " |")
    print("|---|" + "---:|" * len(WAYS))
    for name, cell in {**cells, "*mean*": means}.items():
        print(f"| {name} | " + " | ".join(f"{cell[way]:.2f}" for way in WAYS) + " |")


if __name__ == "__main__":
    main()
