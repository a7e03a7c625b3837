"""Every error message of the readers: the problem, its position and the way out."""

from __future__ import annotations

import gzip
import pickle
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from coevo.data import read_data
from coevo.data.read import csv_reader as csv_reader_module
from coevo.errors import CoevoWarning, DataError, DependencyError, FileError, ParameterError

WAY_OUT = ", or learn with missing='evolve' (--missing evolve of coevo learn and strength)."


def read_error(source, kind=(DataError, FileError), **parameters):
    """Return the message of the error that a source raises."""
    with pytest.raises(kind) as caught:
        read_data(source, **parameters)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return str(caught.value)


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a function that writes ``t.csv`` in the current folder and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(content, name="t.csv"):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    return write


# -- cells


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "nan", "null", "NULL", "?", " ? ", "  "])
def test_missing_values_in_text(file, cell):
    text = cell.strip()
    hint = f" If {cell!r} is a value, keep it (keep_labels={{'age': [{text!r}]}}, or --keep-label "
    hint += f"{shlex.quote(f'age={text}')})."
    assert read_error(file(f"age,sex\n1,f\n2,m\n{cell},f\n1,m\n{cell},m\n")) == (
        "Column 'age' has 2 missing values, the first in row 3. Drop or impute them"
        + WAY_OUT
        + (hint if cell.strip() else "")
    )


def test_one_missing_value(file):
    assert read_error(file("age,sex\n1,f\n,m\n")) == (
        "Column 'age' has 1 missing value, in row 2. Drop or impute it" + WAY_OUT
    )


def test_missing_values_in_two_columns(file):
    assert read_error(file("a,b,c\n1,f,\n2,,x\n3,m,\n")) == (
        "Column 'b' has 1 missing value, in row 2. 1 other column has missing values too: "
        "'c' (2); 3 in all. Drop or impute them" + WAY_OUT
    )


def test_missing_values_in_many_columns():
    frame = pd.DataFrame({f"c{i}": [None] * (i + 1) + ["x"] * (9 - i) for i in range(8)})
    assert read_error(frame) == (
        "Column 'c0' has 1 missing value, in row 1. 7 other columns have missing values too: "
        "'c1' (2), 'c2' (3), 'c3' (4), 'c4' (5), 'c5' (6) and 2 more; 36 in all. "
        "Drop or impute them" + WAY_OUT
    )


MISSING = "Column 'x' has 2 missing values, the first in row 2. Drop or impute them" + WAY_OUT
ROWS = {"y": ["a", "b", "a", "b"]}


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", None, "b", np.nan]),
        pd.Series(["a", None, "b", np.nan], dtype=object),
        pd.Series([1, None, 2, None]),
        pd.Series([1, None, 2, None], dtype="Int64"),
        pd.Series([True, None, False, pd.NA], dtype="boolean"),
        pd.Series([True, None, False, pd.NA], dtype=object),
        pd.Series(["a", None, "b", ""]),
        pd.Categorical(["a", None, "b", None]),
        pd.to_datetime(["2020-01-01", None, "2020-01-01", None]),
    ],
)
def test_nulls_of_pandas(values):
    assert read_error(pd.DataFrame({"x": values, **ROWS})) == MISSING


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(["a", None, "b", None]),
        pl.Series(["a", None, "b", None], dtype=pl.Categorical),
        pl.Series(["a", None, "b", None], dtype=pl.Enum(["a", "b"])),
        pl.Series([1, None, 2, None]),
        pl.Series([True, None, False, None]),
        pl.Series([0.5, None, 0.5, None]),
        pl.Series([0.5, float("nan"), 0.5, float("nan")]),
    ],
)
def test_nulls_of_polars_and_arrow(values):
    frame = pl.DataFrame({"x": values, **ROWS})
    assert read_error(frame) == MISSING
    assert read_error(frame.to_arrow()) == MISSING


def test_nulls_in_arrays():
    x = np.array([[0.5, 1], [np.nan, 0], [0.5, 1], [np.nan, 0]])
    assert read_error(x, names=["x", "y"]) == MISSING
    assert read_error(x, names=["x", "y"], states={"x": [0.5], "y": [0.0, 1.0]}) == MISSING
    assert read_error(np.where(np.isnan(x), None, "a"), names=["x", "y"]) == MISSING


