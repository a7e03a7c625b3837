"""Compare the strengths that `learn` gives by default with those of a full bootstrap.

The full bootstrap repeats the whole search, imputation included, on other samples than the quick
one (another seed), so that both carry their sampling noise. Compared are the arcs of the network,
and the arcs outside it that a tenth of the samples of either bootstrap have. *Noise* is the mean
difference that sampling alone gives: of a full bootstrap with as many samples as the quick one,
to the same reference (binomial, by the normal distribution).

The ablation is the quick bootstrap of version 0.2.0: the better of two hill climbs on samples of
the imputed table, one from no arcs and one from the network; here with as many samples.

The tables are those of `real_tables.py` for which `learn` gives strengths. A journal keeps what is
done; the same command resumes. Costs are CPU seconds, relative to the search.

    python benchmarks/quick_bootstrap.py --journal quick_bootstrap.jsonl
    python benchmarks/quick_bootstrap.py --journal quick_bootstrap.jsonl --write
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import coevo
from coevo.data import Dataset, Rows
from coevo.graph import Arc
from coevo.learning import LearnResult
from coevo.posteriors.bootstrap import run_bootstrap
from coevo.posteriors.quick_bootstrap import count_quick_samples, run_quick_bootstrap
from coevo.runtime.randomness import random_stream
from coevo.search import HillClimb
from harness import add_output_options, describe_run, show_table
from real_tables import TABLES, load_table

REFERENCE = 50  # samples of the full bootstrap
SEED, OTHER_SEED = 0, 1
OFTEN = 0.1  # strength of the arcs outside the network that are compared
FAR = 0.3

Pairs = dict[frozenset[str], float]  # the strength of each pair of variables


def main() -> None:
    """Measure the tables that are not in the journal; print all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--journal", type=Path, required=True, help="JSONL file, read and extended")
    parser.add_argument("--tables", default=",".join(TABLES), help="names, with commas")
    parser.add_argument("--max-tables", type=int, default=len(TABLES), help="measured in this run")
    add_output_options(parser, "quick bootstrap")
    options = parser.parse_args()
    done = read_journal(options.journal)
    new = [name for name in options.tables.split(",") if name not in done]
    for name in new[: options.max_tables]:
        done[name] = measure(name)
        with options.journal.open("a") as file:
            file.write(json.dumps(done[name]) + "\n")
    answer = {**describe_run("numpy"), "tables": list(done.values())}
    show_table(format_table(list(done.values())), answer, options)


def read_journal(path: Path) -> dict[str, dict[str, Any]]:
    """Return the measured tables by name."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {record["table"]: record for record in map(json.loads, lines)}


def measure(name: str) -> dict[str, Any]:
    """Return the figures of a table: strengths by each way, and their costs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = coevo.learn(load_table(name), bootstraps=0, random_state=SEED)
    imputation = found.imputation
    table: Rows = found.dataset if imputation is None else imputation.table  # type: ignore[assignment]
    missing = None if imputation is None else imputation.policy
    search = found.search
    record: dict[str, Any] = {
        "table": name,
        "rows": table.n_rows,
        "variables": table.n_variables,
        "missing": 0.0 if imputation is None else float(imputation.table.missing.mean()),
        "arcs": len(found.dag.arcs),
        "evaluations": search.evaluations,
        "generations": search.generations,
        "samples": count_quick_samples(table, found.spec, search),
    }
    if not record["samples"]:
        return record
    began = time.process_time()
    quick = run_quick_bootstrap(table, found.spec, search, found.gains, missing)
    assert quick is not None
    record["quick_seconds"] = time.process_time() - began

    began = time.process_time()
    other = replace(found.spec, seed=OTHER_SEED)
    runs = [run_bootstrap(table, other, missing, 1, n) for n in range(1, REFERENCE + 1)]
    record["full_seconds"] = (time.process_time() - began) / REFERENCE
    full = measure_shares([run.arcs for run in runs])
    shares = {frozenset((arc.parent, arc.child)): arc.strength for arc in quick.arcs}
    old = run_old_bootstrap(found, record["samples"])
    network = {frozenset(arc) for arc in found.dag.arcs}
    pairs = {pair for way in (full, shares) for pair, share in way.items() if share >= OFTEN}
    record["pairs"] = [
        [*sorted(pair), pair in network, *(way.get(pair, 0.0) for way in (full, shares, old))]
        for pair in sorted(network | pairs, key=sorted)
    ]
    return record


