"""How a kernel is compiled, and where the compiled code is kept.

`kernel` is the only decorator through which coevo uses numba. It compiles without the
interpreter lock, with strict floats, and keeps the machine code in the user's cache
directory, so that the first run on a machine compiles and every later run loads. Where
that directory cannot be written (a read-only home, a sandbox) kernels are compiled anew
in each process and nothing else changes. Processes that start together may compile the
same kernel; each writes to a name of its own and renames it, so none sees half a file.

numba notices a change in a kernel's own file, not in the files of the kernels that it
calls. The cache directory therefore carries a digest of every ``*_kernels.py`` file and of
this one.
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

__all__ = ["announce_compilation", "inlined", "kernel", "popcount"]

Kernel = Callable[..., Any]


def user_cache_directory() -> Path:
    """Return coevo's folder in the user's cache (``COEVO_CACHE_DIR`` overrides it)."""
    chosen = os.environ.get("COEVO_CACHE_DIR")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "coevo"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/coevo"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "coevo"


@cache
def _compiled_code_directory() -> str | None:
    """Return a writable folder for machine code, or None when there is none."""
    digest = hashlib.sha256()
    for source in [Path(__file__), *sorted(Path(__file__).parent.rglob("*_kernels.py"))]:
        digest.update(source.read_bytes())
    try:
        folder = user_cache_directory() / "kernels" / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return str(folder)
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return None


def kernel(function: Kernel) -> Kernel:
    """Compile `function` with numba when it is first called."""
    # error_model: a division is checked by whoever calls, not in the loop.
    folder = _compiled_code_directory()
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


def inlined(function: Kernel) -> Kernel:
    """Make `function` a part of each kernel that calls it, with no compilation of its own.

    numba compiles a callee by itself, optimises it again inside every caller and caches it
    as well; for a function with one or two callers that is most of the waiting.
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
    """Calls `say` once, when numba starts to compile something."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._say: Callable[[], None] | None = say

    def on_start(self, event: Any) -> None:
        if self._say is not None:
            self._say()
            self._say = None

    def on_end(self, event: Any) -> None:
        """Nothing to do: the first start was the news."""


@contextlib.contextmanager
def announce_compilation(say: Callable[[], None]) -> Iterator[None]:
    """Call `say` once if a kernel has to be compiled inside the ``with`` block."""
    with event.install_listener("numba:compile", _FirstCompilation(say)):
        yield
