"""Builders of HTML and SVG: escaped text, short numbers and elements."""

from __future__ import annotations

import html

__all__ = ["escape", "format_number", "make_element"]


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
