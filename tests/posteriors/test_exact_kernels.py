"""The kernels of the exact posterior, compared with slow twins."""

import math

import numpy as np
import pytest

import naive
from coevo.posteriors.exact import (
    _make_layer_tables,
    make_complete_tables,
    sort_families,
    sum_all_subsets,
)
from coevo.posteriors.exact_kernels import (
    LayerDraws,
    LayerSums,
    add_member_weights,
    draw_families,
    draw_layers,
    draw_orders,
    make_scratch,
    share_layerings,
    sum_layerings,
    sum_orders_after,
    sum_orders_before,
    sum_subsets,
    sum_supersets,
    weigh_places,
)
from helpers.family_tables import list_families, make_weights, number_set, random_rows

pytestmark = pytest.mark.kernel

N = 4
ALL = frozenset(range(N))
SPREADS = [0.5, 10.0, 500.0]


def random_tables(seed, spread, zeros=0.3):
    """Return scaled tables of N variables, and the same for the oracle."""
    rng = np.random.default_rng([seed, int(spread)])
    tables = make_complete_tables(make_weights(random_rows(rng, N, spread, zeros)))
    return tables, list_families(make_weights(tables.log_weight))


def expect(values):
    """Accept round-off in logs, which is absolute."""
    return pytest.approx(values, abs=1e-10, rel=1e-12)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_sums_over_subsets_and_supersets(seed, spread, k):
    rng = np.random.default_rng([seed, k])
    table = rng.normal(scale=spread, size=1 << k)
    table[rng.random(1 << k) < 0.4] = -np.inf
    below, above = table.copy(), table.copy()
    sum_subsets(below)
    sum_supersets(above)
    for s in range(1 << k):
        assert below[s] == expect(naive.log_sum(table[p] for p in range(1 << k) if p & s == p))
        assert above[s] == expect(naive.log_sum(table[p] for p in range(1 << k) if p & s == s))


def test_weights_of_members(seed):
    one, other = np.random.default_rng(seed).normal(size=(2, 16))
    one[3] = other[7] = -np.inf
    totals = np.array([10.0, 0.0, 0.0, 0.0])
    total = add_member_weights(one, other, totals)
    weights = [math.exp(a + b) for a, b in zip(one, other, strict=True)]
    assert total == pytest.approx(sum(weights))
    members = [sum(weights[s] for s in range(16) if s >> j & 1) for j in range(4)]
    assert (totals - [10, 0, 0, 0]).tolist() == pytest.approx(members)


@pytest.mark.parametrize("spread", SPREADS)
def test_sums_over_orders(seed, spread):
    tables, families = random_tables(seed, spread)
    sums = sum_all_subsets(tables)
    before, after = np.empty(1 << N), np.empty(1 << N)
    sum_orders_before(sums, before)
    sum_orders_after(sums, after)
    for members in naive.all_subsets(ALL):
        number = number_set(members)
        assert before[number] == expect(naive.sum_orders(families, members))
        assert after[number] == expect(naive.sum_orders(families, ALL - members, members))
    places = np.empty(1 << (N - 1))
    weigh_places(before, after, 2, places)
    for members in naive.all_subsets(ALL - {2}):
        expected = (
            naive.sum_orders(families, members)
            + naive.sum_orders(families, ALL - members - {2}, members | {2})
            - naive.sum_orders(families, ALL)
        )
        assert places[number_set(members, 2)] == expect(expected)


@pytest.mark.parametrize("spread", SPREADS)
def test_draws_of_orders(seed, spread):
    tables, families = random_tables(seed, spread)
    sums, before = sum_all_subsets(tables), np.empty(1 << N)
    sum_orders_before(sums, before)
    lots = np.random.default_rng(seed).random((40, N))
    orders = np.empty((40, N), dtype=np.int64)
    draw_orders(sums, before, lots, orders)
    for order, row in zip(orders.tolist(), lots, strict=True):
        left = set(range(N))
        for place in range(N - 1, -1, -1):
            last = sorted(left)
            logs = [
                naive.sum_orders(families, left - {v})
                + naive.sum_parent_sets(families, v, left - {v})
                for v in last
            ]
            assert order[place] == naive.draw_by_weight(last, logs, row[place])
            left.remove(order[place])


