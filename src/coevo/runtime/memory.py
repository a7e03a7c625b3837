"""Refuse work that needs more memory than the machine has, before it starts.

Where that cannot be known, as for a compressed file that another library reads, `limit_memory`
makes the library fail before the machine is out of memory.

A process may also have a limit of addresses (``ulimit -v``). Under it, compiled libraries abort
or hang where they cannot map a file, a thread or machine code, and nothing can be caught. The
command line therefore calls `check_address_space` before it imports any of them.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

from coevo.errors import ParameterError, get_address_space

try:
    import resource
except ImportError:  # on Windows, which gives no process more than it has
    resource = None  # type: ignore[assignment]

__all__ = [
    "check_address_space",
    "check_memory",
    "fits_into_memory",
    "format_bytes",
    "get_machine_memory",
    "limit_memory",
]

CONTAINER_LIMIT = "/sys/fs/cgroup/memory.max"  # of Linux
PROCESS_SIZE = "/proc/self/statm"  # of Linux, in pages; the sixth number is that of data
SHARE, LEAST = 0.5, 1 << 31  # of the memory of the machine, and bytes, for a file
_lock = threading.Lock()
_before: list[Any] = []  # the limit before the first `limit_memory`, once for each that is open


def get_machine_memory() -> int | None:
    """Return the bytes of main memory, or None if the system does not report them.

    A container may have less than its machine; then its limit counts.
    """
    try:
        installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
    try:
        with open(CONTAINER_LIMIT) as file:
            return min(installed, int(file.read()))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return installed


def format_bytes(number: int) -> str:
    """Return a number of bytes for a message.

    >>> format_bytes(2**29), format_bytes(3 * 10**9)
    ('512 MiB', '2.8 GiB')
    """
    mebibytes = number / 2**20
    return f"{mebibytes:,.0f} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:,.1f} GiB"


def check_memory(n_bytes: int, what: str, way_out: str) -> None:
    """Raise `ParameterError` if `what` needs more bytes than the machine has.

    The message ends with `way_out`: what the user can do instead.

    >>> check_memory(10**18, "A sample of that size", "Ask for fewer rows.")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    coevo.errors.ParameterError: A sample of that size needs 1,000,000,000.0 GB of memory; this \
machine has ... GB. Ask for fewer rows.
    """
    memory = get_machine_memory()
    if memory is not None and n_bytes > memory:
        raise ParameterError(
            f"{what} needs {n_bytes / 1e9:,.1f} GB of memory; this machine has "
            f"{memory / 1e9:,.1f} GB. {way_out}"
        )


def check_address_space(n_bytes: int, what: str) -> None:
    """Raise `ParameterError` if `what` needs more addresses than this process may use."""
    limit = get_address_space()
    if limit is not None and limit < n_bytes:
        raise ParameterError(
            f"{what} needs about {n_bytes / 1e6:,.0f} MB of address space; this process may use "
            f"{limit / 1e6:,.0f} MB. Raise the limit (ulimit -v)."
        )


def fits_into_memory(n_bytes: int) -> bool:
    """Return whether the machine has so many bytes; True if the system does not report them."""
    memory = get_machine_memory()
    return memory is None or n_bytes <= memory


@contextlib.contextmanager
def limit_memory() -> Iterator[None]:
    """Let the process use at most half of the memory more than it has, in the ``with`` block.

    A library that needs more fails with `MemoryError`, or with an error of its own. Only Linux
    keeps such a limit. It is one of written data, not of addresses: many threads reserve more
    addresses than they ever use.
    """
    with _lock:
        limit = _find_limit()
        if limit is None:
            _before.append(None)
        else:
            soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
            _before.append(_before[0] if _before else (soft, hard))
            lowest = limit if soft == resource.RLIM_INFINITY else min(soft, limit)
            resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
    try:
        yield
    finally:
        with _lock:
            last = _before.pop()
            if last is not None and not _before:
                resource.setrlimit(resource.RLIMIT_DATA, last)


def _find_limit() -> int | None:
    """Return the most data of this process in bytes, or None if the system keeps no limit."""
    memory = get_machine_memory()
    try:
        with open(PROCESS_SIZE) as file:
            size = int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError, IndexError):
        return None
    return None if resource is None or memory is None else size + max(LEAST, int(SHARE * memory))
