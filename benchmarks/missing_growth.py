"""Measure how the time of `evolve` grows with rows and variables, compared with complete rows.

10 % of the values are missing completely at random. The score is BDeu, the method is CCMA, on one
thread; times are CPU seconds. *Ratio* is the cost of missing values: `evolve` searches on ten
imputations, and draws all missing values of each 240 times.

    python benchmarks/missing_growth.py
    python benchmarks/missing_growth.py --rows 1000,2000 --networks asia --format json
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from coevo import Budget, FamilyScorer, load_network, run_search, sample
from coevo.data import IncompleteDataset
from coevo.missing import learn_incomplete
from harness import Task, describe_run, print_json, replace_block
from missing import draw_mask

SHARE = 0.1


def measure(network: str, n_rows: int) -> dict[str, Any]:
    """Return the times with and without missing values, on a sample of a network."""
    rows = sample(load_network(network), n_rows, 0).expand()
    table = IncompleteDataset(rows, draw_mask(rows, SHARE, "mcar", 0))
    complete = _measure_seconds(lambda: run_search("ccma", FamilyScorer(rows), random_state=0))
    evolve = _measure_seconds(lambda: learn_incomplete(table, "evolve"))
    return {
        "network": network,
        "variables": rows.n_variables,
        "rows": n_rows,
        "complete": complete,
        "evolve": evolve,
    }


def _measure_seconds(run_task: Task) -> float:
    began = time.process_time()
    run_task()
    return time.process_time() - began


def format_table(measured: list[dict[str, Any]], machine: str) -> str:
    """Return the measured times as a Markdown table."""
    lines = [
        f"bdeu, {SHARE:.0%} mcar, CPU seconds, one thread of {machine}.",
        "",
        "| network | variables | rows | complete | evolve | ratio |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for line in measured:
        label = f"{line['network']} | {line['variables']} | {line['rows']:,}"
        ratio = line["evolve"] / line["complete"]
        lines.append(f"| {label} | {line['complete']:.2f} | {line['evolve']:.2f} | {ratio:.1f} |")
    return "\n".join(lines)


def load_kernels() -> None:
    """Load all kernels, so that no measured time includes it."""
    small = sample(load_network("asia"), 100, 0).expand()
    table = IncompleteDataset(small, draw_mask(small, SHARE, "mcar", 0))
    learn_incomplete(table, budget=Budget(max_generations=25))


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--rows", default="1000,3000,10000,30000,100000", help="numbers of rows of Alarm"
    )
    parser.add_argument("--networks", default="asia,child,insurance,hailfinder,win95pts,andes")
    parser.add_argument(
        "--write", action="store_true", help="replace the table of benchmarks/README.md"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    load_kernels()
    samples = [("alarm", int(n)) for n in options.rows.split(",") if n]
    samples += [(name, 1000) for name in options.networks.split(",") if name]
    measured = [measure(network, n_rows) for network, n_rows in samples]
    environment = describe_run()
    table = format_table(measured, environment["machine"])
    if options.write:
        replace_block(Path(__file__).parent / "README.md", "missing growth", table)
    if options.format == "json":
        print_json({"cells": measured, **environment})
    else:
        print(table)


if __name__ == "__main__":
    main()