@pytest.mark.parametrize("spread", SPREADS)
def test_draws_of_families(seed, spread):
    tables, families = random_tables(seed, spread)
    rng = np.random.default_rng(seed)
    cases = []
    for inside in naive.all_subsets(ALL):
        for outside in [*naive.all_subsets(inside), None]:
            touching = None if outside is None else inside - outside
            totals = [naive.sum_parent_sets(families, v, inside - {v}, touching) for v in range(N)]
            if min(totals) > -math.inf:
                cases.append((inside, outside, touching, totals))
    lots = np.array([[[rng.random(), total] for total in case[3]] for case in cases])
    bounds = np.array(
        [[[number_set(i), -1 if o is None else number_set(o)]] * N for i, o, _, _ in cases]
    )
    adjacency = np.ones((len(cases), N, N), dtype=np.bool_)
    draw_families(sort_families(tables), bounds & ~_own_bits(bounds), lots, adjacency)
    for (inside, _, touching, _), matrix, row in zip(cases, adjacency, lots, strict=True):
        for child in range(N):
            possible = [
                parents
                for parents in naive.all_subsets(inside - {child})
                if (child, parents) in families and (touching is None or parents & touching)
            ]
            possible.sort(key=lambda p, v=child: (-families[v, p], number_set(p, v)))
            logs = [families[child, parents] for parents in possible]
            expected = naive.draw_by_weight(possible, logs, row[child, 0])
            assert frozenset(np.flatnonzero(matrix[:, child]).tolist()) == expected


def _own_bits(bounds):
    """Return the bit of each child where a bound is a set; -1 stays as it is."""
    return np.where(bounds >= 0, 1 << np.arange(N)[None, :, None], 0)


def sum_all_layerings(tables):
    layer_tables = _make_layer_tables(tables)
    sums, scratch = LayerSums(np.full(3**N, -np.inf), np.empty(1 << N)), make_scratch(N)
    assert np.isnan(sum_layerings(layer_tables, sums, scratch, 5, 1 << N))
    log_total = sum_layerings(layer_tables, sums, scratch, 0, 5)
    return layer_tables, sums, scratch, log_total


@pytest.mark.parametrize("spread", SPREADS)
def test_sums_over_layerings(seed, spread):
    """A state may be dropped only if it is negligible; see `exact`."""
    tables, families = random_tables(seed, spread)
    _, sums, _, log_total = sum_all_layerings(tables)
    assert log_total == expect(naive.log_sum(naive.weigh_dags(N, families, "uniform").values()))
    possible = naive.share_states(N, families)
    for (placed, last), share in possible.items():
        number = sum(3**v for v in placed) + sum(3**v for v in last)
        if share > 1e-40:
            assert sums.states[number] == expect(naive.sum_layers_after(N, families, placed, last))
    assert spread > 1 or min(possible.values()) > 1e-40


@pytest.mark.parametrize("spread", SPREADS)
def test_shares_of_pieces(seed, spread):
    tables, families = random_tables(seed, spread)
    layer_tables, sums, scratch, _ = sum_all_layerings(tables)
    found = np.zeros((N * (N - 1), 1 << (N - 2)))
    for begin, end in [(0, 7), (7, 20)]:
        share_layerings(layer_tables, sums, scratch, begin, end, found)
    expected = np.zeros_like(found)
    for (child, t, others), share in naive.share_pieces(N, families).items():
        pair = child * (N - 1) + t - (t > child)
        expected[pair, number_set(others, child, t)] = share
    assert found == pytest.approx(expected, abs=1e-12)
    assert found.sum() > 0.1


@pytest.mark.parametrize("spread", SPREADS)
def test_draws_of_layers(seed, spread):
    """Draw the second layer after each likely first one, and compare with a sum by hand."""
    tables, families = random_tables(seed, spread)
    layer_tables, sums, scratch, _ = sum_all_layerings(tables)
    rng = np.random.default_rng(seed)
    possible = naive.share_states(N, families)
    firsts = [
        first
        for first in naive.all_subsets(ALL)
        if len(first) < N and possible.get((first, first), 0.0) > 1e-12
    ]
    reached = np.array([[number_set(first), 0] for first in firsts for _ in range(5)])
    lots, log_totals = rng.random(len(reached)), np.full((len(reached), N), np.nan)
    draws = LayerDraws(reached, lots, log_totals)
    draw_layers(layer_tables, sums, scratch, rng.permutation(len(reached)), draws)
    for i, (after, before) in enumerate(reached.tolist()):
        first = firsts[i // 5]
        assert before == number_set(first)
        layers = sorted(filter(None, naive.all_subsets(ALL - first)), key=number_set)
        logs = [
            sum(naive.sum_parent_sets(families, v, first, first) for v in layer)
            + naive.sum_layers_after(N, families, first | layer, layer)
            for layer in layers
        ]
        layer = naive.draw_by_weight(layers, logs, lots[i])
        assert after == before | number_set(layer)
        for v in range(N):
            expected = naive.sum_parent_sets(families, v, first, first)
            assert (
                log_totals[i, v] == expect(expected) if v in layer else np.isnan(log_totals[i, v])
            )
