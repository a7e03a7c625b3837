"""An elimination order contains all variables, and its cliques follow from the factors."""

from __future__ import annotations

import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.bundled import load_network
from coevo.network import elimination_order
from coevo.network.elimination_order import count_cells, find_steps
from coevo.network.kernels import (
    FILL,
    N_CELLS,
    WEIGHT,
    WEIGHTED_FILL,
    eliminate_in_order,
    list_cuthill_mckee,
    make_interaction_graph,
)
from helpers.random_networks import grid_network

thorough = settings(derandomize=True, deadline=None, max_examples=200)
SCOPES = st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=4), max_size=10)
ARITY = dict(zip("abcdefgh", (2, 3, 4, 2, 3, 4, 2, 2), strict=True))


def find_steps_of(network):
    """Return the steps of a network without evidence, and its arities."""
    arity = {variable.name: variable.arity for variable in network.variables}
    scopes = [(*network.parents(node), node) for node in arity]
    return find_steps(scopes, arity, (), network.dag.topological_order), arity


def make_graph(scopes, arity):
    """Return the names in some scopes, and the graph of their numbers."""
    names = sorted(set().union(*scopes))
    ends = itertools.accumulate((len(scope) for scope in scopes), initial=0)
    members = [names.index(name) for scope in scopes for name in scope]
    arities = np.array([arity[name] for name in names], dtype=np.int64)
    is_last = np.zeros(len(names), dtype=np.bool_)
    start = np.array(list(ends), dtype=np.int64)
    return names, make_interaction_graph(start, np.array(members, dtype=np.int64), arities, is_last)


@thorough
@given(SCOPES, st.sets(st.sampled_from("abcdefgh")), st.randoms(use_true_random=False))
def test_steps_follow_from_the_factors(scopes, last, random):
    check_steps(scopes, last, random)


@thorough
@given(SCOPES, st.sets(st.sampled_from("abcdefgh")), st.randoms(use_true_random=False))
def test_steps_follow_from_the_factors_if_all_rules_are_tried(scopes, last, random):
    # Two restarts, of tables that are small.
    with mock.patch.multiple(elimination_order, SMALL=0, CELLS_PER_OPERATION=1e-6, MAX_RESTARTS=2):
        check_steps(scopes, last, random)


def check_steps(scopes, last, random):
    topological = random.sample("abcdefgh", 8)
    steps = find_steps(scopes, ARITY, last, topological)
    order = [step.variable for step in steps]
    assert sorted(order) == sorted(set().union(*scopes))
    waits = [name in last for name in order]
    assert waits == sorted(waits)
    factors = [set(scope) for scope in scopes]
    for i, step in enumerate(steps):
        product = set().union(*(scope for scope in factors if step.variable in scope))
        factors = [scope for scope in factors if step.variable not in scope]
        factors.append(product - {step.variable})
        assert set(step.clique) == product
        assert list(step.clique) == [name for name in reversed(order[i:]) if name in product]
    shuffled = [random.sample(sorted(scope), len(scope)) for scope in scopes]
    again = find_steps(random.sample(shuffled, len(shuffled)), ARITY, sorted(last), topological)
    assert again == steps


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.sets(st.sampled_from("abcdef"), max_size=3), min_size=1, max_size=8))
def test_no_order_is_much_smaller(scopes):
    """On six variables, the best of all 720 orders saves less than a quarter."""
    names, graph = make_graph(scopes, ARITY)
    for order in itertools.permutations(range(len(names))):
        eliminate_in_order(graph, np.array(order, dtype=np.int64))
    smallest = graph.totals[N_CELLS]
    with mock.patch.multiple(elimination_order, SMALL=0, CELLS_PER_OPERATION=1e-6):
        found = find_steps(scopes, ARITY)
    assert smallest <= count_cells(found, ARITY) < 1.25 * smallest + 1


@pytest.mark.parametrize(("n", "limit"), [(12, 2**18.5), (20, 2**27.5)])
def test_a_grid_is_swept(n, limit):
    """A frontier of n variables crosses the grid; weighted fill needs 2**34 cells for 20."""
    steps, arity = find_steps_of(grid_network(n))
    assert count_cells(steps, arity) < limit
    assert max(len(step.clique) for step in steps) <= n + 1


def test_a_topological_order_is_tried():
    """Rules that are worse than a given order do not hide it."""
    scopes = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")]
    arity = dict(zip("abcd", (50, 60, 50, 60), strict=True))
    _, graph = make_graph(scopes, arity)
    eliminate_in_order(graph, np.array([0, 1, 2, 3]))
    assert graph.totals[N_CELLS] == 50 * 60 * 50 * 60 + 60 * 50 * 60 + 50 * 60 + 60
    eliminate_in_order(graph, np.array([1, 3, 0, 2]))
    assert graph.totals[N_CELLS] == 2 * 50 * 60 * 50 + 50 * 50 + 50
    eliminate_in_order(graph, np.array([3, 1, 2, 0]))  # as many cells
    assert graph.order.tolist() == [1, 3, 0, 2]


def test_cuthill_and_mckee_start_at_an_end():
    path = [("c", "a"), ("a", "e"), ("e", "b"), ("b", "d")]
    names, graph = make_graph([*path, ("x", "y")], dict.fromkeys("abcdexy", 2))
    order = np.empty(7, dtype=np.int64)
    list_cuthill_mckee(graph, order)
    assert "".join(names[i] for i in order) == "caebdxy"


def test_restarts_end_with_the_budget(monkeypatch):
    """A restart is made only while all of them cost a small part of the cells of the best order."""
    runs = []
    run = elimination_order.eliminate_greedily
    monkeypatch.setattr(
        elimination_order,
        "eliminate_greedily",
        lambda graph, rule, factors: (
            runs.append("restart" if len(factors) else rule) or run(graph, rule, factors)
        ),
    )
    find_steps_of(load_network("alarm"))
    assert runs == [WEIGHTED_FILL]  # small: weighted fill only
    runs.clear()
    find_steps_of(load_network("pigs"))
    assert runs == [WEIGHTED_FILL, WEIGHT, FILL]  # all rules, no restart
    runs.clear()
    monkeypatch.setattr(elimination_order, "CELLS_PER_OPERATION", 1)
    monkeypatch.setattr(elimination_order, "MAX_RESTARTS", 3)
    find_steps_of(load_network("pigs"))
    assert runs == [WEIGHTED_FILL, WEIGHT, FILL, *["restart"] * 3]


def test_cliques_of_published_networks_are_small():
    for name, limit in (
        ("alarm", 2**11),
        ("andes", 2**20),
        ("pigs", 2**20),
        ("link", 2**25.5),
        ("munin", 2**25),
    ):
        assert count_cells(*find_steps_of(load_network(name))) < limit
