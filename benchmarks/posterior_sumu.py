"""Compare the chains with Gadget of the package sumu: CPU seconds until two runs agree.

Both sample from the same posterior: BDeu with equivalent sample size 1, uniform over layerings, and
the fair prior over the number of parents, which sumu has built in. sumu 0.1.2 needs an
environment of its own: NumPy below 2, Cython below 3, Python below 3.12, and its C++ files made
again by Cython.

    python benchmarks/posterior_sumu.py --python SUMU_ENVIRONMENT/bin/python --write
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from coevo.averaging.chain_state import ChainSettings
from coevo.warmup import ensure_compiled
from harness import describe_run, print_json, replace_block
from posterior import Setting, compare_runs, load_kernels

HERE = Path(__file__).parent
CASES = [("asia", 6, 1, 20_000), ("insurance", 10, 1, 10_000), ("alarm", 10, 1, 10_000)]


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


def compare(python: str, name: str, k: int, chains: int, iterations: int) -> dict[str, Any]:
    """Return a record of one network."""
    setting = Setting(name, "fair")
    tables = setting.make_tables(12)
    load_kernels(tables)
    ours = compare_runs(tables, ChainSettings(), 4.0)
    theirs = run_sumu(python, setting, k, chains, iterations)
    settled = ours["seconds to 0.05"]
    is_faster = isinstance(settled, float) and theirs["difference"] > 0.05
    return {
        "network": name,
        "coevo: s to 0.05": settled,
        "difference after 4 s": ours["difference at the end"],
        "sumu: iterations": iterations,
        "CPU s": round(theirs["seconds"], 1),
        "difference": round(theirs["difference"], 3),
        "ratio": f"> {theirs['seconds'] / settled:.0f}" if is_faster else "-",
    }


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--python", required=True, help="the interpreter of an environment with sumu"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    ensure_compiled()
    ensure_compiled("averaging")
    records = [compare(options.python, *case) for case in CASES]
    facts = describe_run("numpy", "numba")
    if options.format == "json":
        print_json({**facts, "records": records})
        return
    names = list(records[0])
    lines = [
        "CPU seconds of sampling, and the largest difference of an arc between two runs (sumu "
        f"0.1.2, one chain, d = 2; {facts['machine']}, under load):",
        "",
        f"| {' | '.join(names)} |",
        f"|{'---|' * len(names)}",
        *(f"| {' | '.join(str(record[n]) for n in names)} |" for record in records),
    ]
    print("\n".join(lines))
    if options.write:
        replace_block(HERE / "README.md", "posterior sumu", "\n".join(lines))


if __name__ == "__main__":
    main()
