"""Tables with missing values: every source gives the same table; bins use observed values."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from coevo.data import Dataset, IncompleteDataset, Variable, read_data, read_incomplete
from coevo.errors import DataError, ParameterError
from helpers.random_tables import dataset_of


@pytest.fixture
def frame(seed):
    """Return a frame of text, integers, booleans and measurements, with nulls."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=300)
    columns = {
        "level": pd.Series(np.where(x > 0, "high", "low")),
        "n": pd.Series(rng.integers(3, size=300)).astype("Int64"),
        "x": pd.Series(np.round(x, 3)),
        "yes": pd.Series(x > 0.5).astype("boolean"),
    }
    missing = rng.random((300, 4)) < 0.1
    return pd.DataFrame(columns).mask(missing), missing


@pytest.mark.parametrize("method", ["mdl", "quantile"])
def test_every_source_gives_the_same_table(frame, method, tmp_path):
    table, missing = frame
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    polars = pl.read_parquet(tmp_path / "t.parquet")
    objects = table.astype(object).where(~missing, None)
    sources = [
        table,
        str(tmp_path / "t.csv"),
        tmp_path / "t.parquet",
        polars,
        polars.to_arrow(),
        objects,
    ]
    found = [read_incomplete(source, discretise=method, return_info=True) for source in sources]
    first, infos = found[0]
    assert first.missing.T.tolist() == missing.tolist()
    assert first.missing_counts == dict(zip(first.names, missing.sum(axis=0).tolist(), strict=True))
    for other, other_infos in found[1:]:
        assert other == first
        assert other.dataset.variables == first.dataset.variables
        assert [n.states for n in other_infos.columns] == [n.states for n in infos.columns]


@pytest.mark.parametrize("method", ["quantile", "uniform", "kmeans"])
def test_missing_values_do_not_change_bins(frame, method):
    table, _ = frame
    _, infos = read_incomplete(table[["level", "x"]], discretise=method, return_info=True)
    there = table["x"].dropna().to_numpy()
    alone = np.stack([there, np.resize([0.0, 1.0], len(there))], axis=1)
    types = {"y": "categorical"}
    dataset = read_data(alone, names=["x", "y"], discretise=method, types=types)
    assert infos.columns[1].states == dataset.source_variables[0].states


def test_mdl_uses_the_other_columns(seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=600)
    frame = pd.DataFrame({"x": x, "y": np.where(x < 0.3, "a", "b")})
    frame.loc[rng.random(600) < 0.2, "x"] = np.nan
    frame.loc[rng.random(600) < 0.2, "y"] = None
    _, infos = read_incomplete(frame, discretise="mdl", return_info=True)
    assert min(abs(cut - 0.3) for cut in infos.columns[0].cuts.points) < 0.05


