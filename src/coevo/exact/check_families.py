"""Families and points for the checker of certificates, without the code of the solver.

A family that does not score more than each of its subsets is left out: a subset can replace it in
any network. `coevo.exact.superset_bounds` says why some sets need not be extended.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.errors import FormatError
from coevo.exact.superset_bounds import SupersetBounds
from coevo.score import FamilyBatch

__all__ = ["check_table", "give_points", "list_families", "round_up"]

Array = NDArray[Any]


def round_up(scores: Array) -> Array:
    """Return scores in units of 2 ** -32 nats, rounded up."""
    return np.ceil(scores * 2.0**32).astype(np.int64)


def check_table(right: int, rows: list[list[int]]) -> None:
    """Raise `FormatError` unless each network of the variables receives `right` points."""
    least, size = np.array(rows), len(rows)
    sets = np.arange(1 << size)
    for u in range(size):  # the fewest points for parents inside each set
        longer = sets[sets >> u & 1 == 1]
        least[:, longer] = np.minimum(least[:, longer], least[:, longer ^ (1 << u)])
    fewest = [0]  # of the networks of each set: the last variable has its parents among the others
    for inside in range(1, 1 << size):
        last = [v for v in range(size) if inside >> v & 1]
        fewest.append(min(fewest[inside ^ 1 << v] + int(least[v, inside ^ 1 << v]) for v in last))
    if fewest[-1] < right:
        raise FormatError("The certificate does not hold: a table of points is wrong.")


def give_points(parents: Array, child: int, k: int, members: list[int], tables: Any) -> Array:
    """Return the points of families: 1 with fewer than k parents inside, or those of a table."""
    size = max(int(parents.max(initial=0)), *members) + 1
    if k > 0:
        inside = np.zeros(size, dtype=np.int64)
        inside[members] = 1
        return np.asarray(inside[parents].sum(axis=1) < k, dtype=np.int64)
    bits = np.zeros(size, dtype=np.int64)
    bits[members] = 1 << np.arange(len(members))
    row = np.array(tables[-1 - k][1][members.index(child)])
    return np.asarray(row[bits[parents].sum(axis=1)])


def list_families(
    bounds: SupersetBounds, child: int, most: int | None = None
) -> tuple[Array, Array]:
    """Return all families of a child that score more than each of their subsets.

    With at most so many free parents, one more family without any stands for all larger ones.
    """
    scorer, rules = bounds.scorer, bounds.rules
    n = len(rules.allowed)
    required = np.flatnonzero(rules.required[:, child])
    free = np.flatnonzero(rules.allowed[:, child] & ~rules.required[:, child])
    sets, inherited = np.empty((1, 0), dtype=np.int64), np.full(1, -np.inf)
    kept: list[tuple[Array, Array]] = []
    while len(sets):
        size = sets.shape[1] + len(required)
        parents = np.concatenate([free[sets], np.tile(required, (len(sets), 1))], axis=1)
        parents.sort(axis=1)
        members = np.insert(parents, 0, child, axis=1).astype(np.int32)
        starts = np.arange(len(sets) + 1, dtype=np.int64) * (size + 1)
        scores = scorer.score_once(FamilyBatch(members.ravel(), starts))
        is_kept = scores > inherited
        kept.append((parents[is_kept], scores[is_kept]))
        best = np.maximum(scores, inherited)
        is_open = (scores > -np.inf) & (size < rules.max_parents)
        bound = bounds.bound_supersets(child, parents[is_open], scores[is_open], best[is_open])
        is_larger = bound > best[is_open]
        is_open[is_open] = is_larger
        if sets.shape[1] == most and is_open.any():
            kept.append((required[None], bound[is_larger].max(keepdims=True)))
            break

        def is_redundant(
            at: Array, place: Array, opened: Array = parents[is_open], own: Array = scores[is_open]
        ) -> Array:
            return bounds.find_redundant(child, opened[at], own[at], free[place])

        sets, inherited = extend(sets[is_open], best[is_open], len(free), is_redundant)
    width = max(p.shape[1] for p, _ in kept)
    wide = [np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=n) for p, _ in kept]
    return np.concatenate(wide), round_up(np.concatenate([s for _, s in kept]))


def extend(sets: Array, best: Array, n_free: int, is_redundant: Any) -> tuple[Array, Array]:
    """Return the sets with one more member all of whose subsets are given, and their best score.

    Leave out a set if one of its members is redundant beside the others.
    """
    last = sets[:, -1] if sets.shape[1] else np.full(len(sets), -1)
    counts = n_free - 1 - last
    source = np.repeat(np.arange(len(sets)), counts)
    offset = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    longer = np.concatenate([sets[source], (last[source] + 1 + offset)[:, None]], axis=1)
    numbers = number_sets(sets, n_free)
    order = np.argsort(numbers)
    known, inherited = numbers[order], np.full(len(longer), -np.inf)
    for place in range(longer.shape[1]):
        wanted = number_sets(np.delete(longer, place, axis=1), n_free)
        found = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        is_kept = known[found] == wanted
        longer, inherited, found = longer[is_kept], inherited[is_kept], order[found[is_kept]]
        is_kept = ~is_redundant(found, longer[:, place])
        longer, inherited = longer[is_kept], np.maximum(inherited, best[found])[is_kept]
    return longer, inherited


def number_sets(sets: Array, base: int) -> Array:
    """Return a different number for each set of one size; of Python where 64 bits are too few."""
    is_small = base ** sets.shape[1] < 2**63
    numbers = np.zeros(len(sets), dtype=np.int64 if is_small else object)
    for column in sets.T:
        numbers = numbers * base + column
    return numbers
