"""Orders and masks are decoded as documented in `engine/decode.h`, and scored as one batch."""

import itertools
import types

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.graph import Constraints
from coevo.search import Problem, decode, encode_dag, n_bits
from coevo.search import solution_scorer as solutions_module
from coevo.search.graph_kernels import put_required_first
from coevo.search.solution_scorer import SolutionScorer
from helpers.problems import (
    InterruptedScorer,
    as_arcs,
    decode_naively,
    make_problem,
    random_constraints,
    random_table,
)

BOUNDED = settings(derandomize=True, deadline=None, max_examples=100)


class WeightScorer:
    """A fake scorer: each arc has a weight, and the score of a structure is their sum.

    The weights are large integers, so that sums are exact and different for each structure.
    """

    def __init__(self, rng, n, max_table=None):
        names, arities = tuple(f"v{i:03d}" for i in range(n)), rng.integers(1, 5, n)
        self.dataset = types.SimpleNamespace(names=names, arities=arities)
        self.max_table = max_table
        self.weights = rng.integers(1, 1 << 40, (n, n)).astype(float)

    def local_scores(self, batch):
        batch.check_starts()
        families = [batch.members[i:j] for i, j in itertools.pairwise(batch.start)]
        if families:
            batch.check_members(len(self.weights))
        assert len({tuple(family) for family in families}) == len(families)  # asked for once
        return np.array([self.weights[family[1:], family[0]].sum() for family in families])


def check_decoding(rng, n, share_of_bits, known=None, max_table=None):
    """Compare a batch of random pairs, and each pair alone, with the naive oracle."""
    scorer = WeightScorer(rng, n, max_table)
    problem = Problem.from_scorer(scorer, known or random_constraints(rng, scorer.dataset.names))
    orders = rng.permuted(np.tile(np.arange(n), (4, 1)), axis=1)
    masks = rng.random((3, n_bits(n))) < share_of_bits
    order_of, mask_of = rng.integers(4, size=6), rng.integers(3, size=6)
    solutions = SolutionScorer(problem)
    scores = solutions.score_solutions(orders, order_of, masks, mask_of)
    for score, order, mask in zip(scores, orders[order_of], masks[mask_of], strict=True):
        arcs = decode_naively(order, mask, problem.rules)
        assert score == sum(scorer.weights[arc] for arc in arcs)
        adjacency, alone = solutions.decode_and_score(order, mask)
        assert as_arcs(adjacency) == arcs
        assert alone == score
        assert problem.rules.is_satisfied_by(adjacency)


@pytest.mark.kernel
@BOUNDED
@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_decoding_matches_the_naive_oracle(seed, n, share_of_bits):
    check_decoding(np.random.default_rng(seed), n, share_of_bits)


@pytest.mark.kernel
@BOUNDED
@given(st.integers(0, 2**32), st.integers(1, 8), st.sampled_from([4, 12, 60]))
def test_decoding_within_a_limit_on_tables_matches_the_naive_oracle(seed, n, max_table):
    check_decoding(np.random.default_rng(seed), n, 0.7, Constraints(), max_table)


@pytest.mark.kernel
@pytest.mark.parametrize("n", [63, 64, 65, 130])
def test_sets_of_parents_of_several_words(n, seed):
    rng = np.random.default_rng([seed, n])
    names = WeightScorer(rng, n).dataset.names
    required = [(names[n - 1], names[0]), (names[n - 2], names[n - 1]), (names[1], names[n - 3])]
    check_decoding(rng, n, 0.05, Constraints())
    check_decoding(rng, n, 0.05, Constraints(required=required, max_parents=3))


@pytest.mark.kernel
@BOUNDED
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_decoding_without_constraints_follows_the_paper(seed, n):
    rng = np.random.default_rng(seed)
    order, mask = rng.permutation(n), rng.random(n_bits(n)) < 0.5
    solutions = SolutionScorer(Problem.from_scorer(WeightScorer(rng, n)))
    assert np.array_equal(solutions.decode_and_score(order, mask)[0], decode(order, mask))


@pytest.mark.kernel
@pytest.mark.parametrize("n", [1, 2, 9, 70])
def test_orders_with_required_arcs_match_the_naive_oracle(n, seed):
    rng = np.random.default_rng([seed, n])
    for n_orders in (0, 1, 5):
        places = rng.permutation(n)
        required = (rng.random((n, n)) < 1.5 / n) & (places[:, None] < places)
        orders = rng.permuted(np.tile(np.arange(n), (n_orders, 1)), axis=1)
        expected = [naive.read_order(order, as_arcs(required)) for order in orders.tolist()]
        assert put_required_first(orders, required).tolist() == expected


