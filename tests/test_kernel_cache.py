"""Stored kernels are read from a private folder only, and a damaged one is compiled again."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import pytest

from coevo import kernel_cache
from coevo.kernel_cache import KernelFiles, find_fault, make_folder

pytestmark = [
    pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the JIT is off"),
    pytest.mark.skipif(sys.platform == "win32", reason="needs owners and modes of files"),
]

# A kernel that compiles quickly; say how often numba compiled, and what was warned.
WORK = """
import json, sys, warnings
import numpy as np
from numba.core import event
from coevo.jit import INT, array_of, kernel

class Listener(event.Listener):
    n = 0
    def on_start(self, event):
        Listener.n += 1
    def on_end(self, event):
        pass

@kernel((array_of(np.int64, 1, True), INT))
def take(values, place):
    return values[place]

if len(sys.argv) > 1:  # no file may be longer than this
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
with warnings.catch_warnings(record=True) as caught, event.install_listener(
    "numba:compile", Listener()
):
    warnings.simplefilter("always")
    answer = int(take(np.arange(3), 2))
print(json.dumps([answer, Listener.n > 0, [str(one.message) for one in caught]]))
"""
COMPILED, LOADED = [2, True, []], [2, False, []]


@pytest.fixture
def work(tmp_path):
    """Return a function that calls the kernel in a new process, with a cache of its own."""
    script = tmp_path / "work.py"  # numba needs the source of the kernel
    script.write_text(WORK)

    def call(*arguments):
        environment = {**os.environ, "COEVO_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, str(script), *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        return json.loads(done.stdout)

    return call


@pytest.fixture
def entry(work, tmp_path):
    """Return the file of the kernel after the first call."""
    assert work() == COMPILED
    (found,) = (tmp_path / "cache").rglob("*.nbc")
    assert work() == LOADED
    return found


DAMAGES = {
    "empty": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "one bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "zeros": lambda content: bytes(len(content)),
    "no digest": lambda content: content[32:],
    "a pickle that ends the process": lambda content: b"cos\n_exit\n(I3\ntR.",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_none(tmp_path, damage):
    make_folder(tmp_path / "cache")
    files = KernelFiles(tmp_path / "cache", "one")
    files.save("key", ["data"] * 10)
    (stored,) = (tmp_path / "cache").iterdir()
    stored.write_bytes(DAMAGES[damage](stored.read_bytes()))
    assert files.load("key") is None
    files.save("key", ["data"])
    assert files.load("key") == ["data"]


def test_a_damaged_kernel_is_compiled_and_stored_again(work, entry):
    entry.write_bytes(DAMAGES["cut off"](entry.read_bytes()))
    assert work() == COMPILED
    assert work() == LOADED
    assert pickle.loads(entry.read_bytes()[32:])  # a digest, and what numba wrote


def test_an_entry_of_another_kernel_is_not_read(tmp_path):
    """The digest depends on the name: two intact files cannot be swapped."""
    make_folder(tmp_path / "cache")
    one, other = (KernelFiles(tmp_path / "cache", name) for name in ("one", "other"))
    one.save("key", ["data"])
    other.save("key", ["more"])
    assert (one.load("key"), other.load("key"), one.load("no key")) == (["data"], ["more"], None)
    files = sorted((tmp_path / "cache").iterdir())
    files[0].write_bytes(files[1].read_bytes())
    assert one.load("key") is None
    assert other.load("key") == ["more"]


def test_a_folder_that_others_can_write_to_is_not_used(work, entry):
    before = entry.read_bytes()
    entry.parent.chmod(0o775)
    assert work() == [
        2,
        True,
        [
            f"Compiled kernels in {str(entry.parent)!r} are not used, because other users can "
            "write to it. Each start compiles its kernels again. Set COEVO_CACHE_DIR to a "
            "folder of your own."
        ],
    ]
    assert entry.read_bytes() == before  # nothing was stored either


@pytest.mark.parametrize(
    ("mode", "fault"), [(0o755, ""), (0o555, ""), (0o775, "w"), (0o702, "w"), (0o1777, "w")]
)
def test_the_modes_that_are_trusted(tmp_path, mode, fault):
    tmp_path.chmod(mode)
    assert find_fault(tmp_path) == ("other users can write to it" if fault else "")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_folder_of_another_user_is_not_used(work, entry):
    os.chown(entry.parent, 12345, -1)
    answer, is_compiled, (warning,) = work()
    assert (answer, is_compiled) == (2, True)
    assert "because it belongs to another user." in warning


def test_the_modes_of_new_folders(tmp_path, monkeypatch):
    """The user's own folder is private. Others can read one that was chosen, as in an image."""
    monkeypatch.delenv("COEVO_CACHE_DIR", raising=False)
    make_folder(tmp_path / "a" / "own")
    monkeypatch.setenv("COEVO_CACHE_DIR", str(tmp_path))
    before = os.umask(0)
    try:
        make_folder(tmp_path / "chosen")
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("a/own", "chosen")]
    assert modes == [0o700, 0o755]
    assert find_fault(tmp_path / "chosen") == ""


def test_a_full_disk_is_a_warning(work, tmp_path):
    """A limit on the size of files fails in the same place as a full disk."""
    answer, is_compiled, (warning,) = work(100)
    assert (answer, is_compiled) == (2, True)
    folder = str(next((tmp_path / "cache" / "kernels").iterdir()))
    assert warning == (
        f"Compiled kernels cannot be stored in {folder!r} (File too large). Each start compiles "
        "its kernels again. Free some space, or set COEVO_CACHE_DIR to a folder that is writable."
    )
    assert list(Path(folder).iterdir()) == []  # no half file


def test_a_worker_leaves_the_warning_to_its_parent(monkeypatch):
    monkeypatch.setattr(kernel_cache._State, "has_warned", False)
    monkeypatch.setenv(kernel_cache.WORKER_MARK, "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel_cache.warn_once("The cache cannot be written.")
    assert kernel_cache.has_warned()
