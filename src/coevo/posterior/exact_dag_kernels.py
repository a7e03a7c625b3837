"""The compiled part of the sums over all DAGs, layer by layer.

`coevo.posterior.exact_dags` explains the sums and why they may use plain floats. A set of
variables is a number: bit v says whether variable v is in it. A *state* is a pair of sets: the
variables of all layers so far, and those of all layers but the last, which are fewer. The number
of a state has one digit in base 3 for each variable: 0 if it is in no layer so far, 1 if it is in
an earlier layer, 2 if it is in the last layer.

For one set of all layers so far, the kernels go through its subsets, the possible earlier layers,
in blocks of four: processors add and multiply four floats at once.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import INT, array_of, inline, kernel, part, tuple_of
from coevo.posterior.exact_kernels import remove_bit

__all__ = [
    "LayerTables",
    "draw_layers",
    "share_layerings",
    "sum_layerings",
]

NEGLIGIBLE = 1e-50  # a smaller share of a sum is dropped: see `coevo.posterior.exact_dags`
NEGLIGIBLE_LOG = math.log(NEGLIGIBLE)


class LayerTables(NamedTuple):
    """The sums over parent sets. The place of the child is left out of all sets."""

    sums: NDArray[np.float64]  # (n, 2^(n-1)), [v, S]: log of the sum of all parent sets within S
    # (n, n - 1, 2^(n-2), 2), [v, t, S]: of the weight of all parent sets of v within S + t,
    # the share of the sets with t, and the share of the sets without t; no logs
    steps: NDArray[np.float64]
    powers: NDArray[np.int64]  # (2^n,), the sum of 3^v over the variables v of a set


class Scratch(NamedTuple):
    """Working memory for one set U: its members, and the free variables outside it."""

    members: NDArray[np.int64]  # (n,), the variables of U
    free: NDArray[np.int64]  # (n,), the other variables
    log_free: NDArray[np.float64]  # (n,), log sums of their parent sets within U
    subsets: NDArray[np.int64]  # (2^n,), the subsets of U
    layers: NDArray[np.int64]  # (2^n,), the sets of free variables
    logs: NDArray[np.float64]  # (2^n,), the sums of `log_free` over these sets
    after: NDArray[np.float64]  # (2^n,), scaled weights of all that follows a layer
    work: NDArray[np.float64]  # (2^n * 4,)
    totals: NDArray[np.float64]  # (2^n * 4,)
    rests: NDArray[np.float64]  # (2^n,), shares of the parent sets within a subset of U
    shares: NDArray[np.float64]  # (2^n,), shares of the others, see `_fill_shares`
    pieces: NDArray[np.float64]  # (2^n,)


TABLE, READ_TABLE = array_of(np.float64), array_of(np.float64, 1, True)
NUMBERS, READ_NUMBERS = array_of(np.int64), array_of(np.int64, 1, True)
TABLES = tuple_of(array_of(np.float64, 2), array_of(np.float64, 4), NUMBERS, kind=LayerTables)


@part
def _make_scratch(n: Any) -> Any:
    """Return working memory for n variables."""
    size = 1 << n
    return Scratch(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size),
        np.empty(4 * size),
        np.empty(4 * size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
    )


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
            log_share = after[i] - scale
            after[i] = math.exp(log_share) if log_share > NEGLIGIBLE_LOG else 0.0
    return scale


@inline
def _find_first_missing(number: Any) -> Any:
    """Return the lowest place with a zero bit."""
    place = 0
    while number >> place & 1:
        place += 1
    return place


@part
def _fill_shares(tables: Any, n_members: Any, n_free: Any, size: Any, scratch: Any) -> None:
    """Overwrite ``shares[j * size + r]``: the part of the parent sets that are no subsets of r.

    They are the parents that free variable j may have if r is the set of all earlier layers. Let
    t be the first member that is not in r. A set that is no subset of r is no subset of r and t,
    or it is within r and t and contains t (`pieces`).
    """
    shares, pieces, rests = scratch.shares, scratch.pieces, scratch.rests
    subsets, steps = scratch.subsets, tables.steps
    _list_subsets(scratch.members, n_members, subsets)
    last = (1 << n_members) - 1
    for j in range(n_free):
        v, base = scratch.free[j], j * size
        rests[last] = 1.0
        for r in range(last, size):  # a block of four may be larger than all subsets
            shares[base + r] = 0.0
        for r in range(last - 1, -1, -1):
            larger = r | (r + 1)
            t = scratch.members[_find_first_missing(r)]
            place = t - 1 if t > v else t
            number = remove_bit(remove_bit(subsets[r], v), place)
            piece = rests[larger] * steps[v, place, number, 0]
            piece = piece if piece > NEGLIGIBLE else 0.0
            rest = rests[larger] * steps[v, place, number, 1]
            rests[r] = rest if rest > NEGLIGIBLE else 0.0
            pieces[base + r] = piece
            shares[base + r] = shares[base + larger] + piece


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
        scale = _fill_after(tables, states, inside, n_free, scratch)
    _fill_shares(tables, n_members, n_free, size, scratch)
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
    scratch = _make_scratch(n)
    for inside in range(end - 1, max(begin, 1) - 1, -1):
        counts = _split_variables(tables, inside, scratch)
        scales[inside] = _sum_after_set(tables, states, inside, counts, scratch)
    if begin > 0:
        return np.nan
    _split_variables(tables, 0, scratch)
    scales[0] = _fill_after(tables, states, 0, n, scratch)
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
    of all smaller sets that lead to r in `_fill_shares`.
    """
    pieces, factors = scratch.pieces, scratch.shares
    for j in range(n_free):
        v, base = scratch.free[j], j * size
        for r in range((1 << n_members) - 1):
            factor = factors[base + r]
            if factor > 0.0:
                t = scratch.members[_find_first_missing(r)]
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
    _fill_shares(tables, n_members, n_free, size, scratch)
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
    scratch = _make_scratch(n)
    for inside in range(begin, min(end, (1 << n) - 1)):
        counts = _split_variables(tables, inside, scratch)
        n_layers, totals = 1 << counts[1], scratch.totals
        scale = _fill_after(tables, states, inside, counts[1], scratch)
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
    scratch = _make_scratch(len(tables.sums))
    n_free = 0
    inside, earlier = np.int64(-1), np.int64(-1)
    for draw in sequence:
        if reached[draw, 0] != inside or reached[draw, 1] != earlier:
            inside, earlier = reached[draw, 0], reached[draw, 1]
            n_free = _split_variables(tables, inside, scratch)[1]
            _fill_after(tables, states, inside, n_free, scratch)
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
