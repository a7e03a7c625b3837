"""Families whose table would be larger than the data: count what occurs.

Rows with the same configuration of the parents are given the same number by way of a hash
table, then rows with the same number and the same state of the child; how often each
number occurs is all that a score needs. Memory grows with the rows and never with the
table.

Numbers are given in the order of the rows, which must not matter. Counts are therefore
added up from the lowest to the highest: how many cells have a count of 1, of 2 and so on.
"""

from __future__ import annotations

import math

import numpy as np

from coevo.jit import inlined, kernel
from coevo.score.count_kernels import ARITY
from coevo.score.family_kernels import SPARSE
from coevo.score.score_kernels import DIRICHLET, DIRICHLET_SEEN, LIKELIHOOD

__all__ = ["evaluate_sparse"]

LARGEST_CODE = 2.0**62
LARGEST_LOG = 600.0  # safely below that of the largest float
SMALL_COUNTS = 1024  # counts below it have a tally, the others are sorted
MULTIPLIER = np.int64(2654435761)  # times a number of 31 bits it stays below 2**63
LOW_BITS = np.int64(0x7FFFFFFF)


@kernel
def _number(keys, n_rows, slots, slot_keys, numbers):
    """Give rows with equal keys equal numbers, from 0 on; return how many there are.

    `slots` has a power of two entries, more than there are rows.
    """
    mask = len(slots) - 1
    for slot in range(len(slots)):
        slots[slot] = -1
    n = 0
    for row in range(n_rows):
        key = keys[row]
        slot = (((key ^ (key >> 31)) & LOW_BITS) * MULTIPLIER >> 20) & mask
        while slots[slot] >= 0 and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot], slot_keys[slot] = n, key
            n += 1
        numbers[row] = slots[slot]
    return n


@inlined
def _term(kind, a, log_a, count):
    """Return n log n, or log a (a + 1) ... (a + n - 1); where a vanishes, a (n - 1)!."""
    if kind == LIKELIHOOD:
        return count * math.log(count)
    if log_a < -LARGEST_LOG:
        return log_a + math.lgamma(count)
    return math.lgamma(a + count) - math.lgamma(a)


@kernel
def _sum_terms(kind, log_a, numbers, weights, n_rows, n_numbers, counts, tally):
    """Return the sum of the terms of all counts: how often each number occurs."""
    for number in range(n_numbers):
        counts[number] = 0
    for row in range(n_rows):
        counts[numbers[row]] += weights[row] if len(weights) else 1
    n_large = 0
    for number in range(n_numbers):
        if counts[number] < SMALL_COUNTS:
            tally[counts[number]] += 1
        else:
            counts[n_large] = counts[number]
            n_large += 1
    a = math.exp(log_a)
    total = 0.0
    for count in range(1, SMALL_COUNTS):
        if tally[count]:
            total += tally[count] * _term(kind, a, log_a, float(count))
            tally[count] = 0
    large = counts[:n_large]
    large.sort()
    for i in range(n_large):
        total += _term(kind, a, log_a, float(large[i]))
    return total


@inlined
def _price(price, log_q, arity):
    """Return the price of q (r - 1) parameters; infinite where q exceeds every float."""
    if price == 0 or arity == 1:
        return 0.0
    return price * math.exp(log_q) * (arity - 1.0) if log_q < LARGEST_LOG else np.inf


@kernel
def evaluate_sparse(index, spec, batch, first, last, scores):
    """Overwrite the scores of those families, from `first` to before `last`, that are sparse."""
    facts, codes, weights = index.facts, index.codes, index.weights
    starts, members, methods = batch.start, batch.members, batch.method
    n_rows = codes.shape[1]
    n_slots = 2
    while n_slots < 2 * n_rows:
        n_slots *= 2
    slots, slot_keys = np.empty(n_slots, dtype=np.int64), np.empty(n_slots, dtype=np.int64)
    keys, numbers = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    counts = np.empty(n_rows, dtype=np.int64)
    tally = np.zeros(SMALL_COUNTS, dtype=np.int64)
    for family in range(first, last):
        if methods[family] != SPARSE:
            continue
        child = members[starts[family]]
        arity = facts[child, ARITY]
        keys[:] = 0
        size, log_q = 1.0, 0.0
        for member in range(starts[family] + 1, starts[family + 1]):
            parent = members[member]
            states = facts[parent, ARITY]
            if size * states >= LARGEST_CODE:
                size = float(_number(keys, n_rows, slots, slot_keys, numbers))
                keys[:] = numbers
            for row in range(n_rows):
                keys[row] = keys[row] * states + np.int64(codes[parent, row])
            size *= states
            log_q += math.log(states)
        n_seen = _number(keys, n_rows, slots, slot_keys, numbers)
        log_r = math.log(arity)
        log_a = log_r  # ALL_ONES
        if spec.kind == DIRICHLET or spec.kind == DIRICHLET_SEEN:
            log_q_used = math.log(n_seen) if spec.kind == DIRICHLET_SEEN else log_q
            log_a = math.log(spec.ess) - log_q_used
        score = -_sum_terms(spec.kind, log_a, numbers, weights, n_rows, n_seen, counts, tally)
        for row in range(n_rows):
            keys[row] = numbers[row] * arity + np.int64(codes[child, row])
        n_seen = _number(keys, n_rows, slots, slot_keys, numbers)
        score += _sum_terms(
            spec.kind, log_a - log_r, numbers, weights, n_rows, n_seen, counts, tally
        )
        if spec.kind == LIKELIHOOD:
            score -= _price(spec.price, log_q, arity)
        scores[family] = score
