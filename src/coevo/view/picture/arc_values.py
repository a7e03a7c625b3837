"""Links whose line width shows a number, such as the gain or the strength of an arc."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from coevo.errors import ParameterError, bad_parameter
from coevo.view.picture.graph_scene import Link
from coevo.view.picture.layout import Arc

__all__ = ["list_links"]


def list_links(
    arcs: Sequence[Arc], edges: Sequence[Arc] = (), arc_values: Mapping[Arc, float] | None = None
) -> list[Link]:
    """Return the links of arcs and of edges without direction.

    A line is as wide as its value is in proportion to the largest one. A value of 0 or below, and
    an arc without a value, have the thinnest line.

    >>> [link.share for link in list_links([("a", "b"), ("b", "c")], (), {("a", "b"): 12.5})]
    [1.0, 0.0]
    """
    values = {} if arc_values is None else _check_values(arcs, edges, arc_values)
    largest = max(values.values(), default=0.0)

    def make_link(pair: Arc, is_directed: bool) -> Link:
        if arc_values is None:
            return Link(*pair, is_directed)
        value = values.get(pair, 0.0)
        share = max(0.0, value) / largest if largest > 0 else 0.0
        return Link(*pair, is_directed, share=share, note=f"{value:z.4g}" if pair in values else "")

    return [make_link(arc, True) for arc in arcs] + [make_link(edge, False) for edge in edges]


def _check_values(arcs: Sequence[Arc], edges: Sequence[Arc], given: Any) -> dict[Arc, float]:
    """Return the value of each arc and of each edge, whose two names may be in any order."""
    if not isinstance(given, Mapping):
        raise bad_parameter("arc_values", "plot", "a mapping of (parent, child) to number", given)
    pairs = {arc: arc for arc in arcs}
    pairs |= {edge: edge for edge in edges} | {edge[::-1]: edge for edge in edges}
    values: dict[Arc, float] = {}
    for pair, value in given.items():
        if pair not in pairs:
            raise ParameterError(f"'arc_values' of plot has {pair!r}, which is not an arc.")
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ParameterError(
                f"'arc_values' of plot must have finite numbers; {pair!r} has {value!r}."
            )
        values[pairs[pair]] = float(value)
    return values
