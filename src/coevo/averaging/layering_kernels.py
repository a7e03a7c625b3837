"""Kernels for layerings: the sum over all DAGs of a layering, and draws of layerings and DAGs.

Each DAG has one layering: variables without parents are in layer 0, and every other variable is
in the layer after the last of its parents. So a variable in layer k has all its parents in
earlier layers, and at least one in layer k - 1. The weight of a layering is the sum of the
weights of its DAGs. It is a product over the variables, because under a layering they choose
their parents independently. The term of a variable is the difference of two sums over subsets:
those of the candidates before layer k, minus those of the candidates before layer k - 1. Where
the two nearly agree, digits would be lost. There the families are added up one by one.

A *level* is twice the number of a layer, so that a new layer fits between two layers. A family
suits a variable if the highest level of its parents is the *needed* level: the level of the
layer before, or `NO_PARENTS` in the first layer.

The move *relocate* takes one variable out and puts it back, into one of the r layers that are
left or as a new layer into one of the r + 1 gaps, each with its exact probability. It is a Gibbs
step: nothing is rejected. All 2 r + 1 weights together need at most four terms of each variable
that may have the moved one as a parent, and r + 1 terms of the moved one.
"""

from __future__ import annotations

import numpy as np

from coevo.jit import fused, inline, part

__all__ = [
    "NO_PARENTS",
    "add_layer_arcs",
    "add_logs",
    "add_outside",
    "add_outside_arcs",
    "compute_layer_term",
    "compute_terms",
    "count_layers",
    "draw_dag",
    "draw_index",
    "find_candidates",
    "find_levels",
    "find_top",
    "relocate",
    "sort_by_level",
]

NO_PARENTS = -2  # the needed level of a variable in the first layer
FAR = 1 << 40  # the level of a variable that is taken out
CANCELLATION = 1e-7  # a smaller share is added up one by one
LOG_ROUND_OFF = 40.0  # a weight that is smaller by this log is below the round-off of the sum


@inline
def add_logs(a, b):
    """Return the log of the sum of two weights given by their logs."""
    high, low = (a, b) if a > b else (b, a)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@part
def find_candidates(cand, cand_begin, level, v, needed):
    """Return the candidates of v up to a level, and those at this level, as sets."""
    before, last = np.int64(0), np.int64(0)
    bit = np.int64(1)
    for i in range(cand_begin[v], cand_begin[v + 1]):
        at = level[cand[i]]
        if at <= needed:
            before |= bit
            if at == needed:
                last |= bit
        bit <<= 1
    return before, last


@inline
def find_top(start, parents, level, family):
    """Return the highest level of the parents of a family."""
    top = np.int64(NO_PARENTS)
    for i in range(start[family], start[family + 1]):
        top = max(top, level[parents[i]])
    return top


@part
def sum_suitable(tables, v, before, last):
    """Return the log of the sum of the sets of candidates within `before` that meet `last`."""
    code, weight = tables.code, tables.weight
    total = -np.inf
    for family in range(tables.begin[v], tables.begin[v + 1]):
        if weight[family] < total - LOG_ROUND_OFF:
            break
        if code[family] >= 0 and code[family] & ~before == 0 and code[family] & last != 0:
            total = add_logs(total, weight[family])
    return total


@part
def add_outside(tables, level, v, low, high, total):
    """Add the families outside the candidates whose highest parent is from `low` to `high`."""
    outside, weight, start, parents = tables.outside, tables.weight, tables.start, tables.parents
    heaviest, found = -np.inf, 0.0  # the sum relative to the heaviest, which comes first
    for i in range(tables.outside_begin[v], tables.outside_begin[v + 1]):
        family = outside[i]
        if weight[family] < max(total, heaviest) - LOG_ROUND_OFF:
            break
        if low <= find_top(start, parents, level, family) <= high:
            heaviest = max(heaviest, weight[family])
            found += np.exp(weight[family] - heaviest)
    return add_logs(total, heaviest + np.log(found)) if found > 0.0 else total


@part
def add_outside_arcs(tables, level, v, low, high, term, arcs):
    """Add the probabilities of arcs in the families that `add_outside` adds up."""
    outside, weight, start, parents = tables.outside, tables.weight, tables.start, tables.parents
    first, last = tables.pair_begin[v], tables.pair_begin[v + 1]
    for i in range(tables.outside_begin[v], tables.outside_begin[v + 1]):
        family = outside[i]
        if weight[family] < term - LOG_ROUND_OFF:
            break
        if low <= find_top(start, parents, level, family) <= high:
            share = np.exp(weight[family] - term)
            for j in range(start[family], start[family + 1]):
                place = first + np.searchsorted(tables.pair_parent[first:last], parents[j])
                arcs[place] += share


