"""The density of numbers integrates to one, and compares networks with different bins."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

from coevo.data import CutPoints, Variable
from coevo.data.measurements import read_measurements
from coevo.estimators import BayesianNetworkLearner
from coevo.estimators.stacking import BinDensity

NUMBERS = np.array([1.0, 2.0, 4.0, 4.5, 7.0, np.nan])


def integrate(density, low, high, n=200_000):
    """Return the integral between two numbers, by the midpoint rule."""
    width = (high - low) / n
    middles = low + width * (np.arange(n) + 0.5)
    return float(np.exp(density.log_density(middles)).sum() * width)


def integrate_tail(density, start, sign):
    """Return the integral from a number to infinity: substitute x = start + sign * t / (1 - t)."""
    n = 200_000
    t = (np.arange(n) + 0.5) / n
    numbers = start + sign * t / (1 - t)
    return float((np.exp(density.log_density(numbers)) / (1 - t) ** 2).sum() / n)


@pytest.mark.parametrize("points", [(), (3.0,), (1.5, 4.2, 6.9), (-5.0, 3.0), (3.0, 40.0), (7.0,)])
def test_the_density_of_each_bin_integrates_to_one(points):
    density = BinDensity.from_numbers(CutPoints(points), NUMBERS)
    if not points:
        below = integrate_tail(density, density.low, -1)
        above = integrate_tail(density, density.high, 1)
        inside = integrate(density, density.low, density.high)
        assert below + inside + above == pytest.approx(1, abs=1e-4)
        return
    first = integrate_tail(density, density.low, -1) + integrate(density, density.low, points[0])
    last = integrate(density, points[-1], density.high) + integrate_tail(density, density.high, 1)
    assert first == pytest.approx(1, abs=1e-4)
    assert last == pytest.approx(1, abs=1e-4)
    for low, high in pairwise(points):
        assert integrate(density, low, high) == pytest.approx(1)


@pytest.mark.parametrize("far", [1e3, 1e100, 1e300, 1.7e308])
def test_every_number_has_a_finite_density(far):
    density = BinDensity.from_numbers(CutPoints((3.0,)), NUMBERS)
    logs = density.log_density(np.array([-far, far, np.nan]))
    assert np.isfinite(logs).all()
    assert logs[2] == 0  # a missing number
    assert (logs[:2] < 0).all()


def test_a_column_with_one_number():
    density = BinDensity.from_numbers(CutPoints(()), np.full(5, 3.0))
    assert (density.low, density.high) == (2.0, 4.0)
    assert np.isfinite(density.log_density(np.array([3.0, 4.0, 5.0]))).all()


def fit(table, **options):
    learner = BayesianNetworkLearner(method="hill_climb", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(table)


@pytest.mark.parametrize("bins", [2, 7])
def test_the_density_of_rows_integrates_to_one(bins, seed):
    """Over both labels, and over a grid of numbers far beyond the training data."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, 300)
    table = np.array([label, rng.normal(size=300) + label]).T
    learner = fit(table, bins=bins, types={"x0": "categorical"})
    # The scale of this grid grows with the distance: x = s / (1 - s * s).
    n = 20_000
    s = -1 + (2 * np.arange(n) + 1) / n
    numbers, stretch = s / (1 - s * s), (1 + s * s) / (1 - s * s) ** 2
    total = 0.0
    for value in (0.0, 1.0):
        rows = np.array([np.full(n, value), numbers]).T
        total += float((np.exp(learner.score_samples(rows)) * stretch).sum() * 2 / n)
    assert total == pytest.approx(1, abs=0.01)


def test_more_bins_win_where_they_describe_the_numbers(seed):
    """The probability of bins would always favour the fewest."""
    selection = pytest.importorskip("sklearn.model_selection")
    rng = np.random.default_rng(seed)
    skewed = np.exp(1.5 * rng.normal(size=(3000, 1)))
    table = np.hstack([skewed, skewed * np.exp(0.3 * rng.normal(size=(3000, 1)))])
    search = selection.GridSearchCV(
        BayesianNetworkLearner(method="hill_climb"), {"bins": [3, 10]}, cv=3
    ).fit(table)
    assert search.best_params_ == {"bins": 10}
    few, many = search.cv_results_["mean_test_score"]
    assert many > few + 0.1
    rough, fine = (fit(table[:2000], bins=bins) for bins in (3, 10))
    rows = table[2000:]
    probabilities = [
        one._log_likelihood(one._read(one._open(rows))).mean() for one in (rough, fine)
    ]
    assert probabilities[0] > probabilities[1]


def test_fewer_bins_win_where_there_is_nothing_to_describe(seed):
    selection = pytest.importorskip("sklearn.model_selection")
    table = np.random.default_rng(seed).random((90, 3))
    search = selection.GridSearchCV(
        BayesianNetworkLearner(method="hill_climb"), {"bins": [3, 25]}, cv=3
    ).fit(table)
    assert search.best_params_ == {"bins": 3}


def test_the_density_does_not_depend_on_the_unit_but_for_a_constant(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(300, 2)) + rng.normal(size=(300, 1))
    metres, millimetres = (fit(table * unit, bins=4) for unit in (1.0, 1000.0))
    assert millimetres.score(table * 1000) == pytest.approx(
        metres.score(table) - 2 * np.log(1000), abs=0.01
    )


def test_a_missing_number_is_summed_out(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(300, 2)) + rng.normal(size=(300, 1))
    learner = fit(table, bins=3)
    rows = table[:5].copy()
    rows[:, 1] = np.nan
    network = learner.network_
    for row, log in zip(rows, learner.score_samples(rows), strict=True):
        cuts = CutPoints.from_states(network.variable("x0").states)
        state = cuts.states[int(cuts.apply(row[:1])[0])]
        probability = network.query("x0")[state]
        within = learner._densities["x0"].log_density(row[:1])[0]
        assert log == pytest.approx(np.log(probability) + within)


def test_numbers_are_read_in_any_format():
    table = np.array([["1.234,5", "a"], ["n/a", "b"], ["-3,25", "a"]])
    bins = Variable("x", ("below_2", "from_2"))
    found = read_measurements(table, [bins], names=["x", "y"], decimal=",")
    assert found["x"].tolist() == pytest.approx([1234.5, np.nan, -3.25], nan_ok=True)
    plain = np.array([["1.5"], ["word"], ["inf"]])
    found = read_measurements(plain, [bins], names=["x"])
    assert found["x"].tolist() == pytest.approx([1.5, np.nan, np.nan], nan_ok=True)
    empty = read_measurements(np.array([[np.nan], [np.nan]]), [bins], names=["x"])
    assert np.isnan(empty["x"]).all()
