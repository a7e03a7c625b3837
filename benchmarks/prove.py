"""Measure proofs: from the table to the checked certificate.

The first part proves the K2 optimum with at most three parents on reference tables (a folder with
NAME-ROWS.csv.gz, which declares no states: those of the bundled network hold). The second part
proves BIC and BDeu on rows sampled from bundled networks, without a limit on parents where the
rules allow it. The third part is for tables with published optima or scores (a folder with
NAME.csv.gz and NAME.states.json). `champion.py --prove` proves the tables of the main README.

All times are CPU seconds of one process with two threads, so that a busy machine changes them
little: `search` with ccma, `families`, `proof` and `check`. A proof that is not closed stops when
families and proof have taken `--limit` seconds of CPU time; its gap is what another network can be
better at most. Families are listed for at most as many seconds on the clock. If not all could be
listed, the gap is that of a partial list, which has no clusters.

    python benchmarks/prove.py --data FOLDER --part bars
    python benchmarks/prove.py --data FOLDER --limit 30 --write
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo import Dataset, FamilyScorer, load_network, read_data, sample
from coevo.exact import (
    ProofTask,
    check_certificate,
    find_families,
    make_certificate,
    run_proof,
)
from coevo.graph import Constraints
from coevo.runtime.deadline import measure_work_time
from coevo.search import CCMA, Budget, Problem, run_search
from harness import describe_run, replace_block

HERE = Path(__file__).parent
SEARCH = 20.0  # seconds on the clock of the search; wide tables reach it
MOST_CLOCK = 4.0  # seconds on the clock for each second of the limit
BARS = {
    ("insurance", 1000): 2,
    ("insurance", 3000): 10,
    ("insurance", 5000): 20,
    ("alarm", 1000): 10,
    ("alarm", 3000): 60,
    ("alarm", 5000): 120,
}
SAMPLED = ["asia", "sachs", "child", "water", "mildew", "hailfinder", "hepar2"]
PUBLISHED = {
    "gobnilp_discrete": ("bdeu", None, -24028.0947783535),
    "gobnilp_asia_10000": ("bdeu", 3, -22466.39654649),
    "gobnilp_alarm_10000": ("bdeu", 3, -105226.51191678),
    "bnlearn_alarm": ("bic", 3, -218632.31567965),
    "bnlearn_insurance": ("bic", 3, -264708.85975078),
    "bnlearn_hailfinder": ("bic", 3, -990162.80504007),
    "ebnsl_wine": ("bic", None, -1258.445909),
}
DENSITY = [
    *("nltcs", "kdd", "baudio", "bnetflix", "accidents", "tretail"),
    *("dna", "book", "cwebkb", "cr52"),
]
HEADERS = (
    "| table | score | parents | families | best score | gap | leaves | search | families, s "
    "| proof | check | all |{}\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|{}"
)


@dataclass(frozen=True)
class Case:
    """A table, a score and a limit on parents."""

    name: str
    dataset: Dataset
    score: str
    max_parents: int | None


def measure(case: Case, limit: float) -> dict[str, Any]:
    """Search, prove and check one case; return the figures."""
    row: dict[str, Any] = {
        "table": case.name,
        "score": case.score,
        "parents": "any" if case.max_parents is None else str(case.max_parents),
    }
    scorer = FamilyScorer(case.dataset, case.score, n_jobs=2, max_table=10_000)
    constraints = Constraints(max_parents=case.max_parents)
    problem = Problem.from_scorer(scorer, constraints)
    clock = _Clock()
    budget = Budget(max_time=SEARCH, patience=CCMA().default_budget.patience)
    found = run_search("ccma", scorer, constraints=constraints, budget=budget, random_state=0)
    seconds = {"search": clock.read()}
    families = find_families(problem, deadline=measure_work_time() + limit)
    seconds["families"] = clock.read()
    limit = max(0.0, limit - seconds["families"])
    task = ProofTask(problem, families, found.dag)
    begun = time.process_time()
    budget = Budget(max_time=MOST_CLOCK * limit)  # ends a step that is too long
    is_over = [lambda row: time.process_time() - begun > limit]
    last, _ = run_proof(task, budget=budget, callbacks=is_over)
    certificate = make_certificate(task, last.state)
    seconds["proof"] = clock.read()
    verdict = check_certificate(certificate, case.dataset, 2)
    seconds["check"] = clock.read()
    leaves = sum(not node.is_split for node in last.state.nodes)
    row |= {"families": len(families), "best": verdict.score, "gap": verdict.gap, "leaves": leaves}
    listed = None if families.part is None else families.part.n_free
    return row | {"listed": listed, "seconds": seconds}


class _Clock:
    """CPU time since the last reading."""

    def __init__(self) -> None:
        self._last = time.process_time()

    def read(self) -> float:
        now = time.process_time()
        passed, self._last = now - self._last, now
        return passed


def list_bars(folder: Path) -> Iterator[Case]:
    """Yield the reference tables."""
    for name, n_rows in BARS:
        network = load_network(name)
        states = {variable.name: list(variable.states) for variable in network.variables}
        dataset = read_data(folder / f"{name}-{n_rows}.csv.gz", states=states)
        yield Case(f"{name}-{n_rows}", dataset, "k2", 3)


def list_sampled(folder: Path) -> Iterator[Case]:
    """Yield tables sampled from bundled networks."""
    for name in SAMPLED:
        for n_rows in (1000, 5000):
            dataset = sample(load_network(name), n_rows, random_state=1)
            for score in ("bic", "bdeu"):
                limit = None if score == "bic" or dataset.n_variables <= 11 else 3
                yield Case(f"{name}, {n_rows:,} rows", dataset, score, limit)


def list_published(folder: Path) -> Iterator[Case]:
    """Yield the tables with published optima."""
    for name, (score, limit, _) in PUBLISHED.items():
        states = json.loads((folder / "public" / f"{name}.states.json").read_text())
        dataset = read_data(folder / "public" / f"{name}.csv.gz", states=states)
        yield Case(name, dataset, score, limit)
    for name in DENSITY:
        states = json.loads((folder / "public" / f"{name}.states.json").read_text())
        dataset = read_data(folder / "public" / f"{name}.ts.csv.gz", states=states)
        yield Case(name, dataset, "bic", None)


PARTS = {
    "bars": list_bars,
    "sampled": list_sampled,
    "published": list_published,
}


def format_row(part: str, row: dict[str, Any]) -> str:
    """Return one line of a table."""
    cells = [row["table"], row["score"], row["parents"]]
    spent, listed = row["seconds"], row["listed"]
    cells.append(f"{row['families']:,}" + ("" if listed is None else f", at most {listed} parents"))
    cells.append(f"{row['best']:,.4f}")
    cells += ["proved" if row["gap"] < 1e-6 else f"{row['gap']:,.2f}", f"{row['leaves']:,}"]
    cells += [f"{spent[name]:.1f}" for name in ("search", "families", "proof", "check")]
    cells.append(f"{sum(spent.values()):.1f}")
    if part == "bars":
        name, n_rows = row["table"].split("-")
        cells.append(str(BARS[name, int(n_rows)]))
    if part == "published":
        known = PUBLISHED.get(row["table"])
        cells.append("" if known is None else f"{known[2]:,.4f}")
    return f"| {' | '.join(cells)} |"


def format_rows(part: str, rows: list[dict[str, Any]]) -> str:
    """Return the table of a part."""
    extra = {"bars": " bar |", "published": " published |"}.get(part, "")
    header = HEADERS.format(extra, "---:|" if extra else "")
    return "\n".join([header, *(format_row(part, row) for row in rows)])


def read_records(path: Path | None) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the figures of an earlier run, by table and score."""
    if path is None or not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {(row["table"], row["score"]): row for row in rows}


