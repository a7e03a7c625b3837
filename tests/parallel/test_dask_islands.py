"""Islands give the same result on a cluster, in processes, and after a worker dies."""

import json
import sys
from dataclasses import replace

import pytest

import coevo
from coevo.cli import main
from coevo.errors import ParameterError, WorkerError
from coevo.parallel import Processes
from coevo.parallel.distributed import DaskIslands
from helpers import cluster_jobs
from helpers.clusters import dask_commands, kill
from helpers.problems import find_differing_fields, get_outcome, random_table

pytest.importorskip("distributed")

METHOD = coevo.Islands(islands=3, epoch=2, migrants=1, orders=4, masks=2)


def run(method, seed, n_epochs=2, **options):
    scorer = coevo.FamilyScorer(random_table(seed, n_variables=9), "k2")
    limit = coevo.Budget(max_generations=n_epochs)
    return coevo.run_search(method, scorer, budget=limit, random_state=seed, **options)


def test_the_same_on_a_cluster(dask_workers, seed):
    here = run(METHOD, seed)
    with coevo.parallel.distribute_islands(METHOD, cluster=dask_workers.client) as method:
        there = run(method, seed)
    assert get_outcome(there) == get_outcome(here)
    assert not find_differing_fields(there.state, here.state)


def test_the_same_in_processes(seed):
    there = run(replace(METHOD, runner=DaskIslands(Processes(2))), seed, n_epochs=1)
    assert not find_differing_fields(there.state, run(METHOD, seed, n_epochs=1).state)


def test_a_worker_killed_in_the_middle_of_an_epoch(dask_workers, seed, tmp_path):
    remote = DaskIslands(dask_workers)

    def dying(epoch, islands):
        return remote(cluster_jobs.DyingEpoch(epoch, tmp_path / "died"), islands)

    there = run(replace(METHOD, runner=dying), seed)
    assert (tmp_path / "died").exists()
    assert not find_differing_fields(there.state, run(METHOD, seed).state)


def test_the_table_is_sent_once(dask_workers, seed, monkeypatch):
    sent = []
    share = type(dask_workers).share
    monkeypatch.setattr(
        type(dask_workers), "share", lambda self, value: sent.append(value) or share(self, value)
    )
    run(replace(METHOD, runner=DaskIslands(dask_workers)), seed, n_epochs=3)
    assert len(sent) == 1


def test_a_search_resumes_here_after_the_scheduler_dies(seed):
    kept = []
    with dask_commands() as dask:
        dask.add_worker()

        def keep(checkpoint):
            kept.append(checkpoint.state)
            if len(kept) == 2:
                kill(dask.scheduler)

        with (
            pytest.raises(WorkerError, match="is lost"),
            coevo.parallel.distribute_islands(METHOD, cluster=dask.address) as method,
        ):
            run(method, seed, n_epochs=3, on_checkpoint=keep)
    assert [state.generation for state in kept] == [0, 1]
    rest = run(METHOD, seed, n_epochs=3, state=kept[-1])
    assert not find_differing_fields(rest.state, run(METHOD, seed, n_epochs=3).state)


def test_islands_need_a_family_scorer(dask_workers, seed):
    class Other(coevo.FamilyScorer):
        pass

    with pytest.raises(ParameterError) as raised:
        coevo.run_search(
            replace(METHOD, runner=DaskIslands(dask_workers)), Other(random_table(seed))
        )
    assert str(raised.value) == (
        "Islands on a cluster need a FamilyScorer, because each worker holds the complete table; "
        "got a Other. Leave out the cluster of the islands."
    )
    with (
        pytest.raises(ParameterError, match="'method' of distribute_islands must be Islands"),
        coevo.parallel.distribute_islands(coevo.CCMA()),
    ):
        pass


def test_the_command(dask_workers, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = "coevo learn --example asia --rows 300 --islands 2 --seed 3 --format json"
    address = dask_workers.client.scheduler.address

    def answer(more):
        monkeypatch.setattr(sys, "argv", [*words.split(), *more.split()])
        main()
        return json.loads(capsys.readouterr().out)

    here = answer("--max-generations 2 -o here")
    answer(f"--max-generations 1 -o there --cluster {address}")
    there = answer("--max-generations 2 -o there --resume")
    assert here["method"] == "islands"
    for own in ("model.bif", "history.jsonl"):
        one, two = ((tmp_path / folder / own).read_text() for folder in ("here", "there"))
        assert [drop_times(line) for line in one.splitlines()] == [
            drop_times(line) for line in two.splitlines()
        ]
    assert there["score"] == here["score"]


def drop_times(line):
    if not line.startswith("{"):
        return line
    return {name: value for name, value in json.loads(line).items() if name != "seconds"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--islands 2 -m k2", "--islands needs the method ccma; got -m k2."),
        ("--cluster local:2", "--cluster needs DATA; it cannot be combined with --example."),
        ("--islands 2 --cluster local:", "'cluster' of learn must be an address"),
    ],
)
def test_invalid_options_of_the_command(words, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["coevo", "learn", "--example", "asia", *words.split()])
    with pytest.raises(SystemExit):
        main()
    assert message in " ".join(capsys.readouterr().err.split())
