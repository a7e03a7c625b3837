r"""What each policy makes of missing cells: the structure, the filled cells, and the time.

For each network, number of rows, share of missing cells and mechanism there are several
masks, each over a sample of its own. Every policy learns from the same cells, with the same
search and score. *Loss* is what the score of its structure on the *complete* rows lacks to
the best one known for them (CCMA on the complete rows); *SHD* is the distance between the
CPDAGs of its structure and the true one; *accuracy* is the share of missing cells that are
filled with what they were; *calibration* the mean distance, over ten bins, between how sure
the filler was and how often it was right; *optimism* what a structure scores on the completed
table, or may be expected to, beyond its score on the complete rows. ``mode`` fills with the
most common state; ``maximise`` fills so that the score is highest, by turns with the search;
``plain`` does so with the paper's CCGA; ``oracle`` fills under the true structure and learns
nothing; ``complete`` learns from the complete rows.

Cells are missing completely at random (``mcar``), or depending on another column (``mar``):
a third of the columns is never missing, each other column has one of them as its driver, and
is missing three times as often in the half of the driver's states that come last by name.

Each run is appended to ``--journal``; a run that is there already is not made again, so that
the benchmark can be interrupted and made part by part. ``--only-journal`` makes none.

    python benchmarks/missing.py --fractions 0.1 --rows 1000 --masks 10 --format json
    python benchmarks/missing.py --networks alarm --policies evolve,em --masks 3
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from coevo import (
    DAG,
    BayesianNetwork,
    Budget,
    Constraints,
    Dataset,
    FamilyScorer,
    compare,
    load_network,
    run_search,
    sample,
)
from coevo.data import IncompleteDataset
from coevo.missing import POLICIES, Imputations, learn_incomplete
from coevo.missing.evolve_maximising import climbed
from coevo.missing.imputations import Filled, filled_in, most_common
from coevo.missing.policy_input import PolicyInput
from coevo.randomness import random_stream
from coevo.score import make_score
from coevo.search import make_method
from coevo.threads import Threads
from harness import print_json, rewrite, stamp

HERE = Path(__file__).parent
MEASURES = ("loss", "shd", "f1", "arcs", "accuracy", "calibration", "optimism", "seconds")
KEY = ("network", "rows", "fraction", "mechanism", "mask", "policy", "score")
CELL = ("network", "rows", "fraction", "mechanism")
DRIVER_SHARE, ODDS = 1 / 3, 3.0
SWEEPS = 60
TURNS = 5


def holes(dataset: Dataset, fraction: float, mechanism: str, seed: int) -> NDArray[np.bool_]:
    """Return which cells are missing: (n_variables, n_rows)."""
    rng = random_stream(seed, 7)
    shape = dataset.codes.shape
    if mechanism == "mcar":
        return rng.random(shape) < fraction
    order = rng.permutation(shape[0])
    n_drivers = max(1, round(DRIVER_SHARE * shape[0]))
    drivers, others = order[:n_drivers], order[n_drivers:]
    chance = np.zeros(shape)
    for v in others:
        driver = rng.choice(drivers)
        late = dataset.codes[driver] >= dataset.arities[driver] / 2
        odds = np.where(late, ODDS, 1.0)
        chance[v] = odds * fraction * shape[0] / len(others) / odds.mean()
    return rng.random(shape) < np.minimum(chance, 0.95)


class Case:
    """One mask over one sample, with what is known of the complete rows."""

    def __init__(self, key: dict[str, Any], n_jobs: int) -> None:
        self.key, self.n_jobs = key, n_jobs
        self.truth: BayesianNetwork = load_network(key["network"])
        self.rows = sample(self.truth, key["rows"], key["mask"]).expand()
        self.scorer = FamilyScorer(self.rows, key["score"], n_jobs=n_jobs)
        self.complete = run_search("ccma", self.scorer, random_state=0)
        missing = holes(self.rows, key["fraction"], key["mechanism"], key["mask"])
        blank = self.rows.codes.copy()
        blank[missing] = 0  # nobody can look
        self.table = IncompleteDataset(_like(self.rows, blank), missing)

    def run(self, policy: str) -> dict[str, Any]:
        """Return what a policy makes of it."""
        began = time.perf_counter()
        probability: NDArray[np.float64] | None = None
        codes: NDArray[Any] | None = None
        dag: DAG | None
        own_score: float | None = None
        if policy == "complete":
            dag = self.complete.dag
        elif policy == "maximise":
            dag, codes, own_score = self._maximised()
        elif policy == "mode":
            codes = most_common(self.table)
            scorer = FamilyScorer(_like(self.rows, codes), self.key["score"], n_jobs=self.n_jobs)
            dag = run_search("ccma", scorer, random_state=0).dag
        elif policy == "oracle":
            dag, filled = None, self._by_truth()
            codes, probability = filled_in(self.table, filled), np.ones(self.table.missing.shape)
            probability[filled.holes.variables, filled.holes.rows] = filled.probability
        else:
            method = "ccga" if policy == "plain" else "ccma"
            found = learn_incomplete(
                self.table,
                "evolve" if policy == "plain" else policy,
                method=method,
                score=self.key["score"],
                n_jobs=self.n_jobs,
                random_state=self.key["mask"],
            )
            dag = found.search.dag
            if policy in ("evolve", "em", "plain"):
                own_score = found.search.score
            if found.completed is not None:
                codes = found.completed.dataset.codes
                probability = found.completed.probability
        seconds = time.perf_counter() - began
        return {
            **self._of_structure(dag),
            **self._of_cells(codes, probability),
            "optimism": own_score and dag and own_score - self.scorer.score(dag),
            "seconds": None if policy in ("oracle", "complete") else seconds,
        }

    def _maximised(self) -> tuple[DAG, NDArray[Any], float]:
        """Fill and search by turns, both for the highest score."""
        question = PolicyInput(
            table=self.table,
            method=make_method("ccma", "benchmark"),
            score=make_score(self.key["score"]),
            constraints=Constraints(),
            weights={},
            parent_penalty=0.0,
            start=None,
            budget=Budget(),
            seed=self.key["mask"],
            n_jobs=self.n_jobs,
        )
        completions = Imputations(self.table, 1, question.seed, question.threads())
        codes = completions.codes[0]
        for _ in range(TURNS):
            result = question.run(question.scorer(self.table.make_dataset(codes)))
            codes = climbed(codes, completions, result.dag.adjacency(), question, SWEEPS)
        result = question.run(question.scorer(self.table.make_dataset(codes)))
        return result.dag, codes, result.score

    def _by_truth(self) -> Filled:
        threads = Threads(self.n_jobs)
        completions = Imputations(self.table, 10, self.key["mask"], threads)
        dag = DAG(self.rows.names, self.truth.dag.arcs)
        return completions.fill([dag.adjacency()], SWEEPS)

    def _of_structure(self, dag: DAG | None) -> dict[str, Any]:
        if dag is None:
            return dict.fromkeys(("loss", "shd", "f1", "arcs"))
        found = compare(dag, self.truth.dag)
        loss = self.complete.score - self.scorer.score(dag)
        return {
            "loss": loss,
            "shd": found.shd_cpdag,
            "f1": found.skeleton_f1,
            "arcs": len(dag.arcs),
        }

    def _of_cells(
        self, codes: NDArray[Any] | None, probability: NDArray[np.float64] | None
    ) -> dict[str, Any]:
        missing = self.table.missing
        if codes is None:
            return {"accuracy": None, "calibration": None}
        right = (codes == self.rows.codes)[missing]
        if probability is None:
            return {"accuracy": float(right.mean()), "calibration": None}
        sure = probability[missing]
        bins = np.minimum((sure * 10).astype(int), 9)
        gaps = [abs(float((right - sure)[bins == b].sum())) for b in range(10)]
        return {"accuracy": float(right.mean()), "calibration": sum(gaps) / len(right)}


def _like(rows: Dataset, codes: NDArray[Any]) -> Dataset:
    return IncompleteDataset(rows, np.zeros(rows.codes.shape, dtype=np.bool_)).make_dataset(codes)


def plan(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield every case that is asked for."""
    for mask in range(options.masks):
        for network in options.networks.split(","):
            for rows in map(int, options.rows.split(",")):
                for fraction in map(float, options.fractions.split(",")):
                    for mechanism in options.mechanisms.split(","):
                        yield {
                            "network": network,
                            "rows": rows,
                            "fraction": fraction,
                            "mechanism": mechanism,
                            "mask": mask,
                            "score": options.score,
                        }


