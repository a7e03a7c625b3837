"""Text tables from strangers: what is detected, and the sentence of each decision."""

from __future__ import annotations

import bz2
import contextlib
import csv
import io
import lzma
import sys
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.data import read_data
from coevo.data.read.csv_reader import read_csv
from coevo.data.read.sources import load_table
from coevo.data.read_options import ReadPlan
from coevo.data.source_options import SourceOptions
from coevo.errors import CoevoError, DataError, FileError, ParameterError
from coevo.files.files import open_source

quick = settings(derandomize=True, deadline=None, max_examples=80)
PLAIN = {"a": ["1", "4", "7"], "b": ["x", "y", "x"], "c": ["2,5", "3,5", "4,5"]}


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Return a function that reads bytes as a file: cells by column, and decisions as text."""
    monkeypatch.chdir(tmp_path)

    def read(content, name="t.csv", lenient=False, **opening):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        options = ReadPlan.from_parameters(opening=SourceOptions.from_parameters(**opening))
        if lenient:
            options = replace(options, is_lenient=True)
        table = load_table(tmp_path / name, options, None)
        return show(table), [str(decision) for decision in table.decisions]

    return read


def show(table):
    return {c.name: [c.labels[code] for code in c.codes.tolist()] for c in table.columns}


def error_of(load, content, **opening):
    with pytest.raises((DataError, FileError)) as caught:
        load(content, **opening)
    return str(caught.value)


# -- the same table in many forms


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_clean_file_gives_no_decision(load, delimiter, encoding, end):
    rows = [list(PLAIN), *zip(*PLAIN.values(), strict=True)]
    text = "".join(delimiter.join(row) + end for row in rows)
    assert load(text.encode(encoding)) == (PLAIN, [])


def compress_zstd(data):
    return pyarrow.compress(data, codec="zstd", asbytes=True)


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, compress_zstd])
def test_compressed_files(load, pack):
    assert load(pack(b"a,b\n1,2\n")) == ({"a": ["1"], "b": ["2"]}, [])
    packed = pack(b"a,b\n" + bytes(np.random.default_rng(0).integers(97, 120, 9999)))
    message = error_of(load, packed[:-500])
    assert message.endswith(" compressed data. Copy or download it again.")
    assert error_of(load, packed[:20] + bytes(40)).endswith("Copy or download it again.")


def make_zip(**files):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(name.replace("_", "."), text)
    return stream.getvalue()


def test_zip_archives(load):
    assert load(make_zip(a_csv="a,b\n1,2\n"), "t.zip") == ({"a": ["1"], "b": ["2"]}, [])
    with pytest.raises(DataError) as caught:
        load(make_zip(a_csv="a", b_csv="b"), "t.zip")
    assert str(caught.value).endswith(
        "t.zip' is a zip archive of 2 files: 'a.csv', 'b.csv'. Unpack it, and give the file of "
        "the table."
    )
    with pytest.raises(FileError) as caught:
        load(make_zip(a_zip=make_zip(a_csv="a")), "t.zip")
    assert str(caught.value) == "'a.zip' is a zip archive inside another one. Unpack it."


LATIN = "The file is not UTF-8; it was read as Windows-1252. Undo: encoding='utf-8', or "


def test_text_that_is_not_utf8(load):
    found, decisions = load("größe,n\nZürich,1\n“x”,2\n".encode("cp1252"))
    assert found == {"größe": ["Zürich", "“x”"], "n": ["1", "2"]}
    assert decisions == [LATIN + "--encoding utf-8."]
    found, decisions = load(b"a,n\nZ\x81rich,1\n")  # a byte that Windows-1252 lacks
    assert found["a"] == ["Z\x81rich"]
    mixed = "größe,n\nZürich,1\n".encode() + b"Z\xfcrich,2\n"
    found, decisions = load(mixed)
    assert found == {"größe": ["Zürich", "Zürich"], "n": ["1", "2"]}
    assert len(decisions) == 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_bom(load, encoding):
    assert load("größe,n\nZürich,1\n".encode(encoding)) == (
        {"größe": ["Zürich"], "n": ["1"]},
        [
            "The file has a zero in every second byte; it was read as UTF-16. Undo: "
            "encoding='utf-8', or --encoding utf-8."
        ],
    )


@pytest.mark.parametrize("encoding", ["cp850", "latin-1", "shift_jis", "utf-16-le", "gb18030"])
def test_a_given_encoding(load, encoding):
    text = "größe,n\nZürich,1\n" if encoding in ("cp850", "latin-1") else "日本,n\n東,1\n"
    found, decisions = load(text.encode(encoding), encoding=encoding)
    assert (next(iter(found)), decisions) == (text[: text.index(",")], [])


# -- the shape of the table


SPACES = "The fields of a line are separated by spaces. Undo: delimiter=',', or --delimiter ','."
INDEX = (
    "The first column has no name and a different value in each row; it was left out as the index "
    "of the rows. Undo: types={'column_1': 'categorical'}, or --type column_1=categorical."
)


def test_fields_between_spaces(load):
    text = '  a   b \n 1    "x y" \n2\tz\n'
    assert load(text) == ({"a": ["1", "2"], "b": ["x y", "z"]}, [SPACES])
    assert load(text, delimiter=" ") == ({"a": ["1", "2"], "b": ["x y", "z"]}, [])


def test_tables_of_r(load):
    expected = {"a": ["u", "v"], "b": ["x y", "z"]}
    assert load('"a" "b"\n"1" "u" "x y"\n"2" "v" "z"\n') == (expected, [SPACES, INDEX])
    assert load('"","a","b"\n"1","u","x y"\n"2","v","z"\n') == (expected, [INDEX])
    assert load('"a","b"\n"1","u","x y"\n"2","v","z"\n') == (expected, [INDEX])


def test_the_index_of_pandas(load):
    assert load(",a,b\n0,x,u\n1,y,u\n2,x,v\n")[1] == [INDEX]
    undo = "Undo: types={'Unnamed: 0': 'categorical'}, or --type 'Unnamed: 0=categorical'."
    assert load("Unnamed: 0,a,b\n0,x,u\n1,y,u\n")[1] == [INDEX.split(" Undo")[0] + " " + undo]
    found, decisions = load(",a,b\n0,x,u\n0,y,u\n2,x,v\n")
    assert (list(found), decisions) == (
        ["column_1", "a", "b"],
        [
            "1 column has no name; it is called 'column_1'. Undo: rename={'column_1': "
            "'NEW_NAME'}, or --rename column_1=NEW_NAME."
        ],
    )
    assert list(load("Unnamed: 0,a,b\n0,x,u\n0,y,u\n")[0]) == ["Unnamed: 0", "a", "b"]
    load(",a,b\n0,x,u\n1,y,u\n")
    options = ReadPlan.from_parameters(types={"column_1": "categorical"})
    table = load_table("t.csv", options, None)
    assert ([c.name for c in table.columns], table.decisions) == (["column_1", "a", "b"], [])


def test_an_index_of_many_rows(load):
    n = 70_000
    for first in (lambda i: i, lambda i: f"row{i}"):
        text = ",a,b\n" + "".join(f"{first(i)},{i % 2},{i % 3}\n" for i in range(n))
        found, decisions = load(text)
        assert (list(found), decisions, len(found["a"])) == (["a", "b"], [INDEX], n)


def test_unnamed_and_empty_columns(load):
    assert load("a,b,,\n1,x,,\n2,y,,\n") == (
        {"a": ["1", "2"], "b": ["x", "y"]},
        [
            "2 columns have neither a name nor a value; they were left out: 'column_3', "
            "'column_4'. Undo: strict=True, or --strict."
        ],
    )
    assert load("a,b\n1,x,\n2,y,\n") == (
        {"a": ["1", "2"], "b": ["x", "y"]},
        [
            "1 column has neither a name nor a value; it was left out: 'column_3'. Undo: "
            "strict=True, or --strict."
        ],
    )
    found, decisions = load("a,,b,\n1,u,x,v\n2,u,y,w\n")
    assert list(found) == ["a", "column_2", "b", "column_4"]
    assert decisions == [
        "2 columns have no names; they are called 'column_2', 'column_4'. Undo: "
        "rename={'column_2': 'NEW_NAME_1', 'column_4': 'NEW_NAME_2'}, or --rename "
        "column_2=NEW_NAME_1 --rename column_4=NEW_NAME_2."
    ]


def test_names(load):
    found, decisions = load(" a ,a,a.1,b,b,b\n1,2,3,4,5,6\nx,2,3,4,5,6\n")
    assert list(found) == ["a", "a.2", "a.1", "b", "b.1", "b.2"]
    assert decisions == [
        "The names of 1 column had spaces around them, which were removed: ' a '. Undo: "
        "rename={'a': ' a '}, or --rename 'a= a '.",
        "3 columns had the name of an earlier one; they are now 'a.2', 'b.1', 'b.2'. Undo: "
        "rename={'a.2': 'NEW_NAME_1', 'b.1': 'NEW_NAME_2', 'b.2': 'NEW_NAME_3'}, or --rename "
        "a.2=NEW_NAME_1 --rename b.1=NEW_NAME_2 --rename b.2=NEW_NAME_3.",
    ]
    assert load("a,a\n1,x\n2,y\n")[1] == [
        "Two columns are called 'a'; the second is now 'a.1'. Undo: rename={'a.1': 'NEW_NAME'}, or "
        "--rename a.1=NEW_NAME."
    ]


def test_comment_lines(load):
    text = "# made by me, on Monday\n% x\n// y\na,b,c\n1,2,x\n# later\n4,5,y\n#6,7,z\n"
    assert load(text) == (
        {"a": ["1", "4", "#6"], "b": ["2", "5", "7"], "c": ["x", "y", "z"]},
        ["4 comment lines were skipped (the first is line 1). Undo: comment='', or --comment ''."],
    )
    found, decisions = load(text.replace("%", "#").replace("//", "#"), comment="#")
    assert (found["a"], decisions) == (["1", "4"], [])
    assert load("#id,b\n#1,2\n#2,3\n", comment="")[0] == {"#id": ["#1", "#2"], "b": ["2", "3"]}


def test_a_header_that_starts_as_a_comment(load):
    found, decisions = load("# b c\n0.5 1.5\n2.5 3\n0.25 7\n")
    assert found == {"b": ["0.5", "2.5", "0.25"], "c": ["1.5", "3", "7"]}
    assert decisions == [
        SPACES,
        "The column names come from the last comment line. Undo: header=True, or --header.",
    ]


def test_files_of_genetics(load):
    """Hundreds of comments, then the names behind a comment mark."""
    comments = "".join(f"##INFO=<ID=x{i},Description=text>\n" for i in range(300))
    rows = "".join(f"{i % 3}\t{i}\trs{i}\tA\n" for i in range(5, 200))
    found, decisions = load(comments + "#CHROM\tPOS\tID\tREF\n" + rows, "t.vcf")
    assert list(found) == ["CHROM", "POS", "ID", "REF"]
    assert len(found["POS"]) == 195
    assert decisions[1].startswith("300 comment lines were skipped (the first is line 1).")
    found, _ = load("# one, two, three\na,b,c\n1,x,2\n3,y,4\n")
    assert list(found) == ["a", "b", "c"]


def test_lines_above_and_below_the_table(load):
    text = (
        "Sales report, 2024\n\nregion;units;price\nnorth;3;1,5\nsouth;4;2,5\neast;5;3,5\n\n"
        "Total: 12\nSource: our shop; no returns\n"
    )
    expected = {
        "region": ["north", "south", "east"],
        "units": ["3", "4", "5"],
        "price": ["1,5", "2,5", "3,5"],
    }
    assert load(text) == (
        expected,
        [
            "1 line above the table was skipped (line 1: 'Sales report, 2024'). Undo: skiprows=0, "
            "or --skiprows 0.",
            "2 lines below the table were skipped (the first is line 8: 'Total: 12'). Undo: "
            "skipfooter=0, or --skipfooter 0.",
        ],
    )
    assert load(text, skiprows=1, skipfooter=2) == (expected, [])
    assert next(iter(load(text, skiprows=0, skipfooter=2)[0])) != "region"
    assert load("a,b\n1,x\n2,y\n(2 rows affected)\n")[1] == [
        "1 line below the table was skipped (line 4: '(2 rows affected)'). Undo: skipfooter=0, or "
        "--skipfooter 0."
    ]


def test_titles_with_all_delimiters_of_a_row(load):
    found, decisions = load("My report,,\n,,\na,b,c\n1,2,x\n3,4,y\n")
    assert found == {"a": ["1", "3"], "b": ["2", "4"], "c": ["x", "y"]}
    assert decisions == [
        "2 lines above the table were skipped (the first is line 1: 'My report'). Undo: "
        "skiprows=0, or --skiprows 0."
    ]
    assert list(load("a,\n1,2\n3,4\n")[0]) == ["a", "column_2"]


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 5, 7, 11, 30, 1 << 16])
def test_repairs_do_not_depend_on_the_chunks(tmp_path, chunk_bytes):
    text = "T\na,b,c\r\n1,2\n#\n,,\n1,2,3,,\r\n\n7,8,9\n7,8,9\n\nSource: x, y\nEnd\n"
    (tmp_path / "t.csv").write_text(text, newline="")
    with open_source(tmp_path / "t.csv") as source:
        table = read_csv(source, ReadPlan.from_parameters(), chunk_bytes)
    assert show(table) == {
        "a": ["1", "1", "7", "7"],
        "b": ["2", "2", "8", "8"],
        "c": ["", "3", "9", "9"],
    }
    assert [decision.kind for decision in table.decisions] == [
        "comments",
        "titles",
        "footers",
        "short",
        "long",
        "empty_rows",
    ]


SKIP_ROWS = "Undo: bad_rows='skip', or --bad-rows skip; other choices are 'refuse' (an error)."


def test_short_long_and_empty_rows(load):
    assert load("a,b,c\n1,2,3\n4,5\n6\n7,8,9,,\n,,\n,,\n1,2,3\n") == (
        {
            "a": ["1", "4", "6", "7", "1"],
            "b": ["2", "5", "", "8", "2"],
            "c": ["3", "", "", "9", "3"],
        },
        [
            "2 lines have too few fields; the last cells are missing (the first is line 3). "
            + SKIP_ROWS,
            "1 line has too many fields; they are empty and were left out (line 5). " + SKIP_ROWS,
            "2 rows without any value were left out. Undo: keep_empty_rows=True, or "
            "--keep-empty-rows.",
        ],
    )
    rows = "1,2,3,4,5,6\n" * 200 + "1\n" * 5_000  # more rows than a chunk of full rows has
    found, decisions = load("a,b,c,d,e,f\n" + rows)
    assert len(found["a"]) == 5_200
    assert decisions == [
        "5,000 lines have too few fields; the last cells are missing (the first is line 202). "
        + SKIP_ROWS
    ]


def test_prose_is_not_a_table(load):
    text = "Dear reader,\nthis is a letter.\nIt has a comma, or two.\nIt has lines.\nIt ends.\n"
    assert error_of(load, text).endswith(
        "t.csv' has 1 field; its header has 2. Correct the line, or put quotes around text that "
        "holds the delimiter ','."
    )


HEADER = (
    "The first row holds values, not names; the columns are called column_1, column_2 and so on. "
    "Undo: header=True, or --header."
)


@pytest.mark.parametrize(
    ("text", "lacks_header"),
    [
        ("51,35\n49,30\n", True),
        ("5.1,3.5,x\n4.9,3.0,x\n4.7,3.2,x\n4.6,3.1,y\n", True),  # as the data of UCI
        ("p,x\np,x\ne,x\np,y\ne,x\n", True),
        ("51,?\n49,30\n", True),
        ("2001,2002,2003\n5,6,7\n", False),
        ("0,1\n0,1\n1,0\n", False),
        ("2001,2005\nyes,no\nno,yes\n", False),
        ("a,b\n1,2\n3,4\n", False),
        ("a,2\n1,2\n3,4\n", False),
        ("51,\n49,30\n", False),
        ("yes,no\nno,yes\nyes,no\n", False),
    ],
)
def test_whether_there_is_a_header(load, text, lacks_header):
    found, decisions = load(text)
    first = text.split("\n")[0].split(",")
    assert (next(iter(found)) == "column_1") == lacks_header
    assert decisions[:1] == ([HEADER] if lacks_header else decisions[:1])
    assert next(iter(load(text, header=True)[0])) == first[0]
    no_header, decisions = load(text, header=False)
    assert next(iter(no_header)) == "column_1"
    assert no_header["column_1"][0] == first[0]
    assert HEADER not in decisions


def test_arff(load):
    text = (
        "% a comment\n\n@RELATION 'play ball'\n@attribute outlook {sunny, 'very cold', rain}\n"
        "@ATTRIBUTE 'the wind' real\n@data\n% more\nsunny,1.5\n'very cold', 2\n?,3\n"
    )
    found, decisions = load(text, "t.arff")
    assert found == {"outlook": ["sunny", "very cold", "?"], "the wind": ["1.5", "2", "3"]}
    assert decisions == []
    table = load_table("t.arff", ReadPlan.from_parameters(), None)
    assert table.columns[0].declared == ("sunny", "very cold", "rain")
    assert error_of(load, text + "a,b,c\n").startswith("Line 11 of ")
    few = "@relation x\n@attribute a real\n@attribute b real\n@data\n1,2,3\n3,4,5\n"
    assert error_of(load, few).startswith("Line 5 of ")
    assert error_of(load, text + "'rain' , \"a, \\\"b\n").startswith("Line 11 of ")
    assert error_of(load, text + "{0 sunny}\n").endswith(
        "is a sparse ARFF file, which coevo does not read. Write it again without the Sparse "
        "filter, or save its table as CSV."
    )
    assert error_of(load, "@relation x\n1,2\n").endswith(
        "starts as an ARFF file, but has no @attribute and @data lines. Write it again, or save "
        "its table as CSV."
    )


def test_a_long_line_is_read_quickly(load):
    spaces = " " * 60_000
    found, _ = load(f"a{spaces}b\n1{spaces}2\n{spaces}x{spaces}y{spaces}\n")
    assert found == {"a": ["1", "x"], "b": ["2", "y"]}
    found, _ = load("a,b\n1,2\n" + "x" * 300_000 + "\n3,4\n" + "y" * 300_000 + "\n")
    assert [len(cell) for cell in found["a"]] == [1, 300_000, 1, 300_000]


def test_a_column_of_too_many_texts_is_given_up_by_a_lenient_reader(load, tmp_path):
    text = "x,y,n\n" + "".join(f"s{i},{i % 2},{i}\n" for i in range(70_000))
    load(text, lenient=True)
    options = replace(ReadPlan.from_parameters(), is_lenient=True)
    columns = {c.name: c for c in load_table(tmp_path / "t.csv", options, None).columns}
    assert [columns[name].overflow for name in "xyn"] == [True, False, False]
    assert len(columns["x"].codes) == 65_535
    assert (len(columns["n"].labels), len(columns["y"].codes)) == (70_000, 70_000)


# -- properties


@quick
@given(
    rows=st.integers(2, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.text("ab ,;|\"'é日0.", max_size=5), min_size=n, max_size=n),
            min_size=1,
            max_size=6,
        )
    ),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    preamble=st.sampled_from(["", "# one\n", "# one\n# two\n\n"]),
)
def test_reads_any_dialect(tmp_path_factory, rows, delimiter, quoting, end, encoding, preamble):
    path = tmp_path_factory.getbasetemp() / "dialect.csv"
    names = [f"v{i}" for i in range(len(rows[0]))]
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end).writerows(
        [names, *rows]
    )
    path.write_bytes((preamble.replace("\n", end) + file.getvalue()).encode(encoding))
    table = load_table(path, ReadPlan.from_parameters(), None)
    kept = [row for row in rows if any(row)]
    assert show(table) == {n: [row[i] for row in kept] for i, n in enumerate(names)}
    kinds = [decision.kind for decision in table.decisions]
    assert kinds == ["comments"] * bool(preamble) + ["empty_rows"] * (len(kept) < len(rows))


@quick
@given(st.binary(max_size=300))
def test_any_bytes_give_a_table_or_a_sentence(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content)
    with contextlib.suppress(CoevoError):
        load_table(path, ReadPlan.from_parameters(), None)


# -- the call


def test_the_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(b"a,b\n1,x\n2,y\n"))

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert read_data("-").n_rows == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO("a,b\n"))
    with pytest.raises(FileError) as caught:
        read_data("-")
    assert str(caught.value) == (
        "The standard input cannot be read as bytes. Give the path of a file."
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "utf-9"}, "the name of an encoding, as 'utf-8' or 'latin-1', or None; got"),
        ({"encoding": "zlib"}, "the name of an encoding, as 'utf-8' or 'latin-1', or None; got"),
        ({"delimiter": ""}, "one character or None; got ''."),
        ({"delimiter": "é"}, "an ASCII character or None; got 'é'."),
        ({"comment": 3}, "a str or None; got 3."),
        ({"header": 2}, "True, False or None; got 2."),
        ({"skiprows": -1}, "an int >= 0 or None; got -1."),
        ({"sheet": 0}, "a name, an int >= 1 or None; got 0."),
        (
            {"connection": 3},
            "a DB-API connection, the path of an SQLite file or None; got 3.",
        ),
    ],
)
def test_wrong_options(options, message):
    name = next(iter(options))
    with pytest.raises(ParameterError) as caught:
        read_data("t.csv", **options)
    assert str(caught.value).startswith(f"{name!r} of read_data must be {message}")


def test_options_of_other_sources(load):
    for options, message in (
        ({"query": "SELECT 1"}, "'query' of read_data needs an SQLite file; for another database "),
        ({"sheet": "x"}, "'sheet' of read_data needs a spreadsheet or an SQLite file."),
    ):
        with pytest.raises(ParameterError) as caught:
            load("a,b\n1,2\n", **options)
        assert str(caught.value).startswith(message)
