"""Masked cells, nulls of strings and integers of any size are read as what they are."""

from __future__ import annotations

import numpy as np
import pytest

from coevo.data import read_data, read_incomplete
from coevo.errors import DataError
from coevo.estimators.base import open_features

MASK = np.array([[0, 0], [0, 1], [1, 0], [0, 0]] * 5, dtype=bool)


def read(array, names=("a", "b")):
    return read_incomplete(
        array,
        names=None if array.dtype.names else list(names),
        types={"a": "categorical", "b": "categorical"},
    )


def list_missing(rows):
    return np.stack([rows.missing[rows.dataset.find_position(name)] for name in "ab"], axis=1)


@pytest.mark.parametrize(
    "values",
    [
        [[0, 1], [1, 7], [9, 1], [0, 0]],
        [[0.5, 1.0], [1.5, 7.0], [9.0, 1.5], [0.5, 0.5]],
        [["x", "y"], ["y", "zz"], ["zz", "x"], ["x", "x"]],
        [[True, False], [False, True], [True, True], [False, False]],
    ],
    ids=["ints", "floats", "texts", "bools"],
)
def test_masked_cells_are_missing_values(values):
    array = np.ma.array(values * 5, mask=MASK)
    rows = read(array)
    assert list_missing(rows).tolist() == MASK.tolist()
    states = {state for variable in rows.dataset.variables for state in variable.states}
    assert states.isdisjoint({"--", "7", "9", "zz", "999999", "N/A"})
    with pytest.raises(DataError, match=r"^Column 'a' has 5 missing values, the first in row 3\."):
        read_data(array, names=["a", "b"], types={"a": "categorical", "b": "categorical"})


def test_masked_fields_and_an_empty_mask():
    fields = [("a", int), ("b", int)]
    array = np.ma.array(
        [(0, 1), (1, 0), (1, 1)] * 10, dtype=fields, mask=[(0, 1), (0, 0), (0, 0)] * 10
    )
    assert list_missing(read(array)).sum(axis=0).tolist() == [0, 10]
    plain = np.ma.array([[0, 1], [1, 0]] * 5)
    assert read_data(plain, names=["a", "b"]) == read_data(plain.data, names=["a", "b"])


@pytest.mark.parametrize("null", [np.nan, None, "__na__"], ids=["nan", "None", "text"])
def test_nulls_of_strings_are_missing_values(null):
    kind = np.dtypes.StringDType(na_object=null)
    array = np.array([["x", null], ["y", "q"], ["x", "r"]] * 9, dtype=kind)
    rows = read(array)
    assert list_missing(rows).sum(axis=0).tolist() == [0, 9]
    assert rows.dataset.variables[1].states == ("q", "r")


def test_strings_without_a_null():
    array = np.array([["x", "nan"], ["y", "q"], ["y", "r"]] * 9, dtype=np.dtypes.StringDType())
    rows = read_incomplete(array, names=["a", "b"], missing_labels=["q"], keep_labels=["nan"])
    assert rows.dataset.variables[1].states == ("nan", "r")


def test_a_masked_array_of_features_keeps_its_mask():
    features = open_features(np.ma.array([[0, 1], [1, 7]] * 4, mask=MASK[:8]), "fit")
    joined = features.add_labels("class", np.array(["u", "v"] * 4))
    assert np.ma.getmaskarray(joined["x1"]).tolist() == MASK[:8, 1].tolist()


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_is_an_array():
    values = [[0, 1], [1, 0], [0, 0]] * 9
    matrix = np.matrix(values)
    assert read_data(matrix, names=["a", "b"]) == read_data(np.array(values), names=["a", "b"])
    assert type(open_features(matrix, "fit").table) is np.ndarray


@pytest.mark.parametrize("large", [2**64, 2**100, -(2**100), 10**400])
def test_large_integers_keep_all_their_digits(large):
    array = np.array([[1, 0], [large, 1], [large + 1, 0]] * 9, dtype=object)
    (a, _) = read_data(array, names=["a", "b"]).variables
    assert set(a.states) == {"1", str(large), str(large + 1)}


def test_an_integer_that_is_too_long_for_a_text():
    array = np.array([[1, 0], [10**5000, 1]] * 9, dtype=object)
    with pytest.raises(DataError) as caught:
        read_data(array, names=["a", "b"])
    assert str(caught.value) == (
        "Column 'a' holds an integer of more than 4,000 digits. Replace it by a text."
    )


def test_integers_of_128_bits():
    polars = pytest.importorskip("polars")
    for values in ([1, 2, 3, 2], [1, 2, 3, 2**100], [1, None, 3, 2**100]):
        column = polars.Series(values * 9, dtype=polars.Int128)
        dataset = read_incomplete(polars.DataFrame({"a": column, "b": [0, 1] * 18})).dataset
        found = {str(value) for value in values if value is not None}
        assert set(dataset.variables[0].states) == found


def test_an_integer_of_json_that_is_too_long(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("\n".join(f'{{"a": {"9" * 400}, "b": {i % 2}}}' for i in range(20)))
    with pytest.raises(DataError) as caught:
        read_data(path)
    assert str(caught.value) == (
        f"{str(path)!r} cannot be read: it holds an integer of 400 digits; the longest may have "
        "300."
    )
