"""Measure local scores per second: coevo, pybnesian, pyAgrum and NumPy on the same families.

Rows are sampled from a bundled network. Families are random and distinct, with 0 to 4 parents. The
time is CPU time on one core, the least of several repeats; the systems take turns. Each repeat has
a new scorer, so no score comes from a cache. The time to make a scorer (for example its bit sets)
is measured separately. The benchmark first checks that all systems compute the same BIC. For BDeu
it prints the differences (pyAgrum's BDeu is approximate).

    python benchmarks/local_scores.py
    python benchmarks/local_scores.py --score bdeu --format json
    python benchmarks/local_scores.py --write    also replace the table of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coevo import BayesianNetwork, Dataset, FamilyScorer, load_network, sample, write_data
from coevo.experiments.peers import make_categorical_frame
from coevo.score import FamilyBatch
from harness import (
    Family,
    Task,
    describe_run,
    draw_families,
    measure_least_seconds,
    print_json,
    replace_block,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pyagrum
    import pybnesian

HERE = Path(__file__).parent
SCORES = ["bic", "bdeu"]  # all systems have these
TOLERANCE = 1e-9  # for BIC; pyAgrum's BDeu differs more, see tests/score/test_against_peers.py
Scores = Callable[[list[Family]], list[float]]


def make_coevo_scores(dataset: Dataset, score: str) -> Callable[[FamilyBatch], Any]:
    """Return the function that scores a batch with a new scorer of coevo."""
    return FamilyScorer(dataset, score).local_scores


def make_pybnesian_scores(dataset: Dataset, score: str) -> Scores:
    """Return the function that scores families with pybnesian."""
    frame = make_categorical_frame(dataset)
    names, model = dataset.names, pybnesian.DiscreteBN(list(dataset.names))
    peer = pybnesian.BIC(frame) if score == "bic" else pybnesian.BDe(frame, 1.0)
    return lambda families: [
        peer.local_score(model, names[child], [names[parent] for parent in parents])
        for child, parents in families
    ]


def make_pyagrum_scores(
    network: BayesianNetwork, dataset: Dataset, path: Path, score: str
) -> Scores:
    """Return the function that scores families with pyAgrum, in natural logarithms."""
    peer: Any = pyagrum
    template = peer.BayesNet()
    for variable in network.variables:
        labels = peer.LabelizedVariable(variable.name, "", 0)
        for state in variable.states:
            labels.addLabel(state)
        template.add(labels)
    learner = peer.BNLearner(str(path), template)
    learner.useNoPrior()
    (learner.useScoreBIC if score == "bic" else learner.useScoreBDeu)()
    names = dataset.names
    return lambda families: [
        learner.score(names[child], [names[parent] for parent in parents]) * math.log(2)
        for child, parents in families
    ]


def make_numpy_scores(dataset: Dataset, score: str) -> Scores:
    """Return the function that scores families with a few lines of NumPy."""
    from scipy.special import gammaln, xlogy

    codes, arities = dataset.codes.astype(np.intp), dataset.arities.tolist()
    half_log = 0.5 * math.log(dataset.n_rows)

    def score_family(child: int, parents: tuple[int, ...]) -> float:
        joint = np.zeros(codes.shape[1], dtype=np.intp)
        q = 1
        for parent in parents:
            joint = joint * arities[parent] + codes[parent]
            q *= arities[parent]
        r = arities[child]
        counts = np.bincount(joint * r + codes[child], minlength=q * r).reshape(q, r)
        totals = counts.sum(axis=1)
        if score == "bic":
            fit = xlogy(counts, counts).sum() - xlogy(totals, totals).sum()
            return float(fit - half_log * q * (r - 1))
        a = 1 / (q * r)
        cells = (gammaln(counts + a) - gammaln(a)).sum()
        return float(cells - (gammaln(totals + a * r) - gammaln(a * r)).sum())

    return lambda families: [score_family(child, parents) for child, parents in families]


def _make_task(make: Callable[[], Callable[[Any], Any]], families: object) -> Task:
    """Make a scorer; return the task that scores families with it."""
    return partial(make(), families)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run all systems on the same families and return their times."""
    network = load_network(options.network)
    dataset = sample(network, options.rows, options.seed)
    families = draw_families(dataset.n_variables, options.families, 4, options.seed)
    batch = FamilyBatch.from_pairs(families)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_data(dataset, path)
        makers: dict[str, Callable[[], Callable[[Any], Any]]] = {
            "coevo": lambda: make_coevo_scores(dataset, options.score),
            "pybnesian": lambda: make_pybnesian_scores(dataset, options.score),
            "pyagrum": lambda: make_pyagrum_scores(network, dataset, path, options.score),
            "numpy": lambda: make_numpy_scores(dataset, options.score),
        }
        requests = {name: batch if name == "coevo" else families for name in makers}
        answers = {name: np.array(make()(requests[name])) for name, make in makers.items()}
        differences = {
            name: float(np.max(np.abs(answers["coevo"] / answer - 1)))
            for name, answer in answers.items()
        }
        if options.score == "bic" and max(differences.values()) > TOLERANCE:
            sys.exit(f"The systems do not compute the same score: {differences}")
        tasks = {name: partial(_make_task, make, requests[name]) for name, make in makers.items()}
        best = measure_least_seconds(tasks, options.repeats)
        set_up = measure_least_seconds({"coevo": lambda: makers["coevo"]}, options.repeats)["coevo"]
    per_second = {name: round(len(families) / seconds) for name, seconds in best.items()}
    peer = max((name for name in per_second if name != "coevo"), key=lambda n: per_second[n])
    n_parents = [len(parents) for _, parents in families]
    return {
        "per_second": per_second,
        "ratio_to_best_peer": round(per_second["coevo"] / per_second[peer], 2),
        "best_peer": peer,
        "score": options.score,
        "network": options.network,
        "rows": options.rows,
        "families": len(families),
        "families_by_parents": {k: n_parents.count(k) for k in sorted(set(n_parents))},
        "largest_relative_difference_to_ours": differences,
        "set_up_seconds": round(set_up, 4),
        "repeats": options.repeats,
        "seed": options.seed,
        **describe_run("pybnesian", "pyagrum"),
    }


