"""The second species of CCMA: masks, which decide which families are scored.

A *mask* is a sparse superstructure. It has a *row* for each child: the candidate parents of the
child, and the *hope* of the row. The *credit* belongs to the mask.
An order and a mask together allow the DAGs whose arcs point forward in the order and are pairs of
the mask. Given an order and the scored families, the best parents are a lookup. So the masks do not
compete for a place in the solution; they compete for the budget of families. One generation of the
species:

1. **Turns.** Pairs of a mask and a child are drawn by credit (`draw_turns`), until the families
   of the generation are spent. A row with a turn extends one parent set of its child by each of
   its candidates. Where the parent set comes from depends on the mask (`coevo.search.breeding`).
2. **Credit.** The partners of a mask are the orders, the best included. What they would lose on
   average without the new families of the mask, divided by the number of families that it cost, is
   what it has earned (`assign_credit`). A row loses hope by a turn that helps no partner.
3. **Evolution.** Each candidate has a *value*: what it last added to a parent set. A row that had a
   turn drops the candidates with the lowest values. It takes candidates from the row of a mask
   with a higher credit (recombination by child), from the neighbourhood of the
   child in a partner, and at random (mutation); see `evolve_rows`. A parent that an order uses is
   never dropped.

Some masks are *scouts*: their rows are all variables. A turn of a scout costs as much as many
turns of others, and it finds parents that gain only beside the present ones, which no list that
is made beforehand has. Credit for each family decides how often that pays. What a scout finds, all
masks learn (`spread_findings`).

On a table with few variables every row holds all others. Then only the turns evolve.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.runtime.deadline import OutOfTime
from coevo.score import FamilyBatch, toggle_families
from coevo.search.archive import Archive, hash_keys
from coevo.search.base import LEAST_GAIN, Problem
from coevo.search.parent_extension import Extensions
from coevo.search.sparse_climb import add_best_parents

__all__ = [
    "N_CANDIDATES",
    "Masks",
    "Turns",
    "assign_credit",
    "draw_turns",
    "evolve_rows",
    "list_neighbours",
    "list_paying_pairs",
    "make_first_masks",
    "rank_candidates",
    "spread_findings",
]

Turns = NDArray[np.int64]  # (n_turns, 2), a mask and a child each

N_CANDIDATES = 40  # of a row; half of it misses parents, twice of it costs more than it finds
SCREENED_FROM = 320  # variables; with fewer, all pairs are scored in a tenth of a second
RESERVE = 4  # the first rows come from this many times N_CANDIDATES variables
EXPLORERS = 0.1  # share of a row that is replaced after a turn
FLOOR = 0.2  # share of the turns that are drawn without regard to credit, so that no mask starves
LESS_HOPE, LEAST_HOPE = 0.5, 0.05  # factor after a turn that helped nobody, and the floor
OLD_CREDIT = 0.5  # weight of the earlier credit of a mask against that of its last turns
OLD_VALUE = 0.3  # weight of the earlier value of a candidate
PAIRS_PER_BATCH = 1 << 15  # scored before the deadline is checked


@dataclass(frozen=True, eq=False)
class Masks:
    """The population. A row with fewer candidates than others is filled with the child itself."""

    candidates: NDArray[np.int32]  # (n_masks, n, n_candidates)
    values: NDArray[np.float64]  # of each candidate: what it last added to a parent set
    credit: NDArray[np.float64]  # (n_masks,), gain of the partners for each family scored
    hope: NDArray[np.float64]  # (n_masks, n), of each row, from 1 down to `LEAST_HOPE`
    spent: NDArray[np.int64]  # (n_masks, n), the families that each row has scored so far
    earned: NDArray[np.float64]  # (n_masks, n), what the partners gained by them, on average


def rank_candidates(problem: Problem) -> tuple[NDArray[np.int32], NDArray[np.float64], int]:
    """Return for each child the others with the largest gains, these gains, and their number.

    The gain of a variable is what it adds to the parents of the child in the start structure. What
    is required or in the start structure comes first. Out of time, the best parents so far are
    offered.
    """
    n, rules, start = problem.n_variables, problem.rules, problem.start
    width = min(RESERVE * N_CANDIDATES, max(0, n - 1))
    local = problem.local_scores(start)
    ranked = np.tile(np.arange(n, dtype=np.int32)[:, None], (1, width))
    gains = np.full((n, width), -np.inf)
    n_scored = n
    screened = _screen_pairs(problem, width)
    step, first = max(1, PAIRS_PER_BATCH // max(1, n if screened is None else width)), 0
    try:
        for first in range(0, n, step):
            children = range(first, min(n, first + step))
            others = [
                _list_open_parents(problem, child) if screened is None else next(screened)
                for child in children
            ]
            batch = FamilyBatch.from_parts(
                [
                    toggle_families(child, np.flatnonzero(start[:, child]), own)
                    for child, own in zip(children, others, strict=True)
                ]
            )
            scores = problem.scorer.score_once(batch) if len(batch) else np.empty(0)
            n_scored += len(batch)
            at = 0
            for child, own in zip(children, others, strict=True):
                gain = scores[at : at + len(own)] - local[child]
                at += len(own)
                is_held = start[own, child]
                fixed = np.flatnonzero(rules.required[:, child])
                sequence = np.argsort(np.where(is_held, -np.inf, -gain), kind="stable")
                row = np.concatenate([fixed, own[sequence]])[:width]
                ranked[child, : len(row)] = row
                signed = np.where(is_held, -gain, gain)[sequence]
                gains[child, : len(row)] = np.concatenate([np.zeros(len(fixed)), signed])[:width]
    except OutOfTime as late:
        late.offered = add_best_parents(problem, _iter_columns(ranked[:first], gains[:first], n))
        raise
    return ranked, np.where(np.isfinite(gains), gains, 0.0), n_scored


def _screen_pairs(problem: Problem, width: int) -> Iterator[NDArray[np.int64]] | None:
    """Return for each child the open parents with the largest single gains under BIC, unsorted.

    With many variables, the score of every pair costs more than the whole search. The bit sets of
    the scorer give the likelihoods of all pairs in a fraction of that, and only the pairs that are
    returned are scored. None where all pairs are scored: few variables, a start structure, or
    weights of arcs.
    """
    n, scorer = problem.n_variables, problem.scorer
    if n <= SCREENED_FROM or scorer.favours_arcs or problem.start.any():
        return None
    free = scorer.dataset.arities - 1.0
    penalty = 0.5 * math.log(max(2, scorer.dataset.n_rows)) * free

    def screen(child: int, likelihood: NDArray[np.float64]) -> NDArray[np.int64]:
        open_ones = _list_open_parents(problem, child)
        if len(open_ones) <= width:
            return open_ones
        # Rounded, so that the scorers agree; among equal gains, the first variables by name.
        gain = np.round(likelihood[open_ones] - penalty[open_ones] * free[child], 6)
        least = np.partition(gain, len(gain) - width)[len(gain) - width]
        above = gain > least
        equal = np.flatnonzero(gain == least)[: width - int(above.sum())]
        return open_ones[np.union1d(np.flatnonzero(above), equal)]

    return (screen(child, row) for child, row in enumerate(scorer.measure_pairs(range(n))))


def _list_open_parents(problem: Problem, child: int) -> NDArray[np.int64]:
    """Return the variables that may be added to the parents of a child, or removed from them."""
    rules, is_parent = problem.rules, problem.start[:, child]
    if not rules.has_arc_constraints and rules.max_parents and not is_parent.any():
        return np.delete(np.arange(problem.n_variables), child)
    has_room = is_parent.sum() < rules.max_parents
    open_ones = (rules.allowed[:, child] & has_room) | is_parent
    return np.flatnonzero(open_ones & ~rules.required[:, child])


def _iter_columns(
    ranked: NDArray[np.int32], gains: NDArray[np.float64], n: int
) -> Iterable[tuple[int, NDArray[np.float64]]]:
    for child, (row, own) in enumerate(zip(ranked, gains, strict=True)):
        column = np.full(n, -np.inf)
        column[row] = own
        yield child, column


def make_first_masks(
    rng: Generator, ranked: NDArray[np.int32], gains: NDArray[np.float64], n_masks: int
) -> Masks:
    """Return masks whose candidates are the variables with the largest gains.

    The first mask has the first ones. In the others some are drawn from the next ones, so that
    the masks differ.
    """
    n, width = ranked.shape
    k = min(N_CANDIDATES, width)
    candidates = np.tile(ranked[:, :k], (n_masks, 1, 1))
    values = np.tile(gains[:, :k], (n_masks, 1, 1))
    n_drawn = int(k * EXPLORERS)
    if width > k:
        for mask in range(1, n_masks):
            later = np.tile(np.arange(k - n_drawn, width), (n, 1))
            drawn = np.sort(rng.permuted(later, axis=1)[:, :n_drawn], axis=1)
            candidates[mask, :, k - n_drawn :] = np.take_along_axis(ranked, drawn, axis=1)
            values[mask, :, k - n_drawn :] = np.take_along_axis(gains, drawn, axis=1)
    nothing = np.zeros((n_masks, n))
    return Masks(
        candidates, values, np.zeros(n_masks), nothing + 1, nothing.astype(np.int64), nothing
    )


def draw_turns(rng: Generator, masks: Masks, widths: NDArray[np.int64]) -> Turns:
    """Return all pairs of a mask and a child in the sequence of their turns.

    `widths` has the number of families that a turn of each mask costs. The first pair is drawn with
    a probability that grows with the credit of the mask and with the hope of the row, then the next
    one among the others, and so on (Efraimidis and Spirakis 2006).

    >>> first = make_first_masks(np.random.default_rng(0), np.array([[1], [0]]), np.ones((2, 1)), 2)
    >>> masks = replace(first, credit=np.array([0.0, 9e9]))
    >>> draw_turns(np.random.default_rng(1), masks, np.array([1, 1]))[0].tolist()
    [1, 1]
    """
    share = 1.0 / widths
    share /= share.sum()
    if masks.credit.sum() > 0:
        share = FLOOR * share + (1 - FLOOR) * masks.credit / masks.credit.sum()
    weight = (share[:, None] * masks.hope / masks.hope.sum(axis=1, keepdims=True)).ravel()
    sequence = np.argsort(rng.exponential(size=weight.size) / weight, kind="stable")
    return np.column_stack(np.divmod(sequence, masks.hope.shape[1]))


def assign_credit(
    masks: Masks,
    turns: Turns,
    extensions: Extensions,
    archive: Archive,
    choice: NDArray[np.int64],
    losses: NDArray[np.float64],
) -> Masks:
    """Return the masks with their credit, and with the hope of the rows that had a turn.

    `choice` has the families that the partners have chosen from the archive, and `losses` what
    each partner would lose, for each child, without the families of this generation. The loss of a
    child is earned by the row that made the family that is chosen now.
    """
    if not len(turns):
        return masks
    made, made_by = _list_made_families(extensions, masks.hope.shape[1])
    partner, child = np.nonzero(losses > LEAST_GAIN)
    wanted = archive.hashes[choice[partner, child]]
    at = np.minimum(np.searchsorted(made, wanted), len(made) - 1)
    is_made = made[at] == wanted
    earned = np.zeros(len(turns))
    np.add.at(earned, made_by[at[is_made]], losses[partner[is_made], child[is_made]])
    earned /= len(choice)
    mask, row = turns.T
    n_families = extensions.count_families()
    cost = np.bincount(mask, n_families, len(masks.credit))
    rate = np.bincount(mask, earned, len(masks.credit)) / np.maximum(1, cost)
    new = OLD_CREDIT * masks.credit + (1 - OLD_CREDIT) * rate
    hope, spent, gained = masks.hope.copy(), masks.spent.copy(), masks.earned.copy()
    hope[mask, row] = np.where(earned > 0, 1.0, np.maximum(LEAST_HOPE, LESS_HOPE * hope[mask, row]))
    spent[mask, row] += n_families
    gained[mask, row] += earned
    credit = np.where(cost > 0, new, masks.credit)
    return replace(masks, credit=credit, hope=hope, spent=spent, earned=gained)


def _list_made_families(
    extensions: Extensions, n_variables: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of all families of the extensions, ascending, and the turns they are of."""
    as_parent = hash_keys(n_variables)[1]
    own = extensions.hashes
    turn, column = np.nonzero(extensions.wider_scores > extensions.scores[:, None])
    wider = own[turn] ^ as_parent[extensions.candidates[turn, column]]
    made, made_by = np.concatenate([own, wider]), np.concatenate([np.arange(len(own)), turn])
    ascending = np.argsort(made, kind="stable")
    return made[ascending], made_by[ascending]


