"""How near the quick bootstrap comes to the full one: strengths of the arcs of a network.

Three ways to learn a sample are compared with the search itself: a hill climb from no arcs, one
from the network of the original table, and the better of the two, which `coevo.bootstrap.quick`
takes. The difference is the mean over the arcs, and its sign shows whether strengths are too high.

    python benchmarks/quick_bootstrap.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

import coevo
from coevo.data import Dataset
from coevo.graph import Arc
from coevo.randomness import random_stream
from coevo.search import HillClimb, SearchResult

TABLES = (("asia", 300), ("asia", 1000), ("sachs", 500), ("insurance", 500), ("alarm", 1000))
SAMPLES = 20
WAYS = ("no arcs", "network", "better")


def main() -> None:
    """Print one line per table."""
    print(f"{'table':16}" + "".join(f"{way:>20}" for way in WAYS))
    for name, n_rows in TABLES:
        rows = coevo.sample(coevo.load_network(name), n_rows, random_state=1)
        cells = [
            f"{abs(gap).mean():12.3f} ({gap.mean():+.2f})" for gap in measure_differences(rows)
        ]
        print(f"{f'{name} {n_rows:,}':16}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def measure_differences(rows: Dataset) -> list[np.ndarray]:
    """Return, for each way, its strengths minus those of the full bootstrap."""
    found = coevo.learn(rows, bootstraps=0, random_state=0)
    climb = replace(found.spec, method=HillClimb())
    counts = np.zeros((1 + len(WAYS), len(found.gains)))
    for number in range(1, SAMPLES + 1):
        scorer = climb.make_scorer(rows.resample(random_stream(0, number, 0)))
        full = replace(found.spec, seed=number).run(scorer)
        free, near = climb.run(scorer), replace(climb, start=found.search.dag).run(scorer)
        better = free if free.score > near.score else near
        counts += [count_arcs(result, found.gains) for result in (full, free, near, better)]
    strengths = counts / SAMPLES
    return [row - strengths[0] for row in strengths[1:]]


def count_arcs(result: SearchResult, arcs: Iterable[Arc]) -> list[bool]:
    """Return for each arc whether a structure joins its two variables."""
    joined = {frozenset(arc) for arc in result.dag.arcs}
    return [frozenset(arc) in joined for arc in arcs]


if __name__ == "__main__":
    main()
