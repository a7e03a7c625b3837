"""The graph of a page as SVG, and the data for its script: names, tables and arcs, as JSON.

The style sheet of the page defines the appearance. The drawing is complete without JavaScript, and
in print.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from coevo.checks import as_plain
from coevo.data.summary import shorten_states
from coevo.network import BayesianNetwork
from coevo.view.page.model import DrawnEdge, Page
from coevo.view.picture.layout import Box, Layout
from coevo.view.picture.markup import escape, format_number, make_element
from coevo.view.picture.routing import Curve

__all__ = [
    "MARGIN",
    "compute_view_box",
    "format_path",
    "format_script_json",
    "make_arc_data",
    "make_page_data",
    "make_table_data",
    "render_graph_svg",
]


MAX_CELLS = 600  # of a table that is included; further rows are only counted
DIGITS = 6  # significant digits of a probability
DIRECTED_BY = (None, "data", "knowledge")  # the number of each in the data of an arc
MAX_GENERATIONS = 300  # whose credit is included
GAIN_DIGITS = 9  # of a gain, which the table of arcs shows to two decimal places


def format_script_json(value: object) -> str:
    r"""Return JSON that is safe inside a script element, for any strings.

    >>> format_script_json({"a": "</script><!--"})
    '{"a":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=as_plain
    )
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def make_page_data(
    page: Page, layout: Layout, edges: list[DrawnEdge], names: list[str]
) -> dict[str, Any]:
    """Return the data of a page. Variables are indexed as in `names`, arcs as in `edges`."""
    place = {name: i for i, name in enumerate(names)}
    data: dict[str, Any] = {
        "names": names,
        "boxes": [
            [round(box.x, 1), round(box.y, 1), box.width]
            for box in (layout.boxes[name] for name in names)
        ],
        "arcs": make_arc_data(edges, names),
    }
    if page.network is not None:
        all_states = [page.network.variable(name).states for name in names]
        data["states"] = [list(shorten_states(states).values()) for states in all_states]
        data["tables"] = [
            make_table_data(page.network, name, place, page.parent_counts.get(name))
            for name in names
        ]
        data["means"] = page.are_counts_means
    if page.species is not None:
        data["species"] = _make_species_data(page, page.species)
    return data


