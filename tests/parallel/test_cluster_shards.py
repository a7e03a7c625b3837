"""Rows on a cluster give the same scores as rows on one machine, even if a worker dies."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import coevo
from coevo.data.read import formats as parquet_module
from coevo.errors import DataError, FileError, ParameterError
from coevo.score import FamilyBatch, TripleBatch
from helpers.clusters import dask_commands, kill
from helpers.random_tables import dataset_of, random_codes, random_families

distributed = pytest.importorskip("distributed")


@pytest.fixture
def table(tmp_path, monkeypatch, seed):
    """Return the path of a table in many row groups, and the table."""
    monkeypatch.setattr(parquet_module, "ROW_GROUP_ROWS", 40)
    dataset = dataset_of(*random_codes("wide", seed, n_rows=600))
    coevo.write_data(dataset, tmp_path / "table.parquet")
    return tmp_path / "table.parquet", dataset


def test_a_worker_that_dies_between_two_batches(table, seed):
    path, dataset = table
    in_memory = coevo.FamilyScorer(dataset)
    batches = [FamilyBatch.from_pairs(random_families(8, 200, 4, one)) for one in (seed, seed + 1)]
    with dask_commands() as dask:
        dying, _ = dask.add_worker(), dask.add_worker()
        check_both_batches(dask.address, lambda: kill(dying), path, in_memory, batches)


@pytest.mark.parametrize("end", [kill, lambda process: process.send_signal(signal.SIGCONT)])
def test_a_worker_that_dies_or_pauses_in_the_middle_of_a_batch(end, table, seed):
    path, dataset = table
    batch = FamilyBatch.from_pairs(random_families(8, 200, 4, seed))
    with dask_commands() as dask, distributed.Client(dask.address) as client:
        slow, _ = dask.add_worker(), dask.add_worker()
        (address,) = [at for at, pid in client.run(os.getpid).items() if pid == slow.pid]
        with (
            coevo.parallel.open_shards(path, cluster=client, rows=40) as shards,
            ThreadPoolExecutor(1) as thread,
        ):
            slow.send_signal(signal.SIGSTOP)  # it has its part of the batch and does not finish it
            found = thread.submit(coevo.parallel.ShardedScorer(shards).local_scores, batch)
            while not client.processing()[address]:
                assert not found.done()
            end(slow)
            in_memory = coevo.FamilyScorer(dataset)
            assert found.result().tobytes() == in_memory.local_scores(batch).tobytes()


def check_both_batches(address, between, path, in_memory, batches):
    """Score two batches and call `between` in between; compare with the scores in memory."""
    with coevo.parallel.open_shards(path, cluster=address, rows=40) as shards:
        scorer = coevo.parallel.ShardedScorer(shards)
        first = scorer.local_scores(batches[0])
        assert first.tobytes() == in_memory.local_scores(batches[0]).tobytes()
        before = shards.traffic
        assert (before.batches, before.families) == (1, scorer.cache_statistics.scored)
        assert before.sent > 0
        assert before.received > 0
        between()
        second = scorer.local_scores(batches[1])
        assert second.tobytes() == in_memory.local_scores(batches[1]).tobytes()
        assert shards.traffic.batches == 2
        assert shards.estimate_memory() == 0


def test_files_and_workers_give_the_same_result(dask_workers, table, tmp_path):
    path, _ = table
    with (
        coevo.parallel.open_shards(path, cluster=dask_workers.client, rows=100) as there,
        coevo.parallel.open_shards(path, rows=70, folder=tmp_path) as here,
    ):
        assert here.content_hash == there.content_hash
        assert here.source_variables == there.source_variables
        found = [
            coevo.run_search("ccma", coevo.parallel.ShardedScorer(shards, "k2"), random_state=1,
                             budget=coevo.Budget(max_generations=2))
            for shards in (here, there)
        ]  # fmt: skip
        assert found[0].dag == found[1].dag
        assert found[0].score == found[1].score
        assert len(list(tmp_path.glob("coevo-shards-*/*.npy"))) == 2 * len(here.digests)
    assert not list(tmp_path.glob("coevo-shards-*"))


def test_an_error_on_a_worker_reaches_the_caller(dask_workers, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1, 2, None], "y": [1, 2, 2]}), tmp_path / "t.parquet")
    with (
        pytest.raises(DataError, match="Column 'x' has 1 missing value, in row 3"),
        coevo.parallel.open_shards(tmp_path / "t.parquet", cluster=dask_workers.client),
    ):
        pass


def test_the_rows_of_a_shard():
    with (
        pytest.raises(ParameterError) as raised,
        coevo.parallel.open_shards("t.parquet", rows=0),
    ):
        pass
    assert str(raised.value) == "'rows' of open_shards must be an int >= 1; got 0."


def test_invalid_folders_and_sources(table, tmp_path):
    path, _ = table
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"is a file\. Name a folder\."):
        coevo.parallel.open_shards(path, folder=tmp_path / "file").__enter__()
    with pytest.raises(ParameterError, match="'source' of open_shards must be the path of a"):
        coevo.parallel.open_shards(3).__enter__()
    with pytest.raises(ParameterError, match="'folder' of open_shards is a folder on this m"):
        coevo.parallel.open_shards(path, folder=tmp_path, cluster="local:1").__enter__()
    (tmp_path / "t.csv").write_text("a,b\n0,1\n")
    with pytest.raises(FileError, match="is not a Parquet file, and only Parquet files can be "):
        coevo.parallel.open_shards(tmp_path / "t.csv").__enter__()


@pytest.mark.parametrize("place", ["files", "workers"])
def test_closed_shards(place, table, dask_workers):
    path, _ = table
    with coevo.parallel.open_shards(
        path, cluster=dask_workers.client if place == "workers" else None
    ) as rows:
        scorer = coevo.parallel.ShardedScorer(rows)
    assert str(rows).endswith(": 600 rows, 8 variables, 1 shards>")
    with pytest.raises(ParameterError) as raised:
        scorer.local_scores(FamilyBatch.from_pairs([(0, ())]))
    assert str(raised.value) == (
        "These shards are closed. Score families inside 'with open_shards(...)'."
    )


def test_tests_of_independence_on_a_cluster(dask_workers, table, seed):
    path, dataset = table
    rng = np.random.default_rng(seed)
    drawn = [rng.permutation(8)[: rng.integers(2, 6)].tolist() for _ in range(60)]
    triples = TripleBatch.from_triples([(x, y, given) for x, y, *given in drawn])
    right = coevo.FamilyScorer(dataset).test_triples(triples)
    client = dask_workers.client
    with coevo.parallel.open_shards(path, cluster=client, rows=40) as shards:
        scorer = coevo.parallel.ShardedScorer(shards)
        assert scorer.test_triples(triples).p_values.tobytes() == right.p_values.tobytes()
        found = coevo.run_search("pc", scorer)
    assert found.dag == coevo.run_search("pc", coevo.FamilyScorer(dataset)).dag
    with coevo.parallel.DistributedScorer(dataset, cluster=client) as scorer:
        assert scorer.test_triples(triples).p_values.tobytes() == right.p_values.tobytes()
