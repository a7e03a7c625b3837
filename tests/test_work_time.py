"""The clock of time limits stands still during compilations; a deadline ends the work."""

import threading

import pytest

from coevo import work_time
from coevo.work_time import (
    OutOfTime,
    check_deadline,
    limit_work_time,
    measure_work_time,
)


class Clock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(work_time, "_COMPILATION", work_time._CompilationTime(clock))
    return clock


def test_a_compilation_does_not_count(clock):
    compilation = work_time._COMPILATION
    began = measure_work_time()
    clock.now += 1
    compilation.on_start(None)
    clock.now += 20
    assert measure_work_time() - began == 1  # it stands still meanwhile
    compilation.on_start(None)  # a part of the kernel
    clock.now += 5
    compilation.on_end(None)
    clock.now += 5
    compilation.on_end(None)
    assert measure_work_time() - began == 1
    clock.now += 2
    assert measure_work_time() - began == 3


def test_numba_reports_its_compilations(clock):
    """A function without a cache is compiled inside of the block."""
    import numba

    compilation, counted = work_time._COMPILATION, []
    real = compilation.on_start
    compilation.on_start = lambda event: (counted.append(event), real(event))
    work_time.event.register("numba:compile", compilation)
    try:
        numba.njit(lambda x: x + 1)(1)
    finally:
        work_time.event.unregister("numba:compile", compilation)
    assert bool(counted) is not bool(numba.config.DISABLE_JIT)


def test_the_deadline(clock):
    check_deadline()  # none
    with limit_work_time(measure_work_time() + 10):
        clock.now += 9.9
        check_deadline()
        with limit_work_time(measure_work_time() + 50):  # the earlier one holds
            clock.now += 0.2
            with pytest.raises(OutOfTime):
                check_deadline()
    check_deadline()


def test_a_deadline_belongs_to_its_thread(clock):
    found = []

    def check():
        check_deadline()
        found.append("no deadline")

    with limit_work_time(measure_work_time() - 1):
        thread = threading.Thread(target=check)
        thread.start()
        thread.join()
    assert found == ["no deadline"]


def test_it_is_no_error():
    """Code that goes on after every error must not go on after the deadline."""
    assert not issubclass(OutOfTime, Exception)
