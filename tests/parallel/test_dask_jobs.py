"""Jobs give the same results on a cluster, even if its processes die."""

import operator
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from coevo.errors import DependencyError, ParameterError, WorkerError
from coevo.parallel import JobOutcome, Processes, check_workers, dask_jobs, open_workers
from helpers import cluster_jobs, isolated_jobs
from helpers.clusters import dask_commands, kill

pytest.importorskip("distributed")

NUMBERS = [9, 5, 7, 5, 0, 8]
NEGATIVE = sorted(-number for number in NUMBERS)


# -- results


@pytest.mark.parametrize("jobs", [NUMBERS, [4], []])
def test_the_same_results_in_some_order(dask_workers, jobs):
    found = sorted(dask_workers.run(cluster_jobs.negative, jobs))
    assert found == sorted(Processes(1).run(cluster_jobs.negative, jobs))


def test_shared_arguments(dask_workers):
    for workers in (Processes(1), Processes(2), dask_workers):
        found = sorted(workers.run(cluster_jobs.plus, [1, 2, 3], shared=(10, 100)))
        assert found == [111, 112, 113]


def test_shared_arguments_are_sent_once(dask_workers, monkeypatch):
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


def test_stop_waits_for_running_jobs(dask_workers):
    asked = iter([False])
    found = list(dask_workers.run(cluster_jobs.negative, range(50), lambda: next(asked, True)))
    assert 1 <= len(found) <= 4
    assert {-n for n in found} <= set(range(4))


def test_a_closed_iterator_leaves_the_workers_usable(dask_workers):
    results = dask_workers.run(cluster_jobs.negative, NUMBERS)
    next(results)
    results.close()
    assert sorted(dask_workers.run(cluster_jobs.negative, NUMBERS)) == NEGATIVE


def test_a_result_that_an_interrupted_step_took_is_found(dask_workers):
    """A step of Dask's iterator that times out at its end takes the future and returns nothing."""
    future = dask_workers.submit(cluster_jobs.negative, 7)
    completed = dask_workers._track_completed(future)
    while dask_workers._wait_for_next(completed, [future]) is None:
        pass
    assert dask_workers._wait_for_next(completed, [future]) is future  # the iterator is empty
    assert dask_workers.get_result(future) == -7


def test_a_client_is_used_and_stays_open(dask_workers):
    client = dask_workers.client
    check_workers("paper", 1, client)
    with open_workers(cluster=client) as workers:
        assert sorted(workers.run(cluster_jobs.negative, NUMBERS)) == NEGATIVE
    assert client.status == "running"


# -- isolated jobs


def test_isolated_jobs_have_their_own_processes(dask_workers):
    jobs = ["x", "y"]
    outcomes = list(dask_workers.run_isolated(isolated_jobs.return_pid, jobs, cluster_jobs.long))
    assert {outcome.job for outcome in outcomes} == set(jobs)
    assert all(outcome.status == "done" for outcome in outcomes)
    assert len({os.getpid(), *(outcome.result[1] for outcome in outcomes)}) == 3


def test_time_limits_and_crashes_of_isolated_jobs(dask_workers, tmp_path):
    (outcome,) = dask_workers.run_isolated(
        isolated_jobs.hang, [tmp_path / "pid"], cluster_jobs.short
    )
    assert outcome == JobOutcome(tmp_path / "pid", "timeout")
    (outcome,) = dask_workers.run_isolated(
        isolated_jobs.kill_self, [signal.SIGSEGV], cluster_jobs.long
    )
    assert outcome.error == "its process was killed by SIGSEGV"


# -- faults


def test_a_killed_worker_changes_no_result(dask_workers, tmp_path):
    shared = (tmp_path / "died",)
    assert sorted(dask_workers.run(cluster_jobs.die_once, NUMBERS, shared=shared)) == NEGATIVE
    assert (tmp_path / "died").exists()


def test_a_job_that_kills_every_worker():
    # Separate workers: Dask gives up on a worker that is killed again while it starts.
    with open_workers(cluster="local:2") as workers, pytest.raises(WorkerError) as raised:
        list(workers.run(cluster_jobs.die, [1]))
    assert str(raised.value) == (
        "Several workers of the cluster died one after another while they ran the same job, "
        "perhaps because memory ran out. Give each worker more memory, or start fewer workers on a "
        "machine."
    )


def test_a_worker_that_joins_late_and_a_scheduler_that_dies(tmp_path):
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
        f"The connection to the scheduler at {dask.address} is lost. Finished work is stored in "
        "the output folder (-o). Repeat the command to resume (coevo learn: with --resume), on "
        "another cluster or without one."
    )


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr(dask_jobs, "MAX_SECONDS_WITHOUT_WORKERS", 0.0)
    monkeypatch.setattr(dask_jobs, "SECONDS_BETWEEN_CHECKS", 0.1)
    with (
        dask_commands() as dask,
        open_workers(cluster=dask.address) as workers,
        pytest.raises(WorkerError) as raised,
    ):
        list(workers.run(cluster_jobs.negative, NUMBERS))
    assert str(raised.value) == (
        f"The cluster at {dask.address} has had no worker for 0 seconds. Start workers with: "
        "dask worker ADDRESS"
    )


def test_an_address_without_a_scheduler():
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
    with pytest.raises(
        WorkerError, match=r"has coevo .*, but this is coevo 9.9. Install the same version on both"
    ):
        list(dask_workers.run(cluster_jobs.negative, [1]))


# -- parameters are checked before anything starts


NO_PORT = [
    "tcp://a",
    "tls://a.b",
    "tcp://a:",
    "tcp://a:x",
    "tcp://a:0",
    "tcp://a:65536",
    "tcp://:1 ",
]


@pytest.mark.parametrize(
    "cluster", ["localhost", "local:0", "local:x", "http://a:1", 4, "", *NO_PORT]
)
def test_an_invalid_cluster(cluster):
    with pytest.raises(ParameterError) as raised:
        check_workers("paper", 1, cluster)
    assert str(raised.value) == (
        "'cluster' of paper must be an address (tcp://HOST:PORT, tls://HOST:PORT), local:N, or a "
        f"Dask Client; got {cluster!r}."
    )


def test_processes_and_a_cluster():
    for address in ("tls://a.b:1", "tcp://[::1]:8786", "wss://host:65535/path", "local:12"):
        check_workers("paper", 1, address)
    with pytest.raises(ParameterError) as raised:
        check_workers("paper", 2, "local:2")
    assert str(raised.value) == (
        "'n_jobs' of paper sets the number of local processes, but the cluster has its own "
        "workers. Give one of the two."
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
        if re.search(r"^\s*(import|from) (dask|distributed)|import_optional\(\"(dask|distributed)",
                     path.read_text(), re.MULTILINE)
    ]  # fmt: skip
    assert found == ["dask_jobs.py"]


def test_tls_without_certificates():
    with pytest.raises(ParameterError) as raised, open_workers(cluster="tls://127.0.0.1:1"):
        pass
    assert str(raised.value).startswith("tls://127.0.0.1:1 needs TLS certificates, but Dask's")
