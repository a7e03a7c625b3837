"""Classes as bit sets agree with an enumeration of all DAGs of four variables."""

import itertools

import numpy as np
import pytest

import naive
from coevo.search.equivalence import (
    EquivalenceClass,
    iter_bits,
    make_adjacency,
    make_parent_sets,
)
from helpers.problems import as_arcs

N = 4
CLASSES = naive.equivalence_classes(N)


def make_parents(arcs, n=N):
    return [sum(1 << parent for parent, other in arcs if other == child) for child in range(n)]


def list_arcs(sets):
    return {(parent, child) for child, parents in enumerate(sets) for parent in iter_bits(parents)}


def test_the_number_of_classes():
    assert (len(naive.all_dags(N)), len(CLASSES)) == (543, 185)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 65, 130])
def test_bit_sets_and_matrices(n, seed):
    adjacency = np.triu(np.random.default_rng([seed, n]).random((n, n)) < 0.4, 1)
    parents = make_parent_sets(adjacency)
    assert list_arcs(parents) == as_arcs(adjacency)
    again = make_adjacency(parents)
    assert np.array_equal(again, adjacency)
    assert again.dtype == np.bool_
    assert again.flags.c_contiguous


def test_a_class_is_its_essential_graph():
    for members in CLASSES.values():
        for arcs in members:
            graph = EquivalenceClass(make_parents(arcs))
            compelled = {arc for arc in arcs if all(arc in other for other in members)}
            edges = {frozenset(arc) for arc in arcs - compelled}
            assert list_arcs(graph.parents) == compelled
            assert {(child, parent) for parent, child in list_arcs(graph.children)} == compelled
            assert {frozenset(arc) for arc in list_arcs(graph.neighbours)} == edges
            joined = {frozenset(arc) for arc in arcs}
            assert {frozenset(arc) for arc in list_arcs(graph.adjacent)} == joined


def test_a_member_is_found_exactly_if_there_is_one(seed):
    rng = np.random.default_rng(seed)
    n_found = 0
    for members in CLASSES.values():
        graph = EquivalenceClass(make_parents(members[0]))
        compelled = list_arcs(graph.parents)
        for share in (0, 0.2, 0.2, 0.4):
            barred = make_parent_sets(rng.random((N, N)) < share)
            free = [arcs for arcs in members if not (arcs - compelled) & list_arcs(barred)]
            found = graph.find_member(barred)
            assert (found is not None) == bool(free)
            assert found is None or list_arcs(found) in free
            n_found += found is not None
    assert 200 < n_found < 700


def test_members_of_larger_classes(seed):
    rng = np.random.default_rng(seed)
    for case in range(60):
        n = int(rng.integers(5, 30))
        places = rng.permutation(n)
        dag = np.triu(rng.random((n, n)) < rng.choice([0.1, 0.3, 0.7]), 1)[np.ix_(places, places)]
        graph = EquivalenceClass(make_parent_sets(dag))
        member = graph.find_member([0] * n)
        assert naive.equivalent(list_arcs(member), as_arcs(dag)), case
        compelled, edges = naive.oriented(range(n), as_arcs(dag)) if n < 12 else (None, None)
        if compelled is not None:
            assert list_arcs(graph.parents) == compelled
            assert {frozenset(arc) for arc in list_arcs(graph.neighbours)} == edges


def test_cliques_of_neighbours():
    for members in CLASSES.values():
        graph = EquivalenceClass(make_parents(members[0]))
        edges = {frozenset(arc) for arc in list_arcs(graph.neighbours)}
        for variable in range(N):
            around = list(iter_bits(graph.neighbours[variable]))
            cliques = list(graph.iter_cliques(variable))
            assert len(cliques) == len(set(cliques))
            assert {frozenset(iter_bits(clique)) for clique in cliques} == {
                frozenset(chosen)
                for size in range(N)
                for chosen in itertools.combinations(around, size)
                if all(frozenset(pair) in edges for pair in itertools.combinations(chosen, 2))
            }


def test_paths():
    for members in CLASSES.values():
        graph = EquivalenceClass(make_parents(members[0]))
        steps = list_arcs(graph.parents) | list_arcs(graph.neighbours)
        for start, end in itertools.permutations(range(N), 2):
            for blocked in range(1 << N):
                if blocked >> start & 1 or blocked >> end & 1:
                    continue
                left = {arc for arc in steps if not any(blocked >> v & 1 for v in arc)}
                right = end in naive.reachable(left, start)
                assert graph.has_path(1 << start, end, blocked) == right


def test_one_variable_is_a_class():
    graph = EquivalenceClass([0])
    assert (graph.parents, graph.neighbours) == ([0], [0])
    assert graph.find_member([0]) == [0]
