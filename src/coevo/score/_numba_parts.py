"""What kernels that have not moved yet still need of numba; it goes with them."""
# mypy: ignore-errors

from __future__ import annotations

import functools
import math
from collections import namedtuple
from typing import Any

import numpy as np

from coevo.engine import Structure
from coevo.jit import inline, part
from coevo.score.count_kernels import ARITY, RANK
from coevo.score.score_kernels import (
    ALL_ONES,
    DIRICHLET_SEEN,
    FACTORISED,
    LIKELIHOOD,
    QUOTIENT,
    RISING_ROWS,
)

STRIDE, DIVISOR, LOG_GAMMA, FIRST, LARGEST_PRODUCT, LARGE_PRIOR = 0, 0, 1, 2, 1e200, 1e4
RISING_LENGTH = 256
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
INDEX = SHARED = SCRATCH = SPEC = PLAN = SUMS = SCORES = None


def _make_tuple(value: Any) -> Any:
    if not isinstance(value, Structure):
        return value
    fields = value.__dict__ | {name: value.__dict__[name] for name in value.field_types}
    if type(value).__name__ == "Scratch":  # what numba still wants
        n = len(value.stride)
        fields |= {"work": np.zeros((4, n), dtype=np.int64)}
    fields.pop("address")
    return _make_kind(type(value).__name__, tuple(fields))(**fields)


_make_kind = functools.cache(namedtuple)


def over_tuples(compiled: Any) -> Any:
    """Call a numba kernel with named tuples in the place of structures; it goes with numba."""
    return lambda *values: compiled(*map(_make_tuple, values))


@inline
def set_strides(facts, variables, k, work):
    """Overwrite the strides of a table over k variables; return its number of cells."""
    cells = np.int64(1)
    for axis in range(k - 1, -1, -1):
        work[STRIDE, axis] = cells
        cells *= facts[variables[axis], ARITY]
    return cells


@inline
def sort_by_rank(facts, members, begin, k, variables):
    """Overwrite `variables` with the k members from `begin` on, sorted by rank."""
    for n in range(k):
        member = members[begin + n]
        place = n
        while place > 0 and facts[variables[place - 1], RANK] > facts[member, RANK]:
            variables[place] = variables[place - 1]
            place -= 1
        variables[place] = member


@inline
def find_stride(child, variables, k, work):
    """Return the stride of the child's axis."""
    stride = np.int64(0)
    for axis in range(k):
        if variables[axis] == child:
            stride = work[STRIDE, axis]
    return stride


@inline
def _compute_term(n, factorial):
    """Return log n! or n log n."""
    return math.lgamma(n + 1.0) if factorial else n * math.log(n)


@part
def _sum_terms(table, counts, n, shift, n_rows, factorial):
    """Return the sum over the first n cells of term(count + shift) - term(shift)."""
    a = b = c = d = 0.0
    none = table[shift]
    if n_rows + shift >= len(table):
        for i in range(n):
            count = np.int64(counts[i]) + shift
            a += (table[count] if count < len(table) else _compute_term(count, factorial)) - none
        return a
    shift = np.uint32(shift)  # unsigned indices, see `count_kernels`
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    n_unrolled = np.uint64(n - n % 4)
    for i in range(np.uint64(0), n_unrolled, four):
        a += table[counts[i] + shift] - none
        b += table[counts[i + one] + shift] - none
        c += table[counts[i + two] + shift] - none
        d += table[counts[i + three] + shift] - none
    for i in range(n_unrolled, np.uint64(n)):
        a += table[counts[i] + shift] - none
    return (a + b) + (c + d)


@inline
def _log_gamma(x):
    """Return log gamma(x) for x >= RISING_LENGTH, by Stirling's series.

    The first omitted term is below 1e-19 there.
    """
    square = x * x
    series = (1 / 12 - (1 / 360 - 1 / (1260 * square)) / square) / x
    return (x - 0.5) * math.log(x) - x + HALF_LOG_TWO_PI + series


@inline
def log_rising_of_large(a, count):
    """Return log rising(a, count) for a >= LARGE_PRIOR.

    It is the difference of two Stirling series, in a form in which their large terms are gone.
    """
    total = a + count
    series = (1 / total - 1 / a) / 12
    return count * math.log(a) + ((total - 0.5) * math.log1p(count / a) - count) + series


@inline
def _log_rising(row, a, count):
    """Return log rising(a, count), from a row of `rising` if the row is long enough."""
    if count < RISING_LENGTH:
        return row[np.uint32(FIRST) + count]
    if a >= LARGE_PRIOR:
        return log_rising_of_large(a, float(count))
    return _log_gamma(a + count) - row[LOG_GAMMA]


