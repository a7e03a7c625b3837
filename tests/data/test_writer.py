"""Written tables can be read again, and a file is complete or not written."""

from __future__ import annotations

import csv
import gzip
import stat

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coevo.data import Dataset, Variable, read_data, write_data
from coevo.data import writer as csv_writer_module
from coevo.errors import DataError, FileError, ParameterError

SUFFIXES = [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".pq"]
NASTY = Dataset(
    [
        Variable(
            "z, name", ("", " x ", 'say "no"', "two\nlines", "a\rb", "NA", "é日", "semi;tab\t")
        ),
        Variable('a"b', ("yes", "no")),
    ],
    [[0, 1, 2, 3, 4, 5, 6, 7, 0], [0, 1, 1, 0, 0, 1, 0, 1, 1]],
)


def states_of(dataset):
    return {v.name: v.states for v in dataset.source_variables}


@pytest.mark.kernel
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trip(suffix, tmp_path):
    write_data(NASTY, tmp_path / f"t{suffix}")
    found = read_data(str(tmp_path / f"t{suffix}"), states=states_of(NASTY))
    assert found == NASTY
    assert found.source_variables == NASTY.source_variables


@pytest.mark.kernel
@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    rows=st.lists(
        st.tuples(st.text('a "\r\n,é', max_size=5), st.sampled_from("xy")), min_size=2, max_size=9
    )
)
def test_python_reads_what_is_written(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("w") / "t.csv"
    states = tuple(sorted({row[0] for row in rows}))
    dataset = Dataset(
        [Variable("p", states), Variable("q", ("x", "y"))],
        [[states.index(p) for p, _ in rows], ["xy".index(q) for _, q in rows]],
    )
    write_data(dataset, path)
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["p", "q"], *map(list, rows)]


@pytest.mark.kernel
def test_a_weighted_row_is_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_writer_module, "BUFFER_BYTES", 9)  # two lines fit
    x, y = Variable("x", ("b", "a")), Variable("y", ("c", "d"))
    dataset = Dataset([x, y], [[0, 1, 1], [0, 0, 1]], weights=np.array([3, 1, 2]))
    write_data(dataset, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "x,y\nb,c\nb,c\nb,c\na,c\na,d\na,d\n"
    write_data(dataset, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").to_pydict() == {
        "x": ["b", "b", "b", "a", "a", "a"],
        "y": ["c", "c", "c", "c", "d", "d"],
    }


def test_more_than_256_states(tmp_path):
    states = tuple(f"s{i}" for i in range(300))
    dataset = Dataset(
        [Variable("x", states), Variable("y", ("0", "1"))],
        [[*range(300), 0], [i % 2 for i in range(301)]],
    )
    write_data(dataset, tmp_path / "t.csv")
    assert read_data(tmp_path / "t.csv", types={"x": "categorical"}) == dataset


def test_the_same_rows_give_the_same_bytes(tmp_path):
    write_data(NASTY, tmp_path / "a.csv.gz")
    write_data(NASTY, tmp_path / "b.csv.gz")
    first = (tmp_path / "a.csv.gz").read_bytes()
    assert first == (tmp_path / "b.csv.gz").read_bytes()
    write_data(NASTY, tmp_path / "a.csv")
    assert gzip.decompress(first) == (tmp_path / "a.csv").read_bytes()


def test_a_file_is_complete_or_not_written(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("before")

    def fail(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(csv_writer_module, "render_uint8", fail)
        with pytest.raises(KeyboardInterrupt):
            write_data(NASTY, path)
    assert path.read_text() == "before"
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    write_data(NASTY, path)
    assert path.read_bytes().startswith(b'"z, name","a""b"\n')
    (tmp_path / "other").write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def write_error(dataset, path):
    with pytest.raises((DataError, ParameterError, FileError)) as caught:
        write_data(dataset, path)
    return str(caught.value)


def test_invalid_paths(tmp_path):
    assert write_error(NASTY, "t.xlsx") == (
        "The name of a table must end in one of .csv, .csv.gz, .tsv, .tsv.gz, .parquet, .pq; "
        "got 't.xlsx'."
    )
    assert write_error([1], "t.csv") == "'dataset' of write_data must be a Dataset; got [1]."
    assert write_error(NASTY, 3) == "'path' of write_data must be the name of a file; got 3."
    missing = tmp_path / "no" / "t.csv"
    assert write_error(NASTY, missing) == (
        f"{str(missing)!r} cannot be written: there is no folder {str(missing.parent)!r}."
    )
    (tmp_path / "folder.csv").mkdir()
    folder = tmp_path / "folder.csv"
    assert write_error(NASTY, folder) == f"{str(folder)!r} cannot be written: Is a directory."
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.csv"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_text_that_utf8_cannot_encode(suffix, tmp_path):
    x, y = Variable("x", ("a", "b")), Variable("y", ("c", "d"))
    path = tmp_path / f"t{suffix}"
    for variable in (Variable("z", ("a", "b\ud800")), Variable("z\ud800", ("a", "b"))):
        dataset = Dataset([x, y, variable], [[0, 1]] * 3)
        assert write_error(dataset, path) == (
            f"{str(path)!r} cannot be written: a name or a state holds '\\ud800', which UTF-8 "
            "does not have. Rename it."
        )
    assert list(tmp_path.iterdir()) == []
