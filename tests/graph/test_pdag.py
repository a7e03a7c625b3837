"""Meek's rules and consistent extensions, against all DAGs of four variables."""

import itertools

import numpy as np
import pytest

import naive
from coevo.graph.pdag import close_under_meek, extend_to_dag, is_acyclic


def as_matrix(n, arcs, edges=()):
    matrix = np.zeros((n, n), dtype=np.bool_)
    for a, b in (*arcs, *(pair for edge in edges for pair in (tuple(edge), tuple(edge)[::-1]))):
        matrix[a, b] = True
    return matrix


def as_arcs(matrix):
    return {(int(a), int(b)) for a, b in np.argwhere(matrix)}


def test_colliders_and_rules_give_the_cpdag_of_all_dags():
    dags = list(naive.all_dags(4))
    assert len(dags) == 543
    for arcs in dags:
        colliders = {(parent, child) for pair, child in naive.v_structures(arcs) for parent in pair}
        graph = as_matrix(4, arcs) | as_matrix(4, arcs).T
        for parent, child in colliders:
            graph[child, parent] = False
        compelled, edges = naive.essential_graph(arcs, dags)
        assert (close_under_meek(graph) == as_matrix(4, compelled, edges)).all()


def find_members(graph, dags):
    """Return the DAGs with the edges, the arcs and the colliders of a graph, by enumeration."""
    arcs, joined = as_arcs(graph & ~graph.T), as_arcs(graph | graph.T)
    colliders = naive.v_structures(arcs)
    colliders = {(pair, child) for pair, child in colliders if tuple(pair) not in joined}
    return [
        dag
        for dag in dags
        if arcs <= dag
        and {*dag, *((b, a) for a, b in dag)} == joined
        and naive.v_structures(dag) == colliders
    ]


def test_an_extension_exists_exactly_if_enumeration_finds_one():
    """All 4,096 graphs of four variables with arcs and edges."""
    dags = [frozenset(dag) for dag in naive.all_dags(4)]
    by_skeleton = {}
    for dag in dags:
        by_skeleton.setdefault(frozenset(map(frozenset, dag)), []).append(dag)
    pairs = list(itertools.combinations(range(4), 2))
    n_found = 0
    for kinds in itertools.product(range(4), repeat=6):
        arcs = [pair for pair, kind in zip(pairs, kinds, strict=True) if kind in (1, 3)]
        arcs += [pair[::-1] for pair, kind in zip(pairs, kinds, strict=True) if kind in (2, 3)]
        graph = as_matrix(4, arcs)
        members = find_members(graph, by_skeleton[frozenset(map(frozenset, arcs))])
        found = extend_to_dag(graph)
        assert (found is not None) == bool(members)
        if found is not None:
            assert as_arcs(found) in members
            n_found += 1
        forced = extend_to_dag(graph, is_strict=False)
        assert ((forced | forced.T) == (graph | graph.T)).all()
        assert not (forced & forced.T).any()
        assert (forced[graph & ~graph.T]).all()
    assert 543 < n_found < 4096


@pytest.mark.parametrize("case", range(20))
def test_background_knowledge_is_closed(case, seed):
    """An edge stays exactly if members of the class have it in both directions."""
    rng = np.random.default_rng([seed, case])
    dags = [frozenset(dag) for dag in naive.all_dags(4)]
    truth = dags[rng.integers(len(dags))]
    compelled, edges = naive.essential_graph(truth, dags)
    known = {arc for arc in truth if rng.random() < 0.4}
    graph = as_matrix(4, compelled, edges)
    for a, b in known:
        graph[b, a] = False
    members = [dag for dag in dags if naive.equivalent(dag, truth) and known <= dag]
    right = set().union(*members)
    assert as_arcs(close_under_meek(graph)) == right


def test_rule_4_directs_what_the_others_leave():
    """With a - b, a - c, a - d, c -> d -> b and b, c apart, it gives a -> b."""
    graph = as_matrix(4, [(2, 3), (3, 1)], [(0, 1), (0, 2), (0, 3)])
    assert as_arcs(close_under_meek(graph)) == {
        (0, 1), (2, 3), (3, 1), (0, 2), (2, 0), (0, 3), (3, 0),
    }  # fmt: skip


def test_arcs_are_acyclic_exactly_if_they_are_a_dag():
    """All 4,096 graphs of four variables, of which 543 are DAGs."""
    arcs = list(itertools.permutations(range(4), 2))
    chosen = itertools.product([False, True], repeat=12)
    graphs = (frozenset(itertools.compress(arcs, flags)) for flags in chosen)
    found = {graph for graph in graphs if is_acyclic(as_matrix(4, graph))}
    assert found == set(map(frozenset, naive.all_dags(4)))


def test_the_rules_close_no_cycle(seed):
    """Whatever arcs and edges there are, as long as the arcs close none themselves."""
    rng = np.random.default_rng(seed)
    n_contradictions = 0
    for _ in range(300):
        order = rng.permutation(6)
        arcs = np.triu(rng.random((6, 6)) < 0.3, 1)[np.ix_(order, order)]
        edges = np.triu(rng.random((6, 6)) < 0.5, 1) & ~(arcs | arcs.T)
        graph = arcs | edges | edges.T
        closed = close_under_meek(graph)
        assert is_acyclic(closed & ~closed.T)
        assert ((closed | closed.T) == (graph | graph.T)).all()
        assert not (closed & ~graph).any()
        n_contradictions += extend_to_dag(graph) is None
    assert n_contradictions > 50


def test_the_rules_match_their_naive_twins(seed):
    """Any arcs and edges: the rules may contradict each other, and the arcs may have a cycle."""
    rng = np.random.default_rng(seed)
    n_cyclic = n_left_out = 0
    for case in range(400):
        n = 4 + case % 3
        graph = rng.random((n, n)) < rng.choice([0.5, 0.7])
        np.fill_diagonal(graph, False)
        closed = close_under_meek(graph)
        assert as_arcs(closed) == naive.closed_under_meek(n, as_arcs(graph))
        is_cyclic = not is_acyclic(graph & ~graph.T)
        n_cyclic += is_cyclic and bool((closed != graph).any())
        n_left_out += not is_cyclic and bool(naive.forced_by_meek(n, as_arcs(closed)))
    assert n_cyclic > 0
    assert n_left_out > 0


def test_one_round_directs_all_that_its_rule_forces():
    """Rule 3 gives a -> c and b -> c. If it gave a -> c alone, rule 1 would give c -> b."""
    c, a, b, d, e = range(5)
    edges = [(a, c), (b, c), (a, d), (a, e), (b, d), (b, e)]
    graph = as_matrix(5, [(d, c), (e, c)], edges)
    right = as_matrix(5, [(d, c), (e, c), (a, c), (b, c)], edges[2:])
    assert (close_under_meek(graph) == right).all()
