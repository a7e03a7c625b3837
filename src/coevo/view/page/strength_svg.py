"""The arc strengths as SVG: one dot per arc, from the strongest to the weakest.

Filled dots are arcs of the network. Open dots are arcs that only bootstrap samples contain. The
dashed line is the threshold above which an arc is significant.
"""

from __future__ import annotations

from coevo.view.page.markup import escape, format_number, make_element
from coevo.view.page.model import BootstrapSummary

__all__ = ["render_strength_svg"]

WIDTH, HEIGHT = 720.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 14.0, 34.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
MAX_RADIUS, MIN_RADIUS = 4.0, 2.2  # of a dot


def render_strength_svg(summary: BootstrapSummary) -> str:
    """Return the drawing. The summary must have at least one arc."""
    arcs = sorted(summary.arcs, key=lambda arc: (-arc.strength, arc.parent, arc.child))
    step = (WIDTH - LEFT - RIGHT) / (len(arcs) + 1)
    radius = max(MIN_RADIUS, min(MAX_RADIUS, step / 2))
    grid = "".join(_render_tick(tick) for tick in TICKS)
    dots = "".join(
        make_element(
            "circle",
            f"<title>{escape(f'{arc.parent} → {arc.child}, strength {arc.strength:.3f}')}</title>",
            class_="inside" if arc.in_network else "outside",
            cx=format_number(LEFT + step * position),
            cy=format_number(_compute_y(arc.strength)),
            r=format_number(radius),
        )
        for position, arc in enumerate(arcs, start=1)
    )
    line = _render_line("limit", _compute_y(summary.threshold))
    n_above = sum(arc.strength > summary.threshold for arc in arcs)
    about = (
        f"{n_above:,} of {len(arcs):,} arcs are above the threshold of {summary.threshold:.3f}, "
        f"over {summary.n_bootstraps:,} bootstrap samples."
    )
    titles = make_element(
        "text",
        "arcs, from strongest to weakest",
        class_="axis",
        x=format_number((LEFT + WIDTH - RIGHT) / 2),
        y=HEIGHT - 10,
    ) + make_element(
        "text",
        "strength",
        class_="axis",
        transform=f"translate(14 {format_number((TOP + HEIGHT - BOTTOM) / 2)}) rotate(-90)",
    )
    return make_element(
        "svg",
        f"<title>{escape(about)}</title>{grid}{titles}{line}{dots}",
        class_="curve dots",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_label=about,
    )


def _compute_y(strength: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - strength)


def _render_tick(strength: float) -> str:
    y = _compute_y(strength)
    label = f"{strength:g}"
    text = make_element(
        "text", label, class_="beside", x=format_number(LEFT - 7), y=format_number(y + 4)
    )
    return _render_line("grid", y) + text


def _render_line(kind: str, y: float) -> str:
    path = f"M{format_number(LEFT)} {format_number(y)}H{format_number(WIDTH - RIGHT)}"
    return f'<path class="{kind}" d="{path}"/>'
