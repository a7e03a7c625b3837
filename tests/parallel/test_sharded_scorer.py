"""Scores of rows in shards are equal, to the last bit, to scores of the same rows in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coevo
from coevo.data import read_data, write_data
from coevo.data.read import formats as parquet_module
from coevo.errors import DataError, FileError, ParameterError
from coevo.parallel import ShardedScorer, chunks, distributed, write_shards
from coevo.parallel import shards as shards_module
from coevo.parallel.shards import DistinctRows, FamilyCounts, add_counts, find_distinct_rows
from coevo.score import (
    SCORES,
    TESTS,
    FamilyBatch,
    FamilyScorer,
    TripleBatch,
    arc_gains,
    count_configurations,
)
from coevo.search import Budget, run_search
from helpers.random_tables import SHAPES, dataset_of, random_codes, random_families


@pytest.fixture
def shards_of(tmp_path, monkeypatch):
    """Return a function that writes a dataset into shards with a number of rows."""

    def make(dataset, rows=70, row_group=30):
        monkeypatch.setattr(parquet_module, "ROW_GROUP_ROWS", row_group)
        write_data(dataset, tmp_path / "table.parquet")
        folder = tmp_path / f"shards-{rows}"
        folder.mkdir(exist_ok=True)
        return write_shards(tmp_path / "table.parquet", folder, rows=rows)

    return make


def same(scorer, other, batch):
    found, expected = scorer.local_scores(batch), other.local_scores(batch)
    assert found.tobytes() == expected.tobytes()


@pytest.mark.kernel
@pytest.mark.parametrize("shape", ["skewed", "mixed"])
def test_two_kinds_of_score_to_the_last_bit(shape, shards_of, seed):
    dataset = dataset_of(*random_codes(shape, seed, n_rows=120))
    shards = shards_of(dataset)
    batch = FamilyBatch.from_pairs(random_families(8, 30, 3, seed))
    for name in ("bdeu", "bic"):
        same(ShardedScorer(shards, name), FamilyScorer(dataset, name), batch)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_score_to_the_last_bit(shape, shards_of, seed):
    dataset = dataset_of(*random_codes(shape, seed, n_rows=400))
    shards = shards_of(dataset)
    assert len(shards.digests) > 3
    batch = FamilyBatch.from_pairs(random_families(8, 150, 4, seed))
    for name in SCORES:
        same(ShardedScorer(shards, name), FamilyScorer(dataset, name), batch)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_round_trips_batches_and_threads_change_no_bit(n_jobs, shards_of, seed, monkeypatch):
    dataset = dataset_of(*random_codes("wide", seed, n_rows=300))
    shards = shards_of(dataset)
    batch = FamilyBatch.from_pairs(random_families(8, 300, 4, seed))
    in_memory = FamilyScorer(dataset)
    for cells in (1, 5000, 1 << 24):
        monkeypatch.setattr(distributed, "CELLS_PER_BATCH", cells)
        same(ShardedScorer(shards, n_jobs=n_jobs), in_memory, batch)


def test_a_table_beyond_every_integer_type(shards_of, seed):
    rng = np.random.default_rng(seed)
    arities = (16,) * 20
    dataset = dataset_of(arities, rng.integers(0, 16, (20, 200)))
    batch = FamilyBatch.from_pairs([(0, range(1, 20)), (3, range(4, 18)), (5, (1, 2))])
    for name in SCORES:
        same(ShardedScorer(shards_of(dataset), name), FamilyScorer(dataset, name), batch)


def test_the_table_is_that_of_read_data(shards_of, tmp_path, seed):
    dataset = coevo.sample(coevo.load_network("asia"), 300, random_state=seed)
    shards = shards_of(dataset)
    read = read_data(tmp_path / "table.parquet")
    for name in ("names", "variables", "source_variables", "n_rows", "n_variables"):
        assert getattr(shards, name) == getattr(read, name)
    assert shards.arities.tolist() == read.arities.tolist()
    assert shards.find_position("smoke") == read.find_position("smoke")
    assert shards_of(dataset, rows=10).content_hash == shards.content_hash
    assert shards.content_hash == read.content_hash == dataset.expand().content_hash
    other = coevo.sample(coevo.load_network("asia"), 300, random_state=seed + 1)
    assert shards_of(other).content_hash != shards.content_hash


@pytest.mark.parametrize("method", ["ccma", "ccga", "hill_climb", "tabu", "k2", "ges"])
def test_searches_find_the_same(method, shards_of, seed):
    dataset = coevo.sample(coevo.load_network("asia"), 500, random_state=seed)
    weights = {("smoke", "lung"): 1.5}
    budget = Budget(max_generations=4)
    there, here = (
        run_search(method, scorer, budget=budget, random_state=3)
        for scorer in (
            ShardedScorer(shards_of(dataset, 200), weights=weights),
            FamilyScorer(dataset, weights=weights),
        )
    )
    assert there.dag == here.dag
    assert (there.score, there.evaluations) == (here.score, here.evaluations)
    assert there.cache == here.cache


def test_gains_and_scores_of_a_structure(shards_of, seed):
    network = coevo.load_network("asia")
    dataset = coevo.sample(network, 300, random_state=seed)
    scorer, in_memory = ShardedScorer(shards_of(dataset), "bic"), FamilyScorer(dataset, "bic")
    assert scorer.score(network.dag) == in_memory.score(network.dag)
    assert scorer.score_per_variable(network.dag) == in_memory.score_per_variable(network.dag)
    assert arc_gains(scorer, network.dag) == arc_gains(in_memory, network.dag)
    assert scorer.cache_statistics.scored == in_memory.cache_statistics.scored > 0
    assert scorer.estimate_memory() > 0
    assert scorer.local_scores(FamilyBatch.from_pairs([])).tolist() == []


@pytest.mark.parametrize("cells", [1, 1 << 24])
def test_joint_counts(cells, shards_of, seed, monkeypatch):
    """Tables with and without a limit on cells, with their axes in any order."""
    monkeypatch.setattr(shards_module, "CELLS_PER_BATCH", cells)
    rng = np.random.default_rng(seed)
    arities = (2, 3, 9, 9, 9, 9)
    dataset = dataset_of(arities, [rng.integers(0, arity, 150) for arity in arities])
    groups = [[0], [1, 0], [0, 1], [5, 3, 0], [5, 3, 4, 2], [0, 2, 1, 3, 5]]
    shards = shards_of(dataset)
    for group, found in zip(groups, count_configurations(shards, groups), strict=True):
        expected = np.zeros([arities[variable] for variable in group], dtype=np.int64)
        for row in dataset.expand().codes.T:
            expected[tuple(row[group])] += 1
        assert found.tolist() == expected.tolist()
    for group, found in zip(groups, count_configurations(dataset, groups), strict=True):
        assert found.shape == tuple(arities[variable] for variable in group)
        assert found.sum() == 150


def test_fitted_tables_to_the_last_bit(shards_of, seed):
    network = coevo.load_network("asia")
    dataset = coevo.sample(network, 300, random_state=seed)
    here, there = (coevo.fit_network(network.dag, rows) for rows in (dataset, shards_of(dataset)))
    assert there.variables == here.variables
    for node in network.dag.nodes:
        assert there.table(node).tobytes() == here.table(node).tobytes()


# -- reading in chunks


def write(path, row_group=3, **columns):
    table = pa.table(columns)
    pq.write_table(table, path, row_group_size=row_group)
    return path


def test_the_states_of_all_chunks_are_merged(tmp_path):
    """Some states occur in some chunks only; the files have their columns in another order."""
    folder = tmp_path / "parts"
    folder.mkdir()
    write(folder / "a.parquet", x=[1, 2, 2, 10, 9, 1], y=["u", "u", "v", "u", "u", "u"])
    write(folder / "b.pq", y=["w", "u"], x=[3, 3])
    (folder / "README").write_text("not a table")
    shards = write_shards(folder, tmp_path, rows=1)
    in_memory = np.array([[1, 2, 2, 10, 9, 1, 3, 3], ["u", "u", "v", "u", "u", "u", "w", "u"]]).T
    read = read_data(in_memory, names=["x", "y"])
    assert shards.source_variables == read.source_variables
    batch = FamilyBatch.from_pairs([(0, ()), (1, (0,)), (0, (1,))])
    same(ShardedScorer(shards, "k2"), FamilyScorer(read, "k2"), batch)


def test_declared_states_and_columns_left_out(tmp_path):
    path = write(tmp_path / "t.parquet", a=[0, 1, 0], b=["x", "y", "x"], c=[0.5, 1.5, 2.5])
    shards = write_shards(path, tmp_path, states={"b": ["z", "y", "x"]}, drop=["c"])
    assert shards.source_variables[1].states == ("z", "y", "x")
    assert shards.names == ("a", "b")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["a", "b", "a", "b", None, "a"], "counted from row 4: Column 'y' has 1 missing value, in "
         "row 2. Drop or impute it first."),
        ([0.5, 1.5, 0.5, 1.0, 2.0, 1.0], "counted from row 1: Column 'y' holds decimal numbers, "
         "the first is 0.5 in row 1. Give its cut points with types= (--types), for example from "
         "the run.json of a run on some of the rows, or give 'categorical' there, or leave it out "
         "(drop=['y'], or --drop y)."),
    ],
)  # fmt: skip
def test_invalid_values_raise_an_error(column, message, tmp_path):
    path = write(tmp_path / "t.parquet", x=[1, 2] * 3, y=column)
    with pytest.raises(DataError) as raised:
        write_shards(path, tmp_path, rows=3)
    assert str(raised.value) == f"In {str(path)!r}, {message}"


def test_an_identifier_is_refused(tmp_path):
    path = write(tmp_path / "t.parquet", x=[1, 2] * 15, y=[f"p{i}" for i in range(30)])
    with pytest.raises(DataError, match="'y' has a different value in each of its 30 rows"):
        write_shards(path, tmp_path, rows=3)


@pytest.mark.parametrize("n_rows", [4, 40])
def test_more_states_than_there_can_be(n_rows, tmp_path, monkeypatch):
    """One chunk has too many states, or all chunks together have too many."""
    monkeypatch.setattr(chunks, "MAX_STATES", 5)
    path = write(tmp_path / "t.parquet", 4, x=[1, 2] * 20, y=[f"p{i % 20}" for i in range(40)])
    with pytest.raises(DataError, match=r"^Column 'y' has (more than|a different value)"):
        write_shards(path, tmp_path, rows=n_rows)


def test_files_with_different_columns(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    with pytest.raises(FileError, match=r"^There is no Parquet file in "):
        write_shards(folder, tmp_path)
    write(folder / "a.parquet", x=[1, 2], y=[1, 2])
    write(folder / "b.parquet", x=[1, 2], z=[1, 2])
    with pytest.raises(DataError, match=r"has a column 'y'\. Give files with the same columns\.$"):
        write_shards(folder, tmp_path)
    write(folder / "b.parquet", x=[1, 2])
    with pytest.raises(DataError, match=r"has a column 'y'\. Give files with the same columns\.$"):
        write_shards(folder, tmp_path)


def test_a_scorer_wants_shards():
    with pytest.raises(ParameterError) as raised:
        ShardedScorer("table.parquet")
    assert str(raised.value) == (
        "'shards' of ShardedScorer must be Shards (see open_shards); got 'table.parquet'."
    )


# -- counts of families


def test_counts_survive_packing_and_add_up(seed):
    rng = np.random.default_rng(seed)
    parts = [
        np.where(rng.random(1001) < 0.3, rng.integers(0, most, 1001), 0).astype(np.uint32)
        for most in (2, 300, 70_000)
    ]
    packed = [FamilyCounts.pack(part, {}) for part in parts]
    for part, counts in zip(parts, packed, strict=True):
        assert counts.unpack().tolist() == part.tolist()
        assert counts.n_bytes < part.nbytes
    assert add_counts(packed).unpack().tolist() == sum(parts).tolist()


def test_distinct_rows_beyond_every_integer(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (60, 5), dtype=np.uint8)[:, rng.integers(0, 5, 200)]
    found = find_distinct_rows(codes)
    counted = {}
    for row in codes.T.tolist():
        counted[tuple(row)] = counted.get(tuple(row), 0) + 1
    rows = map(tuple, found.codes.T.tolist())
    assert dict(zip(rows, found.counts.tolist(), strict=True)) == counted
    assert isinstance(found, DistinctRows)


@pytest.mark.parametrize("shape", SHAPES)
def test_tests_of_independence_to_the_last_bit(shape, shards_of, seed):
    dataset = dataset_of(*random_codes(shape, seed, n_rows=400))
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(8)[: rng.integers(2, 7)].tolist() for _ in range(100)]
    triples = TripleBatch.from_triples([(x, y, given) for x, y, *given in drawn])
    with_shards = ShardedScorer(shards_of(dataset), n_jobs=2)
    for test in TESTS:
        found, right = (s.test_triples(triples, test) for s in (with_shards, FamilyScorer(dataset)))
        for name in ("statistics", "degrees_of_freedom", "p_values"):
            assert getattr(found, name).tobytes() == getattr(right, name).tobytes()
