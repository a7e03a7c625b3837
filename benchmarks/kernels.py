"""Measure the cost of the three ways to count: the constants of engine/count.c.

The benchmark disables the other two ways, uses data that suit the third, and measures it with few
and with many rows. The difference is the cost of a row, or of a word of a bit set. Run it after a
change to a kernel, and compare the result with the constants ROW, WORD and NODE.

    python benchmarks/kernels.py
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from coevo import Dataset, FamilyScorer
from coevo.data import Variable
from coevo.score import FamilyBatch, counting
from harness import describe_run, draw_families, measure_least_seconds, print_json

FEW, MANY = 4_000, 16_000
N_VARIABLES, N_FAMILIES, N_PARENTS = 12, 2_000, 4
LEVELS = N_PARENTS + 1 - 3  # the table of a family extends a shared table of three variables


@contextmanager
def change_settings(**settings: int) -> Iterator[None]:
    """Change settings of `coevo.score.counting` inside a `with` block."""
    before = {name: getattr(counting, name) for name in settings}
    for name, value in settings.items():
        setattr(counting, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(counting, name, value)


def draw_dataset(rows: int, arity: int, other: float) -> Dataset:
    """Return independent columns; a share `other` of the values is not in the first state."""
    rng = np.random.default_rng(0)
    p = [1 - other] + [other / (arity - 1)] * (arity - 1)
    columns = [rng.choice(arity, rows, p=p) for _ in range(N_VARIABLES)]
    states = tuple(str(state) for state in range(arity))
    variables = [Variable(f"v{i:02d}", states) for i in range(N_VARIABLES)]
    return Dataset(variables, columns)


def measure_nanoseconds(dataset: Dataset) -> float:
    """Return the time for each family if its shared tables are stored already."""
    families = draw_families(N_VARIABLES, 2 * N_FAMILIES, N_PARENTS, 1)
    full = [family for family in families if len(family[1]) == N_PARENTS][:500]

    def make() -> Any:
        scorer, batch = FamilyScorer(dataset, "bic"), FamilyBatch.from_pairs(full)
        scorer.score_once(batch)
        return partial(scorer.score_once, batch)

    return measure_least_seconds({"one": make}, 15)["one"] / len(full) * 1e9


def measure_slope(arity: int, other: float) -> tuple[float, float]:
    """Return the nanoseconds for each family: for each additional row, and the fixed part."""
    few = measure_nanoseconds(draw_dataset(FEW, arity, other))
    many = measure_nanoseconds(draw_dataset(MANY, arity, other))
    per_row = (many - few) / (MANY - FEW)
    return per_row, few - per_row * FEW


def main() -> None:
    """Run the benchmark and print the costs."""
    other = 0.2
    with change_settings(MAX_BIT_SET_ARITY=0):
        by_rows, _ = measure_slope(3, other)
    with change_settings(MIN_COMPACT_BYTES=0, COMPACT_SHARE=0):
        by_bits, fixed = measure_slope(2, 0.5)
    with change_settings(MIN_COMPACT_BYTES=0, COMPACT_SHARE=0, MAX_BIT_SET_ARITY=0):
        all_rows, _ = measure_slope(3, other)
    nodes = sum(2**axis for axis in range(3, 3 + LEVELS))
    print_json(
        {
            "a row of a level, 4 or 5 columns": round(by_rows / (LEVELS * other), 3),
            "a row of the pass over all rows, 5 columns": round(all_rows, 3),
            "a word of a bit set": round(by_bits * 64 / nodes, 3),
            "a cell by bit sets, at most": round(fixed / nodes, 1),
            **describe_run(),
        }
    )


if __name__ == "__main__":
    main()
