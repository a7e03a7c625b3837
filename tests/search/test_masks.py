"""The second species of CCMA: turns, credit, hope and evolution, by plain loops."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from coevo import Budget, FamilyScorer, run_search
from coevo.search import CCMA
from coevo.search.breeding import ELITE, SCOUTS
from coevo.search.ccma import CCMASearch
from coevo.search.masks import (
    LEAST_HOPE,
    assign_credit,
    draw_turns,
    evolve_rows,
    list_neighbours,
    make_first_masks,
    rank_candidates,
    spread_findings,
)
from coevo.search.order_climbs import find_responses
from coevo.search.parent_extension import add_extensions, extend_parent_sets
from helpers.problems import collect_states, dataset_of, make_problem, random_table

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


@pytest.fixture
def wide(monkeypatch, seed):
    """Return a problem with more variables than a row has candidates, and one of its states."""
    monkeypatch.setattr("coevo.search.masks.N_CANDIDATES", 4)
    monkeypatch.setattr("coevo.search.ccma.N_CANDIDATES", 4)
    problem = make_problem(random_table(seed, 12, 150), "bdeu")
    state = collect_states(CCMA(orders=4, masks=3), problem, seed, 12)[-1]
    assert not state.is_climbing
    assert state.candidates.shape == (3, 12, 4)
    return problem, state


def draw_work(rng, n_masks, n_turns):
    """Return distinct turns, and parent sets of up to three parents for them."""
    pairs = [(mask, child) for mask in range(n_masks) for child in range(N)]
    turns = [pairs[i] for i in rng.permutation(len(pairs))[:n_turns]]
    sets = []
    for _, child in turns:
        others = [v for v in range(N) if v != child]
        parents = rng.choice(others, size=int(rng.integers(4)), replace=False)
        sets.append((child, tuple(sorted(parents.tolist()))))
    return np.array(turns), sets


def find_best(problem, order, child, families):
    """Return the best of these families that an order allows: its score and its parents."""
    before = order[: order.index(child)]
    scored = [
        (
            problem.scorer.local_score(problem.names[child], [problem.names[p] for p in parents]),
            parents,
        )
        for parents in families
        if set(parents) <= set(before)
    ]
    return max(scored, key=lambda pair: pair[0])


@pytest.mark.parametrize("case", range(4))
def test_credit_is_what_the_orders_would_lose_without_the_families(case, problem, state, seed):
    """An oracle that knows families as sets: scores them, looks up responses, divides by cost."""
    rng = np.random.default_rng([seed, case])
    turns, sets = draw_work(rng, len(state.credit), 9)
    old_credit, old_hope = rng.random(len(state.credit)), rng.uniform(0.2, 1.0, state.hope.shape)
    masks = replace(state.masks, credit=old_credit, hope=old_hope)
    rows = state.candidates[turns[:, 0], turns[:, 1]]
    # An archive of the empty families only, so that much is new.
    bare = type(state.archive).from_problem(problem)
    extensions = extend_parent_sets(problem, sets, rows)
    archive = add_extensions(bare, extensions)
    _, choice = find_responses(problem, archive, state.orders)
    _, without = find_responses(problem, bare, state.orders)
    losses = archive.score[choice] - bare.score[without]
    found = assign_credit(masks, turns, extensions, archive, choice, losses)

    earned = np.zeros(len(turns))
    made = []  # the families of each turn
    for (child, parents), row in zip(sets, rows.tolist(), strict=True):
        wider = [tuple(sorted({*parents, u})) for u in row if u not in (child, *parents)]
        made.append([parents, *wider])
    cost = [1 + np.isfinite(w).sum() for w in extensions.wider_scores]
    shared = set()  # turns that made a family which another turn made, too: one of them earns it
    for order in state.orders.tolist():
        for child in range(N):
            own = [t for t in range(len(turns)) if turns[t, 1] == child]
            everything = [(), *(family for t in own for family in made[t])]
            best, parents = find_best(problem, order, child, everything)
            loss = best - problem.scorer.local_score(problem.names[child], [])
            if loss > 1e-9:
                makers = [t for t in own if parents in made[t]]
                earned[makers[0]] += loss
                shared |= set(makers) if len(makers) > 1 else set()
    for mask in range(len(old_credit)):
        own = [t for t in range(len(turns)) if turns[t, 0] == mask]
        if not own:
            assert found.credit[mask] == old_credit[mask]
        elif not shared & set(own):
            rate = earned[own].sum() / (len(state.orders) * sum(cost[t] for t in own))
            assert found.credit[mask] == pytest.approx(0.5 * old_credit[mask] + 0.5 * rate)
    for mask, child in itertools.product(range(len(old_credit)), range(N)):
        number = [t for t, turn in enumerate(turns.tolist()) if turn == [mask, child]]
        if not number:
            assert found.hope[mask, child] == old_hope[mask, child]
        elif not shared & set(number):
            halved = max(LEAST_HOPE, 0.5 * old_hope[mask, child])
            assert found.hope[mask, child] == (1.0 if earned[number[0]] else halved)
    assert found.hope.max() == 1.0
    assert (found.credit != old_credit).any()
    for t, (mask, child) in enumerate(turns.tolist()):
        assert found.spent[mask, child] - masks.spent[mask, child] == cost[t]
        if t not in shared:
            gained = found.earned[mask, child] - masks.earned[mask, child]
            assert gained == pytest.approx(earned[t] / len(state.orders))


def make_masks(credit, hope):
    """Return masks of two variables a row, with this credit and hope."""
    n_masks, n = np.shape(hope)
    ranked = np.array([[(child + 1) % n] for child in range(n)], dtype=np.int32)
    first = make_first_masks(np.random.default_rng(0), ranked, np.ones((n, 1)), n_masks)
    return replace(first, credit=np.array(credit, float), hope=np.array(hope, float))


def rank_of(turn, masks, widths):
    """Return the mean place of a turn in the sequence, over many draws."""
    places = []
    for number in range(80):
        turns = draw_turns(np.random.default_rng(number), masks, np.array(widths)).tolist()
        everything = itertools.product(*map(range, masks.hope.shape))
        assert sorted(map(tuple, turns)) == list(everything)  # each pair has one turn
        places.append(turns.index(list(turn)))
    return np.mean(places)


def test_turns_follow_the_credit_of_masks():
    even = make_masks([0, 0, 0], np.ones((3, 40)))
    assert 45 < rank_of((1, 7), even, [9, 9, 9]) < 75
    paying = make_masks([0, 5, 0], np.ones((3, 40)))
    assert rank_of((1, 7), paying, [9, 9, 9]) < 35
    assert rank_of((2, 7), paying, [9, 9, 9]) > 60


def test_turns_follow_the_hope_of_rows():
    hope = np.full((3, 40), LEAST_HOPE)
    hope[1, 7] = 1.0
    assert rank_of((1, 7), make_masks([1, 1, 1], hope), [9, 9, 9]) < 25
    assert rank_of((2, 7), make_masks([1, 1, 1], hope), [9, 9, 9]) > 50


def test_without_credit_a_turn_that_costs_more_comes_later():
    """The families are divided evenly, not the turns."""
    even = make_masks([0, 0], np.ones((2, 40)))
    assert rank_of((0, 3), even, [10, 100]) < rank_of((1, 3), even, [10, 100]) - 15


def test_a_search_draws_turns_by_credit_and_hope(problem, state):
    """The search reads both: with another credit and hope, other rows have their turns."""
    search = CCMA(orders=5, masks=4).make_search(problem)
    credit, hope = np.zeros_like(state.credit), np.full_like(state.hope, LEAST_HOPE)
    credit[2], hope[2, 3] = 1.0, 1.0
    changed = replace(state, credit=credit, hope=hope)
    sequences = [list(search._iter_turns(np.random.default_rng(i), changed)) for i in range(40)]
    assert all(mask == ELITE for turns in sequences for mask, _ in turns[:N])
    assert [turns[N] for turns in sequences].count((2, 3)) > 20


def make_hidden_parents(seed, n_triples=20, n_others=20, n_rows=300):
    """Return a table in which the second parent of a child gains only beside the first one."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 2, (2, n_triples, n_rows))
    chance = np.where(second == 1, 0.5, np.where(first == 1, 0.95, 0.05))
    child = (rng.random((n_triples, n_rows)) < chance).astype(int)
    codes = np.concatenate([first, second, child, rng.integers(0, 2, (n_others, n_rows))])
    return dataset_of([2] * len(codes), codes)


