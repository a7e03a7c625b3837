"""Factors, and plans that multiply them (``engine/factor.c``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = [
    "AXIS_FIELDS",
    "FACTOR_FIELDS",
    "FREE_FIELDS",
    "LIVE_FIELDS",
    "N_USED",
    "STEP_FIELDS",
    "USED_CELLS",
    "USED_STEPS",
    "USED_WORK",
    "EvidenceCodes",
    "NetworkTables",
    "Plan",
    "read_marginals",
    "run_plan",
]

FACTOR_FIELDS, AXIS_FIELDS, STEP_FIELDS, LIVE_FIELDS, FREE_FIELDS = 5, 3, 4, 3, 2  # columns
USED_STEPS, USED_CELLS, USED_WORK, N_USED = 2, 8, 9, 10  # places of `used`


class NetworkTables(Structure):
    """The variables of a network, numbered by name, and their tables."""

    arity: Any = read_array(np.int64)
    family_start: Any = read_array(np.int64)  # of each variable, and the end
    family: Any = read_array(np.int64)  # the parents in the order of the table, then the child
    table_start: Any = read_array(np.int64)
    tables: Any = read_array(np.float64)


class EvidenceCodes(Structure):
    """What is observed: for each variable its state or -1, and where its weights begin or -1."""

    codes: Any = read_array(np.int64)
    findings: Any = read_array(np.int64)
    weights: Any = read_array(np.float64)


class Plan(Structure):
    """The steps that multiply factors, and the room for planning them."""

    factors: Any = array(np.int64, 2)
    axes: Any = array(np.int64, 2)
    steps: Any = array(np.int64, 2)
    inputs: Any = array(np.int64)
    constants: Any = array(np.int64)
    lists: Any = array(np.int64)
    live: Any = array(np.int64, 2)
    free: Any = array(np.int64, 2)
    place: Any = array(np.int64)
    used: Any = array(np.int64)


@kernel(
    NetworkTables, EvidenceCodes, Plan, array(np.float64), array(np.float64), returns=INT
)  # fmt: skip
def run_plan(
    network: NetworkTables,
    evidence: EvidenceCodes,
    plan: Plan,
    cells: NDArray[np.float64],
    total: NDArray[np.float64],
) -> int:
    """Compute all steps; return whether a product fell below the smallest float.

    `total` becomes the probability of the evidence: a number, and the power of 2 to multiply it by.
    """
    raise NotImplementedError


@kernel(
    NetworkTables,
    EvidenceCodes,
    Plan,
    read_array(np.float64),
    read_array(np.int64),
    read_array(np.int64),
    array(np.float64),
)
def read_marginals(
    network: NetworkTables,
    evidence: EvidenceCodes,
    plan: Plan,
    cells: NDArray[np.float64],
    factors: NDArray[np.int64],
    starts: NDArray[np.int64],
    marginals: NDArray[np.float64],
) -> None:
    """Overwrite the distribution of each variable: its factor, divided by the sum."""
    raise NotImplementedError
