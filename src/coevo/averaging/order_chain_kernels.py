"""Kernels for orders: the sum over all DAGs of an order, and draws of orders and DAGs.

Under an order each variable chooses its parents among those that come before it, independently
of all others. So the term of a variable is one look-up: the sum over all subsets of the
candidates before it. The weight of an order is the product of the terms (Friedman and Koller
2003). A DAG counts once for each of its topological orders.

As for layerings, the *level* of a variable is twice its place. The move *relocate* takes one
variable out and puts it back into one of n places, each with its exact probability. All n weights
need two terms of each variable that may have the moved one as a parent, and one term for each
possible parent of the moved one.
"""

from __future__ import annotations

import numpy as np

from coevo.averaging.layering_kernels import (
    FAR,
    NO_PARENTS,
    add_outside,
    add_outside_arcs,
    draw_index,
    find_candidates,
    find_top,
)
from coevo.jit import fused, part

__all__ = [
    "add_order_arcs",
    "compute_order_term",
    "compute_order_terms",
    "draw_order_dag",
    "relocate_in_order",
    "sort_order",
]


@fused
def look_up_sum(tables, level, v, bound):
    """Return the log of the sum of the sets of candidates of v below a level."""
    before, _ = find_candidates(tables.cand, tables.cand_begin, level, v, bound - 1)
    return tables.log_sum[tables.table_begin[v] + before]


@fused
def compute_order_term(tables, level, v, bound):
    """Return the log of the sum of the families of v with all parents below a level."""
    total = look_up_sum(tables, level, v, bound)
    if tables.outside_begin[v] < tables.outside_begin[v + 1]:
        total = add_outside(tables, level, v, NO_PARENTS, bound - 1, total)
    return total


@part
def compute_order_terms(tables, level, terms):
    """Overwrite `terms` with the term of each variable; return the log weight of the order."""
    total = 0.0
    for v in range(len(level)):
        terms[v] = compute_order_term(tables, level, v, level[v])
        total += terms[v]
    return total


@part
def sort_order(level, order):
    """Overwrite `order` with the variables in the sequence of their levels."""
    for v in range(len(level)):
        order[level[v] // 2] = v


@part
def draw_order_dag(tables, level, terms, uniforms, choice):
    """Overwrite `choice` with the families of a random DAG of the order."""
    code, weight, start, parents = tables.code, tables.weight, tables.start, tables.parents
    for v in range(len(level)):
        remaining = uniforms[v]
        before, _ = find_candidates(tables.cand, tables.cand_begin, level, v, level[v] - 1)
        for family in range(tables.begin[v], tables.begin[v + 1]):
            if code[family] >= 0:
                is_suitable = code[family] & ~before == 0
            else:
                is_suitable = find_top(start, parents, level, family) < level[v]
            if is_suitable:
                choice[v] = family
                remaining -= np.exp(weight[family] - terms[v])
                if remaining < 0.0:
                    break


@part
def add_order_arcs(tables, level, terms, arcs):
    """Add the probability of each possible arc, given the order."""
    for v in range(len(level)):
        inside = look_up_sum(tables, level, v, level[v])
        share = np.exp(inside - terms[v])
        for i in range(tables.pair_begin[v], tables.pair_begin[v + 1]):
            u = tables.pair_parent[i]
            at = level[u]
            if at < level[v] and share > 0.0:
                level[u] = FAR
                arcs[i] -= share * np.expm1(look_up_sum(tables, level, v, level[v]) - inside)
                level[u] = at
        if tables.outside_begin[v] < tables.outside_begin[v + 1]:
            add_outside_arcs(tables, level, v, NO_PARENTS, level[v] - 1, terms[v], arcs)


@part
def _take_out(level, order, v):
    """Take v out of the order; the variables after it move up."""
    n = len(order)
    for i in range(level[v] // 2, n - 1):
        order[i] = order[i + 1]
        level[order[i]] = 2 * i
    level[v] = FAR


@part
def _put_in(level, order, v, place):
    """Put v into a place; the variables from there on move down."""
    for i in range(len(order) - 1, place, -1):
        order[i] = order[i - 1]
        level[order[i]] = 2 * i
    order[place] = v
    level[v] = 2 * place


@part
def relocate_in_order(tables, level, order, terms, scratch, v, uniform):
    """Take v out and put it into a random place; return the log weight of the order."""
    after, own, places = scratch
    n = len(order)
    _take_out(level, order, v)
    above = 0.0  # the terms of the variables before the place of v
    for i in range(n):
        if i == 0 or tables.is_possible[order[i - 1], v]:
            own[i] = compute_order_term(tables, level, v, 2 * i)
        else:
            own[i] = own[i - 1]
        places[i] = above + own[i]
        if i < n - 1:
            w = order[i]
            after[w] = terms[w]
            if tables.is_possible[v, w]:
                terms[w] = compute_order_term(tables, level, w, level[w])
                level[v] = -1
                after[w] = compute_order_term(tables, level, w, level[w])
                level[v] = FAR
            above += terms[w]
    below = 0.0
    for i in range(n - 2, -1, -1):
        below += after[order[i]]
        places[i] += below
    place = draw_index(places, n, uniform)
    for i in range(place, n - 1):
        terms[order[i]] = after[order[i]]
    terms[v] = own[place]
    _put_in(level, order, v, place)
    return places[place]
