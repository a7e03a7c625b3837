r"""Measure how often and how fast CCMA finds the best known structure, and compare other systems.

Data sets are files, or samples of bundled networks. CCMA runs with several seeds, each with an
empty cache and the default budget: it stops after 25 generations without a better structure, or
after `--max-time`. *Best* is the highest score of all runs of all systems, or the value of `--best`
if a better score is known. The other systems are hill climbing and tabu of coevo, and the
installed peers. Each maximises the same score or the nearest one that it has; coevo scores all
structures. A *score gap* is the best score of CCMA so far, with the worst seed, minus the score of
another system. It is measured when the other system ends, 0.2 seconds later, and after ten times as
long. Times are wall-clock seconds from the table in memory to the result, with kernels loaded.

    python benchmarks/champion.py
    python benchmarks/champion.py --networks hailfinder --rows 5000 --scores bic --format json
    python benchmarks/champion.py --data FILE --states alarm --scores k2 --best -11081.52
    python benchmarks/champion.py --data FILE --states link --scores bic --best -1110168.5 \
        --stop-at-best --max-time 300 --seeds 1 --others none
    python benchmarks/champion.py --write       also replace the tables of both READMEs
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo import Budget, Dataset, FamilyScorer, load_network, read_data, run_search, sample
from coevo.bundled import list_networks
from coevo.experiments.peers import PEERS
from coevo.search import METHODS, SearchResult
from harness import describe_run, print_json, replace_block

HERE = Path(__file__).parent
TOLERANCE = 0.01  # nats; published figures have two digits
LATER = 0.2  # seconds after the end of another system
LONGER = 10  # times the duration of another system


@dataclass(frozen=True)
class CCMARun:
    """A run of CCMA, and the seconds to make its scorer."""

    result: SearchResult
    set_up: float

    @property
    def seconds(self) -> float:
        """Seconds from the table in memory to the result."""
        return self.set_up + self.result.seconds

    def find_score_at(self, seconds: float) -> float:
        """Return the best score after this time."""
        rows = [r for r in self.result.history if self.set_up + r.seconds <= seconds]
        return rows[-1].score if rows else -math.inf

    def find_time_to(self, score: float) -> float | None:
        """Return the time at which the run reached a score; None if it did not."""
        reached = (row for row in self.result.history if row.score >= score - TOLERANCE)
        first = next(reached, None)
        return None if first is None else self.set_up + first.seconds


def run_ccma(dataset: Dataset, score: str, seed: int, options: argparse.Namespace) -> CCMARun:
    """Run CCMA once, with an empty cache."""
    best = options.best if options.stop_at_best else None
    budget = Budget(max_time=options.max_time, patience=None if best else 25, target=best)
    began = time.perf_counter()
    scorer = FamilyScorer(dataset, score, n_jobs=options.n_jobs)
    set_up = time.perf_counter() - began
    return CCMARun(run_search("ccma", scorer, budget=budget, random_state=seed), set_up)


def run_other(name: str, dataset: Dataset, score: str) -> tuple[float, float]:
    """Return the score and the seconds of another system."""
    scorer = FamilyScorer(dataset, score)
    if name in METHODS:
        result = run_search(name, scorer, random_state=0)
        return result.score, result.seconds
    dag, seconds = PEERS[name].learn(dataset, scorer.scoring)
    return scorer.score(dag), seconds


def measure(name: str, dataset: Dataset, score: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run all systems on one data set."""
    small = FamilyScorer(sample(load_network("asia"), 200, 0), score, n_jobs=options.n_jobs)
    run_search("ccma", small, budget=Budget(max_generations=8), random_state=0)  # loads kernels
    runs = [run_ccma(dataset, score, seed, options) for seed in range(options.seeds)]
    others = {other: run_other(other, dataset, score) for other in options.others}
    found = [run.result.score for run in runs]
    best = max([*found, *(value for value, _ in others.values())])
    known = best if options.best is None else options.best
    times = sorted(t for t in (run.find_time_to(known) for run in runs) if t is not None)
    network = options.states or name.split(" ")[0]
    true = (
        FamilyScorer(dataset, score).score(load_network(network).dag)
        if network in list_networks()
        else None
    )
    return {
        "data_set": name,
        "score": score,
        "best": best,
        "best_known": known,
        "true": true,
        "seeds": options.seeds,
        "share_at_best": len(times) / len(runs),
        "runs_below_true": 0 if true is None else sum(value < true for value in found),
        "worst_score": min(found),
        "median_seconds_to_best": statistics.median(times) if times else None,
        "worst_seconds_to_best": times[-1] if times else None,
        "mean_seconds": statistics.mean(run.seconds for run in runs),
        "worst_seconds": max(run.seconds for run in runs),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "others": {other: _measure_gaps(runs, *result) for other, result in others.items()},
    }


