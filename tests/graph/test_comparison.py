"""Distances between structures, and the arcs in which they differ."""

from __future__ import annotations

import dataclasses
import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coevo
import naive
from coevo.errors import GraphError
from coevo.graph import CPDAG, DAG, compare

thorough = settings(derandomize=True, deadline=None, max_examples=200)


@st.composite
def dags(draw, nodes="dbaec"):
    hidden = draw(st.permutations(nodes))
    pairs = list(itertools.combinations(hidden, 2))
    arcs = draw(st.lists(st.sampled_from(pairs), unique=True))
    return DAG(draw(st.permutations(nodes)), arcs)


def dag_of(arcs, nodes="abcde"):
    return DAG(nodes, [tuple(arc) for arc in arcs.split()])


def refusal(found, true):
    with pytest.raises(GraphError) as caught:
        compare(DAG(found), DAG(true))
    return str(caught.value)


def test_worked_by_hand():
    """All true arcs are compelled; all arcs of the found tree are reversible."""
    true = dag_of("ac bc cd de")
    found = dag_of("ca cb cd ce", nodes="ecabd")
    result = compare(found, true)
    assert result.correct == (("c", "d"),)
    assert result.reversed == (("c", "a"), ("c", "b"))
    assert result.added == (("c", "e"),)
    assert result.missing == (("d", "e"),)
    assert result.shd == 4
    # In the true CPDAG: ac, bc, cd, de. In the found one: a - c, b - c, c - d, c - e.
    assert result.shd_cpdag == 5
    assert (result.arc_precision, result.arc_recall, result.arc_f1) == (1 / 4, 1 / 4, 1 / 4)
    assert result.skeleton_precision == result.skeleton_recall == result.skeleton_f1 == 3 / 4


def test_precision_and_recall():
    result = compare(dag_of("ab cb"), dag_of("ab bc cd de ae"))
    assert (result.arc_precision, result.arc_recall) == (1 / 2, 1 / 5)
    assert (result.skeleton_precision, result.skeleton_recall) == (1, 2 / 5)
    assert (result.arc_f1, result.skeleton_f1) == (2 / 7, 4 / 7)


def test_a_reversal_counts_once_and_only_if_it_changes_the_class():
    result = compare(dag_of("ba bc"), dag_of("ab bc"))
    assert (result.shd, result.shd_cpdag) == (1, 0)
    assert (result.arc_f1, result.skeleton_f1) == (1 / 2, 1)
    # One reversed arc changes two pairs of the CPDAG.
    result = compare(dag_of("ab cb"), dag_of("ab bc"))
    assert (result.shd, result.shd_cpdag) == (1, 2)


@pytest.mark.parametrize(
    ("found", "true", "precision", "recall", "f1"),
    [("", "", 1, 1, 1), ("", "ab", 1, 0, 0), ("ab", "", 0, 1, 0), ("ab", "bc", 0, 0, 0)],
)
def test_no_arcs(found, true, precision, recall, f1):
    result = compare(dag_of(found), dag_of(true))
    assert (result.arc_precision, result.arc_recall, result.arc_f1) == (precision, recall, f1)
    assert (result.skeleton_precision, result.skeleton_recall) == (precision, recall)
    assert result.skeleton_f1 == f1


def test_no_variables():
    result = compare(DAG([]), DAG([]))
    assert (result.shd, result.shd_cpdag, result.arc_f1, result.skeleton_f1) == (0, 0, 1, 1)


@thorough
@given(dags(), dags())
def test_every_arc_is_in_one_group(found, true):
    result = compare(found, true)
    ours, theirs = set(found.arcs), set(true.arcs)
    turned = {arc[::-1] for arc in theirs}
    assert set(result.correct) == ours & theirs
    assert set(result.reversed) == ours & turned
    assert set(result.added) == ours - theirs - turned
    assert set(result.missing) == {arc for arc in theirs if not {arc, arc[::-1]} & ours}
    for arcs in (result.correct, result.reversed, result.added, result.missing):
        assert list(arcs) == sorted(set(arcs))


