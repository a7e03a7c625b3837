"""The limit on the cells of a conditional probability table holds in every way to learn."""

import math

import numpy as np
import pytest

import coevo
from coevo.errors import GraphError, ParameterError
from coevo.graph import Constraints
from helpers.errors import refusal
from helpers.values import as_values


@pytest.fixture(scope="module")
def rows():
    """Return rows in which `z` is the sum of four variables: loglik wants all of them."""
    rng = np.random.default_rng(3)
    cells = rng.integers(0, 3, (400, 4))
    table = np.c_[cells, cells.sum(axis=1)]
    return coevo.read_data(table, names=[*"abcdz"])


def count_cells(result, child):
    arity = {variable.name: variable.arity for variable in result.dataset.variables}
    return arity[child] * math.prod(arity[parent] for parent in result.dag.parents(child))


@pytest.mark.parametrize(
    "method", ["ccma", "ccga", "islands", "hill_climb", "tabu", "k2", "ges", "ga", "k2ga", "mdlep"]
)
def test_every_method_obeys_the_limit(method, rows):
    options = {"method": method, "score": "loglik", "max_generations": 4, "bootstraps": 0}
    free = coevo.learn(rows, **as_values({"max_table": None, **options}))
    limited = coevo.learn(rows, **as_values({"max_table": 81, **options}))
    assert max(count_cells(free, child) for child in free.dag.nodes) > 81
    for child in limited.dag.nodes:
        assert count_cells(limited, child) <= 81 or not limited.dag.parents(child)
    assert limited.as_dict()["max_table"] == 81


def test_the_consensus_and_imputed_tables_obey_it(rows):
    missing = np.random.default_rng(1).random(rows.codes.shape) < 0.05
    table = coevo.data.IncompleteDataset(rows.expand(), missing)
    found = coevo.learn(
        table,
        missing="evolve",
        bootstraps=3,
        score=coevo.Objective(max_table=30),
        budget={"max_generations": 6},
    )
    for dag in (found.dag, found.bootstrap.consensus):
        for child in dag.nodes:
            arity = {variable.name: variable.arity for variable in rows.variables}
            n_cells = arity[child] * math.prod(arity[parent] for parent in dag.parents(child))
            assert n_cells <= 30 or not dag.parents(child)


def test_required_arcs_and_a_start_that_break_it(rows):
    required = Constraints(required=[("a", "z"), ("b", "z")])
    assert refusal(
        GraphError, coevo.learn, rows, constraints=required, score=coevo.Objective(max_table=50)
    ) == (
        "The required arcs break the limit: the table of 'z' with 2 parents has 81 cells, and "
        "'max_table' is 50."
    )
    start = coevo.DAG("abcdz", [("z", "a")])
    assert refusal(
        GraphError, coevo.learn, rows, start=start, score=coevo.Objective(max_table=20)
    ) == (
        "The start breaks the constraints: the table of 'a' with 1 parent has 27 cells, and "
        "'max_table' is 20."
    )


def test_a_variable_alone_may_have_any_number_of_states(rows):
    found = coevo.learn(rows, bootstraps=0, score=coevo.Objective(max_table=2))
    assert not found.dag.arcs


@pytest.mark.parametrize("value", [0, -1, 2.5, True, "many"])
def test_wrong_limits(value, rows):
    assert refusal(ParameterError, coevo.Objective, max_table=value) == (
        f"'max_table' of Objective must be an int >= 1 or None; got {value!r}."
    )
