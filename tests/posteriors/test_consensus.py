"""Strength, direction, threshold and consensus, against enumeration and by hand."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import naive
from coevo.graph import DAG, Constraints
from coevo.posteriors.consensus import (
    ArcStrength,
    build_consensus,
    count_arcs,
    find_interval,
    find_threshold,
    measure_strengths,
)

NAMES = ("a", "b", "c", "d")
FREE = Constraints().to_rules(NAMES)


def limit_parents(limit):
    return Constraints(max_parents=limit).to_rules(NAMES)


def draw_dags(number, seed):
    """Return random DAGs over NAMES, their arcs as numbers, and the arcs of all DAGs."""
    every = naive.all_dags(len(NAMES))
    chosen = random.Random(seed).choices(sorted(every, key=sorted), k=number)
    return [DAG(NAMES, [(NAMES[i], NAMES[j]) for i, j in arcs]) for arcs in chosen], chosen, every


# -- counting


def test_directions_are_those_of_the_cpdags(seed):
    dags, chosen, every = draw_dags(40, seed)
    found = count_arcs(dags, NAMES, FREE)
    joined, directed = np.zeros((4, 4)), np.zeros((4, 4))
    for arcs in chosen:
        compelled, edges = naive.essential_graph(arcs, every)
        for i, j in compelled:
            directed[i, j] += 1
        for edge in [*compelled, *edges]:
            for i, j in itertools.permutations(edge):
                joined[i, j] += 1
    assert found.joined.tolist() == joined.tolist()
    assert found.directed.tolist() == directed.tolist()


def test_constraints_direct_edges_that_data_cannot():
    chain = DAG("abc", [("a", "b"), ("b", "c")])
    free = count_arcs([chain], "abc", Constraints().to_rules("abc"))
    assert free.joined.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert not free.directed.any()
    for known in (
        Constraints(required=[("a", "b")], forbidden=[("c", "b")]),
        Constraints(tiers=[["a"], ["b"], ["c"]]),
    ):
        counts = count_arcs([chain], "abc", known.to_rules("abc"))
        assert counts.joined.tolist() == free.joined.tolist()
        assert counts.directed.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_strength_direction_and_gain_by_hand():
    """A collider twice, a chain once; the network of the original table has another arc."""
    collider = DAG("abc", [("a", "b"), ("c", "b")])
    chain = DAG("abc", [("a", "b"), ("b", "c")])
    counts = count_arcs(
        [collider, collider, chain, DAG("abc")], "abc", Constraints().to_rules("abc")
    )
    original = DAG("abc", [("b", "c"), ("a", "c")])
    found = measure_strengths(counts, 4, original, {("b", "c"): 3.0, ("a", "c"): 1.5})
    often, never = find_interval(3, 4), find_interval(0, 4)
    assert list(found) == [
        ArcStrength("a", "b", 0.75, 2 / 3, None, interval=often),
        ArcStrength("c", "b", 0.75, 2 / 3, 3.0, interval=often),
        ArcStrength("a", "c", 0.0, 0.0, 1.5, interval=never),
    ]


@pytest.mark.parametrize("n_samples", [1, 2, 12, 100])
def test_the_interval_is_where_the_strength_would_not_be_rejected(n_samples):
    """Wilson's interval holds every share whose score test accepts the count."""
    for n_found in range(n_samples + 1):
        low, high = find_interval(n_found, n_samples)
        assert 0 <= low <= n_found / n_samples <= high <= 1
        for share in np.linspace(0.0005, 0.9995, 1000):
            z = abs(n_found - n_samples * share) / math.sqrt(n_samples * share * (1 - share))
            assert (z < 1.959964) == (low < share < high)


def test_ties_follow_the_original_network_then_the_names():
    counts = count_arcs([DAG("ab", [("a", "b")])], "ab", Constraints().to_rules("ab"))
    for original, expected in (([("b", "a")], "ba"), ([("a", "b")], "ab"), ([], "ab")):
        (arc,) = measure_strengths(counts, 1, DAG("ab", original), {})
        assert arc.parent + arc.child == expected
        assert (arc.strength, arc.direction, arc.reverse) == (1.0, 0.0, 0.0)


# -- threshold


@pytest.mark.parametrize("case", range(300))
def test_the_threshold_against_all_heights(case, seed):
    """The oracle uses exact fractions, so that equally near heights are a tie."""
    rng = random.Random(f"{seed} {case}")
    parts = rng.choice([2, 3, 4, 7, 10, 20])
    strengths = [Fraction(rng.randint(0, parts), parts) for _ in range(rng.randint(1, 12))]
    assert find_threshold(strengths) == max(naive.flat_heights(strengths))


