r"""Compare the policies for missing values: the structure, the imputed values, and the time.

A setting is a network, a number of rows, a share of missing values and a mechanism. Each setting
has several masks, each over its own sample. Every policy learns from the same observed values, with
the same search and score. The measures:

    loss         nats that the score of the structure on the *complete* rows lacks to the best
                 known structure for them (CCMA on the complete rows)
    shd          SHD between the CPDAGs of the structure and of the true network
    f1           F1 of the skeleton; arcs: number of arcs
    accuracy     share of missing values that are imputed with the true state
    calibration  mean difference, over ten bins, between the probability of the imputed states
                 and the share of them that is right
    optimism     score of the structure on the imputed table (or its mean over imputed tables)
                 minus its score on the complete rows

Beside the policies of `coevo.missing` there are

    mode           impute the most common state of the column
    maximise       impute the states with the highest score, in turn with CCMA
    maximise_ccga  the same with CCGA, as the 2011 paper proposes
    oracle         impute under the true structure; learn nothing
    complete       learn from the complete rows

Values are missing completely at random (``mcar``), or depending on another column (``mar``). Under
``mar`` a third of the columns have no missing values. Each other column has one of them as its
driver. Its values are missing three times as often in rows with the second half of the states of
the driver, by name.

Each run is appended to ``--journal``. A run that is in the journal is not repeated, so an
interrupted benchmark can be resumed. ``--only-journal`` starts no run.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from coevo import (
    DAG,
    BayesianNetwork,
    Budget,
    Dataset,
    FamilyScorer,
    compare,
    load_network,
    run_search,
    sample,
)
from coevo.data import IncompleteDataset
from coevo.missing import POLICIES, Imputations, PolicyInput, learn_incomplete
from coevo.missing.evolve import maximise_imputation
from coevo.missing.imputations import impute_most_common, impute_most_probable
from coevo.runtime.randomness import random_stream
from coevo.runtime.threads import Threads
from coevo.search import make_spec
from harness import describe_run, print_json, replace_block

__all__ = ["draw_mask"]

HERE = Path(__file__).parent
MEASURES = ("loss", "shd", "f1", "arcs", "accuracy", "calibration", "optimism", "seconds")
KEY = ("network", "rows", "fraction", "mechanism", "mask", "policy", "score")
SETTING = ("network", "rows", "fraction", "mechanism")
DRIVER_SHARE, ODDS = 1 / 3, 3.0
SWEEPS = 60
ROUNDS = 5  # of imputation and search, under `maximise`

Key = tuple[Any, ...]
Record = dict[str, Any]


def draw_mask(dataset: Dataset, fraction: float, mechanism: str, seed: int) -> NDArray[np.bool_]:
    """Return which values are missing: (n_variables, n_rows)."""
    rng = random_stream(seed, 7)
    shape = dataset.codes.shape
    if mechanism == "mcar":
        return rng.random(shape) < fraction
    order = rng.permutation(shape[0])
    n_drivers = max(1, round(DRIVER_SHARE * shape[0]))
    drivers, others = order[:n_drivers], order[n_drivers:]
    probability = np.zeros(shape)
    for v in others:
        driver = rng.choice(drivers)
        is_late = dataset.codes[driver] >= dataset.arities[driver] / 2
        odds = np.where(is_late, ODDS, 1.0)
        probability[v] = odds * fraction * shape[0] / len(others) / odds.mean()
    return rng.random(shape) < np.minimum(probability, 0.95)


@dataclass(frozen=True)
class Outcome:
    """The result of a policy.

    Attributes
    ----------
    dag : DAG or None
        The structure; None if the policy learns none.
    codes : array of int or None, (n_variables, n_rows)
        The imputed table; None if the policy imputes nothing.
    probability : array of float or None, (n_variables, n_rows)
        The probabilities of the imputed values; None if they are unknown.
    own_score : float or None
        The score of the structure on the imputed table or tables.
    """

    dag: DAG | None
    codes: NDArray[Any] | None = None
    probability: NDArray[np.float64] | None = None
    own_score: float | None = None


class Case:
    """One mask over one sample, with the complete rows and the best structure for them."""

    def __init__(self, key: Record, n_jobs: int) -> None:
        self.key, self.n_jobs = key, n_jobs
        self.truth: BayesianNetwork = load_network(key["network"])
        self.rows = sample(self.truth, key["rows"], key["mask"]).expand()
        self.scorer = FamilyScorer(self.rows, key["score"], n_jobs=n_jobs)
        self.complete = run_search("ccma", self.scorer, random_state=0)
        missing = draw_mask(self.rows, key["fraction"], key["mechanism"], key["mask"])
        observed = self.rows.codes.copy()
        observed[missing] = 0  # no policy can see the true state
        self.table = IncompleteDataset(_replace_codes(self.rows, observed), missing)

    def measure(self, policy: str) -> Record:
        """Run a policy, and return its measures."""
        began = time.perf_counter()
        outcome = self._run(policy)
        seconds = time.perf_counter() - began
        return {
            **self._measure_structure(outcome.dag),
            **self._measure_imputation(outcome),
            "optimism": self._measure_optimism(outcome),
            "seconds": None if policy in ("oracle", "complete") else seconds,
        }

    def _run(self, policy: str) -> Outcome:
        if policy == "complete":
            return Outcome(self.complete.dag)
        if policy == "maximise":
            return self._maximise()
        if policy == "mode":
            codes = impute_most_common(self.table)
            dataset = _replace_codes(self.rows, codes)
            scorer = FamilyScorer(dataset, self.key["score"], n_jobs=self.n_jobs)
            return Outcome(run_search("ccma", scorer, random_state=0).dag, codes)
        if policy == "oracle":
            return self._impute_under_truth()
        return self._learn(policy)

    def _learn(self, policy: str) -> Outcome:
        """Learn with a policy of `coevo.missing`."""
        is_maximising = policy == "maximise_ccga"
        result = learn_incomplete(
            self.table,
            "evolve" if is_maximising else policy,
            method="ccga" if is_maximising else "ccma",
            score=self.key["score"],
            n_jobs=self.n_jobs,
            random_state=self.key["mask"],
        )
        has_own_score = policy in ("evolve", "em", "maximise_ccga")
        own_score = result.search.score if has_own_score else None
        imputed_table = result.imputation.imputed_table
        if imputed_table is None:
            return Outcome(result.search.dag, own_score=own_score)
        codes, probability = imputed_table.dataset.codes, imputed_table.probability
        return Outcome(result.search.dag, codes, probability, own_score)

    def _maximise(self) -> Outcome:
        """Impute and search in turn, both for the highest score."""
        spec = make_spec("maximise", score=self.key["score"], random_state=self.key["mask"])
        inputs = PolicyInput(self.table, spec, self.n_jobs)
        imputations = Imputations(self.table, 1, inputs.seed, inputs.make_threads())
        codes = imputations.codes[0]
        for _ in range(ROUNDS):
            result = inputs.run(inputs.make_scorer(self.table.make_dataset(codes)))
            partner = result.dag.adjacency()
            codes = maximise_imputation(codes, imputations, partner, inputs, SWEEPS)
        result = inputs.run(inputs.make_scorer(self.table.make_dataset(codes)))
        return Outcome(result.dag, codes, own_score=result.score)

    def _impute_under_truth(self) -> Outcome:
        """Impute under the true structure."""
        imputations = Imputations(self.table, 10, self.key["mask"], Threads(self.n_jobs))
        dag = DAG(self.rows.names, self.truth.dag.arcs)
        estimated = imputations.estimate_probabilities([dag.adjacency()], SWEEPS)
        missing_values = estimated.missing_values
        probability = np.ones(self.table.missing.shape)
        probability[missing_values.variables, missing_values.rows] = estimated.highest_probabilities
        return Outcome(None, impute_most_probable(self.table, estimated), probability)

    def _measure_structure(self, dag: DAG | None) -> Record:
        if dag is None:
            return dict.fromkeys(("loss", "shd", "f1", "arcs"))
        comparison = compare(dag, self.truth.dag)
        return {
            "loss": self.complete.score - self.scorer.score(dag),
            "shd": comparison.shd_cpdag,
            "f1": comparison.skeleton_f1,
            "arcs": len(dag.arcs),
        }

    def _measure_imputation(self, outcome: Outcome) -> Record:
        missing = self.table.missing
        if outcome.codes is None:
            return {"accuracy": None, "calibration": None}
        is_right = (outcome.codes == self.rows.codes)[missing]
        if outcome.probability is None:
            return {"accuracy": float(is_right.mean()), "calibration": None}
        probability = outcome.probability[missing]
        bins = np.minimum((probability * 10).astype(int), 9)
        errors = [abs(float((is_right - probability)[bins == b].sum())) for b in range(10)]
        return {"accuracy": float(is_right.mean()), "calibration": sum(errors) / len(is_right)}

    def _measure_optimism(self, outcome: Outcome) -> float | None:
        if outcome.own_score is None or outcome.dag is None:
            return None
        return outcome.own_score - self.scorer.score(outcome.dag)


def _replace_codes(rows: Dataset, codes: NDArray[Any]) -> Dataset:
    """Return a dataset with the same variables and other codes."""
    return IncompleteDataset(rows, np.zeros(rows.codes.shape, dtype=np.bool_)).make_dataset(codes)


def iter_cases(options: argparse.Namespace) -> Iterator[Record]:
    """Yield the key of every requested case."""
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


def read_journal(path: Path) -> dict[Key, Record]:
    """Return the runs of the journal."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    return {_make_key(run): run for run in runs}


