r"""`bic-blip`: the smoothed BIC under which the results of BLIP (ASOBS and others) are published.

It is for the comparison with published numbers only, and no score of coevo. Let r be the number of
states of a variable and q that of the configurations of its parents. With parents, a cell adds

.. math:: n_{jk} \log\frac{n_{jk} + 1/(r q)}{n_j + 1/r}

and each free parameter costs (log N)/2. Without parents, a cell adds n log((n + 1/r) / (N + 1)) and
each free parameter costs log N. The definition is inferred from published numbers: dynamic
programming over all structures gives the published optimum of `nltcs` under it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo import FamilyScorer, load_network, sample
from coevo.score import BIC, FamilyBatch, Score
from coevo.score.independence import CountedTriples, TripleBatch
from coevo.score.kernels import ARITY, RANK
from harness import draw_families

__all__ = ["BlipBIC", "BlipScorer", "check_scores", "make_scorer"]


@dataclass(frozen=True)
class BlipBIC(BIC):
    """The smoothed BIC; its upper bound is that of BIC, because no cell adds more than 0."""

    name: ClassVar[str] = "bic-blip"
    formula: ClassVar[str] = "smoothed log-likelihood - (log N) / 2 for each free parameter"
    is_equivalent: ClassVar[bool] = False


class BlipScorer(FamilyScorer):
    """A scorer that counts as `FamilyScorer` does and scores the tables by the smoothed BIC.

    A family with so many cells that its table is not counted cell by cell scores -inf. Its penalty
    is above all that it can gain.
    """

    def __init__(self, table: Any) -> None:
        super().__init__(table, BlipBIC())

    def _compute(self, families: FamilyBatch) -> NDArray[np.float64]:
        triples, n_rows = TripleBatch(families.members, families.start), self.dataset.n_rows
        parts = [_score_tables(counted, n_rows) for counted in self._count_triples(triples)]
        return np.concatenate([np.empty(0), *parts])


def _score_tables(counted: CountedTriples, n_rows: int) -> NDArray[np.float64]:
    """Return the smoothed BIC of each family; -inf without a table."""
    batch, arity = counted.triples, counted.facts[:, ARITY]
    child, n_cells = batch.members[batch.start[:-1]], np.diff(counted.sums.begin)
    n_families, r = len(batch), arity[child]
    q, has_parents = n_cells // r, np.diff(batch.start) > 1

    # The axes of a table are sorted by rank. The stride of the child is that of the axes behind it.
    rank = counted.facts[:, RANK]
    is_behind = rank[batch.members] > np.repeat(rank[child], np.diff(batch.start))
    states = np.where(is_behind, arity[batch.members], 1)
    stride = np.multiply.reduceat(states, batch.start[:-1])

    # The family of each cell with a count, and its row among those of all tables.
    cells = counted.sums.cells[counted.sums.begin[0] : counted.sums.begin[-1]]
    filled = np.flatnonzero(cells)
    counts = cells[filled].astype(np.float64)
    family = np.repeat(np.arange(n_families), n_cells)[filled]
    place = filled - (np.cumsum(n_cells) - n_cells)[family]
    block, within = place // (stride * r)[family], place % stride[family]
    row = (np.cumsum(q) - q)[family] + block * stride[family] + within

    of_cell, of_row = 1.0 / np.maximum(n_cells, 1), np.where(has_parents, 1.0 / r, 1.0)
    gains = np.bincount(family, counts * np.log(counts + of_cell[family]), n_families)
    rows = np.bincount(row, counts, q.sum())
    filled = np.flatnonzero(rows)
    family, rows = np.repeat(np.arange(n_families), q)[filled], rows[filled]
    losses = np.bincount(family, rows * np.log(rows + of_row[family]), n_families)
    penalty = math.log(n_rows) * np.where(has_parents, 0.5, 1.0) * q * (r - 1)
    return np.where(n_cells > 0, gains - losses - penalty, -np.inf)


def compute_directly(
    codes: NDArray[Any], arities: list[int], child: int, given: list[int]
) -> float:
    """Return the smoothed BIC of a family by a direct sum over the rows of its table."""
    n_rows, r = codes.shape[1], arities[child]
    q = math.prod(arities[parent] for parent in given)
    rows = list(zip(*(codes[parent].tolist() for parent in given), strict=True)) or [()] * n_rows
    cells = Counter(zip(rows, codes[child].tolist(), strict=True))
    of_row, penalty = (1 / r, 0.5) if given else (1.0, 1.0)
    row_counts = Counter(rows)
    terms = [
        n * math.log((n + 1 / (r * q)) / (row_counts[j] + of_row)) for (j, _), n in cells.items()
    ]
    return math.fsum(terms) - penalty * math.log(n_rows) * q * (r - 1)


def check_scores() -> None:
    """Raise `AssertionError` unless the kernel agrees with the direct sum, for 0 to 4 parents."""
    dataset = sample(load_network("child"), 300, 0)
    scorer, arities = BlipScorer(dataset), dataset.arities.tolist()
    families = draw_families(dataset.n_variables, 200, 4, 0)
    scores = scorer.local_scores(FamilyBatch.from_pairs(families))
    for (child, given), score in zip(families, scores.tolist(), strict=True):
        direct = compute_directly(dataset.codes, arities, child, list(given))
        assert math.isinf(score) or math.isclose(score, direct, rel_tol=1e-12), (child, given)


def make_scorer(table: Any, score: str | Score) -> FamilyScorer:
    """Return the scorer of a score of coevo or of ``'bic-blip'``."""
    return BlipScorer(table) if score == BlipBIC.name else FamilyScorer(table, score)
