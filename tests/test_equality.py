"""Results compare by their values, so that a copy equals its original."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from coevo import learn
from coevo.bundled import load_network
from coevo.network import sample

TABLE = sample(load_network("asia"), 200, random_state=1)


@pytest.fixture(scope="module", params=["ccma", "hill_climb"])
def result(request):
    return learn(TABLE, method=request.param, random_state=1, budget={"max_generations": 5})


def test_a_result_equals_its_own_pickle(result):
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result
    assert copy.search == result.search
    assert len({copy, result}) == 1
    assert result.cpdag == copy.cpdag  # what is computed later does not count
    assert copy == result


def test_other_values_differ(result):
    assert result != replace(result, source="other.csv")
    assert result != replace(result, search=replace(result.search, seed=2))
    assert result.search != replace(result.search, score=np.nextafter(result.score, 0))
    assert result != result.search
    assert result != "a result"