def main() -> None:
    """Run the chosen parts, print the tables, and write them with ``--write``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the reference tables")
    parser.add_argument("--part", choices=sorted(PARTS), help="one part only")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each proof")
    parser.add_argument(
        "--records", type=Path, help="JSON lines of the cases; those are not repeated"
    )
    parser.add_argument("--write", action="store_true", help="replace the tables of the README")
    arguments = parser.parse_args()
    known = read_records(arguments.records)
    for part in [arguments.part] if arguments.part else list(PARTS):
        rows = []
        for case in PARTS[part](arguments.data):
            row = known.get((case.name, case.score)) or measure(case, arguments.limit)
            print(json.dumps(row), flush=True)
            if arguments.records is not None and (case.name, case.score) not in known:
                with arguments.records.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
            rows.append(row)
        table = format_rows(part, rows)
        print(table)
        if arguments.write:
            facts = describe_run("highspy")
            versions = ", ".join(f"{name} {one}" for name, one in facts["versions"].items())
            note = (
                f"A proof stops after {arguments.limit:g} s of CPU time. {facts['machine']}, "
                f"{versions}; measured on a loaded machine."
            )
            replace_block(HERE / "README.md", f"prove {part}", f"{table}\n\n{note}")


if __name__ == "__main__":
    main()
