"""Builders of HTML and SVG: escaped text, short numbers, elements and tables."""

from __future__ import annotations

import html
from collections.abc import Container, Iterable, Sequence

__all__ = ["escape", "format_number", "make_element", "make_table"]


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


def make_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Container[int] = (),
    **attributes: object,
) -> str:
    """Return a table. Its cells are markup; `numbers` are the indices of numeric columns.

    >>> make_table(["a", "b"], [["x", "1"]], numbers={1})[-67:]
    '<tbody><tr><td>x</td><td class="number">1</td></tr></tbody></table>'
    """

    def make_row(cells: Sequence[str], tag: str, scope: dict[str, str]) -> str:
        kinds = [{"class_": "number"} if i in numbers else {} for i in range(len(cells))]
        inner = (
            make_element(tag, c, **scope, **kind) for c, kind in zip(cells, kinds, strict=True)
        )
        return f"<tr>{''.join(inner)}</tr>"

    head = make_row(headers, "th", {"scope": "col"})
    body = "".join(make_row(row, "td", {}) for row in rows)
    return make_element("table", f"<thead>{head}</thead><tbody>{body}</tbody>", **attributes)
