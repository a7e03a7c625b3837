"""The compiled part of drawing DAGs layer by layer.

`coevo.averaging.exact_dags` explains the sums, and `coevo.averaging.exact_layer_kernels` how sets
and states are numbered. Kernels never draw: random numbers come as an array.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coevo.averaging.exact_kernels import remove_bit
from coevo.averaging.exact_layer_kernels import (
    TABLES,
    fill_after,
    make_scratch,
    split_variables,
)
from coevo.jit import array_of, kernel, part

__all__ = ["draw_layers"]

READ_TABLE, READ_NUMBERS = array_of(np.float64, 1, True), array_of(np.int64, 1, True)


@part
def _fill_one_share(tables: Any, n_free: Any, inside: Any, earlier: Any, scratch: Any) -> None:
    """Overwrite ``shares[j]`` for one state; for the first layer, all are 1."""
    for j in range(n_free):
        v, subset = scratch.free[j], inside
        share, rest = (1.0 if inside == 0 else 0.0), 1.0
        for t in range(len(tables.sums) - 1, -1, -1):
            if (inside ^ earlier) >> t & 1:
                subset ^= 1 << t
                place = t - 1 if t > v else t
                number = remove_bit(remove_bit(subset, v), place)
                share += rest * tables.steps[v, place, number, 0]
                rest *= tables.steps[v, place, number, 1]
        scratch.shares[j] = share


@part
def _cumulate_layers(n_free: Any, scratch: Any) -> None:
    """Overwrite ``work[i]`` with the sum of the weights of the layers up to i."""
    work = scratch.work
    work[0] = 1.0
    for j in range(n_free):
        for i in range(1 << j):
            work[(1 << j) + i] = scratch.shares[j] * work[i]
    work[0] = 0.0
    for i in range(1, 1 << n_free):
        work[i] = work[i - 1] + work[i] * scratch.after[i]


@part
def _find_place(cumulated: Any, size: Any, target: Any) -> Any:
    """Return the first place whose cumulated weight is above the target, or the last heavy one."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if cumulated[middle] > target:
            high = middle
        else:
            low = middle + 1
    while low > 1 and cumulated[low] == cumulated[low - 1]:
        low -= 1
    return low


@kernel(
    (
        TABLES,
        READ_TABLE,
        READ_NUMBERS,
        array_of(np.int64, 2),
        READ_TABLE,
        array_of(np.float64, 2),
    )
)
def draw_layers(
    tables: Any, states: Any, sequence: Any, reached: Any, lots: Any, log_totals: Any
) -> None:
    """Draw the next layer of each draw, and add it to its state.

    ``reached[draw]`` has the variables of all layers, and those of all layers but the last; both
    are zero in the beginning. `sequence` lists the draws, those in the same state together.
    ``log_totals[draw, v]`` is overwritten with the log weight of all possible parent sets of v,
    for each v in the new layer.
    """
    scratch = make_scratch(len(tables.sums))
    n_free = 0
    inside, earlier = np.int64(-1), np.int64(-1)
    for draw in sequence:
        if reached[draw, 0] != inside or reached[draw, 1] != earlier:
            inside, earlier = reached[draw, 0], reached[draw, 1]
            n_free = split_variables(tables, inside, scratch)[1]
            fill_after(tables, states, inside, n_free, scratch)
            _fill_one_share(tables, n_free, inside, earlier, scratch)
            _cumulate_layers(n_free, scratch)
        size = 1 << n_free
        target = lots[draw] * scratch.work[size - 1]
        layer = scratch.layers[_find_place(scratch.work, size, target)]
        for j in range(n_free):
            if layer >> scratch.free[j] & 1:
                log_share = math.log(scratch.shares[j])
                log_totals[draw, scratch.free[j]] = scratch.log_free[j] + log_share
        reached[draw, 1] = inside
        reached[draw, 0] = inside | layer