def _make_key(run: Record) -> Key:
    return tuple(run[name] for name in KEY)


def run_cases(options: argparse.Namespace) -> list[Record]:
    """Run what is not in the journal; return all requested runs."""
    done, runs = read_journal(options.journal), []
    policies = options.policies.split(",")
    if options.only_journal:
        keys = ({**case, "policy": policy} for case in iter_cases(options) for policy in policies)
        return [done[_make_key(key)] for key in keys if _make_key(key) in done]
    load_kernels(policies, options)
    for case_key in iter_cases(options):
        case: Case | None = None
        for policy in policies:
            key = {**case_key, "policy": policy}
            run = done.get(_make_key(key))
            if run is None:
                case = Case(case_key, options.n_jobs) if case is None else case
                try:
                    run = {**key, **case.measure(policy)}
                except Exception as error:  # for example, too few rows to drop
                    run = {**key, **dict.fromkeys(MEASURES), "error": str(error)}
                with options.journal.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(run) + "\n")
            runs.append(run)
    return runs


def load_kernels(policies: list[str], options: argparse.Namespace) -> None:
    """Load all kernels, so that no measured time includes it."""
    rows = sample(load_network("asia"), 100, 0).expand()
    table = IncompleteDataset(rows, draw_mask(rows, 0.1, "mcar", 0))
    for policy in set(policies) & set(POLICIES):
        budget = Budget(max_generations=8)
        learn_incomplete(table, policy, score=options.score, n_jobs=options.n_jobs, budget=budget)


