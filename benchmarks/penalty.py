"""What a price on parents does: to the time, the arcs, and how well the network is found.

For each network, number of rows and price (nats a parent), CCMA learns under K2 from
samples of the network: mean arcs, SHD of CPDAGs against the network, F1 of the skeleton,
log-likelihood of 10,000 further rows (nats a row, tables with a Dirichlet prior), and
seconds of the processor (one thread).

    python benchmarks/penalty.py
    python benchmarks/penalty.py --networks alarm --samples 2 --format json
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from coevo import FamilyScorer, compare, fit_network, load_network, run_search, sample
from harness import print_json, rewrite, stamp

PRICES = (0.0, 1.0, 2.0, 4.0, 8.0)
HELD_OUT = 10_000
FIGURES = {"arcs": ".1f", "shd_cpdag": ".1f", "skeleton_f1": ".3f", "held_out": ".4f"}


def measure(name: str, n_rows: int, price: float, n_samples: int) -> dict[str, Any]:
    """Return the means over samples."""
    true = load_network(name)
    held_out = sample(true, HELD_OUT, 10**6)
    found: dict[str, list[float]] = {key: [] for key in (*FIGURES, "seconds")}
    for seed in range(n_samples):
        rows = sample(true, n_rows, seed)
        began = time.process_time()
        scorer = FamilyScorer(rows, "k2", parent_penalty=price)
        dag = run_search("ccma", scorer, random_state=seed).dag
        found["seconds"].append(time.process_time() - began)
        against = compare(dag, true.dag)
        found["arcs"].append(len(dag.arcs))
        found["shd_cpdag"].append(against.shd_cpdag)
        found["skeleton_f1"].append(against.skeleton_f1)
        found["held_out"].append(fit_network(dag, rows).log_likelihood(held_out).total / HELD_OUT)
    means = {key: statistics.fmean(values) for key, values in found.items()}
    return {"network": name, "rows": n_rows, "price": price, **means}


def as_table(cells: list[dict[str, Any]], n_samples: int, machine: str) -> str:
    """Return the cells as Markdown."""
    lines = [
        f"k2, means over {n_samples} samples, one thread of {machine}.",
        "",
        "| network | rows | price | arcs | SHD of CPDAGs | skeleton F1 | held out | CPU seconds |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for cell in cells:
        figures = [f"{cell[key]:{form}}" for key, form in FIGURES.items()]
        label = f"{cell['network']} | {cell['rows']:,} | {cell['price']:g}"
        lines.append(f"| {label} | {' | '.join(figures)} | {cell['seconds']:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--prices", default=",".join(f"{price:g}" for price in PRICES))
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="into the README here")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    asked = parser.parse_args()
    measure(asked.networks.split(",")[0], 1000, 1.0, 1)  # loads the kernels
    cells = [
        measure(name, int(n_rows), float(price), asked.samples)
        for name in asked.networks.split(",")
        for n_rows in asked.rows.split(",")
        for price in asked.prices.split(",")
    ]
    stamped = stamp("coevo", "numpy", "numba")
    table = as_table(cells, asked.samples, stamped["machine"])
    if asked.write:
        rewrite(Path(__file__).parent / "README.md", "penalty", table)
    if asked.format == "json":
        print_json({**stamped, "samples": asked.samples, "cells": cells})
    else:
        print(table)


if __name__ == "__main__":
    main()