@part
def _sum_rising(rising, ess, divisor, counts, n):
    """Return the sum over the first n cells of log rising(ess / divisor, count)."""
    a = ess / divisor
    row = rising[divisor % RISING_ROWS]
    if row[DIVISOR] != divisor:
        row[DIVISOR], row[LOG_GAMMA], row[FIRST] = divisor, math.lgamma(a), 0.0
        for i in range(1, RISING_LENGTH):
            row[FIRST + i] = row[FIRST + i - 1] + math.log(a + (i - 1))
    total = b = c = d = 0.0
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    n_unrolled = np.uint64(n - n % 4)
    for i in range(np.uint64(0), n_unrolled, four):
        total += _log_rising(row, a, counts[i])
        b += _log_rising(row, a, counts[i + one])
        c += _log_rising(row, a, counts[i + two])
        d += _log_rising(row, a, counts[i + three])
    for i in range(n_unrolled, np.uint64(n)):
        total += _log_rising(row, a, counts[i])
    return (total + b) + (c + d)


@inline
def _sum_over_child(counts, n_cells, stride, arity, margin):
    """Overwrite `margin` with the sums of the table over the axis of the child.

    Two and three states have code of their own: a loop over so few costs more than the sums.
    """
    step, width = np.uint64(stride), np.uint64(arity * stride)
    first = np.uint64(0)
    for cell in range(np.uint64(0), np.uint64(n_cells), width):
        if arity == 2:
            for i in range(step):
                margin[first + i] = counts[cell + i] + counts[cell + step + i]
        elif arity == 3:
            second, third = cell + step, cell + step + step
            for i in range(step):
                margin[first + i] = counts[cell + i] + counts[second + i] + counts[third + i]
        else:
            for i in range(step):
                total = counts[cell + i]
                for other in range(cell + step + i, cell + width, step):
                    total += counts[other]
                margin[first + i] = total
        first += step


@part
def compute_regret(two_states, count, arity):
    """Return log C(arity, count); ``two_states[n]`` is C(2, n).

    Above the length of the table, use the first three terms of its series.
    """
    if arity < 2 or count == 0:
        return 0.0
    if count < len(two_states):
        ratio = two_states[count]
    else:
        ratio = math.sqrt(0.5 * math.pi * count) + 2 / 3 + math.sqrt(2 * math.pi / count) / 24
    product, total = ratio, 0.0
    for k in range(1, arity - 1):
        ratio = 1.0 + count / k / ratio
        product *= ratio
        if product > LARGEST_PRODUCT:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)


@part
def _compute_regret_of_states(regret, n_states, n_rows):
    """Return log C(n_states, n_rows), from the table or by an approximation for many states."""
    if n_states + 0.5 < len(regret):
        return regret[np.int64(n_states + 0.5)]  # the product may be off by round-off
    alpha = n_states / n_rows
    excess = 2 / alpha / (1 + math.sqrt(1 + 4 / alpha))
    terms = math.log(alpha) + (alpha + 2) * math.log1p(excess) - 1 / (1 + excess)
    return n_rows * terms - 0.5 * math.log(1 + excess + 2 / alpha)


@inline
def compute_quotient_penalty(spec, q, arity):
    """Return log C(q r, N) - log C(q, N)."""
    joint = _compute_regret_of_states(spec.regret, q * arity, float(spec.n_rows))
    return joint - _compute_regret_of_states(spec.regret, q, float(spec.n_rows))


@part
def score_table(spec, counts, n_cells, stride, arity, margin, rising):
    """Return the local score of a table; `stride` and `arity` belong to the child."""
    _sum_over_child(counts, n_cells, stride, arity, margin)
    q = n_cells // arity
    factorial = spec.kind == ALL_ONES
    if factorial or spec.kind >= LIKELIHOOD:
        shift = arity - 1 if factorial else np.int64(0)
        cells = _sum_terms(spec.table, counts, n_cells, np.int64(0), spec.n_rows, factorial)
        configurations = _sum_terms(spec.table, margin, q, shift, spec.n_rows, factorial)
        score = cells - configurations
        if spec.kind == FACTORISED:
            for i in range(q):
                score -= compute_regret(spec.regret, np.int64(margin[i]), np.int64(arity))
            return score
        if spec.kind == QUOTIENT:
            return score - compute_quotient_penalty(spec, float(q), float(arity))
        return score - spec.penalty * q * (arity - 1.0)
    divisor = q
    if spec.kind == DIRICHLET_SEEN:
        divisor = np.int64(0)
        for i in range(q):
            divisor += margin[i] > 0
    cells = _sum_rising(rising, spec.ess, divisor * arity, counts, n_cells)
    return cells - _sum_rising(rising, spec.ess, divisor, margin, q)
