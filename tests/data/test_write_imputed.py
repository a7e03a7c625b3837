"""An imputed table is a copy of its source in which only missing values change."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import coevo
from coevo.data import read_incomplete
from coevo.data import writer as copy_rows
from coevo.data.read import csv_reader as csv_reader_module
from coevo.data.read.csv_fields import BLOCK_ROWS, CsvBlock
from coevo.data.write_imputed import ImputedColumn, impute_frame, write_imputed_file
from coevo.errors import CoevoWarning, DataError, ParameterError
from coevo.missing import learn_incomplete, write_imputed
from coevo.search import Budget

NAMES = ["id", "age", "ward", "note", "ill"]
N_ROWS = 60


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make_rows(seed):
    """Return rows of text: a column to drop, numbers to cut, and states that need quotes."""
    rng = np.random.default_rng(seed)
    notes = ["plain", 'with "quotes"', "a, comma", "two\nlines", " spaces "]
    rows = []
    for i in range(N_ROWS):
        age = f"{rng.normal(50, 15):.1f}"
        row = ["" if i == 5 else f"p{i}", age, str(rng.integers(1, 4)), str(rng.choice(notes))]
        rows.append([*row, "yes" if float(age) > 50 else "no"])
    for i in rng.permutation(N_ROWS)[:12]:
        rows[i][1 + i % 4] = ("", "?", " NA ")[i % 3]
    return rows


def is_missing(cell):
    return cell.strip() in ("", "?", "NA")


def write_rows(rows, path, delimiter=",", bom=""):
    text = Path("plain.txt")
    with text.open("w", newline="", encoding="utf-8") as stream:
        stream.write(bom)
        writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerows([NAMES, *rows])
    content = text.read_bytes()
    Path(path).write_bytes(gzip.compress(content) if path.endswith(".gz") else content)


def read_back(path, delimiter=","):
    content = Path(path).read_bytes()
    text = (gzip.decompress(content) if path.endswith(".gz") else content).decode()
    names, *rows = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    assert names == NAMES
    return rows


def impute_with_evolve(source):
    table = read_incomplete(source, drop=["id"], types={"age": [40, 55], "note": "categorical"})
    found = learn_incomplete(table, "evolve", budget=Budget(max_generations=6))
    return found.imputation.imputed_table


def check(after, before, imputed_table):
    """Compare rows of text: observed values stay, missing values get the imputed state."""
    numbers = [float(row[1]) for row in before if not is_missing(row[1])]
    states = {(cell.row, cell.column): cell.state for cell in imputed_table.iter_imputed_values()}
    assert len(after) == len(before)
    for number, (new, old) in enumerate(zip(after, before, strict=True), start=1):
        assert new[0] == old[0]
        for name, now, was in list(zip(NAMES, new, old, strict=True))[1:]:
            if not is_missing(was):
                assert now == was
            elif name == "age":
                low, high = {"b": (0, 40), "f": (55, 200)}.get(
                    states[number, name][0], (None, None)
                )
                if states[number, name] == "from_40_to_55":
                    low, high = 40, 55
                assert low <= float(now) < high
                assert float(now) in numbers
            else:
                assert now == states[number, name]


@pytest.mark.parametrize(
    ("source", "delimiter", "bom"),
    [("a.csv", ",", ""), ("a.csv", ";", "\ufeff"), ("a.tsv", "\t", ""), ("a.csv.gz", "|", "")],
)
@pytest.mark.parametrize("target", ["b.csv", "b.tsv", "b.csv.gz"])
def test_text(source, delimiter, bom, target, seed):
    rows = make_rows(seed)
    write_rows(rows, source, delimiter, bom)
    imputed_table = impute_with_evolve(source)
    write_imputed(imputed_table, target, source)
    check(read_back(target, "\t" if "tsv" in target else ","), rows, imputed_table)
    assert not read_incomplete(
        target, drop=["id"], types={"age": [40, 55], "note": "categorical"}
    ).n_missing


def test_imputed_numbers_are_medians_of_their_bins(seed):
    rows = make_rows(seed)
    write_rows(rows, "a.csv")
    imputed_table = impute_with_evolve("a.csv")
    write_imputed(imputed_table, "b.csv", "a.csv")
    young = sorted(float(r[1]) for r in rows if not is_missing(r[1]) and float(r[1]) < 40)
    imputed = {
        cell.state: float(read_back("b.csv")[cell.row - 1][1])
        for cell in imputed_table.iter_imputed_values()
        if cell.column == "age"
    }
    for state, number in imputed.items():
        if state == "below_40":
            assert number == young[(len(young) - 1) // 2]
    assert imputed


@pytest.mark.parametrize("block_rows", [1, 7, N_ROWS, 1000])
@pytest.mark.parametrize("target", ["b.csv", "b.parquet"])
def test_blocks_of_any_size_give_the_same_file(target, block_rows, seed, monkeypatch):
    write_rows(make_rows(seed), "a.csv")
    imputed_table = impute_with_evolve("a.csv")
    write_imputed(imputed_table, f"one_{target}", "a.csv")
    monkeypatch.setattr(csv_reader_module, "BLOCK_ROWS", block_rows)
    write_imputed(imputed_table, f"many_{target}", "a.csv")
    read = pyarrow.parquet.read_table if "parquet" in target else Path.read_bytes
    assert read(Path(f"one_{target}")) == read(Path(f"many_{target}"))


def test_parquet_to_text_in_blocks(seed, monkeypatch):
    pyarrow.parquet.write_table(pyarrow.table(make_columns(make_rows(seed))), "a.parquet")
    imputed_table = impute_with_evolve("a.parquet")
    write_imputed(imputed_table, "one.csv", "a.parquet")
    monkeypatch.setattr(copy_rows, "BLOCK_ROWS", 7)
    write_imputed(imputed_table, "many.csv", "a.parquet")
    assert Path("one.csv").read_bytes() == Path("many.csv").read_bytes()


def test_a_block_in_which_every_text_is_replaced():
    """A block of the largest size has room for as many new texts as it has rows."""
    texts = [str(i) for i in range(BLOCK_ROWS)]
    block = CsvBlock.from_texts([texts])
    new = [f"new {text}" for text in texts]
    block.replace_texts(0, np.arange(BLOCK_ROWS), new)
    assert block.list_texts(0) == new


def test_an_empty_cell_of_the_only_column_is_a_row():
    Path("a.csv").write_text('a\n1\n""\n2\n')
    write_imputed_file("a.csv", "b.csv", [])
    assert Path("b.csv").read_text() == 'a\n1\n""\n2\n'


def test_blank_lines_are_not_rows():
    Path("a.csv").write_text("a,b\n1,x\n\n2,?\n\n")
    column = ImputedColumn("b", ("x", "y"), np.array([0, 1]), np.array([False, True]))
    write_imputed_file("a.csv", "b.csv", [column])
    assert Path("b.csv").read_text() == "a,b\n1,x\n2,y\n"


def test_no_columns_to_impute():
    Path("a.csv").write_text('a;b\n1;"x;y"\n2;\n')
    write_imputed_file("a.csv", "b.csv", [])
    assert Path("b.csv").read_text() == "a,b\n1,x;y\n2,\n"


def test_a_changed_table_is_an_error():
    Path("a.csv").write_text("a,b\n1,x\n2,?\n3,x\n")
    for n_rows in (2, 4):
        missing = np.arange(n_rows) == 1
        column = ImputedColumn("b", ("x", "y"), np.zeros(n_rows, dtype=int), missing)
        with pytest.raises(DataError) as caught:
            write_imputed_file("a.csv", "b.csv", [column])
        assert str(caught.value) == (
            f"The table has 3 rows, but {n_rows} rows were read. Keep all rows with "
            "duplicates='keep' and totals='keep' (--duplicates keep --totals keep), use no "
            "weights, and do not change a table while coevo learns from it."
        )
        assert not Path("b.csv").exists()


def make_columns(rows):
    """Return columns of different types; a missing cell is None."""
    cells = {
        name: [None if is_missing(cell) else cell for cell in column]
        for name, column in zip(NAMES, zip(*rows, strict=True), strict=True)
    }
    return {
        "id": cells["id"],
        "age": [None if cell is None else float(cell) for cell in cells["age"]],
        "ward": [None if cell is None else int(cell) for cell in cells["ward"]],
        "note": cells["note"],
        "ill": [None if cell is None else cell == "yes" for cell in cells["ill"]],
    }


FRAMES = {
    "pandas": lambda columns: pandas.DataFrame(columns, dtype=object).set_index(
        pandas.RangeIndex(100, 100 + N_ROWS)
    ),
    "pandas numbers": lambda columns: pandas.DataFrame(columns).astype({"ward": "Int64"}),
    "pandas categories": lambda columns: pandas.DataFrame(columns).astype(
        {"note": "category", "ward": "Int64"}
    ),
    "polars": lambda columns: polars.DataFrame(columns, strict=False),
    "polars categories": lambda columns: polars.DataFrame(columns, strict=False).with_columns(
        polars.col("note").cast(polars.Categorical)
    ),
    "arrow": pyarrow.table,
    "arrow dictionary": lambda columns: pyarrow.table(
        {**columns, "note": pyarrow.array(columns["note"]).dictionary_encode()}
    ),
}


def as_lists(frame):
    if isinstance(frame, pandas.DataFrame):
        plain = frame.astype(object)
        return plain.where(plain.notna(), None).to_dict("list")
    return frame.to_pydict() if isinstance(frame, pyarrow.Table) else frame.to_dict(as_series=False)


@pytest.mark.parametrize("kind", sorted(FRAMES))
def test_frames(kind, seed):
    frame = FRAMES[kind](make_columns(make_rows(seed)))
    before = as_lists(frame)
    imputed_table = impute_with_evolve(frame)
    imputed = imputed_table.fill_frame(frame)
    assert type(imputed) is type(frame)
    assert as_lists(frame) == before  # the source does not change
    after = as_lists(imputed)
    assert after["id"] == before["id"]
    states = {(cell.row, cell.column): cell.state for cell in imputed_table.iter_imputed_values()}
    for name in NAMES[1:]:
        for row, (now, was) in enumerate(zip(after[name], before[name], strict=True), start=1):
            if was is not None:
                assert now == was
            elif name == "age":
                assert now in before["age"]
            else:
                assert str(int(now) if name == "ward" else now) == states[row, name]
                assert type(now) is type(next(c for c in before[name] if c is not None))
    if isinstance(frame, pandas.DataFrame):
        assert imputed.index.equals(frame.index)
        assert (imputed.dtypes == frame.dtypes).all()
    else:
        assert imputed.schema == frame.schema


def test_parquet(seed):
    table = pyarrow.table(make_columns(make_rows(seed)))
    pyarrow.parquet.write_table(table, "a.parquet")
    imputed_table = impute_with_evolve("a.parquet")
    write_imputed(imputed_table, "b.parquet", "a.parquet")
    found = pyarrow.parquet.read_table("b.parquet")
    assert found.schema.equals(table.schema)
    assert found.equals(imputed_table.fill_frame(table))
    write_imputed(imputed_table, "b.csv", "a.parquet")
    texts = [["" if c is None else str(c) for c in row.values()] for row in found.to_pylist()]
    assert read_back("b.csv") == texts


def test_text_to_parquet(seed):
    rows = make_rows(seed)
    write_rows(rows, "a.csv")
    imputed_table = impute_with_evolve("a.csv")
    write_imputed(imputed_table, "b.parquet", "a.csv")
    found = pyarrow.parquet.read_table("b.parquet").to_pylist()
    check([list(row.values()) for row in found], rows, imputed_table)


def test_bins_without_observed_numbers():
    states = ("below_1", "from_1_to_2", "from_2")
    column = ImputedColumn("x", states, np.array([0, 1, 2]), np.array([False, True, True]))
    assert column.choose_values([0.5, None, None]) == [0.5, 1.0, 2.0]
    assert column.choose_values(["0.5", "", ""]) == ["0.5", "1.0", "2.0"]
    assert column.choose_values(["below_1", "", ""]) == list(states)  # the source contains the bins


def test_impute_frame_rejects_other_objects():
    with pytest.raises(ParameterError, match="'frame' of impute_frame must be a data frame; got"):
        impute_frame([[1]], [])


# -- unusual tables


def make_imputed(name, states, codes, missing_rows):
    """Return a column with these codes; those of some rows are imputed."""
    return ImputedColumn(
        name, states, np.array(codes), np.isin(np.arange(len(codes)), missing_rows)
    )


B = make_imputed("b", ("x", "y"), [0, 1, 1], [2])


def test_a_copy_of_text_that_is_not_utf8_is_utf8():
    content = "b,name,größe\nx,café,1\ny,b,2\n?,\xff,3\n"
    Path("a.csv").write_bytes(content.encode("latin-1"))
    write_imputed_file("a.csv", "b.csv", [B])
    assert Path("b.csv").read_text("utf-8") == content.replace("?", "y")
    write_imputed_file("a.csv", "b.parquet", [B])
    found = pyarrow.parquet.read_table("b.parquet")
    assert found["name"].to_pylist() == ["café", "b", "\xff"]


def test_a_field_of_any_length():
    Path("a.csv").write_text(f"a,b\n{'w' * 200_000},x\n2,y\n1,?\n")
    limit = csv.field_size_limit()
    write_imputed_file("a.csv", "b.csv", [B])
    assert Path("b.csv").read_text() == f"a,b\n{'w' * 200_000},x\n2,y\n1,y\n"
    assert csv.field_size_limit() == limit


def test_two_ignored_columns_with_one_name():
    Path("a.csv").write_text("d,b,d\n1,x,4\n2,y,5\n3,?,6\n")
    write_imputed_file("a.csv", "b.parquet", [B])
    found = pyarrow.parquet.ParquetFile("b.parquet").read()
    assert found.column_names == ["d", "b", "d"]
    assert [column.to_pylist() for column in found.columns] == [
        ["1", "2", "3"],
        ["x", "y", "y"],
        ["4", "5", "6"],
    ]
    columns = [pyarrow.array([1, 2, 3]), pyarrow.array(["x", "y", None]), pyarrow.array([4, 5, 6])]
    table = pyarrow.Table.from_arrays(columns, ["d", "b", "d"])
    pyarrow.parquet.write_table(table, "c.parquet")
    write_imputed_file("c.parquet", "e.parquet", [B])
    found = pyarrow.parquet.ParquetFile("e.parquet").read()
    assert [column.to_pylist() for column in found.columns] == [
        [1, 2, 3],
        ["x", "y", "y"],
        [4, 5, 6],
    ]


def test_a_removed_column_is_an_error():
    Path("a.csv").write_text("a,c\n1,x\n2,y\n1,?\n")
    frame = pandas.DataFrame({"a": [1, 2, 1]})
    for work in (
        lambda: write_imputed_file("a.csv", "b.csv", [B]),
        lambda: impute_frame(frame, [B]),
    ):
        with pytest.raises(DataError) as caught:
            work()
        assert str(caught.value) == (
            "The table has no column 'b', which was read from it. Give the table that was learned "
            "from."
        )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64", "float32"])
def test_numbers_of_few_bytes(dtype):
    frame = pandas.DataFrame({"c": np.array([1, 2, 2, 99], dtype=dtype)})
    imputed = impute_frame(frame, [make_imputed("c", ("1", "2"), [0, 1, 1, 1], [3])])
    assert imputed["c"].tolist() == [1, 2, 2, 2]
    assert imputed["c"].dtype == dtype
    binned = impute_frame(frame, [make_imputed("c", ("below_2", "from_2"), [0, 1, 1, 0], [3])])
    assert binned["c"].tolist() == [1, 2, 2, 1]


def test_whole_numbers_that_floats_cannot_hold():
    large = 2**60
    cells = [large, large + 1, None]
    column = make_imputed("c", (str(large), str(large + 1)), [0, 1, 1], [2])
    for frame in (
        pandas.DataFrame({"c": pandas.array(cells, dtype="Int64")}),
        polars.DataFrame({"c": cells}),
        pyarrow.table({"c": cells}),
    ):
        assert as_lists(impute_frame(frame, [column]))["c"] == [large, large + 1, large + 1]


def test_cells_that_are_objects():
    intervals = pandas.cut(pandas.Series([1.0, 5.0, np.nan]), [0, 3, 6])
    states = tuple(map(str, intervals.cat.categories))
    imputed = impute_frame(
        pandas.DataFrame({"c": intervals}), [make_imputed("c", states, [0, 1, 1], [2])]
    )
    assert imputed["c"].tolist() == [intervals[0], intervals[1], intervals[1]]
    mixed = pandas.DataFrame({"c": pandas.Series([np.int64(1), "one", None], dtype=object)})
    imputed = impute_frame(mixed, [make_imputed("c", ("1", "one"), [0, 1, 0], [2])])
    assert imputed["c"].tolist() == [1, "one", 1]
    assert type(imputed["c"][2]) is type(mixed["c"][0])


def test_names_that_are_numbers():
    frame = pandas.DataFrame({0: ["x", "y"], 1: ["u", None]})
    imputed = impute_frame(frame, [make_imputed("1", ("u", "v"), [0, 0], [1])])
    assert imputed[1].tolist() == ["u", "u"]
    assert list(imputed.columns) == [0, 1]


def test_imputed_values_do_not_depend_on_row_order():
    states, texts = ("below_5", "from_5"), ["1", "1.0", "01", "?"]
    for order in ([0, 1, 2, 3], [2, 1, 0, 3], [1, 3, 0, 2]):
        cells = [texts[i] for i in order]
        column = make_imputed("c", states, [0] * 4, [order.index(3)])
        assert column.choose_values(cells)[0] == "1"
    decimal = make_imputed("c", ("0.5",), [0] * 3, [2])
    assert (
        decimal.choose_values([".50", "0.5", "?"])
        == decimal.choose_values(["0.5", ".50", "?"])
        == ["0.5"]
    )


def test_states_without_observed_values():
    for cells, expected in (
        (["x", "?"], "y"),
        ([True, None], False),
        ([1, None], 2),
        ([1.5, None], 2.5),
    ):
        states = (str(cells[0]), str(expected))
        column = make_imputed("c", states, [0, 1], [1])
        assert column.choose_values(cells) == [cells[0], expected]
        assert type(column.choose_values(cells)[1]) is type(cells[0])


def test_numbers_in_other_formats_and_dates(tmp_path):
    """The imputed value of a bin is one of its cells, as it is written in the table."""
    rng = np.random.default_rng(1)
    rows = []
    for i in range(120):
        euros = f"€ {1000 + 37 * i:,}".replace(",", ".") + ",50"
        day = f"{1 + i % 28:02}.{1 + i // 10 % 12:02}.{2020 + i // 60}"
        rows.append(
            ["-" if i % 9 == 5 else euros, "" if i % 11 == 3 else day, "ab"[rng.integers(2)]]
        )
    frame = pandas.DataFrame(rows, columns=["price", "visit", "kind"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.warns(CoevoWarning):
        result = coevo.learn(tmp_path / "t.csv", method="hill_climb", budget={"max_generations": 3})
    imputed = result.imputation.imputed_table
    with pytest.warns(CoevoWarning) as caught:
        write_imputed(imputed, tmp_path / "new.csv", tmp_path / "t.csv")
    assert sorted(str(warning.message) for warning in caught) == [
        f"The missing values of 'visit' stay missing in the copy of the table: only the {part} is "
        "imputed."
        for part in ("month", "year")
    ]
    new = pandas.read_csv(tmp_path / "new.csv", dtype=str, keep_default_na=False)
    was_missing = (frame["price"] == "-").to_numpy()
    assert new["price"][~was_missing].tolist() == frame["price"][~was_missing].tolist()
    assert set(new["price"][was_missing]) <= set(frame["price"][~was_missing])
    assert new["visit"].tolist() == frame["visit"].tolist()