def read_journal(path: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the runs that were made already."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    return {tuple(run[name] for name in KEY): run for run in runs}


def measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Make the runs that are not in the journal; return all that were asked for."""
    done, asked = read_journal(options.journal), []
    policies = options.policies.split(",")
    if options.only_journal:
        keys = ({**case, "policy": policy} for case in plan(options) for policy in policies)
        found = (done.get(tuple(key[name] for name in KEY)) for key in keys)
        return [run for run in found if run is not None]
    warm_up(policies, options)
    for case_key in plan(options):
        case: Case | None = None
        for policy in policies:
            key = {**case_key, "policy": policy}
            run = done.get(tuple(key[name] for name in KEY))
            if run is None:
                case = Case(case_key, options.n_jobs) if case is None else case
                try:
                    run = {**key, **case.run(policy)}
                except Exception as error:  # too few rows to drop: it is said
                    run = {**key, **dict.fromkeys(MEASURES), "error": str(error)}
                with options.journal.open("a", encoding="utf-8") as stream_:
                    stream_.write(json.dumps(run) + "\n")
            asked.append(run)
    return asked


def warm_up(policies: list[str], options: argparse.Namespace) -> None:
    """Load all kernels, so that nobody pays for it."""
    rows = sample(load_network("asia"), 100, 0).expand()
    table = IncompleteDataset(rows, holes(rows, 0.1, "mcar", 0))
    for policy in set(policies) & set(POLICIES):
        budget = Budget(max_generations=8)
        learn_incomplete(table, policy, score=options.score, n_jobs=options.n_jobs, budget=budget)


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return mean, standard error and paired tests for each cell of the table and policy.

    Only masks that all policies have had count.
    """
    found = []
    cells = dict.fromkeys(tuple(run[name] for name in CELL) for run in runs)
    for cell in cells:
        own = [run for run in runs if tuple(run[name] for name in CELL) == cell]
        n_policies = len({run["policy"] for run in own})
        had = Counter(run["mask"] for run in own)
        own = [run for run in own if had[run["mask"]] == n_policies]
        for policy in dict.fromkeys(run["policy"] for run in own):
            mine = {run["mask"]: run for run in own if run["policy"] == policy}
            row: dict[str, Any] = {**dict(zip(CELL, cell, strict=True)), "policy": policy}
            row["masks"] = len(mine)
            times = [run["seconds"] for run in mine.values() if run.get("seconds") is not None]
            row["median_seconds"] = statistics.median(times) if times else None
            for measure in MEASURES:
                values = [run[measure] for run in mine.values() if run.get(measure) is not None]
                row[measure] = _mean_and_error(values)
            evolved = {run["mask"]: run for run in own if run["policy"] == "evolve"}
            for measure in ("loss", "shd", "accuracy"):
                row[f"p_{measure}"] = _paired(evolved, mine, measure)
            found.append(row)
    return found


def _mean_and_error(values: list[float]) -> list[float] | None:
    if not values:
        return None
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return [statistics.mean(values), error]


def _paired(
    one: dict[int, dict[str, Any]], two: dict[int, dict[str, Any]], measure: str
) -> float | None:
    """Return the two-sided p of a paired t-test between `evolve` and another policy."""
    both = [m for m in one if m in two and None not in (one[m][measure], two[m][measure])]
    pairs = [(one[m][measure], two[m][measure]) for m in both]
    if len(pairs) < 2 or len({a - b for a, b in pairs}) == 1:
        return None
    return float(ttest_rel(*zip(*pairs, strict=True)).pvalue)


def as_table(rows: list[dict[str, Any]], options: argparse.Namespace, machine: str) -> str:
    """Return the summary as Markdown: a table of structures, one of cells."""
    cells = by_cell(rows)
    columns = [policy for policy in options.policies.split(",") if policy != "oracle"]
    others = [policy for policy in columns if policy not in ("evolve", "complete")]
    head = "| network | rows | missing | masks | "
    lines = [
        f"{options.score}, {options.n_jobs} thread(s) of {machine}. SHD of CPDAGs ± standard "
        "error, and in brackets the loss; p of a paired t-test of SHD against `evolve`.",
        "",
        head + " | ".join([*columns, *(f"p {policy}" for policy in others)]) + " |",
        "|---|---:|---|---:|" + "---:|" * (len(columns) + len(others)),
    ]
    for cell, found in cells.items():
        shown = [_structure(found.get(policy)) for policy in columns]
        tests = [_digits((found.get(policy) or {}).get("p_shd"), 3) for policy in others]
        lines.append("| " + " | ".join([*_label(cell, found), *shown, *tests]) + " |")
    lines += [
        "",
        verdict(rows),
        "",
        "Cells filled right; how far `evolve` is from being as sure as it is right; what "
        "structures score too much on the completed table; F1 of the skeleton, arcs and seconds "
        "(median) of `evolve`.",
        "",
        head + "evolve | em | mode | oracle | calibration | optimism | of em | F1 | arcs | s |",
        "|---|---:|---|---:|" + "---:|" * 10,
    ]
    for cell, found in cells.items():
        right = [
            _mean(found, policy, "accuracy", 3) for policy in ("evolve", "em", "mode", "oracle")
        ]
        rest = [
            _mean(found, "evolve", "calibration", 3),
            _mean(found, "evolve", "optimism", 0),
            _mean(found, "em", "optimism", 0),
            _mean(found, "evolve", "f1", 3),
            _mean(found, "evolve", "arcs", 1),
            _digits((found.get("evolve") or {}).get("median_seconds"), 1),
        ]
        lines.append("| " + " | ".join([*_label(cell, found), *right, *rest]) + " |")
    return "\n".join(lines)


def by_cell(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, dict[str, Any]]]:
    """Return the rows of a summary by cell of the table, and there by policy."""
    cells: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        cells.setdefault(tuple(row[name] for name in CELL), {})[row["policy"]] = row
    return cells


