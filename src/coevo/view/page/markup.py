"""Builders of HTML and SVG: escaped text, short numbers, elements and tables."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from coevo.view.picture.markup import escape, format_number, make_element

__all__ = ["escape", "format_number", "make_element", "make_scroll_area", "make_table"]


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