def test_the_credit_decides_what_is_scored(monkeypatch):
    """With four candidates only scouts find these parents. Without credit they have fewer turns."""
    monkeypatch.setattr("coevo.search.masks.N_CANDIDATES", 4)
    monkeypatch.setattr("coevo.search.ccma.N_CANDIDATES", 4)
    monkeypatch.setattr("coevo.search.ccma.FAMILIES_PER_GENERATION", 1500)
    tables = [make_hidden_parents(seed) for seed in range(5)]

    def run_all():
        budget = Budget(max_evaluations=18_000)
        return [
            run_search("ccma", FamilyScorer(table, "bic"), budget=budget, random_state=seed).score
            for seed, table in enumerate(tables)
        ]

    with_credit = run_all()
    draw = CCMASearch._draw_turns

    def draw_without(search, rng, state):
        none, hope = np.zeros_like(state.credit), np.ones_like(state.hope)
        return draw(search, rng, replace(state, credit=none, hope=hope))

    monkeypatch.setattr(CCMASearch, "_draw_turns", draw_without)
    gains = np.subtract(with_credit, run_all())
    assert gains.mean() > 40, gains
    assert gains.min() > -5, gains


def test_scouts_find_what_no_candidate_list_has(monkeypatch):
    """Without scouts, the parents that gain only beside others stay hidden for long."""
    monkeypatch.setattr("coevo.search.masks.N_CANDIDATES", 4)
    monkeypatch.setattr("coevo.search.ccma.N_CANDIDATES", 4)
    table = make_hidden_parents(3)
    budget = Budget(max_generations=20)
    found = run_search("ccma", FamilyScorer(table, "bic"), budget=budget, random_state=3)
    monkeypatch.setattr("coevo.search.breeding.SCOUTS", ())
    monkeypatch.setattr("coevo.search.ccma.SCOUTS", ())
    without = run_search("ccma", FamilyScorer(table, "bic"), budget=budget, random_state=3)
    assert found.score > without.score + 100


