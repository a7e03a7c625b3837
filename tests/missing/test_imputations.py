"""Imputations are drawn as often as they are probable, and nothing is counted twice."""

import itertools
import math

import numpy as np
import pytest

import naive
from coevo.data import IncompleteDataset
from coevo.missing.gibbs_kernels import add_rows, climb_cells, draw_cells
from coevo.missing.imputations import Holes, Imputations, family_tables, filled_in
from coevo.threads import Threads
from helpers.problems import random_table
from helpers.random_tables import dataset_of

pytestmark = pytest.mark.kernel

ONE_THREAD = Threads(1)


def incomplete(dataset, seed, share):
    """Return a table with cells missing at random, at least one of each column left."""
    missing = np.random.default_rng(seed).random(dataset.codes.shape) < share
    missing[:, 0] = False
    return IncompleteDataset(dataset, missing)


def random_structure(seed, n):
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((n, n)) < 0.5, k=1)
    places = rng.permutation(n)
    return adjacency[np.ix_(places, places)]


@pytest.mark.parametrize("case", range(3))
def test_counts_follow_the_cells(case, seed):
    """After many changes of cells the tables are those of the rows as they are then."""
    table = incomplete(random_table([seed, case], n_variables=5, n_rows=40), seed, 0.3)
    structure = random_structure([seed, case], 5)
    holes, codes = Holes.of(table), table.dataset.codes.copy()
    tables = family_tables(structure, table.dataset.arities)
    add_rows(tables, codes)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        numbers = rng.random(len(holes))
        draw_cells(tables, codes, holes.variables, holes.rows, numbers, np.empty((0, 0)))
    climb_cells(tables, codes, holes.variables, holes.rows)
    assert (codes != table.dataset.codes).any()
    assert (codes == table.dataset.codes)[~table.missing].all()
    fresh = family_tables(structure, table.dataset.arities)
    add_rows(fresh, codes)
    assert tables.counts.tolist() == fresh.counts.tolist()
    assert tables.margins.tolist() == fresh.margins.tolist()
    rows, arities = codes.T.tolist(), table.dataset.arities.tolist()
    for v in range(5):
        parents = np.flatnonzero(structure[:, v]).tolist()
        counted = naive.count_family(rows, arities, v, parents[::-1])
        expected = [n for counts in counted.values() for n in counts]
        begin = tables.first[v]
        assert tables.counts[begin : begin + len(expected)].tolist() == expected


def exact_probabilities(table, structure):
    """Return the posterior of each missing cell, summed over all completions.

    A completion is as probable as the exponential of its BDeu score (ess 1), which is the
    probability of its rows with all tables averaged over their prior.
    """
    holes = Holes.of(table)
    arities = table.dataset.arities.tolist()
    cells = list(zip(holes.variables.tolist(), holes.rows.tolist(), strict=True))
    total = np.zeros((len(cells), max(arities)))
    for states in itertools.product(*(range(arities[v]) for v, _ in cells)):
        codes = table.dataset.codes.copy()
        for (v, row), state in zip(cells, states, strict=True):
            codes[v, row] = state
        arcs = np.argwhere(structure).tolist()
        score = naive.structure_score("bdeu", codes.T.tolist(), arities, arcs)
        for cell, state in enumerate(states):
            total[cell, state] += math.exp(score)
    return total / total.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("case", range(3))
def test_filled_cells_have_their_exact_probabilities(case, seed):
    dataset = random_table([seed, case, 1], n_variables=4, n_rows=12)
    missing = np.zeros(dataset.codes.shape, dtype=bool)
    rng = np.random.default_rng([seed, case])
    missing[rng.integers(4, size=5), rng.integers(1, 12, size=5)] = True
    missing[:2, 3] = True  # two of one row, which depend on each other
    table = IncompleteDataset(dataset, missing)
    structure = random_structure([seed, case], 4)
    completions = Imputations(table, 2, seed, ONE_THREAD)
    filled = completions.fill([structure], 1500)
    assert filled.probabilities.sum(axis=1) == pytest.approx(np.ones(len(filled.holes)))
    exact = exact_probabilities(table, structure)
    assert np.abs(filled.probabilities - exact).max() < 0.06


def test_climbing_never_lowers_the_score(seed):
    table = incomplete(random_table([seed, 5], n_variables=5, n_rows=40), seed, 0.3)
    structure = random_structure([seed, 5], 5)
    holes, codes = Holes.of(table), table.dataset.codes.copy()
    arities, arcs = table.dataset.arities, np.argwhere(structure).tolist()
    tables = family_tables(structure, arities)
    add_rows(tables, codes)
    scores = []
    for _ in range(20):
        rows = codes.T.tolist()
        scores.append(naive.structure_score("bdeu", rows, arities.tolist(), arcs))
        if not climb_cells(tables, codes, holes.variables, holes.rows):
            break
    assert len(scores) > 2
    assert scores == sorted(scores)


def test_every_structure_serves(seed):
    """Individual i is drawn under structure i; under an empty one, from the margins alone."""
    n = 400
    dataset = dataset_of([2, 2], np.tile([[0, 1], [0, 1]], n // 2))
    missing = np.zeros((2, n), dtype=bool)
    missing[1, :100] = True
    table = IncompleteDataset(dataset, missing)
    arc = np.array([[False, True], [False, False]])
    completions = Imputations(table, 2, seed, ONE_THREAD)
    completions.redraw([arc, np.zeros((2, 2), dtype=bool)], 30)
    right = [(codes == dataset.codes)[missing].mean() for codes in completions.codes]
    assert right[0] > 0.95
    assert 0.3 < right[1] < 0.7
    filled = completions.fill([arc], 5)
    assert (filled_in(table, filled) == dataset.codes).all()
    assert (filled.probability > 0.9).all()


def test_threads_change_nothing(seed):
    table = incomplete(random_table([seed, 2]), seed, 0.2)
    structures = [random_structure([seed, i], 7) for i in range(3)]
    found = []
    for n_jobs in (1, 3):
        completions = Imputations(table, 5, seed, Threads(n_jobs))
        completions.redraw(structures, 3)
        found.append((completions.fill(structures, 2), completions.codes))
    assert (found[0][0].probabilities == found[1][0].probabilities).all()
    assert all((a == b).all() for a, b in zip(found[0][1], found[1][1], strict=True))


def test_a_table_without_holes():
    dataset = random_table(0)
    table = IncompleteDataset(dataset, np.zeros(dataset.codes.shape, dtype=bool))
    completions = Imputations(table, 2, 0, ONE_THREAD)
    filled = completions.fill([np.zeros((7, 7), dtype=bool)], 2)
    assert filled.probability.tolist() == filled.codes.tolist() == []
    assert (filled_in(table, filled) == dataset.codes).all()


def test_a_variable_with_very_many_children():
    """The product over hundreds of children is smaller than any number, and says something yet."""
    arities = np.array([2, *[8] * 600])
    dataset = dataset_of(
        arities, np.random.default_rng(1).integers(arities[:, None], size=(601, 60))
    )
    missing = np.zeros(dataset.codes.shape, dtype=bool)
    missing[0, :10] = True
    structure = np.zeros((601, 601), dtype=bool)
    structure[0, 1:] = True
    completions = Imputations(IncompleteDataset(dataset, missing), 2, 1, ONE_THREAD)
    filled = completions.fill([structure], 2)
    assert filled.probabilities.sum(axis=1) == pytest.approx(np.ones(10))
