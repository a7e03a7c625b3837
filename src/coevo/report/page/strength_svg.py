"""How sure the arcs are, as SVG: a dot an arc, from the strongest to the weakest.

Filled dots are arcs of the network; the others were found in bootstraps alone. The dashed line
is the threshold above which an arc is significant.
"""

from __future__ import annotations

from coevo.report.page.markup import element, escaped, number
from coevo.report.page.model import Sureness

__all__ = ["dots_svg"]

WIDTH, HEIGHT = 720.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 14.0, 34.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LARGEST, SMALLEST = 4.0, 2.2  # radius of a dot


def dots_svg(sureness: Sureness) -> str:
    """Return the picture; there is at least one arc."""
    arcs = sorted(sureness.arcs, key=lambda arc: (-arc.strength, arc.parent, arc.child))
    step = (WIDTH - LEFT - RIGHT) / (len(arcs) + 1)
    radius = max(SMALLEST, min(LARGEST, step / 2))
    grid = "".join(_tick(tick) for tick in TICKS)
    dots = "".join(
        element(
            "circle",
            f"<title>{escaped(f'{arc.parent} → {arc.child}, strength {arc.strength:.3f}')}</title>",
            class_="inside" if arc.in_network else "outside",
            cx=number(LEFT + step * place),
            cy=number(_height(arc.strength)),
            r=number(radius),
        )
        for place, arc in enumerate(arcs, start=1)
    )
    line = _line("limit", _height(sureness.threshold))
    n_above = sum(arc.strength > sureness.threshold for arc in arcs)
    about = (
        f"{n_above:,} of {len(arcs):,} arcs are above the threshold of {sureness.threshold:.3f}, "
        f"over {sureness.n_bootstraps:,} bootstraps."
    )
    titles = element(
        "text",
        "arcs, from strongest to weakest",
        class_="axis",
        x=number((LEFT + WIDTH - RIGHT) / 2),
        y=HEIGHT - 10,
    ) + element(
        "text",
        "share of bootstraps",
        class_="axis",
        transform=f"translate(14 {number((TOP + HEIGHT - BOTTOM) / 2)}) rotate(-90)",
    )
    return element(
        "svg",
        f"<title>{escaped(about)}</title>{grid}{titles}{line}{dots}",
        class_="curve dots",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_label=about,
    )


def _height(strength: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - strength)


def _tick(strength: float) -> str:
    y = _height(strength)
    label = f"{strength:g}"
    beside = element("text", label, class_="beside", x=number(LEFT - 7), y=number(y + 4))
    return _line("grid", y) + beside


def _line(kind: str, y: float) -> str:
    return f'<path class="{kind}" d="M{number(LEFT)} {number(y)}H{number(WIDTH - RIGHT)}"/>'