def draw_pairs(seed, n, n_pop=50, n_solutions=200):
    rng = np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(n), (n_pop, 1)), axis=1)
    masks = rng.random((n_pop, n_bits(n))) < 0.3
    return (
        orders,
        rng.integers(n_pop, size=n_solutions),
        masks,
        rng.integers(n_pop, size=n_solutions),
    )


@pytest.mark.parametrize(
    ("constant", "value"),
    [
        ("FAMILIES_PER_PART", 1),
        ("FAMILIES_PER_PART", 100),
        ("RECENT_FAMILIES", 1),
        ("RECENT_FAMILIES", 2000),
    ],
)
def test_parts_and_table_size_change_no_score(constant, value, seed, monkeypatch):
    problem = make_problem(random_table(seed))
    batches = [draw_pairs([seed, i + 1], 7) for i in range(4)]
    right = [SolutionScorer(problem).score_solutions(*pairs).tolist() for pairs in batches]
    monkeypatch.setattr(solutions_module, constant, value)
    solutions = SolutionScorer(problem)
    for i in (0, 1, 2, 0, 3, 1, 1):
        assert solutions.score_solutions(*batches[i]).tolist() == right[i]
        order, mask = batches[i][0][0], batches[i][2][0]
        adjacency, score = solutions.decode_and_score(order, mask)
        assert np.array_equal(adjacency, decode(order, mask))
        assert score == problem.score(adjacency)


def test_an_interrupt_leaves_no_family_without_its_score(seed):
    table = random_table(seed)
    right, pairs = SolutionScorer(make_problem(table)), draw_pairs(seed, 7, 5, 10)
    for n_before in (0, 1, 2):
        scorer = InterruptedScorer(table, "k2", at=n_before)
        solutions = SolutionScorer(Problem.from_scorer(scorer))
        for i in range(n_before):
            solutions.score_solutions(*draw_pairs([seed, i + 1], 7, 5, 10))
        with pytest.raises(KeyboardInterrupt):
            solutions.score_solutions(*pairs)
        assert solutions.score_solutions(*pairs).tolist() == right.score_solutions(*pairs).tolist()


FOUR = ["v000", "v001", "v002", "v003"]


@pytest.mark.parametrize(
    "known",
    [
        Constraints(),
        Constraints(max_parents=1),
        Constraints(required=[("v003", "v000")]),
        Constraints(required=[("v003", "v000"), ("v002", "v003"), ("v001", "v000")]),
        Constraints(forbidden=[("v000", "v001"), ("v001", "v000"), ("v002", "v003")]),
        Constraints(tiers=[["v002"], ["v000", "v003"]], max_parents=2),
        Constraints(
            required=[("v003", "v001")],
            forbidden=[("v000", "v001")],
            tiers=[["v003", "v002"], ["v001"]],
            max_parents=2,
        ),
    ],
    ids=repr,
)
def test_exactly_the_structures_that_satisfy_the_constraints_are_reached(known, seed):
    """Test all 543 DAGs of four variables, and all 24 orders with all 64 masks."""
    problem = Problem.from_scorer(WeightScorer(np.random.default_rng(seed), 4), known)
    solutions = SolutionScorer(problem)
    matrices = []
    for arcs in naive.all_dags(4):
        matrix = np.zeros((4, 4), dtype=bool)
        matrix[[arc[0] for arc in arcs], [arc[1] for arc in arcs]] = True
        matrices.append(matrix)
    assert len(matrices) == 543
    fulfilling = [matrix for matrix in matrices if problem.rules.is_satisfied_by(matrix)]
    for matrix in fulfilling:
        for names in naive.topological_orders(range(4), as_arcs(matrix)):
            order = np.array(names)
            mask = matrix[np.ix_(order, order)][np.triu_indices(4, k=1)]
            assert np.array_equal(solutions.decode_and_score(order, mask)[0], matrix)
        pair = encode_dag(problem.make_dag(matrix), FOUR)
        assert np.array_equal(solutions.decode_and_score(*pair)[0], matrix)
    reached = {
        frozenset(as_arcs(solutions.decode_and_score(np.array(order), np.array(mask))[0]))
        for order in itertools.permutations(range(4))
        for mask in itertools.product([False, True], repeat=6)
    }
    assert reached == {frozenset(as_arcs(matrix)) for matrix in fulfilling}
