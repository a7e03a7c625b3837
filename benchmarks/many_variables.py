r"""Measure how searches grow with the number of variables, to 10,000.

The tables are samples of random sparse networks: 2 or 3 states, up to three parents among the 100
variables before, tables of probabilities from a Dirichlet distribution. The columns are shuffled.
Each search maximises BIC on one thread, in a process of its own, within the same time limit. R's
bnlearn has no limit of its own: it is ended after four times as long, and has no result then. coevo
scores all results. bnlearn needs R and its package (`R_LIBS` may name a folder), and is left out
where it is not found.

    python benchmarks/many_variables.py --journal many.jsonl --write
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import describe_run, replace_block

HERE = Path(__file__).parent
SIZES = "100:1000:5,300:1000:10,1000:1000:20,3000:1000:40,10000:1000:60"
SYSTEMS = ("ccma", "hill_climb", "bnlearn")
REACH, MOST_PARENTS = 100, 3
R_SCRIPT = """
data <- read.csv(commandArgs(TRUE)[1], colClasses = "character", stringsAsFactors = TRUE)
for (name in names(data)) data[[name]] <- factor(data[[name]])
began <- proc.time()
found <- bnlearn::hc(data, score = "bic")
spent <- proc.time() - began
write.csv(bnlearn::arcs(found), commandArgs(TRUE)[2], row.names = FALSE)
cat(spent[["elapsed"]])
"""


def make_codes(n: int, n_rows: int, seed: int) -> NDArray[np.int8]:
    """Return a sample of a random sparse network, a row for each variable, in shuffled order."""
    rng = np.random.default_rng([n, n_rows, seed])
    codes = np.empty((n, n_rows), dtype=np.int8)
    arities = rng.integers(2, 4, size=n)
    for v in range(n):
        near = np.arange(max(0, v - REACH), v)
        n_parents = min(len(near), int(rng.integers(0, MOST_PARENTS + 1)))
        parents = rng.choice(near, size=n_parents, replace=False)
        configuration = np.zeros(n_rows, dtype=np.int64)
        for parent in parents:
            configuration = configuration * arities[parent] + codes[parent]
        q = int(np.prod(arities[parents])) if n_parents else 1
        tables = rng.dirichlet(np.full(arities[v], 0.5), size=q).cumsum(axis=1)
        drawn = (rng.random(n_rows)[:, None] > tables[configuration]).sum(axis=1)
        codes[v] = np.minimum(drawn, arities[v] - 1)
        if np.ptp(codes[v]) == 0:  # bnlearn refuses constants
            codes[v] = rng.integers(0, 2, size=n_rows)
    return codes[rng.permutation(n)]


def run_coevo(method: str, codes: NDArray[np.int8], limit: float) -> dict[str, Any]:
    """Search with a method of coevo."""
    from coevo import Budget, FamilyScorer, load_network, run_search, sample

    small = FamilyScorer(sample(load_network("asia"), 200, 0), "bic")
    run_search(method, small, budget=Budget(max_generations=8), random_state=0)  # loads kernels
    dataset = make_dataset(codes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    scorer = FamilyScorer(dataset, "bic")
    found = run_search(method, scorer, budget=Budget(max_time=limit), random_state=1)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "score": found.score,
        "arcs": len(found.dag.arcs),
        "mb": (peak - before) / 1024,
        "is_done": found.stop_reason != "time",
    }


def make_dataset(codes: NDArray[np.int8]) -> Any:
    """Return the rows as a data set of coevo."""
    from coevo.data import Dataset, Variable

    names = make_names(len(codes))
    states = [tuple(map(str, range(int(row.max()) + 1))) for row in codes]
    return Dataset([Variable(*pair) for pair in zip(names, states, strict=True)], list(codes))


def make_names(n: int) -> list[str]:
    """Return the names of the variables."""
    return [f"v{i:05d}" for i in range(n)]


def run_bnlearn(codes: NDArray[np.int8]) -> dict[str, Any]:
    """Search with hill climbing of bnlearn."""
    names = make_names(len(codes))
    with tempfile.TemporaryDirectory() as folder:
        table, answer = Path(folder) / "rows.csv", Path(folder) / "arcs.csv"
        rows = codes.T.astype(str)
        table.write_text("\n".join([",".join(names), *(",".join(row) for row in rows)]))
        script = Path(folder) / "hc.R"
        script.write_text(R_SCRIPT)
        command = ["Rscript", str(script), str(table), str(answer)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        lines = answer.read_text().splitlines()[1:]
    pairs: list[Any] = [tuple(line.replace('"', "").split(",")[:2]) for line in lines]
    return score_arcs(codes, pairs) | {
        "seconds": float(done.stdout),
        "is_done": True,
        "mb": None,
    }


def score_arcs(codes: NDArray[np.int8], pairs: list[Any]) -> dict[str, Any]:
    """Return the BIC of a structure."""
    from coevo import DAG, FamilyScorer

    dataset = make_dataset(codes)
    return {
        "score": FamilyScorer(dataset, "bic").score(DAG(dataset.names, pairs)),
        "arcs": len(pairs),
    }


def has_bnlearn() -> bool:
    """Return whether R and bnlearn are here."""
    if shutil.which("Rscript") is None:
        return False
    return (
        subprocess.run(["Rscript", "-e", "library(bnlearn)"], capture_output=True).returncode == 0
    )


def measure(options: argparse.Namespace) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the answers of all systems; those of the journal are not measured again."""
    lines = options.journal.read_text().splitlines() if options.journal.exists() else []
    answers = {tuple(row["run"]): row["answer"] for row in map(json.loads, lines)}
    systems = [name for name in options.systems.split(",") if name != "bnlearn" or has_bnlearn()]
    for size in options.sizes.split(","):
        for system in systems:
            if (size, system) in answers:
                continue
            n, n_rows, limit = size.split(":")
            earlier = [
                one
                for (of, name), one in answers.items()
                if name == system
                and one is None
                and int(of.split(":")[0]) <= int(n)
                and int(of.split(":")[1]) <= int(n_rows)
            ]
            answer = None
            if not earlier:  # a peer that did not end on a smaller table does not end here
                command = [sys.executable, __file__, "--journal", "-", "--one", f"{size},{system}"]
                try:
                    done = subprocess.run(
                        command, capture_output=True, text=True, timeout=4 * float(limit) + 60
                    )
                    answer = json.loads(done.stdout.splitlines()[-1])
                except (subprocess.TimeoutExpired, IndexError, ValueError):
                    answer = None
            answers[size, system] = answer
            with options.journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"run": (size, system), "answer": answer}) + "\n")
    return answers


