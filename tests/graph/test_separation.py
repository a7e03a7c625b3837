"""Ancestors, descendants, v-structures, Markov blankets and d-separation in small DAGs."""

from __future__ import annotations

import itertools

import pytest

import naive
from coevo.bundled import load_network
from coevo.errors import GraphError
from coevo.graph import DAG
from helpers.errors import refusal

ALL = [frozenset(("cadb"[a], "cadb"[b]) for a, b in arcs) for arcs in naive.all_dags(4)]
WET = DAG(["wet", "sprinkler", "rain"], [("sprinkler", "wet"), ("rain", "wet")])


def subsets(nodes):
    return itertools.chain.from_iterable(
        itertools.combinations(nodes, size) for size in range(len(nodes) + 1)
    )


def test_ancestors_and_descendants():
    for arcs in ALL:
        dag = DAG("dbac", arcs)
        turned = {(b, a) for a, b in arcs}
        for nodes in subsets("abcd"):
            below = set().union(*({b for a, b in arcs if a == node} for node in nodes))
            above = set().union(*({a for a, b in arcs if b == node} for node in nodes))
            expected = set().union(*(naive.reachable(arcs, node) for node in below))
            assert dag.descendants(nodes) == tuple(sorted(expected))
            expected = set().union(*(naive.reachable(turned, node) for node in above))
            assert dag.ancestors(iter(nodes)) == tuple(sorted(expected))
            if len(nodes) == 1:
                assert dag.ancestors(nodes[0]) == dag.ancestors(nodes)


def test_v_structures():
    for arcs in ALL:
        found = DAG("dbac", arcs).v_structures
        assert {(frozenset((a, b)), c) for a, c, b in found} == naive.v_structures(arcs)
        assert list(found) == sorted(set(found))
        assert all(a < b for a, _, b in found)


def test_d_separation_agrees_with_all_paths():
    for arcs in ALL:
        dag = DAG("dbac", arcs)
        for one, other in itertools.combinations("abcd", 2):
            rest = [node for node in "abcd" if node not in (one, other)]
            for given in subsets(rest):
                expected = naive.d_separated(arcs, one, other, given)
                assert dag.is_d_separated(one, other, given) == expected
                assert dag.is_d_separated([other], {one}, set(given)) == expected


def test_d_separation_of_sets():
    for arcs in ALL[::5]:
        dag = DAG("dbac", arcs)
        for sides in itertools.product(range(4), repeat=4):
            one, other, given = (
                [n for n, s in zip("abcd", sides, strict=True) if s == side] for side in range(3)
            )
            expected = naive.d_separated(arcs, one, other, given)
            assert dag.is_d_separated(one, other, given) == expected


def test_the_markov_blanket_is_the_smallest_separating_set():
    for arcs in ALL:
        dag = DAG("dbac", arcs)
        for node in "abcd":
            blanket = dag.markov_blanket(node)
            assert list(blanket) == sorted(blanket)
            others = [n for n in "abcd" if n != node]
            separating = [
                set(given)
                for given in subsets(others)
                if naive.d_separated(arcs, node, [n for n in others if n not in given], given)
            ]
            assert set(blanket) in separating
            assert all(set(blanket) <= given for given in separating)


def test_alarm():
    dag = load_network("alarm").dag
    assert dag.markov_blanket("HR") == (
        "CATECHOL",
        "CO",
        "ERRCAUTER",
        "ERRLOWOUTPUT",
        "HRBP",
        "HREKG",
        "HRSAT",
        "STROKEVOLUME",
    )
    assert dag.is_d_separated("HISTORY", "CVP", "LVFAILURE")
    assert not dag.is_d_separated("HISTORY", "CVP")
    assert dag.ancestors("CVP") == ("HYPOVOLEMIA", "LVEDVOLUME", "LVFAILURE")
    assert dag.descendants("HISTORY") == ()


@pytest.mark.parametrize(
    "question",
    [
        WET.ancestors,
        WET.descendants,
        WET.markov_blanket,
        lambda name: WET.is_d_separated(name, "wet"),
        lambda name: WET.is_d_separated("wet", ["rain", name]),
        lambda name: WET.is_d_separated("wet", "sprinkler", [name]),
    ],
)
def test_unknown_name(question):
    sentence = "There is no variable 'rian' in the graph. Did you mean 'rain'?"
    assert refusal(GraphError, question, "rian") == sentence


@pytest.mark.parametrize(
    "sides", [("rain", "rain", ()), ("rain", "wet", "rain"), ("wet", ["rain"], ["rain"])]
)
def test_a_variable_in_two_arguments(sides):
    assert refusal(GraphError, WET.is_d_separated, *sides) == (
        "'rain' is in two of 'one', 'other' and 'given'. Name it in one of them."
    )
