"""A tree of cliques, and the plan of all marginals in it (``engine/clique_tree.c``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.network.elimination_kernels import EliminationOrder
from coevo.network.factor_kernels import EvidenceCodes, NetworkTables, Plan

__all__ = [
    "COUNT_NODES",
    "MESSAGE_FIELDS",
    "NODE_FIELDS",
    "N_COUNTS",
    "TABLE_FIELDS",
    "VARIABLE_FIELDS",
    "CliqueTree",
    "build_clique_tree",
    "plan_marginals",
]

NODE_FIELDS, VARIABLE_FIELDS, MESSAGE_FIELDS, TABLE_FIELDS = 12, 5, 4, 2
COUNT_NODES, N_COUNTS = 0, 2


class CliqueTree(Structure):
    """Cliques, numbered from the roots outwards, and where variables are found in them."""

    members: Any = read_array(np.int64)
    nodes: Any = array(np.int64, 2)
    children: Any = array(np.int64)
    variables: Any = array(np.int64, 2)
    counts: Any = array(np.int64)


@kernel(
    NetworkTables, EliminationOrder, read_array(np.int64), read_array(np.int64), CliqueTree
)  # fmt: skip
def build_clique_tree(
    network: NetworkTables,
    elimination: EliminationOrder,
    families: NDArray[np.int64],
    targets: NDArray[np.int64],
    tree: CliqueTree,
) -> None:
    """Overwrite a tree with that of an elimination order."""
    raise NotImplementedError


@kernel(
    NetworkTables,
    CliqueTree,
    EvidenceCodes,
    Plan,
    array(np.int64, 2),
    array(np.int64, 2),
    array(np.int64),
    returns=INT,
)
def plan_marginals(
    network: NetworkTables,
    tree: CliqueTree,
    evidence: EvidenceCodes,
    plan: Plan,
    messages: NDArray[np.int64],
    tables: NDArray[np.int64],
    factors: NDArray[np.int64],
) -> int:
    """Plan the marginals of all targets that are not observed; return the status of the plan.

    ``factors[v]`` becomes the factor of the marginal of a variable, or -1.
    """
    raise NotImplementedError