def evolve_rows(
    rng: Generator,
    masks: Masks,
    turns: Turns,
    extensions: Extensions,
    archive: Archive,
    choice: NDArray[np.int64],
) -> Masks:
    """Return the masks after selection, recombination and mutation of the rows that had a turn."""
    n_masks, n, k = masks.candidates.shape
    if k >= n - 1 or not len(turns):
        return masks
    mask, child = turns.T
    values = masks.values.copy()
    is_tested = extensions.wider_scores > -np.inf
    added = np.where(is_tested, extensions.wider_scores - extensions.scores[:, None], 0.0)
    faded = OLD_VALUE * np.maximum(values[mask, child], 0.0)
    own_values = np.where(is_tested, added + faded, values[mask, child])
    values[mask, child] = own_values

    # Selection: the best candidates come first, and parents in use before all others.
    rows = masks.candidates[mask, child]
    in_use = np.isin(child[:, None] * n + rows, _list_chosen_pairs(archive, choice))
    sequence = np.argsort(np.where(in_use, -np.inf, -own_values), axis=1, kind="stable")
    rows = np.take_along_axis(rows, sequence, axis=1)
    own_values = np.take_along_axis(own_values, sequence, axis=1)

    # Recombination: the best candidates of the better of two rows of the same child.
    n_new, n_turns = max(1, int(k * EXPLORERS)), len(turns)
    one, two = rng.integers(n_masks, size=(2, n_turns))
    better = np.where(masks.credit[one] >= masks.credit[two], one, two)
    best = np.argsort(-values[better, child], axis=1, kind="stable")[:, : 2 * n_new]
    crossed = np.take_along_axis(masks.candidates[better, child], best, axis=1)
    crossed_values = np.take_along_axis(values[better, child], best, axis=1)

    # Mutation: neighbours of the child in a partner, and any variables.
    partner = choice[int(rng.integers(len(choice)))]
    near = list_neighbours(rng, archive, partner, child, n_new)
    drawn = rng.integers(n, size=(n_turns, n_new), dtype=np.int32)
    explorers = np.concatenate([crossed, near, drawn], axis=1)
    explorer_values = np.concatenate([crossed_values, np.zeros((n_turns, 2 * n_new))], axis=1)
    shuffled = rng.permuted(np.tile(np.arange(explorers.shape[1]), (n_turns, 1)), axis=1)
    explorers = np.take_along_axis(explorers, shuffled, axis=1)
    explorer_values = np.take_along_axis(explorer_values, shuffled, axis=1)

    candidates = masks.candidates.copy()
    candidates[mask, child], values[mask, child] = _replace_last(
        rows, own_values, explorers, explorer_values, child, n_new
    )
    return replace(masks, candidates=candidates, values=values)


