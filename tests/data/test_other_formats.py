"""Tables in other formats: all give the same Dataset, and every error is one sentence."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import gzip
import io
import json
import sqlite3
import sys
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

from coevo.data import read_data
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import SourceOptions
from coevo.data.write_imputed import ImputedColumn, write_imputed_file
from coevo.errors import CoevoError, DataError, DependencyError, ParameterError

N = 60
DAYS = [datetime.date(2024, 3, 1 + i % 5) for i in range(N)]
TABLE = pd.DataFrame(
    {
        "sex": ["f", "m", "m"] * 20,
        "ward": [i % 4 for i in range(N)],
        "crp": [i % 7 / 2 + 0.25 for i in range(N)],
        "day": pd.to_datetime([day.isoformat() for day in DAYS]),
    }
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def load(source, **opening):
    """Return the cells by column, and the decisions as text."""
    options = ReadPlan.from_parameters(
        discretise="mdl", opening=SourceOptions.from_parameters(**opening)
    )
    table = load_table(source, options, None)
    cells = {c.name: [c.labels[code] for code in c.codes.tolist()] for c in table.columns}
    return cells, [str(decision) for decision in table.decisions]


def error_of(source, kind=DataError, **opening):
    with pytest.raises(kind) as caught:
        load(source, **opening)
    return str(caught.value)


def write_sheet(path, *sheets):
    """Write sheets, each a name and rows of cells."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def write_sqlite(path, frame, *tables):
    text = frame.astype({"day": str}).assign(day=[day.isoformat() for day in DAYS])
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for table in tables:
            text.to_sql(table, connection, index=False)


def write_json(path, records):
    records = TABLE.assign(day=[day.isoformat() for day in DAYS]).to_dict("records")
    path_text = [json.dumps(record) for record in records]
    with open(path, "w") as file:
        file.write("\n".join(path_text) if path.endswith("l") else f"[{','.join(path_text)}]")


WRITERS = {
    "t.csv": lambda name: TABLE.to_csv(name, index=False),
    "t.tsv": lambda name: TABLE.to_csv(name, index=False, sep="\t", encoding="utf-16"),
    "index.csv": lambda name: TABLE.to_csv(name),
    "t.csv.xz": lambda name: TABLE.to_csv(name, index=False),
    "t.csv.zip": lambda name: TABLE.to_csv(name, index=False),
    "t.xlsx": lambda name: TABLE.to_excel(name, index=False),
    "index.xlsx": lambda name: TABLE.to_excel(name, startrow=2, startcol=1),
    "t.parquet": lambda name: TABLE.to_parquet(name),
    "t.feather": lambda name: TABLE.to_feather(name),
    "t.jsonl": lambda name: write_json(name, TABLE),
    "t.json": lambda name: write_json(name, TABLE),
    "t.dta": lambda name: pyreadstat.write_dta(TABLE, name),
    "t.sav": lambda name: pyreadstat.write_sav(TABLE, name),
    "t.zsav": lambda name: pyreadstat.write_sav(TABLE, name, compress=True),
    "t.xpt": lambda name: pyreadstat.write_xport(TABLE, name),
    "t.sqlite": lambda name: write_sqlite(name, TABLE, "rows"),
}


@pytest.mark.filterwarnings("ignore:The first column has no name")
@pytest.mark.parametrize("name", sorted(WRITERS))
def test_all_formats_give_the_same_dataset(name):
    WRITERS[name](name)
    options = {"discretise": "quantile", "types": {"day": "categorical"}}
    assert read_data(name, **options).content_hash == read_data(TABLE, **options).content_hash


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_formats_are_found_by_content_and_in_streams(name, monkeypatch):
    WRITERS[name](name)
    with open(name, "rb") as file:
        content = file.read()
    expected, _ = load(name)
    for other in ("no_suffix", "wrong.txt"):
        with open(other, "wb") as file:
            file.write(content)
        assert load(other)[0] == expected
    if not name.endswith((".xz", ".zip")):
        with gzip.open("packed.gz", "wb") as file:
            file.write(content)
        assert load("packed.gz")[0] == expected

    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(content))

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert load("-")[0] == expected


