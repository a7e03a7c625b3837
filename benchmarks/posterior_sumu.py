"""Compare the chains with Gadget of the package sumu: CPU seconds until two runs agree.

Both sample from the same posterior: BDeu with equivalent sample size 1, uniform over layerings, and
the fair prior over the number of parents, which sumu has built in. A run of coevo has four chains,
one of sumu has one, or four coupled ones. A fifth of sumu's iterations is burn-in; its
probabilities are compared after each sixteenth of the rest. Families are scored for the same number
of candidates. sumu 0.1.2 needs an environment of its own: NumPy below 2, Cython below 3, Python
below 3.12, and its C++ files made again by Cython.

    python benchmarks/posterior_sumu.py --python SUMU_ENVIRONMENT/bin/python --write
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.family_weights import make_family_weights
from harness import describe_run, print_json, replace_block
from posterior import Setting, compare_runs, load_kernels

HERE = Path(__file__).parent
CASES = [  # the network, the candidates of sumu, its chains and iterations
    ("asia", 6, 1, 100_000),
    ("asia", 6, 4, 25_000),
    ("insurance", 10, 1, 120_000),
    ("insurance", 10, 4, 30_000),
    ("alarm", 10, 1, 30_000),
    ("alarm", 10, 4, 8_000),
    ("hailfinder", 10, 1, 120_000),
    ("hailfinder", 10, 4, 30_000),
]
SECONDS = 6.0  # of coevo


def run_sumu(python: str, setting: Setting, k: int, chains: int, iterations: int) -> dict[str, Any]:
    """Return how two runs of sumu differ, and their CPU seconds."""
    dataset: Any = setting.problem.scorer.dataset
    codes = np.asarray(dataset.codes)
    arities = [variable.arity for variable in dataset.variables]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "codes.txt")
        np.savetxt(path, np.vstack([arities, codes.T]), fmt="%d")
        words = [python, str(HERE / "sumu_runs.py"), str(path), str(k), "2", str(chains)]
        done = subprocess.run([*words, str(iterations)], capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@functools.cache
def measure_ours(name: str, k: int) -> tuple[Setting, dict[str, Any], int, float]:
    """Return the problem, how two runs of coevo agree, and the families it scores in a time."""
    setting = Setting(name, "fair")
    tables = setting.make_tables(12)
    load_kernels(tables)
    began = time.process_time()
    n_scored = make_family_weights(setting.problem, setting.choose(k)).n_scored
    scored = time.process_time() - began
    return setting, compare_runs(tables, ChainSettings(), SECONDS), n_scored, scored


def compare(python: str, name: str, k: int, chains: int, iterations: int) -> dict[str, Any]:
    """Return a record of one network."""
    setting, ours, n_scored, scored = measure_ours(name, k)
    theirs = run_sumu(python, setting, k, chains, iterations)
    settled, is_below = ours["seconds to 0.05"], np.array(theirs["differences"]) <= 0.05
    n_above = len(is_below) - int(np.logical_and.accumulate(is_below[::-1]).sum())
    reached = theirs["seconds"] * (0.2 + 0.8 * min(n_above + 1, len(is_below)) / len(is_below))
    more = "" if is_below[-1] else "> "
    is_faster = isinstance(settled, float)
    record = {
        "network": name,
        "coevo: s to 0.05": settled,
        "difference after 6 s": ours["difference at the end"],
        "moves a second": ours["moves a second"],
        "families a second": round(n_scored / scored),
        "sumu: chains": chains,
        "s to 0.05": f"{more}{reached:.1f}",
        "difference at the end": round(theirs["differences"][-1], 3),
        "iterations a second": round(iterations / theirs["seconds"]),
        "families a second ": round(n_scored / theirs["seconds_to_score"]),
        "ratio": f"{more}{reached / settled:.0f}" if is_faster else "-",
    }
    print(record, flush=True)
    return record


def show(value: float | str) -> str:
    """Return a cell of the table."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--python", required=True, help="the interpreter of an environment with sumu"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    records = [compare(options.python, *case) for case in CASES]
    facts = describe_run("numpy")
    if options.format == "json":
        print_json({**facts, "records": records})
        return
    names = list(records[0])
    lines = [
        "CPU seconds of sampling, and the largest difference of an arc between two runs (sumu "
        f"0.1.2, d = 2; {facts['machine']}, under load):",
        "",
        f"| {' | '.join(names)} |",
        f"|{'---|' * len(names)}",
        *(f"| {' | '.join(show(record[n]) for n in names)} |" for record in records),
    ]
    print("\n".join(lines))
    if options.write:
        replace_block(HERE / "README.md", "posterior sumu", "\n".join(lines))


if __name__ == "__main__":
    main()
