"""One CCGA run against K2: pyAgrum's and ours, on the same rows, one core, one process.

Rows are sampled from a bundled network. CCGA runs with the paper's settings (250
generations, population 100) and several seeds; K2 gets as many random orders, at most ten
parents, the K2 score in both systems. Kernels are loaded before anything is timed, data
are read beforehand, and each CCGA run starts with an empty cache, which is what one run
costs; what it costs beside others that share the cache is given apart. CPU time, the least
of some repeats of each run, averaged over the runs. The paper's CCGA took about 100 times
as long as its K2.

    python benchmarks/ccga.py
    python benchmarks/ccga.py --format json
    python benchmarks/ccga.py --write       also measures growth and rewrites the READMEs
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
from harness import Run, best_seconds, print_json, rewrite, stamp

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum

HERE = Path(__file__).parent
GROWTH_ROWS = [1_000, 5_000, 25_000, 125_000]
GROWTH_POPULATION = [50, 100, 200, 400]
MOST_PARENTS = 10


def search(method: Method, scorer: FamilyScorer, seed: int, generations: int) -> SearchResult:
    """Run one search; K2 ends by itself."""
    budget = Budget(max_generations=generations)
    return run_search(method, scorer, budget=budget, random_state=seed)


def mean_seconds(makers: Iterable[Callable[[], Run]], repeats: int) -> float:
    """Return the mean over runs of the least CPU time of each; making one is not timed."""
    numbered = {str(number): make for number, make in enumerate(makers)}
    return statistics.mean(best_seconds(numbered, repeats).values())


def pyagrum_k2(path: Path, order: list[str]) -> Callable[[], object]:
    """Return pyAgrum's K2 for an order, its data loaded."""
    peer: Any = pyagrum
    learner = peer.BNLearner(str(path))
    learner.useNoPrior()
    learner.useScoreK2()
    learner.setMaxIndegree(MOST_PARENTS)
    learner.useK2([learner.idFromName(name) for name in order])
    learn: Callable[[], object] = learner.learnDAG
    return learn


def mean_ccga(dataset: Dataset, options: argparse.Namespace, population: int) -> float:
    """Return the mean CPU time of a CCGA run that starts with an empty cache."""
    method = CCGA(population=population)

    def prepared(seed: int) -> Callable[[], object]:
        scorer = FamilyScorer(dataset, "k2")
        return lambda: search(method, scorer, seed, options.generations)

    makers = [partial(prepared, seed) for seed in range(options.runs)]
    return mean_seconds(makers, options.repeats)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run all systems and return what was measured."""
    dataset = sample(load_network(options.network), options.rows, options.seed)
    search(CCGA(population=4), FamilyScorer(dataset, "k2"), 0, 3)  # loads the kernels
    search(K2(), FamilyScorer(dataset, "k2"), 0, 100)
    rng = np.random.default_rng(options.seed)
    orders = [[dataset.names[i] for i in rng.permutation(dataset.n_variables)] for _ in range(20)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_data(dataset, path)
        makers = [partial(pyagrum_k2, path, order) for order in orders]
        peer = mean_seconds(makers, options.repeats)

    def our_k2(order: list[str]) -> Callable[[], object]:
        scorer = FamilyScorer(dataset, "k2")
        return lambda: search(K2(order=order), scorer, 0, 100)

    ours = mean_seconds([partial(our_k2, order) for order in orders], options.repeats)
    alone = mean_ccga(dataset, options, options.population)
    shared = FamilyScorer(dataset, "k2")
    sharing = []
    for seed in range(30):
        began = time.process_time()
        search(CCGA(population=options.population), shared, seed, options.generations)
        sharing.append(time.process_time() - began)
    return {
        "ratio_to_pyagrum_k2": round(alone / peer, 2),
        "ratio_to_own_k2": round(alone / ours, 1),
        "ratio_to_pyagrum_k2_with_shared_cache": round(statistics.mean(sharing[10:]) / peer, 2),
        "seconds": {
            "ccga": round(alone, 4),
            "ccga_with_shared_cache": round(statistics.mean(sharing[10:]), 4),
            "k2": round(ours, 5),
            "pyagrum_k2": round(peer, 5),
        },
        "network": options.network,
        "rows": options.rows,
        "generations": options.generations,
        "population": options.population,
        "ccga_runs": options.runs,
        "k2_orders": len(orders),
        "repeats": options.repeats,
        **stamp("pyagrum"),
    }


def growth(options: argparse.Namespace) -> dict[str, Any]:
    """Return how the time of a CCGA run grows with rows and with population."""
    network = load_network(options.network)
    by_rows = {
        rows: mean_ccga(sample(network, rows, options.seed), options, options.population)
        for rows in GROWTH_ROWS
    }
    dataset = sample(network, options.rows, options.seed)
    by_population = {size: mean_ccga(dataset, options, size) for size in GROWTH_POPULATION}
    return {"rows": by_rows, "population": by_population}


def as_text(answer: dict[str, Any], grown: dict[str, Any]) -> str:
    """Return everything as Markdown."""
    seconds = answer["seconds"]
    lines = [
        f"{answer['network'].capitalize()}, {answer['rows']:,} rows, {answer['generations']} "
        f"generations, population {answer['population']}; one core of {answer['machine']}:",
        "",
        "| | CPU seconds a run | times pyAgrum's K2 | times our K2 |",
        "|---|---:|---:|---:|",
    ]
    labels = {
        "ccga": "CCGA",
        "ccga_with_shared_cache": "CCGA, sharing a cache with ten runs before",
        "k2": "K2, ours",
        "pyagrum_k2": "K2, pyAgrum",
    }
    for name, label in labels.items():
        peer, own = seconds[name] / seconds["pyagrum_k2"], seconds[name] / seconds["k2"]
        lines.append(f"| {label} | {seconds[name]:.4f} | {peer:.2f} | {own:.1f} |")
    for what, values in grown.items():
        lines += ["", f"| {what} | CPU seconds a run |", "|---:|---:|"]
        lines += [f"| {size:,} | {value:.2f} |" for size, value in values.items()]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--network", default="alarm")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--generations", type=int, default=250)
    parser.add_argument("--population", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="also growth, into the README")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    answer = measure(options)
    if options.write:
        text = as_text(answer, growth(options))
        rewrite(HERE / "README.md", "one run of ccga", text)
        rewrite(HERE.parent / "README.md", "one run of ccga", as_text(answer, {}))
        print(text)
    elif options.format == "json":
        print_json(answer)
    else:
        print(as_text(answer, {}))


if __name__ == "__main__":
    main()
