"""The kernels of CSV on bytes that nobody would write, against Python's `csv` module."""

from __future__ import annotations

import csv
import io
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
from coevo.data.read import csv_fields as k
from coevo.data.read.csv_fields import LabelStore

pytestmark = pytest.mark.kernel

ENGINE = Path(__file__).parents[2] / "engine"
LINE_ENDS = re.compile(rb"\r\n|\r|\n")
hostile_bytes = st.one_of(
    st.binary(max_size=60),
    st.lists(st.sampled_from(b'",\r\n;a\x00\xff'), max_size=60).map(bytes),
    st.lists(st.sampled_from([b'""', b'"', b",", b"\r\n", b"\r", b"ab"]), max_size=30).map(
        b"".join
    ),
)
thorough = settings(derandomize=True, deadline=None, max_examples=300)


def read_records(data, n_fields, delimiter=b",", chunk=None):
    """Return the fields of all records, as `CsvReader` reads them; None if quotes do not close."""
    cursor = np.zeros(k.CURSOR_SIZE, dtype=np.int64)
    cursor[k.DELIMITER], cursor[k.LINE] = delimiter[0], 1
    records, at, rest = [], 0, b""
    while not (cursor[k.FINAL] and cursor[k.POSITION] == cursor[k.STOP]):
        more = data[at : at + (chunk or len(data))]
        at, rest = at + len(more), rest + more
        buffer = np.frombuffer(rest, dtype=np.uint8).copy()
        cursor[k.POSITION], cursor[k.STOP], cursor[k.FINAL] = 0, len(rest), not more
        while (status := split_once(buffer, cursor, n_fields, records)) == k.RAGGED:
            assert cursor[k.FIELD] != n_fields
            assert split_once(buffer, cursor, int(cursor[k.FIELD]), records, 1) == k.MORE
        if status == k.UNCLOSED:
            return None
        rest = rest[int(cursor[k.POSITION]) :]
        read = data[: at - len(rest)]
        is_line_open = bool(read) and not read.endswith((b"\r", b"\n"))
        assert cursor[k.LINE] == 1 + len(LINE_ENDS.findall(read)) + is_line_open
    return records


def split_once(buffer, cursor, n_fields, records, n_rows=None):
    """Append the next records to `records`; return the status of `split`."""
    n_rows = n_rows or len(buffer) // n_fields + 1
    starts = np.full((n_fields, n_rows), -1, dtype=np.int32)
    lengths = np.full((n_fields, n_rows), -(2**31), dtype=np.int32)
    cursor[k.ROW] = 0
    status = k.split(buffer, cursor, starts, lengths)
    n_found = int(cursor[k.ROW])
    columns = []
    for start, length in zip(starts[:, :n_found], lengths[:, :n_found], strict=True):
        store, codes = LabelStore(), np.zeros(n_found, dtype=np.uint16)
        assert store.encode(buffer, start.copy(), length.copy(), codes) == n_found
        labels = store.list_labels()
        assert len(set(labels)) == len(labels)
        assert list(dict.fromkeys(codes.tolist())) == list(range(len(labels)))
        columns.append([labels[code] for code in codes.tolist()])
    records += map(list, zip(*columns, strict=True))
    return status


def parse(data, delimiter=","):
    """Return the fields of all records that are not blank, as Python reads them."""
    text = io.StringIO(data.decode("latin-1"), newline="")
    rows = csv.reader(text, delimiter=delimiter)
    return [[field.encode("latin-1") for field in row] for row in rows if row]


@thorough
@given(hostile_bytes, st.integers(1, 4), st.sampled_from(",; \t"), st.sampled_from([None, 1, 2, 7]))
@example(b'"', 1, ",", None)
@example(b'""', 1, ",", 1)
@example(b'"a"\r', 1, ",", 4)
@example(b'"a""', 1, ",", 1)
@example(b'a,"\r\n"" "b"\r,', 2, ",", 3)
@example(b",\n,,\n,", 2, ",", None)
def test_hostile_bytes_are_split_as_python_splits_them(data, n_fields, delimiter, chunk):
    found = read_records(data, n_fields, delimiter.encode(), chunk)
    last = delimiter.join("ZZ").encode()
    is_closed = parse(data + b"\n" + last, delimiter)[-1] == [b"Z", b"Z"]
    assert found == (parse(data, delimiter) if is_closed else None)


def test_an_unclosed_quote_is_found_in_its_line():
    buffer = np.frombuffer(b'a,b\n"c\r\nd",e\n\n"f\r","g\n', dtype=np.uint8)
    cursor = np.array([0, len(buffer), 1, ord(","), 0, 1, 0])
    starts, lengths = np.zeros((2, 9), dtype=np.int32), np.zeros((2, 9), dtype=np.int32)
    assert k.split(buffer, cursor, starts, lengths) == k.UNCLOSED
    assert (cursor[k.ROW], cursor[k.LINE], cursor[k.FIELD]) == (2, 5, 6)
    cursor[k.FINAL] = 0
    assert k.split(buffer, cursor, starts, lengths) == k.MORE
    assert bytes(buffer[cursor[k.POSITION] :]) == b'"f\r","g\n'


