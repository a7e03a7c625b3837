"""A forked process is like one of ``python -c``: arguments, folder, environment, output, end."""

import multiprocessing
import os
import signal
from multiprocessing import forkserver

import pytest

from helpers.forked import ForkedProcess

SHOWS = """
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ["COEVO_TEST"], __name__)
print("to stderr", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("code", [0, 3])
def test_what_a_command_has(code, tmp_path, monkeypatch):
    monkeypatch.setenv("COEVO_TEST", "of the test")
    with ForkedProcess(SHOWS, code, "a b", cwd=tmp_path) as process:
        out, err = process.communicate(timeout=60)
    assert out == f"['{code}', 'a b'] {tmp_path} of the test __main__\n"
    assert (err, process.returncode) == ("to stderr\n", code)


def test_an_error_is_told_as_by_python(tmp_path):
    with ForkedProcess("import coevo; coevo.nothing", cwd=tmp_path) as process:
        out, err = process.communicate(timeout=60)
    assert (out, process.returncode) == ("", 1)
    assert err.endswith("AttributeError: module 'coevo' has no attribute 'nothing'\n")


def test_signals_are_not_those_of_the_tests(tmp_path):
    code = "import signal, sys; print(len(signal.pthread_sigmask(0, []))); sys.stdout.flush()"
    with ForkedProcess(f"{code}; signal.pause()", cwd=tmp_path) as process:
        assert process.stdout.readline() == "0\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == -signal.SIGTERM


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="needs waitid")
def test_a_server_that_has_ended_is_started_again(tmp_path):
    with ForkedProcess("print(1)", cwd=tmp_path) as process:
        process.communicate(timeout=60)
    server = forkserver._forkserver._forkserver_pid
    os.kill(server, signal.SIGKILL)
    os.waitid(os.P_PID, server, os.WEXITED | os.WNOWAIT)
    with ForkedProcess("print(2)", cwd=tmp_path) as process:
        assert process.communicate(timeout=60)[0] == "2\n"
    assert forkserver._forkserver._forkserver_pid != server


def test_only_what_would_be_spawned_is_forked():
    assert multiprocessing.get_context("spawn").get_start_method() == "forkserver"
    assert multiprocessing.get_context("fork").get_start_method() == "fork"
