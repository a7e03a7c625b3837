"""A climb lists every legal move with its gain, and finds the best one."""

import re
from pathlib import Path

import numpy as np
import pytest

import naive
from coevo.graph import Constraints
from coevo.score import FamilyBatch, FamilyScorer
from coevo.search import graph_kernels, run_search
from coevo.search.base import LEAST_GAIN
from coevo.search.climbing import Climb
from coevo.search.graph_kernels import compute_reachability
from helpers.problems import as_arcs, make_problem, random_constraints, random_table
from helpers.random_tables import dataset_of

pytestmark = pytest.mark.kernel

N = 5


def make_random_problem(seed, constrained):
    data = random_table(seed, N, 60)
    rng = np.random.default_rng(seed)
    return make_problem(data, "bdeu", random_constraints(rng, data.names) if constrained else None)


def make_check(problem):
    return lambda arcs: problem.rules.is_satisfied_by(_make_matrix(arcs))


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_moves_match_the_naive_oracle(seed, constrained):
    """Compare on a random walk, which visits structures of every kind."""
    on = make_random_problem(seed, constrained)
    rng = np.random.default_rng(seed)
    climb = Climb.from_problem(on)
    for _ in range(12):
        expected = {
            (kind, parent, child): on.score(_make_matrix(after)) - on.score(climb.adjacency)
            for kind, parent, child, after in naive.single_moves(
                N, as_arcs(climb.adjacency), make_check(on)
            )
        }
        moves = climb.list_moves()
        found = {(move.kind, move.parent, move.child): move.gain for move in moves}
        assert found.keys() == expected.keys()
        assert all(found[move] == pytest.approx(expected[move], abs=1e-8) for move in expected)
        _check_best(climb, moves)
        if not moves:
            break
        climb.apply(moves[int(rng.integers(len(moves)))])


@pytest.mark.parametrize("max_parents", [None, 1])
@pytest.mark.parametrize("score", ["bic", "loglik"])
def test_the_remembered_additions_give_the_move_of_a_complete_scan(score, max_parents, seed):
    """Under the log-likelihood many moves gain the same or nothing."""
    table = random_table([seed, 3], 7, 40)
    problem = make_problem(table, score, Constraints(max_parents=max_parents))
    rng, climb = np.random.default_rng(seed), Climb.from_problem(problem)
    nothing = np.zeros((7, 7), dtype=np.bool_)
    for turn in range(25):
        move = climb.find_best_move()
        assert move == climb.find_best_move(nothing)
        moves = climb.list_moves()
        climb.apply(move if turn % 3 else moves[int(rng.integers(len(moves)))])


@pytest.mark.parametrize("n", [0, 1, 2, 9, 70])
def test_reachability_matches_naive(n, seed):
    """Graphs with cycles, too."""
    rng = np.random.default_rng([seed, n])
    for share in (0.3, 1.0, 3.0):
        arcs = rng.random((n, n)) < share / max(n, 1)
        np.fill_diagonal(arcs, False)
        reach = compute_reachability(arcs)
        for node in range(n):
            children = np.flatnonzero(arcs[node]).tolist()
            found = set().union(*(naive.reachable(as_arcs(arcs), child) for child in children))
            assert np.flatnonzero(reach[node]).tolist() == sorted(found)


def test_the_kinds_of_moves_have_the_same_numbers_in_c():
    text = Path(__file__).parents[2].joinpath("engine", "climb.h").read_text()
    kinds = re.search(r"enum \{ (DELETE, .*?) \}", text).group(1).split(", ")
    assert [getattr(graph_kernels, kind) for kind in kinds] == list(range(len(kinds)))
    unknown = re.search(r"enum \{ UNKNOWN = (-\d+) \}", text).group(1)
    assert int(unknown) == graph_kernels.UNKNOWN


def test_the_families_of_a_structure(seed):
    adjacency = np.triu(np.random.default_rng(seed).random((6, 6)) < 0.4, 1)
    pairs = [(child, np.flatnonzero(adjacency[:, child])) for child in range(6)]
    batch, expected = FamilyBatch.from_adjacency(adjacency), FamilyBatch.from_pairs(pairs)
    assert batch.members.tolist() == expected.members.tolist()
    assert batch.start.tolist() == expected.start.tolist()
    assert (batch.members.dtype, batch.start.dtype) == (np.int32, np.int64)


def _make_matrix(arcs):
    matrix = np.zeros((N, N), dtype=np.bool_)
    for parent, child in arcs:
        matrix[parent, child] = True
    return matrix


def _check_best(climb, moves):
    """Expect the first move of the list among those with the largest gain."""
    forbidden = np.zeros((N, N), dtype=np.bool_)
    forbidden[0] = True
    for taboo in (np.zeros((N, N), dtype=np.bool_), forbidden):
        free = [m for m in moves if not (taboo[m.parent, m.child] or taboo[m.child, m.parent])]
        highest = max((move.gain for move in free), default=None)
        best = [move for move in free if move.gain > highest - LEAST_GAIN]
        assert climb.find_best_move(taboo) == (best[0] if best else None)


def test_the_best_move_is_found_if_its_gain_is_huge():
    """With a billion rows, a gain is so large that rounding hides the least gain."""
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]).T
    table = dataset_of([2, 2], cells, np.array([400_000_000, 100_000_000, 1, 500_000_000]))
    move = Climb.from_problem(make_problem(table, "bic")).find_best_move()
    assert move.kind == "add"
    assert move.gain > 1e8
    assert len(run_search("hill_climb", FamilyScorer(table, "bic")).dag.arcs) == 1
