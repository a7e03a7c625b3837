"""Warnings point to the code that calls coevo, however deep inside coevo they arise."""

import numpy as np
import pytest

import coevo
from coevo.errors import CoevoWarning
from coevo.io import parse_bif, read_model

TABLE = np.array([["a", "b", "c"], ["a", "c", "c"], ["a", "b", "d"]])
ROUNDED = (
    "network n { } variable x { type discrete [ 2 ] { a, b }; } "
    "probability ( x ) { table 0.5, 0.501; }"
)


@pytest.fixture
def rounded_file(tmp_path):
    path = tmp_path / "rounded.bif"
    path.write_text(ROUNDED)
    return path


@pytest.mark.parametrize(
    "call",
    [
        lambda path: coevo.read_data(TABLE, names=["x", "y", "z"]),
        lambda path: coevo.data.read_incomplete(TABLE, names=["x", "y", "z"]),
        lambda path: coevo.learn(TABLE, method="hill_climb", read={"names": ["x", "y", "z"]}),
        lambda path: parse_bif(ROUNDED),
        lambda path: read_model(path),
        lambda path: coevo.open_network(path),
    ],
    ids=["read_data", "read_incomplete", "learn", "parse_bif", "read_model", "open_network"],
)
def test_a_warning_points_to_the_caller_of_coevo(call, rounded_file):
    with pytest.warns(CoevoWarning) as caught:
        call(rounded_file)
    assert [warning.filename for warning in caught] == [__file__] * len(caught)
