"""Compile kernels with numba, and cache the machine code.

coevo uses numba through the decorators of this module only. Kernels release the interpreter
lock and use strict floats. A `kernel` declares the types of its arguments, so that all commands
and all tables use the same machine code. It is made of smaller functions, each a `part`,
`fused` or `inline`.

The machine code is cached in the user's cache directory: the first run on a machine compiles
(see `coevo.warmup`), every later run loads. The directory may be read-only if it is complete. If
it is neither complete nor writable, each process compiles its kernels again, and a warning says
so. Processes that start together may compile the same kernel. Each writes a file of its own and
renames it. `coevo.kernel_cache` checks the files before it reads them.

The name of the directory contains a hash of every ``*_kernels.py`` file and of this file. The
time stamps of these files do not matter.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import caching, event, registry, types
from numba.extending import intrinsic

from coevo.errors import CoevoWarning
from coevo.kernel_cache import KernelFiles

__all__ = [
    "FLAG",
    "FLOAT",
    "INT",
    "KERNELS",
    "Kernel",
    "allocating_part",
    "announce_compilation",
    "array_of",
    "describe_target",
    "find_compiled_code_folder",
    "find_kernel_files",
    "find_user_cache",
    "fused",
    "get_announcer",
    "inline",
    "kernel",
    "part",
    "popcount",
    "prepare_first_call",
    "tuple_of",
]

Function = Callable[..., Any]
Signature = Sequence[Any]  # the numba types of all arguments

INT, FLOAT, FLAG = types.int64, types.float64, types.boolean

KERNELS: list[Kernel] = []  # all kernels of the modules that are imported so far
_LOADING = threading.RLock()
_PREPARATIONS: list[Callable[[str], None]] = []  # called before the first call of each kernel
_ANNOUNCERS: list[Callable[[], None]] = []  # of the places that show progress, the last one counts


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


@functools.cache
def find_compiled_code_folder() -> Path | None:
    """Return the folder for machine code, which may not exist; None if there is no home."""
    digest = hashlib.sha256()
    for source in [Path(__file__), *find_kernel_files()]:
        digest.update(source.read_bytes())
    try:
        return find_user_cache() / "kernels" / digest.hexdigest()[:16]
    except RuntimeError:  # there is no home directory
        return None


def find_kernel_files() -> list[Path]:
    """Return the files of all modules that declare kernels."""
    return sorted(Path(__file__).parent.rglob("*_kernels.py"))


class _Place:
    """Where numba keeps the machine code of a kernel. The folder says which sources it has."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def from_function(cls, function: Function, file: str) -> _Place | None:
        folder = find_compiled_code_folder()
        return None if folder is None else cls(folder)

    def ensure_cache_path(self) -> None:
        """Do nothing: `KernelFiles` makes the folder."""

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> None:
        return None

    def get_disambiguator(self) -> str:
        return "1"


