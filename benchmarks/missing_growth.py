"""How the time of `evolve` grows with rows and with variables, beside a search on complete rows.

10 % of the cells are missing completely at random; BDeu, CCMA, one thread, seconds of the
processor. *Ratio* is what missing cells cost: `evolve` searches on ten completions and draws
240 times all missing cells of each.

    python benchmarks/missing_growth.py
    python benchmarks/missing_growth.py --rows 1000,2000 --networks asia --format json
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coevo import Budget, FamilyScorer, load_network, run_search, sample
from coevo.data import IncompleteDataset
from coevo.missing import learn_incomplete
from harness import print_json, rewrite, stamp
from missing import holes

SHARE = 0.1


def measure(network: str, n_rows: int) -> dict[str, Any]:
    """Return the seconds that each takes on a sample of a network."""
    rows = sample(load_network(network), n_rows, 0).expand()
    table = IncompleteDataset(rows, holes(rows, SHARE, "mcar", 0))
    complete = _seconds(lambda: run_search("ccma", FamilyScorer(rows), random_state=0))
    evolve = _seconds(lambda: learn_incomplete(table, "evolve"))
    return {
        "network": network,
        "variables": rows.n_variables,
        "rows": n_rows,
        "complete": complete,
        "evolve": evolve,
    }


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def as_table(cells: list[dict[str, Any]], machine: str) -> str:
    """Return the cells as Markdown."""
    lines = [
        f"bdeu, {SHARE:.0%} mcar, CPU seconds, one thread of {machine}.",
        "",
        "| network | variables | rows | complete | evolve | ratio |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for cell in cells:
        label = f"{cell['network']} | {cell['variables']} | {cell['rows']:,}"
        ratio = cell["evolve"] / cell["complete"]
        lines.append(f"| {label} | {cell['complete']:.2f} | {cell['evolve']:.2f} | {ratio:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", default="1000,3000,10000,30000,100000", help="of Alarm")
    parser.add_argument("--networks", default="asia,child,insurance,hailfinder,win95pts,andes")
    parser.add_argument("--write", action="store_true", help="into the README here")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    small = sample(load_network("asia"), 100, 0).expand()  # so that nobody pays for kernels
    learn_incomplete(
        IncompleteDataset(small, holes(small, SHARE, "mcar", 0)), budget=Budget(max_generations=25)
    )
    asked = [("alarm", int(n)) for n in options.rows.split(",") if n]
    asked += [(name, 1000) for name in options.networks.split(",") if name]
    cells = [measure(*one) for one in asked]
    stamped = stamp()
    table = as_table(cells, stamped["machine"])
    if options.write:
        rewrite(Path(__file__).parent / "README.md", "missing growth", table)
    if options.format == "json":
        print_json({"cells": cells, **stamped})
    else:
        print(table)


if __name__ == "__main__":
    main()
