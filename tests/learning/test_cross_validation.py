"""Cross-validation: nothing is learned from the rows that are held out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import coevo
from coevo.data.known_rows import read_known_rows
from coevo.errors import DataError, ParameterError
from coevo.learning import cross_validate
from coevo.learning.cross_validation import split_rows
from helpers.errors import refusal

FAST = {"method": "hill_climb", "random_state": 1}


@pytest.fixture(scope="module")
def asia():
    return coevo.sample(coevo.load_network("asia"), 400, random_state=2)


def make_frame(seed, n=240):
    """Return a table of numbers, labels and missing values, some of them rare."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "dose": np.where(ill, rng.normal(3, 1, n), rng.normal(1, 1, n)).round(3),
            "ward": rng.choice(["a", "b", "c"], n, p=[0.6, 0.38, 0.02]),
            "ill": np.where(ill, "yes", "no"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "dose"] = None
    return frame


def test_a_fixed_structure_by_hand(asia):
    """Fit and measure each fold with the parts of the library."""
    dag = coevo.load_network("asia").dag
    found = cross_validate(asia, cv=4, structure=dag, score="bdeu", **FAST)
    folds = split_rows(np.zeros(400, np.int32), 4, np.random.default_rng([1, 0]))
    rows = asia.expand()
    expected = np.empty(400)
    for fold in folds:
        others = np.setdiff1d(np.arange(400), fold)
        train = coevo.Dataset(rows.variables, list(rows.codes[:, others]))
        test = coevo.Dataset(rows.variables, list(rows.codes[:, fold]))
        expected[fold] = coevo.fit_network(dag, train).log_likelihood(test).per_row
    np.testing.assert_allclose(found.per_row, expected, rtol=1e-9)
    assert found.log_likelihood == pytest.approx(expected.mean())
    assert found.standard_error == pytest.approx(expected.std(ddof=1) / 20)
    assert [fold.n_arcs for fold in found.folds] == [8] * 4


def test_learning_agrees_with_learn_on_each_fold(asia):
    found = cross_validate(asia, cv=3, predict="bronc", **FAST)
    strata = read_known_rows(asia.expand(), [found.target]).codes["bronc"]
    folds = split_rows(strata, 3, np.random.default_rng([1, 0]))
    rows = asia.expand()
    for fold in folds:
        others = np.setdiff1d(np.arange(400), fold)
        frame = pd.DataFrame(
            {v.name: np.array(v.states)[rows.codes[i]] for i, v in enumerate(rows.variables)}
        )
        states = {v.name: v.states for v in rows.variables}
        network = coevo.learn(frame.iloc[others], states=states, bootstraps=0, **FAST).network
        expected = network.predict(frame.iloc[fold], "bronc")
        places = [expected.variable.states.index(state) for state in found.target.states]
        np.testing.assert_allclose(
            found.probabilities[fold], expected.probabilities[:, places], atol=1e-12
        )
    assert found.metrics.n_rows == 400


def test_a_table_as_it_comes():
    frame = make_frame(3)
    found = cross_validate(frame, cv=5, predict="ill", **FAST)
    assert found.target.states == ("no", "yes")
    assert found.n_variables == 3  # the identifier is left out
    assert np.isfinite(found.per_row).all()
    assert found.metrics.accuracy > 0.7
    assert sum(fold.unknown.missing.get("dose", 0) for fold in found.folds) == int(
        frame["dose"].isna().sum()
    )
    assert all(not fold.unknown.unseen for fold in found.folds)  # states come from the table


def test_cut_points_come_from_the_rows_that_are_learned_from():
    """Rows that are held out may have any numbers: the networks of other folds do not change."""
    frame = make_frame(4)
    folds = split_rows(
        (frame["ill"] == "yes").to_numpy().astype(np.int32), 3, np.random.default_rng([1, 0])
    )
    other = frame.copy()
    place = other.columns.get_loc("dose")
    rows = folds[0][other["dose"].notna().to_numpy()[folds[0]]]
    other.iloc[rows, place] = other.iloc[rows, place] + 0.001
    one = cross_validate(frame, cv=3, predict="ill", **FAST)
    two = cross_validate(other, cv=3, predict="ill", **FAST)
    assert one.folds[0].n_arcs == two.folds[0].n_arcs


def test_a_number_can_be_predicted():
    found = cross_validate(make_frame(5), cv=3, predict="dose", **FAST)
    assert all("_" in state for state in found.target.states)
    assert found.metrics.n_rows == int(make_frame(5)["dose"].notna().sum())


def test_the_same_input_gives_the_same_answer(asia):
    one = cross_validate(asia, cv=3, **FAST)
    two = cross_validate(asia, cv=3, n_jobs=2, **FAST)
    assert one.per_row.tolist() == two.per_row.tolist()
    other = cross_validate(asia, cv=3, method="hill_climb", random_state=2)
    assert other.per_row.tolist() != one.per_row.tolist()


def test_folds_are_even_and_stratified(seed):
    strata = np.random.default_rng(seed).integers(0, 3, 100)
    folds = split_rows(strata, 7, np.random.default_rng(seed))
    assert sorted(np.concatenate(folds).tolist()) == list(range(100))
    assert {len(fold) for fold in folds} <= {14, 15}
    for stratum in range(3):
        counts = [int((strata[fold] == stratum).sum()) for fold in folds]
        assert max(counts) - min(counts) <= 1


def test_an_impossible_row():
    table = pd.DataFrame({"a": ["x"] * 20 + ["y"], "b": ["x"] * 20 + ["y"]})
    found = cross_validate(table, cv=21, score="loglik", **FAST)
    assert found.as_dict()["n_rows"] == 21
    assert math.isnan(found.standard_error) == (not np.isfinite(found.per_row).all())


def test_refusals(asia):
    assert refusal(ParameterError, cross_validate, asia, cv=1) == (
        "'cv' of cross_validate must be an int >= 2; got 1."
    )
    assert refusal(ParameterError, cross_validate, asia, cv=401) == (
        "'cv' of cross_validate must be an int from 2 to 400; got 401."
    )
    assert refusal(DataError, cross_validate, asia, cv=2, predict="bronk") == (
        "'bronk' is not a variable of the table, so it cannot be predicted. Did you mean 'bronc'?"
    )
    assert refusal(ParameterError, cross_validate, asia, cv=2, structure="asia") == (
        "'structure' of cross_validate must be a DAG or None; got 'asia'."
    )
    assert refusal(ParameterError, cross_validate, asia, cv=2, shards="x") == (
        "'shards' of cross_validate cannot be used. Leave it out."
    )
    other = coevo.DAG(["asia", "zoo"], [("asia", "zoo")])
    assert refusal(DataError, cross_validate, asia, cv=2, structure=other) == (
        "The table has no variable 'zoo', which the structure has."
    )
