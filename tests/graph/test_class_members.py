"""The members of a class: each one once, counted without listing, and one of them."""

from __future__ import annotations

import math
import time
from itertools import combinations, islice, pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.bundled import list_networks, open_structure
from coevo.graph import CPDAG, DAG
from coevo.graph.class_members import (
    _count_orders,
    count_orientations,
    extend_edges,
    iterate_orientations,
)

thorough = settings(derandomize=True, deadline=None, max_examples=150)


@st.composite
def chordal_edges(draw, max_nodes=8):
    """Return the edges of a chordal graph: each variable is joined to a clique of earlier ones."""
    names = draw(st.permutations("abcdefgh"[:max_nodes]))[: draw(st.integers(1, max_nodes))]
    edges = []
    near = {name: set() for name in names}
    for i, name in enumerate(names):
        clique = []
        for other in draw(st.permutations(names[:i])):
            if set(clique) <= near[other] and draw(st.integers(0, 3)):
                clique.append(other)
        for other in clique:
            edges.append((name, other) if draw(st.booleans()) else (other, name))
            near[name].add(other)
            near[other].add(name)
    return edges


def oriented_by_force(edges):
    """Return every acyclic orientation without a v-structure, from all orders of the variables."""
    names = sorted({name for edge in edges for name in edge})
    found = set()
    for order in permutations(names):
        place = {name: i for i, name in enumerate(order)}
        arcs = frozenset(tuple(sorted(edge, key=place.__getitem__)) for edge in edges)
        if not naive.v_structures(arcs):
            found.add(arcs)
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_class_has_its_members(n):
    for members in naive.equivalence_classes(n).values():
        check_class(n, members)


def check_class(n, members):
    names = "abcde"[:n]
    expected = {DAG(names, [(names[p], names[c]) for p, c in arcs]) for arcs in members}
    cpdag = CPDAG(next(iter(expected)))
    listed = list(cpdag.members())
    assert len(listed) == len(set(listed)) == cpdag.n_members
    assert set(listed) == expected
    assert cpdag.extend() in expected


@thorough
@given(chordal_edges(6))
def test_orientations_of_a_chordal_graph(edges):
    listed = [frozenset(arcs) for arcs in iterate_orientations(edges)]
    assert set(listed) == oriented_by_force(edges)
    assert len(listed) == len(set(listed)) == count_orientations(edges)
    assert frozenset(extend_edges(edges)) in listed


@thorough
@given(chordal_edges(8))
def test_the_count_matches_the_list(edges):
    assert count_orientations(edges) == sum(1 for _ in iterate_orientations(edges))


@thorough
@given(chordal_edges(7), st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_the_edges(edges, random):
    shuffled = [edge if random.random() < 0.5 else edge[::-1] for edge in edges]
    random.shuffle(shuffled)
    assert list(iterate_orientations(shuffled)) == list(iterate_orientations(edges))
    assert extend_edges(shuffled) == extend_edges(edges)
    assert count_orientations(shuffled) == count_orientations(edges)


def test_classes_with_a_known_size():
    names = [f"v{i:03}" for i in range(200)]
    path = list(pairwise(names))
    assert count_orientations(path) == 200  # a tree has one member for each source
    assert count_orientations(combinations(names[:60], 2)) == math.factorial(60)
    two = [*combinations(names[:30], 2), *combinations(names[100:140], 2)]
    assert count_orientations(two) == math.factorial(30) * math.factorial(40)
    # The square of a path: every three neighbours are joined.
    thick = [*path, *zip(names, names[2:], strict=False)]
    assert count_orientations(thick[:0]) == 1
    small = [(a, b) for a, b in thick if a < names[9] and b < names[9]]
    assert count_orientations(small) == sum(1 for _ in iterate_orientations(small))


def test_large_classes_are_counted_fast():
    names = [f"v{i:03}" for i in range(150)]
    edges = [(names[i], names[j]) for i in range(150) for j in range(i + 1, min(150, i + 8))]
    began = time.process_time()
    count = count_orientations(edges)
    assert time.process_time() - began < 20
    assert count > 10**6
    dag = DAG(names, edges)
    cpdag = CPDAG(dag)
    assert cpdag.n_members == count
    some = list(islice(cpdag.members(), 50))
    assert len(set(some)) == 50
    assert all(CPDAG(member) == cpdag for member in some)


def test_a_class_with_many_components_is_listed_lazily():
    names = [f"v{i:04}" for i in range(3000)]
    cpdag = CPDAG(DAG(names, list(zip(names[::2], names[1::2], strict=True))))
    assert cpdag.n_members == 2**1500
    assert CPDAG(next(cpdag.members())) == cpdag


@pytest.mark.parametrize("name", [one for one in list_networks() if one != "munin"])
def test_bundled_networks_are_members_of_their_class(name):
    dag = open_structure(name)
    cpdag = CPDAG(dag)
    assert cpdag.n_members >= 1
    assert CPDAG(cpdag.extend()) == cpdag
    if cpdag.n_members <= 2000:
        listed = set(cpdag.members())
        assert len(listed) == cpdag.n_members
        assert dag in listed


def test_orders_without_forbidden_prefixes():
    for n in range(1, 7):
        for r in range(n):
            for sizes in combinations(range(1, n), r):
                expected = sum(
                    not any(set(order[:k]) == set(range(k)) for k in sizes)
                    for order in permutations(range(n))
                )
                assert _count_orders(n, sizes) == expected


def test_members_keep_the_order_of_the_variables():
    cpdag = CPDAG(DAG("cab", [("a", "b")]))
    assert [dag.nodes for dag in cpdag.members()] == [tuple("cab")] * 2
    assert cpdag.extend().nodes == tuple("cab")
