"""How the score rose, as SVG: nats below the end over seconds.

The upper axis is even up to 1 and logarithmic from there, as a search comes from far below and
ends with small steps; the best is at the top.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from coevo.report.page.markup import element, escaped, number
from coevo.report.page.model import Progress

__all__ = ["curve_svg", "improvements"]

WIDTH, HEIGHT = 720.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 12.0, 40.0
LEAST_SECONDS = 1e-3
LOGARITHMIC_FROM = 30.0  # latest moment to the first


def improvements(history: Sequence[Progress]) -> list[Progress]:
    """Return the moments at which the score rose, and the last one.

    >>> rows = [Progress(0.1, 0, -9.0), Progress(0.2, 1, -9.0), Progress(0.3, 2, -5.0)]
    >>> [row.generation for row in improvements(rows)]
    [0, 2]
    """
    kept: list[Progress] = []
    for row in history:
        if not kept or row.score > kept[-1].score:
            kept.append(row)
    if history and kept[-1] is not history[-1]:
        kept.append(history[-1])
    return kept


def curve_svg(history: Sequence[Progress]) -> str:
    """Return the picture; there is at least one row."""
    rows = improvements(history)
    best = rows[-1].score
    seconds = [max(LEAST_SECONDS, row.seconds) for row in rows]
    x, x_ticks = _time_axis(seconds[0], seconds[-1])
    y, y_ticks = _gap_axis(best - rows[0].score)
    points = [(x(seconds[0]), y(best - rows[0].score))]
    for at, row in zip(seconds[1:], rows[1:], strict=True):
        points += [(x(at), points[-1][1]), (x(at), y(best - row.score))]
    line = "M" + "L".join(f"{number(a)} {number(b)}" for a, b in points)
    grid = "".join(_tick_below(x(tick), _seconds(tick)) for tick in x_ticks)
    grid += "".join(_tick_beside(y(tick), f"{tick:,.0f}") for tick in y_ticks)
    end = f'<circle cx="{number(points[-1][0])}" cy="{number(points[-1][1])}" r="3.5"/>'
    titles = element(
        "text", "seconds", class_="axis", x=number((LEFT + WIDTH - RIGHT) / 2), y=HEIGHT - 6
    ) + element(
        "text",
        "nats below the end",
        class_="axis",
        transform=f"translate(14 {number((TOP + HEIGHT - BOTTOM) / 2)}) rotate(-90)",
    )
    about = (
        f"The score rose from {rows[0].score:,.2f} to {best:,.2f} in {rows[-1].seconds:,.2f} "
        f"seconds and {rows[-1].generation:,} generations."
    )
    return element(
        "svg",
        f"<title>{escaped(about)}</title>{grid}{titles}<path class='line' d='{line}'/>{end}",
        class_="curve",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_label=about,
    )


Axis = tuple[Callable[[float], float], list[float]]  # where a value is, and the ticks


def _time_axis(first: float, last: float) -> Axis:
    span = WIDTH - LEFT - RIGHT
    if last <= first:
        return lambda at: LEFT + span * at / (2 * last), [last]
    if last / first < LOGARITHMIC_FROM:
        step = 10.0 ** math.floor(math.log10(last))
        step = next(s for s in (step / 5, step / 2, step, step * 2) if last / s <= 6)
        ticks = [step * i for i in range(int(last / step) + 1)]
        return lambda at: LEFT + span * at / last, ticks
    low, high = math.log10(first), math.log10(last)
    shares = (1, 2, 5) if high - low < 3 else (1,)
    powers = range(math.floor(low), math.floor(high) + 1)
    every = [share * 10.0**power for power in powers for share in shares]
    ticks = [tick for tick in every if first <= tick <= last]
    return lambda at: LEFT + span * (math.log10(at) - low) / (high - low), ticks


def _gap_axis(largest: float) -> Axis:
    def place(gap: float) -> float:
        return gap / 2 if gap <= 1 else 0.5 + math.log10(gap)

    end = place(max(1.0, largest))
    ticks = [0.0, 1.0, *(10.0**power for power in range(1, 1 + int(math.log10(max(1, largest)))))]
    return lambda gap: TOP + (HEIGHT - TOP - BOTTOM) * place(max(0.0, gap)) / end, ticks


def _seconds(tick: float) -> str:
    return f"{tick:,.10g}"


def _tick_below(x: float, label: str) -> str:
    bottom = HEIGHT - BOTTOM
    line = f'<path class="grid" d="M{number(x)} {number(TOP)}V{number(bottom)}"/>'
    return line + element("text", label, x=number(x), y=number(bottom + 15))


def _tick_beside(y: float, label: str) -> str:
    line = f'<path class="grid" d="M{number(LEFT)} {number(y)}H{number(WIDTH - RIGHT)}"/>'
    return line + element("text", label, class_="beside", x=number(LEFT - 7), y=number(y + 4))
