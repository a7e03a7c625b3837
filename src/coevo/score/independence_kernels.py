"""Kernels for tests of conditional independence: statistics, degrees of freedom, p-values.

A test has two variables x and y and a set Z of other variables. A *stratum* is one configuration
of Z that occurs. With n the counts of a stratum, both statistics compare them with the counts e
that independence within the stratum lets expect:

    G2    2 sum n log(n / e)          e = n(x) n(y) / n
    X2    sum (n - e)^2 / e

The degrees of freedom are the sum over strata of (states of x seen - 1) (states of y seen - 1). A
state that a stratum does not show adds nothing to the statistic, so it must not add to the degrees
of freedom.

`measure_tables` reads tables of counts as `family_kernels` lays them out. `measure_sparse` numbers
the configurations that occur, where a table would be larger than the rows. Both are symmetric in x
and y to the last bit, and neither depends on the order of the rows.

The p-value is the regularised upper incomplete gamma function Q(df / 2, statistic / 2): its series
below the mean, its continued fraction above it. Their common factor x^a e^-x / Gamma(a + 1) is
written with the distance of x from a, because the plain form loses digits for large a.
"""

from __future__ import annotations

import math

import numpy as np

from coevo.jit import INT, array_of, inline, kernel, part
from coevo.score._numba_parts import INDEX, STRIDE, over_tuples, set_strides, sort_by_rank
from coevo.score.count_kernels import ARITY
from coevo.score.sparse_kernels import (
    LARGEST_CODE,
    add_codes,
    number_keys,
    sort_values,
)

__all__ = ["G2", "X2", "compute_upper_tails", "measure_sparse", "measure_tables"]

G2, X2 = 0, 1

FACTS, STARTS = array_of(np.int64, 2), array_of(np.int64, 1, True)
MEMBERS, CELLS = array_of(np.int32, 1, True), array_of(np.uint32, 1, True)
NUMBERS = array_of(np.float64)

LEAST_STIRLING = 10.0  # the series of log gamma has 16 digits from here on
SMALL_EXCESS = 0.2  # below it, x - log(1 + x) is a series
TINY = 1e-300


@inline
def _compute_term(kind, n, total, one, other):
    """Return the term of a cell with count n; the arguments are floats."""
    expected = one * other / total
    if kind == X2:
        return (n - expected) * (n - expected) / expected
    return 2.0 * n * math.log(n * total / (one * other)) if n > 0.0 else 0.0


@part
def _measure_stratum(kind, cells, base, outer, n_outer, inner, n_inner, sums):
    """Return the statistic and the degrees of freedom of one stratum.

    `outer` and `inner` are the strides of the two axes. The sums of the inner axis are overwritten.
    """
    total, seen_outer = 0.0, 0
    for b in range(n_inner):
        sums[b] = 0.0
    for a in range(n_outer):
        row = 0.0
        for b in range(n_inner):
            n = float(cells[base + a * outer + b * inner])
            sums[b] += n
            row += n
        total += row
        seen_outer += row > 0.0
    seen_inner = 0
    for b in range(n_inner):
        seen_inner += sums[b] > 0.0
    if seen_outer < 2 or seen_inner < 2:
        return 0.0, 0
    statistic = 0.0
    for a in range(n_outer):
        row = 0.0
        for b in range(n_inner):
            row += cells[base + a * outer + b * inner]
        if row > 0.0:
            for b in range(n_inner):
                if sums[b] > 0.0:
                    n = float(cells[base + a * outer + b * inner])
                    statistic += _compute_term(kind, n, total, row, sums[b])
    return statistic, (seen_outer - 1) * (seen_inner - 1)


