"""The compiled parts that all sums over the layers of DAGs share.

`coevo.averaging.exact_dags` explains the sums and why they may use plain floats. A set of
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

from coevo.averaging.exact_kernels import remove_bit
from coevo.jit import allocating_part, array_of, inline, part, tuple_of

__all__ = [
    "NEGLIGIBLE",
    "NEGLIGIBLE_LOG",
    "TABLES",
    "LayerTables",
    "Scratch",
    "fill_after",
    "fill_shares",
    "find_first_missing",
    "make_scratch",
    "split_variables",
]

NEGLIGIBLE = 1e-50  # a smaller share of a sum is dropped: see `coevo.averaging.exact_dags`
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
    shares: NDArray[np.float64]  # (2^n,), shares of the others, see `fill_shares`
    pieces: NDArray[np.float64]  # (2^n,)


TABLES = tuple_of(
    array_of(np.float64, 2), array_of(np.float64, 4), array_of(np.int64), kind=LayerTables
)


@allocating_part
def make_scratch(n: Any) -> Any:
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
def split_variables(tables: Any, inside: Any, scratch: Any) -> Any:
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
def fill_after(tables: Any, states: Any, inside: Any, n_free: Any, scratch: Any) -> Any:
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
def find_first_missing(number: Any) -> Any:
    """Return the lowest place with a zero bit."""
    place = 0
    while number >> place & 1:
        place += 1
    return place


@part
def fill_shares(tables: Any, n_members: Any, n_free: Any, size: Any, scratch: Any) -> None:
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
            t = scratch.members[find_first_missing(r)]
            place = t - 1 if t > v else t
            number = remove_bit(remove_bit(subsets[r], v), place)
            piece = rests[larger] * steps[v, place, number, 0]
            piece = piece if piece > NEGLIGIBLE else 0.0
            rest = rests[larger] * steps[v, place, number, 1]
            rests[r] = rest if rest > NEGLIGIBLE else 0.0
            pieces[base + r] = piece
            shares[base + r] = shares[base + larger] + piece
