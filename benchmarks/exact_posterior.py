"""Measure how the time and memory of the exact posterior grow with the variables.

The first variables of Alarm, 1,000 rows, BDeu with sample size 1, at most 5 parents, one core. Each
measurement runs in its own process, so the peak memory belongs to it alone. The estimates are those
of `coevo.posteriors.exact.estimate_exact_cost`.

    python benchmarks/exact_posterior.py
    python benchmarks/exact_posterior.py --write    also replace the tables of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness import describe_run, replace_block

HERE = Path(__file__).parent
VARIABLES = {
    "order": [5, 8, 10, 12, 14, 16, 17, 18, 19, 20],
    "uniform": [5, 8, 10, 11, 12, 13, 14, 15, 16],
}
N_DRAWS = 1_000
MAX_PARENTS = 5


def measure(n_variables: int, prior: str) -> dict[str, Any]:
    """Return one line of a table. Call it in a new process."""
    import numpy as np

    from coevo import Constraints, Dataset, FamilyScorer, load_network, sample
    from coevo.posteriors.exact import ExactSampler, compute_exact_posterior, estimate_exact_cost
    from coevo.posteriors.family_weights import make_complete_weights
    from coevo.search.base import Problem

    dataset = sample(load_network("alarm"), 1_000, 1)
    limit = Constraints(max_parents=MAX_PARENTS)
    seconds, peak = [0.0] * 3, 0.0
    for n in (4, n_variables):  # the first one loads the kernels
        some = Dataset(dataset.variables[:n], list(dataset.codes[:n]))
        before = _read_peak()
        times = [time.process_time()]
        problem = Problem.from_scorer(FamilyScorer(some, "bdeu", ess=1.0), limit)
        weights = make_complete_weights(problem)
        times.append(time.process_time())
        compute_exact_posterior(weights, prior)
        times.append(time.process_time())
        sampler = ExactSampler(weights, prior)
        sampler.draw_dags(N_DRAWS, np.random.default_rng(0))
        times.append(time.process_time())
        seconds, peak = np.diff(times).tolist(), _read_peak() - before
    cost = estimate_exact_cost(n_variables, MAX_PARENTS, prior)
    return {
        "variables": n_variables,
        "families": cost.n_families,
        "scores": seconds[0],
        "sums": seconds[1],
        "draws": seconds[2],
        "estimate": cost.seconds,
        "peak": peak,
        "estimated_peak": cost.n_bytes / 1e6,
    }


def _read_peak() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure_in_process(n_variables: int, prior: str) -> dict[str, Any]:
    """Return one line of a table, measured in a new process."""
    command = [sys.executable, __file__, "--measure", str(n_variables), prior]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    line: dict[str, Any] = json.loads(done.stdout)
    return line


def format_table(lines: list[dict[str, Any]]) -> str:
    """Return a table in Markdown."""
    table = [
        "| variables | families | scores, s | sums, s | estimate, s | 1,000 DAGs, s "
        "| memory, MB | estimate, MB |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    table += [
        f"| {line['variables']} | {line['families']:,} | {line['scores']:.2f} "
        f"| {line['sums']:.3f} | {line['estimate']:.3f} | {line['draws']:.3f} "
        f"| {line['peak']:,.0f} | {line['estimated_peak']:,.0f} |"
        for line in lines
    ]
    return "\n".join(table)


def main() -> None:
    """Run the benchmark and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="replace the tables of README.md")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(int(options.measure[0]), options.measure[1])))
        return
    machine = describe_run("numpy")["machine"]
    parts = []
    for prior, numbers in VARIABLES.items():
        lines = [measure_in_process(n, prior) for n in numbers]
        caption = f"Prior `{prior}`, CPU seconds on one core of {machine}:"
        parts.append(f"{caption}\n\n{format_table(lines)}")
        print(parts[-1], flush=True)
    if options.write:
        replace_block(HERE / "README.md", "exact posterior", "\n\n".join(parts))


if __name__ == "__main__":
    main()