# -- spreadsheets


def test_sheets():
    rows = [["a", "b"], [1, "x"], [2, "y"]]
    write_sheet("t.xlsx", ("about", [["A title"]]), ("data", rows), ("other", rows[::-1]))
    cells = {"a": ["1", "2"], "b": ["x", "y"]}
    assert load("t.xlsx") == (
        cells,
        [
            "The sheet 'data' was read; the file also has 'about', 'other'. Undo: sheet='about', "
            "or --sheet about."
        ],
    )
    assert load("t.xlsx", sheet="data") == load("t.xlsx", sheet=2) == (cells, [])
    assert error_of("t.xlsx", sheet="dat") == (
        "'t.xlsx' has no sheet 'dat'; it has 'about', 'data', 'other'. Did you mean 'data'?"
    )
    assert error_of("t.xlsx", sheet=4) == "'t.xlsx' has 3 sheets; got 4."


def test_titles_and_types_of_cells():
    noon, date = datetime.datetime(2024, 3, 1, 12, 30), datetime.datetime(2024, 3, 1)
    rows = [
        ["Report of 2024"],
        [],
        [None, "n", "x", "flag", "when", "day", None],
        [None, 3.0, 0.5, True, noon, date, "p"],
        [None, 4.0, 2.0, False, date, date, "p"],
        [],
        [None, None, "n/a", None, None, None, "q"],
    ]
    write_sheet("t.xlsx", ("data", rows))
    assert load("t.xlsx") == (
        {
            "n": ["3", "4", None],
            "x": ["0.5", "2", "n/a"],
            "flag": ["True", "False", None],
            "when": ["2024-03-01T12:30:00", "2024-03-01T00:00:00", None],
            "day": ["2024-03-01", "2024-03-01", None],
            "column_7": ["p", "p", "q"],
        },
        [
            "1 row above the table was skipped ('Report of 2024'). Undo: skiprows=0, or "
            "--skiprows 0.",
            "1 row without any value was left out. Undo: keep_empty_rows=True, or "
            "--keep-empty-rows.",
            "1 column has neither a name nor a value; it was left out: 'column_1'. Undo: "
            "strict=True, or --strict.",
            "1 column has no name; it is called 'column_7'. Undo: rename={'column_7': "
            "'NEW_NAME'}, or --rename column_7=NEW_NAME.",
        ],
    )


def test_a_sheet_without_a_header_and_an_empty_one():
    write_sheet("t.xlsx", ("data", [[5, 2], [7, 3]]))
    cells, decisions = load("t.xlsx")
    assert cells == {"column_1": ["5", "7"], "column_2": ["2", "3"]}
    assert decisions == [
        "The first row holds values, not names; the columns are called column_1, column_2 and so "
        "on. Undo: header=True, or --header."
    ]
    assert load("t.xlsx", header=True)[0] == {"5": ["7"], "2": ["3"]}
    write_sheet("e.xlsx", ("data", []))
    assert error_of("e.xlsx") == "'e.xlsx' is empty. It needs a header and rows below it."


def test_a_text_table_with_the_name_of_a_spreadsheet():
    with open("t.xls", "w") as file:
        file.write("a,b\n1,x\n2,y\n")
    assert load("t.xls")[1] == [
        "The name ends in .xls, but the file is not a spreadsheet; it was read as text. Undo: "
        "strict=True, or --strict."
    ]


ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content
    xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
    xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
  <office:body><office:spreadsheet><table:table table:name="data">{rows}</table:table>
  </office:spreadsheet></office:body>