def format_table(answers: list[dict[str, Any]]) -> str:
    """Return the measured values as a Markdown table."""
    systems = list(answers[0]["per_second"])
    first = answers[0]
    lines = [
        f"{first['network'].capitalize()}, {first['rows']:,} rows, {first['families']:,} families "
        f"of 0 to 4 parents, families per CPU second on one core ({first['machine']}):",
        "",
        f"| score | {' | '.join(systems)} | coevo to the fastest peer |",
        f"|---|{'---:|' * (len(systems) + 1)}",
    ]
    for answer in answers:
        rates = " | ".join(f"{answer['per_second'][system]:,}" for system in systems)
        ratio = f"{answer['ratio_to_best_peer']:.1f} x {answer['best_peer']}"
        lines.append(f"| {answer['score']} | {rates} | {ratio} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--network", default="alarm")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--families", type=int, default=20_000)
    parser.add_argument("--score", choices=SCORES, default="bic")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--write",
        action="store_true",
        help="measure both scores, and replace the table of benchmarks/README.md",
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    if options.write:
        answers = [measure(argparse.Namespace(**vars(options) | {"score": s})) for s in SCORES]
        table = format_table(answers)
        replace_block(HERE / "README.md", "local scores", table)
        print(table)
        return
    answer = measure(options)
    if options.format == "json":
        print_json(answer)
        return
    print(
        f"{answer['network']}, {answer['rows']:,} rows, {answer['families']:,} families, "
        f"{answer['score']}, one core"
    )
    for name, rate in sorted(answer["per_second"].items(), key=lambda item: -item[1]):
        print(f"  {name:<10}{rate:>10,} families per CPU second")
    print(f"  {answer['ratio_to_best_peer']} times {answer['best_peer']}, the fastest peer")


if __name__ == "__main__":
    main()
