"""Names from other libraries, where any object may be one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from coevo.errors import GraphError

__all__ = ["checked_names"]


def checked_names(names: Iterable[Hashable], library: str) -> list[str]:
    """Return names that are texts, or say which is none."""
    listed = list(names)
    for name in listed:
        if not isinstance(name, str):
            raise GraphError(
                f"{library} calls a variable {name!r}, which is not a text. Rename it to "
                f"{str(name)!r} first."
            )
    return [str(name) for name in listed]
