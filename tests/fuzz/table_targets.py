"""The binary tables that are fuzzed: Parquet, Arrow, spreadsheets, databases, statistics programs.

Libraries in C, C++ and Rust read them. What they raise must become a sentence of coevo, and what
they return must be a table.
"""

from __future__ import annotations

import io
import sqlite3
import zipfile

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pyreadstat

from fuzz.archives import mutate_binary, mutate_files, pack_files
from fuzz.target import Target

N_ROWS = 24


def make_frame():
    """Return a small table with texts, numbers, a flag and missing values."""
    rows = range(N_ROWS)
    return pd.DataFrame(
        {
            "a": ["xyz"[i % 3] for i in rows],
            "b": [i % 4 for i in rows],
            "c": [i / 7 if i % 5 else None for i in rows],
            "d": [i % 2 == 0 for i in rows],
        }
    )


def make_table_targets(folder, read):
    """Yield a target for each kind of binary table; `read` reads a path."""
    folder.mkdir()
    frame = make_frame()
    mixed = frame.assign(
        k=pd.Categorical(frame["a"]), t=pd.date_range("2020-01-01", periods=N_ROWS, freq="D")
    )
    seeds = {
        "parquet": (_list_parquet(mixed), mutate_binary),
        "feather": (_list_feather(mixed), mutate_binary),
        "arrows": ([_make_stream(mixed)], mutate_binary),
        "xlsx": ([_make_spreadsheet(frame)], mutate_files),
        "ods": ([_make_document(frame)], mutate_files),
        "sqlite": ([_make_database(frame)], mutate_binary),
        "dta": ([_write(folder, "dta", pyreadstat.write_dta, frame)], mutate_binary),
        "sav": ([_write(folder, "sav", pyreadstat.write_sav, frame)], mutate_binary),
        "xpt": ([_write(folder, "xpt", pyreadstat.write_xport, frame)], mutate_binary),
        "zip": ([pack_files({"a.csv": frame.to_csv(index=False)})], mutate_files),
    }
    for kind, (files, mutate) in seeds.items():
        path = folder / f"fuzz.{kind}"

        def read_bytes(data, path=path):
            path.write_bytes(data)
            return read(path)

        yield Target(f"table-{kind}", files, read_bytes, mutate)


def _list_parquet(frame):
    table = pa.Table.from_pandas(frame)
    found = []
    for options in (
        {"compression": "none"},
        {"compression": "snappy", "use_dictionary": False, "store_schema": False},
    ):
        stream = io.BytesIO()
        pyarrow.parquet.write_table(table, stream, **options)
        found.append(stream.getvalue())
    return found


def _list_feather(frame):
    found = []
    for compression in ("uncompressed", "lz4"):
        stream = io.BytesIO()
        pyarrow.feather.write_feather(frame, stream, compression=compression)
        found.append(stream.getvalue())
    return found


def _make_stream(frame):
    table, stream = pa.Table.from_pandas(frame), io.BytesIO()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def _make_spreadsheet(frame):
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for row in [list(frame), *frame.astype(object).where(frame.notna(), None).values.tolist()]:
        book.active.append(row)
    book.save(stream)
    with zipfile.ZipFile(stream) as archive:
        return pack_files({info.filename: archive.read(info) for info in archive.infolist()})


def _make_document(frame):
    """Return an OpenDocument spreadsheet, as small as a reader accepts it."""
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    lines = [list(frame), *frame.astype(str).values.tolist()]
    rows = "".join(
        f"<table:table-row>{''.join(map(cell.format, line))}</table:table-row>" for line in lines
    )
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    body = f'<office:spreadsheet><table:table table:name="s">{rows}</table:table>'
    content = (
        f'<?xml version="1.0"?><office:document-content {spaces}><office:body>{body}'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    return pack_files({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": listed})


def _make_database(frame):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a TEXT, b INTEGER, c REAL, d INTEGER)")
    rows = frame.astype(object).where(frame.notna(), None).values.tolist()
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    return connection.serialize()


def _write(folder, kind, write, frame):
    path = folder / f"seed.{kind}"
    write(frame.astype({"d": int}), str(path))
    return path.read_bytes()
