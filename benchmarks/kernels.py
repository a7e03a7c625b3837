"""What the three ways of counting cost: the constants of `coevo.score.count_kernels`.

Each way is made the only one possible, on data that suit it, and timed with few and with
many rows; the difference is what a row, or a word of a bit set, costs. Run it after a
change to a kernel and compare with the constants ROW, WORD, NODE and ALL_ROW.

    python benchmarks/kernels.py
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo import Dataset, FamilyBatch, FamilyScorer, Variable
from coevo.score import counting
from harness import best_seconds, print_json, random_families, stamp

FEW, MANY = 4_000, 16_000
N_VARIABLES, N_FAMILIES, N_PARENTS = 12, 2_000, 4
LEVELS = N_PARENTS + 1 - 3  # a family's table is built on a shared one of three variables


@contextmanager
def only(**settings: int) -> Iterator[None]:
    """Change settings of `coevo.score.counting` for a while."""
    before = {name: getattr(counting, name) for name in settings}
    for name, value in settings.items():
        setattr(counting, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(counting, name, value)


def table(rows: int, arity: int, other: float, weighted: bool = False) -> Dataset:
    """Return independent columns in which a share `other` is not in the first state."""
    rng = np.random.default_rng(0)
    p = [1 - other] + [other / (arity - 1)] * (arity - 1)
    columns = [rng.choice(arity, rows, p=p) for _ in range(N_VARIABLES)]
    states = tuple(str(state) for state in range(arity))
    weights: NDArray[np.int64] | None = np.ones(rows, dtype=np.int64) if weighted else None
    variables = [Variable(f"v{i:02d}", states) for i in range(N_VARIABLES)]
    return Dataset(variables, columns, weights)


def nanoseconds(dataset: Dataset) -> float:
    """Return the time of a family whose shared tables are known."""
    families = random_families(N_VARIABLES, 2 * N_FAMILIES, N_PARENTS, 1)
    full = [family for family in families if len(family[1]) == N_PARENTS][:500]
    known = [(child, parents[:2]) for child, parents in full]

    def make() -> Any:
        scorer = FamilyScorer(dataset, "bic")
        scorer.local_scores(FamilyBatch.from_pairs(known))
        return partial(scorer.local_scores, FamilyBatch.from_pairs(full))

    return best_seconds({"one": make}, 15)["one"] / len(full) * 1e9


def slope(arity: int, other: float, weighted: bool = False) -> tuple[float, float]:
    """Return nanoseconds a family for each further row, and for none."""
    few = nanoseconds(table(FEW, arity, other, weighted))
    many = nanoseconds(table(MANY, arity, other, weighted))
    a_row = (many - few) / (MANY - FEW)
    return a_row, few - a_row * FEW


def main() -> None:
    """Measure and print."""
    other = 0.2
    with only(MAX_BIT_SET_ARITY=0):
        by_rows, _ = slope(3, other)
    with only(MIN_COMPACT_BYTES=0, COMPACT_SHARE=0):
        by_bits, fixed = slope(2, 0.5)
    all_rows, _ = slope(3, other, weighted=True)
    nodes = sum(2**axis for axis in range(3, 3 + LEVELS))
    print_json(
        {
            "a row of a level, 4 or 5 columns": round(by_rows / (LEVELS * other), 3),
            "a row of the pass over all rows, 5 columns": round(all_rows, 3),
            "a word of a bit set": round(by_bits * 64 / nodes, 3),
            "a cell by bit sets, at most": round(fixed / nodes, 1),
            **stamp(),
        }
    )


if __name__ == "__main__":
    main()
