"""Structural EM, in the hard form that R's bnlearn has (Friedman 1997; `structural.em`).

Each missing cell gets its most probable state given the cells of its row that are there; a
structure is learned from the completed table; and so on until the structure stays the same.
The first completion knows no structure: it has the most common state of each column. That a
cell is not surely what it most probably is, is forgotten in each round: what the last
structure says of the cells is taken for data by the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.missing.imputations import Imputations, most_common, with_cells
from coevo.missing.policy_checkpoint import Cells, Clock, Stage
from coevo.missing.policy_input import PolicyInput, PolicyOutput

__all__ = ["structural_em"]

ROUNDS = 5  # at most; as `structural.em`
CHAINS = 4  # that draw cells to find how probable their states are
SWEEPS = 25  # of each


@dataclass(frozen=True)
class _Round(Stage):
    """A filled table, and the structures of the rounds before it: (n_rounds, n, n)."""

    policy = "em"

    filled: Cells
    known: NDArray[np.bool_]


def structural_em(inputs: PolicyInput) -> PolicyOutput:
    """Fill, learn, and fill again, until the structure stays the same."""
    table, reached = inputs.table, inputs.resume_from
    completions = Imputations(table, CHAINS, inputs.seed, inputs.make_threads())
    holes = completions.holes
    clock = Clock(reached)
    if reached is None:
        filled = most_common(table)[holes.variables, holes.rows]
        known = np.empty((0, table.n_variables, table.n_variables), dtype=np.bool_)
        own = _Round(0, completions.n_drawn, completions.cells, filled, known)
    else:
        own = _Round.of(reached.extra_arrays)
        completions.put(own.cells, own.n_drawn)
    while True:
        scorer = inputs.make_scorer(table.make_dataset(with_cells(table, holes, own.filled)))
        result = inputs.run(scorer, reached, own, clock.seconds())
        adjacency, reached = result.dag.adjacency(), None
        is_stopped = result.stop_reason in ("callback", "interrupt", "time")
        is_known = bool((own.known == adjacency).all(axis=(1, 2)).any())
        found = PolicyOutput(result, scorer, completions, [adjacency], own)
        if is_stopped or is_known or own.number + 1 == ROUNDS:
            return found
        cells = completions.fill([adjacency], SWEEPS).codes
        if inputs.is_stopped():  # where the next round has found nothing yet
            return found
        own = _Round(
            number=own.number + 1,
            n_drawn=completions.n_drawn,
            cells=completions.cells,
            filled=cells.astype(table.dataset.codes.dtype),
            known=np.concatenate([own.known, adjacency[np.newaxis]]),
        )
