"""The moves of the chains: each has exactly the transition probabilities of its slow twin."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import naive
from coevo.posteriors.chain_kernels import (
    MAX_BLOCK_SIZE,
    ChainRun,
    count_uniforms,
    make_scratch,
    run_layerings,
    run_orders,
)
from coevo.posteriors.chain_state import make_round_plan
from coevo.posteriors.chain_tables import prepare_tables
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
        done = run_all(run_layerings, self.tables, 2 * np.array(level), plan, rounds)
        dags = [frozenset(map(tuple, np.argwhere(self.adjacency(d)).tolist())) for d in done.dags]
        return tuple((done.level // 2).tolist()), dags, done

    def adjacency(self, choice):
        return self.tables.make_adjacency(choice)

    def list_near(self, v):
        begin, near, _ = self.tables.blocks
        return near[begin[v] : begin[v + 1]].tolist()

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


def run_all(kernel, tables, level, plan, rounds):
    """Run a chain; `plan` has the relocations and the blocks of a round, and their size."""
    plan = make_round_plan(tables.blocks, *plan)
    run = make_run(tables, level, np.array(rounds))
    scratch = make_scratch(tables.n_variables, plan)
    log_weight = kernel(tables.arrays, plan, run, scratch, 0, len(rounds))
    assert log_weight == run.trace[-1]
    return run


def make_run(tables, level, uniforms):
    n, n_rounds = tables.n_variables, len(uniforms)
    return ChainRun(
        level,
        uniforms,
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
    for arcs in oracle.dags:
        for v in range(3):
            near = oracle.list_near(v)
            at = 0.5 / len(near)
            check_block(oracle, arcs, (v, near[0]), [(v + 0.5) / 3, 0.5, at])


@pytest.mark.parametrize("n_candidates", [None, 2])
def test_a_block_of_three_has_the_exact_probabilities(seed, n_candidates):
    oracle = Oracle(4, n_candidates, seed)
    near = oracle.list_near(1)
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
    n_uniforms = count_uniforms(4, make_round_plan(oracle.tables.blocks, *plan))
    uniforms = np.random.default_rng(seed).random((8, n_uniforms))
    last, dags, records = oracle.run((0, 0, 0, 0), plan, uniforms)
    assert set(dags) <= set(oracle.dags)
    assert last == naive.layering(4, dags[-1])
    best = max(dags, key=oracle.dags.get)
    assert math.exp(records.best_weight[0]) == pytest.approx(oracle.dags[best])
    assert records.counts[1, 0] == 200


def run_order(oracle, order, plan, rounds):
    done = run_all(run_orders, oracle.tables, 2 * np.argsort(order), plan, rounds)
    return tuple(np.argsort(done.level).tolist()), done


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


@pytest.mark.parametrize("kernel", [run_layerings, run_orders])
def test_rounds_in_parts_record_the_same(seed, kernel):
    """Without relocations nothing but the level is carried from one part to the next."""
    tables = prepare_tables(make_random_weights(5, seed, 2))
    plan = make_round_plan(tables.blocks, 0, 0 if kernel is run_orders else 3, 2)
    scratch = make_scratch(5, plan)
    uniforms = np.random.default_rng(seed).random((7, count_uniforms(5, plan)))
    one, other = (make_run(tables, 2 * np.arange(5), uniforms) for _ in range(2))
    kernel(tables.arrays, plan, one, scratch, 0, 7)
    for begin, end in ((0, 3), (3, 3), (3, 4), (4, 7)):
        kernel(tables.arrays, plan, other, scratch, begin, end)
    for name in one.field_types:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("kernel", [run_layerings, run_orders])
def test_no_dag_is_drawn_from_a_level_that_has_none(seed, kernel):
    weights = make_random_weights(3, seed)
    weights.tables[2][[0, 2]] = -np.inf  # variable 2 always has the parent 0
    tables = prepare_tables(weights)
    plan = make_round_plan(tables.blocks, 0)
    scratch = make_scratch(3, plan)
    for level, is_possible in (((2, 4, 0), False), ((0, 2, 4), True)):
        run = make_run(tables, np.array(level), np.full((1, 3), 0.5))
        weight = kernel(tables.arrays, plan, run, scratch, 0, 0)
        assert (weight > -np.inf) == is_possible
        assert kernel(tables.arrays, plan, run, scratch, 0, 1) == weight
        assert (run.best_weight[0] > -np.inf) == is_possible
        assert run.level.tolist() == list(level)


def test_python_and_c_have_the_same_largest_block():
    header = (Path(__file__).parents[2] / "engine" / "block.h").read_text()
    assert f"MAX_BLOCK_SIZE = {MAX_BLOCK_SIZE}," in header
