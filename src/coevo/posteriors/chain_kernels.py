"""Run a chain: rounds of moves, then the arc probabilities and a DAG; see engine/chain.h.

The moves are in engine/layering.h, engine/order_chain.h and engine/block.h.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
from numpy.typing import NDArray

from coevo.engine import FLOAT, INT, Structure, array, kernel, number, read_array

__all__ = [
    "MAX_BLOCK_SIZE",
    "ChainArrays",
    "ChainRun",
    "ChainScratch",
    "RoundPlan",
    "count_uniforms",
    "list_block_layerings",
    "make_scratch",
    "run_layerings",
    "run_orders",
]

MAX_BLOCK_SIZE = 5  # MAX_BLOCK in engine/block.h


class ChainArrays(Structure):
    """The tables that the kernels read. Families are numbered over all children."""

    # candidates of child v: cand_begin[v] and following
    cand_begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,)
    cand: NDArray[np.int64] = read_array(np.int64)
    table_begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,)
    log_sum: NDArray[np.float64] = read_array(np.float64)  # of all subsets of each set
    empty: NDArray[np.float64] = read_array(np.float64)  # (n,), of the family without parents
    begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), of families, the heaviest first
    weight: NDArray[np.float64] = read_array(np.float64)  # log weight of each family
    code: NDArray[np.int64] = read_array(np.int64)  # its set of candidates, -1 outside them
    start: NDArray[np.int64] = read_array(np.int64)  # where the parents of each family begin
    parents: NDArray[np.int32] = read_array(np.int32)
    outside_begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,)
    outside: NDArray[np.int64] = read_array(np.int64)  # families with another parent
    pair_begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), possible parents of child v
    pair_parent: NDArray[np.int64] = read_array(np.int64)
    is_possible: NDArray[np.bool_] = read_array(np.bool_, 2)  # (n, n), [parent, child]


class RoundPlan(Structure):
    """The moves of a round, how blocks are chosen, and all layerings of a block.

    The layerings of q members are number ``layering_begin[q]`` to ``layering_begin[q + 1]``. Member
    j of layering i has the members of the set ``earlier[i, j]`` in earlier layers, and those of
    ``last[i, j]`` in the layer before it.
    """

    n_relocations: int = number(int)
    n_blocks: int = number(int)
    block_size: int = number(int)
    first: NDArray[np.float64] = read_array(np.float64)  # (n,), chances of the first, cumulative
    near_begin: NDArray[np.int64] = read_array(np.int64)  # (n + 1,), plausible neighbours of v
    near: NDArray[np.int64] = read_array(np.int64)
    layering_begin: NDArray[np.int64] = read_array(np.int64)  # (block_size + 2,)
    earlier: NDArray[np.int64] = read_array(np.int64, 2)  # (n_layerings, block_size)
    last: NDArray[np.int64] = read_array(np.int64, 2)


class ChainRun(Structure):
    """Where a chain is, its random numbers, and what it records."""

    level: NDArray[np.int64] = array(np.int64)  # (n,), twice the layer or the place
    uniforms: NDArray[np.float64] = read_array(np.float64, 2)  # (n_rounds, `count_uniforms`)
    arcs: NDArray[np.float64] = array(np.float64)  # (n_pairs,), the sum of their probabilities
    trace: NDArray[np.float64] = array(np.float64)  # (n_rounds,), log weights
    dags: NDArray[np.int32] = array(np.int32, 2)  # (n_rounds, n), the families of the drawn DAG
    best: NDArray[np.int32] = array(np.int32)  # (n,), the families of the best DAG
    best_weight: NDArray[np.float64] = array(np.float64)  # (1,), its log weight
    counts: NDArray[np.int64] = array(
        np.int64, 2
    )  # (2, 2), relocations and blocks, see `ChainState`


class ChainScratch(Structure):
    """Working memory of a chain."""

    terms: NDArray[np.float64] = array(np.float64)
    order: NDArray[np.int64] = array(np.int64)
    choice: NDArray[np.int64] = array(np.int64)
    counts: NDArray[np.int64] = array(np.int64)
    rivals: NDArray[np.int64] = array(np.int64)
    variants: NDArray[np.float64] = array(np.float64)
    sums: NDArray[np.float64] = array(np.float64)
    own: NDArray[np.float64] = array(np.float64)
    logs: NDArray[np.float64] = array(np.float64)
    shares: NDArray[np.float64] = array(np.float64)
    reached: NDArray[np.int64] = array(np.int64)
    spare: NDArray[np.int64] = array(np.int64)
    block_terms: NDArray[np.float64] = array(np.float64)


def make_scratch(n_variables: int, plan: RoundPlan) -> ChainScratch:
    """Return working memory for chains with this plan."""
    n, size = n_variables, plan.block_size
    n_logs = max(2 * n + 1, len(plan.earlier))
    return ChainScratch(
        terms=np.empty(n),
        order=np.empty(n, dtype=np.int64),
        choice=np.empty(n, dtype=np.int64),
        counts=np.empty(n + 1, dtype=np.int64),
        rivals=np.empty(n + 1, dtype=np.int64),
        variants=np.empty(4 * n),
        sums=np.empty(4 * n),
        own=np.empty(n + 1),
        logs=np.empty(n_logs),
        shares=np.empty(n_logs),
        reached=np.empty(n, dtype=np.int64),
        spare=np.empty(n, dtype=np.int64),
        block_terms=np.empty(size << 2 * size),
    )


@functools.cache
def list_block_layerings(
    most: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return all layerings of up to `most` members, as the last fields of `RoundPlan`.

    >>> list_block_layerings(4)[0].tolist()
    [0, 0, 1, 4, 17, 92]
    """
    begin, earlier, last = [0, 0], list[list[int]](), list[list[int]]()
    for q in range(1, most + 1):
        for layer in itertools.product(range(q), repeat=q):
            if set(layer) != set(range(max(layer) + 1)):
                continue
            sets = [sum(1 << i for i in range(q) if layer[i] == k) for k in range(-1, q)]
            unused = [0] * (most - q)
            earlier.append([sum(sets[: layer[j] + 1]) for j in range(q)] + unused)
            last.append([sets[layer[j]] for j in range(q)] + unused)
        begin.append(len(earlier))
    found = np.array(begin), np.array(earlier), np.array(last)
    for one in found:
        one.setflags(write=False)  # all chains share them
    return found


def count_uniforms(n_variables: int, plan: RoundPlan) -> int:
    """Return how many random numbers a round needs."""
    return 2 * plan.n_relocations + n_variables + 3 * plan.block_size * plan.n_blocks


@kernel(ChainArrays, RoundPlan, ChainRun, ChainScratch, INT, INT, returns=FLOAT)
def run_layerings(
    tables: ChainArrays, plan: RoundPlan, run: ChainRun, scratch: ChainScratch, begin: int, end: int
) -> float:
    """Run the rounds from `begin` to `end` - 1 of a chain over layerings, from the level alone.

    Return the log weight of the last layering. If it is -inf, no DAG of the tables has it, and the
    chain has stopped before it drew one.
    """
    raise NotImplementedError


@kernel(ChainArrays, RoundPlan, ChainRun, ChainScratch, INT, INT, returns=FLOAT)
def run_orders(
    tables: ChainArrays, plan: RoundPlan, run: ChainRun, scratch: ChainScratch, begin: int, end: int
) -> float:
    """Do the same as `run_layerings` for a chain over orders, which has no blocks."""
    raise NotImplementedError