@thorough
@given(dags(), dags())
def test_distances_agree_with_naive(found, true):
    result = compare(found, true)
    nodes = found.nodes
    assert result.shd == naive.hamming(nodes, (found.arcs, ()), (true.arcs, ()))
    ours, theirs = (
        (cpdag.arcs, {frozenset(edge) for edge in cpdag.edges})
        for cpdag in (CPDAG(found), CPDAG(true))
    )
    assert result.shd_cpdag == naive.hamming(nodes, ours, theirs)


@thorough
@given(dags(), dags())
def test_f1_is_the_harmonic_mean(found, true):
    result = compare(found, true)
    for what in ("arc", "skeleton"):
        precision, recall = (getattr(result, f"{what}_{p}") for p in ("precision", "recall"))
        both = precision + recall
        expected = 2 * precision * recall / both if both else 0.0
        assert getattr(result, f"{what}_f1") == pytest.approx(expected)
        assert 0 <= getattr(result, f"{what}_f1") <= 1
    assert (result.arc_f1 == 1) == (found == true)


@thorough
@given(dags("dbac"), dags("dbac"), dags("dbac"))
def test_distances_are_metrics(one, two, three):
    there, back = compare(one, two), compare(two, one)
    assert there.shd == back.shd
    assert there.shd_cpdag == back.shd_cpdag
    assert (there.shd == 0) == (one == two)
    assert (there.shd_cpdag == 0) == naive.equivalent(one.arcs, two.arcs)
    assert (there.arc_f1, there.skeleton_f1) == (back.arc_f1, back.skeleton_f1)
    on, direct = compare(two, three), compare(one, three)
    assert direct.shd <= there.shd + on.shd
    assert direct.shd_cpdag <= there.shd_cpdag + on.shd_cpdag
    itself = compare(one, one)
    assert (itself.shd, itself.shd_cpdag, itself.arc_f1, itself.skeleton_f1) == (0, 0, 1, 1)


def test_distances_between_all_dags_of_three():
    """Every pair once, including equal and equivalent DAGs."""
    graphs = [DAG("abc", [("abc"[i], "abc"[j]) for i, j in arcs]) for arcs in naive.all_dags(3)]
    for one, two in itertools.product(graphs, repeat=2):
        result = compare(one, two)
        assert (result.shd == 0) == (one == two)
        assert (result.shd_cpdag == 0) == naive.equivalent(one.arcs, two.arcs)


@thorough
@given(dags(), dags(), st.randoms(use_true_random=False))
def test_the_order_of_nodes_does_not_matter(found, true, random):
    moved = DAG(random.sample(found.nodes, len(found.nodes)), found.arcs)
    assert compare(moved, true) == compare(found, true)
    assert compare(true, moved) == compare(true, found)


def test_large_networks():
    true = coevo.load_network("munin").dag
    result = compare(DAG(true.nodes), true)
    assert result.missing == true.arcs
    assert result.shd == result.shd_cpdag == len(true.arcs) == 1397
    assert compare(true, true).correct == true.arcs


def test_both_must_have_the_same_variables():
    assert refusal(["rain", "wet"], ["rain", "slip", "wet"]) == (
        "The found structure has no variable 'slip' of the true one; both must have the same "
        "variables."
    )
    assert refusal(["wet", "tired", "rain"], ["rain"]) == (
        "The true structure has no variable 'tired' of the found one; both must have the same "
        "variables."
    )
    # A name that both structures have is not suggested.
    assert refusal(["rian", "wet", "rains"], ["rain", "wet", "rains"]) == (
        "The found structure has no variable 'rain' of the true one; both must have the same "
        "variables. Did you mean 'rian'?"
    )


def test_a_comparison_is_a_value():
    result = compare(dag_of("ab bc"), dag_of("cb"))
    assert pickle.loads(pickle.dumps(result)) == result
    assert hash(result) == hash(compare(dag_of("ab bc"), dag_of("cb")))
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.shd_cpdag = 0
