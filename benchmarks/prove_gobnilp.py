"""Compare proofs with pygobnilp, which has Gurobi as its solver: CPU seconds to the optimum.

Rows are sampled from bundled networks; both find and prove the best network of at most three
parents. For coevo the seconds are those from the table to the checked certificate, for pygobnilp
those of `learn`, which leaves nothing to check. Gurobi is free for at most 2,000 variables and
constraints: larger cases are left out. pygobnilp needs an environment of its own (pygobnilp 1.0,
gurobipy 13, NumPy below 2, pandas below 2.2; see `gobnilp_run.py`).

    python benchmarks/prove_gobnilp.py --python ENVIRONMENT/bin/python --write
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from coevo import Dataset, load_network, sample, write_data
from harness import add_output_options, describe_run, show_table
from posterior import format_table
from prove import Case, measure

HERE = Path(__file__).parent
NETWORKS = ["asia", "sachs", "child", "insurance", "water", "alarm", "hailfinder"]
SCORES = {"bic": "DiscreteBIC", "bdeu": "BDeu"}
PARENTS = 3
LIMIT = 300.0  # seconds


def write_table(dataset: Dataset, folder: Path) -> Path:
    """Write rows as pygobnilp reads them: names, numbers of states, rows, without commas."""
    write_data(dataset, folder / "rows.csv")
    header, *rows = csv.reader((folder / "rows.csv").read_text().splitlines())
    arities = {variable.name: str(variable.arity) for variable in dataset.variables}
    lines = [header, [arities[name] for name in header], *rows]
    words = [" ".join(cell.replace(" ", "_") for cell in line) for line in lines]
    path = folder / "rows.dat"
    path.write_text("\n".join(words) + "\n")
    return path


def run_peer(python: str, dataset: Dataset, score: str) -> dict[str, Any]:
    """Return the answer of pygobnilp."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_table(dataset, Path(folder))
        words = [python, str(HERE / "gobnilp_run.py"), str(path), SCORES[score], str(PARENTS)]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=True, timeout=2 * LIMIT, cwd=folder
            )
        except subprocess.TimeoutExpired:
            return {"error": f"not in {2 * LIMIT:g} s"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    is_too_large = "size-limited license" in answer.get("error", "")
    return {"error": "too large"} if is_too_large else answer


def compare(python: str, name: str, n_rows: int, score: str) -> dict[str, Any]:
    """Return a record of one table."""
    dataset = sample(load_network(name), n_rows, random_state=1)
    ours = measure(Case(name, dataset, score, PARENTS), LIMIT)
    theirs = run_peer(python, dataset, score)
    seconds = sum(ours["seconds"].values())
    has_answer = "score" in theirs
    same = has_answer and abs(theirs["score"] - ours["best"]) < 1e-6 * abs(ours["best"])
    record = {
        "network": name,
        "rows": n_rows,
        "score": score,
        "families": ours["families"],
        "optimum": f"{ours['best']:,.4f}",
        "proved": "yes" if ours["gap"] < 1e-6 else f"gap {ours['gap']:,.2f}",
        "coevo, s": f"{seconds:.1f}",
        "pygobnilp, s": f"{theirs['seconds']:.1f}" if has_answer else theirs["error"],
        "same optimum": ("yes" if same else f"{theirs['score']:,.4f}") if has_answer else "",
        "ratio": f"{theirs['seconds'] / seconds:.1f}" if has_answer else "",
    }
    print(record, flush=True)
    return record


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--python", required=True, help="the interpreter of an environment with pygobnilp"
    )
    add_output_options(parser, "prove gobnilp")
    options = parser.parse_args()
    records = [
        compare(options.python, name, n_rows, score)
        for name in NETWORKS
        for n_rows in (1000, 5000)
        for score in SCORES
    ]
    facts = describe_run("highspy")
    caption = f"CPU seconds, at most {PARENTS} parents ({facts['machine']}, under load):"
    show_table(format_table(records, caption), {**facts, "records": records}, options)


if __name__ == "__main__":
    main()
