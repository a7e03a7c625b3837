"""Refuse work that needs more memory than the machine has, before it starts."""

from __future__ import annotations

import os

from coevo.errors import ParameterError

__all__ = ["check_memory", "get_machine_memory"]


def get_machine_memory() -> int | None:
    """Return the bytes of main memory, or None if the system does not report them."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


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