@kernel((FACTS, INT, MEMBERS, STARTS, INT, INT, STARTS, CELLS, NUMBERS, NUMBERS))
def measure_tables(facts, kind, members, starts, first, last, begin, cells, statistics, freedoms):
    """Overwrite the statistics and degrees of freedom of the tests that have a table.

    The first two members of a test are x and y. Its table is ``cells[begin[t]:begin[t + 1]]``.
    """
    n_axes, most_states = 2, 1
    for test in range(first, last):
        n_axes = max(n_axes, starts[test + 1] - starts[test])
        most_states = max(most_states, facts[members[starts[test]], ARITY])
        most_states = max(most_states, facts[members[starts[test] + 1], ARITY])
    variables = np.empty(n_axes, dtype=np.int32)
    work, sums = np.empty((1, n_axes), dtype=np.int64), np.empty(most_states)
    for test in range(first, last):
        at, end = begin[test], begin[test + 1]
        if at == end:
            continue
        start = starts[test]
        k = starts[test + 1] - start
        sort_by_rank(facts, members, start, k, variables)
        set_strides(facts, variables, k, work)
        outer = inner = n_outer = n_inner = np.int64(0)
        for axis in range(k):
            if variables[axis] == members[start] or variables[axis] == members[start + 1]:
                if n_outer == 0:
                    outer, n_outer = work[STRIDE, axis], facts[variables[axis], ARITY]
                else:
                    inner, n_inner = work[STRIDE, axis], facts[variables[axis], ARITY]
        statistic, freedom = 0.0, 0
        for slow in range(at, end, outer * n_outer):
            for middle in range(slow, slow + outer, inner * n_inner):
                for base in range(middle, middle + inner):
                    more, free = _measure_stratum(
                        kind, cells, base, outer, n_outer, inner, n_inner, sums
                    )
                    statistic += more
                    freedom += free
        statistics[test], freedoms[test] = statistic, float(freedom)


@part
def _count_numbers(numbers, weights, n_rows, n, counts):
    """Overwrite how often each of n numbers occurs."""
    for number in range(n):
        counts[number] = 0.0
    for row in range(n_rows):
        counts[numbers[row]] += float(weights[row]) if len(weights) else 1.0


@part
def _number_pairs(facts, codes, variable, strata, n_rows, keys, slots, slot_keys, numbers):
    """Give a number to each pair of a stratum and a state; return how many pairs differ."""
    for row in range(n_rows):
        keys[row] = strata[row]
    add_codes(facts, codes, variable, keys, n_rows)
    return number_keys(keys, n_rows, slots, slot_keys, numbers)


@part
def _count_states(numbers, strata, n_rows, n_numbers, seen, n_states):
    """Overwrite the number of states that each stratum shows; `seen` is working memory."""
    for i in range(n_numbers):
        seen[i] = 0.0
    for i in range(len(n_states)):
        n_states[i] = 0.0
    for row in range(n_rows):
        if seen[numbers[row]] == 0.0:
            seen[numbers[row]] = 1.0
            n_states[strata[row]] += 1.0


