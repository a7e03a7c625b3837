"""Imputations are draws from their posterior distribution, and counts stay up to date."""

import itertools
import math

import numpy as np
import pytest

import naive
from coevo.data import IncompleteDataset
from coevo.missing.imputations import (
    Imputations,
    MissingValues,
    add_rows,
    draw_values,
    impute_most_probable,
    make_family_tables,
    maximise_values,
)
from coevo.runtime.threads import Threads
from helpers.problems import random_table
from helpers.random_tables import dataset_of

pytestmark = pytest.mark.kernel

ONE_THREAD = Threads(1)


def make_incomplete(dataset, seed, share):
    """Return a table with values missing at random; the first row is complete."""
    missing = np.random.default_rng(seed).random(dataset.codes.shape) < share
    missing[:, 0] = False
    return IncompleteDataset(dataset, missing)


def random_structure(seed, n):
    rng = np.random.default_rng(seed)
    adjacency = np.triu(rng.random((n, n)) < 0.5, k=1)
    places = rng.permutation(n)
    return adjacency[np.ix_(places, places)]


@pytest.mark.parametrize("case", range(3))
def test_counts_follow_the_imputed_values(case, seed):
    """After many changes of imputed values the tables have the counts of the current rows."""
    table = make_incomplete(random_table([seed, case], n_variables=5, n_rows=40), seed, 0.3)
    structure = random_structure([seed, case], 5)
    missing_values = MissingValues.from_table(table)
    codes = table.dataset.codes.astype(np.uint16)  # the type of the kernels
    tables = make_family_tables(structure, table.dataset.arities)
    add_rows(tables, codes)
    positions = missing_values.variables, missing_values.rows
    rng = np.random.default_rng(seed)
    for _ in range(4):
        uniforms = rng.random(len(missing_values))
        draw_values(tables, codes, *positions, uniforms, np.empty((0, 0)))
    maximise_values(tables, codes, *positions)
    assert (codes != table.dataset.codes).any()
    assert (codes == table.dataset.codes)[~table.missing].all()
    fresh = make_family_tables(structure, table.dataset.arities)
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


@pytest.mark.parametrize("case", range(3))
def test_each_value_is_drawn_given_all_other_values(case, seed):
    table = make_incomplete(random_table([seed, case, 7], n_variables=4, n_rows=12), seed, 0.4)
    structure = random_structure([seed, case], 4)
    arities, arcs = table.dataset.arities.tolist(), np.argwhere(structure).tolist()
    missing_values = MissingValues.from_table(table)
    uniforms = np.random.default_rng(seed).random(len(missing_values))
    codes = table.dataset.codes.astype(np.uint16)
    tables = make_family_tables(structure, table.dataset.arities)
    add_rows(tables, codes)
    totals = np.ones((len(missing_values), max(arities)))
    draw_values(tables, codes, missing_values.variables, missing_values.rows, uniforms, totals)
    rows = table.dataset.codes.T.tolist()
    for i, row in enumerate(missing_values.rows.tolist()):
        v = int(missing_values.variables[i])
        shares = naive.weigh_states(rows, arities, arcs, row, v)
        assert totals[i].tolist() == pytest.approx(
            [1 + share for share in shares] + [1] * (max(arities) - arities[v])
        )
        below = np.cumsum(shares)[:-1] <= uniforms[i]
        rows[row][v] = int(below.sum())
    assert codes.T.tolist() == rows


def exact_probabilities(table, structure):
    """Return the posterior probabilities of each missing value, summed over all imputations.

    The probability of an imputation is proportional to the exponential of its BDeu score (ess 1):
    the probability of its rows with all tables integrated over their prior.
    """
    missing_values = MissingValues.from_table(table)
    arities = table.dataset.arities.tolist()
    positions = list(
        zip(missing_values.variables.tolist(), missing_values.rows.tolist(), strict=True)
    )
    total = np.zeros((len(positions), max(arities)))
    for states in itertools.product(*(range(arities[v]) for v, _ in positions)):
        codes = table.dataset.codes.copy()
        for (v, row), state in zip(positions, states, strict=True):
            codes[v, row] = state
        arcs = np.argwhere(structure).tolist()
        score = naive.structure_score("bdeu", codes.T.tolist(), arities, arcs)
        for i, state in enumerate(states):
            total[i, state] += math.exp(score)
    return total / total.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("case", range(3))
