"""The compiled part of the sums over all DAGs, layer by layer.

`coevo.posterior.exact_dags` explains the sums and why they may use plain floats. A set of
variables is a number: bit v says whether variable v is in it. A *state* is a pair of sets: the
variables of all layers so far, and those of all layers but the last, which are fewer. The number
of a state has one digit in base 3 for each variable: 0 if it is in no layer so far, 1 if it is in
an earlier layer, 2 if it is in the last layer.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import FLOAT, array_of, inline, kernel, part, tuple_of
from coevo.posterior.exact_kernels import remove_bit

__all__ = [
    "LayerTables",
    "draw_layers",
    "share_layerings",
    "sum_layerings",
]

SMALLEST = 1e-290  # a smaller share of a sum is dropped


class LayerTables(NamedTuple):
    """The sums over parent sets, in logs. The place of the child is left out of all sets."""

    sums: NDArray[np.float64]  # (n, 2^(n-1)), [v, S]: all parent sets of v within S
    # (n, n - 1, 2^(n-2)), [v, t, S]: the parent sets of v within S and t that contain t
    sums_with: NDArray[np.float64]
    powers: NDArray[np.int64]  # (2^n,), the sum of 3^v over the variables v of a set


class Scratch(NamedTuple):
    """Working memory of a sum over the next layers."""

    members: NDArray[np.int64]  # (n,), the variables of a set
    free: NDArray[np.int64]  # (n,), the other variables
    log_free: NDArray[np.float64]  # (n,), log sums of their parent sets within the set
    layers: NDArray[np.int64]  # (2^n,), the sets of free variables
    logs: NDArray[np.float64]  # (2^n,), the sums of `log_free` over these sets
    after: NDArray[np.float64]  # (2^n,), scaled weights of all that follows a layer
    work: NDArray[np.float64]  # (2^n,)
    subsets: NDArray[np.int64]  # (2^n,), the subsets of the set
    pieces: NDArray[np.float64]  # (2^n,), see `_fill_shares`
    shares: NDArray[np.float64]  # (2^n,)


TABLE, READ_TABLE = array_of(np.float64), array_of(np.float64, 1, True)
NUMBERS, READ_NUMBERS = array_of(np.int64), array_of(np.int64, 1, True)
TABLES = tuple_of(array_of(np.float64, 2), array_of(np.float64, 3), NUMBERS, kind=LayerTables)


@inline
def _make_scratch(n: Any) -> Any:
    """Return working memory for n variables."""
    size = 1 << n
    return Scratch(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size),
    )


@inline
def _find_lowest_bit(number: Any) -> Any:
    """Return the place of the lowest bit of a number that is not zero."""
    place = 0
    while not number >> place & 1:
        place += 1
    return place


@part
def _list_subsets(variables: Any, n: Any, sets: Any) -> None:
    """Overwrite `sets` with all sets of the first n variables, numbered by their places."""
    sets[0] = 0
    for j in range(n):
        for i in range(1 << j):
            sets[(1 << j) + i] = sets[i] | (1 << variables[j])


@part
def _split_variables(tables: Any, inside: Any, scratch: Any) -> Any:
    """List the members of a set and the free variables; return the number of each."""
    n_members, n_free = 0, 0
    for v in range(len(tables.sums)):
        if inside >> v & 1:
            scratch.members[n_members] = v
            n_members += 1
        else:
            scratch.free[n_free] = v
            scratch.log_free[n_free] = tables.sums[v, remove_bit(inside, v)]
            n_free += 1
    return n_members, n_free


@part
def _fill_after(tables: Any, states: Any, inside: Any, n_free: Any, scratch: Any) -> Any:
    """Overwrite ``after[i]`` with the scaled weight of layer i and all that follows it.

    Its variables may have any parents in the set `inside`. Return the log of the scale: the
    largest weight becomes 1.
    """
    layers, logs, after = scratch.layers, scratch.logs, scratch.after
    _list_subsets(scratch.free, n_free, layers)
    base, scale = tables.powers[inside], -np.inf
    logs[0], after[0] = 0.0, -np.inf
    for j in range(n_free):
        for i in range(1 << j):
            at = (1 << j) + i
            logs[at] = logs[i] + scratch.log_free[j]
            after[at] = logs[at] + states[base + 2 * tables.powers[layers[at]]]
            scale = max(scale, after[at])
    if scale > -np.inf:
        for i in range(1 << n_free):
            after[i] = math.exp(after[i] - scale)
    return scale


@inline
def _weigh_piece(tables: Any, v: Any, t: Any, parents: Any, log_free: Any) -> Any:
    """Return the share of the parent sets of v within `parents` that contain t."""
    place = t - 1 if t > v else t
    number = remove_bit(remove_bit(parents, v) ^ (1 << place), place)
    return math.exp(tables.sums_with[v, place, number] - log_free)


@part
def _fill_shares(tables: Any, n_members: Any, n_free: Any, scratch: Any) -> None:
    """Overwrite ``shares[r * n_free + j]``: what free variable j needs if r is all but one layer.

    It is the share of its parent sets that are no subsets of r. Let t be the first member that
    is not in r. A set that is no subset of r is no subset of r and t, or it is within r and t
    and contains t (`pieces`).
    """
    shares, pieces, subsets = scratch.shares, scratch.pieces, scratch.subsets
    _list_subsets(scratch.members, n_members, subsets)
    last = (1 << n_members) - 1
    for j in range(n_free):
        shares[last * n_free + j] = 0.0
    for r in range(last - 1, -1, -1):
        larger = r | (r + 1)
        t = scratch.members[_find_lowest_bit(r + 1)]
        for j in range(n_free):
            v, log_free = scratch.free[j], scratch.log_free[j]
            piece = 0.0
            if log_free > -np.inf:
                piece = _weigh_piece(tables, v, t, subsets[larger], log_free)
            pieces[r * n_free + j] = piece
            shares[r * n_free + j] = shares[larger * n_free + j] + piece


@part
def _sum_next(after: Any, shares: Any, n_free: Any, work: Any) -> Any:
    """Return the sum over all next layers: one variable after the other is in it or not."""
    half = 1 << (n_free - 1)
    share = shares[n_free - 1]
    for i in range(half):
        work[i] = after[i] + share * after[half + i]
    for j in range(n_free - 2, -1, -1):
        half = 1 << j
        share = shares[j]
        low, high = work[:half], work[half : 2 * half]
        for i in range(half):
            low[i] += share * high[i]
    return work[0]


@kernel((TABLES, TABLE, TABLE))
def sum_layerings(tables: Any, states: Any, scales: Any) -> Any:
    """Return the log of the sum of the weights of all DAGs.

    ``states[s]`` is overwritten with the log weight of all that can follow state s, and
    ``scales[U]`` with the scale of the sums over the layers that follow the set U.
    """
    n = len(tables.sums)
    powers = tables.powers
    scratch = _make_scratch(n)
    every = (1 << n) - 1
    log_total = -np.inf
    for inside in range(every, -1, -1):
        n_members, n_free = _split_variables(tables, inside, scratch)
        scale = 0.0
        if n_free > 0:
            scale = _fill_after(tables, states, inside, n_free, scratch)
        scales[inside] = scale
        if inside == 0:
            if scale > -np.inf:
                for j in range(n_free):
                    scratch.shares[j] = 1.0
                total = _sum_next(scratch.after, scratch.shares, n_free, scratch.work)
                log_total = scale + math.log(total)
            continue
        _fill_shares(tables, n_members, n_free, scratch)
        for r in range((1 << n_members) - 1):
            value = scale
            if n_free > 0 and scale > -np.inf:
                shares = scratch.shares[r * n_free : (r + 1) * n_free]
                total = _sum_next(scratch.after, shares, n_free, scratch.work)
                value = scale + math.log(total) if total > SMALLEST else -np.inf
            states[2 * powers[inside] - powers[scratch.subsets[r]]] = value
    return log_total


@part
def _spread(first: Any, shares: Any, n_free: Any, work: Any) -> None:
    """Overwrite ``work[i]`` with `first` times the product of the shares of layer i."""
    work[0] = first
    for j in range(n_free):
        half = 1 << j
        share = shares[j]
        low, high = work[:half], work[half : 2 * half]
        for i in range(half):
            high[i] = share * low[i]


@part
def _sum_memberships(work: Any, n_free: Any, shares: Any, adjoints: Any) -> None:
    """Overwrite ``adjoints[j]``: the probability that j is in the layer, divided by its share.

    ``work[i]`` is the probability of layer i; it is overwritten.
    """
    for j in range(n_free - 1, -1, -1):
        half = 1 << j
        low, high = work[:half], work[half : 2 * half]
        total = 0.0
        for i in range(half):
            total += high[i]
            low[i] += high[i]
        adjoints[j] = total / shares[j] if shares[j] > 0.0 else 0.0


@part
def _share_pieces(tables: Any, n_members: Any, n_free: Any, scratch: Any, found: Any) -> None:
    """Add the probability of each piece to ``found[v, t, S]``; `shares` holds the adjoints."""
    pieces, adjoints = scratch.pieces, scratch.shares
    for r in range((1 << n_members) - 1):
        larger = r | (r + 1)
        t = scratch.members[_find_lowest_bit(r + 1)]
        parents = scratch.subsets[larger]
        for j in range(n_free):
            v, adjoint = scratch.free[j], adjoints[r * n_free + j]
            if adjoint > 0.0:
                place = t - 1 if t > v else t
                number = remove_bit(remove_bit(parents, v) ^ (1 << place), place)
                found[v, place, number] += adjoint * pieces[r * n_free + j]
                adjoints[larger * n_free + j] += adjoint


@part
def _visit_set(tables: Any, states: Any, inside: Any, counts: Any, scratch: Any, found: Any) -> Any:
    """Return the sum over the states of a set of the factors of each next layer.

    The shares are replaced by adjoints, and the probabilities of the parents are added to
    `found`.
    """
    n_members, n_free = counts
    powers, size = tables.powers, 1 << n_free
    sums = np.zeros(size)
    adjoints = np.empty(n_free)
    _fill_shares(tables, n_members, n_free, scratch)
    for r in range((1 << n_members) - 1):
        shares = scratch.shares[r * n_free : (r + 1) * n_free]
        first = states[2 * powers[inside] - powers[scratch.subsets[r]]]
        if first > 0.0:
            _spread(first, shares, n_free, scratch.work)
            for i in range(size):
                sums[i] += scratch.work[i]
                scratch.work[i] *= scratch.after[i]
            _sum_memberships(scratch.work, n_free, shares, adjoints)
        for j in range(n_free):
            shares[j] = adjoints[j] if first > 0.0 else 0.0
    _share_pieces(tables, n_members, n_free, scratch, found)
    return sums


@kernel((TABLES, TABLE, READ_TABLE, FLOAT, array_of(np.float64, 3)))
def share_layerings(tables: Any, states: Any, scales: Any, log_total: Any, found: Any) -> None:
    """Add to ``found[v, t, S]`` the probability that v has parents within S and t, with t.

    S lacks the place of t and the place of v. These events exclude each other: each state
    and each child has one. `states`, `scales` and `log_total` come from `sum_layerings`.
    `states` is overwritten: its new entries are the weights of all that leads to a state, times
    the scale of what follows.
    """
    n = len(tables.sums)
    powers = tables.powers
    scratch = _make_scratch(n)
    for inside in range((1 << n) - 1):
        if scales[inside] == -np.inf:
            continue
        n_members, n_free = _split_variables(tables, inside, scratch)
        scale = _fill_after(tables, states, inside, n_free, scratch)
        if inside == 0:
            sums = np.full(1 << n_free, math.exp(scale - log_total))
        else:
            sums = _visit_set(tables, states, inside, (n_members, n_free), scratch, found)
        for i in range(1, 1 << n_free):
            layer = scratch.layers[i]
            state = powers[inside] + 2 * powers[layer]
            log_factor = scales[inside | layer] + scratch.logs[i] - scale
            is_possible = sums[i] > 0.0 and states[state] > -np.inf and log_factor > -np.inf
            states[state] = math.exp(math.log(sums[i]) + log_factor) if is_possible else 0.0


@part
def _fill_one_share(tables: Any, n_free: Any, last: Any, earlier: Any, scratch: Any) -> None:
    """Overwrite ``shares[j]`` for one state: the set of the last layer, and of all earlier."""
    for j in range(n_free):
        v, log_free = scratch.free[j], scratch.log_free[j]
        parents, share = earlier, 0.0
        for t in range(len(tables.sums)):
            if last >> t & 1 and log_free > -np.inf:
                parents |= 1 << t
                share += _weigh_piece(tables, v, t, parents, log_free)
        scratch.shares[j] = share


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
    scratch = _make_scratch(len(tables.sums))
    work = scratch.work
    n_free = 0
    inside, earlier = np.int64(-1), np.int64(-1)
    for draw in sequence:
        if reached[draw, 0] != inside or reached[draw, 1] != earlier:
            inside, earlier = reached[draw, 0], reached[draw, 1]
            n_free = _split_variables(tables, inside, scratch)[1]
            _fill_after(tables, states, inside, n_free, scratch)
            _fill_one_share(tables, n_free, inside ^ earlier, earlier, scratch)
            if inside == 0:
                for j in range(n_free):
                    scratch.shares[j] = 1.0
            _spread(1.0, scratch.shares, n_free, work)
            work[0] = 0.0
            for i in range(1, 1 << n_free):
                work[i] = work[i - 1] + work[i] * scratch.after[i]
        size = 1 << n_free
        layer = scratch.layers[_find_place(work, size, lots[draw] * work[size - 1])]
        for j in range(n_free):
            if layer >> scratch.free[j] & 1:
                log_share = math.log(scratch.shares[j])
                log_totals[draw, scratch.free[j]] = scratch.log_free[j] + log_share
        reached[draw, 1] = inside
        reached[draw, 0] = inside | layer