def test_missing_labels(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1.5,x,NA\n-9,y,?\n2.5, none ,NA\n1.5,x,?\n")
    table, infos = read_incomplete(
        path,
        missing_labels=["-9", "none"],
        keep_labels=["c=NA", "?"],
        types={"a": [2]},
        return_info=True,
    )
    assert np.argwhere(table.missing).tolist() == [[0, 1], [1, 2]]
    states = [info.states for info in infos.columns]
    assert states == [("below_2", "from_2"), ("x", "y"), ("?", "NA")]
    floats = np.array([[1.5, 1], [-9, 0], [2.5, 1]])
    types = {"a": [2], "b": "categorical"}
    found = read_incomplete(floats, names=["a", "b"], missing_labels=["-9"], types=types)
    assert found.missing_counts["a"] == 1
    with pytest.raises(ParameterError) as caught:
        read_incomplete(path, missing_labels="NA")
    assert str(caught.value) == (
        "'missing_labels' of read_incomplete must be a list of labels, or a mapping of columns to "
        "labels; got 'NA'."
    )


def test_default_missing_labels_are_text_if_they_are_kept(tmp_path):
    """A kept ``NA`` among numbers is a state, and the column has no bins."""
    path = tmp_path / "t.csv"
    numbers = [str(i / 4) for i in range(40)]
    path.write_text(
        "\n".join(["a,b", *(f"{x},{i % 2}" for i, x in enumerate(numbers * 3)), "NA,?"])
    )
    table, infos = read_incomplete(
        path, keep_labels={"a": "NA"}, discretise="mdl", return_info=True
    )
    assert table.missing_counts == {"a": 0, "b": 1}
    assert (infos.columns[0].holds, infos.columns[0].cuts) == ("text", None)
    with pytest.raises(DataError, match="Column 'a' holds 'NA', first in row 121, which is not a"):
        read_incomplete(path, keep_labels=["NA"], types={"a": "continuous"})


def test_a_declared_state_is_not_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nNA,x\nyes,NA\nyes,y\n")
    table = read_incomplete(path, states={"a": ["yes", "NA"]})
    assert table.missing_counts == {"a": 0, "b": 1}


def test_a_column_without_values(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n?,x,1\n,y,2\n")
    table, info = read_incomplete(path, return_info=True)
    assert table.names == ("b", "c")
    assert [str(decision) for decision in info.decisions] == [
        "'a' has no value in any row; it is left out. Undo: strict=True, or --strict."
    ]
    with pytest.raises(DataError) as caught:
        read_incomplete(path, states={"a": ["x", "y"]})
    assert str(caught.value) == (
        "Column 'a' has declared states and no value in any row. Leave it out (drop=['a'], or "
        "--drop a)."
    )


def test_observed_values_are_checked(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n?,x\nno,y\nmaybe,x\n")
    with pytest.raises(DataError, match="'maybe', first in row 3, which is not one"):
        read_incomplete(path, states={"a": ["no", "yes"]})
    lists = pd.DataFrame({"d": [["2020-01-01"], None], "y": ["a", "b"]})
    with pytest.raises(DataError, match="which coevo does not read"):
        read_incomplete(lists)


def small():
    dataset = dataset_of([2, 3], np.array([[0, 1, 1, 0], [2, 0, 1, 2]]))
    missing = np.array([[False, True, False, False], [False, False, False, True]])
    return IncompleteDataset(dataset, missing)


def test_drop_incomplete_rows():
    assert small().drop_incomplete_rows().codes.tolist() == [[0, 1], [2, 1]]
    assert small().n_complete_rows == 2


def test_missing_as_a_state():
    found = small().add_missing_state("s00000")
    assert found.source_variables[0].states == ("s00000", "s00001", "s00000_")
    labels = [found.variables[0].states[code] for code in found.codes[0]]
    assert labels == ["s00000", "s00000_", "s00001", "s00000"]


def test_equality_does_not_depend_on_row_order(seed):
    table = small()
    order = np.random.default_rng(seed).permutation(4)
    moved = IncompleteDataset(
        table.make_dataset(table.dataset.codes[:, order]), table.missing[:, order]
    )
    assert moved == table
    assert hash(moved) == hash(table)
    one, back = table.sort_by_content()
    two, _ = moved.sort_by_content()
    assert one.missing.tolist() == two.missing.tolist()
    shown = [np.where(t.missing, 9, t.dataset.codes).tolist() for t in (one, two)]
    assert shown[0] == shown[1]
    assert one.missing.tolist() == table.missing[:, back].tolist()
    assert pickle.loads(pickle.dumps(table)) == table
    none = IncompleteDataset(table.dataset, np.zeros((2, 4), dtype=bool))
    assert none != table
    assert none != table.dataset


def test_a_dataset_has_no_missing_values():
    dataset = dataset_of([2, 2], np.array([[0, 1], [1, 1]]), np.array([2, 1]))
    table = read_incomplete(dataset)
    assert table.n_missing == 0
    assert table.dataset == dataset
    assert table.dataset.weights is None
    assert read_incomplete(table) is table
    with pytest.raises(ParameterError, match="a Dataset without weights"):
        IncompleteDataset(dataset, np.zeros((2, 2), dtype=bool))
    with pytest.raises(
        DataError, match=r"'missing' must be an array of bool of the shape \(2, 3\)\."
    ):
        IncompleteDataset(table.dataset, [[0, 1, 0]])


def test_codes_of_missing_values_do_not_matter():
    """The code of a missing value affects neither the hash nor a comparison."""
    wet = [Variable("wet", ("no", "yes")), Variable("x", ("a", "b"))]
    missing = [[False, True], [False, False]]
    one = IncompleteDataset(Dataset(wet, [[0, 0], [0, 1]]), missing)
    two = IncompleteDataset(Dataset(wet, [[0, 1], [0, 1]]), missing)
    assert one == two


def test_dictionaries_of_arrow_inside_pandas():
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    frame = pd.DataFrame({"a": pd.Series(["x", "y", None, "x"], dtype=kind), "b": list("uvuv")})
    table = read_incomplete(frame)
    assert table.missing_counts == {"a": 1, "b": 0}
    assert read_data(frame.dropna()).variables[0].states == ("x", "y")
