"""Measure the effect of each part of CCMA: the steps from the CCGA of the paper to CCMA.

Every variant of `ablated.py` runs with the same seeds on the same rows for the same time, on one
thread; each run starts with an empty cache. *Best* is the best score that anyone found
(`best_known.json`), not the best of these runs. The table shows the mean difference to it in nats,
with the half width of its 95 % confidence interval (Student's t over the seeds).

    python benchmarks/ablation.py
    python benchmarks/ablation.py --networks andes --rows 5000 --score bic --max-time 20 --seeds 5
    python benchmarks/ablation.py --write       also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

from scipy.stats import t as student

from ablated import VARIANTS
from best_known import BestKnown, name_sample
from coevo import Budget, FamilyScorer, load_network, run_search, sample
from harness import describe_run, print_json, replace_block

HERE = Path(__file__).parent


def measure(network: str, options: argparse.Namespace) -> dict[str, Any]:
    """Run all variants on one data set."""
    source = load_network(network)
    dataset = sample(source, options.rows, options.seed)
    budget = Budget(max_time=options.max_time)
    scores: dict[str, list[float]] = {}
    for name, method in VARIANTS.items():
        few = Budget(max_generations=8)
        run_search(method, FamilyScorer(dataset, options.score), budget=few, random_state=0)
        scores[name] = [
            run_search(
                method, FamilyScorer(dataset, options.score), budget=budget, random_state=seed
            ).score
            for seed in range(options.seeds)
        ]
    best_known, data_set = BestKnown(), name_sample(network, options.rows, options.seed)
    for name, found in scores.items():
        finder = f"{name}, {options.max_time:g} s, benchmarks/ablation.py"
        best_known.offer(data_set, options.score, max(found), finder)
    best_known.save()
    best = best_known.get(data_set, options.score)
    assert best is not None
    return {
        "network": network,
        "best": best,
        "true": FamilyScorer(dataset, options.score).score(source.dag),
        "gaps": {name: [best - score for score in found] for name, found in scores.items()},
    }


def compute_interval(gaps: list[float]) -> tuple[float, float]:
    """Return the mean and the half width of its 95 % confidence interval."""
    mean, n = statistics.mean(gaps), len(gaps)
    if n < 2:
        return mean, float("nan")
    return mean, float(student.ppf(0.975, n - 1)) * statistics.stdev(gaps) / n**0.5


def format_table(answers: list[dict[str, Any]], options: argparse.Namespace, machine: str) -> str:
    """Return the measured differences as a Markdown table."""
    names = [answer["network"] for answer in answers]
    lines = [
        f"{options.score}, {options.rows:,} rows, {options.seeds} seeds, {options.max_time:g} s a "
        f"run, one thread of {machine}. Nats below the best known score, mean and 95 % interval.",
        "",
        "| variant | " + " | ".join(names) + " |",
        "|---|" + "---:|" * len(names),
    ]
    for variant in VARIANTS:
        cells = []
        for answer in answers:
            mean, half = compute_interval(answer["gaps"][variant])
            cells.append(f"{mean:,.1f} ± {half:,.1f}")
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    bests = " | ".join(f"{answer['best']:,.2f}" for answer in answers)
    return "\n".join([*lines, f"| *the best known score* | {bests} |"])


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--networks", default="alarm,insurance,child,hailfinder,hepar2,win95pts")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--score", default="k2")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--max-time", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1, help="seed of the samples (default: 1)")
    parser.add_argument(
        "--write", action="store_true", help="replace the table of benchmarks/README.md"
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    answers = [measure(network, options) for network in options.networks.split(",")]
    environment = describe_run("scipy")
    table = format_table(answers, options, environment["machine"])
    if options.write:
        replace_block(HERE / "README.md", f"ablation {options.score} {options.rows}", table)
    if options.format == "json":
        settings = {name: getattr(options, name) for name in ("rows", "score", "seeds", "max_time")}
        print_json({"data_sets": answers, **settings, **environment})
    else:
        print(table)


if __name__ == "__main__":
    main()
