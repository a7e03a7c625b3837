"""Compare objectives, to choose the defaults of coevo: the score, its prior, a price on parents.

Real tables (`real_tables.py`): CCMA learns from two thirds of the rows, and the network predicts
the rest (three-fold cross-validation). Samples of published networks: CCMA learns from 200 to
10,000 rows, and the network predicts 10,000 further rows; the SHD compares it with the true
network. Every objective gets the same rows, the same bins, the same search and the same prior of
the tables (``fit_network``), so that only the structure differs.

The figure of a data set is its held-out log-likelihood a row, minus that of the default objective
(nats; higher is better). p is that of a paired sign-flip test over data sets. A journal keeps what
is done; the same command resumes.

    python benchmarks/defaults.py --journal defaults.jsonl
    python benchmarks/defaults.py --journal defaults.jsonl --write
    python benchmarks/defaults.py --journal sparse.jsonl --sparse --write
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from coevo import Budget, FamilyScorer, compare, fit_network, load_network, run_search, sample
from coevo.data import Dataset, read_data
from coevo.score import make_score
from harness import describe_run, print_json, replace_block
from real_tables import TABLES, load_table

NETWORKS = (
    "asia",
    "survey",
    "sachs",
    "child",
    "insurance",
    "water",
    "alarm",
    "hailfinder",
    "hepar2",
    "win95pts",
)
ROWS = (200, 1000, 10_000)
HELD_OUT = 10_000
FOLDS = 3
MAX_TABLE = 10_000
PATIENCE = 12  # generations; half of the default, since there are thousands of searches
PRICE = 4.0  # nats; benchmarks/penalty.py compares several
PLAIN: dict[str, dict[str, Any]] = {
    "bic": {"score": "bic"},
    "aic": {"score": "aic"},
    "k2": {"score": "k2"},
    "fnml": {"score": "fnml"},
    "qnml": {"score": "qnml"},
    "bdeu 1": {"score": "bdeu", "ess": 1},
    "bdeu 5": {"score": "bdeu", "ess": 5},
    "bdeu 10": {"score": "bdeu", "ess": 10},
    "bds 1": {"score": "bds", "ess": 1},
}
PRICED = ("bic", "k2", "fnml", "qnml", "bdeu 1", "bdeu 5", "bdeu 10")
LIMITED = ("bdeu 1", "qnml")  # to one cell for each row
OBJECTIVES = {
    **PLAIN,
    **{f"{name}, price": {**PLAIN[name], "price": PRICE} for name in PRICED},
    "bdeu 10, price 8": {**PLAIN["bdeu 10"], "price": 2 * PRICE},
    "bdeu 5, price, sparse": {**PLAIN["bdeu 5"], "price": PRICE, "sparse": 1.0},
    **{f"{name}, table": {**PLAIN[name], "is_limited": True} for name in LIMITED},
}
DEFAULT = "bdeu 5, price"  # of `learn`, but for its sparse penalty
SPARSE = ("bdeu 5, price", "bdeu 5, price, sparse")  # without and with it
Record = dict[str, Any]


def read_table(name: str) -> Dataset:
    """Return the complete rows of a table, discretised; all objectives get the same bins."""
    frame = load_table(name)
    frame = frame[[c for c in frame.columns if frame[c].isna().mean() <= 0.1]].dropna()
    for column in frame.columns:
        kind, share = frame[column].dtype.kind, frame[column].nunique() / len(frame)
        if kind == "M" or (kind == "O" and share > 0.2) or frame[column].nunique() < 2:
            frame = frame.drop(columns=column)
        elif kind in "iu" and share > 0.5:
            frame = frame.astype({column: float})
    frame = frame.rename(columns=str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_data(frame, discretise="mdl", deduplicate=False)


def take_rows(dataset: Dataset, rows: Any) -> Dataset:
    """Return some rows of a table; their states are those of the table."""
    by_name = [dataset.codes[dataset.find_position(v.name)] for v in dataset.source_variables]
    columns = []
    for variable, codes in zip(dataset.source_variables, by_name, strict=True):
        canonical = variable.to_canonical().states
        recode = np.array([variable.states.index(state) for state in canonical])
        columns.append(recode[codes[rows]])
    return Dataset(dataset.source_variables, columns)


def learn(rows: Dataset, objective: Record, max_time: float) -> tuple[Any, float]:
    """Return the structure that maximises an objective, and the CPU seconds."""
    limit = min(MAX_TABLE, rows.n_rows) if objective.get("is_limited") else MAX_TABLE
    score = make_score(objective["score"], objective.get("ess"))
    began = time.process_time()
    scorer = FamilyScorer(
        rows,
        score,
        parent_penalty=objective.get("price", 0.0),
        sparse_penalty=objective.get("sparse", 0.0),
        max_table=limit,
    )
    budget = Budget(patience=PATIENCE, max_time=max_time)
    dag = run_search("ccma", scorer, budget=budget, random_state=0).dag
    return dag, time.process_time() - began


def measure_table(name: str, objective: Record, max_time: float) -> Record:
    """Return the cross-validated log-likelihood a row, the arcs and the seconds of a table."""
    dataset = read_table(name)
    fold = np.random.default_rng(0).permutation(dataset.n_rows) % FOLDS
    total, arcs, seconds = 0.0, [], []
    for number in range(FOLDS):
        train, test = take_rows(dataset, fold != number), take_rows(dataset, fold == number)
        dag, spent = learn(train, objective, max_time)
        total += fit_network(dag, train).log_likelihood(test).total
        arcs.append(len(dag.arcs))
        seconds.append(spent)
    return {
        "held_out": total / dataset.n_rows,
        "arcs": statistics.fmean(arcs),
        "seconds": statistics.fmean(seconds),
        "n_rows": dataset.n_rows,
        "n_variables": dataset.n_variables,
    }


def measure_network(name: str, n_rows: int, objective: Record, max_time: float) -> Record:
    """Return the held-out log-likelihood a row, SHD, arcs and seconds of a sample."""
    true = load_network(name)
    rows = sample(true, n_rows, 1)
    dag, seconds = learn(rows, objective, max_time)
    held_out = fit_network(dag, rows).log_likelihood(sample(true, HELD_OUT, 10**6))
    comparison = compare(dag, true.dag)
    return {
        "held_out": held_out.total / HELD_OUT,
        "shd": comparison.shd_cpdag,
        "arcs": len(dag.arcs),
        "seconds": seconds,
        "n_rows": n_rows,
        "n_variables": len(true.variables),
    }


@cache
def rank_data_sets() -> list[str]:
    """Return the names of all data sets, those with the least work first."""

    def estimate_work(data: str) -> int:
        if data in TABLES:
            n_rows, n_columns = load_table(data).shape
        else:
            name, rows = data.removeprefix("network/").split()
            n_rows, n_columns = int(rows), len(load_network(name).variables)
        return int(n_columns) ** 2 * int(n_rows)

    sizes = [rows for rows in ROWS if len(OBJECTIVES) > len(SPARSE) or rows <= 1000]
    networks = [f"network/{name} {rows}" for rows in sizes for name in NETWORKS]
    return sorted([*TABLES, *networks], key=estimate_work)


def iter_cases() -> Iterator[tuple[str, str]]:
    """Yield the name of each data set and of each objective."""
    for data in rank_data_sets():
        for objective in OBJECTIVES:
            yield data, objective


def measure(data: str, objective: str, max_time: float) -> Record:
    """Measure one objective on one data set."""
    settings = OBJECTIVES[objective]
    if data.startswith("network/"):
        name, rows = data.removeprefix("network/").split()
        return measure_network(name, int(rows), settings, max_time)
    return measure_table(data, settings, max_time)


def run_cases(journal: Path, max_time: float) -> list[Record]:
    """Measure all cases that the journal lacks; return all records."""
    done: dict[tuple[str, str], Record] = {}
    if journal.exists():
        for line in journal.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            done[record["data"], record["objective"]] = record
    for data, objective in iter_cases():
        if (data, objective) in done:
            continue
        record = {"data": data, "objective": objective, **measure(data, objective, max_time)}
        done[data, objective] = record
        with journal.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)
    return [done[case] for case in iter_cases()]


def test_paired(differences: list[float]) -> float:
    """Return the two-sided p of a sign-flip test of the mean; ranks bound the largest."""
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1.0
    signed = ranks * np.sign(differences)
    flips = np.random.default_rng(0).choice([-1.0, 1.0], size=(20_000, len(ranks)))
    sums = np.abs((flips * ranks).sum(axis=1))
    return float((1 + (sums >= abs(signed.sum()) - 1e-9).sum()) / (1 + len(sums)))


def summarise(records: list[Record]) -> list[Record]:
    """Return one row for each objective and kind of data."""
    by_case = {(r["data"], r["objective"]): r for r in records}
    kinds: dict[str, list[str]] = defaultdict(list)
    for data in dict.fromkeys(r["data"] for r in records):
        is_network = data.startswith("network/")
        kinds[f"networks, {int(data.split()[1]):,} rows" if is_network else "real tables"].append(
            data
        )
    rows = []
    for kind, data_sets in kinds.items():
        for objective in OBJECTIVES:
            found = [by_case[data, objective] for data in data_sets]
            base = [by_case[data, DEFAULT] for data in data_sets]
            gains = [f["held_out"] - b["held_out"] for f, b in zip(found, base, strict=True)]
            ranks = [
                1
                + sum(
                    by_case[d, o]["held_out"] > by_case[d, objective]["held_out"] + 1e-9
                    for o in OBJECTIVES
                )
                for d in data_sets
            ]
            rows.append(
                {
                    "kind": kind,
                    "objective": objective,
                    "n": len(found),
                    "gain": statistics.fmean(gains),
                    "worst": min(gains),
                    "rank": statistics.fmean(ranks),
                    "p": math.nan if objective == DEFAULT else test_paired(gains),
                    "shd": statistics.fmean(f["shd"] for f in found) if "shd" in found[0] else None,
                    "arcs": statistics.fmean(f["arcs"] for f in found),
                    "seconds": statistics.fmean(f["seconds"] for f in found),
                    "slowest": max(f["seconds"] for f in found),
                }
            )
    return rows


def format_tables(rows: list[Record], machine: str) -> str:
    """Return one Markdown table for each kind of data, the best objective first."""
    lines: list[str] = [f"CCMA, one thread of {machine}."]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        of_kind = [row for row in rows if row["kind"] == kind]
        lines += [
            "",
            f"**{kind}** ({of_kind[0]['n']} data sets)",
            "",
            f"| objective | held out against {DEFAULT} | worst | mean rank | p | SHD | arcs "
            "| CPU s | slowest |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for row in sorted(of_kind, key=lambda row: -row["gain"]):
            shd = "" if row["shd"] is None else f"{row['shd']:.1f}"
            p = "" if math.isnan(row["p"]) else f"{row['p']:.4f}"
            lines.append(
                f"| {row['objective']} | {row['gain']:+.4f} | {row['worst']:+.3f} "
                f"| {row['rank']:.1f} | {p} | {shd} | {row['arcs']:.1f} "
                f"| {row['seconds']:.2f} | {row['slowest']:.1f} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--journal", type=Path, default=Path("defaults.jsonl"))
    parser.add_argument("--max-time", type=float, default=20.0, help="limit of one search")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--write", action="store_true", help="write into benchmarks/README.md")
    parser.add_argument(
        "--sparse", action="store_true", help="compare the sparse penalty only, up to 1,000 rows"
    )
    options = parser.parse_args()
    if options.sparse:
        for name in set(OBJECTIVES) - set(SPARSE):
            del OBJECTIVES[name]
    rows = summarise(run_cases(options.journal, options.max_time))
    run = describe_run("coevo", "numpy")
    text = format_tables(rows, run["machine"])
    if options.write:
        block = "sparse penalty" if options.sparse else "defaults"
        replace_block(Path(__file__).parent / "README.md", block, text)
    if options.format == "json":
        print_json({**run, "rows": rows})
    else:
        print(text)


if __name__ == "__main__":
    main()
