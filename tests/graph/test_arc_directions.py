"""What directs an arc is checked against the enumeration of all members of the class."""

import itertools

import numpy as np
import pytest

from coevo.errors import GraphError
from coevo.graph import CPDAG, DAG, Constraints, find_directions
from helpers.problems import random_constraints

NAMES = list("abcde")


def list_members(dag, constraints):
    """Return all equivalent DAGs that satisfy the arcs, tiers, roots and leaves."""
    rules = Constraints(**constraints.as_dict() | {"max_parents": None}).to_rules(dag.nodes)
    members = []
    for turned in itertools.product([False, True], repeat=len(dag.arcs)):
        arcs = [arc[::-1] if turn else arc for arc, turn in zip(dag.arcs, turned, strict=True)]
        try:
            member = DAG(dag.nodes, arcs)
        except GraphError:
            continue
        if rules.is_satisfied_by(member.adjacency()) and CPDAG(member) == CPDAG(dag):
            members.append(member)
    return members


def draw_dag(rng, constraints):
    """Return a random DAG that satisfies constraints."""
    allowed = constraints.to_rules(NAMES).allowed
    while True:
        order = rng.permutation(NAMES).tolist()
        pairs = itertools.combinations(order, 2)
        arcs = {pair for pair in pairs if rng.random() < 0.5} | set(constraints.required)
        if all(allowed[NAMES.index(a), NAMES.index(b)] for a, b in arcs):
            try:
                return DAG(NAMES, arcs)
            except GraphError:
                continue


@pytest.mark.parametrize("case", range(60))
def test_an_edge_is_what_two_members_direct_differently(case, seed):
    rng = np.random.default_rng([seed, case])
    known = random_constraints(rng, NAMES) if case % 4 else Constraints()
    dag = draw_dag(rng, known)
    found = find_directions(dag, known)
    assert list(found) == list(dag.arcs)
    members = list_members(dag, known)
    rules = known.to_rules(NAMES)
    for (a, b), by in found.items():
        assert (by is None) == any((b, a) in member.arcs for member in members)
        reverse = rules.allowed[NAMES.index(b), NAMES.index(a)]
        is_required = rules.required[NAMES.index(a), NAMES.index(b)]
        compelled = (a, b) in CPDAG(dag).arcs
        if by is not None:
            assert (by == "data") == (compelled and reverse and not is_required)


def test_data_direct_only_compelled_arcs_without_constraints():
    collider = DAG("abcd", [("a", "c"), ("b", "c"), ("c", "d")])
    assert set(find_directions(collider).values()) == {"data"}
    chain = DAG("abc", [("a", "b"), ("b", "c")])
    assert set(find_directions(chain, Constraints(max_parents=2)).values()) == {None}


@pytest.mark.parametrize(
    "known",
    [
        {"roots": ["a"]},
        {"required": [("a", "b")]},
        {"forbidden": [("b", "a")]},
        {"tiers": [["a"], ["b"]]},
    ],
)
def test_each_kind_of_knowledge_directs(known):
    chain = DAG("abc", [("a", "b"), ("b", "c")])
    assert set(find_directions(chain, Constraints(**known)).values()) == {"knowledge"}
