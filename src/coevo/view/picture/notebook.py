"""What objects show in a notebook: a caption, then a graph or a table, as HTML.

There is no script, no style sheet and no reference to another file. Styles stand in the elements,
so they change nothing else on the page. The colour of texts and lines follows the page, which may
be light or dark. All texts are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from coevo.errors import format_count
from coevo.view.picture.labels import clean_text
from coevo.view.picture.markup import escape, make_element
from coevo.view.picture.picture import Picture

__all__ = [
    "MAX_DRAWN",
    "MAX_ROWS",
    "Bar",
    "Table",
    "render_block",
    "render_graph",
    "render_graph_and_table",
    "render_table",
]

MAX_DRAWN = 150  # variables; a larger graph is a table of arcs
MAX_ROWS = 30
MAX_CELL = 200  # characters
RULE = "1px solid rgba(128,128,128,0.35)"
CELL = f"padding:2px 12px 2px 0;border:0;border-bottom:{RULE};background:none"


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell of a table that shows a share, from 0 to 1, as a bar."""

    share: float


class Table:
    """The headers and rows of a table; `numbers` are the indices of its numeric columns."""

    def __init__(
        self, headers: Sequence[str], rows: Iterable[Sequence[object]], numbers: Container[int] = ()
    ) -> None:
        self.headers = headers
        self.rows = list(rows)
        self.numbers = numbers


def render_table(table: Table, max_rows: int = MAX_ROWS) -> str:
    """Return the first rows of a table, and the number of the others.

    >>> render_table(Table(["a"], [["<b>"], ["c"]]), max_rows=1)[-80:]
    '&lt;b&gt;</td></tr></tbody></table><div style="opacity:0.7">and 1 more row</div>'
    """

    def render_row(cells: Sequence[object], tag: str) -> str:
        return "".join(
            make_element(tag, _render_cell(cell), style=f"{CELL};text-align:{side}")
            for cell, side in zip(cells, sides, strict=True)
        )

    n_columns = len(table.headers)
    sides = ["right" if i in table.numbers else "left" for i in range(n_columns)]
    head = f"<thead><tr>{render_row(table.headers, 'th')}</tr></thead>"
    rows = islice(table.rows, max_rows)
    body = "".join(f"<tr>{render_row(row, 'td')}</tr>" for row in rows)
    n_others = len(table.rows) - max_rows
    more = f"and {format_count(n_others, 'more row')}" if n_others > 0 else ""
    return make_element(
        "table",
        f"{head}<tbody>{body}</tbody>",
        style="border-collapse:collapse;margin:4px 0;font-variant-numeric:tabular-nums",
    ) + (make_element("div", more, style="opacity:0.7") if more else "")


def _render_cell(cell: object) -> str:
    if isinstance(cell, Bar):
        return make_element(
            "div", style=f"height:9px;width:{120 * cell.share:.0f}px;background:#4a90c2"
        )
    text = clean_text(str(cell))
    return escape(text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 1]}…")


def render_block(caption: str, *parts: str) -> str:
    """Return a caption with markup below it."""
    title = make_element("div", _render_cell(caption), style="font-weight:600;margin:4px 0")
    return make_element(
        "div", title + "".join(parts), style="max-width:100%;font-size:13px;line-height:1.5"
    )


def render_graph(n_variables: int, draw: Callable[[], Picture], arcs: Table) -> str:
    """Return the picture of a graph, or its table of arcs if the graph is large."""
    if n_variables <= MAX_DRAWN:
        return draw()._repr_html_()
    sentence = f"A graph of more than {MAX_DRAWN} variables is not drawn here. plot() draws it."
    return make_element("div", sentence) + render_table(arcs)


def render_graph_and_table(
    n_variables: int, draw: Callable[[], Picture], arcs: Table, note: str, summary: str
) -> str:
    """Return the picture of a graph, a note about it, and its table of arcs.

    The table is hidden until the reader opens its summary. A large graph has the table only.
    """
    graph = render_graph(n_variables, draw, arcs)
    if n_variables > MAX_DRAWN or not arcs.rows:
        return graph
    title = make_element("summary", escape(summary), style="cursor:pointer;margin:4px 0")
    return (
        make_element("div", escape(note))
        + graph
        + f"<details>{title}{render_table(arcs)}</details>"
    )
