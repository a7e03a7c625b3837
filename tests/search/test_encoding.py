"""Every order with every mask is a DAG, and every DAG can be encoded."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.bundled import load_network
from coevo.errors import ParameterError
from coevo.graph import DAG
from coevo.search import decode, decode_dag, encode_dag, format_solution, n_bits

NAMES = ["a", "b", "c", "d", "e", "f"]


@st.composite
def pairs(draw):
    n = draw(st.integers(1, 6))
    order = draw(st.permutations(range(n)))
    mask = draw(st.lists(st.booleans(), min_size=n_bits(n), max_size=n_bits(n)))
    return np.array(order, dtype=np.int64), np.array(mask, dtype=np.bool_)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(pairs())
def test_every_pair_is_a_dag_with_that_topological_order(pair):
    order, mask = pair
    names = NAMES[: len(order)]
    dag = decode_dag(order, mask, names)  # a cycle would raise GraphError
    assert tuple(names[i] for i in order) in naive.topological_orders(names, dag.arcs)
    assert len(dag.arcs) == mask.sum()


@settings(derandomize=True, deadline=None, max_examples=200)
@given(pairs())
def test_bits_go_row_by_row_over_positions(pair):
    """Against table 1 of the paper, written as two loops."""
    order, mask = pair
    bits = iter(mask.tolist())
    arcs = {
        (order[i], order[j])
        for i in range(len(order))
        for j in range(i + 1, len(order))
        if next(bits)
    }
    assert {tuple(arc) for arc in np.argwhere(decode(order, mask))} == arcs


@settings(derandomize=True, deadline=None, max_examples=200)
@given(pairs())
def test_a_dag_survives_encoding_and_decoding(pair):
    names = NAMES[: len(pair[0])]
    dag = decode_dag(*pair, names)
    assert decode_dag(*encode_dag(dag, names), names) == dag


def test_all_543_dags_of_four_nodes_are_reached():
    """The number is Robinson's (1977) count of labelled DAGs on four nodes."""
    names = NAMES[:4]
    masks = [np.array(bits) for bits in itertools.product([False, True], repeat=6)]
    orders = [np.array(order) for order in itertools.permutations(range(4))]
    reached = {decode_dag(order, mask, names) for order in orders for mask in masks}
    assert len(reached) == 543
    for dag in reached:
        assert decode_dag(*encode_dag(dag, names), names) == dag


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
def test_published_networks(name):
    dag = load_network(name).dag
    names = sorted(dag.nodes)
    order, mask = encode_dag(dag, names)
    assert mask.sum() == len(dag.arcs)
    assert decode_dag(order, mask, names) == DAG(names, dag.arcs)


@settings(derandomize=True, deadline=None, max_examples=100)
@given(pairs())
def test_the_string_holds_both(pair):
    """Its length is n + n (n - 1) / 2. It contains the order and the mask."""
    order, mask = pair
    names = NAMES[: len(order)]
    words = format_solution(order, mask, names).split(" ")
    assert len(words) == len(order) + n_bits(len(order))
    assert [word for word in words if word in names] == [names[i] for i in order]
    assert [word == "1" for word in words if word not in names] == mask.tolist()


@pytest.mark.parametrize(
    ("order", "n"), [([0, 1, 1], 3), ([0, 1, 2], 2), ([1, 2, 3], 3), ([0, 1, 2], 4)]
)
def test_bad_pairs(order, n):
    with pytest.raises(ParameterError) as caught:
        decode(np.array(order), np.zeros(n, dtype=np.bool_))
    assert str(caught.value) == (
        "An order of 3 variables is a permutation of 0 to 2, and goes with a mask of 3 bits."
    )
