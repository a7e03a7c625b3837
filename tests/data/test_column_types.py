"""The inferred types of columns and their bins are the same for every kind of table."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from coevo.data import CutPoints, Variable, read_data, read_incomplete, read_types, write_data
from coevo.data.column_types import ColumnInfo
from coevo.errors import CoevoError, DataError, FormatError, ParameterError
from coevo.graph import DAG
from coevo.network import fit_network
from helpers.errors import refusal

N = 300


def mixed_table(seed, n=N):
    """Return columns of all kinds, of which some depend on each other."""
    rng = np.random.default_rng(seed)
    dose = rng.choice([0.5, 1.0, 2.5], n)
    weight = 70 + 12 * rng.normal(size=n) + 10 * dose
    return {
        "city": rng.choice(["Bern", "Genf", "Chur"], n).tolist(),
        "code": rng.integers(0, 7, n).tolist(),
        "age": rng.integers(0, 90, n).tolist(),
        "dose": dose.tolist(),
        "weight": weight.tolist(),
        "zeros": np.where(rng.random(n) < 0.7, 0, rng.exponential(size=n)).tolist(),
        "sick": np.where(weight + rng.normal(size=n) > 85, "yes", "no").tolist(),
    }


@pytest.fixture
def table(seed):
    return mixed_table(seed)


def kinds(infos):
    return {info.name: (info.type, info.holds) for info in infos}


KINDS = {
    "city": ("categorical", "text"),
    "code": ("categorical", "whole numbers"),
    "age": ("continuous", "whole numbers"),
    "dose": ("categorical", "decimal numbers"),
    "weight": ("continuous", "decimal numbers"),
    "zeros": ("continuous", "decimal numbers"),
    "sick": ("categorical", "text"),
}


@pytest.mark.parametrize("method", ["mdl", "quantile", "uniform", "kmeans"])
def test_all_sources_are_read_alike(table, method, tmp_path):
    frame = pd.DataFrame(table)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    pl.DataFrame(table).write_csv(tmp_path / "p.csv")
    sources = [
        tmp_path / "t.csv", tmp_path / "t.parquet", frame, pl.DataFrame(table),
        frame.astype(object), frame.astype({"weight": str}),
    ]  # fmt: skip
    found = [read_data(source, discretise=method, return_info=True) for source in sources]
    assert {dataset.content_hash for dataset, _ in found} == {found[0][0].content_hash}
    for _, table_info in found:
        assert table_info == found[0][1]
    assert found[0][1].decisions == ()
    assert kinds(found[0][1].columns) == KINDS
    for info in found[0][1].columns:
        assert (info.cuts is None) == (info.type == "categorical")
        assert (info.method == method) == (info.type == "continuous")


@pytest.mark.parametrize("method", ["mdl", "quantile", "uniform", "kmeans"])
def test_cut_points_do_not_depend_on_row_or_column_order(table, method, seed):
    frame = pd.DataFrame(table)
    moved = frame.sample(frac=1, random_state=seed)[frame.columns[::-1]]
    first, infos = read_data(frame, discretise=method, return_info=True)
    second, again = read_data(moved, discretise=method, return_info=True)
    assert first == second
    assert {n.name: n for n in infos.columns} == {n.name: n for n in again.columns}


def test_bins_match_their_names(table):
    dataset, infos = read_data(pd.DataFrame(table), discretise="quantile", bins=4, return_info=True)
    for info in infos.columns:
        if info.cuts is None:
            continue
        variable = dataset.variables[dataset.find_position(info.name)]
        codes = dataset.codes[dataset.find_position(info.name)]
        expected = [info.states[k] for k in info.cuts.apply(table[info.name])]
        assert [variable.states[code] for code in codes] == expected
    weight = {n.name: n for n in infos.columns}["weight"]
    counts = np.bincount(weight.cuts.apply(table["weight"]))
    assert counts.tolist() == [N // 4] * 4


def test_discretise_does_not_change_text(tmp_path):
    frame = pd.DataFrame(
        {"a": ["x", "y", "x"] * 9, "b": [1, 2, 3] * 9, "c": [True, False, False] * 9}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        plain, asked = read_data(source), read_data(source, discretise="mdl")
        assert plain == asked
        assert plain.source_variables == asked.source_variables


def test_new_rows_go_into_the_bins_of_an_old_model(table, seed):
    dataset = read_data(pd.DataFrame(table), discretise="mdl")
    names = [v.name for v in dataset.source_variables]
    network = fit_network(DAG(names, [("weight", "sick")]), dataset)
    other = pd.DataFrame(mixed_table(seed + 1000))
    held_out = read_data(other, states=network.variables)
    assert held_out.variables == dataset.variables
    again = read_data(pd.DataFrame(table), states=network.variables)
    assert again == dataset
    bins = next(v for v in network.variables if v.name == "weight").states
    codes = CutPoints.from_states(bins).apply(other["weight"])
    column = held_out.codes[held_out.find_position("weight")]
    states = held_out.variables[held_out.find_position("weight")].states
    assert [states[c] for c in column] == [bins[c] for c in codes]


def test_written_bins_can_be_read(table, tmp_path):
    dataset = read_data(pd.DataFrame(table), discretise="quantile")
    write_data(dataset, tmp_path / "binned.csv")
    again = read_data(tmp_path / "binned.csv", states=dataset.source_variables)
    assert again == dataset
    states = dataset.source_variables
    _, info = read_data(tmp_path / "binned.csv", states=states, return_info=True)
    assert info.columns == tuple(_info_of_declared(v) for v in states)


def _info_of_declared(variable):
    cuts = CutPoints.from_states(variable.states)
    kind = "categorical" if cuts is None else "continuous"
    return ColumnInfo(variable.name, kind, variable.states, "declared states", cuts)


def test_infos_read_a_table_again_in_the_same_way(table):
    frame = pd.DataFrame(table)
    dataset, infos = read_data(frame, discretise="mdl", drop=["city"], return_info=True)
    types = json.loads(json.dumps({info.name: info.as_dict() for info in infos.columns}))
    assert types["city"] == {"type": "ignore"}
    assert read_data(frame, types=types) == dataset
    half = read_data(frame.iloc[: N // 2], types=types)
    assert half.variables == dataset.variables


def test_declared_types(table):
    frame = pd.DataFrame(table)
    types = {
        "city": "ignore",
        "code": [2, 4.5],
        "age": "categorical",
        "dose": "continuous",
        "weight": {"type": "continuous", "bins": 2, "method": "uniform"},
        "zeros": CutPoints((0.25,)),
    }
    dataset, infos = read_data(frame, types=types, return_info=True)
    found = {info.name: info for info in infos.columns}
    assert "city" not in dataset.names
    assert found["city"].type == "ignore"
    assert found["code"].cuts == CutPoints((2, 4.5))
    assert found["age"].type == "categorical"
    assert len(found["age"].states) == frame["age"].nunique()
    assert found["dose"].method == "mdl"
    assert (found["weight"].method, len(found["weight"].states)) == ("uniform", 2)
    assert found["zeros"].states == ("below_0.25", "from_0.25")
    assert found["sick"].holds == ""


def test_categorical_accepts_decimals_and_identifiers():
    frame = pd.DataFrame({"id": range(30), "x": [i + 0.5 for i in range(30)], "y": ["a", "b"] * 15})
    dataset, infos = read_data(
        frame, types={"id": "categorical", "x": "categorical"}, return_info=True
    )
    assert dataset.arities.tolist() == [30, 30, 2]
    assert infos.columns[1].states[:2] == ("0.5", "1.5")
    assert infos.columns[1].states[-1] == "29.5"


def test_texts_of_the_same_number_are_one_state(tmp_path):
    cells = ["0.5", ".50", "2", "2.0", "10.25"] * 8
    (tmp_path / "t.csv").write_text(
        "x,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(cells))
    )
    dataset = read_data(tmp_path / "t.csv", discretise="mdl")
    assert dataset.source_variables[0] == Variable("x", ("0.5", "2", "10.25"))


def test_few_decimals_in_few_rows_are_measurements():
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"]})
    dataset = read_data(frame, discretise="quantile", bins=2)
    assert dataset.source_variables[0].states == ("below_2", "from_2")


@pytest.mark.filterwarnings("ignore:Column 'x' is")
def test_a_constant_column():
    frame = pd.DataFrame({"x": [1.5] * 9, "y": ["a", "b", "c"] * 3})
    found = read_data(frame, discretise="mdl", types={"x": "categorical"})
    assert found.source_variables[0].states == ("1.5",)
    for method in ("mdl", "quantile", "uniform", "kmeans"):
        found = read_data(frame, types={"x": "continuous"}, discretise=method)
        assert found.source_variables[0].states == ("any",)
    assert read_data(frame, states=found.source_variables) == found


def test_more_numbers_than_labels(tmp_path):
    values = np.random.default_rng(0).permutation(70_000) / 8
    lines = "".join(f"{v:.3f},{i % 3}\n" for i, v in enumerate(values))
    (tmp_path / "t.csv").write_text("x,y\n" + lines)
    dataset, table_info = read_data(
        tmp_path / "t.csv", discretise="quantile", bins=2, return_info=True
    )
    info = table_info.columns[0]
    assert info.states == ("below_4375", "from_4375")
    frame = pd.DataFrame({"x": values, "y": np.arange(70_000) % 3})
    assert read_data(frame, discretise="quantile", bins=2) == dataset
    assert read_data(tmp_path / "t.csv", states={"x": info.states}) == dataset
    (tmp_path / "t.csv").write_text("x,y\n" + lines + "high,1\n")
    assert refusal(DataError, read_data, tmp_path / "t.csv", discretise="mdl") == (
        "Column 'x' has 1 missing value, in row 70,001. Drop or impute it, or learn with "
        "missing='evolve' (--missing evolve of coevo learn and strength). 'high' among its numbers "
        "counts as missing."
    )
    rows, lenient = read_incomplete(tmp_path / "t.csv", discretise="mdl", return_info=True)
    assert rows.missing_counts == {"x": 1, "y": 0}
    assert lenient.decisions[0].sentence == (
        "'high' in 'x' stands for a missing value (row 70,001): the other values are numbers."
    )
    (tmp_path / "t.csv").write_text("x,y\n" + lines + "NA,1\n")
    assert refusal(DataError, read_data, tmp_path / "t.csv", discretise="mdl") == (
        "Column 'x' has 1 missing value, in row 70,001. Drop or impute it, or learn with "
        "missing='evolve' (--missing evolve of coevo learn and strength)."
    )


def test_whole_numbers_from_one_to_another_are_identifiers():
    frame = pd.DataFrame({"x": range(100, 130), "y": ["a", "b"] * 15, "z": list("abc") * 10})
    dataset, info = read_data(frame, discretise="mdl", return_info=True)
    assert [variable.name for variable in dataset.source_variables] == ["y", "z"]
    assert [decision.kind for decision in info.decisions] == ["identifier"]
    found = read_data(frame, discretise="mdl", types={"x": "continuous"})
    assert found.source_variables[0].states == ("below_115", "from_115")


@pytest.mark.parametrize("infinite", ["inf", "-Infinity"])
def test_infinite_numbers(infinite, tmp_path):
    rows = "".join(f"{i}.5,{i % 2}\n" for i in range(20))
    (tmp_path / "t.csv").write_text(f"x,y\n{rows}{infinite},1\n")
    message = (
        f"Column 'x' holds {infinite!r}, first in row 21, for which no bins can be found. Correct "
        "it, give the cut points of the column with types= (--types), or leave it out "
        "(drop=['x'], or --drop x)."
    )
    assert refusal(DataError, read_data, tmp_path / "t.csv", discretise="mdl") == message
    found = read_data(tmp_path / "t.csv", discretise="mdl", types={"x": [10]})
    assert found.source_variables[0].states == ("below_10", "from_10")


WORDS = (
    "'categorical', 'continuous', 'ignore', 'choices', 'days', 'date', 'year', 'month', 'weekday', "
    "'hour', 'dmy', 'mdy'"
)
FRAME = pd.DataFrame({"age": [1.5, 2.5, 3.5], "sex": ["f", "m", "f"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"discretise": "quantil"},
            "'discretise' of read_data must be one of 'kmeans', 'mdl', 'quantile', 'uniform'; got "
            "'quantil'. Did you mean 'quantile'?",
        ),
        ({"bins": 1}, "'bins' of read_data must be an int >= 2; got 1."),
        ({"bins": 2.0}, "'bins' of read_data must be an int >= 2; got 2.0."),
        (
            {"types": ["age"]},
            "'types' of read_data must be a mapping of column to its type; got ['age'].",
        ),
        (
            {"types": {"agee": "continuous"}},
            "'types' names 'agee', which is not a column of the table. Did you mean 'age'?",
        ),
        (
            {"types": {"age": "continous"}},
            f"The type of column 'age' must be one of {WORDS}, or a list of cut points; got "
            "'continous'. Did you mean 'continuous'?",
        ),
        (
            {"types": {"age": 3}},
            f"The type of column 'age' must be one of {WORDS}, or a list of cut points; got 3.",
        ),
        (
            {"types": {"age": {"type": "continuous", "bin": 3}}},
            "The type of column 'age' has no 'bin'. Did you mean 'bins'?",
        ),
        (
            {"types": {"age": {"bins": "3"}}},
            "'bins' of column 'age' must be an int >= 2; got '3'.",
        ),
        (
            {"types": {"age": [2, 1]}},
            "Column 'age': Cut points must be finite numbers in ascending order; got [2, 1].",
        ),
        (
            {"types": {"age": {"cuts": 3}}},
            "The cuts of column 'age' must be a list of numbers; got 3.",
        ),
        (
            {"types": {"sex": "continuous"}},
            "Column 'sex' holds 'f', first in row 1, which is not a number. Correct it, or "
            "remove the type 'continuous'.",
        ),
        (
            {"types": {"age": "continuous"}, "states": {"age": ["1"]}},
            "Column 'age' has declared states and the type 'continuous'. Give one of the two.",
        ),
        (
            {"types": {"age": "ignore"}},
            "The table has one column left after dropping, 'sex'. A network needs at least two.",
        ),
    ],
)
def test_invalid_types(options, message):
    assert refusal(CoevoError, read_data, FRAME, **options) == message


def test_options_do_not_apply_to_a_dataset(table):
    dataset = read_data(pd.DataFrame(table), discretise="mdl")
    assert read_data(dataset) is dataset
    assert refusal(ParameterError, read_data, dataset, bins=3) == (
        "'states', 'drop', 'names', 'types', 'discretise', 'bins', 'only', 'missing_labels', "
        "'keep_labels', 'merge' and the options of files of read_data do not apply to a Dataset. "
        "Use them when you read the table that it comes from."
    )


# -- the file of types


@pytest.fixture
def types_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="types.csv"):
        (tmp_path / name).write_text(text)
        return name

    return write


def test_types_from_files(types_file):
    wanted = {
        "age": {"type": "continuous", "cuts": [18.0, 65.0]},
        "id": {"type": "ignore"},
        "x": {"type": "continuous", "bins": 3, "method": "kmeans"},
    }
    text = (
        "column,type,cuts,bins,method\nage,continuous,18 65\n\n id , ignore\nx,continuous,,3,kmeans"
    )
    assert read_types(types_file(text)) == wanted
    assert read_types(types_file(json.dumps(wanted), "types.json")) == wanted
    run = {"data_hash": "0", "score": 1, "columns": wanted}
    assert read_types(types_file(json.dumps(run), "run.json")) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "'types.csv' has no column 'column'. Its first line must be "
            "column,type,cuts,bins,method, or the start of it.",
        ),
        ("column,typ\n", "'types.csv' has no column 'type'. Its first line must be "
         "column,type,cuts,bins,method, or the start of it."),
        ("column,type,cut\n", "'types.csv', line 1: there is no column 'cut'. "
         "Did you mean 'cuts'?"),
        ("column,type\na,ignore\na,ignore\n", "'types.csv', line 3: column 'a' occurs twice."),
        ("column,type\na,b,c\n", "'types.csv', line 2: 3 cells, and the header has 2. Put quotes "
         "around a name that holds a comma."),
        ("column,type,cuts\na,continuous,1 b\n",
         "'types.csv', line 2: could not convert string to float: 'b'."),
        ("[1]", "'types.csv' must hold an object with a type for each column."),
        ('{"a": 1, "a": 2}', "'types.csv' has 'a' twice. Remove one of them."),
        ('{"a": ', "'types.csv' is not JSON: Expecting value: line 1 column 7 (char 6)."),
    ],
)  # fmt: skip
def test_malformed_files_of_types(text, message, types_file):
    assert refusal(FormatError, read_types, types_file(text)) == message


def test_a_file_that_is_not_utf8(tmp_path):
    (tmp_path / "t.csv").write_bytes("größe,type".encode("latin-1"))
    assert refusal(FormatError, read_types, tmp_path / "t.csv") == (
        f"{str(tmp_path / 't.csv')!r} is not UTF-8 text. Save it as UTF-8."
    )