@fused
def compute_inside_term(tables, level, v, needed):
    """Return the log of the sum of the sets of candidates of v whose highest one is at a level.

    The same as `sum_suitable`, by look-ups in the table of sums.
    """
    if needed == NO_PARENTS:
        return tables.empty[v]
    before, last = find_candidates(tables.cand, tables.cand_begin, level, v, needed)
    if not last:
        return -np.inf
    first = tables.table_begin[v]
    high = tables.log_sum[first + before]
    if high == -np.inf:
        return high
    share = -np.expm1(tables.log_sum[first + (before & ~last)] - high)
    if share < CANCELLATION:
        return sum_suitable(tables, v, before, last)
    return high + np.log(share)


@fused
def compute_layer_term(tables, level, v, needed):
    """Return the log of the sum of the families of v whose highest parent is at a level."""
    total = compute_inside_term(tables, level, v, needed)
    if needed != NO_PARENTS and tables.outside_begin[v] < tables.outside_begin[v + 1]:
        total = add_outside(tables, level, v, needed, needed, total)
    return total


@part
def compute_terms(tables, level, terms):
    """Overwrite `terms` with the term of each variable; return the log weight of the layering."""
    total = 0.0
    for v in range(len(level)):
        terms[v] = compute_layer_term(tables, level, v, level[v] - 2)
        total += terms[v]
    return total


