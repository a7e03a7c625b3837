"""The names of bins contain their cut points, and other tools accept the names."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.data import CutPoints, Variable
from coevo.data.bins import round_between
from coevo.errors import DataError, ParameterError
from coevo.io import format_bif, parse_bif, write_bif
from coevo.network import BayesianNetwork
from helpers.errors import refusal
from helpers.peer_oracles import assert_same_network

finite = st.floats(allow_nan=False, allow_infinity=False)
points = st.lists(finite, max_size=5, unique=True).map(lambda found: tuple(sorted(found)))
many = settings(derandomize=True, deadline=None, max_examples=150)


@many
@given(points, st.randoms())
def test_the_names_of_bins_give_the_cut_points_again(found, random):
    cuts = CutPoints(found)
    states = list(cuts.states)
    assert len(set(states)) == len(states) == len(found) + 1
    assert CutPoints.from_states(states) == cuts
    random.shuffle(states)
    assert CutPoints.from_states(states) == cuts


@many
@given(points, st.lists(st.floats(allow_nan=False), max_size=20))
def test_a_number_is_in_the_bin_between_its_cuts(found, values):
    edges = [-np.inf, *found, np.inf]
    for value, code in zip(values, CutPoints(found).apply(values).tolist(), strict=True):
        assert edges[code] <= value
        assert value < edges[code + 1] or value == np.inf


@pytest.mark.parametrize(
    "states",
    [
        ("no", "yes"),
        ("below_2",),
        ("below_2", "from_3"),
        ("below_2", "from_2", "from_2_to_3"),
        ("below_2", "from_2_to_3", "from_2_to_3", "from_3"),
        ("below_2", "from_2", "any"),
        ("below_2.0", "from_2.0"),
        ("below_x", "from_x"),
        ("from_3_to_2", "below_3", "from_2"),
        ("below_1e999", "from_1e999"),
        (),
    ],
)
def test_other_states_are_not_bins(states):
    assert CutPoints.from_states(states) is None


@many
@given(finite, finite, finite)
def test_a_readable_number_lies_between(one, two, near):
    low, high = sorted((one, two))
    if low < high:
        found = round_between(low, high, near)
        assert low < found <= high


@pytest.mark.parametrize(
    ("low", "high", "near", "found"),
    [
        (36.9, 37.3, 37.1, 37.0),
        (1999.5, 2000.5, 2000.0, 2000.0),
        (-2, 3, 1.7, 0),
        (0.123451, 0.123459, 0.123455, 0.123455),
        (5, np.nextafter(5, 6), 5, np.nextafter(5, 6)),
    ],
)
def test_the_number_with_the_fewest_digits(low, high, near, found):
    assert round_between(low, high, near) == found


def test_other_tools_read_the_names(tmp_path):
    states = CutPoints((-1e20, -3.25, -1e-7, 0.5, 1200, 3e300)).states
    table = [[1 / len(states)] * len(states)]
    variables = [Variable("x", states), Variable("y", ("a", "b"))]
    network = BayesianNetwork(variables, {}, {"x": table, "y": [[0.5, 0.5]]})
    assert '"' not in format_bif(network)
    assert parse_bif(format_bif(network)) == network
    write_bif(network, tmp_path / "x.bif")
    assert_same_network(tmp_path / "x.bif", network)


def test_invalid_cut_points():
    for wrong in ((2, 1), (1, 1), (float("nan"),), (float("inf"),), ("a",), (True,)):
        assert refusal(ParameterError, CutPoints, wrong) == (
            f"Cut points must be finite numbers in ascending order; got {list(wrong)!r}."
        )
    assert refusal(DataError, CutPoints((1,)).apply, [0, np.nan]) == (
        "1 of the numbers to put into bins are missing. Drop or impute them."
    )
    assert CutPoints((-0.0,)).states == ("below_0", "from_0")
    assert CutPoints(()).states == ("any",)
    assert all(map(str.isascii, itertools.chain(CutPoints((1, 2)).states)))
