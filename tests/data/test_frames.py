"""Data frames, Arrow tables and arrays give the same dataset as their CSV file."""

from __future__ import annotations

import io

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.data import Dataset, Variable, read_data, read_incomplete
from coevo.errors import CoevoWarning, ParameterError

TABLE = {
    "text": ["b", "a", "é, ü", "b", "a", "b"],
    "whole": [3, -1, 10, 3, 3, 10],
    "truth": [True, False, True, True, False, True],
}

MAKERS = {
    "pandas": pd.DataFrame,
    "pandas object": lambda t: pd.DataFrame(t).astype(object),
    "pandas string": lambda t: pd.DataFrame(t).convert_dtypes(),
    "pandas arrow": lambda t: pd.DataFrame(t).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "arrow in chunks": lambda t: pa.concat_tables([pa.table(t).slice(0, 2), pa.table(t).slice(2)]),
    "narwhals": lambda t: nw.from_native(pl.DataFrame(t)),
}


def csv_of(table, path):
    pd.DataFrame(table).to_csv(path, index=False)
    return read_data(path)


def state_tuples(dataset):
    return [(v.name, v.states) for v in dataset.source_variables]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_frame_and_its_csv_are_the_same_dataset(make, tmp_path):
    expected = csv_of(TABLE, tmp_path / "t.csv")
    found = read_data(make(TABLE))
    assert found.content_hash == expected.content_hash
    assert found.source_variables == expected.source_variables
    assert np.array_equal(found.codes, expected.codes)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_drop_and_states_work_on_frames(make):
    found = read_data(
        make({**TABLE, "half": [0.5, 1.5, 0.5, 0.5, 0.5, 0.5]}),
        drop=["text"],
        states={"half": [1.5, 0.5, 2.5], "truth": [True, False], "text": ["not looked at"]},
    )
    assert state_tuples(found) == [
        ("whole", ("-1", "3", "10")),
        ("truth", ("True", "False")),
        ("half", ("1.5", "0.5", "2.5")),
    ]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_only_some_columns_of_frames_are_read(make):
    odd = {**TABLE, "half": [0.5, 1.5, None, 0.5, 0.5, 0.5]}
    found = read_data(make(odd), only=["truth", "whole", "else"])
    assert found == read_data(make(TABLE), drop=["text"])
    assert read_data(make(odd), only=iter(["truth"])).names == ("truth",)


def test_only_some_columns_of_files_and_arrays_are_read(tmp_path):
    pd.DataFrame(TABLE).to_parquet(tmp_path / "t.parquet")
    expected = read_data(pd.DataFrame(TABLE), only=["text"])
    assert read_data(tmp_path / "t.parquet", only=["text"]) == expected
    array = np.array([["b", "?"], ["a", "1.5"]])
    assert read_data(array, names=["text", "half"], only=["text"]).names == ("text",)


def test_parquet_is_the_same_dataset(tmp_path):
    frame = pd.DataFrame(TABLE, index=list("uvwxyz"))
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_data(tmp_path / "t.parquet") == csv_of(TABLE, tmp_path / "t.csv")
    (tmp_path / "t.parquet").rename(tmp_path / "t.dat")
    assert read_data(tmp_path / "t.dat") == csv_of(TABLE, tmp_path / "t.csv")


def test_parquet_in_several_row_groups_with_dotted_names(tmp_path):
    table = pa.table({"a.b": ["x", "y", "z"] * 5, "c d": pa.array(["u", "v", "w"] * 5)})
    table = table.set_column(1, "c d", table["c d"].dictionary_encode())
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=4)
    expected = read_data(table)
    found = read_data(tmp_path / "t.parquet")
    assert found == expected
    assert state_tuples(found) == [("a.b", ("x", "y", "z")), ("c d", ("u", "v", "w"))]


