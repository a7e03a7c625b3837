"""The default classifier averages networks, with weights and shrinkage from held-out rows."""

import numpy as np
import pytest

from coevo.errors import CoevoWarning
from coevo.estimators import BayesianNetworkClassifier
from coevo.estimators.base import open_features
from coevo.estimators.stacking import MIN_ROWS, shrink, split_folds, weigh

pandas = pytest.importorskip("pandas")


def make_table(seed, n=150):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    shown = np.where(rng.random(n) < 0.85, y, 1 - y)
    frame = pandas.DataFrame(
        {
            "a": shown,
            "copy": np.where(rng.random(n) < 0.97, shown, 1 - shown),
            "z": rng.normal(size=n),
        }
    )
    return frame.assign(a=frame["a"].map({0: "no", 1: "yes"})), y


@pytest.fixture(scope="module")
def fitted():
    x, y = make_table(1)
    return BayesianNetworkClassifier(method="hill_climb").fit(x, y), x, y


def test_the_average_is_that_of_the_members(fitted):
    """By hand: each network with its smoothing, its evidence shrunk, times its weight."""
    model, x, _ = fitted
    members, shares = model.members_, model._stack.shares
    assert sum(member.weight for member in members) == pytest.approx(1)
    assert [m.weight for m in members] == sorted((m.weight for m in members), reverse=True)
    expected = np.zeros((len(x), 2))
    for member in members:
        part = np.tile(shares, (len(x), 1))
        if member.structure != "none":
            options = {"discretise": "quantile", "bins": 5} if member.bins == "quantile" else {}
            one = BayesianNetworkClassifier(
                structure=member.structure,
                smoothing=member.smoothing,
                method="hill_climb",
                **options,
            ).fit(x, fitted[2])
            odds = one.predict_proba(x) / shares
            part = shares * odds**member.shrinkage
            part /= part.sum(axis=1, keepdims=True)
        expected += member.weight * part
    assert model.predict_proba(x) == pytest.approx(expected, abs=1e-9)


def test_a_member_that_is_too_sure_is_shrunk():
    """Ten copies of one feature count ten times in naive Bayes, and once in the truth."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    shown = np.where(rng.random(200) < 0.75, y, 1 - y)
    noisy = [np.where(rng.random(200) < 0.98, shown, 1 - shown) for _ in range(10)]
    x = np.array(noisy).T
    sure = BayesianNetworkClassifier(structure="naive_bayes").fit(x[:150], y[:150])
    model = BayesianNetworkClassifier(method="hill_climb").fit(x[:150], y[:150])
    bayes = [member for member in model.members_ if member.structure == "naive_bayes"]
    assert all(member.shrinkage < 0.5 for member in bayes)

    def loss(one):
        return -np.log(one.predict_proba(x[150:])[np.arange(50), y[150:]]).mean()

    assert loss(model) < 0.75 * loss(sure)


def test_weights_come_from_rows_that_were_held_out():
    """Neither column says anything by itself, which is all that naive Bayes can read."""
    rng = np.random.default_rng(8)
    x = rng.integers(0, 2, (300, 2))
    y = np.where(rng.random(300) < 0.95, x[:, 0] ^ x[:, 1], rng.integers(0, 2, 300))
    members = BayesianNetworkClassifier(method="hill_climb").fit(x, y).members_
    assert members[0].structure == "tan"
    blind = [member for member in members if member.structure in ("naive_bayes", "none")]
    assert sum(member.weight for member in blind) < 0.05


def test_without_signal_the_shares_of_the_classes_remain(seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(120) < 0.3).astype(int)
    x = rng.integers(0, 3, (120, 5))
    found = BayesianNetworkClassifier(method="hill_climb").fit(x, y).predict_proba(x)[:, 1]
    assert abs(found - y.mean()).mean() < 0.08


def test_the_order_of_rows_and_columns_does_not_matter(fitted):
    model, x, y = fitted
    order = np.random.default_rng(5).permutation(len(x))
    other = BayesianNetworkClassifier(method="hill_climb")
    other.fit(x.iloc[order][["z", "copy", "a"]], y[order])
    assert other.members_ == model.members_
    assert other.predict_proba(x) == pytest.approx(model.predict_proba(x), abs=1e-12)


def test_the_heaviest_network_is_the_one_that_is_shown(fitted):
    model = fitted[0]
    first = next(member for member in model.members_ if member.structure != "none")
    assert model.network_.dag == model._stack.models[first.structure, first.bins].dag_
    assert "class" in model.network_.dag.nodes


def test_a_given_smoothing_and_given_bins_are_kept():
    x, y = make_table(2, n=60)
    model = BayesianNetworkClassifier(method="hill_climb", smoothing=7, bins=3).fit(x, y)
    assert {m.smoothing for m in model.members_ if m.structure != "none"} == {7.0}
    assert {member.bins for member in model.members_} == {"default"}


def test_few_rows_are_learned_with_naive_bayes():
    x, y = make_table(2, n=MIN_ROWS - 1)
    model = BayesianNetworkClassifier().fit(x, y)
    assert not hasattr(model, "members_")
    expected = BayesianNetworkClassifier(structure="naive_bayes").fit(x, y)
    assert np.array_equal(model.predict_proba(x), expected.predict_proba(x))


def test_a_class_of_one_row():
    x, y = make_table(4, n=80)
    x, y = x[["a", "z"]].iloc[:40], y[:40]
    y = np.where(np.arange(40) == 7, 2, y)
    found = BayesianNetworkClassifier(method="hill_climb").fit(x, y).predict_proba(x)
    assert found.shape == (40, 3)
    assert np.isfinite(found).all()


def test_a_decision_is_said_once():
    x, y = make_table(6, n=60)
    x["id"] = [f"p{i:03}" for i in range(60)]
    with pytest.warns(CoevoWarning) as caught:
        BayesianNetworkClassifier(method="hill_climb").fit(x, y)
    assert len([w for w in caught if "'id'" in str(w.message)]) == 1


def test_the_folds_spread_each_class(seed):
    rng = np.random.default_rng(seed)
    x, codes = rng.integers(0, 4, (53, 3)), rng.integers(0, 3, 53)
    order, folds = split_folds(open_features(x, "test"), codes)
    assert sorted(order) == list(range(53))
    for code in range(3):
        sizes = np.bincount(folds[codes == code], minlength=5)
        assert sizes.max() - sizes.min() <= 1


def test_the_weights_are_the_best(seed):
    """The weights with their prior are at least as good as those of a grid."""
    rng = np.random.default_rng(seed)
    likelihoods = rng.random((2, 40)) * 0.9 + 0.05

    def value(first):
        weights = np.array([first, 1 - first])
        return np.log(weights @ likelihoods).sum() + np.log(weights).sum()

    found = value(weigh(likelihoods)[0])
    assert found >= max(value(first) for first in np.linspace(0.01, 0.99, 99)) - 1e-6


def test_full_evidence_changes_nothing():
    given = np.array([[0.2, 0.5, 0.3]])
    assert shrink(given, np.array([0.1, 0.2, 0.7]), 1.0) == pytest.approx(given)
