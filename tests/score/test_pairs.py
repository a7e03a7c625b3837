"""The gains of all pairs of variables equal the direct sum over rows, whichever scorer has them."""

import numpy as np
import pytest

import naive
from coevo.score import FamilyScorer, Scorer
from helpers.problems import random_table
from helpers.random_tables import SHAPES, dataset_of, random_codes

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("n_rows", [9, 64, 150, 4000])
@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_match_naive(shape, n_rows, seed):
    arities, codes = random_codes(shape, seed, n_rows)
    scorer = FamilyScorer(dataset_of(arities, codes), "bic")
    rows = codes.T.tolist()
    for child, gains in enumerate(scorer.measure_pairs(range(len(arities)))):
        expected = [
            0.0 if v == child else naive.pair_gain(rows, child, v) for v in range(len(gains))
        ]
        assert gains == pytest.approx(expected, abs=1e-8)


def test_bit_sets_and_tests_agree(seed):
    scorer = FamilyScorer(random_table(seed, 5, 1000))
    fast, slow = scorer.measure_pairs([3, 1]), Scorer.measure_pairs(scorer, [3, 1])
    assert np.array(list(fast)) == pytest.approx(np.array(list(slow)), abs=1e-8)


def test_rows_with_weights_count_as_often(seed):
    arities, codes = random_codes("even", seed, 30)
    weights = np.random.default_rng(seed).integers(1, 4, 30)
    (found,) = FamilyScorer(dataset_of(arities, codes, weights)).measure_pairs([2])
    (expected,) = FamilyScorer(dataset_of(arities, codes.repeat(weights, axis=1))).measure_pairs(
        [2]
    )
    assert found == pytest.approx(expected, abs=1e-8)
