"""The hill climbing among candidates makes the legal moves of its list, each child once."""

import numpy as np
import pytest

import naive
from coevo.search.graph_kernels import (
    ADD,
    DELETE,
    REVERSE,
    SparseGraph,
    choose_moves,
    list_toggles,
    rank_moves,
)
from coevo.search.sparse_climb import _find_reverse_places

pytestmark = pytest.mark.kernel

KINDS = {DELETE: "delete", ADD: "add", REVERSE: "reverse"}


def make_graph(rng, n, k):
    """Return random candidates of each child, and a random DAG among them."""
    rows = [rng.permutation(np.delete(np.arange(n), child))[:k] for child in range(n)]
    candidates, places = np.array(rows, dtype=np.int32), rng.permutation(n)
    is_before = places[candidates] < places[:, None]
    return SparseGraph(
        candidates=candidates,
        reverse_of=_find_reverse_places(candidates),
        is_parent=is_before & (rng.random((n, k)) < 0.5),
        changed=np.ones(n, dtype=np.bool_),  # overwritten, and so is what was seen
        seen=np.arange(n),
        waiting=np.empty(n, dtype=np.int64),
    )


def list_arcs(graph):
    child, place = np.nonzero(graph.is_parent)
    return set(zip(graph.candidates[child, place].tolist(), child.tolist(), strict=True))


def list_moves(graph):
    """Return the numbers of all moves that fit the structure, and what they are."""
    n, k = graph.candidates.shape
    moves = {}
    for child, place in np.ndindex(n, k):
        parent = int(graph.candidates[child, place])
        is_parent = bool(graph.is_parent[child, place])
        for kind, name in KINDS.items():
            can_turn = kind != REVERSE or graph.reverse_of[child, place] >= 0
            if is_parent == (kind != ADD) and can_turn:
                moves[(kind * n + child) * k + place] = (name, parent, child)
    return moves


@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 4), (9, 3), (30, 5)])
@pytest.mark.parametrize("n_moves", [0, 1, 4, 1000])
def test_the_chosen_moves_match_the_naive_oracle(n, k, n_moves, seed):
    rng = np.random.default_rng([seed, n, n_moves])
    graph = make_graph(rng, n, k)
    for _ in range(3):  # from where the last moves ended
        moves = list_moves(graph)
        ranked = rng.permutation(list(moves))
        arcs, changed, n_made = naive.make_moves(
            [moves[number] for number in ranked.tolist()], list_arcs(graph), n_moves
        )
        assert choose_moves(graph, ranked, n_moves) == n_made
        assert list_arcs(graph) == arcs
        assert set(np.flatnonzero(graph.changed).tolist()) == changed


def test_no_candidates_allow_no_move():
    graph = make_graph(np.random.default_rng(0), 1, 0)
    assert choose_moves(graph, np.empty(0, dtype=np.int64), 5) == 0


@pytest.mark.parametrize(("n", "k"), [(1, 0), (2, 1), (5, 4), (9, 3), (30, 5)])
@pytest.mark.parametrize("max_parents", [0, 1, 2, 9])
def test_moves_are_ranked_as_by_the_naive_oracle(n, k, max_parents, seed):
    rng = np.random.default_rng([seed, n, max_parents])
    graph = make_graph(rng, n, k)
    gains = rng.integers(-3, 4, (n, k)) / 2.0  # with many ties
    gains[rng.random((n, k)) < 0.1] = -np.inf
    gains += rng.random((n, k)) * 1e-12
    moves = list_moves(graph)
    gain_of = {
        (child, int(graph.candidates[child, place])): gains[child, place]
        for child, place in np.ndindex(n, k)
    }
    expected = naive.rank_moves(
        list(moves.values()),
        list_arcs(graph),
        lambda child, parent: gain_of[child, parent],
        max_parents,
        1e-9,
        1e-8,
    )
    ranked, rounded = np.empty(3 * n * k, dtype=np.int64), np.empty(3 * n * k)
    n_ranked = rank_moves(graph, gains, max_parents, 1e-9, 1e-8, ranked, rounded)
    assert [moves[number] for number in ranked[:n_ranked].tolist()] == expected


@pytest.mark.parametrize(("n", "k"), [(1, 0), (2, 1), (5, 4), (9, 3), (30, 5)])
@pytest.mark.parametrize("max_parents", [0, 1, 2, 9])
def test_families_of_toggles_match_the_naive_oracle(n, k, max_parents, seed):
    rng = np.random.default_rng([seed, n, max_parents])
    graph = make_graph(rng, n, k)
    may_change = rng.random((n, k)) < 0.8
    children = np.flatnonzero(rng.random(n) < 0.6)
    allowed = {
        (int(graph.candidates[child, place]), child)
        for child, place in zip(*np.nonzero(may_change), strict=True)
    }
    expected = naive.list_toggles(
        children.tolist(), graph.candidates.tolist(), list_arcs(graph), allowed, max_parents
    )
    n_most = len(children) * k
    members = np.empty(k * (2 * len(children) + int(graph.is_parent[children].sum())), np.int32)
    start, toggled = np.empty(n_most + 1, dtype=np.int64), np.empty(n_most, dtype=np.int64)
    work = (children, max_parents, members, start, toggled)
    n_families = list_toggles(graph, may_change, *work)
    found = [
        (tuple(members[start[f] : start[f + 1]].tolist()), int(graph.candidates.ravel()[at]))
        for f, at in enumerate(toggled[:n_families].tolist())
    ]
    assert found == expected
    assert [at // k for at in toggled[:n_families].tolist()] == [family[0] for family, _ in found]