def test_estimated_probabilities_are_near_the_exact_ones(case, seed):
    dataset = random_table([seed, case, 1], n_variables=4, n_rows=12)
    missing = np.zeros(dataset.codes.shape, dtype=bool)
    rng = np.random.default_rng([seed, case])
    missing[rng.integers(4, size=5), rng.integers(1, 12, size=5)] = True
    missing[:2, 3] = True  # two values of one row, which depend on each other
    table = IncompleteDataset(dataset, missing)
    structure = random_structure([seed, case], 4)
    imputations = Imputations(table, 2, seed, ONE_THREAD)
    estimated = imputations.estimate_probabilities([structure], 1500)
    assert estimated.probabilities.sum(axis=1) == pytest.approx(
        np.ones(len(estimated.missing_values))
    )
    exact = exact_probabilities(table, structure)
    assert np.abs(estimated.probabilities - exact).max() < 0.06


def test_maximising_values_never_lowers_the_score(seed):
    table = make_incomplete(random_table([seed, 5], n_variables=5, n_rows=40), seed, 0.3)
    structure = random_structure([seed, 5], 5)
    missing_values = MissingValues.from_table(table)
    codes = table.dataset.codes.astype(np.uint16)  # the type of the kernels
    arities, arcs = table.dataset.arities, np.argwhere(structure).tolist()
    tables = make_family_tables(structure, arities)
    add_rows(tables, codes)
    scores = []
    for _ in range(20):
        rows = codes.T.tolist()
        scores.append(naive.structure_score("bdeu", rows, arities.tolist(), arcs))
        if not maximise_values(tables, codes, missing_values.variables, missing_values.rows):
            break
    assert len(scores) > 2
    assert scores == sorted(scores)


def test_individuals_are_drawn_under_their_own_structures(seed):
    """Individual i is drawn under structure i. The empty structure gives draws from the margins."""
    n = 400
    dataset = dataset_of([2, 2], np.tile([[0, 1], [0, 1]], n // 2))
    missing = np.zeros((2, n), dtype=bool)
    missing[1, :100] = True
    table = IncompleteDataset(dataset, missing)
    arc = np.array([[False, True], [False, False]])
    imputations = Imputations(table, 2, seed, ONE_THREAD)
    imputations.redraw([arc, np.zeros((2, 2), dtype=bool)], 30)
    accuracy = [(codes == dataset.codes)[missing].mean() for codes in imputations.codes]
    assert accuracy[0] > 0.95
    assert 0.3 < accuracy[1] < 0.7
    estimated = imputations.estimate_probabilities([arc], 5)
    assert (impute_most_probable(table, estimated) == dataset.codes).all()
    assert (estimated.highest_probabilities > 0.9).all()


def test_threads_do_not_change_the_draws(seed):
    table = make_incomplete(random_table([seed, 2]), seed, 0.2)
    structures = [random_structure([seed, i], 7) for i in range(3)]
    found = []
    for n_jobs in (1, 3):
        imputations = Imputations(table, 5, seed, Threads(n_jobs))
        imputations.redraw(structures, 3)
        estimated = imputations.estimate_probabilities(structures, 2)
        found.append((estimated.probabilities, imputations.codes))
    assert (found[0][0] == found[1][0]).all()
    assert all((a == b).all() for a, b in zip(found[0][1], found[1][1], strict=True))


def test_a_table_without_missing_values():
    dataset = random_table(0)
    table = IncompleteDataset(dataset, np.zeros(dataset.codes.shape, dtype=bool))
    imputations = Imputations(table, 2, 0, ONE_THREAD)
    estimated = imputations.estimate_probabilities([np.zeros((7, 7), dtype=bool)], 2)
    assert estimated.highest_probabilities.tolist() == []
    assert estimated.most_probable_codes.tolist() == []
    assert (impute_most_probable(table, estimated) == dataset.codes).all()


def test_a_variable_with_very_many_children():
    """The product over hundreds of children would underflow; the weights are rescaled."""
    arities = np.array([2, *[8] * 600])
    dataset = dataset_of(
        arities, np.random.default_rng(1).integers(arities[:, None], size=(601, 60))
    )
    missing = np.zeros(dataset.codes.shape, dtype=bool)
    missing[0, :10] = True
    structure = np.zeros((601, 601), dtype=bool)
    structure[0, 1:] = True
    imputations = Imputations(IncompleteDataset(dataset, missing), 2, 1, ONE_THREAD)
    estimated = imputations.estimate_probabilities([structure], 2)
    assert estimated.probabilities.sum(axis=1) == pytest.approx(np.ones(10))
