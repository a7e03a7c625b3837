"""A picture of a graph: it shows itself in a notebook, and it can be saved.

PNG and PDF are drawn by matplotlib. The same scene gives the same bytes. matplotlib is an optional
extra. Its settings do not change. The font is DejaVu Sans, which comes with matplotlib. Characters
that it lacks are taken from the installed fonts.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.checks import is_choice
from coevo.errors import ParameterError, bad_choice, format_count, import_optional, warn_caller
from coevo.files.files import check_output_path, replace_file
from coevo.view.picture.markup import render_svg
from coevo.view.picture.scene import (
    Line,
    Link,
    LinkKind,
    Polygon,
    RoundedBox,
    Scene,
    Shape,
    Text,
    make_scene,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PICTURE_FORMATS", "Picture", "draw_file", "draw_graph", "find_picture_format"]


FONT = "DejaVu Sans"
BOXES = ("Last Resort", "Last Resort High-Efficiency", ".LastResort")  # a box for each character
UNITS_PER_INCH = 96.0
POINTS_PER_INCH = 72.0
DOTS_PER_INCH = 192  # two dots for each unit
MAX_PIXELS = 16_000  # on each side of a PNG; a larger picture has fewer dots per inch
MAX_PAGE = 200.0  # inches, the limit of PDF readers
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def draw_file(scene: Scene, kind: str) -> bytes:
    """Return the picture as a file of a kind: png or pdf."""
    import_optional("matplotlib", "matplotlib", "plot")
    from matplotlib import style

    longest = max(scene.width, scene.height) / UNITS_PER_INCH
    dpi = min(DOTS_PER_INCH, MAX_PIXELS / longest)
    # Type 3 fonts have no date, unlike the others.
    settings: Any = {"pdf.fonttype": 3, "font.family": _choose_fonts(scene)}
    buffer = io.BytesIO()
    with style.context(["default", settings]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # said before
        figure = _draw_figure(scene, min(1.0, MAX_PAGE / longest) if kind == "pdf" else 1.0)
        figure.savefig(buffer, format=kind, dpi=dpi, metadata=METADATA[kind])
    return buffer.getvalue()


def _draw_figure(scene: Scene, scale: float) -> Figure:
    """Return the picture as a figure without axes; `scale` is 1 for the usual size."""
    from matplotlib.figure import Figure

    unit = scale / UNITS_PER_INCH
    figure = Figure(figsize=(scene.width * unit, scene.height * unit))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, scene.width)
    axes.set_ylim(scene.height, 0)
    axes.set_axis_off()
    points = unit * POINTS_PER_INCH
    number = 0
    for group in scene.groups:
        for shape in group.shapes:
            _draw_shape(axes, shape, points, number)
            number += 1
    return figure


def _draw_shape(axes: Axes, shape: Shape, points: float, number: int) -> None:
    """Draw one shape. `points` are the points per unit, `number` is its place in the stack."""
    from matplotlib.patches import FancyBboxPatch, PathPatch
    from matplotlib.patches import Polygon as PolygonPatch
    from matplotlib.path import Path as Outline

    look: dict[str, Any] = {"zorder": number}
    match shape:
        case Line():
            codes = [Outline.MOVETO, *[Outline.CURVE4] * (len(shape.curve) - 1)]
            dashes = (0, tuple(d / shape.width for d in shape.dashes)) if shape.dashes else "solid"
            look |= {"facecolor": "none", "edgecolor": shape.colour, "linestyle": dashes}
            look |= {"linewidth": shape.width * points, "capstyle": "butt"}
            axes.add_patch(PathPatch(Outline(shape.curve, codes), **look))
        case Polygon():
            look |= {"facecolor": shape.colour, "edgecolor": "none"}
            axes.add_patch(PolygonPatch(shape.points, closed=True, **look))
        case RoundedBox():
            rounding = f"round,pad=0,rounding_size={shape.radius}"
            look |= {"facecolor": shape.fill, "edgecolor": shape.stroke, "boxstyle": rounding}
            look |= {"linewidth": shape.stroke_width * points}
            corner = (shape.x, shape.y)
            axes.add_patch(FancyBboxPatch(corner, shape.width, shape.height, **look))
        case Text():
            size = _fit_size(shape) * points
            look |= {"fontsize": size, "color": shape.colour, "parse_math": False}
            look |= {"ha": "center" if shape.is_centred else "left", "va": "baseline"}
            axes.text(shape.x, shape.y, shape.text, **look)


def _fit_size(shape: Text) -> float:
    """Return the size of a text, smaller than its own if the text would be too wide."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=shape.size)
    width, _, _ = text_to_path.get_text_width_height_descent(shape.text, font, ismath=False)
    return shape.size * min(1.0, shape.max_width / width) if width > 0 else shape.size