def test_a_column_of_nulls():
    assert read_error(pa.table({"x": pa.nulls(2), "y": ["a", "b"]})) == (
        "A network needs at least two columns, and one column is left, 'y'. 'x' has no value in "
        "any row; it is left out. Keep a column with types= (--type COLUMN=categorical)."
    )
    table = pa.table({"x": pa.nulls(2), "y": ["a", "b"]})
    assert read_error(table, states={"x": ["a"]}) == (
        "Column 'x' has 2 missing values, the first in row 1. Drop or impute them" + WAY_OUT
    )


DECIMAL = (
    "Column 'age' holds decimal numbers, the first is 0.37 in row 1. "
    "Discretise it with discretise= (coevo learn does), or declare its states with states= "
    "(--states)."
)


def test_decimal_numbers(file):
    assert read_error(file("age,sex\n0.37,f\n1,m\n")) == DECIMAL
    table = {"age": [0.37, 1.0], "sex": ["f", "m"]}
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        assert read_error(frame) == DECIMAL
    assert read_error(pd.DataFrame(table).astype(object)) == DECIMAL
    assert read_error(np.array([[0.37, 1.0], [1.0, 2.0]]), names=["age", "sex"]) == DECIMAL
    assert read_error(np.array([[0.37], [1.0]], dtype=np.float32), names=["age"]).startswith("The")


@pytest.mark.parametrize("cell", ["1.0", "2e3", ".5", "-1.", "+0.1"])
def test_the_first_decimal_number_is_shown(file, cell):
    assert read_error(file(f"age,sex\n1,f\n-2,m\n{cell},f\n7.5,f\n")) == (
        f"Column 'age' holds decimal numbers, the first is {cell} in row 3. "
        "Discretise it with discretise= (coevo learn does), or declare its states with states= "
        "(--states)."
    )


def test_numbers_beside_text_are_text(file):
    found = read_data(file("x,y\n0.5,1\n1.5,+2\nhigh,-3\n"))
    assert found.source_variables[0].states == ("0.5", "1.5", "high")


def test_floats_with_integer_values():
    assert read_error(pl.DataFrame({"x": [1.0, 2.0], "y": [0, 1]})) == (
        "Column 'x' holds decimal numbers, the first is 1.0 in row 1. "
        "Discretise it with discretise= (coevo learn does), or declare its states with states= "
        "(--states)."
    )


STRICT = "The table cannot be read strictly, because coevo would decide: "
NOT_STRICT = " Correct the table, or leave out strict=True (--strict)."
IDENTIFIER = (
    "'my id' has a different value in each of its 21 rows, like an identifier; it is left out."
)


def test_identifiers(file):
    rows = [(f"p{i}", i % 2) for i in range(21)]
    frame = pd.DataFrame(rows, columns=["my id", "y"])
    for source in (file("my id,y\n" + "".join(f"{x},{y}\n" for x, y in rows)), frame):
        assert read_error(source) == (
            f"A network needs at least two columns, and one column is left, 'y'. {IDENTIFIER} "
            "Keep a column with types= (--type COLUMN=categorical)."
        )
        assert read_error(source, strict=True).startswith("A network needs at least two columns")
    more = frame.assign(z=["a", "b", "c"] * 7)
    assert read_error(more, strict=True) == STRICT + IDENTIFIER + NOT_STRICT
    with pytest.warns(CoevoWarning) as caught:
        assert read_data(more).names == ("y", "z")
    assert [str(w.message) for w in caught] == [
        IDENTIFIER + " Undo: types={'my id': 'categorical'}, or --type 'my id=categorical'."
    ]
    assert caught[0].filename == __file__
    assert read_data(frame.iloc[:20]).n_rows == 20
    assert read_data(frame, states={"my id": frame["my id"]}).arities.tolist() == [21, 2]
    assert read_data(frame, types={"my id": "categorical"}).arities.tolist() == [21, 2]
    assert read_data(frame.astype({"my id": "category"})).arities.tolist() == [21, 2]


