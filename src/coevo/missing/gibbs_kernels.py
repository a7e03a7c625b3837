"""Collapsed Gibbs sampling of missing values under a structure, with incremental counts.

An imputed table has a probability under a structure: the probability of all its rows, with the
conditional probability tables integrated over their prior. It is the exponential of a score. A
sweep draws each missing value from its conditional distribution given all other values of the
table. The stationary distribution of these sweeps is the posterior distribution of the imputed
table (Gibbs sampling with the tables integrated out).

The kernels keep the counts of all families up to date. When a value changes, its row moves from
one cell to another in the table of the variable and in the tables of its children. No family is
counted a second time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.jit import array_of, inline, kernel, part, tuple_of

__all__ = ["FamilyTables", "add_rows", "draw_values", "maximise_values"]


MIN_WEIGHT = 1e-100  # of the most probable state; smaller weights are rescaled


class FamilyTables(NamedTuple):
    """The families of a structure and their tables of counts, one table after another.

    The table of variable v begins at ``first[v]`` in `counts`. Its margin, the number of rows for
    each configuration of the parents, begins at ``first_margin[v]`` in `margins`. The state of the
    child varies fastest.
    """

    arity: NDArray[np.int64]  # (n,)
    prior: NDArray[np.float64]  # (n,), pseudo-count of each cell
    start: NDArray[np.int64]  # (n + 1,), start of the parents of v in `parents`
    parents: NDArray[np.int64]
    stride: NDArray[np.int64]  # of each parent in the table of its child
    child_start: NDArray[np.int64]  # (n + 1,), start of the children of v in `children`
    children: NDArray[np.int64]
    child_stride: NDArray[np.int64]  # of v in the table of each of its children
    first: NDArray[np.int64]  # (n,)
    first_margin: NDArray[np.int64]  # (n,)
    counts: NDArray[np.int64]
    margins: NDArray[np.int64]


NUMBERS, INDICES = array_of(np.int64), array_of(np.int64, 1, True)
TABLES = tuple_of(INDICES, array_of(np.float64), *10 * [NUMBERS], kind=FamilyTables)
CODES = array_of(np.uint16, 2)
DRAWS, TOTALS = array_of(np.float64, 1, True), array_of(np.float64, 2)


@inline
def _find_cell(tables, codes, v, row):
    """Return the index of the cell that counts a row, relative to the start of the table of v."""
    cell = np.int64(codes[v, row])
    for i in range(tables.start[v], tables.start[v + 1]):
        cell += tables.stride[i] * codes[tables.parents[i], row]
    return cell


@kernel((TABLES, CODES))
def add_rows(tables, codes):
    """Add all rows to the tables. The tables must be empty."""
    for v in range(len(tables.arity)):
        for row in range(codes.shape[1]):
            cell = _find_cell(tables, codes, v, row)
            tables.counts[tables.first[v] + cell] += 1
            tables.margins[tables.first_margin[v] + cell // tables.arity[v]] += 1


@part
def _change_value(tables, codes, v, row, old, new):
    """Change the state of v in a row, in the codes and in all tables that contain v."""
    first = tables.first[v] + _find_cell(tables, codes, v, row) - np.int64(codes[v, row])
    tables.counts[first + old] -= 1
    tables.counts[first + new] += 1
    for i in range(tables.child_start[v], tables.child_start[v + 1]):
        child, stride = tables.children[i], tables.child_stride[i]
        base = _find_cell(tables, codes, child, row) - stride * np.int64(codes[v, row])
        margin, arity = tables.first_margin[child], tables.arity[child]
        tables.counts[tables.first[child] + base + stride * old] -= 1
        tables.counts[tables.first[child] + base + stride * new] += 1
        tables.margins[margin + (base + stride * old) // arity] -= 1
        tables.margins[margin + (base + stride * new) // arity] += 1
    codes[v, row] = new


@inline
def _compute_weights(tables, codes, v, row, weights):
    """Overwrite `weights` with the probability of each state of a value, given all other values.

    The weights are not normalised. The counts exclude the value's own row.
    """
    current = np.int64(codes[v, row])
    first = tables.first[v] + _find_cell(tables, codes, v, row) - current
    for state in range(tables.arity[v]):
        weights[state] = tables.counts[first + state] - (state == current) + tables.prior[v]
    for i in range(tables.child_start[v], tables.child_start[v + 1]):
        child, stride = tables.children[i], tables.child_stride[i]
        base = _find_cell(tables, codes, child, row) - stride * current
        child_first, margin = tables.first[child], tables.first_margin[child]
        arity, prior = tables.arity[child], tables.prior[child]
        highest = 0.0
        for state in range(tables.arity[v]):
            own_row = 1 if state == current else 0
            cell = base + stride * state
            n_rows = tables.counts[child_first + cell] - own_row + prior
            weights[state] *= n_rows / (
                tables.margins[margin + cell // arity] - own_row + prior * arity
            )
            highest = max(highest, weights[state])
        if highest < MIN_WEIGHT:  # avoid underflow for variables with many children
            for state in range(tables.arity[v]):
                weights[state] /= highest


@inline
def _make_weights(tables):
    """Return room for the weights of the states of any variable."""
    most = np.int64(1)
    for v in range(len(tables.arity)):
        most = max(most, tables.arity[v])
    return np.empty(most)


@inline
def _draw(weights, arity, uniform, totals, i):
    """Return a random state, and add the probabilities of all states to ``totals[i]``."""
    total = 0.0
    for state in range(arity):
        total += weights[state]
    if len(totals):
        for state in range(arity):
            totals[i, state] += weights[state] / total
    remaining = uniform * total
    for state in range(arity - 1):
        remaining -= weights[state]
        if remaining < 0:
            return np.int64(state)
    return np.int64(arity - 1)


@inline
def _find_most_probable(weights, arity, current):
    """Return the state of highest weight; the current one if it is among the highest."""
    best = current
    for state in range(arity):
        if weights[state] > weights[best]:
            best = np.int64(state)
    return best


@kernel((TABLES, CODES, INDICES, INDICES, DRAWS, TOTALS))
def _update_values(tables, codes, variables, rows, uniforms, totals):
    """Draw each missing value, or maximise it without `uniforms`; return how many changed."""
    weights = _make_weights(tables)
    n_changed = 0
    for i in range(len(rows)):
        v, row = np.int64(variables[i]), np.int64(rows[i])
        _compute_weights(tables, codes, v, row, weights)
        current = np.int64(codes[v, row])
        if len(uniforms):
            chosen = _draw(weights, tables.arity[v], uniforms[i], totals, i)
        else:
            chosen = _find_most_probable(weights, tables.arity[v], current)
        if chosen != current:
            _change_value(tables, codes, v, row, current, chosen)
            n_changed += 1
    return n_changed


def draw_values(
    tables: FamilyTables,
    codes: NDArray[np.uint16],
    variables: NDArray[np.int64],
    rows: NDArray[np.int64],
    uniforms: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Draw each missing value again, and add the probabilities of its states to ``totals[value]``.

    `uniforms` has a random number from 0 to 1 for each missing value. If `totals` is empty, no
    probabilities are added.
    """
    _update_values(tables, codes, variables, rows, uniforms, totals)


def maximise_values(
    tables: FamilyTables,
    codes: NDArray[np.uint16],
    variables: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> int:
    """Set each missing value to its most probable state; return how many values changed."""
    return int(_update_values(tables, codes, variables, rows, np.empty(0), np.empty((0, 0))))
