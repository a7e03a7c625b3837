"""The hill climbing among candidates makes the legal moves of its list, each child once."""

import numpy as np
import pytest

import naive
from coevo.search.climb_kernels import ADD, DELETE, REVERSE
from coevo.search.sparse_climb import _find_reverse_places
from coevo.search.sparse_climb_kernels import SparseGraph, choose_moves

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
