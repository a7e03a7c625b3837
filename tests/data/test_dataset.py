"""A dataset is immutable and does not depend on the order of rows, columns or states."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from coevo.data import Dataset, Discrete, Variable, write_data
from coevo.errors import DataError, ParameterError
from coevo.runtime import memory
from helpers.errors import refusal


def random_dataset(seed, n_rows=200, arities=(2, 3, 4)):
    rng = np.random.default_rng(seed)
    variables = [
        Variable(f"v{i}", tuple(f"s{k}" for k in range(arity))) for i, arity in enumerate(arities)
    ]
    return variables, [rng.integers(0, arity, n_rows) for arity in arities]


def test_variables_and_states_are_put_in_canonical_order():
    wet = Variable("wet", ("yes", "no"))
    rain = Variable("rain", ("none", "heavy", "light"))
    dataset = Dataset([wet, rain], [[0, 1, 1], [0, 1, 2]])
    assert dataset.names == ("rain", "wet")
    assert dataset.variables == (
        Variable("rain", ("heavy", "light", "none")),
        Variable("wet", ("no", "yes")),
    )
    assert dataset.source_variables == (wet, rain)
    assert dataset.codes.tolist() == [[2, 0, 1], [1, 0, 0]]
    assert dataset.arities.tolist() == [3, 2]
    assert dataset.find_position("wet") == 1
    assert repr(dataset) == "<Dataset: 3 rows, 2 variables>"


@pytest.mark.parametrize("seed", range(5))
def test_the_hash_does_not_depend_on_order(seed):
    variables, columns = random_dataset(seed)
    expected = Dataset(variables, columns)
    rng = np.random.default_rng(seed + 100)
    rows = rng.permutation(len(columns[0]))
    order = rng.permutation(len(variables))
    moved, coded = [], []
    for i in order:
        states = rng.permutation(variables[i].arity)
        moved.append(Variable(variables[i].name, tuple(variables[i].states[k] for k in states)))
        coded.append(np.argsort(states)[columns[i][rows]])
    found = Dataset(moved, coded)
    assert found.content_hash == expected.content_hash
    assert found == expected
    assert hash(found) == hash(expected)


def test_every_change_changes_the_hash():
    variables, columns = random_dataset(0)
    original = Dataset(variables, columns)
    changed = [column.copy() for column in columns]
    changed[1][7] = (changed[1][7] + 1) % 3
    renamed = [Variable("other", variables[0].states), *variables[1:]]
    restated = [Variable("v0", ("s0", "other")), *variables[1:]]
    unseen = [Variable("v0", (*variables[0].states, "unseen")), *variables[1:]]
    longer = [np.append(column, column[0]) for column in columns]
    others = [
        Dataset(variables, changed),
        Dataset(renamed, columns),
        Dataset(restated, columns),
        Dataset(unseen, columns),
        Dataset(variables, longer),
    ]
    assert len({original, *others}) == 6
    assert original != "a dataset"


def test_the_hash_is_that_of_every_version():
    variables, columns = random_dataset(0)
    dataset = Dataset(variables, columns)
    assert dataset.content_hash == Dataset(variables, columns).content_hash
    assert len(dataset.content_hash) == 32


@pytest.mark.parametrize("seed", range(3))
def test_deduplicate_keeps_the_observations(seed):
    variables, columns = random_dataset(seed, n_rows=3000)
    dataset = Dataset(variables, columns)
    deduplicated = dataset.deduplicate()
    assert deduplicated.codes.shape == (3, 24)
    assert deduplicated.n_rows == dataset.n_rows == 3000
    assert deduplicated == dataset
    assert deduplicated.source_variables == dataset.source_variables
    rows, counts = np.unique(dataset.codes, axis=1, return_counts=True)
    order = np.lexsort(deduplicated.codes[::-1])
    assert np.array_equal(deduplicated.codes[:, order], rows)
    assert np.array_equal(deduplicated.weights[order], counts)
    assert deduplicated.codes.flags.c_contiguous
    assert repr(deduplicated) == "<Dataset: 3,000 rows (24 distinct), 3 variables>"
    assert deduplicated.deduplicate() is deduplicated


def test_deduplicate_skips_tables_with_few_duplicates():
    variables, columns = random_dataset(0, n_rows=300)  # 24 of 300 is more than a sixteenth
    dataset = Dataset(variables, columns)
    assert dataset.deduplicate() is dataset
    many, wide = random_dataset(0, n_rows=5000, arities=(50, 50, 50))
    dataset = Dataset(many, wide)
    assert dataset.deduplicate() is dataset


def test_weights_count_rows():
    variables = [Variable("x", ("a", "b")), Variable("y", ("c", "d"))]
    weighted = Dataset(variables, [[0, 1, 0], [0, 1, 0]], weights=np.array([2, 3, 1]))
    plain = Dataset(variables, [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
    assert weighted.n_rows == 6
    assert weighted == plain


def test_arrays_are_read_only():
    variables, columns = random_dataset(0, n_rows=3000)
    before = [column.copy() for column in columns]
    weights = np.ones(3000, dtype=np.int64)
    weighted = Dataset(variables, columns, weights)
    dataset = Dataset(variables, columns)
    deduplicated = dataset.deduplicate()
    sent = pickle.loads(pickle.dumps(deduplicated))  # as a worker gets it
    assert sent == deduplicated
    assert sent.source_variables == deduplicated.source_variables
    arrays = [
        dataset.codes,
        deduplicated.codes,
        deduplicated.weights,
        weighted.weights,
        deduplicated.arities,
    ]
    for array in (*arrays, sent.codes, sent.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    columns[0][:] = 0
    weights[:] = 5
    assert weighted.n_rows == 3000
    assert Dataset(variables, before) == dataset
    with pytest.raises(AttributeError):
        dataset.codes = None


@pytest.mark.parametrize(
    ("arity", "dtype"), [(256, np.uint8), (257, np.uint16), (65_535, np.uint16)]
)
def test_a_value_takes_one_byte_or_two(arity, dtype):
    states = tuple(str(i) for i in range(arity))
    dataset = Dataset(
        [Variable("x", states), Variable("y", ("0", "1"))], [np.arange(arity), np.arange(arity) % 2]
    )
    assert dataset.codes.dtype == dtype
    x = dataset.variables[0]
    assert [x.states[code] for code in dataset.codes[0]] == list(states)


X, Y = Variable("x", ("a", "b")), Variable("y", ("a", "b"))


@pytest.mark.parametrize(
    ("variables", "columns", "message"),
    [
        ([X, X], [[0], [0]], "Two columns are called 'x'. Rename one of them."),
        ([X, Y], [[0]], "2 variables are declared for 1 columns."),
        ([], [], "The table has no columns. A network needs at least two."),
        ([X, Y], [[0, 1], [0]], "Column 'y' does not have one code for each row."),
        ([X, Y], [[], []], "The table has no rows. Give at least one observation."),
        ([X, Y], [[0.0], [0.0]], "The codes of column 'x' are not integers."),
        ([X, Y], [[0], [2]], "A code of column 'y' is not one of its 2 states."),
        ([X, Y], [[-1], [0]], "A code of column 'x' is not one of its 2 states."),
    ],
)
def test_invalid_columns(variables, columns, message):
    with pytest.raises(DataError) as caught:
        Dataset(variables, columns)
    assert str(caught.value) == message


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1], [1.5, 2.0], [True, True]])
def test_invalid_weights(weights):
    with pytest.raises(DataError) as caught:
        Dataset([X, Y], [[0, 1], [0, 1]], weights=np.array(weights))
    assert str(caught.value) == "Weights must be one integer >= 1 for each row."


def test_too_many_states():
    with pytest.raises(DataError) as caught:
        Variable("x", tuple(str(i) for i in range(65_536)))
    assert str(caught.value) == (
        "Variable 'x' has 65,536 states; the maximum of coevo is 65,535. Group its values."
    )


def test_an_unknown_name():
    with pytest.raises(DataError) as caught:
        Dataset([Variable("rain", ("a",)), Y], [[0], [0]]).find_position("rian")
    assert str(caught.value) == "There is no column 'rian'. Did you mean 'rain'?"


def test_weights_with_a_sum_that_floats_cannot_count():
    variables = [Variable("a", ("x", "y")), Variable("b", ("x", "y"))]
    for weights in ([2**62, 2**62], np.array([2**63, 1], dtype=np.uint64)):
        with pytest.raises(DataError) as caught:
            Dataset(variables, [[0, 1], [0, 1]], weights)
        assert str(caught.value) == "The weights sum to more than 9,007,199,254,740,992."


# -- resampling


def count_rows(dataset):
    """Return the number of occurrences of each row."""
    weights = dataset.weights
    weights = np.ones(dataset.codes.shape[1], dtype=int) if weights is None else weights
    found: dict[tuple[int, ...], int] = {}
    for row, weight in zip(dataset.codes.T.tolist(), weights.tolist(), strict=True):
        found[tuple(row)] = found.get(tuple(row), 0) + weight
    return found


def test_resample_does_not_depend_on_layout(seed):
    variables, columns = random_dataset(seed)
    order = np.random.default_rng(seed).permutation(200)
    rows, counts = np.unique(np.array(columns).T, axis=0, return_counts=True)
    tables = [
        Dataset(variables, columns),
        Dataset(variables, [column[order] for column in columns]),
        Dataset(variables, list(rows.T), counts),
    ]
    drawn = [table.resample(np.random.default_rng(seed)) for table in tables]
    assert [table.weights is None for table in drawn] == [True, True, False]
    assert (
        count_rows(drawn[0])
        == count_rows(drawn[1])
        == count_rows(drawn[2])
        != count_rows(tables[0])
    )
    assert {table.n_rows for table in drawn} == {200}
    assert set(count_rows(drawn[0])) <= set(count_rows(tables[0]))
    assert drawn[2].weights.min() >= 1
    assert drawn[0].source_variables == tables[0].source_variables
    assert not drawn[0].codes.flags.writeable


@pytest.mark.parametrize("deduplicated", [False, True])
def test_resample_draws_observations_with_equal_probability(deduplicated, seed):
    wet = Variable("wet", ("a", "b", "c"))
    table = Dataset([wet], [[2, 1, 0, 1, 1, 2]])
    if deduplicated:
        table = Dataset([wet], [[2, 0, 1]], np.array([2, 1, 3]))
    rng = np.random.default_rng(seed)
    draws = [count_rows(table.resample(rng)) for _ in range(3000)]
    means = [np.mean([draw.get((state,), 0) for draw in draws]) for state in range(3)]
    assert means == pytest.approx([1, 3, 2], abs=0.12)  # five standard errors


def test_weighted_rows_are_expanded_only_if_they_fit_into_memory(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "get_machine_memory", lambda: 10**9)
    variables = [Variable(name, ("0", "1")) for name in "ab"]
    table = Dataset(variables, [[0, 1], [0, 1]], weights=np.array([10**9, 10**9]))
    rng, has = np.random.default_rng(1), "this machine has 1.0 GB"
    expanded = (
        f"The table with each of its 2,000,000,000 rows stored needs 200.0 GB of memory; {has}. "
        "Use a sample of its rows."
    )
    assert refusal(ParameterError, table.expand) == expanded
    assert refusal(ParameterError, table.split, rng, 3) == expanded
    assert refusal(ParameterError, table.resample, rng) == (
        f"A bootstrap sample of 2,000,000,000 rows needs 48.0 GB of memory; {has}. Use a sample of "
        "the rows."
    )
    assert refusal(ParameterError, write_data, table, tmp_path / "t.parquet") == (
        f"The table as Parquet needs 32.0 GB of memory; {has}. Write it as CSV."
    )


def test_an_ordered_variable_is_the_same_variable_with_an_ordered_column():
    plain, ordered = (Discrete("x", ("lo", "hi"), is_ordered=flag) for flag in (False, True))
    assert (plain, hash(plain)) == (ordered, hash(ordered))
    assert not plain.is_ordered
    assert ordered.is_ordered
    assert (plain.size, plain.arity) == (2, 2)
    assert Variable is Discrete
    for variable in (plain, ordered):
        frame = Dataset([variable], [[0, 1]]).to_pandas()
        assert frame["x"].cat.ordered is variable.is_ordered
    assert Dataset([plain], [[0, 1]]) == Dataset([ordered], [[0, 1]])
