"""The score over time as SVG: nats below the final score, over seconds.

The vertical axis is linear up to 1 and logarithmic beyond, because a search starts far below its
final score and ends with small improvements. The best score is at the top.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from coevo.view.page.markup import escape, format_number, make_element
from coevo.view.page.model import ScorePoint

__all__ = ["find_improvements", "render_curve_svg"]

WIDTH, HEIGHT = 720.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 12.0, 40.0
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
    grid = "".join(_render_x_tick(x(tick), _format_seconds(tick)) for tick in x_ticks)
    grid += "".join(_render_y_tick(y(tick), f"{tick:,.0f}") for tick in y_ticks)
    end = (
        f'<circle cx="{format_number(points[-1][0])}" cy="{format_number(points[-1][1])}" r="3.5"/>'
    )
    titles = make_element(
        "text", "seconds", class_="axis", x=format_number((LEFT + WIDTH - RIGHT) / 2), y=HEIGHT - 6
    ) + make_element(
        "text",
        "nats below the final score",
        class_="axis",
        transform=f"translate(14 {format_number((TOP + HEIGHT - BOTTOM) / 2)}) rotate(-90)",
    )
    about = (
        f"The score rose from {rows[0].score:z,.2f} to {best:z,.2f} in {rows[-1].seconds:,.2f} "
        f"seconds and {rows[-1].generation:,} generations."
    )
    return make_element(
        "svg",
        f"<title>{escape(about)}</title>{grid}{titles}<path class='line' d='{line}'/>{end}",
        class_="curve",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
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
    return lambda gap: TOP + (HEIGHT - TOP - BOTTOM) * scale(max(0.0, gap)) / end, ticks


def _format_seconds(tick: float) -> str:
    return f"{tick:,.10g}"


def _render_x_tick(x: float, label: str) -> str:
    bottom = HEIGHT - BOTTOM
    line = (
        f'<path class="grid" d="M{format_number(x)} {format_number(TOP)}V{format_number(bottom)}"/>'
    )
    return line + make_element("text", label, x=format_number(x), y=format_number(bottom + 15))


def _render_y_tick(y: float, label: str) -> str:
    path = f"M{format_number(LEFT)} {format_number(y)}H{format_number(WIDTH - RIGHT)}"
    line = f'<path class="grid" d="{path}"/>'
    return line + make_element(
        "text", label, class_="beside", x=format_number(LEFT - 7), y=format_number(y + 4)
    )
