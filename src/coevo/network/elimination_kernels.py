"""The plan of one question (``engine/elimination.c``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.network.factor_kernels import EvidenceCodes, NetworkTables, Plan

__all__ = ["BUCKET_FIELDS", "EliminationOrder", "plan_question"]

BUCKET_FIELDS = 2


class EliminationOrder(Structure):
    """The order in which variables are summed out, and the clique of each at that time.

    A clique has the variable itself last, and before it its neighbours, that which is summed out
    last first.
    """

    order: Any = read_array(np.int64)
    clique_start: Any = read_array(np.int64)
    members: Any = read_array(np.int64)


@kernel(
    NetworkTables,
    EliminationOrder,
    read_array(np.int64),
    read_array(np.int64),
    EvidenceCodes,
    Plan,
    array(np.int64, 2),
    array(np.int64),
    returns=INT,
)
def plan_question(
    network: NetworkTables,
    elimination: EliminationOrder,
    families: NDArray[np.int64],
    asked: NDArray[np.int64],
    evidence: EvidenceCodes,
    plan: Plan,
    buckets: NDArray[np.int64],
    factor: NDArray[np.int64],
) -> int:
    """Plan the joint table of the variables that are asked about, the last axis first.

    ``factor[0]`` becomes the table, or -1 if nothing is asked. Return the status of the plan.
    """
    raise NotImplementedError