LEVELS = ["LOW", "NORMAL", "HIGH"]
DECLARING = {
    "pandas": lambda v: pd.DataFrame({"x": pd.Categorical(v, LEVELS), "y": [0, 1]}),
    "pandas ordered": lambda v: pd.DataFrame(
        {"x": pd.Categorical(v, LEVELS, ordered=True), "y": [0, 1]}
    ),
    "polars": lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.Enum(LEVELS)), "y": [0, 1]}),
    "arrow": lambda v: pa.table(
        {
            "x": pa.DictionaryArray.from_arrays([LEVELS.index(s) for s in v], LEVELS),
            "y": [0, 1],
        }
    ),
    "pandas arrow": lambda v: pd.DataFrame(
        {
            "x": pd.Series(pd.Categorical(v, LEVELS)),
            "y": pd.Series([0, 1], dtype=pd.ArrowDtype(pa.int8())),
        }
    ),
}


@pytest.mark.parametrize("make", DECLARING.values(), ids=DECLARING)
def test_categories_declare_states_and_their_order(make):
    found = read_data(make(["HIGH", "LOW"]))
    assert found.source_variables[0] == Variable("x", tuple(LEVELS))
    assert found.codes.tolist() == [[0, 1], [0, 1]]


def test_a_polars_categorical_declares_nothing():
    frame = pl.DataFrame({"x": ["b", "a"], "y": ["c", "d"]}).cast(pl.Categorical)
    assert state_tuples(read_data(frame)) == [("x", ("a", "b")), ("y", ("c", "d"))]


def test_categories_that_are_not_text():
    frame = pd.DataFrame({"x": pd.cut([1, 5, 9], [0, 4, 8, 12]), "y": pd.Categorical([2, 10, 2])})
    assert state_tuples(read_data(frame)) == [
        ("x", ("(0, 4]", "(4, 8]", "(8, 12]")),
        ("y", ("2", "10")),
    ]


def test_given_states_come_before_categories():
    frame = DECLARING["pandas"](["HIGH", "LOW"])
    found = read_data(frame, states={"x": ["HIGH", "LOW"]})
    assert found.source_variables[0].states == ("HIGH", "LOW")


def test_a_category_may_be_called_na():
    frame = pd.DataFrame({"x": pd.Categorical(["NA", "b"]), "y": [0, 1]})
    assert read_data(frame).source_variables[0].states == ("NA", "b")


def test_mixed_objects_become_text():
    frame = pd.DataFrame({"x": pd.Series([1, "1", True, "b"], dtype=object), "y": [0, 1, 0, 1]})
    found = read_data(frame)
    assert found.source_variables[0].states == ("1", "True", "b")
    assert found.codes[0].tolist() == [0, 0, 1, 2]


def test_names_that_are_not_text():
    found = read_data(pd.DataFrame([[1, 2], [3, 4]]))
    assert found.names == ("0", "1")


def test_the_frame_is_not_changed():
    frame = pd.DataFrame({**TABLE, "cat": pd.Categorical(TABLE["text"])})
    before = frame.copy(deep=True)
    read_data(frame, states={"cat": [*sorted(set(TABLE["text"])), "more"]}, drop=["whole"])
    pd.testing.assert_frame_equal(frame, before)
    table = pl.DataFrame(TABLE)
    read_data(table)
    assert table.equals(pl.DataFrame(TABLE))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.bool_, object, "U3"])
def test_arrays(dtype):
    array = np.array([[0, 1], [1, 1], [1, 0]]).astype(dtype)
    array.flags.writeable = False
    found = read_data(array, names=["x", "y"])
    expected = ("False", "True") if dtype is np.bool_ else ("0", "1")
    assert state_tuples(found) == [("x", expected), ("y", expected)]
    assert found.codes.tolist() == [[0, 1, 1], [1, 1, 0]]