@part
def count_layers(level, counts):
    """Overwrite `counts` with the number of variables of each layer; return the layers."""
    n_layers = np.int64(0)
    for k in range(len(counts)):
        counts[k] = 0
    for v in range(len(level)):
        counts[level[v] // 2] += 1
        n_layers = max(n_layers, level[v] // 2 + 1)
    return n_layers


@part
def find_levels(tables, choice, order, level):
    """Overwrite `level` with the layering of the DAG of the chosen families."""
    for i in range(len(order)):
        v = order[i]
        level[v] = find_top(tables.start, tables.parents, level, choice[v]) + 2


@part
def draw_index(logs, n, uniform):
    """Return a random index below n with probability proportional to the exponentials."""
    high = -np.inf
    for i in range(n):
        high = max(high, logs[i])
    total = 0.0
    for i in range(n):
        total += np.exp(logs[i] - high)
    remaining = uniform * total
    last = np.int64(0)
    for i in range(n):
        share = np.exp(logs[i] - high)
        if share > 0.0:
            last = i
            remaining -= share
            if remaining < 0.0:
                break
    return last


@part
def draw_dag(tables, level, terms, uniforms, choice):
    """Overwrite `choice` with the families of a random DAG of the layering."""
    code, weight, start, parents = tables.code, tables.weight, tables.start, tables.parents
    for v in range(len(level)):
        needed, remaining = level[v] - 2, uniforms[v]
        before, last = find_candidates(tables.cand, tables.cand_begin, level, v, needed)
        for family in range(tables.begin[v], tables.begin[v + 1]):
            if code[family] >= 0:
                is_suitable = code[family] & ~before == 0 and (
                    needed == NO_PARENTS or code[family] & last != 0
                )
            else:
                is_suitable = find_top(start, parents, level, family) == needed
            if is_suitable:
                choice[v] = family
                remaining -= np.exp(weight[family] - terms[v])
                if remaining < 0.0:
                    break


@part
def sort_by_level(level, n_layers, order):
    """Overwrite `order` with the variables in ascending sequence of their levels."""
    at = 0
    for k in range(n_layers):
        for v in range(len(level)):
            if level[v] == 2 * k:
                order[at] = v
                at += 1


@part
def _take_out(level, counts, n_layers, v):
    """Take a variable out of the layering; return the layers left and the layer that closed."""
    home = level[v] // 2
    level[v] = FAR
    counts[home] -= 1
    if counts[home] > 0:
        return n_layers, np.int64(-1)
    for w in range(len(level)):
        if w != v and level[w] > 2 * home:
            level[w] -= 2
    for k in range(home, n_layers - 1):
        counts[k] = counts[k + 1]
    counts[n_layers - 1] = 0
    return n_layers - 1, home


@part
def _put_in(level, counts, n_layers, v, place):
    """Put a variable into place: 2 k is the gap before layer k, 2 k + 1 is layer k."""
    k = place // 2
    if place % 2 == 0:
        for w in range(len(level)):
            if w != v and level[w] >= 2 * k:
                level[w] += 2
        for j in range(n_layers, k, -1):
            counts[j] = counts[j - 1]
        counts[k] = 0
        n_layers += 1
    level[v] = 2 * k
    counts[k] += 1
    return n_layers


@part
def _compute_variants(tables, level, v, n_layers, closed, terms, variants, sums, rivals):
    """Overwrite the terms of all others for each way in which v can lie, and their sums.

    ``variants[0, w]`` is the term of w if v does not come before it; 1 if v comes two layers or
    more before it; 2 if v is in the layer before it; 3 if v alone is the layer before it.
    ``sums[i, k]`` is the sum of variant i over layer k.
    """
    for k in range(n_layers + 1):
        rivals[k] = 0
        for i in range(4):
            sums[i, k] = 0.0
    for w in range(len(level)):
        if w != v and not tables.is_possible[v, w]:
            rivals[level[w] // 2] += 1
    for w in range(len(level)):
        if w == v:
            continue
        k, needed = level[w] // 2, level[w] - 2
        base, far, near, alone = terms[w], 0.0, 0.0, -np.inf
        if tables.is_possible[v, w] or k == closed:
            level[v] = FAR
            base = compute_layer_term(tables, level, w, needed)
        if k > 0:
            far, near = base, base
            if tables.is_possible[v, w]:
                level[v] = -1
                far = compute_layer_term(tables, level, w, needed)
                level[v] = needed
                near = compute_layer_term(tables, level, w, needed)
        if rivals[k] == 0:
            level[v] = needed + 1
            alone = compute_layer_term(tables, level, w, needed + 1)
        variants[0, w], variants[1, w], variants[2, w], variants[3, w] = base, far, near, alone
        sums[0, k] += base
        sums[1, k] += far
        sums[2, k] += near
        sums[3, k] += alone
    level[v] = FAR


@part
def _weigh_places(tables, level, v, n_layers, sums, own, places):
    """Overwrite ``places[i]`` with the log weight of the layering with v in place i."""
    before = 0.0  # the sum of variant 0 over the layers before
    for k in range(n_layers + 1):
        own[k] = compute_layer_term(tables, level, v, 2 * k - 2)
        places[2 * k] = before + own[k] + (sums[3, k] if k < n_layers else 0.0)
        if k < n_layers:
            before += sums[0, k]
            places[2 * k + 1] = before + own[k] + (sums[2, k + 1] if k + 1 < n_layers else 0.0)
    after = 0.0  # the sum of variant 1 over the layers after
    for k in range(n_layers, -1, -1):
        if k + 1 < n_layers:
            after += sums[1, k + 1]
        places[2 * k] += after
        if k > 0:
            places[2 * k - 1] += after


@part
def relocate(tables, level, counts, n_layers, terms, scratch, v, uniform):
    """Take v out and put it into a random place; return the layers and the log weight."""
    variants, sums, rivals, own, places = scratch
    n_layers, closed = _take_out(level, counts, n_layers, v)
    _compute_variants(tables, level, v, n_layers, closed, terms, variants, sums, rivals)
    _weigh_places(tables, level, v, n_layers, sums, own, places)
    place = draw_index(places, 2 * n_layers + 1, uniform)
    k = place // 2
    for w in range(len(level)):
        if w != v:
            ahead = level[w] // 2 - k
            if place % 2 == 0:
                which = 0 if ahead < 0 else (3 if ahead == 0 else 1)
            else:
                which = 0 if ahead <= 0 else (2 if ahead == 1 else 1)
            terms[w] = variants[which, w]
    terms[v] = own[k]
    return _put_in(level, counts, n_layers, v, place), places[place]


@part
def add_layer_arcs(tables, level, terms, arcs):
    """Add the probability of each possible arc, given the layering.

    The sets of candidates with u are those of all candidates, less those without u. Families
    outside the candidates count one by one.
    """
    for v in range(len(level)):
        needed = level[v] - 2
        if needed == NO_PARENTS:
            continue
        inside = compute_inside_term(tables, level, v, needed)
        share = np.exp(inside - terms[v])
        for i in range(tables.pair_begin[v], tables.pair_begin[v + 1]):
            u = tables.pair_parent[i]
            at = level[u]
            if at <= needed and share > 0.0:
                level[u] = FAR
                arcs[i] -= share * np.expm1(compute_inside_term(tables, level, v, needed) - inside)
                level[u] = at
        if tables.outside_begin[v] < tables.outside_begin[v + 1]:
            add_outside_arcs(tables, level, v, needed, needed, terms[v], arcs)
