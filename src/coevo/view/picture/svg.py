"""A scene as SVG: one file without scripts, style sheets, identifiers or references.

So two pictures on one page cannot change each other, or the page.
"""

from __future__ import annotations

from coevo.view.picture.layout import clean_text
from coevo.view.picture.markup import escape, format_number, make_element
from coevo.view.picture.scene import Group, Line, Polygon, RoundedBox, Scene, Shape, Text

__all__ = ["render_svg"]

FONTS = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"


def render_svg(scene: Scene, style: str = "") -> str:
    r"""Return the picture as an ``svg`` element; `style` is its style attribute.

    >>> render_svg(Scene(20, 10, (), "Nothing."))[-53:]
    '<rect width="20" height="10" fill="#ffffff"/>\n</svg>\n'
    """
    width, height = format_number(scene.width), format_number(scene.height)
    background = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    inner = "\n".join(["", background, *map(_render_group, scene.groups), ""])
    extra = {"style": style} if style else {}
    root = make_element(
        "svg",
        inner,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        font_family=FONTS,
        role="img",
        aria_label=scene.about,
        **extra,
    )
    return f"{root}\n"


def _render_group(group: Group) -> str:
    title = f"<title>{escape(group.note)}</title>" if group.note else ""
    data = {f"data_{name}": clean_text(value) for name, value in group.data.items()}
    return make_element("g", title + "".join(map(_render_shape, group.shapes)), **data)


def _render_shape(shape: Shape) -> str:
    match shape:
        case Line():
            dashes = " ".join(map(format_number, shape.dashes))
            extra = f' stroke-dasharray="{dashes}"' if dashes else ""
            return (
                f'<path d="{_format_curve(shape)}" fill="none" stroke="{shape.colour}" '
                f'stroke-width="{format_number(shape.width)}"{extra}/>'
            )
        case Polygon():
            points = " ".join(f"{format_number(x)},{format_number(y)}" for x, y in shape.points)
            return f'<polygon points="{points}" fill="{shape.colour}"/>'
        case RoundedBox():
            return (
                f'<rect x="{format_number(shape.x)}" y="{format_number(shape.y)}" '
                f'width="{format_number(shape.width)}" height="{format_number(shape.height)}" '
                f'rx="{format_number(shape.radius)}" fill="{shape.fill}" '
                f'stroke="{shape.stroke}" stroke-width="{format_number(shape.stroke_width)}"/>'
            )
        case Text():
            anchor = ' text-anchor="middle"' if shape.is_centred else ""
            return (
                f'<text x="{format_number(shape.x)}" y="{format_number(shape.y)}" '
                f'font-size="{format_number(shape.size)}" fill="{shape.colour}"{anchor}>'
                f"{escape(shape.text)}</text>"
            )


def _format_curve(line: Line) -> str:
    (x, y), *rest = line.curve
    steps = " ".join(f"{format_number(a)} {format_number(b)}" for a, b in rest)
    return f"M{format_number(x)} {format_number(y)}C{steps}"