def _make_species_data(page: Page, species: Mapping[str, Any]) -> dict[str, Any]:
    """Return the species for their pictures, with the arcs of the network by their numbers.

    Of a long history every second row is left out, or more. The credit of a mask changes slowly.
    """
    place = {name: i for i, name in enumerate(species["variables"])}
    step = -(-len(page.credit) // MAX_GENERATIONS) or 1
    arcs = [[place[a], place[b]] for a, b in page.dag.arcs if a in place and b in place]
    credit = [[_round(value) for value in row] for row in page.credit[::-1][::step][::-1]]
    return {**species, "arcs": arcs, "credit": credit}


def _round(value: float | None, digits: int = DIGITS) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")


def make_arc_data(edges: list[DrawnEdge], names: list[str]) -> list[list[Any]]:
    """Return the ends, the kinds and the facts of each arc."""
    place = {name: i for i, name in enumerate(names)}
    return [
        [
            place[edge.parent],
            place[edge.child],
            DIRECTED_BY.index(edge.directed_by),
            edge.kind,
            edge.class_kind,
            _round(edge.facts.gain, GAIN_DIGITS),
            _round(edge.facts.strength),
            _round(edge.facts.direction),
            _round(edge.facts.reverse),
            edge.facts.word,
            edge.facts.says,
        ]
        for edge in edges
    ]


def make_table_data(
    network: BayesianNetwork,
    name: str,
    place: Mapping[str, int],
    counts: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Return the parents in the order of the rows, the number of rows, and the first rows.

    `counts` are the numbers of rows of data behind each row of the table, if they are known.
    """
    rows = network.table(name)
    included = rows[: max(1, MAX_CELLS // rows.shape[1])]
    table: dict[str, Any] = {
        "parents": [place[parent] for parent in network.parents(name)],
        "n": len(rows),
        "rows": [[_round(cell) for cell in row] for row in included.tolist()],
    }
    if counts is not None:
        table["counts"] = [_round(count) for count in counts[: len(included)]]
        table["unseen"] = sum(count == 0 for count in counts)
    return table


MARGIN = 28.0
MIN_VIEW = (760.0, 430.0)  # keeps a small graph small
MIN_STROKE, MAX_STROKE = 1.1, 3.2
HEADS = ("same", "added", "missing", "reversed", "lit", "known")


def render_graph_svg(
    layout: Layout,
    edges: list[DrawnEdge],
    curves: list[Curve],
    names: list[str],
    is_class: bool = False,
) -> str:
    """Return the drawing; with `is_class` only arcs of a known direction have an arrowhead.

    `curves` has one curve per edge. Variables have their index in `names`. The script of the page
    finds variables and edges by these indices.
    """
    max_gain = max((edge.facts.gain or 0.0 for edge in edges), default=0.0)
    arcs = "".join(_render_edge(i, edge, curves[i], max_gain) for i, edge in enumerate(edges))
    nodes = "".join(_render_node(i, name, layout.boxes[name]) for i, name in enumerate(names))
    heads = "".join(_render_head(kind) for kind in HEADS)
    world = make_element("g", make_element("g", arcs) + make_element("g", nodes), id="world")
    about = f"{len(names):,} variables, parents above children, {len(edges):,} arcs."
    return make_element(
        "svg",
        f"<title>The network</title><desc>{escape(about)}</desc><defs>{heads}</defs>{world}",
        id="graph",
        class_="graph cpdag" if is_class else "graph",
        viewBox=" ".join(map(format_number, compute_view_box(layout))),
        role="group",
        aria_label="The network. Arrow keys move, plus and minus zoom, 0 fits the view, "
        "1 to 3 show a neighbourhood, Escape shows all.",
        tabindex=0,
    )


def compute_view_box(layout: Layout) -> tuple[float, float, float, float]:
    """Return the initial view box, which shows the complete graph: left, top, width, height."""
    width = max(MIN_VIEW[0], layout.width + 2 * MARGIN)
    height = max(MIN_VIEW[1], layout.height + 2 * MARGIN)
    return (layout.width - width) / 2, (layout.height - height) / 2, width, height


def _render_head(kind: str) -> str:
    return make_element(
        "marker",
        '<path d="M0 0L10 4.5L0 9L2.4 4.5z"/>',
        id=f"head-{kind}",
        class_=f"head {kind}",
        viewBox="0 0 10 9",
        refX="9",
        refY="4.5",
        markerWidth="10",
        markerHeight="9",
        markerUnits="userSpaceOnUse",
        orient="auto",
    )


def _render_edge(i: int, edge: DrawnEdge, curve: Curve, max_gain: float) -> str:
    direction = {"data": "", "knowledge": " known", None: " undirected"}[edge.directed_by]
    kinds = f"arc {edge.kind} class-{edge.class_kind}{direction}"
    share = math.sqrt(max(0.0, edge.facts.gain or 0.0) / max_gain) if max_gain > 0 else 0.15
    width = MIN_STROKE + share * (MAX_STROKE - MIN_STROKE)
    return f'<path id="a{i}" class="{kinds}" d="{format_path(curve)}" stroke-width="{width:.2g}"/>'


def format_path(curve: Curve) -> str:
    """Return a curve as the path of an SVG element."""
    (x, y), *rest = curve
    steps = " ".join(f"{format_number(a)} {format_number(b)}" for a, b in rest)
    return f"M{format_number(x)} {format_number(y)}C{steps}"


def _render_node(i: int, name: str, box: Box) -> str:
    shape = (
        f'<rect x="{format_number(-box.width / 2)}" y="{format_number(-box.height / 2)}" '
        f'width="{format_number(box.width)}" height="{format_number(box.height)}" rx="7"/>'
    )
    label = f'<text y="4.2">{escape(box.label)}</text>'
    return make_element(
        "g",
        shape + label,
        id=f"n{i}",
        class_="node",
        transform=f"translate({format_number(box.x)} {format_number(box.y)})",
        role="button",
        aria_label=name,
        tabindex=0 if i == 0 else -1,
    )