def test_nothing_is_written_behind_the_last_row():
    buffer = np.frombuffer(b"a,b\n" * 5, dtype=np.uint8)
    cursor = np.array([0, len(buffer), 1, ord(","), 0, 1, 0])
    starts, lengths = np.zeros((2, 3), dtype=np.int32), np.zeros((2, 3), dtype=np.int32)
    assert k.split(buffer, cursor, starts, lengths) == k.MORE
    assert (cursor[k.POSITION], cursor[k.ROW]) == (12, 3)
    assert starts.tolist() == [[0, 4, 8], [2, 6, 10]]
    assert lengths.tolist() == [[1, 1, 1]] * 2


@pytest.mark.parametrize("n_labels", [1, 16, 17, 3000])
@pytest.mark.parametrize("width", [0, 1, 2, 3, 4, 5, 300])
def test_labels_of_every_length_are_told_apart(n_labels, width, seed):
    rng = random.Random(seed)
    labels = list(dict.fromkeys(rng.randbytes(rng.randint(0, width)) for _ in range(n_labels)))
    fields = labels + [rng.choice(labels) for _ in range(100)]
    store, codes = LabelStore(), np.zeros(len(fields), dtype=np.uint16)
    lengths = np.array([len(field) for field in fields], dtype=np.int32)
    starts = (np.cumsum(lengths) - lengths).astype(np.int32)
    buffer = np.frombuffer(b"".join(fields), dtype=np.uint8).copy()
    assert store.encode(buffer, starts, lengths, codes) == len(fields)
    assert store.list_labels() == labels
    assert codes.tolist() == [labels.index(field) for field in fields]


def test_a_full_table_stops_before_the_label_that_is_too_much():
    labels = [str(i).encode() for i in range(k.MAX_LABELS + 2)]
    lengths = np.array([len(label) for label in labels], dtype=np.int32)
    starts = (np.cumsum(lengths) - lengths).astype(np.int32)
    store, codes = LabelStore(), np.full(len(labels), 7, dtype=np.uint16)
    buffer = np.frombuffer(b"".join(labels), dtype=np.uint8).copy()
    assert store.encode(buffer, starts, lengths, codes) == k.MAX_LABELS == len(store)
    assert codes[:-2].tolist() == list(range(k.MAX_LABELS))
    assert codes[-2:].tolist() == [7, 7]


def test_empty_arrays_are_accepted():
    none = np.zeros(0, dtype=np.uint8)
    assert LabelStore().encode(none, *np.zeros((2, 0), np.int32), np.zeros(0, np.uint16)) == 0
    cursor = np.array([0, 0, 1, ord(","), 0, 1, 0])
    assert k.split(none, cursor, *np.zeros((2, 2, 0), np.int32)) == k.MORE
    nothing = np.zeros(0, dtype=np.int64)
    texts = k.RowTexts(np.zeros((0, 2), dtype=np.int64), np.zeros(1, dtype=np.int64), none, none)
    assert k.render_uint8(np.zeros((0, 0), dtype=np.uint8), nothing, texts) == 0


@pytest.mark.parametrize(
    ("dtype", "render"), [(np.uint8, k.render_uint8), (np.uint16, k.render_uint16)]
)
def test_rows_are_rendered_as_the_naive_twin_does(dtype, render, seed):
    rng = np.random.default_rng(seed)
    n_states = [3, 1, 200 if dtype is np.uint8 else 700]
    columns = [2, 0, 2, 1]  # of the output
    ends = [b",", b",", b",", b"\n"]
    codes = np.array([rng.integers(0, n, 50) for n in n_states], dtype=dtype)
    rows = rng.integers(0, 50, 70)
    names = [[rng.bytes(int(rng.integers(0, 9))) for _ in range(n)] for n in n_states]
    texts = [[name + end for name in names[v]] for v, end in zip(columns, ends, strict=True)]
    pool = b"".join(b"".join(column) for column in texts)
    starts = np.cumsum([0, *(len(text) for column in texts for text in column)])
    first = np.cumsum([0, *(len(column) for column in texts)])[:-1]
    expected = naive.render_rows(codes.tolist(), rows.tolist(), columns, texts)
    out = np.full(len(expected) + 1, 7, dtype=np.uint8)  # not a byte more than is needed
    spec = k.RowTexts(
        np.stack([columns, first], axis=1), starts, np.frombuffer(pool, dtype=np.uint8), out
    )
    assert render(codes, rows, spec) == len(expected)
    assert out.tobytes() == expected + b"\x07"


def test_c_has_the_same_constants():
    text = "".join((ENGINE / name).read_text() for name in ("csv.h", "csv.c"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    in_c = {}
    for body in re.findall(r"enum \{([^}]*)\}", text):
        for i, entry in enumerate(filter(None, map(str.strip, body.split(",")))):
            name, _, value = entry.partition(" = ")
            in_c[name] = value or i
    shared = {name for name in in_c if hasattr(k, name)}
    assert shared >= {"MORE", "RAGGED", "UNCLOSED", "POSITION", "CURSOR_SIZE", "MAX_LABELS"}
    assert {name: eval(str(in_c[name])) for name in shared} == {  # "1 << 30"
        name: getattr(k, name) for name in shared
    }
