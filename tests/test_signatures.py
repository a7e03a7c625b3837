"""Keywords of other libraries get a hint, in every public function."""

import pytest

import coevo
from coevo.errors import ParameterError
from coevo.signatures import SYNONYMS, suggest_keyword

NETWORK = coevo.load_network("asia")
LEARN = coevo.learn
QUERY = NETWORK.query


@pytest.mark.parametrize(
    ("call", "keyword", "meant"),
    [
        (LEARN, "seed", "random_state"),
        (LEARN, "rows", "data"),
        (LEARN, "df", "data"),
        (LEARN, "bootstrap", "bootstraps"),
        (LEARN, "n_bootstraps", "bootstraps"),
        (LEARN, "iss", "score=Objective(ess=...)"),
        (LEARN, "alpha", "score=Objective(ess=...)"),
        (LEARN, "max_indegree", "max_parents"),
        (LEARN, "whitelist", "constraints"),
        (LEARN, "blacklist", "constraints"),
        (LEARN, "forbidden_edges", "constraints"),
        (LEARN, "tiers", "constraints"),
        (LEARN, "root", "constraints=Constraints(roots=...)"),
        (LEARN, "scoring_method", "score"),
        (LEARN, "timeout", "budget=Budget(max_time=...)"),
        (LEARN, "max_iter", "budget=Budget(max_generations=...)"),
        (LEARN, "n_threads", "n_jobs"),
        (LEARN, "verbose", "progress"),
        (LEARN, "na_values", "read=ReadOptions(missing_labels=...)"),
        (LEARN, "sep", "read=ReadOptions(delimiter=...)"),
        (LEARN, "max_parent", "max_parents"),
        (coevo.prove, "seed", "random_state"),
        (coevo.posterior, "rows", "data"),
        (coevo.cross_validate, "folds", "cv"),
        (coevo.bootstrap_strength, "n_bootstraps", "bootstraps"),
        (coevo.run_search, "seed", "random_state"),
        (coevo.inspect_table, "sep", "delimiter"),
        (coevo.read_data, "na_value", ""),
        (coevo.read_data, "df", "source"),
        (coevo.sample, "n_samples", "rows"),
        (coevo.sample, "observed", "given"),
        (coevo.fit_network, "data", "table"),
        (coevo.FamilyScorer, "data", "table"),
        (coevo.Constraints, "blacklist", "forbidden"),
        (coevo.Constraints, "whitelist", "required"),
        (coevo.measure_dependence, "data", "table"),
        (coevo.BayesianNetworkClassifier, "seed", "random_state"),
        (coevo.BayesianNetworkLearner, "score", "scoring"),
        (QUERY, "observed", "given"),
        (QUERY, "variables", "targets"),
        (NETWORK.marginals, "observed", "given"),
        (NETWORK.most_probable_explanation, "observed", "given"),
        (NETWORK.explain, "observed", "given"),
        (NETWORK.predict, "data", "table"),
        (coevo.Posterior.query, "observed", "given"),
    ],
)
def test_habits_of_other_libraries(call, keyword, meant):
    with pytest.raises(TypeError) as caught:
        call(**{keyword: 1})
    owner = call.__qualname__.removesuffix(".__init__")
    named = meant if "=" in meant else repr(meant)
    hint = f" Did you mean {named}?" if meant else ""
    expected = f"{owner}() got an unexpected keyword argument {keyword!r}.{hint}"
    assert str(caught.value) == expected


def test_evidence_is_understood():
    seen = {"smoke": "yes"}
    for call in (
        lambda **keys: NETWORK.query("lung", **keys),
        NETWORK.marginals,
        NETWORK.log_probability,
        NETWORK.most_probable_explanation,
        NETWORK.measure_evidence,
        lambda **keys: coevo.sample(NETWORK, 5, **keys),
        lambda **keys: repr(NETWORK.explain("lung", **keys)),
    ):
        assert call(evidence=seen) == call(given=seen) != call()
    with pytest.raises(TypeError) as caught:
        QUERY("lung", given=seen, evidence=seen)
    assert "'evidence'" in str(caught.value)


def test_one_mechanism_knows_all_habits():
    for name, habits in SYNONYMS.items():
        for habit in habits.split():
            assert suggest_keyword(habit, ["other", name]) == f" Did you mean {name!r}?"


def test_a_target_of_learn_that_is_a_variable():
    with pytest.raises(ParameterError) as caught:
        LEARN("no such file.csv", budget={"target": "ill"})
    assert str(caught.value) == (
        "'target' of learn is the score at which the search stops; got 'ill'. To predict a "
        "variable, use BayesianNetworkClassifier, or method='tan:class_variable=ill'."
    )
