"""The compiled part of the sums over all DAGs, layer by layer.

`coevo.averaging.exact_dags` explains the sums, and `coevo.averaging.exact_layer_kernels` how sets
and states are numbered. For one set of all layers so far, the kernels go through its subsets, the
possible earlier layers, in blocks of four: processors add and multiply four floats at once.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from coevo.averaging.exact_kernels import remove_bit
from coevo.averaging.exact_layer_kernels import (
    NEGLIGIBLE,
    NEGLIGIBLE_LOG,
    TABLES,
    fill_after,
    fill_shares,
    find_first_missing,
    make_scratch,
    split_variables,
)
from coevo.jit import INT, array_of, kernel, part

__all__ = ["share_layerings", "sum_layerings"]

TABLE, READ_TABLE = array_of(np.float64), array_of(np.float64, 1, True)


@part
def _sum_block(after: Any, shares: Any, size: Any, n_free: Any, r: Any, work: Any) -> None:
    """Overwrite ``work[:4]`` with the sums over all next layers, for subsets r to r + 3.

    One free variable after the other is in the layer or not.
    """
    half = 1 << (n_free - 1)
    at = (n_free - 1) * size + r
    s0, s1, s2, s3 = shares[at], shares[at + 1], shares[at + 2], shares[at + 3]
    for i in range(half):
        without, within = after[i], after[half + i]
        work[4 * i] = without + s0 * within
        work[4 * i + 1] = without + s1 * within
        work[4 * i + 2] = without + s2 * within
        work[4 * i + 3] = without + s3 * within
    for j in range(n_free - 2, -1, -1):
        at = j * size + r
        s0, s1, s2, s3 = shares[at], shares[at + 1], shares[at + 2], shares[at + 3]
        for low in range(0, 4 << j, 4):
            high = low + (4 << j)
            a0, a1, a2, a3 = work[low], work[low + 1], work[low + 2], work[low + 3]
            b0, b1, b2, b3 = work[high], work[high + 1], work[high + 2], work[high + 3]
            work[low] = a0 + s0 * b0
            work[low + 1] = a1 + s1 * b1
            work[low + 2] = a2 + s2 * b2
            work[low + 3] = a3 + s3 * b3


@part
def _sum_after_set(tables: Any, states: Any, inside: Any, counts: Any, scratch: Any) -> Any:
    """Overwrite the entries of all states of one set; return the log of the scale."""
    n_members, n_free = counts
    scale, powers, work = 0.0, tables.powers, scratch.work
    n_subsets = 1 << n_members
    size = max(n_subsets, 4)
    if n_free > 0:
        scale = fill_after(tables, states, inside, n_free, scratch)
    fill_shares(tables, n_members, n_free, size, scratch)
    for r in range(0, n_subsets, 4):
        if n_free > 0 and scale > -np.inf:
            _sum_block(scratch.after, scratch.shares, size, n_free, r, work)
        else:
            work[0] = work[1] = work[2] = work[3] = 1.0
        for i in range(min(4, n_subsets - r)):
            if r + i < n_subsets - 1:
                value = scale + math.log(work[i]) if work[i] > NEGLIGIBLE else -np.inf
                states[2 * powers[inside] - powers[scratch.subsets[r + i]]] = value
    return scale


@kernel((TABLES, INT, INT, TABLE, TABLE))
def sum_layerings(tables: Any, begin: Any, end: Any, states: Any, scales: Any) -> Any:
    """Sum up what follows the sets from `end` - 1 down to `begin`; larger ones were done before.

    ``states[s]`` is overwritten with the log weight of all that can follow state s, and
    ``scales[U]`` with the log of the scale of the sums over the layers that follow the set U.
    Return the log of the sum of the weights of all DAGs if `begin` is 0, else nan.
    """
    n = len(tables.sums)
    scratch = make_scratch(n)
    for inside in range(end - 1, max(begin, 1) - 1, -1):
        counts = split_variables(tables, inside, scratch)
        scales[inside] = _sum_after_set(tables, states, inside, counts, scratch)
    if begin > 0:
        return np.nan
    split_variables(tables, 0, scratch)
    scales[0] = fill_after(tables, states, 0, n, scratch)
    if scales[0] == -np.inf:
        return -np.inf
    total = 0.0
    for i in range(1 << n):
        total += scratch.after[i]
    return scales[0] + math.log(total)


@part
def _spread_block(shares: Any, size: Any, n_free: Any, r: Any, work: Any) -> None:
    """Overwrite ``work[4 * i : 4 * i + 4]`` with the products of the shares of layer i.

    They are multiplied by ``work[:4]``.
    """
    for j in range(n_free):
        at = j * size + r
        s0, s1, s2, s3 = shares[at], shares[at + 1], shares[at + 2], shares[at + 3]
        for low in range(0, 4 << j, 4):
            high = low + (4 << j)
            a0, a1, a2, a3 = work[low], work[low + 1], work[low + 2], work[low + 3]
            work[high] = s0 * a0
            work[high + 1] = s1 * a1
            work[high + 2] = s2 * a2
            work[high + 3] = s3 * a3


@part
def _add_block(after: Any, work: Any, totals: Any) -> None:
    """Add `work` to `totals`, and multiply it by the weights of all that follows each layer."""
    for i in range(len(after)):
        at, factor = 4 * i, after[i]
        a0, a1, a2, a3 = work[at], work[at + 1], work[at + 2], work[at + 3]
        b0, b1, b2, b3 = totals[at], totals[at + 1], totals[at + 2], totals[at + 3]
        totals[at] = b0 + a0
        totals[at + 1] = b1 + a1
        totals[at + 2] = b2 + a2
        totals[at + 3] = b3 + a3
        work[at] = a0 * factor
        work[at + 1] = a1 * factor
        work[at + 2] = a2 * factor
        work[at + 3] = a3 * factor


@part
def _replace_shares(work: Any, size: Any, n_free: Any, r: Any, shares: Any) -> None:
    """Replace each share by the probability that its variable is in the layer, divided by it.

    `work` has the probabilities of all layers, in blocks of four; it is overwritten.
    """
    for j in range(n_free - 1, -1, -1):
        t0 = t1 = t2 = t3 = 0.0
        for low in range(0, 4 << j, 4):
            high = low + (4 << j)
            a0, a1, a2, a3 = work[low], work[low + 1], work[low + 2], work[low + 3]
            b0, b1, b2, b3 = work[high], work[high + 1], work[high + 2], work[high + 3]
            work[low] = a0 + b0
            work[low + 1] = a1 + b1
            work[low + 2] = a2 + b2
            work[low + 3] = a3 + b3
            t0 += b0
            t1 += b1
            t2 += b2
            t3 += b3
        at = j * size + r
        shares[at] = t0 / shares[at] if t0 > 0.0 else 0.0
        shares[at + 1] = t1 / shares[at + 1] if t1 > 0.0 else 0.0
        shares[at + 2] = t2 / shares[at + 2] if t2 > 0.0 else 0.0
        shares[at + 3] = t3 / shares[at + 3] if t3 > 0.0 else 0.0


@part
def _share_pieces(n_members: Any, n_free: Any, size: Any, scratch: Any, found: Any) -> None:
    """Add the probability of each piece to ``found[v, t, S]``.

    `shares` holds what `_replace_shares` wrote. A piece of r belongs to the parent sets of r, and
    of all smaller sets that lead to r in `fill_shares`.
    """
    pieces, factors = scratch.pieces, scratch.shares
    for j in range(n_free):
        v, base = scratch.free[j], j * size
        for r in range((1 << n_members) - 1):
            factor = factors[base + r]
            if factor > 0.0:
                t = scratch.members[find_first_missing(r)]
                place = t - 1 if t > v else t
                number = remove_bit(remove_bit(scratch.subsets[r], v), place)
                found[v, place, number] += factor * pieces[base + r]
                factors[base + (r | (r + 1))] += factor


@part
def _visit_set(
    tables: Any, states: Any, inside: Any, counts: Any, scratch: Any, found: Any
) -> None:
    """Overwrite `totals` with the factors of each next layer, summed over the states of a set.

    The probabilities of the pieces are added to `found`.
    """
    n_members, n_free = counts
    powers, work, n_subsets = tables.powers, scratch.work, 1 << n_members
    size, after = max(n_subsets, 4), scratch.after[: 1 << n_free]
    for i in range(4 << n_free):
        scratch.totals[i] = 0.0
    fill_shares(tables, n_members, n_free, size, scratch)
    for r in range(0, n_subsets, 4):
        highest = 0.0
        for i in range(4):
            work[i] = 0.0
            if r + i < n_subsets - 1:
                work[i] = states[2 * powers[inside] - powers[scratch.subsets[r + i]]]
            highest = max(highest, work[i])
        if highest > 0.0:
            _spread_block(scratch.shares, size, n_free, r, work)
            _add_block(after, work, scratch.totals)
            _replace_shares(work, size, n_free, r, scratch.shares)
        else:
            for j in range(n_free):
                for i in range(4):
                    scratch.shares[j * size + r + i] = 0.0
    _share_pieces(n_members, n_free, size, scratch, found)


@kernel((TABLES, INT, INT, TABLE, READ_TABLE, array_of(np.float64, 3)))
def share_layerings(
    tables: Any, begin: Any, end: Any, states: Any, scales: Any, found: Any
) -> None:
    """Add to ``found[v, t, S]`` the probability that v has parents within S + t, with t.

    Visit the sets from `begin` to `end` - 1; smaller ones were visited before.

    These events exclude each other: the variables of S + t are in the earlier layers of v, or in
    the last one before it and not after t. `states` and `scales` come from `sum_layerings`.
    `states` is overwritten: its new entries are the weights of all that leads to a state, times
    the scale of what follows it.
    """
    n = len(tables.sums)
    powers = tables.powers
    scratch = make_scratch(n)
    for inside in range(begin, min(end, (1 << n) - 1)):
        counts = split_variables(tables, inside, scratch)
        n_layers, totals = 1 << counts[1], scratch.totals
        scale = fill_after(tables, states, inside, counts[1], scratch)
        if inside > 0:
            _visit_set(tables, states, inside, counts, scratch, found)
        else:
            total = 0.0
            for i in range(n_layers):
                total += scratch.after[i]
            for i in range(4 * n_layers):
                totals[i] = 0.25 / total
        for i in range(1, n_layers):
            total = totals[4 * i] + totals[4 * i + 1] + totals[4 * i + 2] + totals[4 * i + 3]
            layer = scratch.layers[i]
            state = powers[inside] + 2 * powers[layer]
            log_factor = scales[inside | layer] + scratch.logs[i] - scale
            is_possible = total > 0.0 and states[state] > -np.inf and log_factor > -np.inf
            log_weight = math.log(total) + log_factor if is_possible else -np.inf
            states[state] = math.exp(log_weight) if log_weight > NEGLIGIBLE_LOG else 0.0
