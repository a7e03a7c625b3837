"""Jobs give the same results on a cluster, whatever happens to its processes."""

import operator
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from coevo.errors import DependencyError, ParameterError, WorkerError
from coevo.parallel import Ending, Processes, check_workers, dask_jobs, open_workers
from helpers import cluster_jobs, isolated_jobs
from helpers.clusters import dask_commands, kill

pytest.importorskip("distributed")

NUMBERS = [9, 5, 7, 5, 0, 8]
NEGATIVE = sorted(-number for number in NUMBERS)


# -- the same as elsewhere


@pytest.mark.parametrize("jobs", [NUMBERS, [4], []])
def test_the_same_results_in_some_order(dask_workers, jobs):
    found = sorted(dask_workers.run(cluster_jobs.negative, jobs))
    assert found == sorted(Processes(1).run(cluster_jobs.negative, jobs))


def test_what_jobs_share(dask_workers):
    for workers in (Processes(1), Processes(2), dask_workers):
        found = sorted(workers.run(cluster_jobs.plus, [1, 2, 3], shared=(10, 100)))
        assert found == [111, 112, 113]


def test_what_jobs_share_is_sent_once(dask_workers, monkeypatch):
    class Counted(bytes):
        pickled = 0

        def __reduce__(self):
            Counted.pickled += 1
            return bytes, (bytes(self),)

    found = set(dask_workers.run(operator.getitem, range(20), shared=(Counted(b"x" * 20),)))
    assert found == {ord("x")}
    assert Counted.pickled == 1


def test_jobs_run_on_the_workers(dask_workers):
    pids = set(dask_workers.run(cluster_jobs.pid, NUMBERS))
    assert pids
    assert os.getpid() not in pids


def test_an_exception_of_a_job_reaches_the_caller(dask_workers):
    with pytest.raises(ValueError, match=r"^5 is not wanted$"):
        list(dask_workers.run(cluster_jobs.failing, [5, 5, 5]))


def test_stop_ends_after_what_is_under_way(dask_workers):
    asked = iter([False])
    found = list(dask_workers.run(cluster_jobs.negative, range(50), lambda: next(asked, True)))
    assert 1 <= len(found) <= 4
    assert {-n for n in found} <= set(range(4))


def test_a_caller_that_goes_away(dask_workers):
    results = dask_workers.run(cluster_jobs.negative, NUMBERS)
    next(results)
    results.close()
    assert sorted(dask_workers.run(cluster_jobs.negative, NUMBERS)) == NEGATIVE


def test_a_client_is_used_and_stays_open(dask_workers):
    client = dask_workers.client
    check_workers("paper", 1, client)
    with open_workers(cluster=client) as workers:
        assert sorted(workers.run(cluster_jobs.negative, NUMBERS)) == NEGATIVE
    assert client.status == "running"


# -- jobs apart


def test_a_process_for_each_job_there(dask_workers):
    jobs = ["x", "y"]
    endings = list(
        dask_workers.run_isolated(isolated_jobs.without_beginning, jobs, cluster_jobs.short)
    )
    assert {ending.job for ending in endings} == set(jobs)
    assert all(ending.status == "done" for ending in endings)
    assert len({os.getpid(), *(ending.result[1] for ending in endings)}) == 3


def test_limits_and_deaths_there(dask_workers, tmp_path):
    (ending,) = dask_workers.run_isolated(
        isolated_jobs.never_ending, [tmp_path / "pid"], cluster_jobs.short
    )
    assert ending == Ending(tmp_path / "pid", "timeout")
    (ending,) = dask_workers.run_isolated(isolated_jobs.dying, [signal.SIGSEGV], cluster_jobs.short)
    assert ending.error == "its process died of SIGSEGV"


# -- faults


def test_a_worker_killed_in_the_middle_changes_nothing(dask_workers, tmp_path):
    shared = (tmp_path / "died",)
    assert sorted(dask_workers.run(cluster_jobs.die_once, NUMBERS, shared=shared)) == NEGATIVE
    assert (tmp_path / "died").exists()


