"""A finished layout: the box of each variable and the curve of each arc."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.graph.dag import Arc
from coevo.report.layout.routing import NODE_HEIGHT, Curve

__all__ = ["Box", "Layout"]


@dataclass(frozen=True, slots=True)
class Box:
    """The position and the label of a variable."""

    x: float  # of the centre
    y: float
    width: float
    label: str

    @property
    def height(self) -> float:
        """The height, which is the same for all boxes."""
        return NODE_HEIGHT


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing from (0, 0), the top left corner, to (width, height)."""

    width: float
    height: float
    boxes: dict[str, Box]  # by name
    curves: dict[Arc, Curve]
