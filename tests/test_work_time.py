"""A deadline ends the work."""

import threading

import pytest

from coevo.runtime import deadline
from coevo.runtime.deadline import (
    OutOfTime,
    check_deadline,
    limit_work_time,
)


class Clock:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(deadline, "measure_work_time", clock)
    return clock


def test_the_deadline(clock):
    check_deadline()  # none
    with limit_work_time(clock() + 10):
        clock.now += 9.9
        check_deadline()
        with limit_work_time(clock() + 50):  # the earlier one holds
            clock.now += 0.2
            with pytest.raises(OutOfTime):
                check_deadline()
    check_deadline()


def test_a_deadline_belongs_to_its_thread(clock):
    found = []

    def check():
        check_deadline()
        found.append("no deadline")

    with limit_work_time(clock() - 1):
        thread = threading.Thread(target=check)
        thread.start()
        thread.join()
    assert found == ["no deadline"]


def test_it_is_no_error():
    """Code that goes on after every error must not go on after the deadline."""
    assert not issubclass(OutOfTime, Exception)
