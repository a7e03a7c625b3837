"""How often and how fast CCMA finds the best structure, beside the hill climbers.

Rows are sampled from bundled networks. CCMA runs from several seeds, each with an empty
cache, until it has found nothing better for 25 generations (or for `--max-time`). *Best* is
the highest score that any run of any system found. The peers are pyAgrum's greedy hill
climbing and pybnesian's, each maximising the same score (pybnesian has no K2: it gets
BDeu then); their structures are scored by our scorer. Wall-clock seconds, one thread;
kernels are loaded and data read before anything is timed.

    python benchmarks/ccma.py
    python benchmarks/ccma.py --networks alarm --rows 1000 --scores k2 --format json
    python benchmarks/ccma.py --write       also rewrites the table of the READMEs
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from coevo import Budget, FamilyScorer, load_network, run_search, sample
from coevo.peers import PEERS
from coevo.search import SearchResult
from harness import print_json, rewrite, stamp

HERE = Path(__file__).parent
SAME = 1e-6  # nats; what round-off may do


def time_to(result: SearchResult, target: float) -> float | None:
    """Return when a search had reached a score."""
    return next((row.seconds for row in result.history if row.score >= target - SAME), None)


def measure(network: str, rows: int, score: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run all systems on one data set."""
    source = load_network(network)
    dataset = sample(source, rows, options.seed)
    scorer = FamilyScorer(dataset, score)
    run_search("ccma", scorer, budget=Budget(max_generations=6), random_state=0)  # loads kernels
    budget = Budget(max_time=options.max_time, patience=25)
    runs = [
        run_search("ccma", FamilyScorer(dataset, score), budget=budget, random_state=seed)
        for seed in range(options.seeds)
    ]
    others = {
        name: run_search(name, FamilyScorer(dataset, score), random_state=0)
        for name in ("hill_climb", "tabu")
    }
    found = {name: (result.score, result.seconds) for name, result in others.items()}
    for name in ("pyagrum", "pybnesian"):
        dag, seconds = PEERS[name].learn(dataset, scorer.scoring)
        found[name] = (scorer.score(dag), seconds)
    best = max([run.score for run in runs] + [score for score, _ in found.values()])
    times = [time_to(run, best) for run in runs]
    reached = sorted(seconds for seconds in times if seconds is not None)
    return {
        "network": network,
        "rows": rows,
        "score": score,
        "best": best,
        "true": scorer.score(source.dag),
        "seeds": options.seeds,
        "seeds_that_reached_it": len(reached),
        "median_seconds": statistics.median(reached) if reached else None,
        "worst_seconds": reached[-1] if reached else None,
        "whole_run_seconds": statistics.mean(run.seconds for run in runs),
        "below_best": {name: best - value for name, (value, _) in found.items()},
        "seconds": {name: seconds for name, (_, seconds) in found.items()},
    }


def as_table(answers: list[dict[str, Any]], machine: str) -> str:
    """Return the answers as a Markdown table."""
    names = list(answers[0]["below_best"])
    lines = [
        f"One thread of {machine}. In the columns of the climbers: nats below the best, seconds.",
        "",
        "| data set | score | best | found by | median s | worst s | " + " | ".join(names) + " |",
        "|---|---|---:|---:|---:|---:|" + "---:|" * len(names),
    ]
    for answer in answers:
        cells = [
            f"{answer['below_best'][name]:,.1f} in {answer['seconds'][name]:.2f}" for name in names
        ]
        reached = f"{answer['seeds_that_reached_it']} of {answer['seeds']} seeds"
        lines.append(
            f"| {answer['network']} {answer['rows']:,} | {answer['score']} "
            f"| {answer['best']:,.2f} | {reached} | {answer['median_seconds']:.2f} "
            f"| {answer['worst_seconds']:.2f} | {' | '.join(cells)} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", default="alarm,insurance")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--scores", default="k2,bdeu")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--max-time", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1, help="of the samples")
    parser.add_argument("--write", action="store_true", help="into the READMEs")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    answers = [
        measure(network, int(rows), score, options)
        for network in options.networks.split(",")
        for rows in options.rows.split(",")
        for score in options.scores.split(",")
    ]
    stamped = stamp("pyagrum", "pybnesian")
    table = as_table(answers, stamped["machine"])
    if options.write:
        for page in (HERE / "README.md", HERE.parent / "README.md"):
            rewrite(page, "ccma", table)
    if options.format == "json":
        print_json({"data_sets": answers, **stamped})
    else:
        print(table)


if __name__ == "__main__":
    main()
