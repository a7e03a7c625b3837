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


def as_matrix(arcs):
    return np.array([[(parent, child) in arcs for child in NAMES] for parent in NAMES])


def as_arcs(matrix):
    return {(NAMES[parent], NAMES[child]) for parent, child in np.argwhere(matrix)}


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
    adjacency = as_matrix(arcs)
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


def test_as_many_parents_as_the_limit_may_be_required():
    rules = Constraints(required=[("a", "c"), ("b", "c")], max_parents=2).to_rules(NAMES)
    assert as_arcs(rules.required) == {("a", "c"), ("b", "c")}


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


@pytest.mark.parametrize(
    ("given_", "has_any"),
    [
        ({}, False),
        ({"max_parents": 1}, False),
        ({"required": [("a", "b")]}, True),
        ({"forbidden": [("a", "b")]}, True),
        ({"required": [("a", "b")], "forbidden": [("b", "a")]}, True),
    ],
)
def test_whether_arcs_are_constrained(given_, has_any):
    assert Constraints(**given_).to_rules(NAMES).has_arc_constraints is has_any


def test_cells_are_counted_only_for_a_limit():
    rules = Constraints().to_rules(NAMES)
    assert rules.count_cells(0, [1, 2]) == 0
    assert rules.fits(0, [1, 2, 3])
    arities = np.array([2, 3, 4, 5])
    assert rules.with_table_limit(arities, None) is rules
    limited = rules.with_table_limit(arities, 24)
    assert [limited.count_cells(0, parents) for parents in ([], [1], [1, 2])] == [0, 6, 24]
    assert [limited.fits(0, parents) for parents in ([1, 2], [1, 3])] == [True, False]


STAR = [("b", "a"), ("c", "a"), ("d", "a")]


@pytest.mark.parametrize(
    ("given_", "arcs", "message"),
    [
        (
            {"forbidden": [("a", "b"), ("c", "d"), ("d", "c")]},
            [("a", "d"), ("c", "d"), ("b", "a")],
            "'c' -> 'd' is not allowed",
        ),
        (
            {"forbidden": [("a", "b"), ("c", "d")]},
            [("c", "d"), ("a", "b"), ("a", "c")],
            "'a' -> 'b' is not allowed",
        ),
        (
            {"required": [("b", "c"), ("b", "d")], "forbidden": [("a", "b")]},
            [("c", "d")],
            "'b' -> 'c' is required but absent",
        ),
        ({"max_parents": 2}, STAR, "'a' has 3 parents, and 'max_parents' is 2"),
        (
            {"max_parents": 3},
            STAR,
            "the table of 'a' with 3 parents has 120 cells, and 'max_table' is 20",
        ),
        (
            {"max_parents": 2},
            [("a", "c"), ("c", "d"), ("a", "d"), ("b", "c")],
            "the table of 'c' with 2 parents has 24 cells, and 'max_table' is 20",
        ),
    ],
)
def test_the_first_violation_in_words(given_, arcs, message):
    rules = Constraints(**given_).to_rules(NAMES).with_table_limit(np.array([2, 3, 4, 5]), 20)
    assert not rules.is_satisfied_by(as_matrix(arcs))
    assert rules.describe_violation(as_matrix(arcs), NAMES) == message
