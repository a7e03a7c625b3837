"""The complete HTML file of a network: template, style, script, drawings and data."""

from __future__ import annotations

import os
from pathlib import Path

from coevo.files import check_output_path, write_text
from coevo.view.page.bundle import bundle_modules
from coevo.view.page.data import format_script_json, make_page_data
from coevo.view.page.edges import DrawnEdge, list_drawn_edges, orient_for_layout
from coevo.view.page.graph_svg import render_graph_svg
from coevo.view.page.markup import escape
from coevo.view.page.model import Page
from coevo.view.page.sections import render_facts, render_legend, render_sections, render_summary
from coevo.view.page.template import fill_page, read_asset
from coevo.view.picture.layout import Curve, lay_out

__all__ = ["find_curve", "render_page", "write_page"]


def render_page(page: Page) -> str:
    """Return a page as one self-contained HTML document.

    Examples
    --------
    >>> from coevo.graph import DAG
    >>> text = render_page(Page(DAG("ab", [("a", "b")]), title="Two <variables>"))
    >>> "<title>Two &lt;variables&gt;</title>" in text
    True
    """
    edges = list_drawn_edges(page)
    names = sorted(page.dag.nodes)
    layout_arcs = orient_for_layout(page.dag, edges)
    layout = lay_out(names, layout_arcs.values())
    curves = [find_curve(edge, layout_arcs, layout.curves) for edge in edges]
    return fill_page(
        read_asset("page.html"),
        read_asset("page.css"),
        bundle_modules("page"),
        {
            "title": escape(page.title),
            "facts": render_facts(page, edges),
            "differences": _render_differences_box(page),
            "graph": render_graph_svg(layout, edges, curves, names, page.is_learned),
            "summary": render_summary(page, edges),
            "dag_pressed": str(not page.is_learned).lower(),
            "cpdag_pressed": str(page.is_learned).lower(),
            "legend": render_legend(page, edges),
            "sections": render_sections(page, edges, names),
            "data": format_script_json(make_page_data(page, layout, edges, names)),
        },
    )


def write_page(path: str | os.PathLike[str], page: Page) -> None:
    """Write a page as an HTML file. A failure leaves no partial file.

    Parameters
    ----------
    path : str or path
        The file. An existing file is replaced.
    page : Page
        The content.
    """
    check_output_path(Path(path))
    write_text(Path(path), render_page(page))


def find_curve(
    edge: DrawnEdge,
    layout_arcs: dict[tuple[str, str], tuple[str, str]],
    curves: dict[tuple[str, str], Curve],
) -> Curve:
    """Return the curve of an edge, from its parent to its child."""
    arc = (edge.parent, edge.child)
    curve = curves[layout_arcs[arc]]
    return curve if layout_arcs[arc] == arc else curve[::-1]


def _render_differences_box(page: Page) -> str:
    if page.other is None:
        return ""
    return '<label><input type="checkbox" id="differences"> Differences only</label>'
