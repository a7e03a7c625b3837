"""Drawing missing cells from what a structure says of them, one at a time, with live counts.

A completion of a table has a probability under a structure: that of all its rows, with the
tables of the network averaged over their prior. It is the exponential of a score. A sweep
draws each missing cell anew given all other cells of the table; so completions are visited
as often as they are probable (Gibbs sampling with the tables integrated out). The counts of
all families are kept beside the codes: a cell that changes moves one row between two places
of the tables of its own family and of its children's, and nothing is counted again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import inline, kernel

__all__ = ["Tables", "add_rows", "climb_cells", "draw_cells"]


SMALLEST_WEIGHT = 1e-100  # of the most probable state, before weights are brought back to 1


class Tables(NamedTuple):
    """The families of a structure and their counts, one table after another.

    The table of v begins at ``first[v]`` in `counts` and ``first_margin[v]`` in `margins`
    (rows by configuration of the parents). The state of the child varies fastest.
    """

    arity: NDArray[np.int64]  # (n,)
    prior: NDArray[np.float64]  # (n,), imagined rows in each cell
    start: NDArray[np.int64]  # (n + 1,), of the parents of v in `parents`
    parents: NDArray[np.int64]
    stride: NDArray[np.int64]  # of each parent in the table of its child
    child_start: NDArray[np.int64]  # (n + 1,), of the children of v in `children`
    children: NDArray[np.int64]
    child_stride: NDArray[np.int64]  # of v in the table of each of its children
    first: NDArray[np.int64]  # (n,)
    first_margin: NDArray[np.int64]  # (n,)
    counts: NDArray[np.int64]
    margins: NDArray[np.int64]


@inline
def _place(tables, codes, v, row):
    """Return the cell of a row in the table of v, counted from the table's first."""
    cell = np.int64(codes[v, row])
    for i in range(tables.start[v], tables.start[v + 1]):
        cell += tables.stride[i] * codes[tables.parents[i], row]
    return cell


@kernel
def add_rows(tables, codes):
    """Count all rows into the tables, which are empty."""
    for v in range(len(tables.arity)):
        for row in range(codes.shape[1]):
            cell = _place(tables, codes, v, row)
            tables.counts[tables.first[v] + cell] += 1
            tables.margins[tables.first_margin[v] + cell // tables.arity[v]] += 1


@inline
def _move(tables, codes, v, row, old, new):
    """Move a row from one state of v to another in all tables that have v."""
    own = tables.first[v] + _place(tables, codes, v, row) - np.int64(codes[v, row])
    tables.counts[own + old] -= 1
    tables.counts[own + new] += 1
    for i in range(tables.child_start[v], tables.child_start[v + 1]):
        child, stride = tables.children[i], tables.child_stride[i]
        base = _place(tables, codes, child, row) - stride * np.int64(codes[v, row])
        margin, arity = tables.first_margin[child], tables.arity[child]
        tables.counts[tables.first[child] + base + stride * old] -= 1
        tables.counts[tables.first[child] + base + stride * new] += 1
        tables.margins[margin + (base + stride * old) // arity] -= 1
        tables.margins[margin + (base + stride * new) // arity] += 1
    codes[v, row] = new


@inline
def _weigh(tables, codes, v, row, weights):
    """Overwrite `weights` with how probable each state of a cell is, given all other cells.

    They are not normalised. The row itself does not count.
    """
    now = np.int64(codes[v, row])
    own = tables.first[v] + _place(tables, codes, v, row) - now
    for state in range(tables.arity[v]):
        weights[state] = tables.counts[own + state] - (state == now) + tables.prior[v]
    for i in range(tables.child_start[v], tables.child_start[v + 1]):
        child, stride = tables.children[i], tables.child_stride[i]
        base = _place(tables, codes, child, row) - stride * now
        first, margin = tables.first[child], tables.first_margin[child]
        arity, prior = tables.arity[child], tables.prior[child]
        highest = 0.0
        for state in range(tables.arity[v]):
            itself = 1 if state == now else 0
            cell = base + stride * state
            rows = tables.counts[first + cell] - itself + prior
            weights[state] *= rows / (
                tables.margins[margin + cell // arity] - itself + prior * arity
            )
            highest = max(highest, weights[state])
        if highest < SMALLEST_WEIGHT:  # many children would make zeros of all of them
            for state in range(tables.arity[v]):
                weights[state] /= highest


@kernel
def draw_cells(tables, codes, variables, rows, draws, seen):
    """Draw each missing cell anew; add to ``seen[cell]`` how probable its states were.

    `draws` has a number from 0 to 1 for each cell. Without rows, `seen` is left alone.
    """
    weights = np.empty(tables.arity.max())
    for i in range(len(rows)):
        v, row = np.int64(variables[i]), np.int64(rows[i])
        _weigh(tables, codes, v, row, weights)
        arity = tables.arity[v]
        total = 0.0
        for state in range(arity):
            total += weights[state]
        left = draws[i] * total
        chosen = arity - 1
        for state in range(arity - 1):
            left -= weights[state]
            if left < 0:
                chosen = state
                break
        if len(seen):
            for state in range(arity):
                seen[i, state] += weights[state] / total
        if chosen != codes[v, row]:
            _move(tables, codes, v, row, np.int64(codes[v, row]), np.int64(chosen))


@kernel
def climb_cells(tables, codes, variables, rows):
    """Give each missing cell its most probable state; return how many have changed."""
    weights = np.empty(tables.arity.max())
    n_changed = 0
    for i in range(len(rows)):
        v, row = np.int64(variables[i]), np.int64(rows[i])
        _weigh(tables, codes, v, row, weights)
        now = np.int64(codes[v, row])
        best = now
        for state in range(tables.arity[v]):
            if weights[state] > weights[best]:
                best = np.int64(state)
        if best != now:
            _move(tables, codes, v, row, now, best)
            n_changed += 1
    return n_changed
