"""Plans of exact inference: made, measured and computed.

A plan is made from the names of axes alone (``engine/plan.h``), so memory and work are known before
anything is computed. Numbers are probabilities, not logarithms, which is several times as fast. If
a product falls below the smallest float, `FloatingPointError` is raised, and the caller answers by
`Elimination`, which uses logarithms.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError
from coevo.network.elimination import MAX_REPORTED, Cost, check_elimination, count_bytes
from coevo.network.kernels import (
    AXIS_FIELDS,
    FACTOR_FIELDS,
    FREE_FIELDS,
    LIVE_FIELDS,
    N_USED,
    STEP_FIELDS,
    USED_CELLS,
    USED_WORK,
    EliminationOrder,
    EvidenceCodes,
    Plan,
    run_plan,
)
from coevo.network.numbered_network import NumberedNetwork

__all__ = ["ROOM", "Calculation"]

DONE, NO_ROOM = 0, 1  # what making a plan returns
ROOM = 4  # factors for each variable, at first
AXES, INPUTS = 6, 3  # of a factor, at first

# Reading a cell of an input takes 0.4 to 1.1 ns on a machine of 2024; an operation, 10 to 15.
CELLS_PER_OPERATION = 8


class Calculation:
    """A plan, and its numbers.

    Parameters
    ----------
    network : NumberedNetwork
        The network.
    evidence : EvidenceCodes
        What is observed.
    elimination : EliminationOrder
        The order that the plan follows.
    make : callable
        Make the plan, and return its status.
    room : int
        Factors for each variable to begin with. A plan that needs more is made again with twice as
        much room.

    Attributes
    ----------
    plan : Plan
        The plan; it is not complete if a table would be larger than any memory.
    cost : Cost
        What the numbers take.
    room : int
        Factors for each variable that were enough.
    cells : array
        The numbers of all factors, after `run`.
    """

    def __init__(
        self,
        network: NumberedNetwork,
        evidence: EvidenceCodes,
        elimination: EliminationOrder,
        make: Callable[[Plan], int],
        room: int = ROOM,
    ) -> None:
        self.network, self.evidence, self.room = network, evidence, room
        while True:
            self.plan = _make_room(len(network.names), self.room)
            status = make(self.plan)
            if status != NO_ROOM:
                break
            self.room *= 2
        self._is_complete = status == DONE
        if self._is_complete:
            n_cells, work = (int(self.plan.used[i]) for i in (USED_CELLS, USED_WORK))
            self.cost = Cost(count_bytes(n_cells), -(-work // CELLS_PER_OPERATION))
        else:
            n_cells = _count_clique_cells(network, elimination)
            self.cost = Cost(count_bytes(n_cells), min(n_cells, MAX_REPORTED))

    def run(self) -> float:
        """Compute the numbers; return the logarithm of the probability of the evidence.

        Numbers that do not fit into memory raise `ParameterError`; so does a plan that is not
        complete, also where the system does not report its memory.
        """
        check_elimination(self.cost.n_bytes)
        if not self._is_complete:
            raise ParameterError(
                "Exact inference with the best elimination order found needs "
                f"{self.cost.n_bytes / 1e9:,.1f} GB of memory. Give more evidence."
            )
        self.cells = np.empty(int(self.plan.used[USED_CELLS]))
        total = np.empty(2)
        if run_plan(self.network.tables, self.evidence, self.plan, self.cells, total):
            raise FloatingPointError
        number, exponent = total.tolist()
        return math.log(number) + exponent * math.log(2) if number > 0 else -math.inf

    def read(self, factor: int) -> tuple[NDArray[np.float64], int]:
        """Return a factor that a step has computed, and the power of 2 to multiply it by."""
        offset, first, n_axes, exponent = self.plan.factors[factor, 1:].tolist()
        axes = self.plan.axes[first : first + n_axes]
        shape = self.network.tables.arity[axes[:, 0]].tolist()
        return self.cells[offset : offset + math.prod(shape)].reshape(shape), exponent


def _make_room(n: int, room: int) -> Plan:
    """Return an empty plan with room for so many factors for each variable."""
    n_factors = room * (n + ROOM)
    return Plan(
        np.empty((n_factors, FACTOR_FIELDS), dtype=np.int64),
        np.empty((AXES * n_factors, AXIS_FIELDS), dtype=np.int64),
        np.empty((n_factors, STEP_FIELDS), dtype=np.int64),
        np.empty(INPUTS * n_factors, dtype=np.int64),
        np.empty(n_factors, dtype=np.int64),
        np.empty(n_factors, dtype=np.int64),
        np.empty((n_factors, LIVE_FIELDS), dtype=np.int64),
        np.empty((n_factors, FREE_FIELDS), dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.zeros(N_USED, dtype=np.int64),
    )


def _count_clique_cells(network: NumberedNetwork, elimination: EliminationOrder) -> int:
    """Return the number of cells of all cliques of an order: exact, however large."""
    starts, members = elimination.clique_start.tolist(), elimination.members.tolist()
    return sum(
        math.prod(network.arity[v] for v in members[begin:end])
        for begin, end in itertools.pairwise(starts)
    )