class _StoredKernel(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Place,)


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of a kernel; see `coevo.kernel_cache`. It never fails: it is empty instead."""

    _impl_class = _StoredKernel

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self._cache_file = KernelFiles(Path(self._cache_path), self._impl.filename_base)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(signature, target_context)
        except CoevoWarning:  # if warnings are errors
            raise
        except Exception:  # of an entry that another version of a library wrote
            return None


def array_of(dtype: Any, n_axes: int = 1, is_read_only: bool = False) -> Any:
    """Return the type of a contiguous array; a read-only one also accepts writable arrays."""
    return types.Array(numba.from_dtype(np.dtype(dtype)), n_axes, "C", readonly=is_read_only)


def tuple_of(*fields: Any, kind: type = tuple) -> Any:
    """Return the type of a tuple, or of the named tuple `kind`, with fields of these types."""
    return types.BaseTuple.from_types(fields, kind)  # type: ignore[attr-defined]


class Kernel:
    """A compiled function that accepts only the declared types of arguments.

    Any other type is a `TypeError`: numba would compile the function again for it, which takes
    seconds. The first call loads the machine code, or compiles the function if the cache lacks
    it.
    """

    __name__: str

    def __init__(self, function: Function, signatures: Sequence[Signature]) -> None:
        functools.update_wrapper(self, function)
        self.signatures = tuple(signatures)
        self._dispatcher = _make_dispatcher(function)
        self._call: Function = self._load_and_call

    @property
    def full_name(self) -> str:
        """The name with its module."""
        return f"{self.__module__}.{self.__name__}"

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self._call(*arguments)

    def load(self) -> int:
        """Load the machine code, compile what the cache lacks; return how many were compiled."""
        with _LOADING:
            if self._call != self._dispatcher:
                for signature in self.signatures:
                    self._dispatcher.compile(signature)
                self._dispatcher.disable_compile()
                self._call = self._dispatcher
        return sum(self._dispatcher.stats.cache_misses.values())

    def _load_and_call(self, *arguments: Any) -> Any:
        for prepare in _PREPARATIONS:
            prepare(self.__module__)
        self.load()
        return self._call(*arguments)


def _make_dispatcher(function: Function) -> Any:
    # error_model: the caller checks for division by zero, not the inner loop.
    # no_cfunc_wrapper: nothing calls kernels from C.
    dispatcher = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)
    if find_compiled_code_folder() is not None:
        dispatcher._cache = _KernelCache(function)
    return dispatcher


def kernel(*signatures: Signature) -> Callable[[Function], Function]:
    """Compile a function for these types of arguments, on its first call or in the warm-up."""

    def declare(function: Function) -> Function:
        if numba.config.DISABLE_JIT:
            return function
        compiled = Kernel(function, signatures)
        KERNELS.append(compiled)
        return compiled

    return declare


def part(function: Function) -> Function:
    """Compile `function` by itself, as a part of the kernels that call it.

    Python cannot call it, and the cache holds it only inside these kernels. It neither makes nor
    returns arrays: it does not count references to them. Counting was up to two thirds of the
    time of kernels that call many parts with a named tuple of arrays.
    """
    return _refuse_returned_arrays(_make_part(function, _nrt=False))


def allocating_part(function: Function) -> Function:
    """Compile `function` as a part that makes or returns arrays, or calls a part that does."""
    compiled: Function = _make_part(function)
    return compiled


def fused(function: Function) -> Function:
    """Compile `function` as a `part`, and let LLVM inline it into each function that calls it.

    This is the faster way for a function that takes a named tuple of many arrays: no argument is
    copied at a call.
    """
    return _refuse_returned_arrays(_make_part(function, _nrt=False, forceinline=True))


def _make_part(function: Function, **options: bool) -> Any:
    return numba.njit(
        nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, **options
    )(function)


def _refuse_returned_arrays(dispatcher: Any) -> Function:
    """Let the compilation fail if a function returns an array: its memory would be freed early."""
    compile_for = getattr(dispatcher, "compile", None)  # there is none if the JIT is off

    def compile_and_check(arguments: Any) -> Any:
        compiled = compile_for(arguments)  # type: ignore[misc]
        answer = dispatcher.nopython_signatures[-1].return_type
        parts = list(answer) if isinstance(answer, types.BaseTuple) else [answer]  # type: ignore[attr-defined]
        if any(isinstance(kind, types.Array) for kind in parts):
            raise TypeError(
                f"{dispatcher.__name__} returns an array. Declare it as an allocating_part."
            )
        return compiled

    if compile_for is not None:
        dispatcher.compile = compile_and_check
    checked: Function = dispatcher
    return checked


def inline(function: Function) -> Function:
    """Inline `function` into each kernel or part that calls it.

    This is the faster way for small functions. The time that numba takes to inline a function
    grows with the square of its size, so a large one should be a `part`.
    """
    compiled: Function = numba.njit(nogil=True, error_model="numpy", inline="always")(function)
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
        self()

    def on_end(self, event: Any) -> None:
        """Do nothing; numba requires the method."""

    def __call__(self) -> None:
        if self._announce is not None:
            self._announce()
            self._announce = None


@contextlib.contextmanager
def announce_compilation(announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once if kernels must be compiled inside the ``with`` block."""
    once = _FirstCompilation(announce)
    _ANNOUNCERS.append(once)
    try:
        with event.install_listener("numba:compile", once):
            yield
    finally:
        _ANNOUNCERS.remove(once)


def get_announcer() -> Callable[[], None] | None:
    """Return the function that announces a compilation, or None if nothing shows progress."""
    return _ANNOUNCERS[-1] if _ANNOUNCERS else None


@contextlib.contextmanager
def prepare_first_call(prepare: Callable[[str], None]) -> Iterator[None]:
    """Call `prepare` with the module of a kernel before its first call in the ``with`` block."""
    _PREPARATIONS.append(prepare)
    try:
        yield
    finally:
        _PREPARATIONS.remove(prepare)


def describe_target() -> str:
    """Return what machine code depends on besides the kernels: numba, Python and the processor."""
    processor = registry.cpu_target.target_context.codegen().magic_tuple()
    return repr((numba.__version__, sys.implementation.cache_tag, processor))