def test_an_identifier_of_many_rows(file, monkeypatch):
    rows = "".join(f"{i},{i % 2},{i % 3}\n" for i in range(70_000))
    assert read_error(file("id,y,z\n" + rows), strict=True) == (
        f"{STRICT}'id' holds each whole number from 0 to 69999 once, like an identifier; it is "
        f"left out.{NOT_STRICT}"
    )
    keys = "".join(f"k{i},{i % 2},{i % 3}\n" for i in range(70_000))
    too_many = "'id' has more than 65,535 different values; it is left out."
    assert read_error(file("id,y,z\n" + keys), strict=True) == STRICT + too_many + NOT_STRICT
    assert read_error(file("id,y,z\n" + keys), types={"id": "categorical"}) == (
        "Column 'id' has a different value in each of its first 65,535 rows, so it looks like "
        "an identifier. Leave it out (drop=['id'], or --drop id), or declare its states with "
        "states= (--states)."
    )


def test_too_many_states(file):
    message = (
        "Column 'x' has more than 65,535 states, the maximum of coevo. Group its values, "
        "or leave it out (drop=['x'], or --drop x)."
    )
    values = ["s0", "s0", *(f"s{i}" for i in range(65_536))]
    rows = "".join(f"{x},{i % 2}\n" for i, x in enumerate(values))
    assert read_error(file("x,y\n" + rows), types={"x": "categorical"}) == message
    n = len(values)
    frame = pl.DataFrame(
        {
            "x": values * 2,
            "y": [i % 2 for i in range(2 * n)],
            "z": [0, 1, 1] * (2 * n // 3) + [0] * (2 * n % 3),
        }
    )
    assert read_error(frame, strict=True, duplicates="keep") == (
        f"{STRICT}'x' has more than 65,535 different values; it is left out.{NOT_STRICT}"
    )


def test_too_many_decimal_or_undeclared_values(file):
    name = file("x,y\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(65_600)))
    assert read_error(name) == (
        "Column 'x' holds decimal numbers, the first is 0.5 in row 1. "
        "Discretise it with discretise= (coevo learn does), or declare its states with states= "
        "(--states)."
    )
    assert read_error(name, states={"x": ["0.5"]}) == (
        "Column 'x' holds '1.5', first in row 2, which is not one of its declared states '0.5'. "
        "Correct the value, or add it to states= (--states)."
    )


def test_values_that_are_not_declared(file):
    message = (
        "Column 'x' holds 'd', first in row 2, which is not one of its declared states 'a', "
        "'b', 's1', 's2', 's3' and 2 more. Correct the value, or add it to states= (--states)."
    )
    states = {"x": ["a", "b", "s1", "s2", "s3", "s4", "s5"]}
    assert read_error(file("x,y\na,0\nd,1\nc,0\n"), states=states) == message
    assert read_error(pd.DataFrame({"x": list("adc"), "y": [0, 1, 0]}), states=states) == message


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pl.Series([[1], [2]]), "List"),
        (pl.Series([{"a": 1}] * 2), "Struct"),
        (pl.Series([b"x", b"y"]), "Binary"),
    ],
)
def test_types_without_states(column, kind):
    found = read_error(pl.DataFrame({"x": column, "y": ["a", "b"]}))
    found_type = found.removeprefix("Column 'x' has the type ").split(", which")[0]
    assert found_type.split("(")[0] == kind
    assert found == (
        f"Column 'x' has the type {found_type}, which coevo does not read. Convert it to text or "
        "categories first, or leave it out (drop=['x'], or --drop x)."
    )


def test_objects_and_arrays_without_states():
    way_out = (
        ", which coevo does not read. Convert it to text or categories first, or leave it out "
        "(drop=['x'], or --drop x)."
    )
    objects = pd.DataFrame({"x": [("a",), {"b"}], "y": [0, 1]})
    assert read_error(objects) == f"Column 'x' has the type tuple{way_out}"
    assert read_error(np.array([[b"a", b"b"]]), names=["x", "y"]) == (
        f"Column 'x' has the type |S1{way_out}"
    )