def _replace_last(
    rows: NDArray[np.int32],
    values: NDArray[np.float64],
    explorers: NDArray[np.int32],
    explorer_values: NDArray[np.float64],
    child: NDArray[np.int64],
    n_new: int,
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return rows whose last `n_new` candidates are replaced by explorers that are new to them."""
    k = rows.shape[1]
    pool = np.concatenate([rows, explorers], axis=1)
    pool_values = np.concatenate([values, explorer_values], axis=1)
    rank = np.zeros(pool.shape, dtype=np.int8)
    rank[:, k - n_new : k], rank[:, k:] = 2, 1
    rank[_flag_repeated(pool) | (pool == child[:, None])] = 3
    kept = np.argsort(rank, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(pool, kept, axis=1), np.take_along_axis(pool_values, kept, axis=1)


def spread_findings(masks: Masks, turns: Turns, scans: Extensions) -> Masks:
    """Return the masks after scans of all variables.

    The row of the scout has what the scan found: the variables that add most to the parents of the
    child. Every other row of the child takes the first ones of these.
    """
    n_masks, n, k = masks.candidates.shape
    if k >= n - 1 or not len(turns):
        return masks
    added = np.where(np.isfinite(scans.wider_scores), scans.wider_scores, -np.inf)
    added -= scans.scores[:, None]
    best = np.argsort(-added, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(scans.candidates, best, axis=1)
    found_values = np.maximum(np.take_along_axis(added, best, axis=1), 0.0)
    candidates, values = masks.candidates.copy(), masks.values.copy()
    n_new = max(1, int(k * EXPLORERS))
    for scout in np.unique(turns[:, 0]).tolist():
        own = np.flatnonzero(turns[:, 0] == scout)
        child = turns[own, 1]
        for mask in range(n_masks):
            candidates[mask, child], values[mask, child] = _replace_last(
                candidates[mask, child],
                values[mask, child],
                found[own, :n_new],
                found_values[own, :n_new],
                child,
                n_new,
            )
        candidates[scout, child], values[scout, child] = found[own], found_values[own]
    return replace(masks, candidates=candidates, values=values)


def _list_chosen_pairs(archive: Archive, choice: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return child * n + parent for all parents that any order has chosen."""
    child, parent = archive.list_pairs(np.unique(choice))
    pairs: NDArray[np.int64] = child * (len(archive.begin) - 1) + parent
    return pairs


def _flag_repeated(rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which entries of each row occur before in the same row.

    >>> _flag_repeated(np.array([[3, 1, 3, 1]], dtype=np.int32)).tolist()
    [[False, False, True, True]]
    """
    sequence = np.argsort(rows, axis=1, kind="stable")
    ascending = np.take_along_axis(rows, sequence, axis=1)
    is_equal = np.zeros(rows.shape, dtype=np.bool_)
    is_equal[:, 1:] = ascending[:, 1:] == ascending[:, :-1]
    repeated = np.empty(rows.shape, dtype=np.bool_)
    np.put_along_axis(repeated, sequence, is_equal, axis=1)
    return repeated


def list_neighbours(
    rng: Generator,
    archive: Archive,
    chosen: NDArray[np.int64],
    children: NDArray[np.int64],
    width: int,
) -> NDArray[np.int32]:
    """Return some neighbours of each child at distance one or two in the structure of a partner.

    These are parents of parents, children, and other parents or children of these. Places without
    a neighbour have the child itself.
    """
    parents_of = [archive.parents_of(family) for family in chosen.tolist()]
    children_of: list[list[int]] = [[] for _ in parents_of]
    for child, parents in enumerate(parents_of):
        for parent in parents:
            children_of[parent].append(child)
    distinct, number = np.unique(children, return_inverse=True)
    near = np.tile(distinct.astype(np.int32)[:, None], (1, width))
    for row, child in enumerate(distinct.tolist()):
        found = dict.fromkeys(children_of[child])
        for parent in parents_of[child]:
            found |= dict.fromkeys((*parents_of[parent], *children_of[parent]))
        for other in children_of[child]:
            found |= dict.fromkeys(parents_of[other])
        found.pop(child, None)
        listed = list(found)
        if len(listed) > width:
            listed = rng.choice(listed, size=width, replace=False).tolist()
        near[row, : len(listed)] = listed
    return near[number]


def list_paying_pairs(masks: Masks) -> NDArray[np.int64]:
    """Return (parent, child, number of masks that hold the pair) for all pairs of positive value.

    >>> gains = np.array([[2.0], [-1.0]])
    >>> masks = make_first_masks(np.random.default_rng(0), np.array([[1], [0]]), gains, 1)
    >>> list_paying_pairs(masks).tolist()
    [[1, 0, 1]]
    """
    n = masks.hope.shape[1]
    mask, child, place = np.nonzero(masks.values > 0)
    pair = masks.candidates[mask, child, place] * np.int64(n) + child
    distinct, times = np.unique(pair, return_counts=True)
    return np.column_stack([*np.divmod(distinct, max(1, n)), times])
