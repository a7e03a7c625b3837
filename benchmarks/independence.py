"""Measure tests of independence per second: coevo and causal-learn on the same triples.

Rows are sampled from a bundled network. Triples (x, y, Z) are random and distinct. The time is CPU
time on one core, the least of several repeats; the systems take turns. Each repeat has a new
scorer, so that no counts are shared with an earlier repeat. The benchmark first checks that both
systems compute the same p-values of G2.

    python benchmarks/independence.py
    python benchmarks/independence.py --write    also replace the tables of benchmarks/README.md
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coevo import Dataset, FamilyScorer, load_network, sample
from coevo.score import TripleBatch
from harness import Task, describe_run, measure_least_seconds, print_json, replace_block

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from causallearn.utils.cit import CIT

HERE = Path(__file__).parent
TOLERANCE = 1e-9
ROWS = [500, 5_000, 50_000, 500_000]
MOST_GIVEN = 5
Triple = tuple[int, int, tuple[int, ...]]


def draw_triples(n_variables: int, n: int, sizes: range, seed: int) -> list[Triple]:
    """Return n distinct triples whose number of given variables is drawn from `sizes`."""
    rng = random.Random(seed)
    triples: dict[Triple, None] = {}
    while len(triples) < n:
        x, y, *given = rng.sample(range(n_variables), rng.choice(sizes) + 2)
        triples[min(x, y), max(x, y), tuple(sorted(given))] = None
    return list(triples)


def make_coevo_task(dataset: Dataset, triples: list[Triple], test: str = "g2") -> Task:
    """Return the task that tests all triples with a new scorer."""
    scorer, batch = FamilyScorer(dataset), TripleBatch.from_triples(triples)
    return partial(scorer.test_triples, batch, test)


def make_peer_task(dataset: Dataset, triples: list[Triple], test: str = "g2") -> Task:
    """Return the task that tests all triples with causal-learn."""
    rows = np.ascontiguousarray(dataset.expand().codes.T)
    cit = CIT(rows, "gsq" if test == "g2" else "chisq")
    return lambda: [cit(x, y, given) for x, y, given in triples]


def check_agreement(dataset: Dataset, triples: list[Triple], test: str) -> None:
    """Stop unless both systems compute the same p-values."""
    ours: Any = make_coevo_task(dataset, triples, test)()
    theirs: Any = make_peer_task(dataset, triples, test)()
    difference = float(np.abs(ours.p_values - np.array(theirs)).max())
    if difference > TOLERANCE:
        sys.exit(f"The p-values of {test} differ by {difference:g}.")


def measure(dataset: Dataset, sizes: range, n: int, peer_n: int, repeats: int) -> dict[str, Any]:
    """Return the tests per CPU second of both systems; the peer runs fewer tests."""
    triples = draw_triples(dataset.n_variables, n, sizes, seed=n)
    check_agreement(dataset, triples[: min(peer_n, 200)], "g2")
    makers = {
        "coevo": partial(make_coevo_task, dataset, triples),
        "causal-learn": partial(make_peer_task, dataset, triples[:peer_n]),
    }
    seconds = measure_least_seconds(makers, repeats)
    rates = {"coevo": n / seconds["coevo"], "causal-learn": peer_n / seconds["causal-learn"]}
    return {
        "n_rows": dataset.n_rows,
        "given": f"{sizes.start} to {sizes.stop - 1}" if len(sizes) > 1 else f"{sizes.start}",
        **{name: round(rate) for name, rate in rates.items()},
        "ratio": round(rates["coevo"] / rates["causal-learn"], 1),
    }


def format_table(records: list[dict[str, Any]], caption: str) -> str:
    """Return the records as a Markdown table."""
    lines = [
        caption,
        "",
        "| rows | given | coevo | causal-learn | coevo to causal-learn |",
        "|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {r['n_rows']:,} | {r['given']} | {r['coevo']:,} | {r['causal-learn']:,} "
        f"| {r['ratio']:,} x |"
        for r in records
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the tables if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--network", default="alarm")
    parser.add_argument("--tests", type=int, default=5_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    network = load_network(options.network)
    records = []
    for n_rows in ROWS:
        dataset = sample(network, n_rows, random_state=1)
        peer_n = min(options.tests, max(50, 2_500_000 // n_rows))
        records.append(measure(dataset, range(4), options.tests, peer_n, options.repeats))
    dataset = sample(network, 5_000, random_state=1)
    for size in range(MOST_GIVEN + 1):
        n = min(options.tests, 600) if size == 0 else options.tests
        records.append(measure(dataset, range(size, size + 1), n, min(n, 500), options.repeats))
    facts = describe_run("causal-learn", "numpy")
    if options.format == "json":
        print_json({**facts, "records": records})
        return
    caption = (
        f"{options.network.capitalize()}, G2, tests per CPU second on one core "
        f"({facts['machine']}):"
    )
    table = format_table(records, caption)
    print(table)
    if options.write:
        replace_block(HERE / "README.md", "independence tests", table)


if __name__ == "__main__":
    main()
