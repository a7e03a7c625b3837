"""Jobs in their own processes: a failure is recorded, and the next job starts."""

import os
import signal

import pytest

from coevo.parallel import JobOutcome, processes, run_isolated
from helpers import isolated_jobs
from helpers.interrupts import ctrl_c_works

pytestmark = pytest.mark.spawned  # a process is what is tested

LONG = 60.0  # seconds; no job needs so many


def run(function, jobs, limit=LONG, **options):
    return list(run_isolated(function, jobs, lambda job: limit, **options))


def outcomes(function, jobs, **options):
    """Return (status, result, error) of each job."""
    return [(o.status, o.result, o.error) for o in run(function, jobs, **options)]


def has_ended(path):
    """Return whether the process that wrote its id into the file has ended."""
    try:
        os.kill(int(path.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def interrupt_when_written(path, monkeypatch):
    """Raise KeyboardInterrupt once a job has written to the file."""
    wait, calls = processes._wait, []

    def wait_and_interrupt(running):
        calls.append(wait(running))
        if path.exists() and path.read_text():
            raise KeyboardInterrupt

    monkeypatch.setattr(processes, "_wait", wait_and_interrupt)


# -- results


def test_one_after_another_in_order():
    assert run(isolated_jobs.negate, [3, 1, 2]) == [JobOutcome(n, "done", -n) for n in (3, 1, 2)]
    assert run(isolated_jobs.negate, []) == []


def test_each_job_has_its_own_process():
    found = [outcome.result for outcome in run(isolated_jobs.return_pid, ["a", "b"])]
    assert [job for job, _ in found] == ["a", "b"]
    assert len({os.getpid(), *(pid for _, pid in found)}) == 3


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_two_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    jobs = [(str(tmp_path / "pipe"), mode) for mode in "rw"]
    found = {outcome.job[1]: outcome.result for outcome in run(isolated_jobs.meet, jobs, n_jobs=2)}
    assert found == {"r": "hi", "w": 2}


def test_the_output_of_a_job_is_discarded(capfd):
    assert outcomes(isolated_jobs.print_output, [7]) == [("done", 7, "")]
    assert capfd.readouterr() == ("", "")


def test_the_environment(monkeypatch):
    monkeypatch.setenv("COEVO_TEST_A", "before")
    monkeypatch.delenv("COEVO_TEST_B", raising=False)
    names = ["COEVO_TEST_A", "COEVO_TEST_B"]
    variables = {"COEVO_TEST_A": "a", "COEVO_TEST_B": "b", "PYTHONHASHSEED": "0"}
    (outcome,) = run(isolated_jobs.return_environment, [names], environment=variables)
    assert outcome.result == (["a", "b"], 0)
    assert [os.environ.get(name) for name in names] == ["before", None]


# -- failures


def test_a_job_that_never_ends(tmp_path):
    path = tmp_path / "pid"
    (outcome,) = run(isolated_jobs.hang, [path], limit=0.3)
    assert outcome == JobOutcome(path, "timeout")
    assert has_ended(path)


def test_a_job_that_hangs_while_loading(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "MAX_LOAD_SECONDS", 0.8)
    path = tmp_path / "pid"
    error = "not loaded within 0.8 seconds"
    assert outcomes(isolated_jobs.hang_while_loading, [path], limit=0.0) == [
        ("failed", None, error)
    ]
    assert not path.exists() or has_ended(path)


def test_errors_in_one_line():
    jobs = [ValueError("first\nsecond"), MemoryError(), SystemExit(3), KeyError("x" * 300)]
    assert outcomes(isolated_jobs.raise_error, jobs) == [
        ("failed", None, "ValueError: first"),
        ("failed", None, "MemoryError"),
        ("failed", None, "SystemExit: 3"),
        ("failed", None, f"KeyError: '{'x' * 185} ..."),
    ]


def test_a_process_that_ends_without_a_result():
    error = "its process ended with exit code 3 and no result"
    assert outcomes(isolated_jobs.exit_process, [3]) == [("failed", None, error)]


@pytest.mark.skipif(os.name == "nt", reason="needs signals of Unix")
def test_a_process_that_dies():
    numbers = [signal.SIGSEGV, signal.SIGKILL, signal.SIGRTMIN + 1]
    assert [error for _, _, error in outcomes(isolated_jobs.kill_self, numbers)] == [
        "its process was killed by SIGSEGV",
        "its process was killed by SIGKILL, perhaps because memory ran out",
        f"its process was killed by signal {signal.SIGRTMIN + 1}",
    ]


def test_a_result_that_cannot_be_sent():
    ((status, result, error),) = outcomes(isolated_jobs.return_unpicklable, [1])
    assert (status, result) == ("failed", None)
    assert "local object" in error


# -- stopping


def test_stop_starts_no_further_job():
    asked = iter([False, True, True])
    found = run(isolated_jobs.negate, [1, 2, 3], should_stop=lambda: next(asked))
    assert [outcome.result for outcome in found] == [-1]


def test_jobs_ignore_ctrl_c():
    with ctrl_c_works():
        assert outcomes(isolated_jobs.press_ctrl_c, [5]) == [("done", 5, "")]


def test_an_interrupt_kills_running_jobs(tmp_path, monkeypatch):
    path = tmp_path / "pid"
    interrupt_when_written(path, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run(isolated_jobs.hang, [path])
    assert has_ended(path)


def test_closing_the_iterator_kills_running_jobs(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    jobs = run_isolated(
        isolated_jobs.hang, [first, second], {first: 0.0, second: LONG}.get, n_jobs=2
    )
    assert next(jobs) == JobOutcome(first, "timeout")
    jobs.close()
    assert has_ended(first)
    assert not second.exists() or has_ended(second)
