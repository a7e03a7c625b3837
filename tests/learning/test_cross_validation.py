"""Cross-validation: nothing is learned from the rows that are held out."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pandas as pd
import pytest

import coevo
from coevo.data import Variable
from coevo.errors import DataError, ParameterError
from coevo.learning import cross_validate, cross_validation
from coevo.learning.folds import split_rows
from coevo.options import LearnOptions, get_defaults
from helpers.errors import refusal
from helpers.interrupts import ctrl_c_works, press_ctrl_c
from helpers.values import as_values

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


def find_folds(table, cv, target=None):
    """Return the rows that are held out in each fold."""
    options = {**get_defaults(LearnOptions), **FAST}
    return cross_validation._make_plan(table, cv, target, None, options).folds


def test_a_fixed_structure_by_hand(asia):
    """Fit and measure each fold with the parts of the library."""
    dag = coevo.load_network("asia").dag
    found = cross_validate(asia, cv=4, structure=dag, **as_values({"score": "bdeu", **FAST}))
    folds = find_folds(asia, 4)
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
    found = cross_validate(asia, cv=3, predict="bronc", **as_values(FAST))
    folds = find_folds(asia, 3, "bronc")
    rows = asia.expand()
    for fold in folds:
        others = np.setdiff1d(np.arange(400), fold)
        frame = pd.DataFrame(
            {v.name: np.array(v.states)[rows.codes[i]] for i, v in enumerate(rows.variables)}
        )
        states = {v.name: v.states for v in rows.variables}
        network = coevo.learn(
            frame.iloc[others], bootstraps=0, **as_values({"states": states, **FAST})
        ).network
        expected = network.predict(frame.iloc[fold], "bronc")
        places = [expected.variable.states.index(state) for state in found.target.states]
        np.testing.assert_allclose(
            found.probabilities[fold], expected.probabilities[:, places], atol=1e-12
        )
    assert found.metrics.n_rows == 400


def test_a_table_as_it_comes():
    frame = make_frame(3)
    found = cross_validate(frame, cv=5, predict="ill", **as_values(FAST))
    assert found.target.states == ("no", "yes")
    assert found.n_variables == 3  # the identifier is left out
    assert np.isfinite(found.per_row).all()
    assert found.metrics.accuracy > 0.7
    assert sum(fold.unknown.missing.get("dose", 0) for fold in found.folds) == int(
        frame["dose"].isna().sum()
    )
    assert all(not fold.unknown.unseen for fold in found.folds)  # states come from the table


def test_cut_points_come_from_the_rows_that_are_learned_from():
    """Learn from the other rows alone: rows that are held out have no part in it."""
    frame = make_frame(4)
    found = cross_validate(frame, cv=3, predict="ill", **as_values(FAST))
    states = {"ill": ("no", "yes"), "ward": ("a", "b", "c")}
    for fold in find_folds(frame, 3, "ill"):
        others = frame.iloc[np.setdiff1d(np.arange(len(frame)), fold)]
        learned = coevo.learn(
            others,
            bootstraps=0,
            missing="evolve",
            **as_values({"states": states, "drop": ["id"], **FAST}),
        )
        expected = learned.network.predict(frame.iloc[fold], "ill")
        np.testing.assert_allclose(found.probabilities[fold], expected.probabilities, atol=1e-12)


def test_a_number_can_be_predicted():
    found = cross_validate(make_frame(5), cv=3, predict="dose", **as_values(FAST))
    assert all("_" in state for state in found.target.states)
    assert found.metrics.n_rows == int(make_frame(5)["dose"].notna().sum())


def test_the_same_input_gives_the_same_answer(asia):
    one = cross_validate(asia, cv=3, **as_values(FAST))
    two = cross_validate(asia, cv=3, n_jobs=2, **as_values(FAST))
    assert one.per_row.tolist() == two.per_row.tolist()
    other = cross_validate(asia, cv=3, method="hill_climb", random_state=2)
    assert other.per_row.tolist() != one.per_row.tolist()


def test_the_default_seed_is_a_seed(asia):
    one, two = (cross_validate(asia, cv=3, method="hill_climb") for _ in range(2))
    assert one.per_row.tolist() == two.per_row.tolist()
    shown = inspect.signature(cross_validate).parameters["random_state"].default
    three = cross_validate(asia, cv=3, method="hill_climb", random_state=shown)
    assert one.per_row.tolist() == three.per_row.tolist()


def numbers_of(found):
    """Return all that a cross-validation says, but times and the declared order of states."""
    answer = found.as_dict()
    answer.pop("states")
    answer["metrics"].pop("confusion")
    for fold in answer["folds"]:
        fold.pop("seconds")
    return answer


def test_neither_order_nor_storage_matters(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, 300)
    columns = [a, np.where(rng.random(300) < 0.8, a, 1 - a), rng.integers(0, 3, 300)]
    states = [("1", "0"), ("0", "1"), ("0", "1", "2")]  # one of them is not in canonical order
    variables = [Variable(*pair) for pair in zip("abc", states, strict=True)]
    columns[0] = 1 - columns[0]
    full, order = coevo.Dataset(variables, columns), rng.permutation(300)
    pairs = zip(variables, columns, strict=True)
    frame = pd.DataFrame({v.name: [v.states[i] for i in c] for v, c in pairs})
    assert full.deduplicate().weights is not None
    options = {"cv": 4, "predict": "a", **FAST}
    expected = numbers_of(cross_validate(full, **as_values(options)))
    tables = [
        full.deduplicate(),
        coevo.Dataset(variables, [column[order] for column in columns]),
        coevo.Dataset(variables[::-1], columns[::-1]),
        frame,
        frame.astype(int).iloc[order],
        frame[["c", "a", "b"]],
    ]
    for table in tables:
        assert numbers_of(cross_validate(table, **as_values(options))) == expected


def test_the_order_of_numbers_and_missing_values_does_not_matter(seed):
    frame = make_frame(seed).drop(columns="id")
    order = np.random.default_rng(seed).permutation(len(frame))
    one = cross_validate(frame, cv=3, predict="ill", **as_values(FAST))
    two = cross_validate(frame.iloc[order], cv=3, predict="ill", **as_values(FAST))
    assert numbers_of(one) == numbers_of(two)
    assert sorted(two.per_row) == sorted(one.per_row)  # equal rows may change places


@pytest.mark.parametrize("has_missing", [False, True])
def test_ctrl_c_ends_it(asia, has_missing, monkeypatch):
    """The first fold is interrupted while it is learned; no other fold is begun."""
    table = make_frame(6).drop(columns="id") if has_missing else asia
    begun, learn = [], cross_validation.open_task

    def press_and_open(settings, raw):
        begun.append(raw)
        press_ctrl_c()
        return learn(settings, raw)

    monkeypatch.setattr(cross_validation, "open_task", press_and_open)
    with ctrl_c_works(), pytest.raises(KeyboardInterrupt):
        cross_validate(table, cv=3, **as_values(FAST))
    assert len(begun) == 1


def test_weights_that_no_memory_can_hold():
    variables = [Variable(name, ("0", "1")) for name in "ab"]
    table = coevo.Dataset(variables, [[0, 1], [0, 1]], weights=np.array([10**15, 10**15]))
    assert refusal(ParameterError, cross_validate, table, **as_values(FAST)).startswith(
        "The table with each of its 2,000,000,000,000,000 rows stored needs 200,000,000.0 GB of "
        "memory; this machine has "
    )


def test_folds_are_even_and_stratified(seed):
    strata = np.random.default_rng(seed).integers(0, 3, 100)
    rng = np.random.default_rng(seed)
    folds = split_rows(strata, 7, rng, rng.permutation(100))
    assert sorted(np.concatenate(folds).tolist()) == list(range(100))
    assert {len(fold) for fold in folds} <= {14, 15}
    for stratum in range(3):
        counts = [int((strata[fold] == stratum).sum()) for fold in folds]
        assert max(counts) - min(counts) <= 1


def test_an_impossible_row():
    table = pd.DataFrame({"a": ["x"] * 20 + ["y"], "b": ["x"] * 20 + ["y"]})
    found = cross_validate(table, cv=21, **as_values({"score": "loglik", **FAST}))
    assert found.as_dict()["n_rows"] == 21
    assert math.isnan(found.standard_error) == (not np.isfinite(found.per_row).all())


def test_refusals(asia):
    assert refusal(ParameterError, cross_validate, asia, cv=1) == (
        "'cv' of cross_validate must be an int >= 2; got 1."
    )
    assert refusal(ParameterError, cross_validate, asia, cv=401) == (
        "'cv' of cross_validate must be an int from 2 to 400; got 401."
    )
    alone = coevo.Dataset(asia.variables[:1], [[0, 1]])
    assert refusal(DataError, cross_validate, alone, cv=2) == (
        "A network needs at least two columns, and one column is left, 'asia'."
    )
    one = coevo.Dataset(asia.variables, [[0]] * 8)
    assert refusal(DataError, cross_validate, one, cv=2) == (
        "The table has one row. A cross-validation needs at least two."
    )
    assert refusal(DataError, cross_validate, asia, cv=2, predict="bronk") == (
        "'bronk' is not a variable of the table, so it cannot be predicted. Did you mean 'bronc'?"
    )
    assert refusal(ParameterError, cross_validate, asia, cv=2, structure="asia") == (
        "'structure' of cross_validate must be a DAG or None; got 'asia'."
    )
    other = coevo.DAG(["asia", "zoo"], [("asia", "zoo")])
    assert refusal(DataError, cross_validate, asia, cv=2, structure=other) == (
        "The table has no variable 'zoo', which the structure has."
    )