@pytest.mark.parametrize(
    ("strengths", "threshold"),
    [
        ([], 0.0),
        ([0.0, 0.0, 1.0], 0.0),
        ([1.0, 1.0], 0.0),
        ([0.9], 0.0),  # were it 0.9, as in R's bnlearn, the one arc would not be above it
        ([0.1, 0.2], 0.2),
        ([0.5, 0.2, 0.6], 0.5),
    ],
)
def test_thresholds_by_hand(strengths, threshold):
    assert find_threshold(strengths) == threshold


def test_no_height_is_nearer(seed):
    """No height on a fine grid is nearer; this checks the oracle too."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        strengths = rng.random(rng.integers(1, 15)).round(2)
        inside = np.linspace(0, 1, 20001)[:-1] + 1 / 40000
        heights = np.searchsorted(np.sort(strengths), inside, side="right") / len(strengths)
        areas = [np.abs(heights - p).mean() for p in np.linspace(0, 1, 201)]
        threshold = find_threshold(strengths.tolist())
        chosen = np.abs(heights - (strengths <= threshold).mean()).mean()
        assert chosen <= min(areas) + 1e-4


# -- consensus


def test_a_consensus_by_hand():
    arcs = [
        ArcStrength("a", "b", 1.0, 1.0, None),
        ArcStrength("b", "c", 0.9, 0.8, None),
        ArcStrength("c", "a", 0.8, 0.7, None),  # closes a cycle
        ArcStrength("d", "a", 0.7, 0.0, None),
        ArcStrength("c", "d", 0.6, 0.5, None, reverse=0.5),  # closes one too, and may be turned
        ArcStrength("b", "d", 0.5, 1.0, None),  # not above the threshold
    ]
    found = build_consensus(arcs, 0.5, NAMES, limit_parents(3))
    assert [(a.parent + a.child, a.in_consensus) for a in found] == [
        ("ab", True),
        ("bc", True),
        ("ca", False),
        ("da", True),
        ("dc", True),
        ("bd", False),
    ]
    few = build_consensus(arcs, 0.5, NAMES, limit_parents(1))
    assert [a.parent + a.child for a in few if a.in_consensus] == ["ab", "bc", "da"]
    small = FREE.with_table_limit(np.array([2, 3, 4, 5]), 11)  # the table of bc has 12 cells
    fits = build_consensus(arcs, 0.5, NAMES, small)
    assert [a.parent + a.child for a in fits if a.in_consensus] == ["ab", "ca", "ad"]


@pytest.mark.parametrize("case", range(60))
def test_the_consensus_is_acyclic_and_maximal(case, seed):
    dags, _, _ = draw_dags(9, f"{seed} {case}")
    counts = count_arcs(dags, NAMES, FREE)
    arcs = measure_strengths(counts, 9, dags[0], {})
    threshold = find_threshold(arc.strength for arc in arcs)
    marked = build_consensus(arcs, threshold, NAMES, limit_parents(3))
    chosen = [(arc.parent, arc.child) for arc in marked if arc.in_consensus]
    assert naive.topological_orders(NAMES, chosen)
    for before, arc in zip(arcs, marked, strict=True):
        joining = sum(any({*pair} == {arc.parent, arc.child} for pair in dag.arcs) for dag in dags)
        assert arc.strength == joining / 9
        assert arc.direction >= arc.reverse
        assert arc.direction + arc.reverse <= 1
        assert before == arc or {before.parent, before.child} == {arc.parent, arc.child}
        if arc.in_consensus:
            assert arc.strength > threshold
        elif arc.strength > threshold:
            assert not naive.topological_orders(NAMES, [*chosen, (arc.parent, arc.child)])


def test_equivalent_networks_give_their_class_as_consensus(seed):
    """If all samples find the same equivalence class, that class is the consensus."""
    from coevo.graph import CPDAG

    every = naive.all_dags(4)
    for arcs in random.Random(seed).sample(sorted(every, key=sorted), 60):
        members = [
            DAG(NAMES, [(NAMES[i], NAMES[j]) for i, j in other])
            for other in every
            if naive.equivalent(arcs, other)
        ]
        found = measure_strengths(count_arcs(members, NAMES, FREE), len(members), members[0], {})
        consensus = build_consensus(found, 0.0, NAMES, limit_parents(3))
        kept = [(a.parent, a.child) for a in consensus if a.in_consensus]
        assert CPDAG(DAG(NAMES, kept)) == CPDAG(members[0])
