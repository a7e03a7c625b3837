"""Columns that are left out: each in one sentence that can be undone, in any order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from coevo.data import audit, check_strict, read_data, read_incomplete
from coevo.data.columns import Column
from coevo.data.prepare.left_out import find_empty
from coevo.errors import CoevoWarning, DataError
from helpers.errors import refusal

N = 200


@pytest.fixture
def frame(seed):
    """Return two columns that are kept."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"x": rng.choice(list("abc"), N), "y": rng.choice(["no", "yes"], N)})


def decide(frame, **options):
    _, info = read_incomplete(frame, discretise="mdl", return_info=True, **options)
    return list(info.decisions)


def sentences(frame, **options):
    return [decision.sentence for decision in decide(frame, **options)]


CASES = {
    "row numbers": (
        range(1, N + 1),
        "'c' holds each whole number from 1 to 200 once, like an identifier; it is left out.",
    ),
    "numbers without repetition": (
        range(1000, 1000 + 5 * N, 5),
        "'c' has a different whole number in each of its 200 rows, like an identifier; it is left "
        "out.",
    ),
    "keys": (
        [f"p{i}" for i in range(N)],
        "'c' has a different value in each of its 200 rows, like an identifier; it is left out.",
    ),
    "names": (
        [f"p{i % 150}" for i in range(N)],
        "'c' has 150 different values in 200 rows, like an identifier; it is left out.",
    ),
    "comments": (
        [f"the patient number {i} felt much better" for i in range(N)],
        "'c' holds free text, 200 different texts in 200 rows; it is left out.",
    ),
    "constant": (["CH"] * N, "'c' is 'CH' in every row; it is left out."),
    "constant with missing values": (
        ["CH", None] * (N // 2),
        "'c' is 'CH' wherever it has a value; it is left out.",
    ),
    "empty": ([None] * N, "'c' has no value in any row; it is left out."),
    "nearly empty": (
        ["a", "b"] * 15 + [""] * 170,
        "'c' has no value in 170 of 200 rows (85%); it is left out.",
    ),
}


@pytest.mark.parametrize("case", sorted(CASES))
def test_columns_that_are_left_out(case, frame):
    values, sentence = CASES[case]
    table = frame.assign(c=list(values))
    (decision,) = decide(table)
    assert decision.sentence == sentence
    assert decision.columns == ("c",)
    _, info = read_incomplete(table, discretise="mdl", return_info=True)
    left_out = info.columns[-1]
    assert (left_out.name, left_out.type, left_out.reason) == ("c", "ignore", sentence)
    with pytest.warns(CoevoWarning) as caught:
        read_incomplete(table, discretise="mdl")
    assert [str(warning.message) for warning in caught] == [str(decision)]
    with pytest.raises(DataError, match="cannot be read strictly, because coevo would decide: 'c'"):
        read_incomplete(table, discretise="mdl", strict=True)


@pytest.mark.parametrize("case", sorted(CASES.keys() - {"empty"}))
@pytest.mark.filterwarnings("ignore:Column 'c' is 'CH' in every row")
def test_a_column_that_is_left_out_can_be_kept(case, frame):
    table = frame.assign(c=list(CASES[case][0]))
    (decision,) = decide(table)
    options = eval(f"dict({decision.undo.split(', or --')[0]})")
    kept, info = read_incomplete(table, discretise="mdl", return_info=True, strict=True, **options)
    assert kept.names == ("c", "x", "y")
    assert info.decisions == ()


MEASUREMENTS = {
    "incomes": lambda rng: rng.permutation(np.arange(20_000, 420_000))[:N],
    "decimals": lambda rng: rng.normal(size=N),
    "years": lambda rng: np.arange(1820, 1820 + N),
    "ages": lambda rng: rng.integers(18, 90, N),
}


@pytest.mark.parametrize("case", sorted(MEASUREMENTS))
def test_measurements_are_not_identifiers(case, frame, seed):
    values = MEASUREMENTS[case](np.random.default_rng(seed))
    name = "year" if case == "years" else "c"
    table, info = read_incomplete(
        frame.assign(**{name: values}), discretise="mdl", return_info=True
    )
    assert info.decisions == ()
    assert name in table.names
    assert next(column for column in info.columns if column.name == name).type == "continuous"


def test_a_name_is_evidence(frame, seed):
    values = np.random.default_rng(seed).permutation(np.arange(10**6))[: N // 2].repeat(2)
    assert sentences(frame.assign(income=values)) == []
    for name in ("id", "patient_id", "PassengerId", "Customer ID"):
        (decision,) = decide(frame.assign(**{name: values}))
        assert decision.sentence == (
            f"{name!r} has 100 different whole numbers in 200 rows, like an identifier; it is left "
            "out."
        )
    assert sentences(frame.assign(grid=values, valid=values[::-1])) == []


def test_small_tables_have_no_identifiers():
    frame = pd.DataFrame({"c": [f"p{i}" for i in range(20)], "x": ["a", "b"] * 10})
    assert sentences(frame) == []


def test_copies(frame, seed):
    rng = np.random.default_rng(seed)
    weight = rng.normal(70, 10, N).round(2)
    table = frame.assign(
        code=frame["x"].map({"a": 7, "b": 3, "c": 5}),
        kg=weight,
        lb=weight * 2.25,
        log=np.log(weight),
    )
    assert sentences(table) == [
        "'code' repeats 'x': each value of one goes with one value of the other; 'code' is left "
        "out.",
        "'lb' repeats 'kg': each value of one goes with one value of the other; 'lb' is left out.",
        "'log' repeats 'kg': each value of one goes with one value of the other; 'log' is left "
        "out.",
    ]
    undone = sentences(table, types={"code": "categorical", "lb": "continuous"})
    assert undone == sentences(table)[2:]
    moved = table.sample(frac=1, random_state=seed)[table.columns[::-1]]
    assert sorted(sentences(moved)) == sorted(sentences(table))


def test_columns_that_are_no_copies(frame, seed):
    rng = np.random.default_rng(seed)
    trend = np.sort(rng.normal(size=N))
    other = np.sort(rng.gamma(2, size=N))
    assert sentences(frame.assign(v=trend, w=other)) == []  # both rise, and that is all
    assert sentences(frame.assign(v=rng.normal(size=N), w=rng.normal(size=N))) == []
    one = ["yes"] + ["no"] * (N - 1)
    assert sentences(frame.assign(v=one, w=one)) == []  # one row is no evidence
    assert sentences(frame.assign(y=frame["x"])[["x", "y"]]) == []  # two columns must remain


def test_two_columns_must_remain(frame):
    table = frame[["x"]].assign(c=range(N), d="z", e=None)
    assert refusal(DataError, read_data, table, discretise="mdl") == (
        "A network needs at least two columns, and one column is left, 'x'. 'e' has no value in "
        "any row; it is left out. 'c' holds each whole number from 0 to 199 once, like an "
        "identifier; it is left out. 'd' is 'z' in every row; it is left out. Keep a column with "
        "types= (--type COLUMN=categorical)."
    )


def test_a_column_with_too_many_labels():
    column = Column("c", ["a"], np.zeros(3, dtype=int), overflow=True)
    assert str(find_empty(column)) == (
        "'c' has more than 65,535 different values; it is left out. Undo: strict=True, or --strict."
    )


@pytest.mark.parametrize("n_missing", [290, 275])
def test_a_column_of_mostly_missing_values(n_missing, seed):
    """A column with 290 of 344 values missing had the third strongest arc."""
    rng = np.random.default_rng(seed)
    values = rng.choice(["a", "b"], 344).astype(object)
    values[rng.permutation(344)[:n_missing]] = None
    frame = pd.DataFrame({"c": values, "x": rng.choice(["a", "b"], 344), "y": ["c", "d"] * 172})
    expected = ["'c' has no value in 290 of 344 rows (84%); it is left out."]
    assert sentences(frame) == (expected if n_missing == 290 else [])


def test_declared_columns_are_never_left_out(frame):
    table = frame.assign(c="CH", i=range(N))
    states = {"c": ["CH", "DE"], "i": [str(i) for i in range(N)]}
    with pytest.warns(CoevoWarning, match="Column 'c' is 'CH' in every row, so it gives no"):
        assert read_data(table, states=states, strict=True).names == ("c", "i", "x", "y")


def test_no_order_of_rows_and_columns_changes_a_decision(frame, seed):
    table = frame.assign(
        **{name: list(values) for name, (values, _) in CASES.items()},
        visit=pd.date_range("2019-01-01", periods=N, freq="3D").strftime("%d/%m/%Y"),
        price=[f"${i * 37.5:,.2f}" for i in range(N)],
    )
    moved = table.sample(frac=1, random_state=seed)[table.columns[::-1]]
    first, info = read_incomplete(table, discretise="mdl", return_info=True)
    second, other = read_incomplete(moved, discretise="mdl", return_info=True)
    assert first == second
    assert sorted(map(str, info.decisions)) == sorted(map(str, other.decisions))
    assert {c.name: c for c in info.columns} == {c.name: c for c in other.columns}


def test_the_strict_error_counts_the_decisions(frame):
    table = frame.assign(c=range(N), d="z")
    assert refusal(DataError, check_strict, decide(table)) == (
        "The table cannot be read strictly, because coevo would decide: 'c' holds each whole "
        "number from 0 to 199 once, like an identifier; it is left out. There would be 1 further "
        "decision; coevo inspect lists all. Correct the table, or leave out strict=True (--strict)."
    )
    check_strict([])


def test_whole_numbers_without_bins(frame, seed):
    """Without bins each number would be a state, so that numbers that differ are left out."""
    values = np.random.default_rng(seed).permutation(np.arange(20_000, 420_000))[:N]
    with pytest.warns(CoevoWarning, match="'c' has a different value in each of its 200 rows"):
        assert read_data(frame.assign(c=values)).names == ("x", "y")
    assert read_data(frame.assign(c=values), types={"c": "continuous"}).n_variables == 3


def test_few_rows_are_a_finding(frame):
    table = read_data(frame.head(30))
    assert audit(table)[-1].sentence == (
        "The table has 30 rows. With fewer than 50 rows only strong arcs can be found, and some "
        "arcs are chance. Measure their strength with bootstraps= (--bootstraps)."
    )
