"""The learner agrees with `learn`, and reads new rows as the training table."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import coevo
import naive
from coevo.bundled import load_network
from coevo.data import read_data
from coevo.errors import CoevoError, NotFittedError, ParameterError
from coevo.estimators import BayesianNetworkLearner
from coevo.learning import learn
from coevo.network import sample
from coevo.options import EstimatorOptions, FlatOptions, get_defaults

pandas = pytest.importorskip("pandas")


def frame_of(dataset):
    """Return rows as a data frame of labels, in the same order."""
    return pandas.DataFrame(
        {
            variable.name: np.array(variable.states, dtype=object)[codes]
            for variable, codes in zip(dataset.variables, dataset.codes, strict=True)
        }
    )


@pytest.fixture
def frame(seed):
    return frame_of(sample(load_network("survey"), 400, seed))


@pytest.fixture
def learner():
    return BayesianNetworkLearner(method="hill_climb", states=load_network("survey").variables)


def test_results_agree_with_learn(frame, learner):
    assert learner.fit(frame, y=None) is learner
    found = learn(frame, method="hill_climb", read={"states": load_network("survey").variables})
    assert (learner.dag_, learner.cpdag_) == (found.dag, found.cpdag)
    assert (learner.score_, learner.network_) == (found.score, found.network)
    assert [row.score for row in learner.history_] == [row.score for row in found.history]
    assert list(learner.feature_names_in_) == list(frame.columns)
    assert learner.n_features_in_ == 6
    arcs = learner.adjacency_
    assert list(arcs.index) == list(arcs.columns) == list(frame.columns)
    there = {(i, j) for i in arcs.index for j in arcs.columns if arcs.loc[i, j] == 1}
    assert there == set(found.dag.arcs)
    assert arcs.to_numpy().sum() == len(there)


def test_predict_and_score(frame, learner, seed):
    new = frame_of(sample(load_network("survey"), 400, seed + 1))
    learner.fit(frame)
    network = learner.network_
    rows = read_data(new, states=network.variables, deduplicate=False)
    expected = network.predict(rows, "T")
    assert learner.predict(new, "T").tolist() == list(expected.states)
    assert learner.predict(new.drop(columns="T"), "T").tolist() == list(expected.states)
    assert np.array_equal(learner.predict_proba(new, "T"), expected.probabilities)
    assert learner.score(new) == pytest.approx(network.log_likelihood(rows).total / 400)
    assert np.isfinite(learner.score(new[:2]))  # some column is constant in these rows
    assert learner.score(rows) == pytest.approx(learner.score(new))
    with pytest.raises(CoevoError, match=r"^There is no variable 'TT'"):
        learner.predict(new, "TT")


def test_an_unseen_label_is_as_unknown_as_an_absent_column(frame, learner):
    learner.fit(frame)
    unseen, missing = frame.assign(R="tiny"), frame.assign(R=None)
    absent = frame.drop(columns="R")
    for other in (unseen, missing):
        assert learner.score(other) == pytest.approx(learner.score(absent))
        assert learner.predict_proba(other, "T") == pytest.approx(
            learner.predict_proba(absent, "T")
        )
    assert learner.score(absent) > learner.score(frame)  # a part of each row is summed out


def test_unknown_cells_are_summed_out(frame, learner, seed):
    """Compare with the joint distribution of all variables."""
    network = learner.fit(frame).network_
    names = [variable.name for variable in network.variables]
    states = [variable.states for variable in network.variables]
    number = {name: i for i, name in enumerate(names)}
    joint = naive.joint_distribution(
        {name: len(one) for name, one in zip(names, states, strict=True)},
        {name: network.parents(name) for name in names},
        {name: network.table(name).tolist() for name in names},
    )
    rng = np.random.default_rng(seed)
    rows = frame[names].head(12).astype(object).to_numpy()
    rows[rng.random(rows.shape) < 0.4] = None
    logs = learner.score_samples(pandas.DataFrame(rows, columns=names))
    proba = learner.predict_proba(pandas.DataFrame(rows, columns=names), "T")
    for row, log, probabilities in zip(rows, logs, proba, strict=True):

        def total(known, row=row):
            return sum(
                p for codes, p in joint.items() if all(states[i][codes[i]] == row[i] for i in known)
            )

        known = [i for i, cell in enumerate(row) if cell is not None]
        assert log == pytest.approx(np.log(total(known)))
        others = [i for i in known if names[i] != "T"]
        for state, probability in zip(network.variable("T").states, probabilities, strict=True):
            cells = [*row]
            cells[number["T"]] = state
            expected = total([*others, number["T"]], cells) / total(others)
            assert probability == pytest.approx(expected)


def test_new_numbers_go_into_the_old_bins(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(300, 3)) + rng.normal(size=(300, 1))
    learner = BayesianNetworkLearner(method="hill_climb", discretise="quantile").fit(table)
    assert list(learner.feature_names_in_) == ["x0", "x1", "x2"]
    states = learner.network_.variable("x1").states
    assert set(learner.predict(table[:20], "x1")) <= set(states)
    assert np.isfinite(learner.score(table[:20] * 0.5))


def test_ignored_columns_may_be_present(frame, learner):
    given = frame.assign(id=[f"p{i}" for i in range(len(frame))])
    learner.set_params(drop=["id"]).fit(given)
    assert "id" not in learner.dag_.nodes
    assert learner.score(given) == learner.score(frame)


def test_an_estimator_before_fit(frame, learner):
    sentence = "This BayesianNetworkLearner is not fitted yet. Call fit first."
    for ask in (
        lambda: learner.network_,
        lambda: learner.adjacency_,
        lambda: learner.score(frame),
        lambda: learner.predict(frame, "T"),
    ):
        with pytest.raises(NotFittedError) as caught:
            ask()
        assert str(caught.value) == sentence
    assert not hasattr(learner, "dag_")
    assert not hasattr(learner, "network_")


def test_parameters():
    learner = BayesianNetworkLearner(scoring="bic", max_parents=3)
    given = learner.get_params()
    assert given["scoring"] == "bic"
    declared = get_defaults(EstimatorOptions)
    assert given.keys() == {*declared, "scoring", "progress"}
    assert BayesianNetworkLearner().get_params() == declared | {"scoring": None, "progress": False}
    assert get_defaults(FlatOptions).items() >= declared.items()
    assert learner.set_params(max_parents=None, ess=2.0) is learner
    assert repr(learner) == "BayesianNetworkLearner(ess=2.0, scoring='bic')"
    with pytest.raises(ParameterError) as caught:
        learner.set_params(ess=3, score="k2")
    assert str(caught.value).startswith("BayesianNetworkLearner has no parameter 'score'.")
    assert learner.ess == 2.0  # an invalid name changes no parameter
    BayesianNetworkLearner(method="nonsense", max_parents=-1)  # fit validates the parameters


def test_an_estimator_can_be_pickled(frame, learner):
    copy = pickle.loads(pickle.dumps(learner.fit(frame)))
    assert copy.network_ == learner.network_


def test_the_estimator_works_without_scikit_learn():
    look = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import numpy as np, coevo\n"
        "table = np.array([[0, 0], [1, 1]] * 20)\n"
        "learner = coevo.BayesianNetworkLearner(method='k2').fit(table)\n"
        "assert len(learner.dag_.arcs) == 1\n"
    )
    subprocess.run([sys.executable, "-c", look], check=True)


# -- together with scikit-learn


def test_clone_and_check_is_fitted(frame, learner):
    base = pytest.importorskip("sklearn.base")
    from sklearn.utils.validation import check_is_fitted

    learner.set_params(constraints=coevo.Constraints(max_parents=2)).fit(frame)
    check_is_fitted(learner)
    copy = base.clone(learner)
    assert not hasattr(copy, "dag_")
    assert repr(copy) == repr(learner)
    assert copy.fit(frame).score_ == learner.score_


def test_a_grid_search(frame, learner):
    selection = pytest.importorskip("sklearn.model_selection")
    search = selection.GridSearchCV(learner, {"max_parents": [1, 2]}, cv=2).fit(frame)
    assert search.best_params_["max_parents"] in (1, 2)
    assert search.best_score_ == pytest.approx(
        np.mean([search.cv_results_[f"split{i}_test_score"][search.best_index_] for i in (0, 1)])
    )


def test_the_names_of_the_columns(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (80, 3))
    frame = pandas.DataFrame(table, columns=[*"abc"])
    named = BayesianNetworkLearner(method="hill_climb").fit(frame)
    with pytest.warns(coevo.CoevoWarning) as caught:
        assert named.score(table) == named.score(frame)
    assert str(caught[0].message) == (
        "X does not have valid feature names, but BayesianNetworkLearner was fitted with feature "
        "names; the columns are taken in the order of the training data."
    )
    unnamed = BayesianNetworkLearner(method="hill_climb").fit(table)
    with pytest.warns(coevo.CoevoWarning) as caught:
        assert unnamed.score(frame) == unnamed.score(table)
    assert str(caught[0].message) == (
        "X has feature names, but BayesianNetworkLearner was fitted without feature names; the "
        "columns are taken in the order of the training data."
    )
    assert named.score(frame[["c", "a", "b"]]) == named.score(frame)  # names, not places


def test_a_missing_value_can_be_a_state(seed):
    rng = np.random.default_rng(seed)
    one = rng.integers(0, 2, 300)
    other = np.where(one == 1, np.nan, rng.normal(size=300))
    frame = pandas.DataFrame({"one": one, "other": other})
    learner = BayesianNetworkLearner(method="hill_climb", missing="state").fit(frame)
    assert learner.network_.variable("other").states[-1] == "missing"
    assert learner.predict(frame.drop(columns="one"), "one").tolist() == one.astype(str).tolist()


def test_a_target_must_be_named(frame, learner):
    with pytest.raises(ParameterError) as caught:
        learner.fit(frame).predict(frame)
    assert str(caught.value) == (
        "'target' of BayesianNetworkLearner must name the variable to predict: a network has no "
        "single target. BayesianNetworkClassifier has one."
    )


def test_an_array_must_have_the_number_of_columns_of_the_training_data(frame, learner):
    table = np.array(frame)
    learner.set_params(drop=["x1"]).fit(table)
    assert len(learner.predict(table, "x0")) == len(table)
    n = table.shape[1]
    for wrong in (table[:, :-1], np.c_[table, table]):
        for ask in (learner.score, lambda rows: learner.predict(rows, "x0")):
            with pytest.raises(ParameterError) as caught:
                ask(wrong)
            assert str(caught.value) == (
                f"X has {wrong.shape[1]} features, but BayesianNetworkLearner is expecting {n} "
                "features as input."
            )
