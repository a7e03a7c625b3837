"""The first Ctrl-C is recorded, the second raises, and other handlers stay in place."""

import os
import signal
import threading

import pytest

from coevo.runtime import deadline as interrupts_module
from coevo.runtime.deadline import defer_interrupts, is_interrupt, treat_signals_as_interrupts
from helpers.interrupts import ctrl_c_works, press_ctrl_c


def raised(error, cause=None, context=None):
    error.__cause__, error.__context__ = cause, context
    return error


@ctrl_c_works()
def test_the_first_is_recorded_and_the_second_raises():
    with defer_interrupts() as interrupts:
        assert not interrupts.is_pending
        press_ctrl_c()
        assert interrupts.is_pending
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


@ctrl_c_works()
def test_the_handler_is_restored_however_the_block_ends():
    with defer_interrupts():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(ZeroDivisionError), defer_interrupts():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt), defer_interrupts():
        press_ctrl_c(times=2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()


@ctrl_c_works()
def test_each_block_counts_for_itself():
    for _ in range(2):
        with defer_interrupts() as interrupts:
            assert not interrupts.is_pending
            press_ctrl_c()
            assert interrupts.is_pending


@ctrl_c_works()
def test_of_nested_blocks_the_outer_one_records():
    with defer_interrupts() as outer:
        with defer_interrupts() as inner:
            press_ctrl_c()
        assert outer.is_pending
        assert not inner.is_pending
        with defer_interrupts(), pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


@ctrl_c_works()
@pytest.mark.parametrize("handler", ["own", signal.SIG_IGN])
def test_another_handler_stays_in_place(handler):
    calls = []
    other = (lambda number, frame: calls.append(number)) if handler == "own" else handler
    signal.signal(signal.SIGINT, other)
    with defer_interrupts() as interrupts:
        assert signal.getsignal(signal.SIGINT) is other
        press_ctrl_c()
        assert not interrupts.is_pending
    assert signal.getsignal(signal.SIGINT) is other
    assert calls == ([signal.SIGINT] if handler == "own" else [])


@ctrl_c_works()
def test_another_thread_changes_nothing():
    found = []

    def work():
        with defer_interrupts() as interrupts:
            found.append((interrupts.is_pending, signal.getsignal(signal.SIGINT)))

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
def test_is_interrupt(error, expected):
    assert is_interrupt(error) is expected


# -- SIGTERM and SIGHUP, on the command line

ENDING = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


@pytest.fixture
def default_signals():
    """Let both signals have their default action, which ends a process."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_is_an_interrupt(number, default_signals):
    with treat_signals_as_interrupts():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        signal.raise_signal(number)  # a repetition changes nothing
    assert signal.getsignal(number) is signal.SIG_DFL


@ctrl_c_works()
@pytest.mark.parametrize("number", ENDING)
def test_a_signal_is_recorded_and_a_repetition_changes_nothing(number, default_signals):
    calls = []
    with treat_signals_as_interrupts(), defer_interrupts(lambda: calls.append(1)) as interrupts:
        for _ in range(3):
            signal.raise_signal(number)
        assert interrupts.is_pending
        assert calls == [1]
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


@pytest.mark.parametrize("number", ENDING)
def test_a_library_leaves_the_signals_alone(number, default_signals):
    with defer_interrupts():
        assert signal.getsignal(number) is signal.SIG_DFL


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_that_is_ignored_stays_ignored(number, default_signals):
    signal.signal(number, signal.SIG_IGN)  # as nohup does
    with treat_signals_as_interrupts(), defer_interrupts() as interrupts:
        signal.raise_signal(number)
        assert not interrupts.is_pending
    assert signal.getsignal(number) is signal.SIG_IGN


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs terminals of Unix")
def test_what_is_written_to_a_closed_terminal_is_discarded(default_signals):
    """Otherwise an error of writing would end the command before it has saved its work."""
    keyboard, screen = os.openpty()
    with treat_signals_as_interrupts():
        interrupts_module._TERMINALS[:] = [screen]
        with defer_interrupts() as interrupts:
            os.close(keyboard)
            with pytest.raises(OSError, match="Input/output error"):
                os.write(screen, b"progress")
            signal.raise_signal(signal.SIGHUP)
            assert interrupts.is_pending
            assert os.write(screen, b"progress") == 8
    os.close(screen)
