"""Compile kernels with numba, and cache the machine code.

coevo uses numba through the decorators `kernel` and `inline` only. Kernels release the
interpreter lock and use strict floats. Their machine code is cached in the user's cache
directory: the first run on a machine compiles, every later run loads. If that directory is
not writable (a read-only home, a sandbox), each process compiles its kernels again and
nothing else changes. Processes that start together may compile the same kernel. Each writes
a file of its own and renames it, so no process sees half a file.

numba notices a change in the file of a kernel, but not in the files of the kernels that it
calls. The name of the cache directory therefore contains a hash of every ``*_kernels.py``
file and of this file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event, types
from numba.extending import intrinsic

__all__ = ["announce_compilation", "inline", "kernel", "popcount"]

Kernel = Callable[..., Any]


def find_user_cache() -> Path:
    """Return coevo's folder in the user's cache directory; ``COEVO_CACHE_DIR`` overrides it."""
    chosen = os.environ.get("COEVO_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "coevo"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/coevo"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "coevo"


@cache
def _find_compiled_code_folder() -> str | None:
    """Return a writable folder for machine code, or None if there is none."""
    digest = hashlib.sha256()
    for source in [Path(__file__), *sorted(Path(__file__).parent.rglob("*_kernels.py"))]:
        digest.update(source.read_bytes())
    try:
        folder = find_user_cache() / "kernels" / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return None


def kernel(function: Kernel) -> Kernel:
    """Compile `function` with numba on its first call."""
    # error_model: the caller checks for division by zero, not the inner loop.
    folder = _find_compiled_code_folder()
    if folder is None:
        compiled: Kernel = numba.njit(nogil=True, error_model="numpy")(function)
        return compiled
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = folder
    try:
        compiled = numba.njit(nogil=True, error_model="numpy", cache=True)(function)
    finally:
        numba.config.CACHE_DIR = before
    return compiled


def inline(function: Kernel) -> Kernel:
    """Inline `function` into each kernel that calls it, without a compilation of its own.

    numba compiles a called kernel by itself, optimises it again inside every caller, and
    caches it too. For a function with one or two callers, that is most of the compile time.
    """
    compiled: Kernel = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
    return compiled


if numba.config.DISABLE_JIT:

    def popcount(word: Any) -> Any:
        """Return the number of bits set in an unsigned 64-bit word."""
        return int(word).bit_count()

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def popcount(typing_context: Any, word: Any) -> Any:
        """Return the number of bits set in an unsigned 64-bit word."""
        if word != types.uint64:
            return None

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), codegen


class _FirstCompilation(event.Listener):  # type: ignore[misc]
    """Calls `announce` once, when numba starts its first compilation."""

    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce: Callable[[], None] | None = announce

    def on_start(self, event: Any) -> None:
        if self._announce is not None:
            self._announce()
            self._announce = None

    def on_end(self, event: Any) -> None:
        """Do nothing; numba requires the method."""


@contextlib.contextmanager
def announce_compilation(announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once if a kernel must be compiled inside the ``with`` block."""
    with event.install_listener("numba:compile", _FirstCompilation(announce)):
        yield
