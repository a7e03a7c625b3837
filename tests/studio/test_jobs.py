"""Jobs: one that ends badly leaves neither a wrong state nor a queue that stands still."""

import io
import json
import os
import threading
from types import SimpleNamespace

import pytest

from coevo.errors import FileError
from coevo.studio import jobs as jobs_module
from coevo.studio.jobs import Jobs
from helpers.waiting import wait_for


class Output:
    """The output of a process that ends when it is told to."""

    def __init__(self):
        self.has_ended, self.lines = threading.Event(), []

    def readline(self):
        self.has_ended.wait(30)
        return self.lines.pop(0) if self.lines else b""

    def close(self):
        pass


@pytest.fixture
def processes(monkeypatch):
    """Return the processes that were started: each ends when the test says so."""
    started = []

    def start(root, folder):
        process = SimpleNamespace(
            stdin=io.BytesIO(), stdout=Output(), wait=lambda: 0, kill=lambda: None, name=folder.name
        )
        process.stdin.close = lambda: None
        started.append(process)
        return process

    monkeypatch.setattr(jobs_module, "_start_process", start)
    yield started
    for process in started:
        process.stdout.has_ended.set()


@pytest.fixture
def jobs(studio):
    for name in ("one", "two"):
        studio.workspace.make_folder("runs", name)
    return studio.jobs


def submit_both(jobs, processes):
    jobs.submit("one", "learn")
    jobs.submit("two", "learn")
    wait_for(lambda: len(processes) == 1)


def test_a_full_disk_at_the_end_of_a_job_stops_nothing(studio, jobs, processes, monkeypatch):
    submit_both(jobs, processes)
    job = jobs._find("one")

    def fail(path, facts):
        raise FileError("The disk is full.")

    monkeypatch.setattr(jobs_module, "write_json", fail)
    processes[0].stdout.has_ended.set()
    assert job.ended.wait(30)
    assert jobs.read_state("one")["state"] == "failed"
    wait_for(lambda: len(processes) == 2)  # it cannot be marked as running, but it runs
    assert jobs.read_state("two")["state"] == "running"
    processes[1].stdout.has_ended.set()
    assert jobs.wait("two", 30)
    monkeypatch.undo()
    assert json.loads((job.folder / "job.json").read_text())["state"] == "running"
    monkeypatch.setattr(jobs_module, "_start_process", lambda *_: 1 / 0)
    jobs.submit("one", "learn")  # there is space again
    assert jobs.wait("one", 30)
    assert json.loads((job.folder / "job.json").read_text())["state"] == "failed"


def test_events_without_space_reach_the_server_through_the_process(studio, jobs, processes):
    """The disk is full: the events, and how the job ended, come as lines instead."""
    lines = [b'{"kind": "rows", "rows": [[0, 1, 0.1, 0, -5.5, 2]]}\n', b'{"kind": "done"}\n']
    seen = []
    jobs._on_events = lambda folder, unsaved: seen.append(unsaved)
    jobs.submit("one", "learn")
    wait_for(lambda: len(processes) == 1)
    job = jobs._find("one")
    processes[0].stdout.lines += lines
    processes[0].stdout.has_ended.set()
    assert job.ended.wait(30)
    assert jobs.read_state("one")["state"] == "done"
    assert seen == [tuple(line.strip() for line in lines[:n]) for n in (1, 2, 2)]


def test_a_damaged_state_is_written_anew(jobs, processes):
    submit_both(jobs, processes)
    job = jobs._find("one")
    (job.folder / "job.json").write_text("{")
    processes[0].stdout.has_ended.set()
    assert job.ended.wait(30)
    assert jobs.read_state("one")["state"] == "failed"
    wait_for(lambda: len(processes) == 2)


def test_a_job_is_stopped_while_its_process_starts(studio, monkeypatch, processes):
    start, is_there = jobs_module._start_process, threading.Event()
    jobs = Jobs(studio.workspace)

    def start_late(root, folder):
        is_there.set()
        return start(root, folder)

    monkeypatch.setattr(jobs_module, "_start_process", start_late)
    studio.workspace.make_folder("runs", "one")
    with jobs._lock:  # the thread of the job waits for it
        jobs.submit("one", "learn")
        jobs.stop("one")
        assert not is_there.is_set()
    assert is_there.wait(30)
    wait_for(lambda: processes and processes[0].stdin.getvalue() == b"stop\n")
    processes[0].stdout.has_ended.set()
    assert jobs.wait("one", 30)
    assert jobs.read_state("one")["state"] == "stopped"


def test_a_job_is_ended_at_once_only_if_that_is_said(client, jobs, processes):
    """A second tab shows Stop, too; pressing it must not lose the network."""
    killed = []
    jobs.submit("one", "learn")
    wait_for(lambda: len(processes) == 1)
    processes[0].kill = lambda: killed.append("one")
    for _ in range(3):
        assert client.post("/api/runs/one/stop").status_code == 200
    assert (killed, processes[0].stdin.getvalue()) == ([], b"stop\n")
    assert client.post("/api/runs/one/stop", json={"at_once": True}).status_code == 200
    assert killed == ["one"]


def test_a_failed_bootstrap_leaves_the_network(client, studio):
    folder = studio.workspace.make_folder("runs", "one")
    (folder / "model.bif").write_text("network unknown {}")
    failed = {"state": "failed", "kind": "confidence", "error": "The table has changed."}
    (folder / "job.json").write_text(json.dumps(failed))
    run = client.get("/api/workspace").json()["runs"][0]
    assert (run["state"], run["error"]) == ("done", "The table has changed.")


def test_requests_that_compute_do_not_delay_a_stop(client, studio):
    may_end = threading.Event()
    for _ in range(20):
        studio._pool.submit(may_end.wait, 30)
    try:
        assert client.get("/api/workspace").status_code == 200
        answer = client.post("/api/runs/none/stop")
        assert answer.json() == {"error": "No work is under way on the run 'none'."}
    finally:
        may_end.set()


def test_a_run_that_a_command_writes_to_is_not_removed(client, studio):
    folder = studio.workspace.make_folder("runs", "one")
    (folder / "run.json").write_text("{}")
    fcntl = pytest.importorskip("fcntl")
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # as another process has it
    answer = client.delete("/api/runs/one")
    sentence = (
        "Another command is writing to the run 'one'. Wait until it has ended, or end it, then "
        "remove the run."
    )
    assert (answer.status_code, answer.json()) == (409, {"error": sentence})
    assert (folder / "run.json").exists()
    assert list((studio.workspace.root / "trash").iterdir()) == []
    os.close(descriptor)
    assert client.delete("/api/runs/one").status_code == 200
    assert not folder.exists()
