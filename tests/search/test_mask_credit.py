"""Which parent sets of masks survive: their credit, by plain loops, and what reads the masks."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from coevo.search import CCMA
from coevo.search.breeding import SOURCES, ParentSetBreeder
from coevo.search.mask_credit import assign_credit, fade_credit, select_survivors
from coevo.search.parent_extension import extend_parent_sets
from coevo.search.state_schema import LARGEST_SCORE
from helpers.problems import collect_states, make_problem, random_table

N = 6


@pytest.fixture
def problem(seed):
    return make_problem(random_table(seed, N, 150), "bdeu")


@pytest.fixture
def state(problem, seed):
    """Return a state in the middle of the evolution, with orders that differ."""
    state = collect_states(CCMA(orders=5, masks=4), problem, seed, 9)[-1]
    assert not state.is_climbing
    return state


def draw_parent_sets(rng, n_sets):
    """Return distinct parent sets of up to three parents."""
    drawn = set()
    while len(drawn) < n_sets:
        child = int(rng.integers(N))
        others = [v for v in range(N) if v != child]
        parents = rng.choice(others, size=int(rng.integers(4)), replace=False)
        drawn.add((child, tuple(sorted(parents.tolist()))))
    return sorted(drawn)


def compute_credit(problem, state, child, parents, partner):
    """Return the gain of the best family, with or without one more parent, for an order."""
    names = problem.names
    place = {variable: i for i, variable in enumerate(state.orders[partner].tolist())}
    if any(place[parent] > place[child] for parent in parents):
        return -np.inf
    chosen = state.archive.parents_of(int(state.choice[partner, child]))
    wider = [
        (*parents, other)
        for other in range(N)
        if other not in (child, *parents) and place[other] < place[child]
    ]
    scores = [
        problem.scorer.local_score(names[child], [names[p] for p in one])
        for one in [parents, *wider, chosen]
    ]
    return max(scores[:-1]) - scores[-1]


def select_naively(masks, credit, parent_sets, new_credit):
    """Return the parent set and the credit of each mask and child; the best new sets come first."""
    survivors = [
        [(tuple(np.flatnonzero(mask[:, c]).tolist()), value) for c, value in enumerate(row)]
        for mask, row in zip(masks, credit.tolist(), strict=True)
    ]
    for s in sorted(range(len(parent_sets)), key=lambda s: -new_credit[s]):
        child, parents = parent_sets[s]
        worst = min(range(len(masks)), key=lambda mask: survivors[mask][child][1])
        if new_credit[s] > survivors[worst][child][1]:
            survivors[worst][child] = (parents, new_credit[s])
    return survivors


def as_pairs(masks, credit):
    return [
        [(tuple(np.flatnonzero(mask[:, c]).tolist()), value) for c, value in enumerate(row)]
        for mask, row in zip(masks, credit.tolist(), strict=True)
    ]


@pytest.mark.parametrize("case", range(4))
def test_credit_is_the_gain_for_the_best_and_a_random_partner(case, problem, state, seed):
    rng = np.random.default_rng([seed, case])
    parent_sets = draw_parent_sets(rng, 25)
    old = rng.normal(-5.0, 10.0, state.credit.shape)
    state = replace(state, credit=old)
    extensions = extend_parent_sets(problem, parent_sets)
    masks, credit = assign_credit(np.random.default_rng(case), state, extensions)

    partner = int(np.random.default_rng(case).integers(len(state.orders)))
    expected = [
        max(compute_credit(problem, state, *one, p) for p in (0, partner)) for one in parent_sets
    ]
    faded = np.where(old < 0, 2 * old, old / 2)
    wanted = select_naively(state.masks, faded, parent_sets, expected)
    for found_row, wanted_row in zip(as_pairs(masks, credit), wanted, strict=True):
        for found, one in zip(found_row, wanted_row, strict=True):
            assert found[0] == one[0]
            assert found[1] == pytest.approx(one[1], abs=1e-9)


def test_the_best_new_parent_sets_replace_the_worst_old_ones(state):
    """Each child has its own competition; a parent set that is not better stays out."""
    n_masks = len(state.masks)
    credit = np.tile(np.arange(n_masks, dtype=float)[:, None], (1, N)) * 4.0  # 0, 4, 8, 12
    before = replace(state, credit=credit, masks=np.zeros_like(state.masks))
    new = [(0, (1,)), (0, (2,)), (0, (3,)), (2, (4, 5)), (3, (1,))]
    masks, after = select_survivors(before, tuple(new), np.array([3.0, 1.0, 5.0, -1.0, 0.0]))
    # Old credit halves: 0, 2, 4, 6. For child 0, 5 replaces 0, then 3 replaces 2; 1 is too low.
    assert after[:, 0].tolist() == [5.0, 3.0, 4.0, 6.0]
    assert np.flatnonzero(masks[0, :, 0]).tolist() == [3]
    assert np.flatnonzero(masks[1, :, 0]).tolist() == [1]
    assert not masks[2:].any()
    assert not masks[:, :, 1:].any()  # -1 and 0 are not above 0
    assert (after[:, 1:] == credit[:, 1:] / 2).all()
    assert not before.masks.any()  # nothing is changed in place
    assert (before.credit == credit).all()


def test_credit_fades():
    """A gain halves and a loss doubles, down to a bound; no parent set is minus infinity."""
    low = -LARGEST_SCORE
    old = np.array([8.0, 0.0, -3.0, 0.4 * low, 0.6 * low, low, 1e3 * low, -1e308, -np.inf])
    wanted = [4.0, 0.0, -6.0, 0.8 * low, low, low, low, low, -np.inf]
    assert fade_credit(old).tolist() == wanted


@pytest.mark.filterwarnings("error")
def test_credit_stays_in_bounds_and_in_order_for_ever():
    credit = np.array([-1e-9, -1.0, -50.0, 50.0, -np.inf])
    for _ in range(1500):
        faded = fade_credit(credit)
        assert (faded[:4] <= credit[:4]).all()
        assert (np.diff(faded[:3]) <= 0).all()
        credit = faded
    assert credit.tolist() == [-LARGEST_SCORE] * 3 + [pytest.approx(0.0, abs=1e-300), -np.inf]


def test_parent_sets_of_masks_are_crossed(problem, state, seed):
    """A mask with the source 'cross' brings the union of parent sets of masks."""
    child = 0
    masks = np.zeros_like(state.masks)
    masks[0, [1, 2], child] = masks[1, [3], child] = masks[2, [4, 5], child] = True
    members = [{1, 2}, {3}, {4, 5}, set()]
    order = int(state.choice[0, child])
    response = set(state.archive.parents_of(order))
    found = set()
    for number in range(200):
        breeder = ParentSetBreeder(
            np.random.default_rng([seed, number]),
            problem.rules,
            state.archive,
            state.orders,
            state.choice,
            masks,
            state.probes,
        )
        found.add(frozenset(breeder._cross_sets(child, tuple(sorted(response)))))
    unions = [one | two for one in members for two in [*members, response]]
    assert {frozenset({1, 2, 3}), frozenset({3, 4, 5})} <= found
    assert all(any(one <= union for union in unions) for one in found)
    assert "cross" in SOURCES


def test_a_restart_keeps_the_best_order(problem, seed):
    """The first order stays, and the others are drawn again."""
    method = CCMA(orders=4, masks=3, restart_after=2)
    search = method.make_search(problem)
    states = collect_states(method, problem, seed, 60)
    n_restarts = 0
    for state, after in itertools.pairwise(states):
        if state.is_climbing:
            continue
        bred = search._breed_orders(np.random.default_rng(seed), state)
        n_stalled = state.generation - state.improved
        is_restart = n_stalled > 0 and n_stalled % 2 == 0
        n_restarts += is_restart
        assert (bred[0] == state.orders[0]).all()
        assert len(bred) == (5 if is_restart else 8)
        assert bool((bred[1:4] == state.orders[1:]).all()) is not is_restart
        best = [s.archive.score[s.choice[0]].sum() for s in (state, after)]
        assert best[1] >= best[0] - 1e-9
    assert n_restarts > 5
