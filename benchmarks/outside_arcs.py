"""Measure the probabilities of arcs that the chains of a posterior do not consider.

Tables of 300 rows are small enough for the exact posterior. The chains have few candidates, so many
arcs are outside them. Their probabilities are compared with the exact ones, and with 0.

    python benchmarks/outside_arcs.py --write
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

import coevo
from harness import add_output_options, describe_run, show_table
from posterior import format_table

CASES = (("sachs", "uniform", 4, 4), ("sachs", "uniform", 4, 3), ("child", "order", 3, 4),
         ("child", "order", 3, 6))  # the prior, the limit on parents, the candidates  # fmt: skip
SEEDS = (1, 2, 3)
STEPS = 128


def measure(name: str, prior: str, limit: int, candidates: int, seed: int) -> dict[str, Any]:
    """Return a record of one table."""
    rows = coevo.sample(coevo.load_network(name), 300, random_state=seed)
    options: dict[str, Any] = {"score": coevo.Objective("bdeu", ess=1), "prior": prior}
    options["max_parents"] = limit
    exact = coevo.posterior(rows, sampler="exact", **options, progress=False)
    chains = coevo.posterior(
        rows,
        sampler="chains",
        candidates=candidates,
        max_steps=STEPS,
        tolerance=0.01,
        budget=coevo.Budget(max_time=600),
        random_state=1,
        progress=False,
        **options,
    )
    is_outside = np.isnan(chains.errors)
    right, found = exact.arcs[is_outside], chains.arcs[is_outside]
    from_zero, error = float((right**2).mean()), float(((right - found) ** 2).mean())
    logs = np.log(np.stack([right, found]) + 1e-12)
    return {
        "network": name,
        "candidates": candidates,
        "table": seed,
        "arcs outside": int(is_outside.sum()),
        "exact sum": f"{right.sum():.4f}",
        "measured sum": f"{found.sum():.4f}",
        "square error of 0, over that of the measure": f"{from_zero / error:.1f}",
        "correlation of logs": f"{np.corrcoef(logs)[0, 1]:.2f}",
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    add_output_options(parser, "outside arcs")
    options = parser.parse_args()
    warnings.simplefilter("ignore", coevo.CoevoWarning)
    records = [measure(*case, seed) for case in CASES for seed in SEEDS]
    facts = describe_run("numpy")
    table = format_table(records, "Arcs that the chains do not consider, 300 rows:")
    show_table(table, {**facts, "records": records}, options)


if __name__ == "__main__":
    main()
