"""Expected scores and available cases, against direct sums."""

import numpy as np
import pytest

import naive
from coevo.data import IncompleteDataset
from coevo.missing import AvailableScorer, ExpectedScorer
from coevo.score import SCORES, FamilyBatch, FamilyScorer
from helpers.problems import random_table

pytestmark = pytest.mark.kernel

FAMILIES = [(0, ()), (1, (0,)), (3, (0, 2)), (2, (0, 1, 4)), (4, (0, 1, 2, 3))]
BATCH = FamilyBatch.from_pairs(FAMILIES)


def make_incomplete(dataset, seed, share=0.15):
    missing = np.random.default_rng(seed).random(dataset.codes.shape) < share
    missing[:, 0] = False
    return IncompleteDataset(dataset, missing)


@pytest.mark.parametrize("score", sorted(SCORES))
def test_the_expected_score_is_the_mean(score, seed):
    table = make_incomplete(random_table([seed, 0], n_variables=5, n_rows=50), seed)
    rng, codes = np.random.default_rng(seed), table.dataset.codes
    arity = np.broadcast_to(table.dataset.arities[:, None], codes.shape)
    drawn = [np.where(table.missing, rng.integers(arity), codes) for _ in range(3)]
    scorer = ExpectedScorer([table.make_dataset(one) for one in drawn], score)
    arities = table.dataset.arities.tolist()
    expected = [
        np.mean([naive.local_score(score, d.T.tolist(), arities, *family) for d in drawn])
        for family in FAMILIES
    ]
    assert scorer.local_scores(BATCH) == pytest.approx(expected, rel=1e-11)
    assert scorer.local_scores(BATCH).tolist() == scorer.local_scores(BATCH).tolist()
    assert scorer.cache_statistics.scored == len(FAMILIES)
    assert scorer.estimate_memory() > FamilyScorer(table.dataset, score).estimate_memory()


def test_weights_count_once(seed):
    dataset = random_table([seed, 0], n_variables=5, n_rows=50)
    weights = {(dataset.names[0], dataset.names[1]): 2.5}
    weighted = ExpectedScorer([dataset, dataset], "k2", weights=weights).local_scores(BATCH)
    plain = ExpectedScorer([dataset, dataset], "k2").local_scores(BATCH)
    assert (weighted - plain) == pytest.approx([0, 2.5, 0, 0, 0])


@pytest.mark.kernel
@pytest.mark.parametrize("score", sorted(SCORES))
def test_scores_of_available_cases_are_scaled_to_all_rows(score, seed):
    table = make_incomplete(random_table([seed, 1], n_variables=5, n_rows=60), seed)
    scores = AvailableScorer(table, score).local_scores(BATCH)
    arities = table.dataset.arities.tolist()
    rows = table.dataset.codes.T.tolist()
    missing = table.missing.T.tolist()
    for family, own_score in zip(FAMILIES, scores, strict=True):
        expected = naive.available_score(score, rows, missing, arities, *family)
        assert own_score == pytest.approx(expected, rel=1e-11)
    backwards = FamilyBatch.from_pairs(FAMILIES[::-1])
    again = AvailableScorer(table, score, n_jobs=2).local_scores(backwards)
    assert again[::-1].tolist() == scores.tolist()  # the order of requests does not matter


@pytest.mark.parametrize("score", sorted(SCORES))
def test_available_cases_of_a_complete_table_are_all_rows(score, seed):
    dataset = random_table([seed, 2], n_variables=5, n_rows=60)
    table = IncompleteDataset(dataset, np.zeros(dataset.codes.shape, dtype=bool))
    usual = FamilyScorer(dataset, score).local_scores(BATCH)
    for n_jobs in (1, 2):
        found = AvailableScorer(table, score, n_jobs=n_jobs).local_scores(BATCH)
        assert found == pytest.approx(usual, rel=1e-11)


def test_a_family_without_complete_rows_is_impossible(seed):
    dataset = random_table([seed, 3], n_variables=5, n_rows=60)
    missing = np.zeros(dataset.codes.shape, dtype=bool)
    missing[0, ::2] = missing[1, 1::2] = True
    found = AvailableScorer(IncompleteDataset(dataset, missing), "bic").local_scores(BATCH)
    assert np.isneginf(found).tolist() == [False, True, False, True, True]