def verdict(rows: list[dict[str, Any]]) -> str:
    """Return in how many cells `evolve` has the lowest SHD, or one that is as low.

    As low is what lies within a standard error of the lowest: that of `evolve` or that of the
    other policy, whichever is smaller. What knows the truth is no policy.
    """
    cells = by_cell([r for r in rows if r["policy"] not in ("oracle", "complete") and r["shd"]])
    n_lowest, n_near, behind = 0, 0, []
    for (network, n_rows, fraction, mechanism), found in cells.items():
        best = min(found.values(), key=lambda row: (row["shd"][0], row["policy"] != "evolve"))
        own = found.get("evolve")
        if own is None:
            return "`evolve` was not asked for."
        lead = own["shd"][0] - best["shd"][0]
        if best is own:
            n_lowest += 1
        elif lead <= min(own["shd"][1], best["shd"][1]):
            n_near += 1
        else:
            other, p = best["policy"], _digits(best["p_shd"], 2)
            place = f"{network} {n_rows:,} {fraction:.0%} {mechanism}"
            behind.append(f"{place} (by {lead:.1f}, `{other}`, p {p})")
    text = (
        f"`evolve` has the lowest SHD in {n_lowest} of {len(cells)} cells, and one within a "
        f"standard error of it in {n_near} more."
    )
    return f"{text} Behind: {'; '.join(behind)}." if behind else text