def test_all_masks_learn_what_a_scout_has_found(wide):
    problem, state = wide
    scout = SCOUTS[0]
    turns = np.array([(scout, child) for child in range(12)])
    everything = np.tile(np.arange(12, dtype=np.int32), (12, 1))
    scans = extend_parent_sets(problem, [(child, ()) for child in range(12)], everything)
    before = state.masks
    after = spread_findings(before, turns, scans)
    for child in range(12):
        added = scans.wider_scores[child] - scans.scores[child]
        ranked = sorted((u for u in range(12) if u != child), key=lambda u: -added[u])
        assert set(after.candidates[scout, child].tolist()) == set(ranked[:4])
        for mask in set(range(3)) - {scout}:
            row = after.candidates[mask, child].tolist()
            assert ranked[0] in row  # a tenth of a row is replaced, at least one place
            assert len(set(row)) == 4
            assert child not in row
    assert (before.candidates == state.candidates).all()  # nothing is changed in place


def test_rows_keep_what_is_used_and_drop_what_adds_least(wide, seed):
    problem, state = wide
    rng = np.random.default_rng(seed)
    turns = np.array([(mask, child) for mask in range(3) for child in range(12)])
    sets = [(child, ()) for _, child in turns.tolist()]
    rows = state.candidates[turns[:, 0], turns[:, 1]]
    extensions = extend_parent_sets(problem, sets, rows)
    before = state.masks
    after = evolve_rows(rng, before, turns, extensions, state.archive, state.choice)
    n_changed = 0
    for t, (mask, child) in enumerate(turns.tolist()):
        old, new = before.candidates[mask, child].tolist(), after.candidates[mask, child].tolist()
        assert child not in new
        assert len(set(new)) == 4
        used = {
            parent
            for family in state.choice[:, child].tolist()
            for parent in state.archive.parents_of(family)
        }
        assert used & set(old) <= set(new) or len(used & set(old)) == 4
        dropped = set(old) - set(new)
        n_changed += len(dropped)
        added = extensions.wider_scores[t] - extensions.scores[t]
        values = added + 0.3 * np.maximum(before.values[mask, child], 0)
        free = [value for u, value in zip(old, values.tolist(), strict=True) if u not in used]
        for u, value in zip(old, values.tolist(), strict=True):
            if u in dropped:
                assert value == min(free)
            else:
                at = new.index(u)
                assert after.values[mask, child, at] == pytest.approx(value)
    assert n_changed > 10
    assert (before.candidates == state.candidates).all()  # nothing is changed in place