def test_integers_far_apart():
    array = np.array([[-(2**63), 0], [2**63 - 1, 1], [5, 1]], dtype=np.int64)
    found = read_data(array, names=["x", "y"])
    assert found.source_variables[0].states == (str(-(2**63)), "5", str(2**63 - 1))
    big = np.array([[2**64 - 1, 0], [2**64 - 2, 1]], dtype=np.uint64)
    assert read_data(big, names=["x", "y"]).source_variables[0].states == (
        str(2**64 - 2),
        str(2**64 - 1),
    )


def test_structured_arrays_have_their_own_names():
    array = np.array([("a", 1), ("b", 2)], dtype=[("x", "U1"), ("y", int)])
    assert state_tuples(read_data(array)) == [("x", ("a", "b")), ("y", ("1", "2"))]
    assert read_data(array, names=["p", "q"]).names == ("p", "q")


def test_a_dataset_is_returned_unchanged():
    dataset = read_data(pl.DataFrame(TABLE))
    assert read_data(dataset) is dataset


def test_random_tables_agree_between_all_sources(tmp_path):
    rng = np.random.default_rng(5)
    table = {
        f"c{i}": [f"s{k}" for k in rng.integers(0, 2 + i, 400)] if i % 2 else
        rng.integers(-3, 3 + i, 400).tolist()
        for i in range(8)
    }  # fmt: skip
    buffer = io.BytesIO()
    pd.DataFrame(table).to_parquet(buffer)
    (tmp_path / "t.pq").write_bytes(buffer.getvalue())
    found = {csv_of(table, tmp_path / "t.csv"), read_data(tmp_path / "t.pq")}
    found |= {read_data(make(table)) for make in MAKERS.values()}
    assert len(found) == 1


@pytest.mark.parametrize("values", [[np.inf] * 4, [-np.inf, np.nan, np.inf, np.inf]])
def test_a_column_of_infinite_numbers_has_no_value(values):
    frame = pd.DataFrame({"a": list("xyxy"), "b": list("uuvv"), "c": values})
    with pytest.warns(CoevoWarning) as caught:
        found = read_incomplete(frame)
    assert list(found.names) == ["a", "b"]
    assert str(caught[-1].message).startswith("'c' has no value in any row; it is left out.")


def write_files(frame, folder):
    """Return the paths of a frame as files that keep its cells."""
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    frame.to_feather(folder / "t.feather")
    return [folder / name for name in ("t.csv", "t.parquet", "t.feather")]


@pytest.mark.parametrize("has_missing", [False, True])
def test_moments_with_a_zone_are_read_by_the_wall_clock(has_missing, tmp_path):
    """Midnight in Vienna is in the year before by UTC, and in summer two hours away from it."""
    days = pd.Series(pd.date_range("2020-01-01", periods=40, freq="31D", tz="Europe/Vienna"))
    if has_missing:
        days[3] = pd.NaT
    frame = pd.DataFrame({"A": days, "B": list("ab") * 20})
    table = pa.Table.from_pandas(frame)
    cells = [None if pd.isna(day) else day.to_pydatetime() for day in days]
    sources = [
        frame,
        table,
        pl.from_arrow(table),
        frame.assign(A=pd.Series(cells, dtype=object)),
        frame.assign(A=days.astype(object)),
        frame.assign(A=days.convert_dtypes(dtype_backend="pyarrow")),
        *write_files(frame, tmp_path),
    ]
    local = frame.assign(A=days.dt.tz_localize(None))
    expected, info = read_incomplete(local, discretise="mdl", return_info=True)
    assert expected.names == ("A_month", "A_year", "B")  # every hour is the same
    assert ("2019" in info.columns[0].states) is False
    for source in sources:
        found, _ = read_incomplete(source, discretise="mdl", return_info=True)
        assert found.content_hash == expected.content_hash