def test_constant_columns_are_left_out(file):
    name = file("x,y,z,v\na,b,c,1\na,c,c,2\n")
    with pytest.warns(CoevoWarning) as caught:
        assert read_data(name, states={"z": ["c", "unseen"]}).names == ("v", "y", "z")
    assert [str(w.message) for w in caught] == [
        "Column 'z' is 'c' in every row, so it gives no information about the other columns.",
        "'x' is 'a' in every row; it is left out. Undo: types={'x': 'categorical'}, or --type "
        "x=categorical.",
    ]
    assert {w.filename for w in caught} == {__file__}


# -- shape and names


def test_no_rows(file):
    message = "The table has no rows. Give at least one observation."
    assert read_error(file("a,b\n")) == message
    assert read_error(file("a,b")) == message
    for table in (pd.DataFrame, pl.DataFrame, pa.table):
        assert read_error(table({"a": [], "b": []})) == message
        assert read_error(table({"a": ["x"], "b": ["y"]})[:0]) == message
    assert read_error(np.zeros((0, 2), dtype=int), names=["a", "b"]) == message


def test_no_columns(file):
    for content in ("", "\n\r\n\n", b"\xef\xbb\xbf", gzip.compress(b"")):
        assert read_error(file(content)) == (
            "'t.csv' is empty. It needs a header and rows below it."
        )
    message = "The table has no columns. A network needs at least two."
    assert read_error(pd.DataFrame()) == message
    assert read_error(pl.DataFrame()) == message
    assert read_error(np.zeros((3, 0), dtype=int), names=[]) == message


def test_one_column(file):
    assert read_error(file("a b\n1\n2\n")) == (
        "The table has one column, 'a b'. A network needs at least two. "
        "Fields are separated by a comma, a semicolon, a tab, '|' or spaces."
    )
    assert read_error(pl.DataFrame({"a": [1]})) == (
        "The table has one column, 'a'. A network needs at least two."
    )
    assert read_error(file("a,b\n1,2\n"), drop=["b"]) == (
        "The table has one column left after dropping, 'a'. A network needs at least two."
    )
    assert read_error(file("a,b\n1,2\n"), drop=("b", "a")) == (
        "The table has no column left after dropping. A network needs at least two."
    )


def test_names(file):
    twice = "Two columns are called 'a'. Rename one of them."
    assert read_error(pd.DataFrame([[1, 2]], columns=["a", "a"])) == twice
    assert read_error(pa.table([[1], [2]], names=["a", "a"])) == twice
    assert read_error(np.zeros((2, 2), dtype=int), names=["a", "a"]) == twice
    nameless = "Column 2 has no name. Give it one, or leave it out (drop=[''], or --drop '')."
    assert read_error(pl.DataFrame({"a": [1], "": [2], "b": [3]})) == nameless


def test_unknown_names(file):
    name = file("age,sex\n1,f\n2,m\n")
    assert read_error(name, drop=["agee"]) == (
        "'drop' names 'agee', which is not a column of the table. Did you mean 'age'?"
    )
    assert read_error(name, states={"sx": ["f"]}) == (
        "'states' names 'sx', which is not a column of the table. Did you mean 'sex'?"
    )


# -- the file


def test_ragged_lines(file):
    way_out = (
        " Correct the line, or put quotes around text that holds the delimiter ','. Or leave such "
        "lines out with bad_rows='skip' (--bad-rows skip)."
    )
    assert read_error(file('a,b,c\n1,"x\ny",3\n\n1,2,3,4\n')) == (
        "Line 5 of 't.csv' has 4 fields; its header has 3." + way_out
    )
    assert read_error(file("a b c\r1 2 3\r1 2 3 4\r1 2 3\r"), delimiter=" ") == (
        "Line 3 of 't.csv' has 4 fields; its header has 3." + way_out.replace(",'.", " '.", 1)
    )


