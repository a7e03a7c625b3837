"""Measure the effect of a penalty on parents: on the time, the arcs and the accuracy.

For each network, number of rows and penalty (nats for each parent), CCMA learns under K2 from
samples of the network. The table shows means over samples: the number of arcs, the SHD of CPDAGs
to the network, the F1 of the skeleton, the held-out log-likelihood of 10,000 further rows (nats for
each row, tables with a Dirichlet prior), and CPU seconds (one thread).

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
from harness import describe_run, print_json, replace_block

PENALTIES = (0.0, 1.0, 2.0, 4.0, 8.0)
HELD_OUT = 10_000
FIGURES = {"arcs": ".1f", "shd_cpdag": ".1f", "skeleton_f1": ".3f", "held_out": ".4f"}


def measure(name: str, n_rows: int, penalty: float, n_samples: int) -> dict[str, Any]:
    """Return the means over samples."""
    true = load_network(name)
    held_out = sample(true, HELD_OUT, 10**6)
    found: dict[str, list[float]] = {key: [] for key in (*FIGURES, "seconds")}
    for seed in range(n_samples):
        rows = sample(true, n_rows, seed)
        began = time.process_time()
        scorer = FamilyScorer(rows, "k2", parent_penalty=penalty)
        dag = run_search("ccma", scorer, random_state=seed).dag
        found["seconds"].append(time.process_time() - began)
        comparison = compare(dag, true.dag)
        found["arcs"].append(len(dag.arcs))
        found["shd_cpdag"].append(comparison.shd_cpdag)
        found["skeleton_f1"].append(comparison.skeleton_f1)
        found["held_out"].append(fit_network(dag, rows).log_likelihood(held_out).total / HELD_OUT)
    means = {key: statistics.fmean(values) for key, values in found.items()}
    return {"network": name, "rows": n_rows, "penalty": penalty, **means}


def format_table(measured: list[dict[str, Any]], n_samples: int, machine: str) -> str:
    """Return the measured means as a Markdown table."""
    lines = [
        f"k2, means over {n_samples} samples, one thread of {machine}.",
        "",
        "| network | rows | penalty | arcs | SHD of CPDAGs | skeleton F1 | held out "
        "| CPU seconds |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for line in measured:
        figures = [f"{line[key]:{form}}" for key, form in FIGURES.items()]
        label = f"{line['network']} | {line['rows']:,} | {line['penalty']:g}"
        lines.append(f"| {label} | {' | '.join(figures)} | {line['seconds']:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--penalties", default=",".join(f"{penalty:g}" for penalty in PENALTIES))
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument(
        "--write", action="store_true", help="replace the table of benchmarks/README.md"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    measure(options.networks.split(",")[0], 1000, 1.0, 1)  # loads the kernels
    measured = [
        measure(name, int(n_rows), float(penalty), options.samples)
        for name in options.networks.split(",")
        for n_rows in options.rows.split(",")
        for penalty in options.penalties.split(",")
    ]
    environment = describe_run("coevo", "numpy")
    table = format_table(measured, options.samples, environment["machine"])
    if options.write:
        replace_block(Path(__file__).parent / "README.md", "penalty", table)
    if options.format == "json":
        print_json({**environment, "samples": options.samples, "cells": measured})
    else:
        print(table)


if __name__ == "__main__":
    main()
