"""Refuse work that needs more memory than the machine has, before it starts."""

from __future__ import annotations

import os

from coevo.errors import ParameterError

__all__ = ["check_memory", "format_bytes", "get_machine_memory"]

CONTAINER_LIMIT = "/sys/fs/cgroup/memory.max"  # of Linux


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