def summarise(runs: list[Record]) -> list[Record]:
    """Return mean, standard error and paired tests for each setting and policy.

    Only masks with a run of every policy count.
    """
    summaries = []
    for setting in dict.fromkeys(_get_setting(run) for run in runs):
        in_setting = [run for run in runs if _get_setting(run) == setting]
        n_policies = len({run["policy"] for run in in_setting})
        n_runs = Counter(run["mask"] for run in in_setting)
        in_setting = [run for run in in_setting if n_runs[run["mask"]] == n_policies]
        evolved = {run["mask"]: run for run in in_setting if run["policy"] == "evolve"}
        for policy in dict.fromkeys(run["policy"] for run in in_setting):
            by_mask = {run["mask"]: run for run in in_setting if run["policy"] == policy}
            row: Record = {**dict(zip(SETTING, setting, strict=True)), "policy": policy}
            row["masks"] = len(by_mask)
            times = [run["seconds"] for run in by_mask.values() if run.get("seconds") is not None]
            row["median_seconds"] = statistics.median(times) if times else None
            for measure in MEASURES:
                values = [run[measure] for run in by_mask.values() if run.get(measure) is not None]
                row[measure] = _compute_mean_and_error(values)
            for measure in ("loss", "shd", "accuracy"):
                row[f"p_{measure}"] = _test_paired(evolved, by_mask, measure)
            summaries.append(row)
    return summaries


def _get_setting(run: Record) -> Key:
    return tuple(run[name] for name in SETTING)


def _compute_mean_and_error(values: list[float]) -> list[float] | None:
    if not values:
        return None
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return [statistics.mean(values), error]


def _test_paired(one: dict[int, Record], two: dict[int, Record], measure: str) -> float | None:
    """Return the two-sided p of a paired t-test between `evolve` and another policy."""
    masks = [m for m in one if m in two and None not in (one[m][measure], two[m][measure])]
    pairs = [(one[m][measure], two[m][measure]) for m in masks]
    if len(pairs) < 2 or len({a - b for a, b in pairs}) == 1:
        return None
    return float(ttest_rel(*zip(*pairs, strict=True)).pvalue)


