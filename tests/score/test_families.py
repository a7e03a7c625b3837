"""Batches of families are the families that they are made from, and invalid ones are refused."""

import pickle

import numpy as np
import pytest

import naive
from coevo.errors import ParameterError
from coevo.score import FamilyBatch, FamilyScorer, TripleBatch, toggle_families
from helpers.problems import random_table


def list_families(batch):
    """Return the families of a batch as (child, parents)."""
    parts = np.split(batch.members, batch.start[1:-1])
    return [(child, tuple(parents)) for child, *parents in (part.tolist() for part in parts)]


def draw_toggles(rng, n):
    """Return a child, its parents, and some variables to toggle in any order."""
    child, *rest = rng.permutation(n).tolist()
    parents = sorted(rest[: rng.integers(n)])
    others = rng.permutation(rest)[: rng.integers(n)]
    return child, np.array(parents, dtype=np.int64), others.astype(np.int64)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_toggled_families_match_their_naive_twins(n, seed):
    rng = np.random.default_rng([seed, n])
    for _ in range(100):
        child, parents, others = draw_toggles(rng, n)
        before = parents.copy(), others.copy()
        members, lengths = toggle_families(child, parents, others)
        right = naive.toggled(child, parents.tolist(), others.tolist())
        assert lengths.tolist() == [1 + len(family) for _, family in right]
        assert members.dtype == np.int32
        assert members.tolist() == [v for own, family in right for v in (own, *family)]
        assert np.array_equal(parents, before[0])
        assert np.array_equal(others, before[1])


def move_by_a_byte(batch):
    """Return a batch as a message of Dask delivers it: its arrays begin at any byte."""
    parts = []
    data = pickle.dumps(batch, protocol=5, buffer_callback=parts.append)
    moved = [memoryview(b" " + part.raw())[1:] for part in parts]
    assert len(moved) == 2
    return pickle.loads(data, buffers=moved)


def test_a_batch_from_a_message_can_be_scored(seed):
    scorer = FamilyScorer(random_table(seed))
    families = FamilyBatch.from_pairs([(0, (1, 2)), (3, ())])
    moved = move_by_a_byte(families)
    assert scorer.local_scores(moved).tolist() == scorer.local_scores(families).tolist()
    triples = TripleBatch.from_triples([(0, 1, (2,)), (3, 1, ())])
    moved = move_by_a_byte(triples)
    assert type(moved) is TripleBatch
    found, right = scorer.test_triples(moved), scorer.test_triples(triples)
    assert found.p_values.tolist() == right.p_values.tolist()


def test_parts_are_joined_in_their_order(seed):
    rng = np.random.default_rng(seed)
    for n_parts in (1, 2, 5):
        drawn = [draw_toggles(rng, 6) for _ in range(n_parts)]
        drawn.append((3, np.array([0, 5]), np.array([0, 1])))  # at least two families
        batch = FamilyBatch.from_parts([toggle_families(*one) for one in drawn])
        right = [pair for c, p, o in drawn for pair in naive.toggled(c, p.tolist(), o.tolist())]
        assert list_families(batch) == right
        assert (batch.members.dtype, batch.start.dtype) == (np.int32, np.int64)
        batch.check_starts()
        batch.check_members(6)


@pytest.mark.parametrize("start", [[], [1, 3], [0, 2], [0, 1, 1, 3], [0, 2, 1, 3], [0, 4, 3]])
def test_starts_that_do_not_fit(start):
    batch = FamilyBatch(np.arange(3, dtype=np.int32), np.array(start, dtype=np.int64))
    with pytest.raises(ParameterError) as caught:
        batch.check_starts()
    assert str(caught.value) == "The starts of a family batch do not fit its members."


def test_the_last_variable_is_the_largest_number():
    batch = FamilyBatch.from_pairs([(0, (3,)), (3, ())])
    batch.check_members(4)
    with pytest.raises(ParameterError) as caught:
        batch.check_members(3)
    assert str(caught.value) == "A family names variable 3; there are 3, counted from 0."


def test_a_slice_is_a_batch_of_its_families(seed):
    rng = np.random.default_rng(seed)
    drawn = [draw_toggles(rng, 5) for _ in range(7)]
    pairs = [(child, tuple(parents.tolist())) for child, parents, _ in drawn]
    batch = FamilyBatch.from_pairs(pairs)
    for first in range(7):
        for last in range(first + 1, 8):
            part = batch.slice(first, last)
            part.check_starts()
            assert list_families(part) == pairs[first:last]


@pytest.mark.parametrize(
    ("members", "start"),
    [
        ([0], np.array([0, 1])),
        (np.zeros(1, dtype=np.int64), np.array([0, 1])),
        (np.zeros((1, 1), dtype=np.int32), np.array([0, 1])),
        (np.zeros(1, dtype=np.int32), [0, 1]),
        (np.zeros(1, dtype=np.int32), np.array([0, 1], dtype=np.int32)),
        (np.zeros(1, dtype=np.int32), np.array([[0, 1]])),
    ],
)
def test_arrays_of_another_type(members, start):
    with pytest.raises(ParameterError) as caught:
        FamilyBatch(members, start).check_starts()
    assert str(caught.value) == "A family batch has int32 members and int64 starts."
