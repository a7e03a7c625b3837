"""Kernels that redraw the families of a few variables of a DAG together, exactly.

Take the arcs into a block of q variables away. What is left is a DAG. New families of the block
close no cycle if and only if the graph over the block is acyclic in which i leads to j if a
parent of j is i or a descendant of i. This graph has a layering, as every DAG. So the sum over
all choices of the q families is a sum over the layerings of q variables (3, 13, 75 or 541 for 2
to 5), each a product of terms, each a difference of two look-ups. A layering is drawn with its
exact probability, then each family by itself.

It is a Gibbs step: the conditional distribution of q families given all others. Nothing is
rejected. The block is chosen at random without regard to the current DAG. A block of two turns an
arc and redraws both families, as the move of Grzegorczyk and Husmeier [1]_. Blocks of one to three
without these sums are in Goudie and Mukherjee [2]_.

.. [1] M. Grzegorczyk and D. Husmeier, Improving the structure MCMC sampler for Bayesian networks
   by introducing a new edge reversal move, Machine Learning 71, 2008.
.. [2] R. J. B. Goudie and S. Mukherjee, A Gibbs sampler for learning DAGs, JMLR 17, 2016.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.averaging.layering_kernels import CANCELLATION, LOG_ROUND_OFF, add_logs, draw_index
from coevo.jit import array_of, inline, part, tuple_of

__all__ = ["BLOCKS", "Blocks", "choose_block", "list_blocks", "redraw_block"]

MAX_BLOCK = 5


class Blocks(NamedTuple):
    """All layerings of 1 to q variables.

    The layerings of q variables are number ``begin[q]`` to ``begin[q + 1]``. Variable j of a
    layering has the variables of the set ``earlier[i, j]`` in earlier layers, and those of
    ``last[i, j]`` in the layer before it.
    """

    begin: NDArray[np.int64]
    earlier: NDArray[np.int64]
    last: NDArray[np.int64]


BLOCKS = tuple_of(
    array_of(np.int64),
    array_of(np.int64, 2),
    array_of(np.int64, 2),
    kind=Blocks,
)


def list_blocks(most: int) -> Blocks:
    """Return all layerings of up to `most` variables.

    >>> list_blocks(4).begin.tolist()
    [0, 0, 1, 4, 17, 92]
    """
    begin, earlier, last = [0, 0], list[list[int]](), list[list[int]]()
    for q in range(1, most + 1):
        for layer in itertools.product(range(q), repeat=q):
            if set(layer) != set(range(max(layer) + 1)):
                continue
            sets = [sum(1 << i for i in range(q) if layer[i] == k) for k in range(-1, q)]
            unused = [0] * (most - q)
            earlier.append([sum(sets[: layer[j] + 1]) for j in range(q)] + unused)
            last.append([sets[layer[j]] for j in range(q)] + unused)
        begin.append(len(earlier))
    return Blocks(np.array(begin), np.array(earlier), np.array(last))


@part
def choose_block(tables, size, uniforms, members):
    """Overwrite `members` with a random variable and near ones; return how many they are.

    The choice depends on the tables only, not on the DAG.
    """
    low, high = 0, len(tables.first) - 1  # find the first chance above the random number
    while low < high:
        middle = (low + high) // 2
        if tables.first[middle] > uniforms[0]:
            high = middle
        else:
            low = middle + 1
    members[0] = low
    q = 1
    for i in range(1, size):
        v = members[int(uniforms[2 * i - 1] * q)]
        n_near = tables.near_begin[v + 1] - tables.near_begin[v]
        if n_near == 0:
            continue
        w = tables.near[tables.near_begin[v] + int(uniforms[2 * i] * n_near)]
        is_new = True
        for j in range(q):
            is_new = is_new and members[j] != w
        if is_new:
            members[q] = w
            q += 1
    return q


@part
def _find_reached(tables, choice, order, members, q, reached):
    """Overwrite ``reached[v]`` with the members that v is or descends from, as bits.

    The arcs into members do not count.
    """
    for v in range(len(order)):
        reached[v] = 0
    for j in range(q):
        reached[members[j]] = 1 << j
    for i in range(len(order)):
        v = order[i]
        if reached[v] == 0:
            bits = np.int64(0)
            for p in range(tables.start[choice[v]], tables.start[choice[v] + 1]):
                bits |= reached[tables.parents[p]]
            reached[v] = bits


@inline
def _unite(start, parents, reached, family):
    """Return the members that the parents of a family are or descend from."""
    bits = np.int64(0)
    for i in range(start[family], start[family + 1]):
        bits |= reached[parents[i]]
    return bits


@part
def _sum_within(tables, reached, v, own, q, inside, rows):
    """Overwrite ``sums[s]`` with the log of the sum of families of v that reach only s.

    ``inside[s]`` becomes the set of the candidates that reach only s. Sets with v itself, the bit
    `own`, are skipped. `sums` is the first of `rows`; the others are scratch. Return the members
    that families outside the candidates reach.
    """
    sums, found, heaviest = rows
    first = tables.cand_begin[v]
    for s in range(1 << q):
        inside[s] = 0
    for i in range(first, tables.cand_begin[v + 1]):
        inside[reached[tables.cand[i]]] |= np.int64(1) << (i - first)
    for j in range(q):
        for s in range(1 << q):
            if s >> j & 1:
                inside[s] |= inside[s ^ (1 << j)]
    for s in range(1 << q):
        if s & own == 0:
            sums[s] = tables.log_sum[tables.table_begin[v] + inside[s]]
    beyond = np.int64(0)
    for s in range(1 << q):
        found[s] = 0.0
    outside, weight, start, parents = tables.outside, tables.weight, tables.start, tables.parents
    for i in range(tables.outside_begin[v], tables.outside_begin[v + 1]):
        family = outside[i]
        if weight[family] < sums[0] - LOG_ROUND_OFF:
            break
        bits = _unite(start, parents, reached, family)
        if bits & own == 0:
            beyond |= bits
            if found[bits] == 0.0:
                heaviest[bits] = weight[family]
            found[bits] += np.exp(weight[family] - heaviest[bits])
    for bits in range(1 << q):
        if found[bits] > 0.0:
            log_sum = heaviest[bits] + np.log(found[bits])
            for s in range(1 << q):
                if s & own == 0 and bits & ~s == 0:
                    sums[s] = add_logs(sums[s], log_sum)
    return beyond


@part
def _sum_suitable(tables, reached, v, allowed, barred, earlier, last):
    """Return the log of the sum of families of v that reach only `earlier`, and one of `last`.

    `allowed` are the candidates that reach only `earlier`, `barred` those that do not reach
    `last` besides.
    """
    code, weight, start, parents = tables.code, tables.weight, tables.start, tables.parents
    total = -np.inf
    for family in range(tables.begin[v], tables.begin[v + 1]):
        if weight[family] < total - LOG_ROUND_OFF:
            break
        if code[family] >= 0:
            is_suitable = code[family] & ~allowed == 0 and code[family] & ~barred != 0
        else:
            bits = _unite(start, parents, reached, family)
            is_suitable = bits & ~earlier == 0 and bits & last != 0
        if is_suitable:
            total = add_logs(total, weight[family])
    return total


@part
def _draw_family(tables, reached, v, allowed, barred, earlier, last, term, uniform):
    """Return a random family of v that reaches only `earlier`, and one of `last` if it has any.

    The first arguments are those of `_sum_suitable`; `term` is the sum.
    """
    code, weight, start, parents = tables.code, tables.weight, tables.start, tables.parents
    chosen, remaining = np.int64(-1), uniform
    for family in range(tables.begin[v], tables.begin[v + 1]):
        if code[family] >= 0:
            is_suitable = code[family] & ~allowed == 0 and (
                earlier == 0 or code[family] & ~barred != 0
            )
        else:
            bits = _unite(start, parents, reached, family)
            is_suitable = bits & ~earlier == 0 and (earlier == 0 or bits & last != 0)
        if is_suitable:
            chosen = family
            remaining -= np.exp(weight[family] - term)
            if remaining < 0.0:
                break
    return chosen


@part
def _compute_block_terms(tables, reached, members, q, inside, rows, terms):
    """Overwrite ``terms[j, earlier, last]`` of member j, for all sets of members in sets."""
    sums = rows[0]
    for j in range(q):
        own = 1 << j
        beyond = _sum_within(tables, reached, members[j], own, q, inside[j], rows)
        terms[j, 0, 0] = sums[0]
        for earlier in range(1, 1 << q):
            if earlier & own:
                continue
            high, allowed = sums[earlier], inside[j, earlier]
            last = earlier
            while last > 0:  # all subsets of `earlier` but the empty one
                term, barred = -np.inf, inside[j, earlier & ~last]
                if high > -np.inf and (allowed != barred or beyond & last != 0):
                    share = -np.expm1(sums[earlier & ~last] - high)
                    if share >= CANCELLATION:
                        term = high + np.log(share)
                    else:
                        term = _sum_suitable(
                            tables, reached, members[j], allowed, barred, earlier, last
                        )
                terms[j, earlier, last] = term
                last = (last - 1) & earlier


@part
def _sort_again(order, reached, members, q, earlier, spare):
    """Sort the variables so that parents come before their children.

    The rank of a variable is the latest layer of a member that it is or descends from. Within a
    rank the members come first. The others keep their sequence.
    """
    n, at = len(order), 0
    for i in range(n):
        if reached[order[i]] == 0:
            spare[at] = order[i]
            at += 1
    done = np.int64(0)
    while at < n:
        layer = np.int64(0)
        for j in range(q):
            if done >> j & 1 == 0 and earlier[j] & ~done == 0:
                layer |= 1 << j
                spare[at] = members[j]
                at += 1
        done |= layer
        for i in range(n):
            v = order[i]
            if reached[v] & ~done == 0 and reached[v] & layer and reached[v] != _own(v, members, q):
                spare[at] = v
                at += 1
    for i in range(n):
        order[i] = spare[i]


@part
def _own(v, members, q):
    """Return the bit of a member, 0 of another variable."""
    bit = np.int64(0)
    for j in range(q):
        if members[j] == v:
            bit = 1 << j
    return bit


@part
def redraw_block(tables, blocks, choice, order, members, q, scratch, uniforms):
    """Redraw the families of q members of a DAG; return whether any family changed."""
    reached, inside, rows, terms, logs, spare = scratch
    _find_reached(tables, choice, order, members, q, reached)
    _compute_block_terms(tables, reached, members, q, inside, rows, terms)
    first, n_layerings = blocks.begin[q], blocks.begin[q + 1] - blocks.begin[q]
    for i in range(n_layerings):
        logs[i] = 0.0
        for j in range(q):
            logs[i] += terms[j, blocks.earlier[first + i, j], blocks.last[first + i, j]]
    drawn = first + draw_index(logs, n_layerings, uniforms[0])
    has_changed = False
    for j in range(q):
        v, earlier, last = members[j], blocks.earlier[drawn, j], blocks.last[drawn, j]
        term = terms[j, earlier, last]
        allowed, barred = inside[j, earlier], inside[j, earlier & ~last]
        family = _draw_family(
            tables, reached, v, allowed, barred, earlier, last, term, uniforms[1 + j]
        )
        has_changed = has_changed or family != choice[v]
        choice[v] = family
    if has_changed:
        _sort_again(order, reached, members, q, blocks.earlier[drawn], spare)
    return has_changed
