r"""Measure the effect of each part of CCMA: the second species, and the steps from CCGA to CCMA.

Every variant of `ablated.py` runs with the same seeds on the same rows, on one thread, each run
with an empty cache, until it has used its CPU seconds. A table is ``NAME:ROWS:SCORE:SECONDS``: a
sample of a bundled network (seed s takes sample s modulo 3), or the first rows of a table of
`--data`. Runs are compared with the complete CCMA seed by seed, twice:

- after equal CPU seconds;
- after equal evaluations: at the largest number of local scores that all variants have asked for
  on this table with this seed.

The difference of a variant is its score minus that of CCMA, in nats: below 0, the part that it
lacks helps. A cell has the mean difference, and on how many seeds the variant is ahead and behind.
The p-value of a variant is that of Wilcoxon's signed-rank test over all tables and seeds, with
Holm's correction over the variants. Before the test, the differences of each table are divided by
their mean size over all variants, so that no table decides alone.

    python benchmarks/ablation.py --data DIR --journal runs.jsonl            the second species
    python benchmarks/ablation.py --data DIR --journal runs.jsonl --only-journal --write
    python benchmarks/ablation.py --variants steps --journal steps.jsonl     from CCGA to CCMA
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from ablated import SPECIES, STEPS
from best_known import TOLERANCE, BestKnown, name_sample
from coevo import Budget, Dataset, FamilyScorer, load_network, read_data, run_search, sample
from harness import describe_run, replace_block
from public_tables import find_table, read_frame

HERE = Path(__file__).parent
N_SAMPLES = 3
FULL = "ccma"
TABLES = {
    "species": "hepar2:1000:k2:2,win95pts:1000:k2:3,andes:1000:bic:3,accidents:12758:bic:6,"
    "dna:1600:bic:3,link:1000:bic:6,munin:1000:bic:4,baudio:15000:bic:4,book:8700:bic:4,"
    "cwebkb:2803:bic:4",
    "steps": "alarm:1000:k2:2,insurance:1000:k2:2,child:1000:k2:2,hailfinder:1000:k2:2,"
    "hepar2:1000:k2:2,win95pts:1000:k2:2",
}
Trace = list[tuple[float, int, float]]  # CPU seconds, evaluations, score; the improvements
Key = tuple[str, str, int]  # table, variant, seed


def load(table: str, seed: int, data: Path | None) -> tuple[Dataset, str]:
    """Return the rows of a run and their name."""
    name, rows = table.split(":")[:2]
    if data is not None and find_table(data, name) is not None:
        frame, states = read_frame(data, name)
        dataset: Dataset = read_data(frame.iloc[: int(rows)], states=states)
        return dataset, f"{name}, the first {int(rows):,} rows"
    number = 1 + seed % N_SAMPLES
    return sample(load_network(name), int(rows), number), name_sample(name, int(rows), number)


def run(table: str, method: Any, dataset: Dataset, seed: int) -> Trace:
    """Run a variant until it has used its time; return its improvements and the last point."""
    _, _, score, seconds = table.split(":")
    trace: Trace = []
    began = time.process_time()

    def record(row: Any) -> bool:
        spent = time.process_time() - began
        if spent <= float(seconds):
            trace.append((round(spent, 3), row.evaluations, row.score))
        return spent >= float(seconds)

    scorer, endless = FamilyScorer(dataset, score), Budget(patience=10**9)
    run_search(method, scorer, budget=endless, random_state=seed, callbacks=[record])
    kept = [one for one, before in zip(trace[1:], trace, strict=False) if one[2] > before[2]]
    return [*trace[:1], *kept, *trace[-1:]]


def measure(options: argparse.Namespace, variants: dict[str, Any]) -> dict[Key, Trace]:
    """Return all runs: those of the journal, and the others, seed by seed."""
    lines = options.journal.read_text().splitlines() if options.journal.exists() else []
    runs = {tuple(row["run"]): row["trace"] for row in map(json.loads, lines)}
    best = BestKnown()
    for seed in range(options.seeds):
        for table in [] if options.only_journal else options.tables.split(","):
            missing = [name for name in variants if (table, name, seed) not in runs]
            dataset, data_set = load(table, seed, options.data) if missing else (None, "")
            for name in missing:
                assert dataset is not None
                trace = runs[table, name, seed] = run(table, variants[name], dataset, seed)
                with options.journal.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"run": (table, name, seed), "trace": trace}) + "\n")
                finder = f"{name}, {table.split(':')[3]} CPU s, benchmarks/ablation.py"
                if best.offer(data_set, table.split(":")[2], trace[-1][2], finder):
                    best.save()
    return runs


def compare(runs: dict[Key, Trace], table: str, name: str, by_evaluations: bool) -> list[float]:
    """Return the differences of a variant to the complete CCMA, one for each seed."""
    differences = []
    for seed in sorted({key[2] for key in runs if key[0] == table}):
        own, full = runs.get((table, name, seed)), runs.get((table, FULL, seed))
        if own is None or full is None:
            continue
        others = [
            trace
            for (of_table, other, of_seed), trace in runs.items()
            if (of_table, of_seed) == (table, seed)
        ]
        limit = min(trace[-1][1] for trace in others) if by_evaluations else float("inf")
        scores = [max(p[2] for p in trace if p[1] <= limit) for trace in (own, full)]
        differences.append(scores[0] - scores[1])
    return differences


def compute_p_value(differences: list[float]) -> float:
    """Return the p-value of Wilcoxon's signed-rank test; 1 if nothing differs."""
    rounded = np.round(differences, 4)
    return float(wilcoxon(rounded).pvalue) if np.any(rounded) else 1.0


