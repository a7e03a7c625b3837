"""Jobs in processes of their own: whatever one does, it is taken down and the next begins."""

import os
import signal

import pytest

from coevo.parallel import Ending, isolated, run_isolated
from helpers import isolated_jobs
from helpers.interrupts import ctrl_c_works

LONG = 60.0  # seconds, which no job needs


def run(function, jobs, limit=LONG, **options):
    return list(run_isolated(function, jobs, lambda job: limit, **options))


def endings(function, jobs, **options):
    """Return (status, result, error) of each job."""
    return [(e.status, e.result, e.error) for e in run(function, jobs, **options)]


def is_gone(path):
    """Return whether the process is gone that wrote its number there."""
    try:
        os.kill(int(path.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def interrupt_when_written(path, monkeypatch):
    """Raise as a second Ctrl-C does, once a job has said that it runs."""
    wait, calls = isolated._wait, []

    def pressed(under_way):
        calls.append(wait(under_way))
        if path.exists() and path.read_text():
            raise KeyboardInterrupt

    monkeypatch.setattr(isolated, "_wait", pressed)


# -- results


def test_one_after_another_in_order():
    assert run(isolated_jobs.negative, [3, 1, 2]) == [Ending(n, "done", -n) for n in (3, 1, 2)]
    assert run(isolated_jobs.negative, []) == []


def test_each_has_a_process_of_its_own():
    found = [ending.result for ending in run(isolated_jobs.without_beginning, ["a", "b"])]
    assert [job for job, _ in found] == ["a", "b"]
    assert len({os.getpid(), *(pid for _, pid in found)}) == 3


@pytest.mark.skipif(os.name == "nt", reason="needs named pipes")
def test_two_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    jobs = [(str(tmp_path / "pipe"), mode) for mode in "rw"]
    found = {ending.job[1]: ending.result for ending in run(isolated_jobs.meet, jobs, n_jobs=2)}
    assert found == {"r": "hi", "w": 2}


def test_what_a_job_prints_is_not_seen(capfd):
    assert endings(isolated_jobs.noisy, [7]) == [("done", 7, "")]
    assert capfd.readouterr() == ("", "")


def test_the_environment(monkeypatch):
    monkeypatch.setenv("COEVO_TEST_A", "before")
    monkeypatch.delenv("COEVO_TEST_B", raising=False)
    names = ["COEVO_TEST_A", "COEVO_TEST_B"]
    variables = {"COEVO_TEST_A": "a", "COEVO_TEST_B": "b", "PYTHONHASHSEED": "0"}
    (ending,) = run(isolated_jobs.environment, [names], environment=variables)
    assert ending.result == (["a", "b"], 0)
    assert [os.environ.get(name) for name in names] == ["before", None]


# -- what goes wrong


def test_a_job_that_never_ends(tmp_path):
    path = tmp_path / "pid"
    (ending,) = run(isolated_jobs.never_ending, [path], limit=0.3)
    assert ending == Ending(path, "timeout")
    assert is_gone(path)


def test_a_job_that_never_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(isolated, "START_SECONDS", 0.8)
    path = tmp_path / "pid"
    error = "it did not begin within 0.8 seconds"
    assert endings(isolated_jobs.never_beginning, [path], limit=0.0) == [("failed", None, error)]
    assert not path.exists() or is_gone(path)


def test_errors_in_one_line():
    jobs = [ValueError("first\nsecond"), MemoryError(), SystemExit(3), KeyError("x" * 300)]
    assert endings(isolated_jobs.raising, jobs) == [
        ("failed", None, "ValueError: first"),
        ("failed", None, "MemoryError"),
        ("failed", None, "SystemExit: 3"),
        ("failed", None, f"KeyError: '{'x' * 185} ..."),
    ]


def test_a_process_that_ends_without_a_word():
    error = "its process ended with exit code 3 and no result"
    assert endings(isolated_jobs.exiting, [3]) == [("failed", None, error)]


@pytest.mark.skipif(os.name == "nt", reason="needs signals of Unix")
def test_a_process_that_dies():
    numbers = [signal.SIGSEGV, signal.SIGKILL, signal.SIGRTMIN + 1]
    assert [error for _, _, error in endings(isolated_jobs.dying, numbers)] == [
        "its process died of SIGSEGV",
        "its process died of SIGKILL, perhaps for want of memory",
        f"its process died of signal {signal.SIGRTMIN + 1}",
    ]


def test_a_result_that_cannot_be_sent():
    ((status, result, error),) = endings(isolated_jobs.not_to_be_sent, [1])
    assert (status, result) == ("failed", None)
    assert "local object" in error


# -- stopping


def test_stop_begins_no_further_job():
    asked = iter([False, True, True])
    found = run(isolated_jobs.negative, [1, 2, 3], stop=lambda: next(asked))
    assert [ending.result for ending in found] == [-1]


def test_jobs_leave_ctrl_c_alone():
    with ctrl_c_works():
        assert endings(isolated_jobs.answer_to_ctrl_c, [5]) == [("done", 5, "")]


def test_an_interrupt_kills_what_is_under_way(tmp_path, monkeypatch):
    path = tmp_path / "pid"
    interrupt_when_written(path, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        run(isolated_jobs.never_ending, [path])
    assert is_gone(path)


def test_a_caller_that_goes_away_kills_what_is_under_way(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    jobs = run_isolated(
        isolated_jobs.never_ending, [first, second], {first: 0.0, second: LONG}.get, n_jobs=2
    )
    assert next(jobs) == Ending(first, "timeout")
    jobs.close()
    assert is_gone(first)
    assert not second.exists() or is_gone(second)
