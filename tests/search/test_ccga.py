"""CCGA follows the paper generation by generation, and finds the best structure."""

import functools
from collections import Counter

import numpy as np
import pytest

import naive
from coevo.errors import ParameterError
from coevo.graph import Constraints
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import CCGA, Budget, decode, n_bits, run_search
from coevo.search import ccga as ccga_module
from helpers.problems import as_arcs, collect_states, decode_naively, make_problem, random_table

TIGHT = {"rel": 1e-11, "abs": 1e-9}


class Oracle:
    """A naive oracle: scores any pair of an order and a mask."""

    def __init__(self, problem):
        self._rules = problem.rules
        self._rows = problem.scorer.dataset.codes.T.tolist()
        self._arities = problem.scorer.dataset.arities.tolist()
        self.score_of_arcs = functools.cache(
            lambda arcs: naive.structure_score("k2", self._rows, self._arities, arcs)
        )

    def score(self, order, mask):
        return self.score_of_arcs(frozenset(decode_naively(order, mask, self._rules)))

    def score_with_orders(self, mask, orders):
        return [self.score(order, mask) for order in orders]

    def score_with_masks(self, order, masks):
        return [self.score(order, mask) for mask in masks]


def is_one_of(value, values):
    return any(value == pytest.approx(other, **TIGHT) for other in values)


METHODS = [
    CCGA(population=6),
    CCGA(population=6, random_partners=0),
    CCGA(population=7, p_flip=0.3),
    CCGA(population=5, random_partners=2, p_crossover=1.0),
    CCGA(population=3, random_partners=0, p_swap=1.0),
]


@pytest.fixture
def problem(seed):
    """Return a problem of five variables, with constraints."""
    known = Constraints(required=[("v003", "v001")], forbidden=[("v000", "v002")], max_parents=3)
    return make_problem(random_table(seed, n_variables=5, n_rows=40), "k2", known)


@pytest.fixture
def children(monkeypatch):
    """Return a dict with the children of the last step, after the last operator."""
    made = {}

    def watch(name, species):
        operator = getattr(ccga_module, name)

        def watched(rng, population, probability):
            made[species] = operator(rng, population, probability)
            made[name] = probability
            return made[species]

        monkeypatch.setattr(ccga_module, name, watched)

    watch("swap_two", "orders")
    watch("flip_bits", "masks")
    return made


def get_species(state, name):
    """Return the individuals and the scores of a species, as lists."""
    scores = state.order_scores if name == "orders" else state.mask_scores
    return list(getattr(state, name)), scores.tolist()


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_generation_is_made_of_the_elite_and_all_children_but_the_worst(
    method, problem, children, seed
):
    """The score of a child is the highest one with the best partner and random ones."""
    oracle = Oracle(problem)
    search = method.make_search(problem)
    before = search.start(random_stream(seed, 0))[0]
    from_random = 0
    for generation in range(1, 9):
        after = search.step(random_stream(seed, generation), before)[0]
        for name, other, score in (
            ("orders", "masks", oracle.score_with_masks),
            ("masks", "orders", oracle.score_with_orders),
        ):
            partners, partner_scores = get_species(before, other)
            best = int(np.argmax(partner_scores))
            old, old_scores = get_species(before, name)
            new, new_scores = get_species(after, name)
            born = list(children[name])
            assert len(new) == len(born) == method.population
            elite = old_scores.index(max(old_scores))
            assert np.array_equal(new[0], old[elite])
            assert new_scores[0] == old_scores[elite]
            dropped = next(
                i
                for i in range(len(born))
                if np.array_equal(np.delete(born, i, axis=0), np.array(new[1:]))
            )
            for child, earned in zip(new[1:], new_scores[1:], strict=True):
                scores = score(child, partners)
                assert is_one_of(
                    earned, naive.possible_credits(scores, best, method.random_partners)
                )
                from_random += earned > scores[best] + 1e-6
            assert score(born[dropped], partners)[best] <= min(new_scores[1:]) + 1e-9
        earned = max(after.order_scores[1:].max(), after.mask_scores[1:].max())
        assert after.score == pytest.approx(max(before.score, earned), **TIGHT)
        n_solutions = 2 * method.population * (1 + method.random_partners)
        assert after.evaluations - before.evaluations == n_solutions * problem.n_variables
        before = after
    assert (from_random > 0) == (method.random_partners > 0)  # a random partner is better at times


