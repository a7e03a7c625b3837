"""Commands under a limit of addresses (ulimit -v): they work, or one sentence names memory."""

import contextlib
import subprocess
import sys

import pytest

from coevo.data import read_data
from coevo.data.read import sources
from coevo.errors import DependencyError, FileError, describe_shortage, import_optional
from coevo.runtime import memory, threads
from helpers.errors import refusal

resource = pytest.importorskip("resource")
MB = 1_000_000


def run_limited(megabytes, *args):
    """Run a command in a process that may use so many megabytes of addresses."""
    return subprocess.run(
        [sys.executable, "-m", "coevo", *args],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MB,) * 2),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep the limit")
class TestCommands:
    @pytest.mark.parametrize(
        ("megabytes", "args", "needed"),
        [(300, ("query", "asia", "lung"), 400), (500, ("learn", "no.csv"), 700)],
    )
    def test_too_little_is_refused_before_libraries_are_loaded(self, megabytes, args, needed):
        done = run_limited(megabytes, *args)
        assert (done.returncode, done.stdout, done.stderr) == (
            2,
            "",
            f"Error: coevo {args[0]} needs about {needed} MB of address space; this process may "
            f"use {megabytes} MB. Raise the limit (ulimit -v).\n",
        )

    def test_what_is_needed_is_enough(self):
        done = run_limited(400, "query", "asia", "lung")
        assert (done.returncode, done.stderr) == (0, "")
        assert "0.055000  yes" in done.stdout

    def test_help_needs_nothing(self):
        done = run_limited(300, "learn", "--help")
        assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def limit(monkeypatch):
    """Let this process have a limit that nothing reaches."""
    monkeypatch.setattr(memory.resource, "getrlimit", lambda kind: (512 * MB, 512 * MB))


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("import not_there_at_all", "No module named 'not_there_at_all'"),
        ("raise OSError('libx.so: wrong ELF class\\nand more')", "libx.so: wrong ELF class"),
    ],
)
def test_a_broken_library_is_not_called_missing(tmp_path, monkeypatch, code, sentence):
    (tmp_path / "broken_library.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert refusal(DependencyError, import_optional, "broken_library", "HiGHS", "prove") == (
        f"HiGHS is installed, but it cannot be loaded ({sentence}). Install it again with: "
        "pip install --force-reinstall 'coevo[prove]'"
    )


@pytest.mark.parametrize(
    "code",
    [
        "raise MemoryError",
        "raise ImportError('libx.so: failed to map segment from shared object')",
        "raise OSError(12, 'Cannot allocate memory')",
    ],
)
def test_a_library_without_memory_is_not_called_missing(tmp_path, monkeypatch, code, limit):
    (tmp_path / "large_library.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert refusal(DependencyError, import_optional, "large_library", "HiGHS", "prove") == (
        "There is not enough memory to load HiGHS: this process may use 512 MB of address space. "
        "Free some, or raise the limit (ulimit -v)."
    )


def test_a_small_table_is_not_called_too_large(tmp_path, monkeypatch, limit):
    def run_out(*args):
        raise MemoryError

    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,0\n", encoding="utf-8")
    monkeypatch.setattr("coevo.data.read.csv_reader.read_csv", run_out)
    monkeypatch.setattr(sources, "limit_memory", contextlib.nullcontext)
    path = str(tmp_path / "t.csv")
    assert refusal(FileError, read_data, path) == (
        f"There is not enough memory to read {path!r}: this process may use 512 MB of address "
        "space. Free some, or raise the limit (ulimit -v)."
    )


def test_threads_fit_into_the_limit(limit):
    assert threads.count_usable_cores() == 1


def test_no_limit_is_named_where_there_is_none(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert describe_shortage() == (
        "There is not enough memory. Free some, or use a machine with more."
    )