def _label(cell: tuple[Any, ...], found: dict[str, dict[str, Any]]) -> list[str]:
    network, rows, fraction, mechanism = cell
    masks = str(next(iter(found.values()))["masks"])
    return [network, f"{rows:,}", f"{fraction:.0%} {mechanism}", masks]


def _structure(row: dict[str, Any] | None) -> str:
    if row is None or row["shd"] is None:
        return ""
    return f"{row['shd'][0]:.1f} ± {row['shd'][1]:.1f} ({row['loss'][0]:,.0f})"


def _mean(found: dict[str, dict[str, Any]], policy: str, measure: str, digits: int) -> str:
    value = (found.get(policy) or {}).get(measure)
    return "" if value is None else _digits(value[0], digits)


def _digits(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--fractions", default="0.05,0.1,0.2")
    parser.add_argument("--mechanisms", default="mcar,mar")
    parser.add_argument("--masks", type=int, default=10)
    parser.add_argument("--policies", default=",".join([*POLICIES, "mode", "oracle", "complete"]))
    parser.add_argument("--score", default="bdeu")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--journal", type=Path, default=Path("missing.jsonl"))
    parser.add_argument("--only-journal", action="store_true", help="make no run")
    parser.add_argument("--write", metavar="BLOCK", help="into this block of the README here")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    runs = measured(options)
    rows = summary(runs)
    stamped = stamp("scipy")
    table = as_table(rows, options, stamped["machine"])
    if options.write is not None:
        rewrite(HERE / "README.md", options.write, table)
    if options.format == "json":
        print_json({"summary": rows, "verdict": verdict(rows), "runs": runs, **stamped})
    else:
        print(table)


if __name__ == "__main__":
    main()
