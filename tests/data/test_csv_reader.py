"""Text tables, checked against Python's `csv` module as the slow and obvious oracle."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coevo.data import Dataset, Variable, read_data
from coevo.data.columns import assemble_dataset
from coevo.data.read.csv_fields import LabelStore
from coevo.data.read.csv_layout import DELIMITERS, detect_layout
from coevo.data.read.csv_reader import read_csv
from coevo.data.read_options import ReadPlan
from coevo.errors import CoevoWarning, DataError
from coevo.files.files import open_source

NASTY = "ab ,;|\t\"'\r\n\x1fé日0"
cells = st.text(NASTY, max_size=6)
quick = settings(derandomize=True, deadline=None, max_examples=60)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "table.csv"


def oracle(text, delimiter=","):
    """Return the rows that are not blank, read by Python."""
    return [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if r]


def dataset_of(names, rows):
    """Return the dataset of rows of text, from the constructor alone."""
    columns = list(zip(*rows, strict=True))
    variables = [Variable(n, tuple(sorted(set(c)))) for n, c in zip(names, columns, strict=True)]
    codes = [[v.states.index(x) for x in c] for v, c in zip(variables, columns, strict=True)]
    return Dataset(variables, codes)


def read_in_chunks(path, states, chunk_bytes):
    with warnings.catch_warnings(), open_source(path) as source:
        warnings.simplefilter("ignore", CoevoWarning)
        return assemble_dataset(
            read_csv(source, ReadPlan.from_parameters(states, ()), chunk_bytes).columns
        )


def declare_observed(names, rows):
    """Declare the observed states, so that text such as '' and 'NA' is allowed."""
    return {n: sorted({row[i] for row in rows}) for i, n in enumerate(names)}


@pytest.mark.kernel
@quick
@given(
    rows=st.integers(2, 4).flatmap(
        lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=8)
    ),
    delimiter=st.sampled_from(DELIMITERS),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    bom=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    chunk_bytes=st.sampled_from([1, 2, 3, 7, 64, 1 << 16]),
)
def test_reads_what_python_writes(path, rows, delimiter, quoting, end, bom, chunk_bytes):
    # A bare line break is quoted only if it is part of the line end, hence QUOTE_ALL.
    if any(c in "\r\n" for row in rows for cell in row for c in cell):
        quoting = csv.QUOTE_ALL
    names = [f"v{i}" for i in range(len(rows[0]))]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerows([names, *rows])
    path.write_bytes(bom + file.getvalue().encode())
    assert oracle(file.getvalue(), delimiter) == [names, *rows]
    assert read_in_chunks(path, declare_observed(names, rows), chunk_bytes) == dataset_of(
        names, rows
    )


@pytest.mark.kernel
@quick
@given(st.text('ab,"\r\né', min_size=1, max_size=40), st.sampled_from([1, 3, 1 << 16]))
@example('"a"b"c,"d""e""\r"f\r\n', 1)
@example('a,"b', 1 << 16)
@example('a"b,""c""\r', 1)
def test_agrees_with_python_on_any_text(path, body, chunk_bytes):
    path.write_bytes(b"p,q\n" + body.encode())
    rows = oracle(body)
    is_closed = oracle(body + "\nZ,Z")[-1] == ["Z", "Z"]
    widths = set(map(len, rows))
    if is_closed and widths == {2}:
        found = read_in_chunks(path, declare_observed("pq", rows), chunk_bytes)
        assert found == dataset_of("pq", rows)
    elif not is_closed or not rows:
        with pytest.raises(DataError):
            read_in_chunks(
                path, declare_observed("pq", [r for r in rows if len(r) == 2]), chunk_bytes
            )
    else:  # lines with another number of fields: repaired, or an error
        with contextlib.suppress(DataError):
            read_in_chunks(path, None, chunk_bytes)


@pytest.mark.kernel
@pytest.mark.parametrize("chunk_bytes", range(1, 40))
def test_chunks_of_any_size_give_the_same_dataset(path, chunk_bytes):
    rows = [["yes, no", 'a "quoted" word'], ["two\r\nlines", "é日"], ["", "plain"], ["x", "y"]]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["p", "q"], *rows])
    path.write_bytes(file.getvalue().encode())
    assert read_in_chunks(path, declare_observed("pq", rows), chunk_bytes) == dataset_of("pq", rows)


def write_bytes(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.kernel
@pytest.mark.parametrize(
    "text",
    [
        "p,q\na,b\nc,d\n",
        "p,q\na,b\nc,d",
        "p,q\r\na,b\r\nc,d\r\n",
        "p,q\ra,b\rc,d\r",
        "\n\np,q\n\na,b\n\r\n\nc,d\n\n\n",
        '"p","q"\n"a","b"\n"c","d"',
        "p;q\na;b\nc;d\n",
        "p\tq\na\tb\nc\td\n",
        "p|q\na|b\nc|d\n",
        b"\xef\xbb\xbfp,q\na,b\nc,d\n",
        gzip.compress(b"p,q\na,b\nc,d\n", mtime=0),
        gzip.compress(b"\xef\xbb\xbfp,q\na,b\n", mtime=0) + gzip.compress(b"c,d\n", mtime=0),
    ],
)
def test_ways_to_write_the_same_table(path, text):
    found = read_data(write_bytes(path, text))
    assert found == dataset_of("pq", [("a", "b"), ("c", "d")])
    assert [v.name for v in found.source_variables] == ["p", "q"]


def test_spaces_are_no_part_of_names_and_values(path):
    name = str(write_bytes(path, "p, q\n a,b \nc,d\n"))
    with pytest.warns(CoevoWarning) as caught:
        found = read_data(name)
    assert found == dataset_of(["p", "q"], [("a", "b"), ("c", "d")])
    assert [str(warning.message).partition(":")[0] for warning in caught] == [
        "The names of 1 column had spaces around them, which were removed",
        "Blanks around values of 'p', 'q' were removed. Undo",
    ]
    types = {"p": "categorical", "q": "categorical"}
    with pytest.warns(CoevoWarning, match="The names of 1 column had spaces around them"):
        found = read_data(name, types=types)
    assert found == dataset_of(["p", "q"], [(" a", "b "), ("c", "d")])


def test_states_are_in_natural_order_in_the_source_and_sorted_in_the_dataset(path):
    found = read_data(write_bytes(path, "n,s\n10,b\n9,a\n-1,b\n"))
    assert found.source_variables == (Variable("n", ("-1", "9", "10")), Variable("s", ("a", "b")))
    assert found.variables == (Variable("n", ("-1", "10", "9")), Variable("s", ("a", "b")))
    assert found.codes.tolist() == [[1, 2, 0], [1, 0, 1]]


def test_declared_states_need_not_occur_and_keep_their_order(path):
    found = read_data(
        write_bytes(path, "x,y\n0.5,NA\n1.5,b\n"), states={"x": [1.5, 0.5, 2.5], "y": ("b", "NA")}
    )
    assert found.source_variables == (
        Variable("x", ("1.5", "0.5", "2.5")),
        Variable("y", ("b", "NA")),
    )


def test_dropped_columns_are_not_checked(path):
    text = "id,x,,y,\n" + "".join(f"{i / 7},{i % 2},,{i % 3},?\n" for i in range(50))
    found = read_data(write_bytes(path, text), drop=["id", ""], states={"id": ["1"]})
    rows = [(str(i % 2), str(i % 3)) for i in range(50)]
    assert found == dataset_of("xy", rows)


@pytest.mark.filterwarnings("ignore::coevo.errors.CoevoWarning")  # about the header
def test_unselected_columns_are_not_checked(path):
    text = "id,x,,y,y,\n" + "".join(f"{i / 7},{i % 2},,{i % 3},?,\n" for i in range(50))
    found = read_data(write_bytes(path, text), only=["x", "z"])
    assert found == dataset_of("x", [(str(i % 2),) for i in range(50)])
    with pytest.raises(DataError) as caught:
        read_data(path, only=["x"], drop=["x"])
    assert str(caught.value) == "The table has none of the columns 'x'."


def test_equal_rows_are_deduplicated(path):
    found = read_data(write_bytes(path, "x,y\n" + "a,b\nb,a\n" * 500))
    assert found.codes.shape == (2, 2)
    assert sorted(found.weights.tolist()) == [500, 500]


@pytest.mark.parametrize("n_states", [256, 257, 65_535])
def test_many_states(path, n_states):
    rows = [(f"s{i % n_states}", str(i % 2)) for i in range(n_states + 7)]
    text = "x,y\n" + "".join(f"{x},{y}\n" for x, y in rows)
    found = read_in_chunks(write_bytes(path, text), None, 1 << 16)
    assert found.arities.tolist() == [n_states, 2]
    assert found.codes.dtype == (np.uint8 if n_states == 256 else np.uint16)
    x, y = found.variables
    codes = found.codes.tolist()
    back = [(x.states[a], y.states[b]) for a, b in zip(*codes, strict=True)]
    assert back == rows


def test_a_wide_table(path):
    names = [f"v{i}" for i in range(3000)]
    rows = [[str((i + j) % 3) for i in range(3000)] for j in range(4)]
    text = "\n".join(",".join(row) for row in [names, *rows])
    assert read_in_chunks(write_bytes(path, text), None, 1 << 12) == dataset_of(names, rows)


@pytest.mark.kernel
def test_labels_with_equal_hashes_are_distinct():
    # Many labels in a small table share slots; the bytes decide.
    texts = [str(i) for i in range(300)] * 2
    buffer = np.frombuffer("".join(texts).encode(), dtype=np.uint8).copy()
    lengths = np.array([len(t) for t in texts], dtype=np.int32)
    starts = (np.cumsum(lengths) - lengths).astype(np.int32)
    codes = np.zeros(len(texts), dtype=np.uint16)
    store = LabelStore()
    assert store.encode(buffer, starts, lengths, codes) == 600
    assert codes.tolist() == [*range(300), *range(300)]
    assert [t.decode() for t in store.list_labels()] == texts[:300]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"a,b\n1,2\n", (",", 2)),
        (b"a;b\n1,5;2,5\n", (";", 2)),
        (b"a,x\tb,x\n1\t2\n", ("\t", 2)),
        (b'"a,b,c";d\n1;2\n', (";", 2)),
        (b"a\n1\n", (",", 1)),
        (b"a,b\n1\n", (",", 2)),
        (b'a,b\n1,"2\n', (",", 2)),
    ],
)
def test_detect_delimiter(head, expected):
    layout = detect_layout(head, is_complete=True)
    assert (layout.delimiter, layout.n_fields) == expected
