"""Kernels that run a chain: rounds of moves, then the arc probabilities and a DAG.

A round of a chain over layerings relocates some variables, draws a DAG of the layering, redraws
blocks of families of this DAG, and takes the layering of the result. Each of these four keeps
the posterior over DAGs (with the uniform prior) as its stationary distribution. A round of a
chain over orders relocates some variables and draws a DAG of the order.

After each round the probability of each arc, given the layering or the order, is added up. It
comes from the tables and is exact (Rao-Blackwell): it has a smaller variance than the arcs of
the drawn DAG.

Kernels never draw. A round reads one row of uniform random numbers (`count_uniforms`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.averaging.block_kernels import BLOCKS, choose_block, redraw_block
from coevo.averaging.layering_kernels import (
    add_layer_arcs,
    compute_terms,
    count_layers,
    draw_dag,
    find_levels,
    relocate,
    sort_by_level,
)
from coevo.averaging.order_chain_kernels import (
    add_order_arcs,
    compute_order_terms,
    draw_order_dag,
    relocate_in_order,
    sort_order,
)
from coevo.jit import allocating_part, array_of, kernel, part, tuple_of

__all__ = [
    "BLOCK",
    "RELOCATION",
    "Records",
    "Tables",
    "count_uniforms",
    "run_layerings",
    "run_orders",
]

RELOCATION, BLOCK = 0, 1  # the moves


class Tables(NamedTuple):
    """The arrays that the kernels read. Families are numbered over all children."""

    cand_begin: NDArray[np.int64]  # (n + 1,), candidates of child v: cand_begin[v] and following
    cand: NDArray[np.int64]
    table_begin: NDArray[np.int64]  # (n + 1,)
    log_sum: NDArray[np.float64]  # of all subsets of each set of candidates
    empty: NDArray[np.float64]  # (n,), the log weight of the family without parents
    begin: NDArray[np.int64]  # (n + 1,), families of child v, the heaviest first
    weight: NDArray[np.float64]  # log weight of each family
    code: NDArray[np.int64]  # the number of its set of candidates, -1 outside the candidates
    start: NDArray[np.int64]  # where the parents of each family begin
    parents: NDArray[np.int32]
    outside_begin: NDArray[np.int64]  # (n + 1,)
    outside: NDArray[np.int64]  # the families with a parent that is no candidate
    pair_begin: NDArray[np.int64]  # (n + 1,), possible parents of child v
    pair_parent: NDArray[np.int64]
    is_possible: NDArray[np.bool_]  # (n, n), [parent, child], whether a family has the arc
    near_begin: NDArray[np.int64]  # (n + 1,), the plausible neighbours of v
    near: NDArray[np.int64]
    first: NDArray[np.float64]  # (n,), cumulative chances of the first variable of a block


class Records(NamedTuple):
    """What a run of a chain writes."""

    arcs: NDArray[np.float64]  # (n_pairs,), the sum of the probabilities of each possible arc
    trace: NDArray[np.float64]  # (n_rounds,), the log weight of the layering or the order
    dags: NDArray[np.int32]  # (n_rounds, n), the families of the drawn DAG
    best: NDArray[np.int32]  # (n,), the families of the best DAG
    best_weight: NDArray[np.float64]  # (1,), its log weight
    counts: NDArray[np.int64]  # (2, 2), the number of moves of each kind, made and changed


FLOATS, NUMBERS, FAMILIES = array_of(np.float64), array_of(np.int64), array_of(np.int32)
TABLES = tuple_of(
    NUMBERS,
    NUMBERS,
    NUMBERS,
    FLOATS,
    FLOATS,
    NUMBERS,
    FLOATS,
    NUMBERS,
    NUMBERS,
    FAMILIES,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    array_of(np.bool_, 2),
    NUMBERS,
    NUMBERS,
    FLOATS,
    kind=Tables,
)
RECORDS = tuple_of(
    FLOATS, FLOATS, array_of(np.int32, 2), FAMILIES, FLOATS, array_of(np.int64, 2), kind=Records
)
PLAN, UNIFORMS = array_of(np.int64, 1, True), array_of(np.float64, 2, True)


def count_uniforms(n_variables: int, plan: NDArray[np.int64]) -> int:
    """Return how many random numbers a round needs.

    A plan has the relocations and the blocks of a round, and the size of a block.
    """
    n_relocations, n_blocks, size = plan.tolist()
    return int(2 * n_relocations + n_variables + 3 * size * n_blocks)


@allocating_part
def _make_layering_scratch(n):
    """Return room for `relocate`."""
    return (
        np.empty((4, n)),
        np.empty((4, n + 2)),
        np.empty(n + 2, dtype=np.int64),
        np.empty(n + 2),
        np.empty(2 * n + 3),
    )


@allocating_part
def _make_block_scratch(n, size, n_layerings):
    """Return room for `redraw_block`."""
    return (
        np.empty(n, dtype=np.int64),
        np.empty((size, 1 << size), dtype=np.int64),
        (np.empty(1 << size), np.empty(1 << size), np.empty(1 << size)),
        np.empty((size, 1 << size, 1 << size)),
        np.empty(n_layerings),
        np.empty(n, dtype=np.int64),
    )


@part
def _record(tables, choice, log_weight, r, records):
    """Record the log weight of a round and its DAG, which may be the best."""
    records.trace[r] = log_weight
    total = 0.0
    for v in range(len(choice)):
        records.dags[r, v] = choice[v]
        total += tables.weight[choice[v]]
    if total > records.best_weight[0]:
        records.best_weight[0] = total
        for v in range(len(choice)):
            records.best[v] = choice[v]


@allocating_part
def _redraw_blocks(tables, blocks, plan, choice, order, draws, scratch, counts):
    """Redraw random blocks of families of a DAG."""
    n_blocks, size = plan[1], plan[2]
    members = np.empty(size, dtype=np.int64)
    at = 0
    for _ in range(n_blocks):
        q = choose_block(tables, size, draws[at:], members)
        at += 2 * size - 1
        counts[BLOCK, 0] += 1
        if redraw_block(tables, blocks, choice, order, members, q, scratch, draws[at:]):
            counts[BLOCK, 1] += 1
        at += size + 1


@kernel((TABLES, BLOCKS, PLAN, NUMBERS, UNIFORMS, RECORDS))
def run_layerings(tables, blocks, plan, level, uniforms, records):
    """Run a chain over layerings for as many rounds as there are rows of random numbers.

    `level` is the layering; it is overwritten with the last one. Its weight must not be zero.
    """
    n, n_relocations, n_blocks = len(level), plan[0], plan[1]
    terms, counts = np.empty(n), np.empty(n + 1, dtype=np.int64)
    choice, order = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    scratch = _make_layering_scratch(n)
    block_scratch = _make_block_scratch(n, plan[2], len(blocks.earlier))
    n_layers = count_layers(level, counts)
    log_weight = compute_terms(tables, level, terms)
    for r in range(len(uniforms)):
        draws = uniforms[r]
        for i in range(n_relocations):
            v = int(draws[2 * i] * n)
            home, old_layers = level[v], n_layers
            n_layers, log_weight = relocate(
                tables, level, counts, n_layers, terms, scratch, v, draws[2 * i + 1]
            )
            records.counts[RELOCATION, 0] += 1
            if level[v] != home or n_layers != old_layers:
                records.counts[RELOCATION, 1] += 1
        at = 2 * n_relocations
        draw_dag(tables, level, terms, draws[at:], choice)
        if n_blocks > 0:
            sort_by_level(level, n_layers, order)
            _redraw_blocks(
                tables, blocks, plan, choice, order, draws[at + n :], block_scratch, records.counts
            )
            find_levels(tables, choice, order, level)
            n_layers = count_layers(level, counts)
            log_weight = compute_terms(tables, level, terms)
        add_layer_arcs(tables, level, terms, records.arcs)
        _record(tables, choice, log_weight, r, records)


@kernel((TABLES, PLAN, NUMBERS, UNIFORMS, RECORDS))
def run_orders(tables, plan, level, uniforms, records):
    """Run a chain over orders for as many rounds as there are rows of random numbers.

    `level` is the order; it is overwritten with the last one.
    """
    n, n_relocations = len(level), plan[0]
    terms, order, choice = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    scratch = (np.empty(n), np.empty(n), np.empty(n))
    sort_order(level, order)
    log_weight = compute_order_terms(tables, level, terms)
    for r in range(len(uniforms)):
        draws = uniforms[r]
        for i in range(n_relocations):
            v = int(draws[2 * i] * n)
            home = level[v]
            log_weight = relocate_in_order(
                tables, level, order, terms, scratch, v, draws[2 * i + 1]
            )
            records.counts[RELOCATION, 0] += 1
            if level[v] != home:
                records.counts[RELOCATION, 1] += 1
        draw_order_dag(tables, level, terms, draws[2 * n_relocations :], choice)
        add_order_arcs(tables, level, terms, records.arcs)
        _record(tables, choice, log_weight, r, records)
