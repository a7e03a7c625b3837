"""Helpers for tests of the paper's experiment: small plans, and recomputed numbers."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from coevo.bundled import load_network
from coevo.experiments import Paper
from coevo.network import sample
from coevo.score import FamilyScorer

# Asia is large enough for runs to differ, so every number is informative.
SMALL = Paper(networks=("asia", "sachs"), rows=(60, 120), runs=3, generations=30, population=12)
N_RUNS = 24  # two networks, two sizes, two algorithms, three runs

ROW = [
    "network",
    "rows",
    "original",
    "ccga_mean",
    "ccga_sd",
    "ccga_min",
    "ccga_max",
    "k2_mean",
    "k2_sd",
    "k2_min",
    "k2_max",
    "p_value",
    "crossing_generation",
    "ccga_seconds",
    "k2_seconds",
]
JOURNAL = {"experiment.json", "runs.jsonl", "times.jsonl"}
KINDS = {"table": ("csv", "md", "tex"), "figure": ("png", "svg")}


def arguments_of(paper):
    """Return the options of ``coevo paper`` for an experiment."""
    return [
        "--networks", ",".join(paper.networks),
        "--rows", ",".join(map(str, paper.rows)),
        "--runs", paper.runs,
        "--max-generations", paper.generations,
        "--population", paper.population,
        "--seed", paper.seed,
    ]  # fmt: skip


def file_names(*stems, figures=True):
    """Return the names of all files of a folder; `stems` follow table- and figure- in names."""
    names = {*JOURNAL, "README.md", "results.csv", "convergence.csv"}
    names |= {f"times.{kind}" for kind in KINDS["table"]}
    for table, figure in stems:
        names |= {f"{table}.{kind}" for kind in KINDS["table"]}
        names |= {f"{figure}.{kind}" for kind in KINDS["figure"]} if figures else set()
    return names


SMALL_FILES = file_names(("table-asia", "figure-asia"), ("table-sachs", "figure-sachs"))


def contents(folder, timeless=False):
    """Return the bytes of each file, without the times if `timeless` is set."""
    return {
        path.name: path.read_bytes()
        for path in Path(folder).iterdir()
        if not (timeless and path.name.startswith("times"))
    }


def read_lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def runs_of(folder, network, rows, algorithm):
    """Return the runs of one algorithm on one data set."""
    wanted = (network, rows, algorithm)
    return [
        line
        for line in read_lines(Path(folder, "runs.jsonl"))
        if (line["network"], line["rows"], line["algorithm"]) == wanted
    ]


def seconds_of(folder, network, rows, algorithm):
    times = read_lines(Path(folder, "times.jsonl"))
    wanted = (network, rows, algorithm)
    return [t["seconds"] for t in times if (t["network"], t["rows"], t["algorithm"]) == wanted]


def mean_curve(runs, generations):
    """Return the mean of the best scores so far by generation, from the improvements."""
    return [
        sum(max(score for at, score in run["improvements"] if at <= generation) for run in runs)
        / len(runs)
        for generation in range(generations + 1)
    ]


def crossing(curve, level):
    return next((generation for generation, mean in enumerate(curve) if mean > level), None)


def check_row(row, expected):
    """Check a row of the answer: names and generations exactly, the others to round-off."""
    assert list(row) == ROW
    exact = ("network", "rows", "crossing_generation")
    assert [row[name] for name in exact] == [expected[name] for name in exact]
    for name in set(ROW) - set(exact):
        assert row[name] == pytest.approx(expected[name], rel=1e-9), name


def expected_row(folder, paper, data):
    """Return the row of a data set, recomputed from the journal and the data."""
    network, rows = data.network, data.rows
    original = load_network(network)
    scorer = FamilyScorer(sample(original, rows, data.seed), "k2")
    row = {"network": network, "rows": rows, "original": scorer.score(original.dag)}
    scores = {}
    for algorithm in ("ccga", "k2"):
        runs = runs_of(folder, network, rows, algorithm)
        scores[algorithm] = [run["score"] for run in runs]
        row[f"{algorithm}_mean"] = float(np.mean(scores[algorithm]))
        row[f"{algorithm}_sd"] = float(np.std(scores[algorithm], ddof=1))
        row[f"{algorithm}_min"] = min(scores[algorithm])
        row[f"{algorithm}_max"] = max(scores[algorithm])
        times = seconds_of(folder, network, rows, algorithm)
        row[f"{algorithm}_seconds"] = sum(times) / len(times)
    test = stats.ttest_ind(scores["ccga"], scores["k2"], equal_var=False, alternative="greater")
    row["p_value"] = float(test.pvalue)
    curve = mean_curve(runs_of(folder, network, rows, "ccga"), paper.generations)
    row["crossing_generation"] = crossing(curve, row["k2_mean"])
    return row
