"""A score is a value, and its specification has the terms of all counts of a small table."""

import dataclasses
import math

import pytest

from coevo.score import SCORES, make_score


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_values(name):
    """Equal scores can stand for each other in a set, and nothing changes one."""
    score = make_score(name)
    assert len({score, make_score(name)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.ess = 2.0


@pytest.mark.parametrize("n_rows", [1, 2, 500])
@pytest.mark.parametrize("name", ["k2", "loglik", "bic", "fnml", "qnml"])
def test_the_terms_of_all_counts_of_a_small_table_are_tabulated(name, n_rows):
    """The kernels read a term only if it is there, and then need no logarithm."""
    table = make_score(name).make_spec(n_rows, max_arity=4).table
    assert len(table) > n_rows + (3 if name == "k2" else 0)
    for n, term in enumerate(table.tolist()):
        right = math.lgamma(n + 1) if name == "k2" else n * math.log(max(n, 1))
        assert term == pytest.approx(right, rel=1e-15)
