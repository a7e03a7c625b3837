"""One file with everything in it: skeleton, style, script, pictures and data.

It opens from a disk without a network, asks for nothing outside, and no script runs in it
but its own, whose hash its policy names.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from coevo.files import check_folder, write_text
from coevo.report.layout import Curve, lay_out
from coevo.report.page.data import page_data, script_json
from coevo.report.page.edges import Line, lines_of, pairs_to_lay_out
from coevo.report.page.graph_svg import graph_svg
from coevo.report.page.markup import escaped
from coevo.report.page.model import Page
from coevo.report.page.sections import legend, sections, subtitle

__all__ = ["page_html", "write_page"]


def page_html(page: Page) -> str:
    """Return a page as one HTML document that needs nothing else.

    Examples
    --------
    >>> from coevo.graph import DAG
    >>> text = page_html(Page(DAG("ab", [("a", "b")]), title="Two <variables>"))
    >>> "<title>Two &lt;variables&gt;</title>" in text
    True
    """
    lines = lines_of(page)
    names = sorted(page.dag.nodes)
    laid_out = pairs_to_lay_out(page.dag, lines)
    layout = lay_out(names, laid_out.values())
    curves = [_curve(line, laid_out, layout.curves) for line in lines]
    style, script = _asset("page.css"), _asset("page.js")
    return _filled(
        _asset("page.html"),
        {
            "policy": _policy(style, script),
            "title": escaped(page.title),
            "style": style,
            "facts": subtitle(page, lines),
            "differences": _differences(page),
            "graph": graph_svg(layout, lines, curves, names),
            "legend": legend(page, lines),
            "sections": sections(page, lines, names),
            "data": script_json(page_data(page, layout, lines, names)),
            "script": script,
        },
    )


def write_page(path: str | os.PathLike[str], page: Page) -> None:
    """Write a page, whole or not at all.

    Parameters
    ----------
    path : str or path
        Where; a file that is there is replaced.
    page : Page
        What it shows.
    """
    check_folder(Path(path))
    write_text(Path(path), page_html(page))


def _curve(
    line: Line,
    laid_out: dict[tuple[str, str], tuple[str, str]],
    curves: dict[tuple[str, str], Curve],
) -> Curve:
    """Return the curve of a line, from its parent to its child."""
    arc = (line.parent, line.child)
    curve = curves[laid_out[arc]]
    return curve if laid_out[arc] == arc else curve[::-1]


def _differences(page: Page) -> str:
    if page.other is None:
        return ""
    return '<label><input type="checkbox" id="differences"> differences only</label>'


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return what the browser may load: nothing, and which style and script it may use."""
    hashes = [
        "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src '{hashes[0]}'; script-src '{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _filled(skeleton: str, parts: dict[str, str]) -> str:
    """Return a skeleton with its ``{{name}}`` filled in; what is filled in is not looked at."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], skeleton)
