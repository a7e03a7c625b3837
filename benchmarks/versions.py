r"""Compare CCMA of two versions of coevo: the final scores after the same CPU time, seed by seed.

A table is ``NAME:ROWS``: the first rows of a table of `--data`, or a sample of a bundled network.
Each run has its own process and one thread. `--before` is the folder ``src`` of the other version.

    git worktree add ../before dcd5518    the last commit before masks had candidates
    python benchmarks/versions.py --before ../before/src --data DIR --tables cr52:300,andes:1000
    python benchmarks/versions.py --before ../before/src --data DIR --journal FILE    resumes
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from public_tables import find_table, read_frame

HERE = Path(__file__).parent
TABLES = (
    "cwebkb:300,cr52:300,cr52:1500,link:500,munin:500,andes:500,bnetflix:15000,accidents:12758,"
    "pigs:500,diabetes:500,hepar2:1000,win95pts:1000"
)
VERSIONS = ("before", "now")
Trace = list[tuple[float, float]]


def run_here(table: str, score: str, seed: int, options: argparse.Namespace) -> Trace:
    """Run CCMA of the imported version; return the CPU seconds and the scores."""
    from coevo import Budget, Dataset, FamilyScorer, load_network, read_data, run_search, sample

    warnings.simplefilter("ignore")  # few rows have constant columns
    name, rows = table.split(":")
    dataset: Dataset
    if find_table(options.data, name) is None:
        dataset = sample(load_network(name), int(rows), 1)
    else:
        frame, states = read_frame(options.data, name)
        dataset = read_data(frame.iloc[: int(rows)], states=states)
    small = FamilyScorer(sample(load_network("asia"), 200, 0), score)
    run_search("ccma", small, budget=Budget(max_generations=8), random_state=0)  # loads kernels
    trace: Trace = []
    began = time.process_time()

    def record(row: Any) -> bool:
        seconds = time.process_time() - began
        trace.append((round(seconds, 3), row.score))
        return seconds >= float(options.max_time)

    budget = Budget(patience=1_000_000)
    scorer = FamilyScorer(dataset, score)
    run_search("ccma", scorer, budget=budget, random_state=seed, callbacks=[record])
    return [point for point in trace if point[0] <= options.max_time]


def run_version(source: Path, run: tuple[str, str, int], options: argparse.Namespace) -> Trace:
    """Run CCMA of a version in a process of its own."""
    table, score, seed = run
    command = [sys.executable, __file__, "--before", str(options.before)]
    command += ["--data", str(options.data), "--max-time", str(options.max_time)]
    command += ["--one", f"{table},{score},{seed}"]
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{HERE}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    trace: Trace = json.loads(done.stdout.splitlines()[-1])
    return trace


def measure(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the runs of both versions, in turns. Runs of the journal are not made again."""
    sources = dict(zip(VERSIONS, (options.before, HERE.parent / "src"), strict=True))
    lines = []
    if options.journal is not None and options.journal.exists():
        lines = options.journal.read_text(encoding="utf-8").splitlines()
    known = {tuple(row["run"]): row for row in map(json.loads, lines)}
    for table in options.tables.split(","):
        for seed in range(1, options.seeds + 1):
            for version, source in sources.items():
                key = (version, table, options.score, seed, options.max_time)
                if key not in known and options.only_journal:
                    continue
                if key not in known:
                    trace = run_version(source, (table, options.score, seed), options)
                    known[key] = {"run": key, "trace": trace}
                    if options.journal is not None:
                        with options.journal.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(known[key]) + "\n")
                yield known[key]


def format_table(answers: list[dict[str, Any]], options: argparse.Namespace, machine: str) -> str:
    """Return a Markdown table: one line for each table that both versions have run on."""
    lines = [
        f"{options.score}, mean of the seeds, {options.max_time:g} CPU seconds a run on one thread "
        f"of {machine}. *Sooner* is the median time in which the new version reaches the final "
        "score of the old one.",
        "",
        "| table | rows | before | now | difference | seeds ahead, equal, behind | sooner, s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    runs = {tuple(answer["run"][:4]): answer["trace"] for answer in answers}
    for table in options.tables.split(","):
        keys = [(table, options.score, seed) for seed in range(1, options.seeds + 1)]
        pairs = [
            (runs["before", *key], runs["now", *key])
            for key in keys
            if all((version, *key) in runs for version in VERSIONS)
        ]
        if pairs:
            lines.append(format_line(table, pairs))
    return "\n".join(lines)


def format_line(table: str, pairs: list[tuple[Trace, Trace]]) -> str:
    """Return the line of one table; differences below 0.01 nats are none."""
    before = [old[-1][1] for old, _ in pairs]
    now = [new[-1][1] for _, new in pairs]
    gains = [round(b - a, 2) for a, b in zip(before, now, strict=True)]
    counts = [sum(g > 0 for g in gains), sum(g == 0 for g in gains), sum(g < 0 for g in gains)]
    times = [
        next((seconds for seconds, score in new if score >= old[-1][1] - 0.01), float("inf"))
        for old, new in pairs
    ]
    name, rows = table.split(":")
    return (
        f"| {name} | {int(rows):,} | {statistics.mean(before):,.1f} | {statistics.mean(now):,.1f} "
        f"| {statistics.mean(gains):+,.1f} | {', '.join(map(str, counts))} "
        f"| {statistics.median(times):.1f} |"
    )


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", type=Path, required=True, help="src of the other version")
    parser.add_argument("--data", type=Path, help="folder of public tables")
    parser.add_argument("--tables", default=TABLES)
    parser.add_argument("--score", default="bic")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--max-time", type=float, default=20, help="CPU seconds (default: 20)")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--journal", type=Path, help="file of the runs that have ended, to resume")
    parser.add_argument(
        "--only-journal", action="store_true", help="make the table of these runs; run nothing"
    )
    parser.add_argument("--write", action="store_true", help="replace the table of the README")
    parser.add_argument("--block", default="versions", help="name of that table")
    options = parser.parse_args()
    if options.one:
        table, score, seed = options.one.split(",")
        print(json.dumps(run_here(table, score, int(seed), options)))
        return
    from harness import describe_run, replace_block  # a version before 0.2.0 cannot import it

    answers = list(measure(options))
    table = format_table(answers, options, describe_run()["machine"])
    if options.write:
        replace_block(HERE / "README.md", options.block, table)
    print(table)


if __name__ == "__main__":
    main()