@pytest.mark.parametrize("population", [2, 6, 7])
def test_a_generation_with_the_best_partner_only(population, problem, children, seed):
    """CCGA-1 draws no random partner, so the children determine the next population."""
    oracle = Oracle(problem)
    method = CCGA(population=population, random_partners=0)
    search = method.make_search(problem)
    before = search.start(random_stream(seed, 0))[0]
    for generation in range(1, 6):
        after = search.step(random_stream(seed, generation), before)[0]
        best_order = before.orders[int(before.order_scores.argmax())]
        best_mask = before.masks[int(before.mask_scores.argmax())]
        earned = {
            "orders": [oracle.score(child, best_mask) for child in children["orders"]],
            "masks": [oracle.score(best_order, child) for child in children["masks"]],
        }
        for name in ("orders", "masks"):
            expected = naive.next_population(
                *get_species(before, name), list(children[name]), earned[name]
            )
            new, new_scores = get_species(after, name)
            assert np.array_equal(new, [individual for individual, _ in expected])
            assert new_scores == pytest.approx([score for _, score in expected], **TIGHT)
        before = after


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_start(method, problem, seed):
    """Orders are random, each position has one parent, each score belongs to some partner."""
    (state,) = collect_states(method, problem, seed, 0)
    size, n = method.population, problem.n_variables
    assert state.orders.shape == (size, n)
    assert state.masks.shape == (size, n_bits(n))
    for mask in state.masks:
        assert decode(np.arange(n), mask).sum(axis=0).tolist() == [0] + [1] * (n - 1)
    oracle = Oracle(problem)
    for order, score in zip(state.orders, state.order_scores, strict=True):
        assert is_one_of(score, oracle.score_with_masks(order, state.masks))
    for mask, score in zip(state.masks, state.mask_scores, strict=True):
        assert is_one_of(score, oracle.score_with_orders(mask, state.orders))
    best = max(state.order_scores.max(), state.mask_scores.max())
    assert state.score == pytest.approx(best, **TIGHT)
    assert state.score == pytest.approx(
        oracle.score_of_arcs(frozenset(as_arcs(state.adjacency))), **TIGHT
    )
    assert state.evaluations == 2 * size * n


@pytest.mark.parametrize("population", [6, 7])
def test_without_variation_children_are_the_selected(population, problem, children, seed):
    """Each individual enters two tournaments, so it is selected at most twice."""
    method = CCGA(population=population, p_flip=0, p_swap=0, p_crossover=0)
    search = method.make_search(problem)
    before = search.start(random_stream(seed, 0))[0]
    search.step(random_stream(seed, 1), before)
    for name in ("orders", "masks"):
        old, scores = get_species(before, name)
        born = Counter(tuple(child) for child in children[name])
        there = Counter(tuple(individual) for individual in old)
        assert sum(born.values()) == population
        assert all(born[individual] <= 2 * there[individual] for individual in born)
        assert born[tuple(old[scores.index(max(scores))])] >= 1


def test_settings_reach_the_operators(problem, children, seed, monkeypatch):
    crossed = []
    for name in ("cycle_crossover", "two_point_crossover"):
        operator = getattr(ccga_module, name)
        monkeypatch.setattr(
            ccga_module,
            name,
            lambda *a, operator=operator: crossed.append(a[-1]) or operator(*a),
        )
    collect_states(
        CCGA(population=4, p_flip=0.125, p_swap=0.25, p_crossover=0.75), problem, seed, 1
    )
    assert (children["flip_bits"], children["swap_two"]) == (0.125, 0.25)
    assert crossed == [0.75, 0.75]
    collect_states(CCGA(population=4), problem, seed, 1)
    assert (children["flip_bits"], children["swap_two"]) == (1 / 10, 0.5)
    assert crossed[2:] == [0.6, 0.6]


