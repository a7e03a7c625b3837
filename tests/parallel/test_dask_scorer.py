"""Scores that a cluster computes equal those of one machine exactly."""

import pytest

import coevo
from coevo.errors import ParameterError
from coevo.parallel import distributed
from coevo.parallel.dask_jobs import DaskWorkers
from coevo.score import FamilyBatch, TripleBatch
from helpers import cluster_jobs
from helpers.problems import get_outcome, random_table
from helpers.random_tables import random_families

pytest.importorskip("distributed")

N = 12


@pytest.fixture
def table(seed):
    return random_table(seed, n_variables=N, n_rows=200)


@pytest.fixture(autouse=True)
def send_small_batches(monkeypatch):
    monkeypatch.setattr(distributed, "MIN_WORK_TO_SEND", 200 * 50)  # fifty families of the table


def batch(seed, n_families=300):
    return FamilyBatch.from_pairs(random_families(N, n_families, 4, seed))


@pytest.mark.parametrize("score", ["bdeu", "k2", "bic"])
def test_the_same_scores(dask_workers, table, seed, score):
    options = {"weights": {tuple(table.names[:2]): 1.5}, "parent_penalty": 0.125}
    here = coevo.FamilyScorer(table, score, **options)
    there = coevo.parallel.DistributedScorer(table, score, cluster=dask_workers.client, **options)
    for families in (batch(seed), batch(seed, 3), batch(seed + 1), batch(seed)):
        expected = here.local_scores(families).tobytes()
        assert there.local_scores(families).tobytes() == expected
    assert there.cache_statistics == here.cache_statistics
    assert (
        there.round_trips == 2
    )  # three families are too few to send, and the last batch is cached
    there.close()
    assert dask_workers.client.status == "running"


def test_families_of_a_child_go_together(table, seed, monkeypatch):
    sent = []
    submit_all = DaskWorkers.submit_all

    def watched(self, function, arguments):
        sent.extend(part for _, part in arguments)
        return submit_all(self, function, arguments)

    monkeypatch.setattr(DaskWorkers, "submit_all", watched)
    # Separate workers: another test may have killed one of the shared workers.
    with coevo.parallel.DistributedScorer(table, cluster="local:2") as scorer:
        scorer.local_scores(batch(seed))
    children = [part.members[part.start[:-1]].tolist() for part in sent]
    assert len(sent) == 2
    assert abs(len(sent[0]) - len(sent[1])) <= 1
    assert [*children[0], *children[1]] == sorted([*children[0], *children[1]])


def triples(seed, n_tests=300):
    """Return tests given up to three variables: the child and the first parent of a family."""
    families = random_families(N, n_tests, 4, seed)
    pairs = [(child, parents) for child, parents in families if parents]
    return TripleBatch.from_triples((x, y, given) for x, (y, *given) in pairs)


@pytest.mark.parametrize("test", ["g2", "x2"])
def test_the_same_tests_of_independence(dask_workers, table, seed, test):
    here = coevo.FamilyScorer(table)
    with coevo.parallel.DistributedScorer(table, cluster=dask_workers.client) as there:
        for tests in (triples(seed), triples(seed, 3)):
            expected, found = (s.test_triples(tests, test) for s in (here, there))
            for field in ("statistics", "degrees_of_freedom", "p_values"):
                assert getattr(found, field).tobytes() == getattr(expected, field).tobytes()
        assert there.round_trips == 1  # three tests are too few to send
        assert len(there.test_triples(TripleBatch.from_triples([]))) == 0


def test_tests_of_a_variable_go_together(dask_workers, table, seed, monkeypatch):
    sent = []
    submit_all = DaskWorkers.submit_all

    def watched(self, function, arguments):
        sent.extend(part for _, part, _ in arguments)
        return submit_all(self, function, arguments)

    monkeypatch.setattr(DaskWorkers, "submit_all", watched)
    with coevo.parallel.DistributedScorer(table, cluster="local:2") as scorer:
        scorer.test_triples(triples(seed))
    first = [variable for part in sent for variable in part.members[part.start[:-1]].tolist()]
    assert len(sent) == 2
    assert first == sorted(first)


@pytest.mark.parametrize("method", ["pc", "mmhc", "wong"])
def test_a_search_tests_on_the_workers(dask_workers, table, seed, method, monkeypatch):
    """With no batch of families large enough, all round trips are tests."""
    sent = []
    submit_all = DaskWorkers.submit_all

    def watched(self, function, arguments):
        sent.append(function)
        return submit_all(self, function, arguments)

    monkeypatch.setattr(DaskWorkers, "submit_all", watched)
    limit = coevo.Budget(max_generations=3)
    with coevo.parallel.DistributedScorer(table, "k2", cluster=dask_workers.client) as there:
        found, expected = (
            coevo.run_search(method, scorer, budget=limit, random_state=seed)
            for scorer in (there, coevo.FamilyScorer(table, "k2"))
        )
    assert distributed._test_triples in sent
    assert get_outcome(found) == get_outcome(expected)


@pytest.mark.parametrize("method", ["ccma", "hill_climb"])
def test_a_search_finds_the_same(dask_workers, table, seed, method):
    limit = coevo.Budget(max_generations=2)
    with coevo.parallel.DistributedScorer(table, "k2", cluster=dask_workers.client) as there:
        found, expected = (
            coevo.run_search(method, scorer, budget=limit, random_state=seed)
            for scorer in (there, coevo.FamilyScorer(table, "k2"))
        )
    assert there.round_trips > 0
    assert get_outcome(found) == get_outcome(expected)


def test_a_worker_killed_in_the_middle_of_a_batch(dask_workers, table, seed, tmp_path):
    here = coevo.FamilyScorer(table, "k2")
    with coevo.parallel.DistributedScorer(table, "k2", cluster=dask_workers.client) as there:
        dying = cluster_jobs.DyingScorer(table, tmp_path / "died")
        there._remote_scorer = dask_workers.share(dying)
        families = batch(seed)
        assert there.local_scores(families).tobytes() == here.local_scores(families).tobytes()
        assert (tmp_path / "died").exists()


@pytest.mark.parametrize("cluster", [None, "somewhere"])
def test_an_invalid_cluster(table, cluster):
    with pytest.raises(ParameterError, match="'cluster' of DistributedScorer must be an address"):
        coevo.parallel.DistributedScorer(table, cluster=cluster)