def _choose_fonts(scene: Scene) -> list[str]:
    """Return the fonts to draw all characters with; warn about characters that none has."""
    from matplotlib.font_manager import findfont, fontManager, get_font

    texts = [s.text for group in scene.groups for s in group.shapes if isinstance(s, Text)]
    chosen = [FONT]
    missing = {ord(c) for text in texts for c in text} - set(get_font(findfont(FONT)).get_charmap())
    installed = {font.name: font.fname for font in fontManager.ttflist if font.name not in BOXES}
    for name, path in sorted(installed.items()) if missing else ():
        found = missing & set(get_font(path).get_charmap())
        if found:
            chosen.append(name)
            missing -= found
        if not missing:
            break
    if missing:
        warn_caller(
            f"No installed font has a shape for {format_count(len(missing), 'character')} of the "
            f"names, such as {chr(min(missing))!r}. The picture shows a box instead. An SVG file "
            "does not have this limit."
        )
    return chosen


PICTURE_FORMATS = ("svg", "png", "pdf")
MIN_SCALE = 0.7  # of a wide picture in a narrow notebook; below that it scrolls


class Picture:
    """A picture of a graph, as the ``plot`` methods of graphs, networks and results return it.

    In a notebook it shows itself. The names of variables and the facts about arcs appear while the
    pointer is on them. The same graph gives the same bytes.

    Parameters
    ----------
    scene : Scene
        The shapes.

    Examples
    --------
    >>> picture = draw_graph(["rain", "wet"], [Link("rain", "wet")])
    >>> picture
    <Picture: 2 variables, 1 arc, 76 x 118>
    >>> picture.svg[:41]
    '<svg xmlns="http://www.w3.org/2000/svg" w'
    >>> picture.save("rain.gif")
    Traceback (most recent call last):
    coevo.errors.ParameterError: The extension of 'rain.gif' names no format of pictures. Use one \
of .svg, .png, .pdf.
    """

    __slots__ = ("__dict__", "_scene")

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @property
    def width(self) -> int:
        """The width in CSS pixels, of which an inch has 96."""
        return int(self._scene.width)

    @property
    def height(self) -> int:
        """The height in CSS pixels."""
        return int(self._scene.height)

    @property
    def about(self) -> str:
        """What it shows: the number of variables and arcs."""
        return self._scene.about

    @cached_property
    def svg(self) -> str:
        """The picture as SVG text, which needs no other file."""
        return render_svg(self._scene)

    def to_bytes(self, format_name: str) -> bytes:
        """Return the content of a file: ``'svg'``, ``'png'`` or ``'pdf'``.

        PNG and PDF need matplotlib (``pip install 'coevo[plot]'``).
        """
        if not is_choice(format_name, PICTURE_FORMATS):
            raise bad_choice("format_name", "Picture", PICTURE_FORMATS, format_name)
        if format_name == "svg":
            return self.svg.encode("utf-8")

        return draw_file(self._scene, format_name)

    def save(self, path: str | os.PathLike[str], format_name: str | None = None) -> None:
        """Write the picture. A failure leaves no partial file.

        Parameters
        ----------
        path : str or path
            The file. An existing file is replaced.
        format_name : {'svg', 'png', 'pdf'}, optional
            The format (default: that of the file extension). PNG and PDF need matplotlib
            (``pip install 'coevo[plot]'``).
        """
        kind = find_picture_format(path) if format_name is None else format_name
        if kind is None:
            raise ParameterError(
                f"The extension of {str(path)!r} names no format of pictures. Use one of "
                f"{', '.join(f'.{name}' for name in PICTURE_FORMATS)}."
            )
        check_output_path(Path(path))
        content = self.to_bytes(kind)
        with replace_file(Path(path)) as stream:
            stream.write(content)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        least, most = round(MIN_SCALE * self.width), self.width
        style = (
            f"display:block;width:100%;height:auto;min-width:{least}px;max-width:{most}px;"
            "border-radius:6px"
        )
        svg = render_svg(self._scene, style)
        return f'<div style="max-width:100%;overflow:auto">{svg}</div>'

    def __repr__(self) -> str:
        return f"<Picture: {self.about}, {self.width} x {self.height}>"


def find_picture_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format of pictures that the extension of a file names, or None.

    >>> find_picture_format("a.SVG"), find_picture_format("a.svg.gz")
    ('svg', None)
    """
    extension = os.path.splitext(str(path))[1].lower().removeprefix(".")
    return extension if extension in PICTURE_FORMATS else None


def draw_graph(
    nodes: Sequence[str],
    links: Sequence[Link],
    node_notes: Mapping[str, str] | None = None,
    legend: Mapping[LinkKind, str] | None = None,
) -> Picture:
    """Draw a graph.

    Parameters
    ----------
    nodes : sequence of str
        All variables.
    links : sequence of Link
        The arcs and edges. The directed ones must not form a cycle, except those that a
        comparison calls missing.
    node_notes : mapping of str to str, optional
        What the picture shows while the pointer is on a variable, after its name.
    legend : mapping of LinkKind to str, optional
        The kinds of links that the picture explains.

    Returns
    -------
    Picture
        Parents are above their children, and no two variables overlap.
    """
    return Picture(make_scene(nodes, links, node_notes, legend))