def test_defaults_are_those_of_table_2():
    assert CCGA().settings == {
        "population": 100,
        "p_flip": None,  # 1 / number of bits, see above
        "p_swap": 0.5,
        "p_crossover": 0.6,
        "random_partners": 1,  # CCGA-2
    }
    assert CCGA.default_budget == Budget(max_generations=250)
    assert CCGA.name == "ccga"


@pytest.mark.parametrize("score", ["k2", "bic"])
@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("run", range(3))
def test_the_best_of_all_dags_is_found(run, n, score, seed):
    table = random_table(seed + run, n_variables=n, n_rows=100)
    rows, arities = table.codes.T.tolist(), table.arities.tolist()
    local = functools.cache(
        lambda child, parents: naive.local_score(score, rows, arities, child, parents)
    )
    best = max(
        sum(local(child, naive.parents_in(arcs, child)) for child in range(n))
        for arcs in naive.all_dags(n)
    )
    found = run_search(
        "ccga",
        FamilyScorer(table, score),
        budget=Budget(target=best - 1e-7, max_generations=250),
        random_state=seed + run,
    )
    assert found.stop_reason == "target"
    assert found.score == pytest.approx(best, **TIGHT)


def test_required_arcs_may_leave_no_choice(seed):
    known = Constraints(required=[("v000", "v001"), ("v000", "v002")], max_parents=1)
    table = random_table(seed, n_variables=3)
    (state,) = collect_states(CCGA(population=2), make_problem(table, "loglik", known), seed, 0)
    assert as_arcs(state.adjacency) == {(0, 1), (0, 2)}


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"population": 1}, "an int >= 2"),
        ({"population": 10.0}, "an int >= 2"),
        ({"population": True}, "an int >= 2"),
        ({"population": None}, "an int >= 2"),
        ({"random_partners": -1}, "an int >= 0"),
        ({"random_partners": False}, "an int >= 0"),
        ({"random_partners": 0.5}, "an int >= 0"),
        ({"p_flip": -0.1}, "a number from 0 to 1 or None"),
        ({"p_flip": float("nan")}, "a number from 0 to 1 or None"),
        ({"p_flip": True}, "a number from 0 to 1 or None"),
        ({"p_swap": 1.01}, "a number from 0 to 1"),
        ({"p_swap": None}, "a number from 0 to 1"),
        ({"p_crossover": "0.6"}, "a number from 0 to 1"),
        ({"p_crossover": float("inf")}, "a number from 0 to 1"),
    ],
)
def test_bad_settings(wrong, expected):
    with pytest.raises(ParameterError) as caught:
        CCGA(**wrong)
    ((name, value),) = wrong.items()
    assert str(caught.value) == f"{name!r} of CCGA must be {expected}; got {value!r}."


def test_a_state_is_rescored_on_other_rows(seed):
    """Each individual gets its score with the best partner of the old state."""
    table = random_table([seed, 1], n_variables=5, n_rows=100)
    method = CCGA(population=6)
    few = Budget(max_generations=3)
    state = run_search(method, FamilyScorer(table, "k2"), budget=few, random_state=seed).state
    problem = make_problem(table.resample(np.random.default_rng(seed)))
    again = method.make_search(problem).rescore(state)
    best_mask = state.masks[state.mask_scores.argmax()]
    best_order = state.orders[state.order_scores.argmax()]
    for order, score in zip(again.orders, again.order_scores, strict=True):
        assert score == pytest.approx(problem.score(decode(order, best_mask)))
    for mask, score in zip(again.masks, again.mask_scores, strict=True):
        assert score == pytest.approx(problem.score(decode(best_order, mask)))
    assert again.score == max(again.order_scores.max(), again.mask_scores.max())
    assert again.score == problem.score(again.adjacency)
