"""Small files that expand: they are refused at a limit, in one sentence. No process ends."""

from __future__ import annotations

import io
import sqlite3
import struct
import sys
import zipfile

import numpy as np
import pytest

import coevo
from coevo.data.read import source_kinds
from coevo.errors import CoevoError, DataError, FileError, ParameterError
from coevo.files.checkpoints import read_entries
from coevo.runtime import memory
from fuzz.archives import _unpack_files, pack_files
from fuzz.table_targets import _make_document, make_frame

arrow = pytest.importorskip("pyarrow")
resource = pytest.importorskip("resource")  # Windows has none
openpyxl = pytest.importorskip("openpyxl")
is_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory")


@pytest.fixture
def little_memory(monkeypatch):
    """Let a file take 512 MiB; a thread needs some of it for its stack."""
    monkeypatch.setattr(memory, "get_machine_memory", lambda: 2**30)
    monkeypatch.setattr(memory, "LEAST", 0)


def refusal(kind, path):
    with pytest.raises(kind) as caught:
        coevo.read_data(path)
    return str(caught.value)


def write_strings(path):
    """Write 20,000 rows with texts of 100 kB each: two gigabytes in a few kilobytes."""
    codes = arrow.array(np.arange(20_000) % 2, arrow.int32())
    texts = arrow.DictionaryArray.from_arrays(codes, ["a" * 100_000, "b" * 100_000])
    table = arrow.table({"x": texts, "y": codes})
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, path, store_schema=False, compression="zstd")


def write_zeros(path):
    """Write 1.6 GB of zeros, compressed."""
    batch = arrow.record_batch({"x": np.zeros(10**7, dtype=np.int64)})
    options = arrow.ipc.IpcWriteOptions(compression="zstd")
    with (
        arrow.OSFile(str(path), "wb") as file,
        arrow.ipc.new_file(file, batch.schema, options=options) as writer,
    ):
        for _ in range(20):
            writer.write_batch(batch)


@is_linux
@pytest.mark.parametrize(
    ("name", "write"), [("a.parquet", write_strings), ("a.feather", write_zeros)]
)
def test_what_expands_without_end_does_not_fill_the_memory(name, write, tmp_path, little_memory):
    path = tmp_path / name
    write(path)
    assert path.stat().st_size < 200_000
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert refusal(FileError, path) == (
        f"{str(path)!r} does not fit into memory: it expands to more than half of it. Save the "
        "table as Parquet and learn with shards= (--shards DIR)."
    )
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@is_linux
def test_the_limit_ends_with_the_last_reader(little_memory):
    before = resource.getrlimit(resource.RLIMIT_DATA)
    one, two = memory.limit_memory(), memory.limit_memory()
    one.__enter__()
    two.__enter__()
    with pytest.raises(MemoryError):
        np.ones(2**27)
    one.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_DATA) != before
    two.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def make_book(*cells):
    """Return a workbook with a small table and more cells: (row, column, value)."""
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in [["p", "q"], *(["ab"[i % 2], "xyz"[i % 3]] for i in range(8))]:
        book.active.append(row)
    for row, column, value in cells:
        cell = book.active.cell(row, column)
        cell.value, cell.font = value, openpyxl.styles.Font(bold=True)
    book.save(stream)
    return stream.getvalue()


def test_a_cell_far_away(tmp_path):
    """The reader would make a cell for each place up to there, and end the process."""
    path = tmp_path / "a.xlsx"
    path.write_bytes(make_book((1_048_576, 16_384, "z")))
    assert refusal(ParameterError, path).startswith("The spreadsheet needs 1,099.5 GB of memory; ")
    path.write_bytes(make_book((1_048_576, 1, None), (1, 16_384, None)))  # styles, no values
    assert len(coevo.read_data(path).variables) == 2


def test_a_size_that_an_archive_declares_is_not_believed(tmp_path, monkeypatch):
    files = _unpack_files(make_book())
    sheet = files["xl/worksheets/sheet1.xml"]
    files["xl/worksheets/sheet1.xml"] = sheet.replace(b"<sheetData>", b" " * 10**7 + b"<sheetData>")
    content = pack_files(files, zipfile.ZIP_DEFLATED)
    size = struct.pack("<I", len(files["xl/worksheets/sheet1.xml"]))
    path = tmp_path / "a.xlsx"
    path.write_bytes(content.replace(size, struct.pack("<I", 1000)))
    assert path.stat().st_size < 50_000
    monkeypatch.setattr(memory, "get_machine_memory", lambda: 10**7)
    monkeypatch.setattr(source_kinds, "get_machine_memory", lambda: 10**7)
    assert refusal(ParameterError, path).startswith("The spreadsheet needs 0.0 GB of memory; ")


@pytest.mark.parametrize(
    ("rows", "columns", "n_cells"), [(10**6, 1, 4_000_096), (2_000, 2_000, 16_000_096)]
)
def test_cells_that_are_repeated(rows, columns, n_cells, tmp_path):
    files = _unpack_files(_make_document(make_frame()))
    content = files["content.xml"]
    place = content.rindex(b"<table:table-row>")
    last = content[place:].replace(
        b"table-row>", b'table-row table:number-rows-repeated="%d">' % rows, 1
    )
    last = last.replace(b"table-cell ", b'table-cell table:number-columns-repeated="%d" ' % columns)
    files["content.xml"] = content[:place] + last
    path = tmp_path / "a.ods"
    path.write_bytes(pack_files(files))
    assert refusal(DataError, path) == (
        f"The spreadsheet repeats {n_cells:,} cells. Save its table as CSV."
    )


def test_the_cells_of_a_binary_sheet():
    """A row 9 and a cell in column 3: record, length, place."""
    row = bytes([0, 8]) + struct.pack("<II", 9, 0)
    cell = bytes([2, 0x88, 0]) + struct.pack("<II", 3, 0)
    other = bytes([0x81, 1, 2, 7, 7])
    assert source_kinds._count_record_cells(other + row + cell + other) == 40
    assert source_kinds._count_record_cells(b"") == 0


@pytest.mark.parametrize("columns", ["x, x % 2 AS y", "count(*) AS x, 1 AS y"])
def test_a_view_without_an_end(columns, tmp_path):
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
            f"SELECT {columns} FROM c"
        )
    connection.close()
    assert refusal(DataError, path) == (
        "The view takes more steps than the size of its file explains. If you trust the file, give "
        "a query with query= (--query)."
    )


def test_a_query_that_fails_keeps_its_reason(tmp_path):
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a, b)")
    connection.close()
    with pytest.raises(DataError) as caught:
        coevo.read_data(path, query="SELECT c FROM t")
    assert str(caught.value) == "The query failed: no such column: c. Correct the query."


def test_a_checkpoint_that_is_a_bomb(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.npz"
    np.savez_compressed(path, a=np.zeros(10**6))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(memory, "get_machine_memory", lambda: 10**7)
    with pytest.raises(ParameterError) as caught:
        read_entries(path)
    assert str(caught.value) == (
        "The checkpoint needs 0.0 GB of memory; this machine has 0.0 GB. Start a new search."
    )
    assert issubclass(ParameterError, CoevoError)