def format_tables(rows: list[Record], options: argparse.Namespace, machine: str) -> str:
    """Return the summary as Markdown: a table of structures and a table of imputations."""
    settings = group_by_setting(rows)
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
    for setting, by_policy in settings.items():
        shown = [_format_structure(by_policy.get(policy)) for policy in columns]
        tests = [_format_number((by_policy.get(policy) or {}).get("p_shd"), 3) for policy in others]
        lines.append("| " + " | ".join([*_make_labels(setting, by_policy), *shown, *tests]) + " |")
    lines += [
        "",
        describe_verdict(rows),
        "",
        "Accuracy of the imputed values for four policies; calibration and optimism of `evolve`; "
        "optimism of `em`; F1 of the skeleton, arcs and seconds (median) of `evolve`.",
        "",
        head + "evolve | em | mode | oracle | calibration | optimism | of em | F1 | arcs | s |",
        "|---|---:|---|---:|" + "---:|" * 10,
    ]
    for setting, by_policy in settings.items():
        accuracy = [
            _format_mean(by_policy, policy, "accuracy", 3)
            for policy in ("evolve", "em", "mode", "oracle")
        ]
        rest = [
            _format_mean(by_policy, "evolve", "calibration", 3),
            _format_mean(by_policy, "evolve", "optimism", 0),
            _format_mean(by_policy, "em", "optimism", 0),
            _format_mean(by_policy, "evolve", "f1", 3),
            _format_mean(by_policy, "evolve", "arcs", 1),
            _format_number((by_policy.get("evolve") or {}).get("median_seconds"), 1),
        ]
        lines.append(
            "| " + " | ".join([*_make_labels(setting, by_policy), *accuracy, *rest]) + " |"
        )
    return "\n".join(lines)


def group_by_setting(rows: list[Record]) -> dict[Key, dict[str, Record]]:
    """Return the rows of a summary by setting, and within it by policy."""
    settings: dict[Key, dict[str, Record]] = {}
    for row in rows:
        settings.setdefault(_get_setting(row), {})[row["policy"]] = row
    return settings


def describe_verdict(rows: list[Record]) -> str:
    """Return in how many settings `evolve` has the lowest SHD, or nearly the lowest.

    An SHD is nearly the lowest if it lies within one standard error of the lowest: the smaller one
    of the errors of `evolve` and of the other policy. `oracle` and `complete` do not compete.
    """
    settings = group_by_setting(
        [r for r in rows if r["policy"] not in ("oracle", "complete") and r["shd"]]
    )
    n_lowest, n_near, behind = 0, 0, []
    for (network, n_rows, fraction, mechanism), by_policy in settings.items():
        best = min(by_policy.values(), key=lambda row: (row["shd"][0], row["policy"] != "evolve"))
        evolved = by_policy.get("evolve")
        if evolved is None:
            return "`evolve` was not run."
        difference = evolved["shd"][0] - best["shd"][0]
        if best is evolved:
            n_lowest += 1
        elif difference <= min(evolved["shd"][1], best["shd"][1]):
            n_near += 1
        else:
            other, p = best["policy"], _format_number(best["p_shd"], 2)
            setting = f"{network} {n_rows:,} {fraction:.0%} {mechanism}"
            behind.append(f"{setting} (by {difference:.1f}, `{other}`, p {p})")
    text = (
        f"`evolve` has the lowest SHD in {n_lowest} of {len(settings)} settings, and an SHD within "
        f"one standard error of the lowest in {n_near} more."
    )
    return f"{text} Behind: {'; '.join(behind)}." if behind else text


def _make_labels(setting: Key, by_policy: dict[str, Record]) -> list[str]:
    network, rows, fraction, mechanism = setting
    masks = str(next(iter(by_policy.values()))["masks"])
    return [network, f"{rows:,}", f"{fraction:.0%} {mechanism}", masks]


def _format_structure(row: Record | None) -> str:
    if row is None or row["shd"] is None:
        return ""
    return f"{row['shd'][0]:.1f} ± {row['shd'][1]:.1f} ({row['loss'][0]:,.0f})"


def _format_mean(by_policy: dict[str, Record], policy: str, measure: str, digits: int) -> str:
    value = (by_policy.get(policy) or {}).get(measure)
    return "" if value is None else _format_number(value[0], digits)


def _format_number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def main() -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--fractions", default="0.05,0.1,0.2", help="shares of missing values")
    parser.add_argument("--mechanisms", default="mcar,mar")
    parser.add_argument("--masks", type=int, default=10, help="masks of each setting (default: 10)")
    parser.add_argument("--policies", default=",".join([*POLICIES, "mode", "oracle", "complete"]))
    parser.add_argument("--score", default="bdeu")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--journal", type=Path, default=Path("missing.jsonl"))
    parser.add_argument("--only-journal", action="store_true", help="start no run")
    parser.add_argument(
        "--write", metavar="BLOCK", help="replace this block of benchmarks/README.md"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    runs = run_cases(options)
    rows = summarise(runs)
    environment = describe_run("scipy")
    tables = format_tables(rows, options, environment["machine"])
    if options.write is not None:
        replace_block(HERE / "README.md", options.write, tables)
    if options.format == "json":
        verdict = describe_verdict(rows)
        print_json({"summary": rows, "verdict": verdict, "runs": runs, **environment})
    else:
        print(tables)


if __name__ == "__main__":
    main()