def test_a_job_that_kills_every_worker():
    # Workers of its own: Dask gives up on one that is killed again while it is being started.
    with open_workers(cluster="local:2") as workers, pytest.raises(WorkerError) as raised:
        list(workers.run(cluster_jobs.die, [1]))
    assert str(raised.value) == (
        "A job ended several workers of the cluster, one after another, perhaps for want of "
        "memory. Give workers more of it, or have fewer on a machine."
    )


def test_a_worker_that_joins_late_and_a_scheduler_that_goes(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "started")
    jobs = [(str(tmp_path), mode) for mode in ("r", "", "w")]  # the first waits for the last
    with dask_commands() as dask, open_workers(cluster=dask.address) as workers:
        with ThreadPoolExecutor(1) as pool:
            dask.add_worker()
            found = pool.submit(lambda: set(workers.run(cluster_jobs.meet, jobs)))
            assert (tmp_path / "started").read_text() == "reading"
            dask.add_worker()
            assert found.result() == {"hi", None, 2}
        results = workers.run(cluster_jobs.negative, NUMBERS)
        next(results)
        kill(dask.scheduler)
        with pytest.raises(WorkerError) as raised:
            list(results)
    assert str(raised.value) == (
        f"The scheduler of the cluster at {dask.address} is gone. What was done is kept in the "
        "folder of -o; the same command (coevo learn: with --resume) goes on, on another cluster "
        "or without one."
    )


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(dask_jobs, "LONGEST_WITHOUT_WORKERS", 0.0)
    monkeypatch.setattr(dask_jobs, "LOOK_EVERY", 0.1)
    with (
        dask_commands() as dask,
        open_workers(cluster=dask.address) as workers,
        pytest.raises(WorkerError) as raised,
    ):
        list(workers.run(cluster_jobs.negative, NUMBERS))
    assert str(raised.value) == (
        f"The cluster at {dask.address} has had no worker for 0 seconds. Start some with: dask "
        "worker ADDRESS"
    )


def test_an_address_where_nobody_answers():
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "0.1s"}),
        pytest.raises(WorkerError) as raised,
        open_workers(cluster="tcp://127.0.0.1:1"),
    ):
        pass
    assert str(raised.value).startswith("No cluster answers at tcp://127.0.0.1:1 (")
    assert str(raised.value).endswith("). Start one with: dask scheduler")


def test_another_version(dask_workers, monkeypatch):
    monkeypatch.setattr(dask_jobs, "__version__", "9.9")
    with pytest.raises(WorkerError, match=r"has coevo .*, and this is 9.9. Install the same on"):
        list(dask_workers.run(cluster_jobs.negative, [1]))


# -- what is refused before anything starts


@pytest.mark.parametrize("cluster", ["localhost", "local:0", "local:x", "http://a:1", 4, ""])
def test_what_is_no_cluster(cluster):
    with pytest.raises(ParameterError) as raised:
        check_workers("paper", 1, cluster)
    assert str(raised.value) == (
        "'cluster' of paper must be an address (tcp://HOST:PORT, tls://HOST:PORT), local:N, or "
        f"the Client of Dask; got {cluster!r}."
    )


def test_processes_and_a_cluster():
    check_workers("paper", 1, "tls://a.b:1")
    with pytest.raises(ParameterError) as raised:
        check_workers("paper", 2, "local:2")
    assert str(raised.value) == (
        "'n_jobs' of paper is for processes of this machine, and a cluster has workers of its "
        "own. Give one of the two."
    )


def test_without_dask(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    for cluster in ("local:2", "tcp://127.0.0.1:1", object()):
        with pytest.raises(DependencyError) as raised:
            check_workers("paper", 1, cluster)
        assert str(raised.value) == (
            "Dask is not installed. Install it with: pip install 'coevo[dask]'"
        )


def test_one_module_imports_dask():
    import re
    from pathlib import Path

    import coevo

    root = Path(coevo.__file__).parent
    found = [
        path.name
        for path in root.rglob("*.py")
        if re.search(r"^\s*(import|from) (dask|distributed)|require\(\"(dask|distributed)",
                     path.read_text(), re.MULTILINE)
    ]  # fmt: skip
    assert found == ["dask_client.py"]


def test_tls_without_certificates():
    with pytest.raises(ParameterError) as raised, open_workers(cluster="tls://127.0.0.1:1"):
        pass
    assert str(raised.value).startswith("tls://127.0.0.1:1 needs certificates, and Dask's")
