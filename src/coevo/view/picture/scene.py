"""The shapes of a picture, independent of the format of the file.

The writers of SVG, PNG and PDF draw the same scene, so the three look the same. One unit is one
CSS pixel: 96 units are an inch. The origin is the top left corner.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from coevo.view.picture.layout import Curve
from coevo.view.picture.layout.routing import Point

__all__ = ["Group", "Line", "Polygon", "RoundedBox", "Scene", "Shape", "Text"]


@dataclass(frozen=True, slots=True)
class Line:
    """A curve of cubic Bezier segments."""

    curve: Curve
    colour: str
    width: float
    dashes: tuple[float, ...] = ()  # lengths of lines and gaps; empty for a solid line


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled polygon, such as the head of an arc."""

    points: tuple[Point, ...]
    colour: str


@dataclass(frozen=True, slots=True)
class RoundedBox:
    """A box with round corners; x and y are its top left corner."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    fill: str
    stroke: str
    stroke_width: float


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; y is its baseline."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    max_width: float  # the space that it has
    is_centred: bool = True  # around x; else it starts there


Shape: TypeAlias = Line | Polygon | RoundedBox | Text


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes that belong together: a variable, an arc or the legend."""

    shapes: tuple[Shape, ...]
    note: str = ""  # shown while the pointer is on the shapes
    data: dict[str, str] = field(default_factory=dict)  # what it stands for, for programs


@dataclass(frozen=True, slots=True)
class Scene:
    """All groups, the lowest first, on a white background."""

    width: float
    height: float
    groups: tuple[Group, ...]
    about: str  # what it shows, for readers that cannot see it
