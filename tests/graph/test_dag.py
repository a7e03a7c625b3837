"""A DAG is a value: equal graphs behave the same, however they were built."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.errors import GraphError
from coevo.graph import DAG

WET = DAG(["wet", "sprinkler", "rain"], [("sprinkler", "wet"), ("rain", "wet")])


def refusal(*arguments):
    with pytest.raises(GraphError) as caught:
        DAG(*arguments)
    return str(caught.value)


@st.composite
def graphs(draw):
    """Nodes in any order, and arcs that agree with some other order of the nodes."""
    nodes = list("fedcba")[: draw(st.integers(1, 6))]
    hidden = draw(st.permutations(nodes))
    pairs = [(p, c) for i, p in enumerate(hidden) for c in hidden[i + 1 :]]
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return draw(st.permutations(nodes)), arcs


def test_properties_of_a_dag():
    assert WET.nodes == ("wet", "sprinkler", "rain")
    assert WET.arcs == (("rain", "wet"), ("sprinkler", "wet"))
    assert WET.parents("wet") == ("rain", "sprinkler")
    assert WET.children("rain") == ("wet",)
    assert WET.parents("rain") == WET.children("wet") == ()
    assert WET.topological_order == ("rain", "sprinkler", "wet")
    assert repr(WET) == "<DAG: 3 variables, 2 arcs>"


def test_isolated_nodes_are_kept():
    dag = DAG(["b", "alone", "a"], [("a", "b")])
    assert dag.nodes == ("b", "alone", "a")
    assert dag.parents("alone") == dag.children("alone") == ()
    assert dag.topological_order == ("a", "alone", "b")
    assert dag != DAG(["b", "a"], [("a", "b")])
    assert DAG.from_parents({"b": ["a"], "alone": [], "a": ()}) == dag
    empty = DAG([])
    assert empty.arcs == empty.topological_order == ()
    assert empty.adjacency().shape == (0, 0)


def test_equal_whatever_the_order():
    other = DAG(["rain", "wet", "sprinkler"], [("rain", "wet"), ("sprinkler", "wet")])
    assert other == WET
    assert hash(other) == hash(WET)
    turned = DAG(WET.nodes, [("wet", "rain"), ("sprinkler", "wet")])
    assert len({WET, other, turned, DAG(WET.nodes)}) == 3
    assert WET != "a graph"


def test_adjacency_points_from_row_to_column():
    assert WET.adjacency().tolist() == [
        [False, False, False],  # wet
        [True, False, False],  # sprinkler -> wet
        [True, False, False],  # rain -> wet
    ]


@settings(derandomize=True, deadline=None, max_examples=150)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_nodes_and_arcs_does_not_matter(graph, random):
    nodes, arcs = graph
    dag = DAG(nodes, iter(arcs))
    assert dag.topological_order == naive.topological_orders(sorted(nodes), arcs)[0]
    assert set(dag.arcs) == set(arcs)
    assert list(dag.arcs) == sorted(arcs)
    moved_nodes, moved_arcs = random.sample(nodes, len(nodes)), random.sample(arcs, len(arcs))
    moved = DAG(moved_nodes, moved_arcs)
    assert moved == dag
    assert hash(moved) == hash(dag)
    assert moved.topological_order == dag.topological_order
    for node in nodes:
        assert dag.parents(node) == tuple(sorted(p for p, c in arcs if c == node))
        assert dag.children(node) == tuple(sorted(c for p, c in arcs if p == node))
        assert moved.parents(node) == dag.parents(node)
    matrix = dag.adjacency()
    assert matrix.dtype == np.bool_
    assert {(nodes[i], nodes[j]) for i, j in np.argwhere(matrix)} == set(arcs)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.lists(st.tuples(*[st.sampled_from("abcde")] * 2), unique=True))
def test_a_graph_is_refused_exactly_if_it_has_no_topological_order(arcs):
    if naive.topological_orders("abcde", arcs) and all(p != c for p, c in arcs):
        assert set(DAG("abcde", arcs).arcs) == set(arcs)
        return
    message = refusal("abcde", arcs)
    walk = message.removeprefix("The arcs contain a cycle: ").removesuffix(".").split(" -> ")
    names = [name.strip("'") for name in walk]
    assert names[0] == names[-1] == min(names)
    assert len(set(names)) == len(names) - 1
    assert all(arc in arcs for arc in itertools.pairwise(names))


def test_cycles():
    cycle = [("x", "a"), ("c", "b"), ("b", "d"), ("d", "c"), ("b", "e")]
    assert refusal("eabcdx", cycle) == "The arcs contain a cycle: 'b' -> 'd' -> 'c' -> 'b'."
    assert refusal("ab", [("a", "b"), ("b", "a")]) == (
        "The arcs contain a cycle: 'a' -> 'b' -> 'a'."
    )
    assert refusal("ab", [("b", "b")]) == "The arcs contain a cycle: 'b' -> 'b'."


def test_refusals():
    assert refusal(["a", "b", "a"]) == "The variable 'a' is listed twice."
    assert refusal("ab", [("a", "b"), ("a", "b")]) == "The arc 'a' -> 'b' is given twice."
    assert refusal(["rain", "wet"], [("rian", "wet")]) == (
        "The arc 'rian' -> 'wet' names 'rian', which is not a variable. Did you mean 'rain'?"
    )
    assert refusal(["rain", "wet"], [("rain", "grass")]) == (
        "The arc 'rain' -> 'grass' names 'grass', which is not a variable."
    )


@pytest.mark.parametrize("question", [WET.parents, WET.children])
def test_unknown_name(question):
    with pytest.raises(GraphError) as caught:
        question("rian")
    assert str(caught.value) == "There is no variable 'rian' in the graph. Did you mean 'rain'?"


def test_pickling():
    copy = pickle.loads(pickle.dumps(WET))
    assert copy == WET
    assert copy.nodes == WET.nodes
    assert copy.topological_order == WET.topological_order
