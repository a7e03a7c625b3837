r"""How often and how fast CCMA finds the best structure known, and what others have by then.

Data sets are files, or samples of bundled networks. CCMA runs from several seeds, each with
an empty cache, as it does for anyone: until it has found nothing better for 25 generations,
or for `--max-time`. *Best* is the highest score that any run of any system found, or
`--best`, what is known from elsewhere. The other systems are ours (hill climbing, tabu) and
the peers that are installed, each maximising the same score or its nearest, and scored by
our scorer. *Gaps* are our best score so far, of the worst seed, minus theirs, when they end,
0.2 seconds later, and after ten times as long. Wall-clock seconds from the table in memory
to the answer; kernels are loaded before.

    python benchmarks/champion.py
    python benchmarks/champion.py --networks hailfinder --rows 5000 --scores bic --format json
    python benchmarks/champion.py --data FILE --states alarm --scores k2 --best -11081.52
    python benchmarks/champion.py --data FILE --states link --scores bic --best -1110168.5 \
        --stop-at-best --max-time 300 --seeds 1 --others none
    python benchmarks/champion.py --write       also rewrites the table of the READMEs
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
from harness import print_json, rewrite, stamp

HERE = Path(__file__).parent
SAME = 0.01  # nats; published figures have two digits
LATER, LONGER = 0.2, 10  # seconds after the end of a peer; times as long


@dataclass(frozen=True)
class Run:
    """A run of CCMA, with the seconds that its scorer took to be made."""

    result: SearchResult
    set_up: float

    @property
    def seconds(self) -> float:
        """From the table in memory to the answer."""
        return self.set_up + self.result.seconds

    def score_at(self, seconds: float) -> float:
        """Return the best score that it had by then."""
        rows = [r for r in self.result.history if self.set_up + r.seconds <= seconds]
        return rows[-1].score if rows else -math.inf

    def time_to(self, score: float) -> float | None:
        """Return when it had reached a score."""
        reached = (row for row in self.result.history if row.score >= score - SAME)
        first = next(reached, None)
        return None if first is None else self.set_up + first.seconds


def run_ccma(dataset: Dataset, score: str, seed: int, options: argparse.Namespace) -> Run:
    """Run CCMA once, with an empty cache."""
    best = options.best if options.stop_at_best else None
    budget = Budget(max_time=options.max_time, patience=None if best else 25, target=best)
    began = time.perf_counter()
    scorer = FamilyScorer(dataset, score, n_jobs=options.n_jobs)
    set_up = time.perf_counter() - began
    return Run(run_search("ccma", scorer, budget=budget, random_state=seed), set_up)


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
    times = sorted(t for t in (run.time_to(known) for run in runs) if t is not None)
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
        "others": {other: _gaps(runs, *result) for other, result in others.items()},
    }


def _gaps(runs: list[Run], score: float, seconds: float) -> dict[str, float]:
    """Return how far the worst of our runs is above another system."""

    def gap(moment: float) -> float:
        return min(run.score_at(moment) for run in runs) - score

    return {
        "score": score,
        "seconds": seconds,
        "score_gap": gap(seconds),
        "score_gap_later": gap(seconds + LATER),
        "score_gap_ten_times": gap(seconds * LONGER),
        "score_gap_at_end": min(run.result.score for run in runs) - score,
    }


def as_table(answers: list[dict[str, Any]], machine: str, n_jobs: int) -> str:
    """Return the answers as a Markdown table."""
    names = list(answers[0]["others"])
    lines = [
        f"{n_jobs} threads of {machine}. In the columns of the others: nats above them 0.2 s "
        "after they end and when we do, worst seed, and their seconds.",
        "",
        "| data set | score | best | seeds at it | to it, median and worst s | whole run, s | "
        + " | ".join(names)
        + " |",
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


def data_sets(options: argparse.Namespace) -> dict[str, Dataset]:
    """Return the data sets by name."""
    if options.data:
        states = load_network(options.states).variables if options.states else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # constant columns are what the samples have
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
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", nargs="+", help="files, instead of samples")
    parser.add_argument("--states", help="the network that declares the states of the files")
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--seed", type=int, default=1, help="of the samples")
    parser.add_argument("--scores", default="k2,bdeu,bic")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--best", type=float, help="the best score known, of one file")
    parser.add_argument("--stop-at-best", action="store_true", help="stop where that is reached")
    parser.add_argument("--max-time", type=float, default=60)
    parser.add_argument("--others", default="hill_climb,tabu,pyagrum,pybnesian")
    parser.add_argument("-j", "--n-jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="into the READMEs")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    asked = [] if options.others == "none" else options.others.split(",")
    options.others = [name for name in asked if name in METHODS or PEERS[name].is_installed]
    answers = [
        measure(name, dataset, score, options)
        for name, dataset in data_sets(options).items()
        for score in options.scores.split(",")
    ]
    stamped = stamp(*(PEERS[name].package for name in options.others if name in PEERS))
    table = as_table(answers, stamped["machine"], options.n_jobs)
    if options.write:
        for page in (HERE / "README.md", HERE.parent / "README.md"):
            rewrite(page, "champion", table)
    if options.format == "json":
        missing = [name for name in asked if name not in options.others]
        print_json({"data_sets": answers, "not_installed": missing, **stamped})
    else:
        print(table)


if __name__ == "__main__":
    main()