def format_table(
    answers: dict[tuple[str, str], Any], options: argparse.Namespace, machine: str
) -> str:
    """Return a Markdown table, a line for each table and system."""
    lines = [
        f"BIC, one thread of {machine}. *Ahead*: nats above hill climbing of coevo within the same "
        "limit. *MB*: what the search adds to the peak memory. bnlearn: limit times four.",
        "",
        "| variables x rows | limit, s | system | seconds | ended by itself | arcs | ahead | MB |",
        "|---|---:|---|---:|---|---:|---:|---:|",
    ]
    for size in options.sizes.split(","):
        n, n_rows, limit = size.split(":")
        base = answers.get((size, "hill_climb"))
        for system in options.systems.split(","):
            if (size, system) not in answers:
                continue
            one, head = (
                answers[size, system],
                f"| {int(n):,} x {int(n_rows):,} | {limit} | {system} ",
            )
            if one is None:
                lines.append(f"{head}| no result | | | | |")
                continue
            ahead = "" if base is None else f"{one['score'] - base['score']:+,.0f}"
            memory = "" if one["mb"] is None else f"{one['mb']:,.0f}"
            lines.append(
                f"{head}| {one['seconds']:,.1f} | {'yes' if one['is_done'] else 'no'} "
                f"| {one['arcs']:,} | {ahead} | {memory} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default=SIZES, help="VARIABLES:ROWS:SECONDS, with commas")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--journal", type=Path, required=True, help="file of the runs, to resume")
    parser.add_argument("--write", action="store_true", help="replace the table of the README")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        size, system = options.one.split(",")
        n, n_rows, limit = size.split(":")
        codes = make_codes(int(n), int(n_rows), 1)
        is_peer = system == "bnlearn"
        answer = run_bnlearn(codes) if is_peer else run_coevo(system, codes, float(limit))
        print(json.dumps(answer))
        return
    answers = measure(options)
    table = format_table(answers, options, describe_run()["machine"])
    if options.write:
        replace_block(HERE / "README.md", "many variables", table)
    print(table)


if __name__ == "__main__":
    main()
