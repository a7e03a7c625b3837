"""The specification of a search: validated once, one fingerprint, the same search everywhere."""

import inspect
from dataclasses import fields, replace

import pytest

import coevo
from coevo.bundled import load_network
from coevo.errors import ParameterError
from coevo.estimators import BayesianNetworkLearner
from coevo.graph import DAG, Constraints
from coevo.network import sample
from coevo.options import SearchOptions, list_options
from coevo.score import FamilyScorer
from coevo.search import CCGA, Budget, SearchSpec, describe_difference, make_spec, run_search
from helpers.errors import refusal

OTHERS = {
    "method": CCGA(population=10),
    "score": coevo.score.BIC(),
    "constraints": Constraints(max_parents=2),
    "weights": {("asia", "tub"): 2.0},
    "parent_penalty": 1.5,
    "sparse_penalty": 0.0,
    "max_table": 64,
    "start": DAG(["asia", "tub"], [("asia", "tub")]),
    "seed": 9,
}


def test_every_field_but_the_budget_is_in_the_fingerprint():
    spec = make_spec()
    assert {field.name for field in fields(SearchSpec)} == {*OTHERS, "budget"}
    before = spec.fingerprint("hash")
    for name, value in OTHERS.items():
        after = replace(spec, **{name: value}).fingerprint("hash")
        assert describe_difference(before, after) is not None, name
    assert replace(spec, budget=Budget(max_generations=1)).fingerprint("hash") == before
    named = make_spec(score="k2").fingerprint("hash")
    of_0_2_0 = {key: value for key, value in named.items() if key != "sparse_penalty"}
    assert describe_difference(of_0_2_0, named) is None
    assert describe_difference(of_0_2_0, named | {"sparse_penalty": 1.0}) == (
        "sparse_penalty 0.0; this is 1.0"
    )
    assert describe_difference(before, spec.fingerprint("other")) == (
        "other data: hash hash; this is other"
    )
    assert describe_difference(before, spec.fingerprint("hash", missing="em")) == (
        "missing None; this is em"
    )


@pytest.mark.parametrize(
    "function",
    [
        coevo.bootstrap_strength,
        coevo.missing.learn_incomplete,
        BayesianNetworkLearner.__init__,
    ],
)
def test_every_function_that_searches_takes_the_settings_of_a_search(function):
    parameters = inspect.signature(function).parameters
    assert set(list_options(SearchOptions)) <= set(parameters)
    with pytest.raises(TypeError) as caught:
        function(None, parent_penalti=1)
    assert str(caught.value) == (
        f"{function.__qualname__.removesuffix('.__init__')}() got an unexpected keyword argument "
        "'parent_penalti'. "
        "Did you mean 'parent_penalty'?"
    )


def test_a_specification_runs_as_its_parts_do(seed):
    rows = sample(load_network("asia"), 200, seed)
    constraints, budget = Constraints(forbidden=[("asia", "tub")]), Budget(max_generations=3)
    spec = make_spec(
        method="ccga",
        score="k2",
        constraints=constraints,
        weights={("xray", "asia"): 4.0},
        parent_penalty=0.5,
        budget=budget,
        random_state=seed,
    )
    found = spec.run(spec.make_scorer(rows))
    scorer = FamilyScorer(rows, "k2", weights={("xray", "asia"): 4.0}, parent_penalty=0.5)
    expected = run_search("ccga", scorer, constraints=constraints, budget=budget, random_state=seed)
    assert (found.dag, found.score) == (expected.dag, expected.score)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"parent_penalty": -1},
            "'parent_penalty' of learn must be a number from 0 to 1,000,000 or None; got -1.",
        ),
        (
            {"parent_penalty": True},
            "'parent_penalty' of learn must be a number from 0 to 1,000,000 or None; got True.",
        ),
        ({"budget": 3}, "'budget' of learn must be a Budget or None; got 3."),
        (
            {"constraints": []},
            "'constraints' of learn must be Constraints, a dict or None; got [].",
        ),
        ({"start": "asia"}, "'start' of learn must be a DAG, a Method or None; got 'asia'."),
    ],
)
def test_refusals(options, sentence):
    assert refusal(ParameterError, make_spec, "learn", **options) == sentence