def run_old_bootstrap(found: LearnResult, n_samples: int) -> Pairs:
    """Return the strengths of version 0.2.0: by the better of two hill climbs on each sample."""
    assert isinstance(found.dataset, Dataset)
    climb = replace(found.spec, method=HillClimb(), budget=coevo.Budget())
    structures = []
    for number in range(1, n_samples + 1):
        scorer = climb.make_scorer(found.dataset.resample(random_stream(SEED, number, 0)))
        free, near = climb.run(scorer), replace(climb, start=found.search.dag).run(scorer)
        structures.append((free if free.score > near.score + 1e-9 else near).dag.arcs)
    return measure_shares(structures)


def measure_shares(structures: Iterable[Iterable[Arc]]) -> Pairs:
    """Return the share of structures that join each pair of variables."""
    listed = [{frozenset(arc) for arc in arcs} for arcs in structures]
    pairs = set().union(*listed)
    return {pair: sum(pair in joined for joined in listed) / len(listed) for pair in pairs}


def compute_noise(strengths: np.ndarray, n_samples: int) -> float:
    """Return the mean absolute difference of two bootstraps that differ by sampling alone."""
    spread = strengths * (1 - strengths) * (1 / n_samples + 1 / REFERENCE)
    return float(np.sqrt(2 * spread / math.pi).mean())


def summarise(records: list[dict[str, Any]]) -> dict[str, float]:
    """Return the differences over the arcs of some tables."""
    rows = [(*pair[2:], r["samples"]) for r in records for pair in r["pairs"]]
    inside, full, quick, old, n = np.array(rows, dtype=np.float64).T
    inside = inside.astype(np.bool_)
    new, before = abs(quick - full), abs(old - full)
    noise = [compute_noise(full[i : i + 1], n[i]) for i in np.flatnonzero(inside)]

    def average(values: Any) -> float:
        return float(np.mean(values)) if len(values) else 0.0

    return {
        "arcs": int(inside.sum()),
        "inside": average(new[inside]),
        "outside": average(new[~inside]),
        "bias": average((quick - full)[inside]),
        "noise": average(noise),
        "far": average(new > FAR),
        "old": average(before[inside]),
        "old_outside": average(before[~inside]),
        "old_bias": average((old - full)[inside]),
        "old_far": average(before > FAR),
    }


def format_table(records: list[dict[str, Any]]) -> str:
    """Return the Markdown table, and the tables without strengths."""
    measured = [record for record in records if record["samples"]]
    without = [record["table"] for record in records if not record["samples"]]
    lines = [
        "| table | rows x variables | missing | samples | arcs | difference, arcs of the network "
        "| other arcs | noise | bias | off by more than 0.3 | cost of the samples, searches "
        "| 0.2.0: difference | other arcs | bias | off by more than 0.3 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for record in measured:
        size = f"{record['rows']:,} x {record['variables']}"
        cost = record["quick_seconds"] / record["full_seconds"]
        first = [record["table"], size, f"{record['missing']:.1%}", f"{record['samples']}"]
        lines.append(format_row(first, summarise([record]), f"{cost:.1f}"))
    if measured:
        cost = np.median([record["quick_seconds"] / record["full_seconds"] for record in measured])
        first = [f"all {len(measured)}", "", "", ""]
        lines.append(format_row(first, summarise(measured), f"median {cost:.1f}"))
    if without:
        lines += ["", f"No strengths by default, because of their cost: {', '.join(without)}."]
    return "\n".join(lines)


def format_row(first: list[str], values: dict[str, float], cost: str) -> str:
    """Return a row of the table."""
    cells = [
        *(*first, f"{values['arcs']}", f"{values['inside']:.3f}", f"{values['outside']:.3f}"),
        *(f"{values['noise']:.3f}", f"{values['bias']:+.3f}", f"{values['far']:.1%}", cost),
        *(f"{values['old']:.3f}", f"{values['old_outside']:.3f}"),
        *(f"{values['old_bias']:+.3f}", f"{values['old_far']:.1%}"),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
