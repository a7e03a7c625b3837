"""The options that undo decisions about rows, names, value labels and values of any type."""

from __future__ import annotations

import datetime
import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import coevo
from coevo.data import read_data, read_incomplete
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import SourceOptions
from coevo.data.write_imputed import ImputedColumn, impute_frame, write_imputed_file
from coevo.errors import DataError, ParameterError
from coevo.parallel import read_shards
from coevo.view.inspection import inspect_table

FRAME = {"a": ["1", "2", "1", "2"], "b": ["u", "u", "v", "v"]}


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes a text table into the current folder."""
    monkeypatch.chdir(tmp_path)

    def call(text, name="t.csv"):
        (tmp_path / name).write_text(text)
        return name

    return call


def load(source, names=None, **opening):
    """Return the cells of a source by column, and the kinds of decisions."""
    options = ReadPlan.from_parameters(opening=SourceOptions.from_parameters(**opening))
    table = load_table(source, options.allow_missing(), names)
    cells = {
        column.name: [column.labels[code] for code in column.codes.tolist()]
        for column in table.columns
    }
    return cells, [decision.kind for decision in table.decisions]


def error_of(function, *arguments, **options):
    """Return the message of the error of a call."""
    with pytest.raises((DataError, ParameterError)) as caught:
        function(*arguments, **options)
    return str(caught.value)


# -- rows

RAGGED = "a,b,c\n1,2,3\n4,5\n7,8,9,,\n7,8,9,10\n1,2,3\n"


def test_bad_rows(write):
    name = write(RAGGED)
    assert error_of(load, name).startswith("Line 5 of 't.csv' has 4 fields; its header has 3.")
    assert load(name, bad_rows="skip") == (
        {"a": ["1", "1"], "b": ["2", "2"], "c": ["3", "3"]},
        ["skipped_rows"],
    )
    table = load_table(name, make_options(bad_rows="skip"), None)
    assert str(table.decisions[0]) == (
        "3 lines have a wrong number of fields and were left out (the first is line 3). Undo: "
        "bad_rows='refuse', or --bad-rows refuse."
    )
    assert error_of(load, name, bad_rows="refuse") == (
        "3 lines of 't.csv' have a wrong number of fields (the first is line 3); the header has 3. "
        "Correct them, or leave them out with bad_rows='skip' (--bad-rows skip)."
    )
    assert error_of(load, write("a,b\n1,2\n3\n1,2\n"), bad_rows="refuse") == (
        "1 line of 't.csv' has a wrong number of fields (line 3); the header has 2. Correct it, or "
        "leave it out with bad_rows='skip' (--bad-rows skip)."
    )


def test_bad_rows_are_not_comments_or_footers(write):
    name = write("a,b,c\n1,2,3\n# by me\n1,2,3\n\nTotal: 2\n")
    expected = ({"a": ["1", "1"], "b": ["2", "2"], "c": ["3", "3"]}, ["comments", "footers"])
    assert load(name, bad_rows="skip") == load(name, bad_rows="refuse") == load(name) == expected


def test_a_table_that_is_mostly_bad_rows_is_an_error(write):
    text = "Dear reader,\nthis is a letter.\nIt has a comma, or two.\nIt has lines.\nIt ends.\n"
    assert "has 1 field; its header has 2." in error_of(load, write(text), bad_rows="skip")


def test_empty_rows(write):
    name = write("a,b\n1,2\n,\n,\n3,4\n")
    assert load(name) == ({"a": ["1", "3"], "b": ["2", "4"]}, ["empty_rows"])
    kept = {"a": ["1", "", "", "3"], "b": ["2", "", "", "4"]}
    assert load(name, keep_empty_rows=True) == (kept, [])
    table = read_incomplete(name, keep_empty_rows=True, types={"a": "categorical"})
    assert (table.n_rows, table.n_missing) == (4, 4)
    missing = np.array([False, True, True, False])
    b = ImputedColumn("b", ("2", "4"), np.array([0, 1, 0, 1]), missing)
    write_imputed_file(name, "copy.csv", [b], SourceOptions(keep_empty_rows=True))
    with open("copy.csv") as file:
        assert file.read() == "a,b\n1,2\n,4\n,2\n3,4\n"
    rows = [["a", "b"], [1, "x"], [None, None], [2, "y"]]
    pd.DataFrame(rows).to_excel("t.xlsx", index=False, header=False)
    assert load("t.xlsx") == ({"a": ["1", "2"], "b": ["x", "y"]}, ["empty_rows"])
    kept = {"a": ["1", None, "2"], "b": ["x", None, "y"]}
    assert load("t.xlsx", keep_empty_rows=True) == (kept, [])


def test_wrong_options():
    assert error_of(SourceOptions.from_parameters, "learn", bad_rows="ski") == (
        "'bad_rows' of learn must be one of 'refuse', 'repair', 'skip'; got 'ski'. Did you mean "
        "'skip'?"
    )
    assert error_of(SourceOptions.from_parameters, "learn", keep_empty_rows=1) == (
        "'keep_empty_rows' of learn must be a bool; got 1."
    )
    assert error_of(SourceOptions.from_parameters, "learn", value_labels=None) == (
        "'value_labels' of learn must be a bool; got None."
    )
    assert error_of(SourceOptions.from_parameters, "learn", rename=["a"]) == (
        "'rename' of learn must be a mapping of old to new names, or None; got ['a']."
    )
    assert error_of(SourceOptions.from_parameters, "learn", rename={"a": " "}) == (
        "'rename' of learn gives 'a' an empty name. Give a name."
    )
    assert error_of(SourceOptions.from_parameters, "learn", rename={"a": "c", "b": "c"}) == (
        "'rename' of learn gives two columns the name 'c'. Give different names."
    )


# -- names


def write_sources():
    """Write the same table as files of many kinds; return their names."""
    frame = pd.DataFrame(FRAME)
    frame.to_csv("t.csv", index=False)
    frame.to_json("t.jsonl", orient="records", lines=True)
    frame.to_parquet("t.parquet")
    frame.to_feather("t.feather")
    frame.to_excel("t.xlsx", index=False)
    with open("t.arff", "w") as file:
        rows = "".join(f"{a},{b}\n" for a, b in zip(*FRAME.values(), strict=True))
        file.write(f"@relation t\n@attribute a {{1,2}}\n@attribute b {{u,v,w}}\n@data\n{rows}")
    connection = sqlite3.connect("t.sqlite")
    frame.to_sql("t", connection, index=False)
    connection.close()
    suffixes = ("csv", "jsonl", "parquet", "feather", "xlsx", "arff", "sqlite")
    return [f"t.{suffix}" for suffix in suffixes]


def test_columns_of_every_source_are_renamed(write):
    arrays = np.array(list(FRAME.values())).T
    frames = [pd.DataFrame(FRAME), pl.DataFrame(FRAME), pa.table(FRAME)]
    for source in [*write_sources(), *frames]:
        assert load(source, rename={"a": "c"}) == ({"c": FRAME["a"], "b": FRAME["b"]}, [])
        swapped = {"b": FRAME["a"], "a": FRAME["b"]}
        assert load(source, rename={"a": "b", "b": "a"}) == (swapped, [])
        assert error_of(load, source, rename={"aa": "c"}) == (
            "'rename' names 'aa', which is not a column of the table. Did you mean 'a'?"
        )
        assert error_of(load, source, rename={"a": "b"}) == (
            "'rename' calls a column 'b', but the table has another column of this name. Give "
            "another name."
        )
    assert load(arrays, ["a", "b"], rename={"a": "c"})[0] == {"c": FRAME["a"], "b": FRAME["b"]}
    declared = load_table("t.arff", make_options(rename={"b": "c"}), None).columns[1].declared
    assert declared == ("u", "v", "w")


def make_options(**opening):
    """Return the options of a reader."""
    return ReadPlan.from_parameters(opening=SourceOptions.from_parameters(**opening))


def test_other_options_use_the_new_names(write):
    name = write("a ,a,,\n1,u,p,k\n2,v,p,l\n1,v,q,k\n")
    found, _ = read_data(
        name,
        return_info=True,
        rename={"a.1": "b", "column_4": "d"},
        drop=["d"],
        states={"b": ["u", "v", "w"]},
        types={"column_3": "categorical"},
    )
    assert found.names == ("a", "b", "column_3")
    assert found.variables[1].states == ("u", "v", "w")
    assert "'drop' names 'a.1', which is not a column" in error_of(
        read_data, name, rename={"a.1": "b"}, drop=["a.1"]
    )
    only, _ = read_data(name, rename={"a.1": "b"}, only=["b"], return_info=True)
    assert only.names == ("b",)


def test_a_new_name_undoes_the_decision_about_the_old_one(write):
    name = write(" a ,b,b,\n1,2,3,4\n2,3,4,5\n")
    assert load(name)[1] == ["names", "names", "unnamed"]
    new = {"a": " a ", "b.1": "b.1", "column_4": "d"}
    cells, kinds = load(name, rename=new)
    assert (list(cells), kinds) == ([" a ", "b", "b.1", "d"], [])
    assert load(name, rename={"a": "x"})[1] == ["names", "unnamed"]
    index = write(",a,b\n0,x,u\n1,y,u\n2,x,v\n")
    assert load(index)[1] == ["index"]
    assert list(load(index, rename={"column_1": "row"})[0]) == ["row", "a", "b"]
    frame = pd.DataFrame({"Unnamed: 0": [0, 1, 2], "y": list("aab"), "z": list("aba")})
    assert load(frame)[1] == ["index"]
    assert load(frame, rename={"Unnamed: 0": "row"})[1] == []


def test_the_undo_of_many_names(write):
    header = ",".join(f" c{i}" for i in range(7))
    _, info = read_data(write(f"{header}\n{'1,' * 6}1\n{'2,' * 6}2\n"), return_info=True)
    assert info.decisions[0].undo == (
        "rename={'c0': ' c0', 'c1': ' c1', 'c2': ' c2', 'c3': ' c3', 'c4': ' c4'}, or --rename "
        "'c0= c0' --rename 'c1= c1' --rename 'c2= c2' --rename 'c3= c3' --rename 'c4= c4'; other "
        "columns in the same way"
    )


def test_shards_have_the_new_names(write):
    write_sources()
    options = make_options(rename={"a": "c"})
    with read_shards("t.parquet", options) as shards:
        assert shards.names == ("b", "c")
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(pd.DataFrame(FRAME), npartitions=2)
    with read_shards(frame, options) as shards:
        assert shards.names == ("b", "c")
    found = coevo.learn(
        "t.parquet", method="hill_climb", read={"shards": ".", "rename": {"a": "c"}}
    )
    assert set(found.dag.nodes) == {"b", "c"}
    message = (
        "'bad_rows' of learn does not apply to the Parquet files and Dask data frames of 'shards' "
        "and 'cluster'. Leave it out."
    )
    assert error_of(coevo.learn, "t.parquet", read={"shards": ".", "bad_rows": "skip"}) == message


def test_imputed_copies_keep_the_old_names(write):
    c = ImputedColumn("c", ("1", "2"), np.array([1, 1, 0, 1]), np.arange(4) == 0)
    expected = {"a": ["2", "2", "1", "2"], "b": FRAME["b"]}
    opening = SourceOptions(rename={"a": "c"})
    for name in write_sources():
        write_imputed_file(name, "copy.csv", [c], opening)
        assert load("copy.csv")[0] == expected
    assert impute_frame(pl.DataFrame(FRAME), [c], opening=opening).to_dict(as_series=False) == (
        expected
    )
    frame = pd.DataFrame({"a": ["1", "2", None] * 30, "b": ["u", "v", "w"] * 30})
    rename = {"a": "c"}
    found = coevo.learn(
        frame, missing="em", random_state=0, read={"rename": rename}, budget={"max_generations": 2}
    )
    filled = found.imputation.imputed_table.fill_frame(frame, rename=rename)
    assert list(filled) == ["a", "b"]
    assert not filled["a"].isna().any()


# -- values of any type


def test_values_of_any_type_are_text():
    frame = pd.DataFrame(
        {
            "a": [[1, "x"], [1, "x"], {"q": 1, "p": [2.5]}, {"p": [2.5], "q": 1}],
            "b": [b"abc", b"abc", b"\xff\x00", bytearray(b"abc")],
            "c": [1 + 2j, 1 + 2j, None, 3j],
            "d": [{3, 1}, {1, 3}, {(1, 2): 3}, np.array([[1, 2], [3, 4]])],
            "e": [[datetime.date(2020, 1, 2)], [None], (), [b"z"]],
            "f": ["p", "q", "p", "q"],
        }
    )
    _, info = read_incomplete(
        frame[["a", "b", "c", "d", "f"]].assign(g=list("wxwx")), return_info=True
    )
    assert [decision.kind for decision in info.decisions] == ["unsupported"] * 4
    types = dict.fromkeys("abcde", "categorical")
    options = ReadPlan.from_parameters(types=types).allow_missing()
    table = load_table(frame, options, None)
    texts = [[one.labels[code] for code in one.codes.tolist()] for one in table.columns]
    assert texts[:5] == [
        ['[1, "x"]', '[1, "x"]', '{"p": [2.5], "q": 1}', '{"p": [2.5], "q": 1}'],
        ["abc", "abc", "ff00", "abc"],
        ["(1+2j)", "(1+2j)", None, "3j"],
        ["[1, 3]", "[1, 3]", "{(1, 2): 3}", "[[1, 2], [3, 4]]"],
        ['["2020-01-02"]', "[null]", "[]", '["z"]'],
    ]
    assert table.decisions == []


def test_lists_have_the_same_text_in_every_source(write):
    rows = {"x": [[1], [2], [1]], "y": ["a", "b", "a"]}
    pa.parquet.write_table(pa.table(rows), "t.parquet")
    with open("t.json", "w") as file:
        file.write('{"x": [1], "y": "a"}\n{"x": [2], "y": "b"}\n{"x": [1], "y": "a"}\n')
    sources = ["t.parquet", "t.json", pl.DataFrame(rows), pd.DataFrame(rows), pa.table(rows)]
    for source in sources:
        for declared in ({"types": {"x": "categorical"}}, {"states": {"x": ["[1]", "[2]"]}}):
            found = read_data(source, **declared, strict=True)
            assert found.source_variables[0].states == ("[1]", "[2]")
    array = np.array([(b"a", 1), (b"b", 2)], dtype=[("s", "S1"), ("n", int)])
    found = read_data(array, types={"s": "categorical"})
    assert found.source_variables[0].states == ("a", "b")


# -- dates and inspections


def test_the_order_of_a_date_keeps_its_type():
    days = [f"{1 + i % 12:02}/{1 + i * 7 % 12:02}/{2020 + i // 30}" for i in range(60)]
    frame = pd.DataFrame({"d": days, "x": ["u", "v", "w"] * 20})
    for given, undo in (("year+month", "year+month+dmy"), ("date", "date+dmy"), (None, "dmy")):
        types = {} if given is None else {"d": given}
        _, info = read_data(frame, types=types, discretise="mdl", return_info=True)
        assert info.decisions[0].undo == f"types={{'d': {undo!r}}}, or --type d={undo}"
        _, other = read_data(frame, types={"d": undo}, discretise="mdl", return_info=True)
        if given is not None:
            assert other.decisions == ()
        kept = [[column.name for column in one.columns] for one in (info, other)]
        assert kept[0] == kept[1]
    assert "must be one of" in error_of(read_data, frame, types={"d": "categorical+dmy"})


def test_a_strict_inspection(write):
    name = write("a,b\n" + "1,u\n2,v\n1,v\n" * 9)
    assert inspect_table(name, strict=True).decisions == ()
    assert error_of(inspect_table, write("# x\na,b\n" + "1,u\n2,v\n" * 9), strict=True) == (
        "The table cannot be read strictly, because coevo would decide: 1 comment line was skipped "
        "(line 1). Correct the table, or leave out strict=True (--strict)."
    )
