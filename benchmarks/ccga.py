"""Compare one CCGA run with K2, of pyAgrum and of coevo, on the same rows, one core, one process.

Rows are sampled from a bundled network. CCGA runs with the settings of the paper (250 generations,
population 100) and several seeds. K2 runs on 20 random orders with at most ten parents. All systems
use the K2 score. Kernels are loaded and data are read before anything is timed. Each CCGA run
starts with an empty cache; the cost of a run that shares the cache of earlier runs is measured
separately. The time of a run is the least CPU time of several repeats. The table shows the mean
over runs. In the paper, CCGA took about 100 times as long as K2.

    python benchmarks/ccga.py
    python benchmarks/ccga.py --format json
    python benchmarks/ccga.py --write  measure growth too; replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coevo import CCGA, K2, Budget, Dataset, FamilyScorer, load_network, sample, write_data
from coevo.search import Method, SearchResult, run_search
from harness import Task, describe_run, measure_least_seconds, print_json, replace_block

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum

HERE = Path(__file__).parent
GROWTH_ROWS = [1_000, 5_000, 25_000, 125_000]
GROWTH_POPULATION = [50, 100, 200, 400]
MAX_PARENTS = 10


def run_method(method: Method, scorer: FamilyScorer, seed: int, generations: int) -> SearchResult:
    """Run one search; K2 stops on its own."""
    budget = Budget(max_generations=generations)
    return run_search(method, scorer, budget=budget, random_state=seed)


def measure_mean_seconds(makers: Iterable[Callable[[], Task]], repeats: int) -> float:
    """Return the mean over tasks of the least CPU time of each. Making a task is not timed."""
    numbered = {str(number): make for number, make in enumerate(makers)}
    return statistics.mean(measure_least_seconds(numbered, repeats).values())


def make_pyagrum_k2(path: Path, order: list[str]) -> Task:
    """Return a run of pyAgrum's K2 on an order; its data are loaded."""
    peer: Any = pyagrum
    learner = peer.BNLearner(str(path))
    learner.useNoPrior()
    learner.useScoreK2()
    learner.setMaxIndegree(MAX_PARENTS)
    learner.useK2([learner.idFromName(name) for name in order])
    learn: Task = learner.learnDAG
    return learn


def measure_ccga(dataset: Dataset, options: argparse.Namespace, population: int) -> float:
    """Return the mean CPU time of a CCGA run that starts with an empty cache."""
    method = CCGA(population=population)

    def make_run(seed: int) -> Task:
        scorer = FamilyScorer(dataset, "k2")
        return lambda: run_method(method, scorer, seed, options.generations)

    makers = [partial(make_run, seed) for seed in range(options.runs)]
    return measure_mean_seconds(makers, options.repeats)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run all systems and return their times."""
    dataset = sample(load_network(options.network), options.rows, options.seed)
    run_method(CCGA(population=4), FamilyScorer(dataset, "k2"), 0, 3)  # loads the kernels
    run_method(K2(), FamilyScorer(dataset, "k2"), 0, 100)
    rng = np.random.default_rng(options.seed)
    orders = [[dataset.names[i] for i in rng.permutation(dataset.n_variables)] for _ in range(20)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_data(dataset, path)
        makers = [partial(make_pyagrum_k2, path, order) for order in orders]
        pyagrum_seconds = measure_mean_seconds(makers, options.repeats)

    def make_k2(order: list[str]) -> Task:
        scorer = FamilyScorer(dataset, "k2")
        return lambda: run_method(K2(order=order), scorer, 0, 100)

    k2_seconds = measure_mean_seconds(
        [partial(make_k2, order) for order in orders], options.repeats
    )
    ccga_seconds = measure_ccga(dataset, options, options.population)
    shared_scorer = FamilyScorer(dataset, "k2")
    all_shared = []
    for seed in range(30):
        began = time.process_time()
        run_method(CCGA(population=options.population), shared_scorer, seed, options.generations)
        all_shared.append(time.process_time() - began)
    shared_seconds = statistics.mean(all_shared[10:])
    return {
        "ratio_to_pyagrum_k2": round(ccga_seconds / pyagrum_seconds, 2),
        "ratio_to_own_k2": round(ccga_seconds / k2_seconds, 1),
        "ratio_to_pyagrum_k2_with_shared_cache": round(shared_seconds / pyagrum_seconds, 2),
        "seconds": {
            "ccga": round(ccga_seconds, 4),
            "ccga_with_shared_cache": round(shared_seconds, 4),
            "k2": round(k2_seconds, 5),
            "pyagrum_k2": round(pyagrum_seconds, 5),
        },
        "network": options.network,
        "rows": options.rows,
        "generations": options.generations,
        "population": options.population,
        "ccga_runs": options.runs,
        "k2_orders": len(orders),
        "repeats": options.repeats,
        **describe_run("pyagrum"),
    }


def measure_growth(options: argparse.Namespace) -> dict[str, Any]:
    """Return the time of a CCGA run for several numbers of rows and sizes of the population."""
    network = load_network(options.network)
    by_rows = {
        rows: measure_ccga(sample(network, rows, options.seed), options, options.population)
        for rows in GROWTH_ROWS
    }
    dataset = sample(network, options.rows, options.seed)
    by_population = {size: measure_ccga(dataset, options, size) for size in GROWTH_POPULATION}
    return {"rows": by_rows, "population": by_population}


def format_text(answer: dict[str, Any], growth: dict[str, Any]) -> str:
    """Return all times as Markdown."""
    seconds = answer["seconds"]
    lines = [
        f"{answer['network'].capitalize()}, {answer['rows']:,} rows, {answer['generations']} "
        f"generations, population {answer['population']}; one core of {answer['machine']}:",
        "",
        "| | CPU seconds a run | times pyAgrum's K2 | times coevo's K2 |",
        "|---|---:|---:|---:|",
    ]
    labels = {
        "ccga": "CCGA",
        "ccga_with_shared_cache": "CCGA, sharing a cache with ten earlier runs",
        "k2": "K2, coevo",
        "pyagrum_k2": "K2, pyAgrum",
    }
    for name, label in labels.items():
        to_pyagrum, to_k2 = seconds[name] / seconds["pyagrum_k2"], seconds[name] / seconds["k2"]
        lines.append(f"| {label} | {seconds[name]:.4f} | {to_pyagrum:.2f} | {to_k2:.1f} |")
    for name, values in growth.items():
        lines += ["", f"| {name} | CPU seconds a run |", "|---:|---:|"]
        lines += [f"| {size:,} | {value:.2f} |" for size, value in values.items()]
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--network", default="alarm")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--generations", type=int, default=250)
    parser.add_argument("--population", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--write",
        action="store_true",
        help="also measure growth, and replace the table of benchmarks/README.md",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    answer = measure(options)
    if options.write:
        text = format_text(answer, measure_growth(options))
        replace_block(HERE / "README.md", "one run of ccga", text)
        print(text)
    elif options.format == "json":
        print_json(answer)
    else:
        print(format_text(answer, {}))


if __name__ == "__main__":
    main()
