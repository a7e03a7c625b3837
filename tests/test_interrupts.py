"""The first Ctrl-C is noted, the second raises, and no other handler is touched."""

import signal
import threading

import pytest

from coevo.interrupts import gentle_interrupts, is_interrupt
from helpers.interrupts import ctrl_c_works, press_ctrl_c


def raised(error, cause=None, context=None):
    error.__cause__, error.__context__ = cause, context
    return error


@ctrl_c_works()
def test_the_first_is_noted_and_the_second_raises():
    with gentle_interrupts() as interrupts:
        assert not interrupts.asked
        press_ctrl_c()
        assert interrupts.asked
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


@ctrl_c_works()
def test_the_handler_comes_back_however_the_block_ends():
    with gentle_interrupts():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ZeroDivisionError), gentle_interrupts():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt), gentle_interrupts():
        press_ctrl_c(times=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


@ctrl_c_works()
def test_each_block_counts_for_itself():
    for _ in range(2):
        with gentle_interrupts() as interrupts:
            assert not interrupts.asked
            press_ctrl_c()
            assert interrupts.asked


@ctrl_c_works()
def test_inside_another_block_the_outer_one_notes():
    with gentle_interrupts() as outer:
        with gentle_interrupts() as inner:
            press_ctrl_c()
        assert outer.asked
        assert not inner.asked
        with gentle_interrupts(), pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


@ctrl_c_works()
@pytest.mark.parametrize("handler", ["own", signal.SIG_IGN])
def test_the_handler_of_someone_else_stays(handler):
    calls = []
    other = (lambda number, frame: calls.append(number)) if handler == "own" else handler
    signal.signal(signal.SIGINT, other)
    with gentle_interrupts() as interrupts:
        assert signal.getsignal(signal.SIGINT) is other
        press_ctrl_c()
        assert not interrupts.asked
    assert signal.getsignal(signal.SIGINT) is other
    assert calls == ([signal.SIGINT] if handler == "own" else [])


@ctrl_c_works()
def test_another_thread_changes_nothing():
    found = []

    def work():
        with gentle_interrupts() as interrupts:
            found.append((interrupts.asked, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(False, signal.default_int_handler)]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (KeyboardInterrupt(), True),
        (raised(SystemError(), cause=KeyboardInterrupt()), True),
        (raised(SystemError(), context=KeyboardInterrupt()), True),
        (raised(SystemError(), cause=raised(SystemError(), context=KeyboardInterrupt())), True),
        (SystemError("bad call"), False),
        (raised(SystemError(), cause=ValueError(), context=KeyboardInterrupt()), False),
        (raised(ValueError(), cause=KeyboardInterrupt()), False),
        (None, False),
    ],
)
def test_what_is_an_interrupt(error, expected):
    assert is_interrupt(error) is expected