@pytest.mark.parametrize("cells", [(0, 1, 2), (0.0, 1.0, 2.0), (0, 1, None), (0.0, 1.0, None)])
def test_whole_numbers_have_the_same_states_from_every_source(cells, tmp_path):
    columns = {"n": list(cells) * 10, "t": list("abcba") * 6}
    frame, table = pd.DataFrame(columns), pl.DataFrame(columns)
    table.write_csv(tmp_path / "polars.csv")
    table.write_parquet(tmp_path / "polars.parquet")
    sources = [
        frame,
        frame.astype({"n": object}),
        frame.astype({"n": "Int64"}),
        frame.astype({"n": "double[pyarrow]"}),
        table,
        pa.table(columns),
        tmp_path / "polars.csv",
        tmp_path / "polars.parquet",
        *write_files(frame, tmp_path),
    ]
    found = [read_incomplete(source, discretise="mdl") for source in sources]
    states = ("0", "1") if None in cells else ("0", "1", "2")
    assert {one.dataset.variables[0].states for one in found} == {states}
    assert len({one.content_hash for one in found}) == 1


def test_zero_has_no_sign():
    whole = pd.DataFrame({"n": [-0.0, 1.0, 0.0] * 10, "t": list("abcba") * 6})
    assert read_data(whole, discretise="mdl").variables[0].states == ("0", "1")


# ---- to data frames


def random_dataset(seed, weights=False):
    rng = np.random.default_rng(seed)
    variables = [
        Variable("z", ("lo", "mid", "hi")),
        Variable("a", ("2", "10", "")),
        Variable("m", tuple(f"s{i}" for i in range(300))),
    ]
    columns = [rng.integers(0, variable.arity, 40) for variable in variables]
    return Dataset(variables, columns, rng.integers(1, 4, 40) if weights else None)


@pytest.mark.parametrize("weights", [False, True])
def test_a_dataset_becomes_a_frame_of_pandas(seed, weights):
    dataset = random_dataset(seed, weights)
    frame = dataset.to_pandas()
    assert list(frame.columns) == ["z", "a", "m"]
    assert len(frame) == len(dataset) == dataset.n_rows
    for variable, codes in dataset.iterate_columns():
        assert tuple(frame[variable.name].cat.categories) == variable.states
        assert list(frame[variable.name]) == [variable.states[code] for code in codes]
    rows = [dataset.find_position(name) for name in frame.columns]
    stored = dataset.expand().codes[rows]
    for name, column in zip(frame.columns, stored, strict=True):
        states = dataset.variables[dataset.find_position(name)].states
        assert list(frame[name]) == [states[code] for code in column]


@pytest.mark.parametrize("weights", [False, True])
def test_a_dataset_becomes_a_frame_of_polars(seed, weights):
    dataset = random_dataset(seed, weights)
    frame, expected = dataset.to_polars(), dataset.to_pandas()
    assert frame.columns == list(expected.columns)
    for variable in dataset.source_variables:
        column = frame[variable.name]
        assert tuple(column.dtype.categories) == variable.states
        assert column.to_list() == list(expected[variable.name])


@pytest.mark.parametrize("make", ["to_pandas", "to_polars"])
def test_frames_are_read_back(make):
    variables = [Variable("b", ("lo", "mid", "hi")), Variable("a", ("below_2", "from_2"))]
    dataset = Dataset(variables, [[0, 2, 2], [1, 0, 1]])  # no row has the state mid
    again = read_data(getattr(dataset, make)())
    assert again == dataset
    assert again.source_variables == dataset.source_variables


def test_a_frame_that_does_not_fit_into_memory_is_refused(monkeypatch):
    dataset = random_dataset(1)

    def refuse(n_bytes, what, way_out):
        raise ParameterError(f"{n_bytes} {what} {way_out}")

    monkeypatch.setattr("coevo.data.dataset.check_memory", refuse)
    for make in (dataset.to_pandas, dataset.to_polars):
        with pytest.raises(ParameterError) as caught:
            make()
        assert str(caught.value) == (
            "960 A data frame with 40 rows Write the rows to a file with write_data."
        )
