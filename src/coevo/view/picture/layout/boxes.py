"""A finished layout: the box of each variable and the curve of each arc."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.view.picture.layout.routing import LINE_HEIGHT, NODE_HEIGHT, Curve

__all__ = ["Arc", "Box", "Layout"]

Arc = tuple[str, str]  # (parent, child)


@dataclass(frozen=True, slots=True)
class Box:
    """The position and the label of a variable."""

    x: float  # of the centre
    y: float
    width: float
    lines: tuple[str, ...]  # of the label
    extra: float = 0.0  # height below the label, for what else the box shows

    @property
    def label(self) -> str:
        """The label in one line."""
        return " ".join(self.lines)

    @property
    def height(self) -> float:
        """The height, which is the same for all boxes with equally many lines and nothing else."""
        return NODE_HEIGHT + LINE_HEIGHT * (len(self.lines) - 1) + self.extra


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing from (0, 0), the top left corner, to (width, height)."""

    width: float
    height: float
    boxes: dict[str, Box]  # by name
    curves: dict[Arc, Curve]
