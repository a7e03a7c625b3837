"""The estimators in scikit-learn: its checks, cross-validation, pipelines and calibration."""

import warnings

import numpy as np
import pytest

from coevo.errors import NotFittedError
from coevo.estimators import BayesianNetworkClassifier, BayesianNetworkLearner
from coevo.search import HillClimb

pytest.importorskip("sklearn", "1.6")  # the first release with tags as data classes
pandas = pytest.importorskip("pandas")

from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.ensemble import VotingClassifier  # noqa: E402
from sklearn.exceptions import NotFittedError as SklearnNotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

ESTIMATORS = [
    BayesianNetworkClassifier(method="hill_climb", smoothing=10, bins=3),  # the average
    BayesianNetworkClassifier(method="hill_climb", structure="free"),
    BayesianNetworkClassifier(structure="tan"),
    BayesianNetworkClassifier(structure="naive_bayes"),
    BayesianNetworkLearner(method="hill_climb"),
]
NO_TARGET = "predict needs the name of a variable: a network has no single target"
EXPECTED_FAILURES = dict.fromkeys(
    [
        "check_dict_unchanged",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit_idempotent",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    ],
    NO_TARGET,
)


def list_expected_failures(estimator):
    return EXPECTED_FAILURES if isinstance(estimator, BayesianNetworkLearner) else {}


with warnings.catch_warnings():  # the estimators do not inherit from scikit-learn
    warnings.simplefilter("ignore", UserWarning)
    with_checks = parametrize_with_checks(
        ESTIMATORS, expected_failed_checks=list_expected_failures, xfail_strict=True
    )


@pytest.mark.filterwarnings("ignore")
@with_checks
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def make_mixed_table(seed, n=240):
    """Return a table with a rare label, missing cells and a class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            "colour": np.where(rng.random(n) < 0.8, np.where(y == 1, "red", "blue"), "green"),
            "weight": rng.normal(size=n) - y,
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    frame.loc[n - 1, "colour"] = "only here"
    return frame, np.array(["no", "yes"])[y]


@pytest.mark.filterwarnings("ignore::coevo.CoevoWarning")
def test_cross_validation_with_missing_cells_and_unseen_labels(seed):
    x, y = make_mixed_table(seed)
    learner = BayesianNetworkLearner(method="hill_climb", missing="available")
    scores = cross_val_score(learner, x, cv=4, error_score="raise")
    assert np.isfinite(scores).all()
    for structure in ("free", "tan", "naive_bayes"):
        model = BayesianNetworkClassifier(
            structure=structure, method="hill_climb", missing="available"
        )
        assert cross_val_score(model, x, y, cv=4, error_score="raise").mean() > 0.7
        losses = cross_val_score(model, x, y, cv=4, scoring="neg_log_loss", error_score="raise")
        assert losses.mean() > -0.69


def test_a_class_that_a_fold_lacks(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, (60, 3))
    y = np.where(x[:, 0] == 0, "a", "b")
    y[-1] = "rare"
    model = BayesianNetworkClassifier(structure="naive_bayes")
    scores = cross_val_score(model, x, y, cv=KFold(3), error_score="raise")
    assert scores.min() > 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # scikit-learn: a class is absent
        probabilities = cross_val_predict(model, x, y, cv=KFold(3), method="predict_proba")
    assert probabilities.shape == (60, 3)


def test_grid_search():
    x, y = load_iris(return_X_y=True, as_frame=True)
    grid = {"structure": ["free", "tan", "naive_bayes"], "bins": [2, 4]}
    model = BayesianNetworkClassifier(method=HillClimb())
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(x, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.9
    assert search.predict(x).dtype == y.dtype


def test_a_pipeline_and_calibration():
    x, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), BayesianNetworkClassifier(structure="tan"))
    assert cross_val_score(pipeline, x, y, cv=5, error_score="raise").mean() > 0.85
    density = make_pipeline(StandardScaler(), BayesianNetworkLearner(method="hill_climb"))
    assert np.isfinite(cross_val_score(density, x, cv=3, error_score="raise")).all()
    model = BayesianNetworkClassifier(structure="naive_bayes")
    calibrated = CalibratedClassifierCV(model, cv=3).fit(x, y)
    assert calibrated.score(x, y) > 0.9
    voters = [("network", model), ("regression", LogisticRegression(max_iter=500))]
    voting = VotingClassifier(voters, voting="soft").fit(x, y)
    assert voting.score(x, y) > 0.9


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_protocol(estimator):
    assert is_classifier(estimator) == isinstance(estimator, BayesianNetworkClassifier)
    assert repr(clone(estimator)) == repr(estimator)
    assert type(estimator).__name__ in estimator._repr_html_()
    assert estimator.get_metadata_routing() is not None
    with pytest.raises(SklearnNotFittedError) as caught:
        estimator.network_  # noqa: B018
    assert isinstance(caught.value, NotFittedError)
