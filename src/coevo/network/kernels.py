"""The kernels of inference: factors, elimination and its orders, relevance, clique trees.

Factors, and plans that multiply them (``engine/factor.c``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array

__all__ = [
    "AXIS_FIELDS",
    "BUCKET_FIELDS",
    "COUNT_NODES",
    "FACTOR_FIELDS",
    "FILL",
    "FREE_FIELDS",
    "LIVE_FIELDS",
    "MESSAGE_FIELDS",
    "NODE_FIELDS",
    "N_CELLS",
    "N_COUNTS",
    "N_OPERATIONS",
    "N_SCOPE_COUNTS",
    "N_USED",
    "RELEVANCE_ROWS",
    "STEP_FIELDS",
    "TABLE_FIELDS",
    "USED_CELLS",
    "USED_STEPS",
    "USED_WORK",
    "VARIABLE_FIELDS",
    "WEIGHT",
    "WEIGHTED_FILL",
    "CliqueTree",
    "EliminationOrder",
    "EvidenceCodes",
    "InteractionGraph",
    "NetworkTables",
    "Plan",
    "Scopes",
    "build_clique_tree",
    "eliminate_greedily",
    "eliminate_in_order",
    "find_scopes",
    "list_cliques",
    "list_cuthill_mckee",
    "make_interaction_graph",
    "plan_marginals",
    "plan_question",
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


# The plan of one question (``engine/elimination.c``).


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


# What a question about a network has to read (``engine/relevance.c``).


RELEVANCE_ROWS = 5
N_SCOPE_COUNTS = 2  # families, variables


class Scopes(Structure):
    """The tables that are read, and their unobserved variables, which are numbered from 0 on."""

    families: Any = array(np.int64)
    variables: Any = array(np.int64)
    start: Any = array(np.int64)
    members: Any = array(np.int64)
    counts: Any = array(np.int64)


@kernel(
    NetworkTables,
    EvidenceCodes,
    read_array(np.int64),
    read_array(np.int64),
    INT,
    Scopes,
    array(np.int64, 2),
)
def find_scopes(
    network: NetworkTables,
    evidence: EvidenceCodes,
    topological: NDArray[np.int64],
    asked: NDArray[np.int64],
    is_total: bool,
    scopes: Scopes,
    scratch: NDArray[np.int64],
) -> None:
    """Overwrite the scopes with what a question about some variables reads.

    With `is_total` all evidence is read, because its probability is asked for.
    """
    raise NotImplementedError


# A tree of cliques, and the plan of all marginals in it (``engine/clique_tree.c``).


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


# The kernels that find orders of elimination; see engine/elimination_order.h.
#
# `make_interaction_graph` makes the structure that all of them share.


WEIGHTED_FILL, WEIGHT, FILL = range(3)  # rules
N_CELLS, N_OPERATIONS, N_TOTALS = range(3)  # places of `totals`
WORD_ROWS, INTEGER_ROWS, FLOAT_ROWS = 4, 14, 4  # of scratch


class InteractionGraph(Structure):
    """The factors, the best order so far, and scratch; `make_interaction_graph` makes it."""

    start: NDArray[np.int64] = read_array(np.int64)
    members: NDArray[np.int64] = read_array(np.int64)  # those of factor k begin at start[k]
    arities: NDArray[np.int64] = read_array(np.int64)
    is_last: NDArray[np.bool_] = read_array(np.bool_)
    totals: NDArray[np.float64] = array(np.float64)  # N_CELLS of the best order, N_OPERATIONS
    order: NDArray[np.int64] = array(np.int64)  # the best one
    rows: NDArray[np.uint64] = array(np.uint64, 2)  # its cliques as bit sets, and scratch
    integers: NDArray[np.int64] = array(np.int64, 2)
    floats: NDArray[np.float64] = array(np.float64, 2)


def make_interaction_graph(
    start: NDArray[np.int64],
    members: NDArray[np.int64],
    arities: NDArray[np.int64],
    is_last: NDArray[np.bool_],
) -> InteractionGraph:
    """Return the structure of some factors, without an order."""
    n = len(arities)
    return InteractionGraph(
        start,
        members,
        arities,
        is_last,
        np.array((math.nan, 0.0)),
        np.empty(n, dtype=np.int64),
        np.empty((2 * n + WORD_ROWS, (n + 63) // 64), dtype=np.uint64),
        np.empty((INTEGER_ROWS, n + 1), dtype=np.int64),
        np.empty((FLOAT_ROWS, n + 1)),
    )


@kernel(InteractionGraph, INT, read_array(np.float64), returns=INT)
def eliminate_greedily(graph: InteractionGraph, rule: int, factors: NDArray[np.float64]) -> int:
    """Take out the variable with the least fill until none is left; keep the order if it is better.

    Each pair of neighbours that must be connected counts as the rule says: the product of the
    logarithms of both arities (WEIGHTED_FILL), nothing (WEIGHT) or one (FILL). Ties go to the
    smallest clique, then to the smallest number. The factors, if there are some, multiply the
    fill of each variable. A run ends when it has as many cells as the best order. The operations
    of the run are in ``totals[N_OPERATIONS]``. Return the number of members of all cliques of the
    best order.
    """
    raise NotImplementedError


@kernel(InteractionGraph, read_array(np.int64), returns=INT)
def eliminate_in_order(graph: InteractionGraph, sequence: NDArray[np.int64]) -> int:
    """Take out all variables in a sequence, the last ones last; keep the order if it is better.

    The sequence is a permutation. Return the number of members of all cliques of the best order.
    """
    raise NotImplementedError


@kernel(InteractionGraph, array(np.int64), array(np.int64))
def list_cliques(
    graph: InteractionGraph, clique_start: NDArray[np.int64], clique_members: NDArray[np.int64]
) -> None:
    """Overwrite the cliques of the best order; those of step i begin at ``clique_start[i]``.

    The variable that is taken out last comes first.
    """
    raise NotImplementedError


@kernel(InteractionGraph, array(np.int64))
def list_cuthill_mckee(graph: InteractionGraph, sequence: NDArray[np.int64]) -> None:
    """Overwrite the order of Cuthill and McKee, from a far end of each component.

    After a variable come its neighbours, those with the fewest neighbours first.
    """
    raise NotImplementedError
