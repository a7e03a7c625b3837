"""The drawing of a network as plain values, from which the script makes SVG.

There are two drawings of a network: with its names only, and with room for the bars of its states.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from coevo.network import BayesianNetwork
from coevo.view.page.data import make_arc_data
from coevo.view.page.document import find_curve
from coevo.view.page.edges import list_drawn_edges, orient_for_layout
from coevo.view.page.graph_svg import compute_view_box, format_path
from coevo.view.page.model import Page
from coevo.view.picture.layout import Layout, estimate_text_width, lay_out

__all__ = ["MAX_BARS", "draw_page", "list_sizes"]

MAX_BARS = 8  # states of a variable that have a bar in the drawing; the panel has all of them
BAR_HEIGHT = 15.0
BAR_MARGIN = 5.0  # below the last bar
BAR_WIDTH = 70.0 + 37.0 + 2 * 6.0 + 5.0  # a bar, a number and margins
STATE_FONT_SIZE = 10.0
MIN_STATE_WIDTH, MAX_STATE_WIDTH = 40.0, 140.0

Sizes = dict[str, tuple[float, float]]
LayOut = Callable[..., Layout]


def list_sizes(network: BayesianNetwork) -> Sizes:
    """Return the least width of each variable with bars, and the height of its bars.

    >>> from coevo.bundled import load_network
    >>> list_sizes(load_network("survey"))["A"]  # of three states
    (164.0, 50.0)
    """
    return {variable.name: _measure_bars(variable.states) for variable in network.variables}


def _measure_bars(states: Sequence[str]) -> tuple[float, float]:
    widest = max(estimate_text_width(state, STATE_FONT_SIZE) for state in states[:MAX_BARS])
    width = BAR_WIDTH + math.ceil(min(MAX_STATE_WIDTH, max(MIN_STATE_WIDTH, widest)))
    return width, BAR_HEIGHT * min(len(states), MAX_BARS) + BAR_MARGIN


def draw_page(page: Page, has_bars: bool = False, lay_out: LayOut = lay_out) -> dict[str, Any]:
    """Return the drawing of a page.

    Parameters
    ----------
    page : Page
        The structure, its network if it has one, and the facts about its arcs.
    has_bars : bool
        Leave room for the bars of the states.
    lay_out : callable
        Lays out the graph; the studio gives one that keeps layouts.
    """
    edges = list_drawn_edges(page)
    names = sorted(page.dag.nodes)
    layout_arcs = orient_for_layout(page.dag, edges)
    sizes: Mapping[str, tuple[float, float]] = {}
    if has_bars and page.network is not None:
        sizes = list_sizes(page.network)
    layout = lay_out(names, sorted(layout_arcs.values()), sizes=sizes)
    boxes = [layout.boxes[name] for name in names]
    max_gain = max((edge.facts.gain or 0.0 for edge in edges), default=0.0)
    drawing: dict[str, Any] = {
        "title": page.title,
        "facts": dict(page.facts),
        "names": names,
        "labels": [box.label for box in boxes],
        "boxes": [[round(b.x, 1), round(b.y, 1), b.width, b.height] for b in boxes],
        "arcs": make_arc_data(edges, names),
        "paths": [format_path(find_curve(edge, layout_arcs, layout.curves)) for edge in edges],
        "widths": [_measure_width(edge.facts.gain, max_gain) for edge in edges],
        "viewBox": list(compute_view_box(layout)),
        "bars": bool(sizes),
        "is_learned": page.is_learned,  # then it opens on the directions that are known
    }
    if page.network is not None:
        drawing["states"] = [list(page.network.variable(name).states) for name in names]
    return drawing


def _measure_width(gain: float | None, max_gain: float) -> float:
    """Return the share of the largest line width, from 0 to 1."""
    return math.sqrt(max(0.0, gain or 0.0) / max_gain) if max_gain > 0 else 0.15
