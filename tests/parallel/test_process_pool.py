"""Jobs give the same results in this process and in a pool of processes.

A fresh interpreter must be able to import the function of a job, so the functions are those of
the standard library.
"""

import multiprocessing
import operator
import os
import signal
import subprocess
import sys
from multiprocessing import util

import pytest

from coevo.errors import WorkerError
from coevo.parallel import processes, run_in_processes
from coevo.parallel.processes import needs_main
from helpers.interrupts import ctrl_c_works, press_ctrl_c

pytestmark = pytest.mark.spawned  # a process is what is tested

NUMBERS = [9, 5, 7, 5, 0, 8]


class Calls:
    """A function that records its arguments, for jobs of this process."""

    def __init__(self, function=operator.neg):
        self.function, self.seen = function, []

    def __call__(self, job):
        self.seen.append(job)
        return self.function(job)


def stop_after(n):
    """Return a `should_stop` that returns True after n calls."""
    asked = iter(range(n))
    return lambda: next(asked, None) is None


# -- in this process


@pytest.mark.parametrize(("jobs", "n_jobs"), [(NUMBERS, 1), ([4], 2), ([], 1), ([], 2)])
def test_one_process_or_one_job_runs_in_this_process_in_order(jobs, n_jobs):
    calls = Calls()
    assert list(run_in_processes(calls, jobs, n_jobs)) == [-job for job in jobs]
    assert calls.seen == jobs


def test_a_job_starts_when_its_result_is_requested():
    calls = Calls()
    results = run_in_processes(calls, NUMBERS, 1)
    assert calls.seen == []
    assert next(results) == -9
    assert calls.seen == [9]


@pytest.mark.parametrize("n", [0, 1, 4])
def test_stop_in_this_process(n):
    calls = Calls()
    assert list(run_in_processes(calls, NUMBERS, 1, should_stop=stop_after(n))) == [
        -job for job in NUMBERS[:n]
    ]
    assert calls.seen == NUMBERS[:n]


def test_an_exception_in_this_process():
    results = run_in_processes(int, ["4", "x", "9"], 1)
    assert next(results) == 4
    with pytest.raises(ValueError, match="'x'"):
        next(results)


@ctrl_c_works()
def test_ctrl_c_in_this_process_reaches_the_caller():
    with pytest.raises(KeyboardInterrupt):
        list(run_in_processes(lambda job: press_ctrl_c(), NUMBERS, 1))


# -- in processes


def test_processes_give_the_same_results_in_some_order():
    assert sorted(run_in_processes(operator.neg, NUMBERS, 2)) == sorted(-job for job in NUMBERS)


def test_jobs_run_in_other_processes_that_ignore_ctrl_c():
    pids = set(run_in_processes(operator.methodcaller("__call__"), [os.getpid] * 3, 2))
    assert pids
    assert os.getpid() not in pids
    with ctrl_c_works():
        assert list(run_in_processes(signal.raise_signal, [signal.SIGINT] * 3, 2)) == [None] * 3


@pytest.mark.skipif(os.name == "nt", reason="needs signals of Unix")
def test_ctrl_c_while_the_processes_start(monkeypatch):
    """A terminal sends the signal to all processes, also before they run any of our code."""
    start = util.spawnv_passfds

    def start_and_press(*arguments):
        pid = start(*arguments)
        os.kill(pid, signal.SIGINT)
        return pid

    monkeypatch.setattr(util, "spawnv_passfds", start_and_press)
    assert sorted(run_in_processes(operator.neg, NUMBERS, 2)) == sorted(-job for job in NUMBERS)


def test_stop_waits_for_running_jobs():
    jobs = [range(i, i + 10**6) for i in range(400)]  # seconds of work without the stop
    found = list(run_in_processes(sum, jobs, 2, should_stop=lambda: True))
    assert 1 <= len(found) < len(jobs)
    assert sorted(found) == [sum(job) for job in jobs[: len(found)]]


def test_an_exception_of_a_job_reaches_the_caller():
    with pytest.raises(ValueError, match="'x'"):
        list(run_in_processes(int, ["x", "x", "x"], 2))


@pytest.mark.parametrize(
    ("is_main_needed", "message"),
    [
        (False, "A worker process died, perhaps because memory ran out. Use fewer processes (-j)."),
        (
            True,
            "A worker process died. It needs a function or class of your script, so it runs the "
            "script again. Move these into a module, or the work of the script under if __name__ "
            "== '__main__'.",
        ),
    ],
)
def test_a_process_that_dies(is_main_needed, message, monkeypatch):
    monkeypatch.setattr(processes, "needs_main", lambda *values: is_main_needed)
    with pytest.raises(WorkerError) as raised:
        list(run_in_processes(os._exit, [3, 3, 3], 2))
    assert str(raised.value) == message
    assert raised.value.args == (str(raised.value),)
    assert raised.value.__suppress_context__


def test_closing_the_iterator_ends_the_processes():
    results = run_in_processes(operator.neg, NUMBERS, 2)
    next(results)
    results.close()
    with pytest.raises(StopIteration):
        next(results)


SCRIPT = """
import sys
from coevo.parallel import processes, run_in_processes
from coevo.parallel.processes import needs_main

def negate(number):
    return -number

print("runs as", __name__)
if __name__ == "__main__" or "guarded" not in sys.argv:
    print(sorted(run_in_processes(negate if "own" in sys.argv else abs, [1, -2, 3], 2)))
"""


@pytest.mark.parametrize(
    ("arguments", "n_runs", "end"), [([], 1, "[1, 2, 3]"), (["guarded", "own"], 3, "[-3, -1, 2]")]
)
def test_a_worker_runs_the_script_only_if_a_job_needs_it(arguments, n_runs, end, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True)
    lines = ended.stdout.splitlines()
    assert 1 <= lines.count("runs as __main__") + lines.count("runs as __mp_main__") <= n_runs
    assert (ended.stderr, lines[-1]) == ("", end)


def test_a_process_that_may_have_no_children_runs_the_jobs_itself(monkeypatch):
    monkeypatch.setattr(multiprocessing.process.current_process(), "_config", {"daemon": True})
    calls = Calls()
    assert list(run_in_processes(calls, NUMBERS, 2)) == [-job for job in NUMBERS]
    assert calls.seen == NUMBERS


def test_what_needs_the_script(monkeypatch):
    assert not needs_main(operator.neg, [1, "main", b"x" * 10**6])
    assert needs_main(lambda: None)  # it cannot be pickled: the processes say why
    monkeypatch.setattr(Calls, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "Calls", Calls, raising=False)
    assert needs_main(operator.neg, [b"x" * 10**6, Calls()])
