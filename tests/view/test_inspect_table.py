"""An inspection shows all columns and all problems, and its types file gives the same dataset."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coevo
from coevo.data import Dataset, Finding, Variable, read_data, read_incomplete, read_types
from coevo.data.decisions import Decision
from coevo.errors import CoevoWarning, DataError, FileError, ParameterError
from coevo.view.inspection import TableInspection, inspect_table
from coevo.view.inspection.result import make_learn_command, split_undo, suggest_option
from helpers.errors import refusal
from helpers.values import as_values

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PATIENTS, INCOMPLETE = EXAMPLES / "patients.csv", EXAMPLES / "incomplete.csv"


def make_dirty_table(seed):
    """Return a table with a problem of each kind, and columns of each type."""
    rng = np.random.default_rng(seed)
    n = 200
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame(
        {
            "row": np.arange(n),
            "name": [f"patient {i}" for i in range(n)],
            "sex": sex,
            "gender": np.where(sex == "f", "female", "male"),
            "age": rng.integers(18, 90, n),
            "dose": rng.choice([0.5, 1.0, 2.5], n),
            "crp": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n).round(3)),
            "ratio": np.where(np.arange(n) == 7, np.inf, rng.normal(size=n)),
            "nothing": [None] * n,
            "same": "x",
            "size": pd.Categorical(rng.choice(["s", "m"], n), ["s", "m", "l"]),
        }
    )


def test_all_decisions_and_problems_at_once(seed):
    states = {"dose": ["0.5", "1.0"], "size": ["s", "m"]}
    found = inspect_table(make_dirty_table(seed), states=states)
    assert [(finding.kind, finding.columns) for finding in found.findings] == [
        ("unreadable", ("dose",))
    ]
    assert {(decision.kind, decision.columns) for decision in found.decisions} == {
        ("identifier", ("row",)),
        ("identifier", ("name",)),
        ("empty", ("nothing",)),
        ("missing_word", ("ratio",)),
        ("missing", ("crp", "ratio")),
        ("constant", ("same",)),
        ("copy", ("sex", "gender")),
    }
    left_out = [column.name for column in found.columns if column.kind == "left out"]
    assert left_out == ["row", "name", "sex", "dose", "nothing", "same"]
    assert found.by_name["nothing"].summary.n_missing == found.n_rows == 200
    assert found.by_name["name"].summary.examples[0] == "patient 0"
    assert found.by_name["name"].info.reason.endswith("like an identifier; it is left out.")
    assert found.by_name["size"].info.states == ("s", "m")
    assert found.count_kinds() == {"categorical": 2, "continuous": 3, "left out": 6}


def test_parts_of_dates(seed):
    table = make_dirty_table(seed)
    table["visit"] = pd.date_range("2020-01-01", periods=200, freq="2D").strftime("%Y-%m-%d")
    found = inspect_table(table)
    assert found.by_name["visit"].kind == "replaced"
    names = [column.name for column in found.columns]
    assert names[-3:] == ["visit_year", "visit_month", "visit"]
    assert found.by_name["visit_month"].summary.n_distinct == 12
    assert found.types()["visit"] == "year+month"
    assert "visit_month" not in found.types()
    again = inspect_table(table, types=found.types())
    assert again.data_hash == found.data_hash


def test_the_order_of_rows_and_columns_has_no_effect(seed):
    rng = np.random.default_rng(seed)
    table = make_dirty_table(seed)
    shuffled = table.sample(frac=1, random_state=seed)[list(rng.permutation(table.columns))]
    one, other = inspect_table(table), inspect_table(shuffled)
    assert one.data_hash == other.data_hash
    assert [column.name for column in other.columns] == list(shuffled.columns)
    for name, column in one.by_name.items():
        assert column == other.by_name[name]
    kept = [finding for finding in one.findings if finding.kind != "unreadable"]
    assert kept == [finding for finding in other.findings if finding.kind != "unreadable"]
    # An unreadable column is reported with its first row, which depends on the order of rows.
    assert [f.columns for f in one.findings] == [f.columns for f in other.findings]


@pytest.mark.parametrize("name", ["types.json", "types.csv"])
@pytest.mark.parametrize("path", [PATIENTS, INCOMPLETE])
def test_a_types_file_gives_the_same_dataset(tmp_path, path, name):
    found = inspect_table(path)
    found.write_types(tmp_path / name)
    types = read_types(tmp_path / name)
    assert set(types) == set(found.by_name)
    again = read_incomplete(path, types=types)
    rows = again if again.n_missing else again.dataset
    assert rows.content_hash == found.data_hash
    second = inspect_table(path, types=tmp_path / name)
    assert second.data_hash == found.data_hash
    assert second.types() == found.types()


def test_types_of_dirty_columns(seed, tmp_path):
    table = make_dirty_table(seed)
    found = inspect_table(table)
    types = found.types()
    assert types["gender"] == types["dose"] == "categorical"
    assert types["row"] == "ignore"
    assert types["size"] == {"type": "categorical", "states": ["s", "m", "l"]}
    assert set(types["crp"]) == {"type", "cuts"}
    found.write_types(tmp_path / "types.json")
    assert read_types(tmp_path / "types.json") == types
    with pytest.warns(CoevoWarning, match="'inf' in 'ratio' stands for a missing value"):
        assert read_incomplete(table, types=types).content_hash == found.data_hash
    path = tmp_path / "types.csv"
    assert refusal(ParameterError, found.write_types, path) == (
        f"A CSV file cannot hold the states of column 'size'. Write the types to "
        f"'{path.with_suffix('.json')}' instead."
    )


def test_a_column_without_cut_points(tmp_path, seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", "y"], 300)})
    found = inspect_table(table, types={"a": []})
    for name in ("types.json", "types.csv"):
        found.write_types(tmp_path / name)
        assert read_types(tmp_path / name)["a"] == {"type": "continuous", "cuts": []}
    assert (tmp_path / "types.csv").read_text() == (
        "column,type,cuts\na,continuous,none\nb,categorical,\n"
    )
    assert inspect_table(table, types=tmp_path / "types.csv").data_hash == found.data_hash


def test_a_types_file_is_not_replaced(tmp_path):
    found = inspect_table(PATIENTS)
    path = tmp_path / "types.json"
    path.write_text("edited")
    assert refusal(FileError, found.write_types, path) == (
        f"'{path}' exists already. Give another name, or replace it with force=True (--force)."
    )
    assert path.read_text() == "edited"
    found.write_types(path, force=True)
    assert json.loads(path.read_text()) == found.types()
    assert refusal(ParameterError, found.write_types, tmp_path / "types.txt") == (
        f"The types of columns are written as JSON or CSV; got '{tmp_path / 'types.txt'}'. Give a "
        "name that ends with .json or .csv."
    )


def test_the_dictionary_is_json_and_a_types_file(tmp_path, seed):
    found = inspect_table(PATIENTS)
    text = json.dumps(found.as_dict(), allow_nan=False)
    (tmp_path / "inspection.json").write_text(text)
    types = read_types(tmp_path / "inspection.json")
    assert read_data(PATIENTS, types=types).content_hash == found.data_hash
    json.dumps(inspect_table(make_dirty_table(seed)).as_dict(), allow_nan=False)


def test_the_table_is_the_one_that_learn_reads():
    found = inspect_table(PATIENTS, drop=["patient_id"], bins=4)
    result = coevo.learn(PATIENTS, method="hill_climb", read={"drop": ["patient_id"], "bins": 4})
    assert result.as_dict()["data_hash"] == found.data_hash
    assert result.as_dict()["columns"] == found.as_dict()["columns"]
    assert found.by_name["patient_id"].summary is None
    assert [finding.as_dict() for finding in found.findings] == result.as_dict()["audit"]


def test_datasets_and_names():
    dataset = Dataset(
        [Variable("a", ("n", "y")), Variable("b", ("1", "2"))], [[0, 1, 1], [0, 0, 1]]
    )
    found = inspect_table(dataset)
    assert (found.source, found.n_rows, found.data_hash) == ("Dataset", 3, dataset.content_hash)
    counts = {c.name: [one.count for one in c.summary.states] for c in found.columns}
    assert counts == {"a": [1, 2], "b": [2, 1]}
    rows = np.array([["no", "1"], ["yes", "?"]])
    found = inspect_table(rows, names=["rain", "mm"], keep_labels=["?"])
    assert found.by_name["mm"].info.states == ("1", "?")
    assert inspect_table(PATIENTS).source == "patients.csv"


def test_too_few_columns(seed):
    table = make_dirty_table(seed)[["row", "name", "sex"]]
    found = inspect_table(table)
    assert found.data_hash is None
    assert found.findings[-1].sentence == (
        "The table has one column that can be read, 'sex'. A network needs at least two."
    )
    found = inspect_table(make_dirty_table(seed)[["row", "name"]])
    assert found.findings[-1].kind == "too_few_columns"
    assert found.count_kinds() == {"left out": 2}


def test_bad_parameters(tmp_path):
    assert refusal(ParameterError, inspect_table, PATIENTS, bins=1) == (
        "'bins' of inspect_table must be an int >= 2 or None; got 1."
    )
    path = tmp_path / "no.csv"
    assert refusal(FileError, inspect_table, path) == f"There is no file '{path}'."
    path.write_text("a,b\n")
    assert refusal(DataError, inspect_table, path) == (
        "The table has no rows. Give at least one observation."
    )


def test_commands(seed):
    found = inspect_table(make_dirty_table(seed))
    assert suggest_option(Finding("duplicate", ("gender", "sex"), "")) == "--drop sex"
    assert suggest_option(Finding("constant", ("same",), "")) == "--drop same"
    assert make_learn_command(found, "a b.csv", ["--bins", "3"]) == (
        "coevo learn 'a b.csv' --bins 3 -o run/"
    )
    unreadable = inspect_table(make_dirty_table(seed), states={"dose": ["0.5"]})
    assert make_learn_command(unreadable, "a.csv") == ("coevo learn a.csv --drop dose -o run/")
    assert make_learn_command(found, "a.csv", types="t.json") == (
        "coevo learn a.csv --types t.json -o run/"
    )
    assert split_undo(Decision("encoding", (), "It is Latin-1.", "encoding='utf-8'")) == (
        "encoding='utf-8'",
    )
    rows = "bad_rows='skip', or --bad-rows skip; other choices are 'refuse' (an error)"
    assert split_undo(Decision("short", (), "1 line is short.", rows)) == (
        "bad_rows='skip'",
        "--bad-rows skip",
    )
    many = "types={'a': 'ignore'}, or --type a=ignore; other columns in the same way"
    assert split_undo(Decision("date", ("a",), "'a' holds dates.", many)) == (
        "types={'a': 'ignore'}",
        "--type a=ignore",
    )


def test_an_empty_inspection():
    empty = TableInspection("nothing", 0, (), (), (), None)
    assert (empty.n_missing, empty.missing_share, empty.types()) == (0, 0.0, {})


def make_dated_table(n_years):
    """Return a table with dates whose month determines another column."""
    days = pd.date_range("2021-01-01", periods=365 * n_years, freq="D")
    return pd.DataFrame(
        {
            "visit": days.strftime("%Y-%m-%d"),
            "half": np.where(days.month < 7, "first", "second"),
            "odd": np.where(days.day % 2, "yes", "no"),
        }
    )


@pytest.mark.parametrize(
    ("n_years", "hint", "option", "options", "left"),
    [
        (1, "drop=['visit'], or --drop visit", "--drop visit", {"drop": ["visit"]}, []),
        (
            2,
            "types={'visit': 'year'}, or --type visit=year",
            "--type visit=year",
            {"types": {"visit": "year"}},
            ["visit_year"],
        ),
    ],
)
def test_the_recommendation_about_a_part_of_a_date_names_its_column(
    n_years, hint, option, options, left
):
    """The table has no column of the name of the part, so ``drop`` cannot name it."""
    table = make_dated_table(n_years)
    (finding,) = inspect_table(table).findings
    assert finding.sentence == (
        "'half' is determined by 'visit_month' in every row. Leave out 'visit_month' (it is a part "
        f"of 'visit': {hint}), or the column that it determines."
    )
    assert suggest_option(finding) == option
    assert finding.as_dict()["types"] == {"visit": "year" if left else "ignore"}
    followed = coevo.learn(table, method="hill_climb", **as_values(options))
    assert followed.audit == ()
    assert sorted(followed.network.dag.nodes) == ["half", "odd", *left]
    with pytest.warns(CoevoWarning, match="holds dates|has parents here"):
        assert coevo.learn(table, method="hill_climb").audit == (finding,)
