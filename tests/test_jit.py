"""Compiled code is cached and loaded again; without a cache, kernels are compiled again."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from coevo.jit import (
    INT,
    KERNELS,
    allocating_part,
    announce_compilation,
    array_of,
    find_kernel_files,
    find_user_cache,
    fused,
    kernel,
    part,
    popcount,
)

# A kernel of the package that compiles quickly, called on two families of which one is new.
WORK = """
import json, sys
import numpy as np
from coevo.jit import announce_compilation
from coevo.score.cache_kernels import CacheEntries, find_or_add

said = []
entries = CacheEntries(np.full(8, -1), np.zeros(5, dtype=np.int64), np.zeros(9, dtype=np.int32))
found = np.empty(3, dtype=np.int64)
members = np.array([4, 1, 2, 4, 1, 2, 7], dtype=np.int32)
with announce_compilation(lambda: said.append("compiling")):
    for _ in range(2):
        n = find_or_add(entries, 0, members, np.array([0, 3, 6, 7]), 8, found)
        entries.slots[:] = -1
print(json.dumps([said, int(n), found.tolist()]))
"""
COMPILED = [["compiling"], 2, [0, 0, 1]]
LOADED = [[], 2, [0, 0, 1]]
needs_jit = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="the JIT is off")


def start(folder):
    return subprocess.Popen(
        [sys.executable, "-c", WORK],
        env={**os.environ, "COEVO_CACHE_DIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish(process, warning=""):
    out, err = process.communicate()
    assert process.returncode == 0
    assert warning in err.decode() if warning else err == b""
    return json.loads(out)


def cached_files(folder):
    return sorted(path.name for path in folder.rglob("*find_or_add*"))


@needs_jit
def test_processes_that_start_together_and_one_that_comes_later(tmp_path):
    folder = tmp_path / "new" / "cache"
    together = [start(folder), start(folder)]
    # The later one may find the files of the earlier one.
    assert {json.dumps(finish(process)) for process in together} <= {
        json.dumps(COMPILED),
        json.dumps(LOADED),
    }
    files = cached_files(folder)
    assert [name.rpartition(".")[2] for name in files] == ["nbc"]
    assert finish(start(folder)) == LOADED
    assert cached_files(folder) == files
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@needs_jit
@pytest.mark.parametrize("place", ["/proc/none", "a file"])
def test_no_writable_cache(place, tmp_path):
    folder = place
    if place == "a file":
        folder = tmp_path / "file"
        folder.write_text("")
    assert finish(start(folder), "Compiled kernels cannot be stored in ") == COMPILED


@needs_jit
def test_compilation_is_announced_once_and_only_when_it_happens():
    @numba.njit
    def twice(x):
        return 2 * x

    said = []
    with announce_compilation(lambda: said.append("a")):
        assert said == []
        assert twice(1) == 2
        assert twice(1.5) == 3.0  # compiled once more
    assert said == ["a"]
    with announce_compilation(lambda: said.append("b")):
        assert twice(2) == 4
    assert twice(1j) == 2j  # outside the block
    assert said == ["a"]


def test_find_user_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("COEVO_CACHE_DIR", str(tmp_path / "chosen"))
    assert find_user_cache() == tmp_path / "chosen"
    monkeypatch.delenv("COEVO_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert find_user_cache() == tmp_path / "xdg" / "coevo"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_user_cache() == tmp_path / ".cache" / "coevo"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert find_user_cache() == tmp_path / "Library" / "Caches" / "coevo"


@needs_jit
def test_a_kernel_accepts_the_declared_types_only():
    @kernel((array_of(np.int64, 1, True), INT), (array_of(np.float64, 1, True), INT))
    def take(values, place):
        return values[place]

    KERNELS.remove(take)
    assert take(np.arange(3), 1) == 1  # a writable array where a read-only one is declared
    assert take(np.arange(3) / 2, 1) == 0.5
    with pytest.raises(TypeError) as caught:
        take(np.arange(3, dtype=np.int32), 1)
    assert str(caught.value) == (
        "No matching definition for argument type(s) array(int32, 1d, C), int64"
    )


@needs_jit
def test_a_complete_folder_may_be_read_only(tmp_path):
    assert finish(start(tmp_path)) == COMPILED
    folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert finish(start(tmp_path)) == LOADED
    finally:
        for folder in folders:
            folder.chmod(0o755)


@needs_jit
def test_new_time_stamps_keep_the_machine_code(tmp_path):
    """Numba compares time stamps, which differ after each installation; coevo hashes content."""
    assert finish(start(tmp_path)) == COMPILED
    source = find_kernel_files()[0].parents[1] / "score" / "cache_kernels.py"
    before = source.stat()
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    try:
        assert finish(start(tmp_path)) == LOADED
    finally:
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))


def count_bits(words, counts):
    for i in range(len(words)):
        counts[i] = popcount(words[i])


@pytest.mark.kernel
def test_popcount(seed):
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**64, 200, dtype=np.uint64) & rng.integers(
        0, 2**64, 200, dtype=np.uint64
    )
    edges = [0, 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
    words = np.concatenate([np.array(edges, dtype=np.uint64), words])
    counts = np.full(len(words), -1, dtype=np.int64)
    numba.njit(count_bits)(words, counts)
    assert counts.tolist() == [int(word).bit_count() for word in words.tolist()]


@needs_jit
@pytest.mark.parametrize("kind", [part, fused, allocating_part])
@pytest.mark.parametrize("answer", ["an argument", "a tuple", "a new array"])
def test_only_an_allocating_part_makes_or_returns_arrays(kind, answer):
    """A part does not count references, so that an array that it returned would be freed early."""
    functions = {
        "an argument": lambda values: values,
        "a tuple": lambda values: (1, values),
        "a new array": lambda values: np.zeros(3),
    }
    called = kind(functions[answer])

    @numba.njit
    def call(values):
        called(values)
        return values.sum()

    values = np.arange(4.0)
    if kind is allocating_part:
        assert call(values) == 6.0
    else:
        with pytest.raises((TypeError, numba.TypingError), match=r"returns an array|zeros"):
            call(values)


@needs_jit
def test_a_part_cannot_call_an_allocating_part():
    make = allocating_part(lambda n: np.zeros(n))
    count = part(lambda n: len(make(n)))
    call = numba.njit(lambda n: count(n))
    with pytest.raises(numba.TypingError):
        call(3)
