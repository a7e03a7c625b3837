"""A scene as PNG or PDF, drawn by matplotlib. The same scene gives the same bytes.

matplotlib is an optional extra. Its settings do not change. The font is DejaVu Sans, which comes
with matplotlib. Characters that it lacks are taken from the installed fonts.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

from coevo.errors import format_count, import_optional, warn_caller
from coevo.view.picture.scene import Line, Polygon, RoundedBox, Scene, Shape, Text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_file"]

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
