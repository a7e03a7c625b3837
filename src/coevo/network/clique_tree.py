"""All marginals of a network, from messages between cliques.

A clique tree comes from the elimination order that `elimination_order` finds. A clique that is part
of a neighbour is merged into it. `engine/clique_tree.h` says how messages are planned: factors are
kept apart and summed out early, and what evidence separates is never multiplied.

A tree is made for evidence, or for none. One without evidence answers for any evidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from coevo.network.kernels import (
    COUNT_NODES,
    MESSAGE_FIELDS,
    N_COUNTS,
    NODE_FIELDS,
    TABLE_FIELDS,
    VARIABLE_FIELDS,
    CliqueTree,
    EliminationOrder,
    EvidenceCodes,
    Plan,
    build_clique_tree,
    plan_marginals,
    read_marginals,
)
from coevo.network.numbered_network import NumberedNetwork
from coevo.network.planning import ROOM, Calculation

__all__ = ["MarginalCalculation", "MarginalTree"]

N_CELLS = 2  # the column of nodes with the number of cells


class MarginalTree:
    """The cliques of a network as a tree, which computes marginals.

    Threads may share a tree.

    Parameters
    ----------
    network : NumberedNetwork
        The network.
    elimination : EliminationOrder
        An order of the variables that are not observed.
    families : array of int
        The variables whose tables are multiplied. It contains the parents of each of them.
    targets : array of int
        The variables whose marginals are computed; they are in the order.
    """

    def __init__(
        self,
        network: NumberedNetwork,
        elimination: EliminationOrder,
        families: NDArray[np.int64],
        targets: NDArray[np.int64],
    ) -> None:
        n, n_steps = len(network.names), len(elimination.order)
        self.network, self._elimination = network, elimination
        self._room = ROOM
        self._tree = CliqueTree(
            elimination.members,
            np.empty((n_steps, NODE_FIELDS), dtype=np.int64),
            np.empty(n_steps, dtype=np.int64),
            np.empty((n, VARIABLE_FIELDS), dtype=np.int64),
            np.empty(N_COUNTS, dtype=np.int64),
        )
        build_clique_tree(network.tables, elimination, families, targets, self._tree)

    @property
    def n_cliques(self) -> int:
        """Number of cliques."""
        return int(self._tree.counts[COUNT_NODES])

    @property
    def n_cells(self) -> int:
        """Number of cells in the tables of all cliques."""
        return sum(self._tree.nodes[: self.n_cliques, N_CELLS].tolist())

    def plan(self, evidence: EvidenceCodes) -> MarginalCalculation:
        """Plan the marginals of all targets that are not observed."""
        found = MarginalCalculation(
            self.network, self._elimination, self._tree, evidence, self._room
        )
        self._room = found.room
        return found


class MarginalCalculation(Calculation):
    """A plan of marginals, and their numbers."""

    def __init__(
        self,
        network: NumberedNetwork,
        elimination: EliminationOrder,
        tree: CliqueTree,
        evidence: EvidenceCodes,
        room: int,
    ) -> None:
        n = len(network.names)
        n_nodes = int(tree.counts[COUNT_NODES])
        messages = np.empty((n_nodes, MESSAGE_FIELDS), dtype=np.int64)
        tables = np.empty((n, TABLE_FIELDS), dtype=np.int64)
        self._factors = np.empty(n, dtype=np.int64)

        def make(plan: Plan) -> int:
            return plan_marginals(
                network.tables, tree, evidence, plan, messages, tables, self._factors
            )

        super().__init__(network, evidence, elimination, make, room)

    def answer(self, names: Iterable[str]) -> tuple[dict[str, NDArray[np.float64]], float]:
        """Return the marginals of some targets, and log P(e); none if the evidence is impossible.

        An observed variable is sure of its state. `FloatingPointError` is raised if a product falls
        below the smallest float.
        """
        log_probability = self.run()
        if log_probability == -math.inf:
            return {}, log_probability
        marginals = np.empty(int(self.network.starts[-1]))
        read_marginals(
            self.network.tables,
            self.evidence,
            self.plan,
            self.cells,
            self._factors,
            self.network.starts,
            marginals,
        )
        return self.network.split_states(marginals, names), log_probability
