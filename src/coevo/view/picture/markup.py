"""Builders of HTML and SVG: escaped text, short numbers, elements, tables, and scenes.

A scene is one file without scripts, style sheets, identifiers or references. So two pictures on one
page cannot change each other, or the page.
"""

from __future__ import annotations

import html
from collections.abc import Container, Iterable, Sequence

from coevo.view.picture.labels import clean_text
from coevo.view.picture.scene import Group, Line, Polygon, RoundedBox, Scene, Shape, Text

__all__ = [
    "escape",
    "format_number",
    "make_element",
    "make_scroll_area",
    "make_table",
    "render_svg",
]


def escape(text: object) -> str:
    """Return a text escaped for use between tags and in quoted attributes.

    >>> escape('<"a" & b>')
    '&lt;&quot;a&quot; &amp; b&gt;'
    """
    return html.escape(str(text), quote=True)


def make_element(tag: str, inner: str = "", **attributes: object) -> str:
    """Return an element. Attributes are escaped; the inner markup is not.

    In attribute names ``_`` becomes ``-``, and a trailing ``_`` is removed.

    >>> make_element("p", "a", class_="b", data_n=3)
    '<p class="b" data-n="3">a</p>'
    """
    formatted = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{formatted}>{inner}</{tag}>"


def format_number(value: float) -> str:
    """Return a coordinate with at most one decimal digit.

    >>> format_number(12.04), format_number(-0.02), format_number(3.26)
    ('12', '0', '3.3')
    """
    return f"{value:z.1f}".removesuffix(".0")


def make_scroll_area(inner: str, label: str) -> str:
    """Return a box that scrolls; the keyboard reaches it."""
    return make_element("div", inner, class_="scroll", role="region", aria_label=label, tabindex=0)


def make_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Container[int] = (),
    labels: Sequence[str] = (),
    **attributes: object,
) -> str:
    """Return a table. Its cells are markup; `numbers` are the indices of numeric columns.

    With `labels` each cell has the label of its column, for screens that are too narrow for
    columns.

    >>> make_table(["a", "b"], [["x", "1"]], numbers={1})[-67:]
    '<tbody><tr><td>x</td><td class="number">1</td></tr></tbody></table>'
    """

    def make_row(cells: Sequence[str], tag: str, scope: dict[str, str]) -> str:
        kinds = [{"class_": "number"} if i in numbers else {} for i in range(len(cells))]
        if labels and tag == "td":
            kinds = [
                kind | {"data_label": label} for kind, label in zip(kinds, labels, strict=True)
            ]
        inner = (
            make_element(tag, c, **scope, **kind) for c, kind in zip(cells, kinds, strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>"

    head = make_row(headers, "th", {"scope": "col"})
    body = "".join(make_row(row, "td", {}) for row in rows)
    return make_element("table", f"<thead>{head}</thead><tbody>{body}</tbody>", **attributes)


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
