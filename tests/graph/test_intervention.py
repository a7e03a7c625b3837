"""The structural intervention distance: against its definition, numbers and published values."""

from __future__ import annotations

import itertools
import random
from functools import cache

import numpy as np
import pytest

import coevo
import naive
from coevo.graph import CPDAG, DAG, compare, intervention
from coevo.graph.intervention import bound_sid, count_sid, find_wrong_effects


def dag_of(arcs, nodes="abcde"):
    return DAG(nodes, [tuple(arc) for arc in arcs.split()])


def random_dag(rng, nodes, density=None):
    hidden = rng.sample(nodes, len(nodes))
    density = rng.random() if density is None else density
    pairs = itertools.combinations(hidden, 2)
    return DAG(nodes, [pair for pair in pairs if rng.random() < density])


@cache
def list_dags(n):
    letters = "abcde"[:n]
    return [DAG(letters, [(letters[i], letters[j]) for i, j in arcs]) for arcs in naive.all_dags(n)]


def draw_tables(true, rng):
    """Return the tables of random binary variables, far from independence."""
    return {
        name: [[p, 1 - p] for p in rng.uniform(0.1, 0.9, 2 ** len(true.parents(name)))]
        for name in true.nodes
    }


# -- the distance


def test_the_example_of_the_paper():
    """Figure 1 of Peters and Bühlmann: both differ from the true DAG in one arc."""
    true = dag_of("ab ac ad ae bc bd be")
    assert count_sid(dag_of("ab ac ad ae bc bd be cd"), true) == 0
    assert count_sid(dag_of("ba ac ad ae bc bd be"), true) == 8


def test_worked_by_hand():
    """A reversed arc: the effects of both ends, and of the first end on what is below it."""
    assert find_wrong_effects(dag_of("ba bc", "abc"), dag_of("ab bc", "abc")) == (
        ("a", "b"),  # a is said to have no effect on its parent b
        ("a", "c"),  # b is between a and c
        ("b", "a"),  # b is said to cause a
    )
    # A common effect: adjusting for it would open the path; no arc is wrong by itself.
    assert find_wrong_effects(dag_of("ca", "abc"), dag_of("ac bc", "abc")) == (
        ("a", "b"),
        ("a", "c"),
        ("c", "a"),
        ("c", "b"),
    )


def test_all_pairs_of_dags_of_three_agree_with_the_definition():
    for found, true in itertools.product(list_dags(3), repeat=2):
        expected = naive.wrong_effects("abc", set(found.arcs), set(true.arcs))
        assert set(find_wrong_effects(found, true)) == expected
        assert count_sid(found, true) == len(expected)


def test_random_dags_agree_with_the_definition(seed):
    rng = random.Random(seed)
    for _ in range(300):
        nodes = "abcdef"[: rng.randint(4, 6)]
        found, true = random_dag(rng, nodes), random_dag(rng, nodes)
        expected = naive.wrong_effects(nodes, set(found.arcs), set(true.arcs))
        assert find_wrong_effects(found, true) == tuple(sorted(expected))


def test_the_wrong_pairs_are_those_whose_distributions_differ(seed):
    """By numbers: truncated factorisation against adjustment for the learned parents."""
    rng, draw = random.Random(seed), np.random.default_rng(seed)
    for _ in range(25):
        found, true = random_dag(rng, "abcd"), random_dag(rng, "abcd", 0.7)
        arities = dict.fromkeys(true.nodes, 2)
        differing = naive.wrong_distributions(
            arities, set(found.arcs), set(true.arcs), draw_tables(true, draw)
        )
        assert differing == set(find_wrong_effects(found, true))


def test_zero_exactly_if_all_true_arcs_are_there():
    for found, true in itertools.product(list_dags(3), repeat=2):
        assert (count_sid(found, true) == 0) == (set(true.arcs) <= set(found.arcs))


