"""Arguments that are names or arcs: as tuples, or an error in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coevo.errors import bad_parameter

__all__ = ["read_arcs", "read_names"]


def read_names(
    given: Any, name: str, owner: str, expected: str = "a list of names"
) -> tuple[str, ...]:
    """Return names as a tuple. A single text is refused: its letters would be the names.

    >>> read_names(["rain", "wet"], "roots", "Constraints")
    ('rain', 'wet')
    """
    items = None if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if items is None or not all(isinstance(item, str) for item in items):
        raise bad_parameter(name, owner, expected, given)
    return items


def read_arcs(given: Any, name: str, owner: str) -> list[tuple[str, str]]:
    """Return arcs as pairs of names.

    >>> read_arcs([["rain", "wet"]], "arcs", "DAG")
    [('rain', 'wet')]
    """
    items = list(given) if isinstance(given, Iterable) else None
    if items is None or not all(isinstance(item, Iterable) for item in items):
        raise bad_parameter(name, owner, "a list of pairs (parent, child)", given)
    arcs = [tuple(item) for item in items]
    if not all(len(arc) == 2 and all(isinstance(end, str) for end in arc) for arc in arcs):
        raise bad_parameter(name, owner, "a list of pairs (parent, child)", given)
    return arcs