def test_rows_of_few_variables_hold_all_others(problem, state):
    everything = [[sorted(set(range(N)) - {child}) for child in range(N)]] * 4
    assert np.sort(state.candidates, axis=2).tolist() == everything
    turns = np.array([[0, 0]])
    extensions = extend_parent_sets(problem, [(0, ())], state.candidates[:1, 0])
    rng = np.random.default_rng(0)
    same = evolve_rows(rng, state.masks, turns, extensions, state.archive, state.choice)
    assert same.candidates is state.candidates


def test_first_candidates_have_the_largest_gains(seed, monkeypatch):
    monkeypatch.setattr("coevo.search.masks.N_CANDIDATES", 3)
    problem = make_problem(random_table(seed, 9, 120), "bic")
    ranked, gains, n_scored = rank_candidates(problem)
    assert n_scored == 9 + 9 * 8
    for child, name in enumerate(problem.names):
        alone = problem.scorer.local_score(name)
        exact = {
            other: problem.scorer.local_score(name, [problem.names[other]]) - alone
            for other in range(9)
            if other != child
        }
        assert gains[child] == pytest.approx(sorted(exact.values(), reverse=True))
        assert [exact[other] for other in ranked[child].tolist()] == pytest.approx(gains[child])
    masks = make_first_masks(np.random.default_rng(seed), ranked, gains, 4)
    assert (masks.candidates[0] == ranked[:, :3]).all()
    assert not masks.credit.any()


def test_screened_candidates_have_the_largest_gains(seed, monkeypatch):
    """Under BIC the screening ranks as the score does, so that nothing is lost by it."""
    monkeypatch.setattr("coevo.search.masks.N_CANDIDATES", 2)
    problem = make_problem(random_table(seed, 14, 120), "bic")
    complete = rank_candidates(problem)
    monkeypatch.setattr("coevo.search.masks.SCREENED_FROM", 0)
    screened = rank_candidates(problem)
    assert screened[2] == 14 + 14 * 8  # eight of thirteen others are scored
    assert screened[1] == pytest.approx(complete[1])
    for ranks, others in zip(screened[0], complete[0], strict=True):
        assert set(ranks[:4].tolist()) == set(others[:4].tolist())


def test_neighbours_are_near(state, seed):
    chosen = state.choice[0]
    parents = [set(state.archive.parents_of(family)) for family in chosen.tolist()]
    near = list_neighbours(np.random.default_rng(seed), state.archive, chosen, np.arange(N), N)
    joined = {(a, b) for b in range(N) for a in parents[b]}
    joined |= {(b, a) for a, b in joined}
    for child in range(N):
        own = {b for a, b in joined if a == child}
        reached = own | {c for b in own for a, c in joined if a == b}
        assert set(near[child].tolist()) <= reached | {child}
        children = {c for c in range(N) if child in parents[c]}
        assert children <= set(near[child].tolist())


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
