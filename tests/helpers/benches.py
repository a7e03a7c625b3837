"""Helpers for tests of the comparison: a small plan, and runs in this process."""

import csv
from pathlib import Path

import pytest

from coevo.experiments import Bench
from coevo.parallel import JobOutcome
from coevo.score import make_score

SMALL = Bench(
    networks=("asia",),
    rows=(60, 120),
    seeds=2,
    methods=("hill_climb", "k2"),
    peers=("pyagrum", "pybnesian"),
    score=make_score("k2"),
)
N_RUNS = 16  # two sizes, two seeds, four runners
JOURNAL = {"experiment.json", "runs.jsonl", "times.jsonl"}
PLAIN = {*JOURNAL, "README.md", "results.csv", "summary.csv", "summary.md", "summary.tex"}
FIGURES = {
    f"figure-{kind}-{network}.{suffix}"
    for kind in ("gaps", "scores", "shd")
    for network in SMALL.networks
    for suffix in ("png", "svg")
}


def here(function, jobs, limit, *, n_jobs=1, should_stop=lambda: False, environment=None):
    """Run jobs like `run_isolated`, but in this process, which saves the start of processes."""
    for job in jobs:
        if should_stop():
            return
        assert limit(job) >= job.max_time
        yield JobOutcome(job, "done", function(job, lambda: None))


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr("coevo.parallel.processes.run_isolated", here)


def arguments_of(bench):
    """Return the options of ``coevo bench`` for a comparison."""
    return [
        "--networks", ",".join(bench.networks),
        "--rows", ",".join(map(str, bench.rows)),
        "--seeds", bench.seeds,
        "--methods", ",".join(bench.methods) or "none",
        "--peers", ",".join(bench.peers) or "none",
        "--score", bench.score.name,
        "--max-time", f"{bench.max_time:g}",
        "--seed", bench.seed,
    ]  # fmt: skip


def read_csv(path):
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def as_texts(record):
    """Return the values of a record as a CSV file has them."""
    return {name: "" if value is None else str(value) for name, value in record.items()}


def timeless(folder):
    """Return the runs and results without times, which are the same for the same seed."""
    rows = read_csv(Path(folder, "results.csv"))
    for row in rows:
        del row["seconds"]
    return Path(folder, "runs.jsonl").read_bytes(), rows
