"""The moves of the chains: each has exactly the transition probabilities of its slow twin."""

import itertools
import math

import numpy as np
import pytest

import naive
from coevo.averaging.block_kernels import list_blocks
from coevo.averaging.chain_kernels import Records, count_uniforms, run_layerings, run_orders
from coevo.averaging.chain_tables import prepare_tables
from helpers.random_weights import list_log_weights, make_random_weights

pytestmark = pytest.mark.kernel

EDGE = 1e-9  # the distance of a random number from the border between two choices
CASES = [(3, None), (3, 1), (4, None), (4, 2)]  # variables, candidates


class Oracle:
    """Weights of all DAGs and layerings, and the kernels on the same tables."""

    def __init__(self, n, n_candidates, seed, spread=2.0):
        self.n = n
        weights = make_random_weights(n, seed, n_candidates, spread)
        self.tables = prepare_tables(weights, negligible=0.0)
        self.dags = naive.dag_weights(n, list_log_weights(weights))
        self.layerings = naive.grouped(self.dags, lambda arcs: naive.layering(n, arcs))

    def run(self, level, plan, rounds):
        """Run a chain over layerings; return its last layering, its DAGs and the records."""
        records = make_records(self.tables, len(rounds))
        now = 2 * np.array(level, dtype=np.int64)
        plan = np.array(plan, dtype=np.int64)
        blocks = list_blocks(int(plan[2]))
        run_layerings(self.tables.arrays, blocks, plan, now, np.array(rounds), records)
        dags = [
            frozenset(map(tuple, np.argwhere(self.adjacency(d)).tolist())) for d in records.dags
        ]
        return tuple((now // 2).tolist()), dags, records

    def adjacency(self, choice):
        return self.tables.make_adjacency(choice)

    def find_draws(self, arcs, spare=0.5):
        """Return the random numbers that draw a DAG from its layering."""
        layers = naive.layering(self.n, arcs)
        return [self._find_family_draw(layers, arcs, v, spare) for v in range(self.n)]

    def _find_family_draw(self, layers, arcs, v, spare):
        t = self.tables.arrays
        parents = set(naive.parents_in(arcs, v))
        below = total = share = 0.0
        for f in range(t.begin[v], t.begin[v + 1]):
            family = set(t.parents[t.start[f] : t.start[f + 1]].tolist())
            if max((layers[u] + 1 for u in family), default=0) != layers[v]:
                continue
            weight = math.exp(t.weight[f])
            if family == parents:
                below, share = total, weight
            total += weight
        return (below + spare * share) / total


def make_records(tables, n_rounds):
    n = tables.n_variables
    return Records(
        np.zeros(len(tables.arrays.pair_parent)),
        np.zeros(n_rounds),
        np.zeros((n_rounds, n), dtype=np.int32),
        np.zeros(n, dtype=np.int32),
        np.full(1, -np.inf),
        np.zeros((2, 2), dtype=np.int64),
    )


def borders(weights):
    """Return random numbers just inside both ends of each choice, with the choice."""
    ends = np.cumsum([0.0, *weights]) / math.fsum(weights)
    for i, weight in enumerate(weights):
        if weight > 0 and ends[i + 1] - ends[i] > 3 * EDGE:
            yield ends[i] + EDGE, i
            yield ends[i + 1] - EDGE, i


@pytest.mark.parametrize(("n", "n_candidates"), CASES)
def test_the_weight_of_a_layering_is_the_sum_over_its_dags(seed, n, n_candidates):
    oracle = Oracle(n, n_candidates, seed)
    for arcs in list(oracle.dags)[:: 1 if n == 3 else 7]:
        layers = naive.layering(n, arcs)
        _, [drawn], records = oracle.run(layers, (0, 0, 1), [oracle.find_draws(arcs)])
        assert drawn == arcs
        assert records.trace[0] == pytest.approx(math.log(oracle.layerings[layers]), abs=1e-9)


@pytest.mark.parametrize(("n", "n_candidates"), CASES)
@pytest.mark.parametrize("spread", [2.0, 30.0])
def test_arc_probabilities_given_a_layering_are_exact(seed, n, n_candidates, spread):
    oracle = Oracle(n, n_candidates, seed, spread)
    pairs = oracle.tables.pairs
    for layers in list(oracle.layerings)[:: 1 if n == 3 else 5]:
        same = {a: w for a, w in oracle.dags.items() if naive.layering(n, a) == layers}
        if math.fsum(same.values()) < 1e-290:
            continue
        expected = np.array(naive.arc_shares(n, same))
        *_, records = oracle.run(layers, (0, 0, 1), np.full((1, n), 0.5))
        np.testing.assert_allclose(records.arcs, expected[pairs[:, 0], pairs[:, 1]], atol=1e-9)


@pytest.mark.parametrize(("n", "n_candidates"), CASES)
def test_relocate_has_the_exact_probabilities(seed, n, n_candidates):
    oracle = Oracle(n, n_candidates, seed)
    for layers in list(oracle.layerings)[:: 1 if n == 3 else 6]:
        for v in range(n):
            places = naive.relocation_places(layers, v)
            weights = [oracle.layerings.get(place, 0.0) for place in places]
            for uniform, i in borders(weights):
                draws = [(v + 0.5) / n, uniform, *n * [0.5]]
                last, _, _ = oracle.run(layers, (1, 0, 1), [draws])
                assert last == places[i]


def test_a_series_of_relocations_keeps_the_terms_up_to_date(seed):
    oracle = Oracle(4, 2, seed)
    rng = np.random.default_rng(seed)
    last, _, records = oracle.run((0, 0, 0, 0), (5, 0, 1), rng.random((20, 14)))
    assert records.trace[-1] == pytest.approx(math.log(oracle.layerings[last]), abs=1e-9)
    assert records.counts[0, 0] == 100
    assert 0 < records.counts[0, 1] <= 100


def relocation_matrix(oracle):
    """Return the transition matrix of a relocation of a random variable, by the slow twin."""
    names = sorted(oracle.layerings)
    matrix = np.zeros((len(names), len(names)))
    for i, layers in enumerate(names):
        for v in range(oracle.n):
            places = naive.relocation_places(layers, v)
            weights = {place: oracle.layerings.get(place, 0.0) for place in places}
            for place, share in naive.shares(weights).items():
                if share:
                    matrix[i, names.index(place)] += share / oracle.n
    return names, matrix


@pytest.mark.parametrize(("n", "n_candidates"), CASES)
def test_relocation_is_in_detailed_balance_and_reaches_every_layering(seed, n, n_candidates):
    oracle = Oracle(n, n_candidates, seed)
    names, matrix = relocation_matrix(oracle)
    target = np.array([naive.shares(oracle.layerings)[name] for name in names])
    flow = target[:, None] * matrix
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    np.testing.assert_allclose(flow, flow.T, atol=1e-15)
    assert (np.linalg.matrix_power(matrix, 64) > 0).all()


def family_walk(oracle, choices, v):
    """Return the families of v among the choices, in the sequence of the tables."""
    t = oracle.tables.arrays
    held = {naive.parents_in(arcs, v) for arcs in choices}
    listed = [
        tuple(t.parents[t.start[f] : t.start[f + 1]].tolist())
        for f in range(t.begin[v], t.begin[v + 1])
    ]
    return [family for family in listed if family in held]


def check_block(oracle, arcs, members, near_draws):
    """Check all layerings of a block and all families that it can draw, from one DAG."""
    n, q = oracle.n, len(members)
    by_layers = naive.grouped
    choices = naive.block_choices(oracle.dags, arcs, members)
    weights = by_layers(choices, lambda other: naive.block_layers(other, members))
    blocks = [
        layers
        for layers in itertools.product(range(q), repeat=q)
        if set(layers) == set(range(max(layers) + 1))
    ]
    start = [*oracle.find_draws(arcs), *near_draws]
    for uniform, i in borders([weights.get(layers, 0.0) for layers in blocks]):
        same = {a: w for a, w in choices.items() if naive.block_layers(a, members) == blocks[i]}
        for j, v in enumerate(members):
            walk = family_walk(oracle, same, v)
            sums = naive.grouped(same, lambda a, v=v: naive.parents_in(a, v))
            for family_uniform, k in borders([sums[family] for family in walk]):
                draws = [0.5] * q
                draws[j] = family_uniform
                _, [drawn], _ = oracle.run(
                    naive.layering(n, arcs), (0, 1, q), [[*start, uniform, *draws]]
                )
                assert drawn in same
                assert naive.parents_in(drawn, v) == walk[k]


@pytest.mark.parametrize("n_candidates", [None, 1])
def test_a_block_of_two_has_the_exact_probabilities(seed, n_candidates):
    oracle = Oracle(3, n_candidates, seed)
    t = oracle.tables.arrays
    for arcs in oracle.dags:
        for v in range(3):
            near = t.near[t.near_begin[v] : t.near_begin[v + 1]].tolist()
            at = 0.5 / len(near)
            check_block(oracle, arcs, (v, near[0]), [(v + 0.5) / 3, 0.5, at])


@pytest.mark.parametrize("n_candidates", [None, 2])
def test_a_block_of_three_has_the_exact_probabilities(seed, n_candidates):
    oracle = Oracle(4, n_candidates, seed)
    t = oracle.tables.arrays
    near = t.near[t.near_begin[1] : t.near_begin[2]].tolist()
    draws = [1.5 / 4, 0.5, 0.5 / len(near), 0.1, 1.5 / len(near)]
    for arcs in list(oracle.dags)[::90]:
        check_block(oracle, arcs, (1, near[0], near[1]), draws)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_redrawing_a_block_is_in_detailed_balance(seed, size):
    """The twin draws from the conditional distribution of the block, which is reversible."""
    oracle = Oracle(4, 2, seed)
    share = naive.shares(oracle.dags)
    names = list(share)
    for arcs, other in itertools.islice(itertools.product(names[::31], names[::17]), 300):
        for members in itertools.combinations(range(4), size):
            there = naive.shares(naive.block_choices(oracle.dags, arcs, members)).get(other, 0.0)
            back = naive.shares(naive.block_choices(oracle.dags, other, members)).get(arcs, 0.0)
            assert share[arcs] * there == pytest.approx(share[other] * back, abs=1e-15)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_long_series_of_blocks_leave_a_dag(seed, size):
    oracle = Oracle(4, 2, seed)
    plan = (0, 25, size)
    n_uniforms = count_uniforms(4, np.array(plan))
    uniforms = np.random.default_rng(seed).random((8, n_uniforms))
    last, dags, records = oracle.run((0, 0, 0, 0), plan, uniforms)
    assert set(dags) <= set(oracle.dags)
    assert last == naive.layering(4, dags[-1])
    best = max(dags, key=oracle.dags.get)
    assert math.exp(records.best_weight[0]) == pytest.approx(oracle.dags[best])
    assert records.counts[1, 0] == 200


def run_order(oracle, order, plan, rounds):
    records = make_records(oracle.tables, len(rounds))
    level = 2 * np.argsort(order)
    run_orders(oracle.tables.arrays, np.array(plan), level, np.array(rounds), records)
    return tuple(np.argsort(level).tolist()), records


def fits(order, arcs):
    return all(order.index(u) < order.index(v) for u, v in arcs)


@pytest.mark.parametrize(("n", "n_candidates"), CASES)
def test_relocate_in_order_has_the_exact_probabilities(seed, n, n_candidates):
    oracle = Oracle(n, n_candidates, seed)
    for order in list(itertools.permutations(range(n)))[:: 1 if n == 3 else 5]:
        for v in range(n):
            rest = [w for w in order if w != v]
            places = [(*rest[:i], v, *rest[i:]) for i in range(n)]
            weights = [
                math.fsum(w for arcs, w in oracle.dags.items() if fits(place, arcs))
                for place in places
            ]
            for uniform, i in borders(weights):
                draws = [(v + 0.5) / n, uniform, *n * [0.5]]
                last, records = run_order(oracle, order, (1, 0, 1), [draws])
                assert last == places[i]
                assert records.trace[0] == pytest.approx(math.log(weights[i]), abs=1e-9)


@pytest.mark.parametrize(("n", "n_candidates"), CASES)
def test_arc_probabilities_given_an_order_are_exact(seed, n, n_candidates):
    oracle = Oracle(n, n_candidates, seed)
    pairs = oracle.tables.pairs
    for order in list(itertools.permutations(range(n)))[:: 1 if n == 3 else 5]:
        same = {a: w for a, w in oracle.dags.items() if fits(order, a)}
        expected = np.array(naive.arc_shares(n, same))
        _, records = run_order(oracle, order, (0, 0, 1), [n * [0.5]])
        np.testing.assert_allclose(records.arcs, expected[pairs[:, 0], pairs[:, 1]], atol=1e-9)