def test_no_arcs(seed):
    """Without learned arcs nothing is adjusted for: pairs with a common ancestor are wrong."""
    rng = random.Random(seed)
    nodes = "abcdef"
    for _ in range(50):
        true = random_dag(rng, nodes)
        arcs = set(true.arcs)
        confounded = 0
        for cause, effect in itertools.permutations(nodes, 2):
            cut = {arc for arc in arcs if arc[0] != cause}  # no path goes through the cause
            above = {
                node for node in nodes if node != cause and cause in naive.reachable(cut, node)
            }
            confounded += any(effect in naive.reachable(cut, node) for node in above)
        assert count_sid(DAG(nodes), true) == confounded
        assert count_sid(true, DAG(nodes)) == 0


def test_a_chain_without_arcs():
    """Each pair with a directed path counts once, in the wrong direction."""
    nodes = [f"x{i:02}" for i in range(20)]
    assert count_sid(DAG(nodes), DAG(nodes, itertools.pairwise(nodes))) == 20 * 19 // 2


# -- the bounds of an equivalence class


def test_bounds_of_all_classes_of_four(seed):
    rng = random.Random(seed)
    classes = {}
    for dag in list_dags(4):
        classes.setdefault(CPDAG(dag), []).append(dag)
    assert len(classes) == 185
    for members in classes.values():
        true = random_dag(rng, "abcd")
        distances = [count_sid(member, true) for member in members]
        assert bound_sid(rng.choice(members), true) == (min(distances), max(distances))


def list_equivalent(dag):
    """Return all DAGs that are equivalent to one, by trying all directions of its arcs."""
    found = []
    for turns in itertools.product([False, True], repeat=len(dag.arcs)):
        arcs = [arc[::-1] if t else arc for arc, t in zip(dag.arcs, turns, strict=True)]
        if naive.topological_orders(dag.nodes, arcs) and naive.equivalent(dag.arcs, arcs):
            found.append(DAG(dag.nodes, arcs))
    return found


def test_bounds_of_larger_chordal_components(seed):
    """Trees of triangles: choosing a source leaves smaller components undirected."""
    rng = random.Random(seed)
    for _ in range(6):
        nodes = rng.sample("abcdef", 6)
        arcs = []
        for i in range(1, 6):
            first = rng.choice(nodes[:i])
            near = [p for p in nodes[:i] if (p, first) in arcs or (first, p) in arcs]
            joined = {first, *rng.sample(near, min(len(near), rng.randint(0, 1)))}
            arcs += [(parent, nodes[i]) for parent in joined]
        found, true = DAG("abcdef", arcs), random_dag(rng, "abcdef")
        assert not CPDAG(found).arcs
        distances = [count_sid(member, true) for member in list_equivalent(found)]
        assert bound_sid(found, true) == (min(distances), max(distances))


def test_a_class_that_is_too_large(monkeypatch):
    complete = DAG("abcde", itertools.combinations("abcde", 2))
    true = dag_of("ab bc cd de")
    orders = itertools.permutations("abcde")
    distances = [count_sid(DAG("abcde", itertools.combinations(o, 2)), true) for o in orders]
    assert bound_sid(complete, true) == (min(distances), max(distances)) == (0, 20)
    monkeypatch.setattr(intervention, "MAX_COMPONENTS", 20)
    assert bound_sid(complete, true) is None
    result = compare(complete, true)
    assert (result.sid, result.sid_lower, result.sid_upper) == (0, None, None)


# -- in a comparison


def test_a_comparison_has_the_distances(seed):
    rng = random.Random(seed)
    found, true = random_dag(rng, "abcdef"), random_dag(rng, "fdebca")
    result = compare(found, true)
    assert result.sid == count_sid(found, true)
    assert (result.sid_lower, result.sid_upper) == bound_sid(found, true)
    assert result.sid_lower <= result.sid <= result.sid_upper


@pytest.mark.parametrize("name", ["alarm", "andes"])
def test_large_networks(name):
    """A published network against itself, and against itself without an arc."""
    true = coevo.load_network(name).dag
    assert count_sid(true, true) == 0
    assert bound_sid(true, true)[0] == 0
    fewer = DAG(true.nodes, true.arcs[1:])
    parent, child = true.arcs[0]
    assert {pair[0] for pair in find_wrong_effects(fewer, true)} <= {child}
    assert count_sid(DAG(true.nodes, [*true.arcs[1:], (child, parent)]), true) > 0
