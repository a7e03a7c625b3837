"""The operators on orders are closed and pure, and equal their naive twins for given draws."""

import numpy as np
import pytest

import naive
from coevo.search.operators import draw_orders
from coevo.search.order_operators import CROSSOVERS, MUTATIONS, CrossoverDraws, MutationDraws


def make_parents(seed, n_pop, n):
    rng = np.random.default_rng([seed, n_pop, n])
    first, second, third = (draw_orders(rng, n_pop, n) for _ in range(3))
    second[: n_pop // 4] = first[: n_pop // 4]  # some parents are equal
    third[n_pop // 4 : n_pop // 2] = second[n_pop // 4 : n_pop // 2]
    return first, second, CrossoverDraws.draw(rng, third)


def are_permutations(orders):
    return np.array_equal(
        np.sort(orders, axis=1), np.tile(np.arange(orders.shape[1]), (len(orders), 1))
    )


@pytest.mark.parametrize("n", [1, 2, 3, 8, 37])
@pytest.mark.parametrize("name", CROSSOVERS)
def test_crossovers_match_their_naive_twins(name, n, seed):
    first, second, draws = make_parents(seed, 60, n)
    before = first.copy(), second.copy(), draws.third.copy()
    children = CROSSOVERS[name](first, second, draws)
    assert children.dtype == np.int64
    assert are_permutations(children)
    for i, child in enumerate(children.tolist()):
        assert child == naive.crossed(
            name,
            first[i].tolist(),
            second[i].tolist(),
            draws.segments[i].tolist(),
            np.flatnonzero(draws.chosen[i]).tolist(),
            draws.ranks[i].tolist(),
            draws.third[i].tolist(),
        )
    for array, copy in zip((first, second, draws.third), before, strict=True):
        assert np.array_equal(array, copy)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 37])
@pytest.mark.parametrize("name", MUTATIONS)
def test_mutations_match_their_naive_twins(name, n, seed):
    rng = np.random.default_rng([seed, n])
    orders = draw_orders(rng, 60, n)
    before = orders.copy()
    draws = MutationDraws.draw(rng, 60, n)
    children = MUTATIONS[name](orders, draws)
    assert np.array_equal(orders, before)
    segments = draws.single if name == "insertion" else draws.segments
    for i, child in enumerate(children.tolist()):
        begin, end = segments[i].tolist()
        place = int(draws.to[i] * (n - (end - begin) + 1))
        assert child == naive.mutated(
            name,
            orders[i].tolist(),
            (begin, end),
            place,
            draws.ranks[i].tolist(),
            draws.pairs[i].tolist(),
        )


@pytest.mark.parametrize("name", CROSSOVERS)
def test_equal_parents_give_themselves(name, seed):
    rng = np.random.default_rng(seed)
    orders = draw_orders(rng, 40, 9)
    children = CROSSOVERS[name](orders, orders.copy(), CrossoverDraws.draw(rng, orders))
    assert np.array_equal(children, orders)


def test_a_published_example_of_alternating_positions():
    first, second = (
        np.array([[1, 2, 3, 4, 5, 6, 7, 8]]) - 1,
        np.array([[3, 7, 5, 1, 6, 8, 2, 4]]) - 1,
    )
    draws = CrossoverDraws.draw(np.random.default_rng(0), first)
    assert (CROSSOVERS["ap"](first, second, draws) + 1).tolist() == [[1, 3, 2, 7, 5, 4, 6, 8]]


@pytest.mark.parametrize("name", ["cx", "pos"])
def test_positions_of_the_parents_are_kept(name, seed):
    first, second, draws = make_parents(seed, 60, 12)
    children = CROSSOVERS[name](first, second, draws)
    kept = draws.chosen if name == "pos" else np.ones_like(draws.chosen)
    assert ((children == first) | (children == second))[kept].all()
    if name == "pos":
        assert np.array_equal(children[kept], second[kept])


@pytest.mark.parametrize("name", ["ox1", "ox2"])
def test_every_pair_has_the_order_of_a_parent(name, seed):
    """ox2: every two moved variables are as in b, every two others as in a."""
    first, second, draws = make_parents(seed, 40, 9)
    children = CROSSOVERS[name](first, second, draws)
    for a, b, child, chosen, (begin, end) in zip(
        *(x.tolist() for x in (first, second, children, draws.chosen, draws.segments)), strict=True
    ):
        if name == "ox1":
            rest = set(a) - set(a[begin:end])
            turned = [v for v in child[end:] + child[:begin] if v in rest]
            assert turned == [v for v in b[end:] + b[:end] if v in rest]
        else:
            moved = {b[p] for p in range(9) if chosen[p]}
            assert [v for v in child if v in moved] == [v for v in b if v in moved]
            assert [v for v in child if v not in moved] == [v for v in a if v not in moved]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_draws_are_valid_and_reach_everything(n, seed):
    rng = np.random.default_rng(seed)
    draws = MutationDraws.draw(rng, 4000, n)
    segments = {tuple(segment) for segment in draws.segments.tolist()}
    assert segments == {(i, j) for i in range(n + 1) for j in range(i + 1, n + 1)}
    assert {tuple(s) for s in draws.single.tolist()} == {(i, i + 1) for i in range(n)}
    pairs = {tuple(pair) for pair in draws.pairs.tolist()}
    assert pairs == {(i, j) for i in range(n) for j in range(n) if i != j or n == 1}


@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_segment_is_equally_likely(n, seed):
    rng, n_draws, p = np.random.default_rng(seed), 4000, 2 / (n * (n + 1))
    segments = MutationDraws.draw(rng, n_draws, n).segments
    counts = np.unique(segments, axis=0, return_counts=True)[1]
    bound = 5 * np.sqrt(p * (1 - p) / n_draws) + 1e-12
    assert counts / n_draws == pytest.approx(np.full(n * (n + 1) // 2, p), abs=bound)
