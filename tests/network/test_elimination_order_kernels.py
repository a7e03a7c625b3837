"""The kernels that find elimination orders, compared with a slow twin."""

from __future__ import annotations

import itertools
import math
import random
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.bundled import load_network
from coevo.errors import ParameterError
from coevo.network import elimination_order
from coevo.network.elimination_order import find_order, find_steps
from coevo.network.kernels import (
    FILL,
    N_CELLS,
    N_OPERATIONS,
    WEIGHT,
    WEIGHTED_FILL,
    eliminate_greedily,
    eliminate_in_order,
    list_cuthill_mckee,
    make_interaction_graph,
)

pytestmark = pytest.mark.kernel

NO_FACTORS = np.empty(0)
SEEDS = st.integers(0, 2**32 - 1)
ARITIES = st.sampled_from([(2,), (1, 2, 3), (2, 3, 4, 5, 7, 11), (1,)])


def to_arrays(scopes, arities, is_last):
    ends = itertools.accumulate((len(scope) for scope in scopes), initial=0)
    return (
        np.array(list(ends), dtype=np.int64),
        np.array([i for scope in scopes for i in scope], dtype=np.int64),
        np.array(arities, dtype=np.int64),
        np.array(is_last, dtype=np.bool_),
    )


@st.composite
def problems(draw, sizes):
    """Return scopes of near variables, with some repeated, arities, the last ones and an order."""
    n, arities = draw(sizes), draw(ARITIES)
    rng = random.Random(draw(SEEDS))  # one number: a problem that fails is soon a small one
    span, n_scopes = rng.choice([1, 3, 8]), rng.randrange(2 * n + 1)
    number = rng.sample(range(n), n)  # near ones are in different words
    scopes = []
    for _ in range(n_scopes):
        middle = rng.randrange(n)
        near = [number[i] for i in range(max(0, middle - span), min(n, middle + span + 1))]
        scopes.append(rng.choices(near, k=rng.randrange(4)))
    n_last = rng.choice([0, 0, 1, n // 3, n])
    last = set(rng.sample(range(n), n_last))
    return (
        scopes + scopes[: n // 4],
        [rng.choice(arities) for _ in range(n)],
        [i in last for i in range(n)],
        rng.sample(range(n), n),
    )


def check_order(problem, small=0, cells_per_operation=1e-6, max_restarts=2):
    scopes, arities, is_last, sweep = problem
    limits = {
        "SMALL": small, "CELLS_PER_OPERATION": cells_per_operation, "MAX_RESTARTS": max_restarts
    }  # fmt: skip
    with mock.patch.multiple(elimination_order, **limits):
        found = find_order(*to_arrays(scopes, arities, is_last), sweep)
    own = elimination_order
    expected = naive.find_order(
        *problem, small, cells_per_operation, own.MAX_OPERATIONS, max_restarts, own.PERTURBATION
    )
    start, members = found.clique_start.tolist(), found.members.tolist()
    cliques = [members[begin:end] for begin, end in itertools.pairwise(start)]
    assert list(zip(found.order.tolist(), cliques, strict=True)) == expected
    assert start[-1] == len(members)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(problems(st.integers(1, 20)))
def test_small_orders_match_naive(problem):
    check_order(problem, small=2**16)
    check_order(problem)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(problems(st.sampled_from([63, 64, 65, 100, 127, 128, 129, 140])))
def test_orders_of_several_words_match_naive(problem):
    check_order(problem)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(problems(st.sampled_from([2, 5, 12, 70])), SEEDS)
def test_each_rule_matches_naive(problem, seed):
    check_rules(problem, random.Random(seed))


@pytest.mark.parametrize("arities", [[1, 1, 1, 1], [1, 2, 1, 1], [2, 2, 2, 2]])
def test_new_edges_touch_common_neighbours(arities):
    """Not if every fill is 0, as that of variables of one state is."""
    for order in itertools.permutations(range(4)):
        circle = list(itertools.pairwise([*order, order[0]]))
        check_rules((circle, arities, [False] * 4, order), random.Random(0))


def check_rules(problem, rng):
    scopes, arities, is_last, sweep = problem
    slow, n = naive.InteractionGraph(scopes, arities, is_last), len(arities)
    factors = [rng.uniform(0.5, 1.5) for _ in range(n)]
    for rule, weights in ((WEIGHTED_FILL, slow.logs), (WEIGHT, [0.0] * n), (FILL, [1.0] * n)):
        for factor in (None, factors):
            graph = make_interaction_graph(*to_arrays(scopes, arities, is_last))
            n_members = eliminate_greedily(graph, rule, np.array(factor or ()))
            slow.n_operations = 0
            steps = slow.eliminate_greedily(weights, factor)
            assert graph.order.tolist() == [v for v, _ in steps]
            assert graph.totals[N_CELLS] == slow.count_cells(steps)
            assert graph.totals[N_OPERATIONS] == slow.n_operations
            assert n_members == sum(1 + len(near) for _, near in steps)
    graph = make_interaction_graph(*to_arrays(scopes, arities, is_last))
    eliminate_in_order(graph, np.array(sweep))
    steps = slow.eliminate_in_order(sweep)
    assert graph.order.tolist() == [v for v, _ in steps]
    assert graph.totals[N_CELLS] == slow.count_cells(steps)
    sequence = np.empty(n, dtype=np.int64)
    list_cuthill_mckee(graph, sequence)
    assert sequence.tolist() == slow.sweep()


@pytest.mark.parametrize("name", ["asia", "alarm", "water", "barley", "hepar2", "pigs", "munin"])
def test_orders_of_published_networks_match_naive(name, seed):
    network = load_network(name)
    names = sorted(variable.name for variable in network.variables)
    rng = random.Random(f"{name} {seed}")
    # Many variables of the largest networks are observed: the twin is slow.
    observed = set(rng.sample(names, len(names) * 3 // 4 if len(names) > 100 else 2))
    free = [name for name in names if name not in observed]
    number = {name: i for i, name in enumerate(free)}
    arity = {variable.name: variable.arity for variable in network.variables}
    scopes = [[n for n in (*network.parents(name), name) if n in number] for name in names]
    last = set(rng.sample(free, 2))
    sweep = [number[name] for name in network.dag.topological_order if name in number]
    problem = (
        [[number[name] for name in scope] for scope in scopes],
        [arity[name] for name in free],
        [name in last for name in free],
        sweep,
    )
    own = elimination_order
    check_order(problem, own.SMALL, own.CELLS_PER_OPERATION, 3)
    found = find_order(*to_arrays(*problem[:3]), sweep)
    steps = find_steps(scopes, arity, last, network.dag.topological_order)
    assert [step.variable for step in steps] == [free[i] for i in found.order]
    members = [free[i] for i in found.members]
    assert members == [name for step in steps for name in step.clique]


def test_a_variable_without_a_factor_is_a_step():
    found = find_order(*to_arrays([[2, 0]], [2, 2, 2], [True, False, False]))
    assert found.order.tolist() == [1, 2, 0]
    assert found.clique_start.tolist() == [0, 1, 3, 4]
    assert found.members.tolist() == [1, 0, 2, 0]


def test_nothing_has_an_order_without_steps():
    found = find_order(*to_arrays([[], []], [], []))
    assert [values.tolist() for values in found] == [[], [0], []]
    assert find_steps([], {}) == ()


def test_more_cells_than_a_number_can_hold_have_an_order():
    n = 30
    found = find_order(*to_arrays([range(n)], [2**40] * n, [False] * n), range(n))
    assert found.order.tolist() == list(range(n))
    assert len(found.members) == n * (n + 1) // 2
    graph = make_interaction_graph(*to_arrays([range(n)], [2**40] * n, [False] * n))
    eliminate_greedily(graph, WEIGHTED_FILL, NO_FACTORS)
    assert graph.totals[N_CELLS] == math.inf


def test_an_order_of_too_many_variables_is_refused(monkeypatch):
    monkeypatch.setattr(elimination_order, "MANY", 3)
    monkeypatch.setattr("coevo.runtime.memory.get_machine_memory", lambda: 3)
    arrays = to_arrays([[0, 1]], [2] * 4, [False] * 4)
    with pytest.raises(ParameterError) as caught:
        find_order(*arrays)
    assert str(caught.value) == (
        "An elimination order of 4 variables needs 0.0 GB of memory; this machine has 0.0 GB. "
        "Give more evidence, or use a machine with more memory."
    )
