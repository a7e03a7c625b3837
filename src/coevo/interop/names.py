"""Check variable names from other libraries, in which any object can be a name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from coevo.errors import GraphError

__all__ = ["check_names"]


def check_names(names: Iterable[Hashable], library: str) -> list[str]:
    """Return the names as a list; raise `GraphError` if a name is not a string."""
    name_list = list(names)
    for name in name_list:
        if not isinstance(name, str):
            raise GraphError(
                f"{library} has a variable {name!r}, which is not a string. Rename it to "
                f"{str(name)!r} first."
            )
    return [str(name) for name in name_list]