def test_unclosed_quotes(file, monkeypatch):
    message = (
        "A quote that opens in line 3 of 't.csv' is never closed. "
        "Close it, or put the text in quotes and double the quotes inside."
    )
    assert read_error(file('a,b\n1,2\n"3,4\n5,6\n')) == message
    assert read_error(file('a,b\n"1\nx","2\n')) == message
    monkeypatch.setattr(csv_reader_module, "MAX_RECORD_BYTES", 1 << 20)
    long = 'a,b\n1,2\n"3,4\n' + "5,6\n" * 3_000_000
    assert read_error(file(long)) == message


def test_unclosed_quotes_in_the_header(file):
    assert read_error(file('a,"b\n1,2\n')) == (
        "A quote that opens in line 1 of 't.csv' is never closed. "
        "Close it, or put the text in quotes and double the quotes inside."
    )
    assert read_error(file('a,"b\n' + "1,2\n" * 300_000)) == (
        "The header of 't.csv' does not end within 1,048,576 bytes. "
        "Look for a quote that is not closed."
    )


def test_wrong_encoding(file):
    way_out = " Give the encoding of the file, for example encoding='latin-1' (--encoding latin-1)."
    name = file("city,n\nBern,1\nZürich,2\nZürich,3\n".encode("latin-1"))
    assert read_error(name, encoding="utf-8") == (
        "Column 'city' in row 2 of 't.csv' is not UTF-8 text: b'Z\\xfcrich'." + way_out
    )
    name = file("größe,n\n1,1\n".encode("latin-1"))
    assert read_error(name, encoding="utf-8") == (
        "A name in the header of 't.csv' is not UTF-8 text: b'gr\\xf6\\xdfe'." + way_out
    )
    assert read_error(file(b"\xff\xfea\0,\0b\0\n\0\0\xd8")) == (
        "'t.csv' is not UTF-16 text. Give its encoding with encoding= (--encoding)."
    )


def test_files_that_are_not_text(file):
    zeros = "'t.csv' holds zero bytes, so it is not a table in text form. Save it as CSV in UTF-8."
    assert read_error(file("a,b\n1,2\n\0")) == zeros
    assert read_error(file("a,b\n" + "1,2\n" * 400_000 + "\0")) == zeros
    assert read_error(file(b"PK\x03\x04rest", "t.xlsx")) == (
        "'t.xlsx' is a zip archive or a spreadsheet, but damaged. Copy or download it again."
    )


def test_damaged_compression(file):
    packed = gzip.compress(b"a,b\n" + bytes(np.random.default_rng(0).integers(97, 120, 9999)))
    assert read_error(file(packed[:2000], "t.csv.gz")) == (
        "'t.csv.gz' ends in the middle of its compressed data. Copy or download it again."
    )
    broken = bytearray(packed)
    broken[1000:1100] = bytes(100)
    assert read_error(file(bytes(broken), "t.csv.gz")) == (
        "'t.csv.gz' has damaged compressed data. Copy or download it again."
    )
    assert read_error(file(packed[:5], "t.csv.gz")) == (
        "'t.csv.gz' ends in the middle of its compressed data. Copy or download it again."
    )


def test_files_that_do_not_exist(file, tmp_path):
    file("", "alarm.csv")
    assert read_error("alarn.csv") == "There is no file 'alarn.csv'. Did you mean 'alarm.csv'?"
    assert read_error("no/alarm.csv") == "There is no file 'no/alarm.csv'."
    assert read_error("a\0b") == "There is no file 'a\\x00b'."
    assert read_error(tmp_path) == f"{str(tmp_path)!r} is a folder. Name a file in it."
    (tmp_path / "part.parquet").touch()
    assert read_error(tmp_path) == (
        f"{str(tmp_path)!r} is a folder of Parquet files. Learn from it in chunks with shards= "
        "(--shards DIR) or cluster= (--cluster), or give one of its files."
    )
    long = "x" * 300
    assert read_error(long) == f"'{long}' cannot be read: File name too long."