@over_tuples
@kernel((INDEX, INT, MEMBERS))
def measure_sparse(index, kind, members):
    """Return the statistic and the degrees of freedom of one test, from the rows.

    Every row has a positive weight. X2 is the sum over cells that occur, of n^2 / e, minus the
    number of rows: so cells that do not occur need no term.
    """
    facts, codes, weights = index.facts, index.codes, index.weights
    n_rows = codes.shape[1]
    n_slots = 2
    while n_slots < 2 * n_rows:
        n_slots *= 2
    slots, slot_keys = np.empty(n_slots, dtype=np.int64), np.empty(n_slots, dtype=np.int64)
    keys = np.zeros(n_rows, dtype=np.int64)
    strata, first, second = np.empty_like(keys), np.empty_like(keys), np.empty_like(keys)
    both = np.empty_like(keys)
    size = 1.0
    for member in range(2, len(members)):
        states = facts[members[member], ARITY]
        if size * states >= LARGEST_CODE:
            size = float(number_keys(keys, n_rows, slots, slot_keys, strata))
            for row in range(n_rows):
                keys[row] = strata[row]
        add_codes(facts, codes, members[member], keys, n_rows)
        size *= states
    n_strata = number_keys(keys, n_rows, slots, slot_keys, strata)
    n_first = _number_pairs(facts, codes, members[0], strata, n_rows, keys, slots, slot_keys, first)
    n_second = _number_pairs(
        facts, codes, members[1], strata, n_rows, keys, slots, slot_keys, second
    )
    n_both = _number_pairs(facts, codes, members[1], first, n_rows, keys, slots, slot_keys, both)
    totals, ones, others = np.empty(n_strata), np.empty(n_first), np.empty(n_second)
    counts, terms = np.empty(n_both), np.empty(n_both)
    states_first, states_second = np.empty(n_strata), np.empty(n_strata)
    _count_states(first, strata, n_rows, n_first, ones, states_first)
    _count_states(second, strata, n_rows, n_second, others, states_second)
    freedom = 0.0
    for stratum in range(n_strata):
        freedom += (states_first[stratum] - 1.0) * (states_second[stratum] - 1.0)
    _count_numbers(strata, weights, n_rows, n_strata, totals)
    _count_numbers(first, weights, n_rows, n_first, ones)
    _count_numbers(second, weights, n_rows, n_second, others)
    _count_numbers(both, weights, n_rows, n_both, counts)
    for row in range(n_rows):
        n, one, other = counts[both[row]], ones[first[row]], others[second[row]]
        total = totals[strata[row]]
        if kind == X2:
            terms[both[row]] = n * (n * total / (one * other))
        else:
            terms[both[row]] = _compute_term(kind, n, total, one, other)
    sort_values(terms, n_both)
    statistic = 0.0
    for i in range(n_both):
        statistic += terms[i]
    if kind == X2:
        n = 0.0
        for stratum in range(n_strata):  # whole numbers: their sum is exact in any order
            n += totals[stratum]
        statistic -= n
    return (max(statistic, 0.0) if freedom > 0.0 else 0.0), freedom


@part
def _compute_deviance(excess):
    """Return x - log(1 + x), without cancellation for small x."""
    if abs(excess) > SMALL_EXCESS:
        return excess - math.log1p(excess)
    ratio = excess / (2.0 + excess)
    square = ratio * ratio
    series = 0.0
    for k in range(21, 1, -2):
        series = (series + 1.0 / k) * square
    return ratio * (excess - 2.0 * series)


@part
def _compute_factor(a, x):
    """Return x^a e^-x / Gamma(a + 1)."""
    if a < LEAST_STIRLING:
        return math.exp(a * math.log(x) - x - math.lgamma(a + 1.0))
    square = 1.0 / (a * a)
    series = 1 / 1188 - square * (691 / 360360 - square / 156)
    series = 1 / 12 - square * (
        1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * series))
    )
    deviance = a * _compute_deviance((x - a) / a)
    return math.exp(-deviance - series / a) / math.sqrt(2.0 * math.pi * a)


@part
def _compute_upper_tail(a, x):
    """Return Q(a, x), for a > 0 and x >= 0."""
    if x <= 0.0:
        return 1.0
    factor = _compute_factor(a, x)
    if x < a + 1.0:
        term = total = 1.0
        n = a
        while term > 1e-17 * total:
            n += 1.0
            term *= x / n
            total += term
        return max(0.0, 1.0 - factor * total)
    if factor == 0.0:
        return 0.0
    b = x + 1.0 - a
    c, d = 1.0 / TINY, 1.0 / b
    fraction = d
    step, i = 2.0, 0.0
    while abs(step - 1.0) > 1e-16:
        i += 1.0
        numerator = i * (a - i)
        b += 2.0
        d = numerator * d + b
        d = 1.0 / (d if abs(d) > TINY else TINY)
        c = b + numerator / c
        c = c if abs(c) > TINY else TINY
        step = c * d
        fraction *= step
    return min(1.0, factor * a * fraction)


@kernel((NUMBERS, NUMBERS, NUMBERS))
def compute_upper_tails(statistics, freedoms, tails):
    """Overwrite the chances of a chi-squared variable to be larger; 1 with 0 degrees of freedom."""
    for i in range(len(tails)):
        tails[i] = 1.0
        if freedoms[i] > 0.0:
            tails[i] = _compute_upper_tail(0.5 * freedoms[i], 0.5 * statistics[i])