def _measure_gaps(runs: list[CCMARun], score: float, seconds: float) -> dict[str, float]:
    """Return the score gaps between the worst CCMA run and another system."""

    def find_gap(moment: float) -> float:
        return min(run.find_score_at(moment) for run in runs) - score

    return {
        "score": score,
        "seconds": seconds,
        "score_gap": find_gap(seconds),
        "score_gap_later": find_gap(seconds + LATER),
        "score_gap_ten_times": find_gap(seconds * LONGER),
        "score_gap_at_end": min(run.result.score for run in runs) - score,
    }


def format_table(answers: list[dict[str, Any]], machine: str, n_jobs: int) -> str:
    """Return the measured values as a Markdown table."""
    names = list(answers[0]["others"])
    lines = [
        f"{n_jobs} threads of {machine}. Columns of other systems: score gap in nats 0.2 s after "
        "the other ends, score gap when CCMA ends (both for the worst seed), seconds of the other.",
        "",
        "| data set | score | best | seeds at the best | s to the best, median and worst | "
        "s to the end | " + " | ".join(names) + " |",
        "|---|---|---:|---:|---:|---:|" + "---:|" * len(names),
    ]
    for answer in answers:
        to_best = "never"
        if answer["median_seconds_to_best"] is not None:
            median, worst = answer["median_seconds_to_best"], answer["worst_seconds_to_best"]
            to_best = f"{median:.2f}, {worst:.2f}"
        cells = [
            f"{other['score_gap_later']:+,.1f}, {other['score_gap_at_end']:+,.1f} "
            f"({other['seconds']:.2f})"
            for other in answer["others"].values()
        ]
        lines.append(
            f"| {answer['data_set']} | {answer['score']} | {answer['best']:,.2f} "
            f"| {answer['share_at_best']:.0%} of {answer['seeds']} | {to_best} "
            f"| {answer['worst_seconds']:.2f} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def format_summary(answers: list[dict[str, Any]]) -> str:
    """Return the columns of the main README: the last are score gaps when CCMA ends."""
    names = list(answers[0]["others"])
    lines = [
        "| data set | score | best | seeds at the best | median s | " + " | ".join(names) + " |",
        "|---|---|---:|---:|---:|" + "---:|" * len(names),
    ]
    for answer in answers:
        median = answer["median_seconds_to_best"]
        gaps = [f"{other['score_gap_at_end']:,.1f}" for other in answer["others"].values()]
        lines.append(
            f"| {answer['data_set']} | {answer['score']} | {answer['best']:,.2f} "
            f"| {answer['share_at_best']:.0%} of {answer['seeds']} "
            f"| {'never' if median is None else f'{median:.2f}'} | " + " | ".join(gaps) + " |"
        )
    return "\n".join(lines)


def load_data_sets(options: argparse.Namespace) -> dict[str, Dataset]:
    """Return the data sets by name."""
    if options.data:
        states = load_network(options.states).variables if options.states else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # samples can have constant columns
            return {
                Path(path).name.split(".")[0]: read_data(path, states=states)
                for path in options.data
            }
    return {
        f"{network} {int(rows):,}": sample(load_network(network), int(rows), options.seed)
        for network in options.networks.split(",")
        for rows in options.rows.split(",")
    }


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", help="files to learn from, instead of samples")
    parser.add_argument("--states", help="bundled network with the states of the files")
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--seed", type=int, default=1, help="seed of the samples (default: 1)")
    parser.add_argument("--scores", default="k2,bdeu,bic")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--best", type=float, help="best known score of one file")
    parser.add_argument(
        "--stop-at-best", action="store_true", help="stop a run that reaches --best"
    )
    parser.add_argument("--max-time", type=float, default=60)
    parser.add_argument("--others", default="hill_climb,tabu,pyagrum,pybnesian")
    parser.add_argument("-j", "--n-jobs", type=int, default=2)
    parser.add_argument(
        "--write", action="store_true", help="replace the table of benchmarks/README.md"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    requested = [] if options.others == "none" else options.others.split(",")
    options.others = [name for name in requested if name in METHODS or PEERS[name].is_installed]
    answers = [
        measure(name, dataset, score, options)
        for name, dataset in load_data_sets(options).items()
        for score in options.scores.split(",")
    ]
    environment = describe_run(*(PEERS[name].package for name in options.others if name in PEERS))
    table = format_table(answers, environment["machine"], options.n_jobs)
    if options.write:
        replace_block(HERE / "README.md", "champion", table)
        replace_block(HERE.parent / "README.md", "champion", format_summary(answers))
    if options.format == "json":
        missing = [name for name in requested if name not in options.others]
        print_json({"data_sets": answers, "not_installed": missing, **environment})
    else:
        print(table)


if __name__ == "__main__":
    main()
