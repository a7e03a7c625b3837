"""`measure_dependence` reads any table, and its numbers are those of the formulas."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import scipy.stats.contingency

import coevo
import naive
from coevo.data import Dataset, Variable
from coevo.errors import CoevoWarning, DataError, ParameterError
from coevo.learning import Dependence
from helpers.problems import random_table


@pytest.fixture
def frame(seed):
    rng = np.random.default_rng(seed)
    smoker = rng.random(600) < 0.3
    age = rng.normal(50, 12, 600)
    crp = np.where(smoker, 8.0, 2.0) + rng.normal(0, 1, 600)
    site = rng.choice(["north", "south", "west"], 600)
    columns = {"age": age, "crp": crp, "smoker": np.where(smoker, "yes", "no"), "site": site}
    return pd.DataFrame(columns)


@pytest.mark.parametrize("test", ["g2", "x2"])
@pytest.mark.parametrize("given", [(), (2,), (4, 1)])
def test_the_numbers_equal_the_direct_sum(test, given, seed):
    table = random_table(seed, n_variables=5, n_rows=300)
    names, rows = table.names, table.codes.T.tolist()
    found = coevo.measure_dependence(
        table, names[3], names[0], [names[z] for z in given], test=test
    )
    statistic, freedom = naive.independence_test(test, rows, 3, 0, given)
    assert found.statistic == pytest.approx(statistic)
    assert found.degrees_of_freedom == freedom
    assert found.p_value == pytest.approx(scipy.stats.chi2.sf(statistic, freedom))
    assert found.information == pytest.approx(
        naive.independence_test("g2", rows, 3, 0, given)[0] / 600
    )
    assert found.expected_information == freedom / 600
    assert found.n_strata == len({tuple(row[z] for z in given) for row in rows})
    assert (found.n_rows, found.n_left_out) == (300, 0)
    assert found.is_dependent == (found.p_value <= 0.05)


def test_cramers_v_equals_that_of_scipy(seed):
    table = random_table(seed, n_variables=2, n_rows=300)
    found = coevo.measure_dependence(table, *table.names)
    counts = scipy.stats.contingency.crosstab(*table.codes).count
    right = scipy.stats.contingency.association(counts, method="cramer", correction=False)
    assert found.cramers_v == pytest.approx(right)
    assert coevo.measure_dependence(random_table(seed), "v000", "v001", "v002").cramers_v is None


def test_cramers_v_counts_a_state_of_one_row_and_none_without_rows():
    codes = [np.array([0] * 20 + [1] * 19 + [2]), np.arange(40) * np.arange(40) % 7 % 3]
    states = ("a", "b", "c", "never")
    table = Dataset([Variable("x", states), Variable("y", states)], codes)
    counts = scipy.stats.contingency.crosstab(*codes).count
    assert counts.shape == (3, 3)
    right = scipy.stats.contingency.association(counts, method="cramer", correction=False)
    assert coevo.measure_dependence(table, "x", "y").cramers_v == pytest.approx(right)


def test_cramers_v_is_too_large_without_the_correction():
    rng = np.random.default_rng(1)
    drawn = [rng.integers(0, 4, (60, 2)).astype(str) for _ in range(40)]
    found = [coevo.measure_dependence(rows, "x", "y", names=["x", "y"]) for rows in drawn]
    assert np.mean([one.cramers_v for one in found]) > 0.2
    assert np.mean([one.corrected_v for one in found]) < 0.08
    information = np.mean([one.information for one in found])
    expected = np.mean([one.expected_information for one in found])
    assert information == pytest.approx(expected, rel=0.2)
    same = coevo.measure_dependence(drawn[0][:, [0, 0]], "x", "y", names=["x", "y"],
                                    types={"y": "categorical", "x": "categorical"})  # fmt: skip
    assert (same.cramers_v, same.corrected_v) == (pytest.approx(1), pytest.approx(1))


def test_a_frame_with_numbers_and_missing_values(frame):
    frame.loc[:4, "age"] = np.nan
    frame.loc[3:9, "crp"] = np.nan
    frame.loc[20:40, "site"] = None
    found = coevo.measure_dependence(frame, "crp", "smoker")
    assert (found.n_rows, found.n_left_out) == (593, 7)
    assert list(found.cut_points) == ["crp"]
    assert str(found) == "crp and smoker are dependent: p < 0.0001."
    weak = coevo.measure_dependence(frame, "smoker", "site", given=["crp"], bins=2)
    assert (weak.n_rows, weak.n_left_out, weak.n_strata) == (572, 28, 2)
    assert str(weak).startswith("No dependence of smoker and site given crp is found: p = 0.")
    assert str(weak).endswith(", above 0.05.")


def test_the_bins_are_those_of_learn(frame):
    learned = coevo.learn(frame, method="hill_climb", bootstraps=0)
    bins = {info.name: info.cuts.points for info in learned.columns if info.cuts is not None}
    found = coevo.measure_dependence(frame, "crp", "smoker", "age")
    assert found.cut_points == {name: bins[name] for name in ("age", "crp")}


def test_the_words():
    values = {"x": "a", "y": "b", "given": (), "test": "g2", "statistic": 1.0, "alpha": 0.05}
    values |= {"n_left_out": 0, "n_strata": 1, "information": 0.1, "expected_information": 0.0}
    values |= {"cramers_v": None, "corrected_v": None, "cut_points": {}}

    def words(p, freedom=1, **more):
        given = {"n_rows": 10, **values, **more}
        return str(Dependence(p_value=p, degrees_of_freedom=freedom, **given))

    assert words(0.05) == "a and b are dependent: p = 0.0500."
    assert words(9e-5) == "a and b are dependent: p < 0.0001."
    assert words(0.06, given=("c", "d")) == (
        "No dependence of a and b given c, d is found: p = 0.0600, above 0.05."
    )
    assert words(1.0, 0) == "The rows cannot show whether a and b are dependent."


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("crp", "crp"), {}, ParameterError,
         "'crp' is named twice. The variables of a test must differ."),
        (("crp", "age", "age"), {}, ParameterError,
         "'age' is named twice. The variables of a test must differ."),
        (("crp", "smokes"), {}, DataError,
         "The table has no variable 'smokes'. Did you mean 'smoker'?"),
        (("crp", "age"), {"alpha": 0}, ParameterError,
         "'alpha' of measure_dependence must be a number between 0 and 1; got 0."),
        (("crp", "age"), {"test": "chi2"}, ParameterError,
         "'test' of measure_dependence must be one of 'g2', 'x2'; got 'chi2'."),
        (("crp", "age"), {"bins": 1}, ParameterError,
         "'bins' of measure_dependence must be an int >= 2 or None; got 1."),
    ],
)  # fmt: skip
def test_errors(arguments, options, error, message, frame):
    with pytest.raises(error) as caught:
        coevo.measure_dependence(frame, *arguments, **options)
    assert str(caught.value) == message


def test_no_complete_row(frame):
    frame.loc[:300, "age"] = np.nan
    frame.loc[300:, "crp"] = np.nan
    with pytest.raises(DataError) as caught:
        coevo.measure_dependence(frame, "age", "crp")
    assert str(caught.value) == (
        "No row has a value in each of the columns age, crp. Impute the missing values first."
    )


def test_a_column_that_was_left_out_says_why(frame):
    frame["patient"] = [f"p{i:04d}" for i in range(len(frame))]
    with pytest.raises(DataError) as caught:
        coevo.measure_dependence(frame, "patient", "crp")
    assert str(caught.value).startswith("'patient' is not a variable of the table. ")
    assert "Undo: types={'patient': 'categorical'}" in str(caught.value)
    found = coevo.measure_dependence(frame, "age", "crp")  # no decision concerns these
    assert found.decisions == ()


def test_decisions_about_the_columns_are_warnings(frame):
    frame["price"] = [f"{value:,.2f} $" for value in 900 + 100 * frame["crp"]]
    with pytest.warns(CoevoWarning, match="price"):
        found = coevo.measure_dependence(frame, "price", "smoker")
    assert found.decisions
    assert found.is_dependent
    assert math.isfinite(found.statistic)
