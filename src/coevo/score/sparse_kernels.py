"""Kernels for families whose table would be larger than the data: count what occurs.

A hash table gives one number to all rows with the same configuration of the parents. A second
pass does the same for the configuration of the parents and the child. The score needs only
how often each number occurs (the sufficient statistics). The memory grows with the number of
rows and not with the size of the table.

The order of the rows decides which configuration gets which number, and it must not change the
score. The terms are therefore added by count, from the lowest to the highest: the cells with a
count of 1, then those with 2, and so on.
"""

from __future__ import annotations

import math

import numpy as np

from coevo.jit import INT, inline, kernel, part
from coevo.score._numba_parts import (
    INDEX,
    LARGE_PRIOR,
    PLAN,
    SCORES,
    SPEC,
    compute_quotient_penalty,
    compute_regret,
    log_rising_of_large,
    over_tuples,
)
from coevo.score.count_kernels import ARITY, HIGH
from coevo.score.family_kernels import SPARSE
from coevo.score.score_kernels import DIRICHLET, DIRICHLET_SEEN, FACTORISED, LIKELIHOOD, QUOTIENT

__all__ = ["LARGEST_CODE", "add_codes", "evaluate_sparse", "number_keys", "sort_values"]

LARGEST_CODE = 2.0**62
LARGEST_LOG = 600.0  # safely below that of the largest float
SMALL_COUNTS = 1024  # smaller counts have a histogram, the others are sorted
MULTIPLIER = np.int64(2654435761)  # the product with a number of 31 bits stays below 2**63
LOW_BITS = np.int64(0x7FFFFFFF)


@part
def number_keys(keys, n_rows, slots, slot_keys, numbers):
    """Write the number of each row's key, counted from 0; return how many keys differ.

    The length of `slots` is a power of two and larger than the number of rows.
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


@inline
def _compute_term(kind, a, log_a, count):
    """Return n log n, or log a (a + 1) ... (a + n - 1).

    If a is too small for a float, the latter is log a (n - 1)!.
    """
    if kind >= LIKELIHOOD:
        return count * math.log(count)
    if log_a < -LARGEST_LOG:
        return log_a + math.lgamma(count)
    if a >= LARGE_PRIOR:
        return log_rising_of_large(a, count)
    return math.lgamma(a + count) - math.lgamma(a)


@part
def sort_values(values, n):
    """Sort the first n values in place by Shell sort, which is short to compile."""
    step = 1
    while step < n // 3:
        step = 3 * step + 1
    while step > 0:
        for i in range(step, n):
            value, at = values[i], i
            while at >= step and values[at - step] > value:
                values[at] = values[at - step]
                at -= step
            values[at] = value
        step //= 3


@part
def _sum_terms(kind, log_a, numbers, weights, n_rows, n_numbers, counts, histogram):
    """Count how often each number occurs; return the sum of the terms of these counts."""
    for number in range(n_numbers):
        counts[number] = 0
    for row in range(n_rows):
        counts[numbers[row]] += weights[row] if len(weights) else 1
    n_large = 0
    for number in range(n_numbers):
        if counts[number] < SMALL_COUNTS:
            histogram[counts[number]] += 1
        else:
            counts[n_large] = counts[number]
            n_large += 1
    a = math.exp(log_a)
    total = 0.0
    for count in range(1, SMALL_COUNTS):
        if histogram[count]:
            total += histogram[count] * _compute_term(kind, a, log_a, float(count))
            histogram[count] = 0
    sort_values(counts, n_large)
    for i in range(n_large):
        total += _compute_term(kind, a, log_a, float(counts[i]))
    return total


@part
def _sum_regrets(two_states, numbers, weights, n_rows, n_numbers, arity, counts):
    """Return the sum of the regrets of all configurations, from the lowest count to the highest."""
    for number in range(n_numbers):
        counts[number] = 0
    for row in range(n_rows):
        counts[numbers[row]] += weights[row] if len(weights) else 1
    sort_values(counts, n_numbers)
    total = 0.0
    for i in range(n_numbers):
        total += compute_regret(two_states, counts[i], arity)
    return total


@inline
def _compute_penalty(penalty, log_q, arity):
    """Return the penalty of q (r - 1) parameters; infinite if q is too large for a float."""
    if penalty == 0 or arity == 1:
        return 0.0
    return penalty * math.exp(log_q) * (arity - 1.0) if log_q < LARGEST_LOG else np.inf


@inline
def add_codes(facts, codes, variable, keys, n_rows):
    """Append the state of a variable to the key of each row."""
    arity, high = facts[variable, ARITY], facts[variable, HIGH]
    for row in range(n_rows):
        keys[row] = keys[row] * arity + np.int64(codes[variable, row])
    if high >= 0:
        for row in range(n_rows):
            keys[row] += 256 * np.int64(codes[high, row])


@over_tuples
@kernel((INDEX, SPEC, PLAN, INT, INT, SCORES))
def evaluate_sparse(index, spec, batch, first, last, scores):
    """Overwrite ``scores[f]`` of the families from `first` to before `last` that are sparse."""
    facts, codes, weights = index.facts, index.codes, index.weights
    starts, members, methods = batch.start, batch.members, batch.method
    n_rows = codes.shape[1]
    n_slots = 2
    while n_slots < 2 * n_rows:
        n_slots *= 2
    slots, slot_keys = np.empty(n_slots, dtype=np.int64), np.empty(n_slots, dtype=np.int64)
    keys, numbers = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    counts = np.empty(n_rows, dtype=np.int64)
    histogram = np.zeros(SMALL_COUNTS, dtype=np.int64)
    for family in range(first, last):
        if methods[family] != SPARSE:
            continue
        child = members[starts[family]]
        arity = facts[child, ARITY]
        for row in range(n_rows):
            keys[row] = 0
        size, log_q = 1.0, 0.0
        for member in range(starts[family] + 1, starts[family + 1]):
            parent = members[member]
            states = facts[parent, ARITY]
            if size * states >= LARGEST_CODE:
                size = float(number_keys(keys, n_rows, slots, slot_keys, numbers))
                for row in range(n_rows):
                    keys[row] = numbers[row]
            add_codes(facts, codes, parent, keys, n_rows)
            size *= states
            log_q += math.log(states)
        n_seen = number_keys(keys, n_rows, slots, slot_keys, numbers)
        log_r = math.log(arity)
        log_a = log_r  # ALL_ONES
        if spec.kind == DIRICHLET or spec.kind == DIRICHLET_SEEN:
            log_q_used = math.log(n_seen) if spec.kind == DIRICHLET_SEEN else log_q
            log_a = math.log(spec.ess) - log_q_used
        score = -_sum_terms(spec.kind, log_a, numbers, weights, n_rows, n_seen, counts, histogram)
        if spec.kind == FACTORISED:
            score -= _sum_regrets(spec.regret, numbers, weights, n_rows, n_seen, arity, counts)
        for row in range(n_rows):
            keys[row] = numbers[row]
        add_codes(facts, codes, child, keys, n_rows)
        n_seen = number_keys(keys, n_rows, slots, slot_keys, numbers)
        score += _sum_terms(
            spec.kind, log_a - log_r, numbers, weights, n_rows, n_seen, counts, histogram
        )
        if spec.kind == LIKELIHOOD:
            score -= _compute_penalty(spec.penalty, log_q, arity)
        if spec.kind == QUOTIENT and arity > 1:
            q = math.exp(min(log_q, LARGEST_LOG))
            score -= compute_quotient_penalty(spec, q, float(arity))
        scores[family] = score
