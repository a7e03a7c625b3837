"""Constraints are validated before a search, and rules follow from them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.errors import GraphError, ParameterError
from coevo.graph import Constraints

NAMES = ["a", "b", "c", "d"]
ARCS = list(itertools.permutations(NAMES, 2))


def test_no_constraints_by_default():
    rules = Constraints().to_rules(NAMES)
    assert rules.max_parents == 3
    assert np.array_equal(rules.allowed, ~np.eye(4, dtype=bool))
    assert not rules.required.any()
    assert repr(Constraints()) == "Constraints()"


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    st.sets(st.sampled_from(ARCS), max_size=4),
    st.sets(st.sampled_from(ARCS), max_size=4),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.integers(1, 3),
    st.sets(st.sampled_from(NAMES), max_size=1),
    st.sets(st.sampled_from(NAMES), max_size=1),
    st.sets(st.sampled_from(ARCS), max_size=5),
)
def test_satisfied_means_all_constraints(
    required, forbidden, tier_of, max_parents, roots, leaves, arcs
):
    """Compare with the definitions; tier 3 stands for no tier."""
    tiers = [[n for n, tier in zip(NAMES, tier_of, strict=True) if tier == t] for t in range(3)]
    known = Constraints(
        max_parents=max_parents,
        required=required,
        forbidden=forbidden,
        tiers=tiers,
        roots=roots,
        leaves=leaves,
    )
    try:
        rules = known.to_rules(NAMES)
    except GraphError:
        return  # conflicts are tested below
    adjacency = np.array([[(p, c) in arcs for c in NAMES] for p in NAMES])
    tier = dict(zip(NAMES, tier_of, strict=True))
    against_tiers = [(p, c) for p, c in arcs if tier[p] < 3 and tier[c] < 3 and tier[p] > tier[c]]
    assert rules.is_satisfied_by(adjacency) == (
        required <= arcs
        and not forbidden & arcs
        and not against_tiers
        and not any(child in roots or parent in leaves for parent, child in arcs)
        and all(sum(c == child for _, c in arcs) <= max_parents for child in NAMES)
    )


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (
            {"required": [("a", "x")]},
            "The required arc 'a' -> 'x' names 'x', which is not a variable.",
        ),
        (
            {"forbidden": [("A", "b")]},
            "The forbidden arc 'A' -> 'b' names 'A', which is not a variable. Did you mean 'a'?",
        ),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            "'a' -> 'b' is required and forbidden.",
        ),
        (
            {"required": [("a", "a")]},
            "The arc 'a' -> 'a' is required, but it is a loop.",
        ),
        (
            {"required": [("a", "b"), ("b", "c"), ("c", "a")]},
            "The required arcs contain a cycle: 'a' -> 'b' -> 'c' -> 'a'.",
        ),
        (
            {"required": [("a", "b")], "tiers": [["b"], ["a"]]},
            "'a' -> 'b' is required, but 'a' is in a later tier than 'b'.",
        ),
        ({"tiers": [["a"], ["b", "a"]]}, "The tiers name 'a' twice."),
        ({"tiers": [["a", "e"]]}, "The tiers name 'e', which is not a variable."),
        (
            {"required": [("a", "b")], "roots": ["b"]},
            "'a' -> 'b' is required, but 'b' is a root.",
        ),
        (
            {"required": [("a", "b")], "leaves": ["a"]},
            "'a' -> 'b' is required, but 'a' is a leaf.",
        ),
        ({"roots": ["A"]}, "The roots name 'A', which is not a variable. Did you mean 'a'?"),
        ({"leaves": ["e"]}, "The leaves name 'e', which is not a variable."),
        (
            {"required": [("a", "c"), ("b", "c")], "max_parents": 1},
            "2 parents of 'c' are required, but 'max_parents' is 1.",
        ),
    ],
)
def test_constraints_that_no_structure_satisfies(given_, message):
    with pytest.raises(GraphError) as caught:
        Constraints(**given_).to_rules(NAMES)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "2"])
def test_invalid_max_parents(value):
    with pytest.raises(ParameterError) as caught:
        Constraints(max_parents=value)
    assert str(caught.value) == (
        f"'max_parents' of Constraints must be an int >= 1 or None; got {value!r}."
    )


def test_the_order_of_arcs_does_not_matter():
    one = Constraints(required=[("a", "b"), ("c", "d")], forbidden=[("b", "a"), ("b", "a")])
    two = Constraints(required=[("c", "d"), ("a", "b")], forbidden=[("b", "a")])
    assert repr(one) == repr(two)
    assert repr(one) == ("Constraints(required=(('a', 'b'), ('c', 'd')), forbidden=(('b', 'a'),))")


def test_one_variable():
    rules = Constraints(max_parents=2).to_rules(["a"])
    assert rules.max_parents == 0
    assert rules.is_satisfied_by(np.zeros((1, 1), dtype=bool))


def test_equal_constraints_are_one_value():
    one = Constraints(roots=["b", "a"], leaves=["c", "c"], max_parents=2)
    two = Constraints(roots=["a", "b"], leaves=["c"], max_parents=2)
    assert one == two
    assert hash(one) == hash(two)
    assert one != Constraints(roots=["a", "b"], leaves=["c"])
    assert one != "roots"
    assert Constraints(**one.as_dict()) == one
    assert repr(one) == "Constraints(max_parents=2, roots=('a', 'b'), leaves=('c',))"