def test_damaged_parquet(file):
    for content in (b"PAR1 and nothing more", b"a,b\n1,2\n", b""):
        message = read_error(file(content, "t.parquet"))
        assert message.startswith("'t.parquet' is not a Parquet file, or is damaged (")
        assert message.endswith("). Write it again.")
    assert read_error(file(b"PAR1 and nothing more")).startswith("'t.csv' is not a Parquet file")


@pytest.mark.parametrize(("name", "n_rows"), [("e6fa4de7195d", 14), ("e236e3b3d3c4", 0)])
def test_a_column_of_parquet_that_is_too_short(file, name, n_rows):
    """PyArrow reads a column by itself as far as a damaged file has it."""
    content = (Path(__file__).parents[1] / "corpus/table-parquet" / name).read_bytes()
    reason = f"column 'c' has {n_rows} of 24 rows"
    assert read_error(file(content, "t.parquet")) == (
        f"'t.parquet' is not a Parquet file, or is damaged ({reason}). Write it again."
    )


def test_parquet_without_pyarrow(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert read_error(file(b"PAR1", "t.parquet"), DependencyError) == (
        "PyArrow is not installed. Install it with: pip install 'coevo[parquet]'"
    )


# -- the call

ACCEPTED = (
    "'source' of read_data must be the path of a table (CSV, Excel, Parquet, JSON and others), "
    "'-' for the standard input, a pandas or polars data frame, a PyArrow table, a 2-D NumPy array "
    "or a Dataset; got a "
)


@pytest.mark.parametrize(
    ("source", "rest"),
    [
        ([[1, 2]], "list. Convert it to a data frame first."),
        ({"a": [1]}, "dict. Convert it to a data frame first."),
        (None, "NoneType."),
        (3, "int."),
        (pl.LazyFrame({"a": [1]}), "polars.LazyFrame. Call .collect() on it first."),
        (
            scipy.sparse.csr_array([[1, 2]]),
            "scipy.csr_array. Sparse tables are not supported. Call .toarray() on it first.",
        ),
        (pl.Series([1]), "polars.Series. A network needs at least two columns."),
        (pd.Series([1]), "pandas.Series. A network needs at least two columns."),
    ],
)
def test_sources_that_are_not_tables(source, rest):
    assert read_error(source, ParameterError) == ACCEPTED + rest


def test_parameters():
    frame = pl.DataFrame({"a": [0, 1], "b": [0, 1]})
    array = np.zeros((2, 3), dtype=int)

    def sentence(source, **parameters):
        return read_error(source, ParameterError, **parameters)

    assert sentence(array) == (
        "'names' of read_data must be given for a NumPy array: one name for each of its 3 columns."
    )
    assert sentence(array, names=["a", "b"]) == (
        "'names' of read_data must have one name for each of the 3 columns; got 2."
    )
    assert sentence(array, names="abc") == (
        "'names' of read_data must be a list of column names; got 'abc'."
    )
    assert sentence(frame, names=["a", "b"]) == (
        "'names' of read_data is for NumPy arrays only; this table has column names already."
    )
    assert sentence(frame, drop="a") == (
        "'drop' of read_data must be a list of column names; got 'a'."
    )
    assert sentence(frame, states=[1]) == (
        "'states' of read_data must be a mapping of column to its states, or variables; got [1]."
    )
    assert sentence(frame, states={"a": "01"}) == (
        "'states' of read_data must be a list of states for column 'a'; got '01'."
    )
    assert sentence(frame, only="ab") == (
        "'only' of read_data must be a list of column names or None; got 'ab'."
    )
    assert sentence(read_data(frame), drop=["a"]) == (
        "'states', 'drop', 'names', 'types', 'discretise', 'bins', 'only', 'missing_labels', "
        "'keep_labels', 'merge' and the options of files of read_data do not apply to a Dataset. "
        "Use them when you read the table that it comes from."
    )
    assert read_error(array[0], names=["a"]) == (
        "The array has the shape (3,). Give one with two dimensions, rows and columns."
    )
    assert read_error(frame, states={"a": [0, 0]}) == (
        "Variable 'a' declares the state '0' twice. Remove one of them."
    )
    assert read_error(frame, states={"a": []}) == (
        "Variable 'a' has no states. Declare at least one."
    )