def correct_by_holm(p_values: list[float]) -> list[float]:
    """Return the p-values after Holm's correction.

    >>> correct_by_holm([0.04, 0.01])
    [0.04, 0.02]
    """
    corrected, highest = [0.0] * len(p_values), 0.0
    for place, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[i]))
        corrected[i] = highest
    return corrected


def format_cell(differences: list[float]) -> str:
    """Return the mean difference, and the numbers of seeds ahead and behind.

    >>> format_cell([1.0, -3.0, 0.001])
    '-0.7 (1, 1)'
    """
    if not differences:
        return ""
    ahead, behind = (sum(sign * d > TOLERANCE for d in differences) for sign in (1, -1))
    return f"{statistics.mean(differences):+,.1f} ({ahead}, {behind})"


def format_table(
    runs: dict[Key, Trace], options: argparse.Namespace, names: list[str], machine: str
) -> str:
    """Return both comparisons as Markdown tables."""
    tables = options.tables.split(",")
    heads = [
        f"{name} ({score}, {seconds} s)"
        for name, _, score, seconds in (table.split(":") for table in tables)
    ]
    lines = [f"One thread of {machine}."]
    # The steps count evaluations in different ways: of complete structures, or of families.
    for by_evaluations in (False, True) if options.variants == "species" else (False,):
        others = [one for one in names if one != FULL and any(name == one for _, name, _ in runs)]
        cells = {
            (name, table): compare(runs, table, name, by_evaluations)
            for name in others
            for table in tables
        }
        scales = {
            table: np.abs([d for name in others for d in cells[name, table]] or [1.0]).mean()
            for table in tables
        }
        pooled = [
            [d / max(scales[table], 1e-9) for table in tables for d in cells[name, table]]
            for name in others
        ]
        p_values = correct_by_holm([compute_p_value(found) for found in pooled])
        at = "the evaluations that all variants reach" if by_evaluations else "equal CPU seconds"
        if not others:
            continue
        lines += [
            "",
            f"After {at}: nats minus those of CCMA, mean of the seeds (seeds ahead, behind).",
            "",
            "| variant | pairs | p (Holm) | " + " | ".join(heads) + " |",
            "|---|---:|---:|" + "---:|" * len(tables),
        ]
        for name, found, p in zip(others, pooled, p_values, strict=True):
            shown = " | ".join(format_cell(cells[name, table]) for table in tables)
            lines.append(f"| {name} | {len(found)} | {p:.2g} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--variants", choices=["species", "steps"], default="species")
    parser.add_argument("--tables", help="NAME:ROWS:SCORE:SECONDS,... (default: ten, or six)")
    parser.add_argument("--only", help="names of variants, with commas (default: all)")
    parser.add_argument("--data", type=Path, help="folder of public tables")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--journal", type=Path, required=True, help="file of the runs, to resume")
    parser.add_argument("--only-journal", action="store_true", help="run nothing")
    parser.add_argument("--write", action="store_true", help="replace the table of the README")
    options = parser.parse_args()
    options.tables = options.tables or TABLES[options.variants]
    warnings.simplefilter("ignore")  # few rows have constant columns
    variants = SPECIES if options.variants == "species" else STEPS
    chosen = options.only.split(",") if options.only else list(variants)
    runs = measure(options, {name: variants[name] for name in [*chosen, FULL]})
    table = format_table(runs, options, list(variants), describe_run("scipy")["machine"])
    if options.write:
        replace_block(HERE / "README.md", f"ablation {options.variants}", table)
    print(table)


if __name__ == "__main__":
    main()
