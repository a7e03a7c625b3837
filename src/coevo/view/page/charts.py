"""The charts of a page as SVG: the score over time, and the arc strengths.

**The score** is shown as nats below the final score, over seconds. The vertical axis is linear up
to 1 and logarithmic beyond, because a search starts far below its final score and ends with small
improvements. The best score is at the top.

**The strengths** have one dot per arc, from the strongest to the weakest. Filled dots are arcs of
the network. Open dots are arcs that only bootstrap samples contain. The dashed line is the
threshold above which an arc is significant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from coevo.view.page.model import BootstrapSummary, ScorePoint
from coevo.view.picture.markup import escape, format_number, make_element

__all__ = ["find_improvements", "render_curve_svg", "render_strength_svg"]


WIDTH, LEFT, RIGHT = 720.0, 64.0, 16.0  # of both charts
CURVE_HEIGHT, CURVE_TOP, CURVE_BOTTOM = 250.0, 12.0, 40.0
MIN_SECONDS = 1e-3
LOG_TIME_RATIO = 30.0  # last time / first time, from which the time axis is logarithmic


def find_improvements(history: Sequence[ScorePoint]) -> list[ScorePoint]:
    """Return the points at which the score improved, and the last point.

    >>> rows = [ScorePoint(0.1, 0, -9.0), ScorePoint(0.2, 1, -9.0), ScorePoint(0.3, 2, -5.0)]
    >>> [row.generation for row in find_improvements(rows)]
    [0, 2]
    """
    points: list[ScorePoint] = []
    for row in history:
        if not points or row.score > points[-1].score:
            points.append(row)
    if history and points[-1] is not history[-1]:
        points.append(history[-1])
    return points


def render_curve_svg(history: Sequence[ScorePoint]) -> str:
    """Return the drawing. The history must have at least one row."""
    rows = find_improvements(history)
    best = rows[-1].score
    seconds = [max(MIN_SECONDS, row.seconds) for row in rows]
    x, x_ticks = _make_time_axis(seconds[0], seconds[-1])
    y, y_ticks = _make_gap_axis(best - rows[0].score)
    points = [(x(seconds[0]), y(best - rows[0].score))]
    for at, row in zip(seconds[1:], rows[1:], strict=True):
        points += [(x(at), points[-1][1]), (x(at), y(best - row.score))]
    line = "M" + "L".join(f"{format_number(a)} {format_number(b)}" for a, b in points)
    bottom = CURVE_HEIGHT - CURVE_BOTTOM
    grid = "".join(
        f'<path class="grid" d="M{at} {format_number(CURVE_TOP)}V{format_number(bottom)}"/>'
        + make_element("text", f"{tick:,.10g}", x=at, y=format_number(bottom + 15))
        for tick in x_ticks
        for at in (format_number(x(tick)),)
    )
    grid += "".join(_render_y_tick(y(tick), f"{tick:,.0f}") for tick in y_ticks)
    end = (
        f'<circle cx="{format_number(points[-1][0])}" cy="{format_number(points[-1][1])}" r="3.5"/>'
    )
    middle = (CURVE_TOP + CURVE_HEIGHT - CURVE_BOTTOM) / 2
    titles = _render_titles("seconds", CURVE_HEIGHT - 6, "nats below the final score", middle)
    about = (
        f"The score rose from {rows[0].score:z,.2f} to {best:z,.2f} in {rows[-1].seconds:,.2f} "
        f"seconds and {rows[-1].generation:,} generations."
    )
    return make_element(
        "svg",
        f"<title>{escape(about)}</title>{grid}{titles}<path class='line' d='{line}'/>{end}",
        class_="curve",
        viewBox=f"0 0 {WIDTH:.0f} {CURVE_HEIGHT:.0f}",
        role="img",
        aria_label=about,
    )


Axis = tuple[Callable[[float], float], list[float]]  # the position of a value, and the ticks


def _make_time_axis(first: float, last: float) -> Axis:
    span = WIDTH - LEFT - RIGHT
    if last <= first:
        return lambda at: LEFT + span * at / (2 * last), [last]
    if last / first < LOG_TIME_RATIO:
        step = 10.0 ** math.floor(math.log10(last))
        step = next(s for s in (step / 5, step / 2, step, step * 2) if last / s <= 6)
        ticks = [step * i for i in range(int(last / step) + 1)]
        return lambda at: LEFT + span * at / last, ticks
    low, high = math.log10(first), math.log10(last)
    shares = (1, 2, 5) if high - low < 3 else (1,)
    powers = range(math.floor(low), math.floor(high) + 1)
    candidates = [share * 10.0**power for power in powers for share in shares]
    ticks = [tick for tick in candidates if first <= tick <= last]
    return lambda at: LEFT + span * (math.log10(at) - low) / (high - low), ticks


def _make_gap_axis(largest: float) -> Axis:
    def scale(gap: float) -> float:
        return gap / 2 if gap <= 1 else 0.5 + math.log10(gap)

    end = scale(max(1.0, largest))
    ticks = [0.0, 1.0, *(10.0**power for power in range(1, 1 + int(math.log10(max(1, largest)))))]
    return (
        lambda gap: (
            CURVE_TOP + (CURVE_HEIGHT - CURVE_TOP - CURVE_BOTTOM) * scale(max(0.0, gap)) / end
        ),
        ticks,
    )


STRENGTH_HEIGHT, STRENGTH_TOP, STRENGTH_BOTTOM = 230.0, 14.0, 34.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
MAX_RADIUS, MIN_RADIUS = 4.0, 2.2  # of a dot


def render_strength_svg(summary: BootstrapSummary) -> str:
    """Return the drawing. The summary must have at least one arc."""
    arcs = sorted(summary.arcs, key=lambda arc: (-arc.strength, arc.parent, arc.child))
    step = (WIDTH - LEFT - RIGHT) / (len(arcs) + 1)
    radius = max(MIN_RADIUS, min(MAX_RADIUS, step / 2))
    grid = "".join(_render_y_tick(_compute_y(tick), f"{tick:g}") for tick in TICKS)
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
    middle = (STRENGTH_TOP + STRENGTH_HEIGHT - STRENGTH_BOTTOM) / 2
    bottom = STRENGTH_HEIGHT - 10
    titles = _render_titles("arcs, from strongest to weakest", bottom, "strength", middle)
    return make_element(
        "svg",
        f"<title>{escape(about)}</title>{grid}{titles}{line}{dots}",
        class_="curve dots",
        viewBox=f"0 0 {WIDTH:.0f} {STRENGTH_HEIGHT:.0f}",
        role="img",
        aria_label=about,
    )


def _compute_y(strength: float) -> float:
    return STRENGTH_TOP + (STRENGTH_HEIGHT - STRENGTH_TOP - STRENGTH_BOTTOM) * (1 - strength)


def _render_titles(below: str, bottom: float, beside: str, middle: float) -> str:
    """Return the titles of both axes; `bottom` and `middle` are their vertical positions."""
    x = format_number((LEFT + WIDTH - RIGHT) / 2)
    turned = f"translate(14 {format_number(middle)}) rotate(-90)"
    return make_element("text", below, class_="axis", x=x, y=bottom) + make_element(
        "text", beside, class_="axis", transform=turned
    )


def _render_y_tick(y: float, label: str) -> str:
    text = make_element(
        "text", label, class_="beside", x=format_number(LEFT - 7), y=format_number(y + 4)
    )
    return _render_line("grid", y) + text


def _render_line(kind: str, y: float) -> str:
    path = f"M{format_number(LEFT)} {format_number(y)}H{format_number(WIDTH - RIGHT)}"
    return f'<path class="{kind}" d="{path}"/>'
