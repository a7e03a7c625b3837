"""No file fills the memory: what is read as a whole has a limit, and the limit is said."""

from __future__ import annotations

import contextlib
import gzip
import os

import pytest

import coevo
from coevo.data.read import sources
from coevo.errors import CoevoError, FileError, FormatError, ParameterError
from coevo.files import files
from coevo.files.files import MAX_DEPTH, load_json, open_source
from coevo.io import parse_model, read_knowledge, read_model
from coevo.runtime import memory


@pytest.fixture(autouse=True)
def _no_limit_of_the_process(monkeypatch):
    """Let Python itself have memory where the machine is said to have none."""
    monkeypatch.setattr(sources, "limit_memory", contextlib.nullcontext)


@pytest.fixture
def small(monkeypatch):
    """Let a network have at most 1 MiB."""
    monkeypatch.setattr("coevo.io.scanner.MAX_TEXT_BYTES", 2**20)
    monkeypatch.setattr("coevo.files.user_files.MAX_TEXT_BYTES", 2**20)
    monkeypatch.setattr(files, "CHUNK_BYTES", 2**16)


def test_a_model_that_is_a_bomb(small, tmp_path):
    path = tmp_path / "a.bif.gz"
    path.write_bytes(gzip.compress(b" " * 2**24))
    assert path.stat().st_size < 20_000
    with pytest.raises(FileError) as caught:
        read_model(path)
    assert str(caught.value) == (
        f"{str(path)!r} holds more than 1 MiB, and a file of this kind may have no more."
    )


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_a_file_without_end(small):
    for read in (lambda path: read_model(path, "bif"), read_knowledge):
        with pytest.raises(FileError) as caught:
            read("/dev/zero")
        assert str(caught.value) == (
            "'/dev/zero' holds more than 1 MiB, and a file of this kind may have no more."
        )
    with pytest.raises(FileError, match=r"^'/dev/zero' holds zero bytes"):
        coevo.read_data("/dev/zero")


def test_a_table_that_does_not_fit_into_memory(tmp_path, monkeypatch):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"a": 1, "b": 2}\n' * 10_000))
    monkeypatch.setattr(files, "get_machine_memory", lambda: 2**18)
    monkeypatch.setattr(files, "CHUNK_BYTES", 2**14)
    with pytest.raises(FileError) as caught:
        coevo.read_data(path)
    assert str(caught.value) == (
        f"{str(path)!r} holds more than 0 MiB, which do not fit into memory. Save the table as "
        "Parquet and learn with shards= (--shards DIR)."
    )
    text = tmp_path / "a.csv"
    text.write_bytes(b"a,b\n" + b"1,2\n2,1\n" * 10_000)
    monkeypatch.setattr(memory, "get_machine_memory", lambda: 2**16)
    with pytest.raises(ParameterError, match=r"^The table needs 0\.0 GB of memory; .*\(--shards"):
        coevo.read_data(text)


def test_the_limit_itself_is_allowed(tmp_path):
    (tmp_path / "a").write_bytes(b"12345678")
    with open_source(tmp_path / "a") as source:
        assert source.read_all(8) == b"12345678"
    with open_source(tmp_path / "a") as source, pytest.raises(FileError):
        source.read_all(7)


def test_groups_of_dot_make_a_limited_number_of_arcs():
    names = " ".join(f"v{i}" for i in range(2000))
    text = f"digraph {{ {{{names}}} -> {{{names.replace('v', 'w')}}} }}"
    with pytest.raises(FormatError) as caught:
        parse_model(text, "dot", "a.dot")
    assert str(caught.value) == (
        f"a.dot, line 1, column {text.index('->') + 1}: the groups make more than 100,000 arcs. "
        "Write fewer, or a list of arcs."
    )
    repeated = "strict digraph { " + f"{{{names[:2000]}}} -> {{{names[:2000]}}};" * 20 + "}"
    with pytest.raises(CoevoError):
        parse_model(repeated, "dot")
    assert len(parse_model("digraph { {a b} -> {c d e} }", "dot").arcs) == 6


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1000, 100_000])
def test_json_that_is_nested(depth):
    assert load_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(ValueError, match=f"^it is nested more than {MAX_DEPTH} deep$"):
        load_json("[" * depth + "]" * depth)
    assert load_json('["' + "[" * depth + '"]') == ["[" * depth]  # in a string


def test_a_container_has_the_memory_of_its_limit(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "CONTAINER_LIMIT", str(limit))
    installed = memory.get_machine_memory()
    for text, expected in (("max\n", installed), ("4096\n", 4096), (str(2**60), installed)):
        limit.write_text(text)
        assert memory.get_machine_memory() == expected


def test_json_objects_that_share_no_keys(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("\n".join(f'{{"k{i}": 1}}' for i in range(5000)))
    expected = (
        f"{str(path)!r} has 5,000 objects with 5,000 different keys, and most objects lack most "
        "keys. Give each object the same keys."
    )
    with pytest.raises(CoevoError) as caught:
        coevo.read_data(path)
    assert str(caught.value) == expected
    path.write_text("{" + ",".join(f'"c{i}": {{"k{i}": 1}}' for i in range(5000)) + "}")
    with pytest.raises(CoevoError) as caught:
        coevo.read_data(path)
    assert str(caught.value) == expected


def test_a_parquet_file_and_a_spreadsheet_of_many_equal_rows(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    openpyxl = pytest.importorskip("openpyxl")
    column = arrow.array([0, 1] * 200_000)
    parquet.write_table(arrow.table({"a": column, "b": column}), tmp_path / "a.parquet")
    book = openpyxl.Workbook()
    for i in range(2000):
        book.active.append([i % 2, "x" * 50])
    book.save(tmp_path / "a.xlsx")
    monkeypatch.setattr(memory, "get_machine_memory", lambda: 2**16)
    for name, what in (("a.parquet", "table"), ("a.xlsx", "spreadsheet")):
        with pytest.raises(ParameterError, match=rf"^The {what} needs 0\.0 GB of memory"):
            coevo.read_data(tmp_path / name)
