r"""Measure local scores over rows and states, beside another version of coevo and pybnesian.

Each cell of the grid is a table of 12 variables, all with the same number of states. Half of the
cells of a variable repeat the variable before it, the others are random. The families have two
parents; each system scores the same ones with BIC. Each measurement runs in a process of its own,
the systems take turns, and the least CPU time counts. Making a scorer is not timed.

    git worktree add ../before b2369b0      the last commit before the engine
    (cd ../before && make demo)             its environment
    python benchmarks/score_grid.py --before ../before/.venv/bin/python --write
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import add_output_options, describe_run, show_table

ROWS = (1_000, 5_000, 100_000, 1_000_000)
STATES = (2, 4, 10)
N_VARIABLES = 12
FAMILIES = {1_000: 600, 5_000: 600, 100_000: 200, 1_000_000: 40}  # by rows
REPEATS, TURNS = 3, 3
SYSTEMS = ("before", "now", "pybnesian")


def make_table(n_rows: int, n_states: int) -> Any:
    """Return the codes of a table, one row for each variable."""
    rng = np.random.default_rng([n_rows, n_states])
    codes = rng.integers(0, n_states, (N_VARIABLES, n_rows), dtype=np.uint8)
    for one, other in itertools.pairwise(codes):
        is_equal = rng.random(n_rows) < 0.5
        other[is_equal] = one[is_equal]
    return codes


def list_families(n_rows: int) -> list[tuple[int, tuple[int, int]]]:
    """Return distinct families with two parents."""
    pairs = itertools.permutations(range(N_VARIABLES), 3)
    families = [(child, (one, other)) for child, one, other in pairs if one < other]
    random.Random(1).shuffle(families)
    return families[: FAMILIES[n_rows]]


def make_task(system: str, codes: Any, n_states: int) -> Callable[[], Any]:
    """Return the function that scores all families with a new scorer."""
    families = list_families(codes.shape[1])
    names = [f"v{i:02d}" for i in range(N_VARIABLES)]
    states = [f"s{k:02d}" for k in range(n_states)]
    if system == "pybnesian":
        import pandas as pd
        import pybnesian

        frame = pd.DataFrame(
            {n: pd.Categorical.from_codes(c, states) for n, c in zip(names, codes, strict=True)}
        )
        model, peer = pybnesian.DiscreteBN(names), pybnesian.BIC(frame)
        return lambda: [
            peer.local_score(model, names[child], [names[p] for p in parents])
            for child, parents in families
        ]
    from coevo import Dataset, FamilyScorer
    from coevo.data import Variable
    from coevo.score import FamilyBatch

    dataset = Dataset([Variable(name, tuple(states)) for name in names], codes)
    scorer, batch = FamilyScorer(dataset, "bic"), FamilyBatch.from_pairs(families)
    return lambda: scorer.local_scores(batch)


def measure(system: str, n_rows: int, n_states: int) -> dict[str, float]:
    """Return the least CPU microseconds a family, and the sum of the scores."""
    codes, least = make_table(n_rows, n_states), float("inf")
    total = 0.0
    for _ in range(REPEATS):
        run_task = make_task(system, codes, n_states)
        began = time.process_time()
        scores = run_task()
        least = min(least, time.process_time() - began)
        total = float(np.sum(scores))
    return {"microseconds": 1e6 * least / len(list_families(n_rows)), "total": total}


def measure_cell(pythons: dict[str, str], n_rows: int, n_states: int) -> dict[str, Any]:
    """Return the microseconds of all systems, which take turns."""
    least: dict[str, float] = dict.fromkeys(SYSTEMS, float("inf"))
    totals: dict[str, float] = {}
    for _ in range(TURNS):
        for system in SYSTEMS:
            command = [pythons[system], __file__, "--measure", system, str(n_rows), str(n_states)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            answer = json.loads(done.stdout)
            least[system] = min(least[system], answer["microseconds"])
            totals[system] = answer["total"]
    if not np.allclose(list(totals.values()), totals["now"], rtol=1e-9):
        sys.exit(f"The systems do not compute the same scores: {totals}")
    return {"rows": n_rows, "states": n_states, **least}


def format_table(records: list[dict[str, Any]], caption: str) -> str:
    """Return the records as a Markdown table."""
    lines = [
        caption,
        "",
        "| rows | states | before | now | pybnesian | before to now | pybnesian to now |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for record in records:
        before, now, peer = (record[system] for system in SYSTEMS)
        lines.append(
            f"| {record['rows']:,} | {record['states']} | {before:,.1f} | {now:,.1f} "
            f"| {peer:,.1f} | {before / now:.2f} | {peer / now:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", help="Python of the environment before.")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    add_output_options(parser, "score grid")
    options = parser.parse_args()
    if options.measure:
        system, n_rows, n_states = options.measure
        print(json.dumps(measure(system, int(n_rows), int(n_states))))
        return
    if options.before is None:
        parser.error("Name the Python of the other version with --before.")
    pythons = {"before": options.before, "now": sys.executable, "pybnesian": sys.executable}
    records = [measure_cell(pythons, rows, states) for rows in ROWS for states in STATES]
    run = describe_run("pybnesian", "numpy")
    caption = (
        "BIC of families with two parents, CPU microseconds a family on one core "
        f"({run['machine']}). *before*: the last commit with numba (b2369b0); the last two columns "
        "are ratios, above 1 where this version is faster."
    )
    show_table(format_table(records, caption), {**run, "records": records}, options)


if __name__ == "__main__":
    main()
