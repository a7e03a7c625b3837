"""The findings of Potter and De Jong (1994) come out, from any seed."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "potter_de_jong.py"


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(EXAMPLE))


def find_median(example, function, algorithm, seed, evaluations=10_000, runs=5):
    """Return the median of the best values of several runs."""
    seeds = [1000 * seed + run for run in range(runs)]
    return np.median(
        [example["minimise"](function, algorithm, evaluations, one)[-1][1] for one in seeds]
    )


@pytest.mark.parametrize("function", ["Rastrigin", "Schwefel", "Griewangk", "Ackley"])
def test_ccga_1_beats_the_plain_ga_on_separable_functions(example, function, seed):
    found = find_median(example, function, "CCGA-1", seed)
    assert found < 0.7 * find_median(example, function, "plain GA", seed)
    assert found < find_median(example, function, "CCGA-2", seed)


def test_ccga_1_loses_on_rosenbrock_and_ccga_2_wins_that_back(example, seed):
    medians = {
        name: find_median(example, "Rosenbrock", name, seed, runs=11)
        for name in ("plain GA", "CCGA-1", "CCGA-2")
    }
    assert medians["CCGA-1"] > 3 * medians["plain GA"]
    assert medians["CCGA-1"] > 10 * medians["CCGA-2"]


MINIMA = {
    "Rastrigin": 0.0,
    "Schwefel": 420.9687,
    "Griewangk": 0.0,
    "Ackley": 0.0,
    "Rosenbrock": 1.0,
}


@pytest.mark.parametrize("name", MINIMA)
def test_the_functions_have_their_known_minima(example, name, seed):
    function, n_variables, limit = example["FUNCTIONS"][name]
    at_minimum = function(np.full((1, n_variables), MINIMA[name]))
    assert at_minimum == pytest.approx([0.0], abs=2e-3)
    points = np.random.default_rng(seed).uniform(-limit, limit, (200, n_variables))
    assert (function(points) > at_minimum).all()


def test_a_curve_never_rises_and_stays_within_the_budget(example, seed):
    evaluations, values = zip(*example["minimise"]("Schwefel", "CCGA-2", 5000, seed), strict=True)
    assert evaluations[0] == 1000  # 100 individuals of ten species
    assert evaluations[-1] <= 5000
    assert (np.diff(values) <= 0).all()