</office:document-content>"""


def test_ods():
    def make_cell(value):
        if isinstance(value, str):
            attributes = 'office:value-type="string"'
        else:
            attributes = f'office:value-type="float" office:value="{value}"'
        return f"<table:table-cell {attributes}><text:p>{value}</text:p></table:table-cell>"

    rows = "".join(
        f"<table:table-row>{''.join(map(make_cell, row))}</table:table-row>"
        for row in (["a", "b"], [1, "x"], [2.5, "y"])
    )
    with zipfile.ZipFile("t.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", ODS.format(rows=rows))
    assert load("t.ods") == ({"a": ["1.0", "2.5"], "b": ["x", "y"]}, [])


def test_errors_of_formulas_and_merged_cells():
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Group", None, "Other", None], ["a", "b", "c", "d"], [1, "x", 1, "p"]):
        sheet.append(row)
    sheet.append([2, "#N/A", 2, "q"])
    sheet.merge_cells("A1:B1")
    sheet.merge_cells("C1:D1")
    book.save("t.xlsx")
    cells, decisions = load("t.xlsx")
    assert cells == {"a": ["1", "2"], "b": ["x", None], "c": ["1", "2"], "d": ["p", "q"]}
    assert decisions == [
        "1 row above the table was skipped ('Group'). Undo: skiprows=0, or --skiprows 0."
    ]


# -- JSON


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": "x"}\n\n{"b": "y"}\n',
        '[{"a": 1, "b": "x"}, {"b": "y"}]',
        '{"a": [1, null], "b": ["x", "y"]}',
        '{"a": {"0": 1, "1": null}, "b": {"0": "x", "1": "y"}}',
        '[["a", "b"], [1, "x"], [null, "y"]]',
        '{"status": "ok", "rows": [{"a": 1, "b": "x"}, {"b": "y"}]}',
        '\ufeff[{"a": 1.0, "b": "x"}, {"a": null, "b": "y"}]',
    ],
)
@pytest.mark.parametrize("name", ["t.json", "t"])
def test_shapes_of_json(text, name):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    assert load(name) == ({"a": ["1", None], "b": ["x", "y"]}, [])


def test_nested_values_and_errors_of_json():
    def write(text):
        with open("t.json", "w") as file:
            file.write(text)
        return "t.json"

    cells, decisions = load(write('{"a": 1, "b": "x", "c": [1]}\n{"a": 1, "b": "x", "c": {}}'))
    assert cells == {"a": ["1", "1"], "b": ["x", "x"]}
    assert decisions == [
        "Column 'c' has the type list, which cannot be states; it was left out. Undo: types={'c': "
        "'categorical'}, or --type c=categorical."
    ]
    assert error_of(write('{"a": 1}\n{"a": ')) == (
        "Line 2 of 't.json' is not JSON: Expecting value. Correct the line, or write the file "
        "again."
    )
    for text in ("[]", "3", '"a"', "[1, 2]", '{"a": [1], "b": [1, 2]}', '[["a"], [1, 2]]', ""):
        assert error_of(write(text)) == (
            "'t.json' is not a table in JSON. It needs one object with the values of a row on each "
            "line, or a list of such objects."
        )


# -- databases


def test_sqlite_files():
    write_sqlite("one.db", TABLE, "rows")
    write_sqlite("two.db", TABLE, "rows", "copy")
    expected, _ = load("one.db")
    assert load("two.db", sheet="copy") == load("one.db", sheet="rows") == (expected, [])
    assert error_of("two.db") == (
        "'two.db' has 2 tables: 'copy', 'rows'. Give one of them with sheet=NAME (--table NAME), "
        "or a query with query= (--query)."
    )
    assert error_of("two.db", sheet="row") == (
        "'two.db' has no table 'row'; it has 'copy', 'rows'. Did you mean 'rows'?"
    )
    assert load("two.db", query="SELECT sex, ward FROM copy")[0] == {
        name: expected[name] for name in ("sex", "ward")
    }
    with contextlib.closing(sqlite3.connect("none.db")) as connection:
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    assert error_of("none.db") == "'none.db' has no tables."


def test_queries():
    query = "SELECT sex, ward FROM rows WHERE ward > 1"
    write_sqlite("one.db", TABLE, "rows")
    with contextlib.closing(sqlite3.connect("one.db")) as connection:
        found = load(query, connection=connection)
        assert found[0]["ward"] == [str(ward) for ward in TABLE["ward"] if ward > 1]
        assert error_of("SELECT x FROM rows", connection=connection) == (
            "The query failed: no such column: x. Correct the query."
        )
        assert error_of("CREATE TABLE t (a)", connection=connection) == (
            "The query returns no table. Give a SELECT query."
        )
        assert error_of(3, ParameterError, connection=connection) == (
            "'source' of read_data must be an SQL query, because 'connection' is given; got a int."
        )
    assert load(query, connection="one.db") == found
    assert error_of("DELETE FROM rows", connection="one.db") == (
        "The query failed: attempt to write a readonly database. Correct the query."
    )
    TABLE.to_csv("t.csv")
    assert error_of(query, connection="t.csv") == (
        "'t.csv' is not an SQLite file. Give a connection to other databases."
    )
    assert error_of(query, ParameterError, connection="one.db", query=query) == (
        "'query' and 'connection' of read_data cannot be combined. With 'connection' the source "
        "itself is the query."
    )


# -- Stata, SPSS and SAS


def test_value_labels_are_states():
    frame = pd.DataFrame({"q": [2.0, 1.0, np.nan], "r": [1.0, 2.0, 99.0], "s": [1.0, 1.0, 2.0]})
    labels = {"q": {1: "no", 2: "yes", 3: "unknown"}, "r": {99: "refused"}, "s": {1: "a", 2: "a"}}
    pyreadstat.write_sav(frame, "t.sav", variable_value_labels=labels)
    assert load("t.sav") == (
        {"q": ["yes", "no", None], "r": ["1", "2", "99"], "s": ["1", "1", "2"]},
        [
            "The value labels of 1 column are used as states: 'q'. Undo: value_labels=False, or "
            "--no-value-labels."
        ],
    )
    assert load("t.sav", value_labels=False) == (
        {"q": ["2", "1", None], "r": ["1", "2", "99"], "s": ["1", "1", "2"]},
        [],
    )
    table = load_table("t.sav", ReadPlan.from_parameters(), None)
    assert table.columns[0].declared == ("no", "yes")


def test_values_that_are_declared_as_missing():
    frame = pd.DataFrame({"q": [1.0, 2.0, 9.0], "r": ["x", "y", ""]})
    pyreadstat.write_sav(frame, "t.sav", missing_ranges={"q": [9]})
    assert load("t.sav")[0] == {"q": ["1", "2", None], "r": ["x", "y", None]}


# -- data frames and arrays


MOMENTS = [datetime.datetime(2024, 3, 1, 12, 30), None, datetime.datetime(2024, 3, 2)]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(MOMENTS),
        pd.Series(MOMENTS, dtype=object),
        pl.Series(MOMENTS),
        pa.chunked_array([pa.array(MOMENTS)]),
    ],
    ids=["pandas", "objects", "polars", "arrow"],
)
def test_moments_are_iso_text(values):
    kind = {"Series": pd.DataFrame, "ChunkedArray": pa.table}
    make = pl.DataFrame if isinstance(values, pl.Series) else kind[type(values).__name__]
    options = ReadPlan.from_parameters().allow_missing()
    table = load_table(make({"t": values, "y": ["a", "b", "c"]}), options, None)
    column = table.columns[0]
    assert [column.labels[code] for code in column.codes.tolist()] == [
        "2024-03-01T12:30:00",
        None,
        "2024-03-02T00:00:00",
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pl.Series([datetime.date(2020, 1, 1)] * 2), "2020-01-01"),
        (pl.Series([datetime.timedelta(1)] * 2), "86400"),
        (pl.Series([datetime.timedelta(milliseconds=1500)] * 2), "1.5"),
        (pl.Series([datetime.time(12, 30)] * 2), "12:30:00"),
        (pl.Series([decimal.Decimal("1.50")] * 2), "1.50"),
        (pd.Series([datetime.date(2020, 1, 1)] * 2), "2020-01-01"),
        (pd.Series(pd.to_datetime(["2020-01-01"] * 2).tz_localize("UTC")), "2020-01-01"),
        (pd.Series(pd.to_timedelta([60, 60], unit="s")), "60"),
        (pd.Series([decimal.Decimal("2")] * 2), "2"),
    ],
)
def test_other_types_of_frames(values, expected):
    make = pl.DataFrame if isinstance(values, pl.Series) else pd.DataFrame
    options = ReadPlan.from_parameters(discretise="mdl")
    column = load_table(make({"x": values, "y": ["a", "b"]}), options, None).columns[0]
    label = column.labels[int(column.codes[0])]
    assert label == expected


def test_moments_of_arrays():
    days = np.array([["2020-01-01", "2020-01-02"]] * 2, dtype="datetime64[s]")
    table = load_table(days, ReadPlan.from_parameters(), ["a", "b"])
    assert [list(column.labels) for column in table.columns] == [["2020-01-01"], ["2020-01-02"]]


def test_columns_without_states_are_left_out():
    frame = pl.DataFrame({"x": [[1], [2]], "y": ["a", "b"], "z": ["a", "b"]})
    cells, decisions = load(frame)
    assert list(cells) == ["y", "z"]
    assert decisions == [
        "Column 'x' has the type List(Int64), which cannot be states; it was left out. Undo: "
        "types={'x': 'categorical'}, or --type x=categorical."
    ]
    frame = pd.DataFrame({"Unnamed: 0": [0, 1, 2], "y": list("aab"), "z": list("aba")})
    cells, decisions = load(frame)
    assert list(cells) == ["y", "z"]
    assert [decision.split(";")[0] for decision in decisions] == [
        "The first column has no name and a different value in each row"
    ]


# -- copies with imputed values


@pytest.mark.parametrize("name", ["t.xlsx", "t.jsonl", "t.sqlite", "t.sav"])
def test_imputed_copies_of_other_formats(name):
    WRITERS[name](name)
    states = tuple(map(str, range(4)))
    missing = np.arange(N) == 1
    ward = ImputedColumn("ward", states, TABLE["ward"].to_numpy().copy(), missing)
    ward.codes[1] = 3
    write_imputed_file(name, "copy.csv", [ward])
    copy = pd.read_csv("copy.csv")
    assert copy["ward"].tolist() == [0, 3, *TABLE["ward"].tolist()[2:]]
    assert copy["crp"].tolist() == TABLE["crp"].tolist()
    assert copy["day"].tolist() == [day.isoformat() for day in DAYS]


def test_an_imputed_copy_of_half_a_surrogate_pair():
    with open("t.jsonl", "w") as file:
        file.write('{"a": "\\ud800x", "b": 1}\n{"a": "y", "b": 2}\n')
    write_imputed_file("t.jsonl", "copy.csv", [])
    with open("copy.csv") as file:
        assert file.read() == "a,b\n?x,1\ny,2\n"


# -- files that are damaged, foreign or need a library


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"RDX3\nX\n", "is an R file. In R, save its table with write.csv."),
        (b"X\n\0\0\0\x03rest", "is an R file. In R, save its table with write.csv."),
        (
            b"\x93NUMPY\1\0",
            "is a NumPy file. Load it with numpy.load, and give the array and names=.",
        ),
        (b"\x89HDF\r\n\x1a\n", "is an HDF5 file. Save its table as CSV or Parquet."),
        (b"\x80\x05\x95rest", "is a Python pickle, which can run code. Save it as CSV."),
        (
            b"%PDF-1.7",
            "is a PDF document. Copy its table into a spreadsheet and save it as CSV.",
        ),
        (
            b"\n<!DOCTYPE html><html>",
            "is a web page. Download the table itself, or copy it into a spreadsheet and save it "
            "as CSV.",
        ),
        (b"<?xml version='1.0'?>", "is an XML document. Save its table as CSV."),
    ],
)
def test_files_of_other_kinds(content, message):
    for name, write in (("t.csv", open), ("t.gz", gzip.open)):
        with write(name, "wb") as file:
            file.write(content)
        assert error_of(name) == f"{name!r} {message}"


TEXTS = ["csv", "tsv", "txt", "arff", "json", "jsonl", "ndjson"]
SHEETS = ["xlsx", "xlsm", "xlsb", "xls", "ods"]
BINARIES = ["parquet", "pq", "feather", "arrow", "ipc", "sqlite", "sqlite3", "db", "rds", "npy"]
STATISTICS = ["dta", "sav", "zsav", "por", "sas7bdat", "xpt"]
PACKED = ["zip", "gz", "bz2", "xz"]
SUFFIXES = [*TEXTS, *SHEETS, *BINARIES, *STATISTICS, *PACKED]
MAGIC = [
    b"",
    b"PAR1",
    b"ARROW1\0\0",
    b"\xff\xff\xff\xff",
    b"SQLite format 3\0",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"PK\x03\x04",
    b"PK\x05\x06" + bytes(18),
    b"<stata_dta>",
    b"\x72\x02\x01\x00",
    b"$FL2",
    b"$FL3",
    bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011"),
    b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!000000000000000000000000000000  ",
    b"ASCII SPSS PORT FILE" * 12,
    b"\x1f\x8b\x08\0",
    b"BZh9",
    b"\xfd7zXZ\0",
    b"{",
    b"[{",
    b"@relation x\n",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_garbage_gives_a_sentence(suffix, seed):
    rng = np.random.default_rng(seed)
    for n_bytes in (0, 3, 40, 3000):
        for magic in MAGIC:
            content = magic + rng.bytes(n_bytes)
            with open(f"t.{suffix}", "wb") as file:
                file.write(content)
            with contextlib.suppress(CoevoError):
                load(f"t.{suffix}")


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_damaged_files_give_a_sentence(name, seed):
    WRITERS[name](name)
    rng = np.random.default_rng(seed)
    with open(name, "rb") as file:
        content = file.read()
    for cut in rng.integers(0, len(content), 6).tolist():
        changed = bytearray(content)
        changed[cut : cut + 20] = rng.bytes(20)
        for damaged in (content[:cut], bytes(changed)):
            with open(name, "wb") as file:
                file.write(damaged)
            with contextlib.suppress(CoevoError):
                load(name)


def test_damaged_files_are_described():
    for name, magic, title in (
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet"),
        ("t.feather", b"ARROW1\0\0", "a Feather or Arrow file"),
        ("t.sqlite", b"SQLite format 3\0", "an SQLite file"),
        ("t.dta", b"<stata_dta>", "a Stata file"),
        ("t.sav", b"$FL2", "an SPSS file"),
    ):
        with open(name, "wb") as file:
            file.write(magic + b"\0" * 200)
        assert error_of(name).startswith(f"{name!r} is not {title}, or is damaged (")
        with open(name, "wb") as file:
            file.write(b"\1\2\3\0")
        assert error_of(name) == (
            f"{name!r} is not {title}, or is damaged. Write it again, or save its table as CSV."
        )


def test_a_stata_file_with_an_impossible_number_of_rows():
    pyreadstat.write_dta(TABLE, "t.dta", version=15)
    with open("t.dta", "rb") as file:
        content = file.read()
    start = content.index(b"<N>") + 3
    with open("t.dta", "wb") as file:
        file.write(content[:start] + (10**9).to_bytes(8, "little") + content[start + 8 :])
    assert error_of("t.dta") == (
        f"'t.dta' is not a Stata file, or is damaged (1,000,000,000 rows in {len(content):,} "
        "bytes). Write it again, or save its table as CSV."
    )


@pytest.mark.parametrize(
    ("name", "module", "message"),
    [
        ("t.xlsx", "python_calamine", "python-calamine is not installed. Install it with: pip "),
        ("t.sav", "pyreadstat", "pyreadstat is not installed. Install it with: pip "),
        ("t.feather", "pyarrow.feather", "PyArrow is not installed. Install it with: pip "),
    ],
)
def test_libraries_that_are_not_installed(name, module, message, monkeypatch):
    WRITERS[name](name)
    monkeypatch.setitem(sys.modules, module, None)
    extra = {"t.xlsx": "excel", "t.sav": "stats", "t.feather": "parquet"}[name]
    assert error_of(name, DependencyError) == f"{message}install 'coevo[{extra}]'"
