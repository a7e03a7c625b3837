"""Pieces of HTML and SVG: text that is escaped, numbers that are short."""

from __future__ import annotations

import html
from collections.abc import Container, Iterable, Sequence

__all__ = ["element", "escaped", "number", "table"]


def escaped(text: object) -> str:
    """Return a text as it may stand between tags and in quoted attributes.

    >>> escaped('<"a" & b>')
    '&lt;&quot;a&quot; &amp; b&gt;'
    """
    return html.escape(str(text), quote=True)


def element(tag: str, inner: str = "", **attributes: object) -> str:
    """Return an element; its inner markup is taken as it is, its attributes are escaped.

    In names of attributes ``_`` stands for ``-``, and one at the end is left out.

    >>> element("p", "a", class_="b", data_n=3)
    '<p class="b" data-n="3">a</p>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{given}>{inner}</{tag}>"


def number(value: float) -> str:
    """Return a coordinate with one digit at most.

    >>> number(12.04), number(-0.02), number(3.26)
    ('12', '0', '3.3')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Container[int] = (),
    **attributes: object,
) -> str:
    """Return a table; all its cells are markup, and some columns hold numbers.

    >>> table(["a", "b"], [["x", "1"]], numbers={1})[-67:]
    '<tbody><tr><td>x</td><td class="number">1</td></tr></tbody></table>'
    """

    def row_of(cells: Sequence[str], tag: str, scope: dict[str, str]) -> str:
        kinds = [{"class_": "number"} if i in numbers else {} for i in range(len(cells))]
        inner = (element(tag, c, **scope, **kind) for c, kind in zip(cells, kinds, strict=True))
        return f"<tr>{''.join(inner)}</tr>"

    head = row_of(headers, "th", {"scope": "col"})
    body = "".join(row_of(row, "td", {}) for row in rows)
    return element("table", f"<thead>{head}</thead><tbody>{body}</tbody>", **attributes)
