"""The drawings of a page about a table: a histogram with cut points, and bars of states."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.data.column_summary import NumberSummary, StateCount
from coevo.data.state_words import shorten_states
from coevo.view.page.markup import escape, format_number, make_element

__all__ = [
    "format_share",
    "format_value",
    "render_bars",
    "render_histogram",
    "render_share",
    "shorten_middle",
]

WIDTH, HEIGHT = 300.0, 76.0
BASE = 60.0  # y of the axis
OUTSIDE = 10.0  # width of the bar of all numbers below, or above, the other bars
GAP = 6.0
MAX_LABEL = 18  # characters of a state


def format_value(number: float) -> str:
    """Return a number in a few characters: whole numbers in full, others with five digits.

    >>> format_value(36.5), format_value(1234567.0), format_value(1e12), format_value(0.1 + 0.2)
    ('36.5', '1234567', '1e12', '0.3')
    """
    if abs(number) < 1e9 and number == round(number):
        return f"{number:z.0f}"
    return f"{number:z.5g}".replace("e+", "e").replace("e-0", "e-")


def shorten_middle(text: str, length: int, dots: str = "…") -> str:
    """Return a text that is not longer than `length`; its middle is left out.

    Names of wide tables and long states often differ at their end only.

    >>> shorten_middle("measurement_of_the_left_knee_day_7", 20)
    'measurement_…e_day_7'
    """
    if len(text) <= length:
        return text
    kept = length - len(dots)
    tail = kept * 2 // 5
    return f"{text[: kept - tail]}{dots}{text[-tail:]}"


def render_histogram(name: str, numbers: NumberSummary, cuts: Sequence[float] = ()) -> str:
    """Return a histogram as SVG, with a dashed line at each cut point."""
    histogram = numbers.histogram
    left = OUTSIDE + GAP if histogram.n_below else 0.0
    right = WIDTH - (OUTSIDE + GAP if histogram.n_above else 0.0)
    low, high = histogram.edges[0], histogram.edges[-1]
    tallest = max(*histogram.counts, histogram.n_below, histogram.n_above, 1)

    def find_x(value: float) -> float:
        return left + (right - left) * (value / 2 - low / 2) / (high / 2 - low / 2)

    def draw(x: float, width: float, count: int, title: str, kind: str = "") -> str:
        height = max(1.5, (BASE - 4) * count / tallest) if count else 0.0
        return make_element(
            "rect",
            f"<title>{escape(title)}</title>",
            x=format_number(x),
            y=format_number(BASE - height),
            width=format_number(max(0.8, width)),
            height=format_number(height),
            class_=f"bar {kind}".strip(),
        )

    bars = []
    for a, b, count in zip(histogram.edges, histogram.edges[1:], histogram.counts, strict=False):
        x, end = find_x(a), find_x(b)
        title = f"{format_value(a)} to {format_value(b)}: {_format_rows(count)}"
        bars.append(draw(x + 0.5, end - x - 1, count, title))
    if histogram.n_below:
        title = f"below {format_value(low)}: {_format_rows(histogram.n_below)}"
        bars.insert(0, draw(0, OUTSIDE, histogram.n_below, title, "outside"))
    if histogram.n_above:
        title = f"{format_value(high)} and above: {_format_rows(histogram.n_above)}"
        bars.append(draw(WIDTH - OUTSIDE, OUTSIDE, histogram.n_above, title, "outside"))
    lines = "".join(_render_cut(find_x(min(max(cut, low), high)), cut) for cut in cuts)
    axis = f'<path class="grid" d="M0 {BASE:.0f}H{WIDTH:.0f}"/>'
    about = _describe(name, numbers, cuts)
    return make_element(
        "svg",
        f"<title>{escape(about)}</title>{''.join(bars)}{axis}{lines}"
        + _render_ends(left, right, low, high),
        class_="histogram",
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        aria_label=about,
    )


def _render_cut(x: float, cut: float) -> str:
    title = f"<title>cut point {format_value(cut)}</title>"
    return make_element("path", title, class_="cut", d=f"M{format_number(x)} 0V{BASE + 4:.0f}")


def _render_ends(left: float, right: float, low: float, high: float) -> str:
    """Return the labels of the first and the last edge."""
    y = HEIGHT - 3
    first = make_element("text", format_value(low), x=format_number(left), y=y)
    last = make_element("text", format_value(high), x=format_number(right), y=y, class_="end")
    return first + last


def _describe(name: str, numbers: NumberSummary, cuts: Sequence[float]) -> str:
    """Return the histogram in words, for those who do not see it."""
    text = (
        f"Histogram of {name}: from {format_value(numbers.minimum)} to "
        f"{format_value(numbers.maximum)}, median {format_value(numbers.median)}"
    )
    listed = ", ".join(map(format_value, cuts))
    return f"{text}; cut points {listed}." if cuts else f"{text}."


def _format_rows(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def render_bars(label: str, states: Sequence[StateCount], other: StateCount | None = None) -> str:
    """Return a list of states, each with a bar and its number of rows."""
    listed = [*states, *([] if other is None else [other])]
    short = shorten_states(tuple(one.state for one in states))  # the title has all digits
    tallest = max([one.count for one in listed], default=0) or 1
    items = []
    for one in listed:
        width = max(0.0 if not one.count else 0.8, 100 * one.count / tallest)
        is_other = one is other
        bar = make_element(
            "svg",
            f'<rect width="{format_number(width)}" height="10"/>',
            viewBox="0 0 100 10",
            preserveAspectRatio="none",
            aria_hidden="true",
        )
        name = make_element(
            "span",
            escape(shorten_middle(short.get(one.state, one.state), MAX_LABEL)) or "&nbsp;",
            title=one.state,
            class_="state",
        )
        count = make_element("span", f"{one.count:,}", class_="count")
        items.append(make_element("li", name + bar + count, class_="other" if is_other else ""))
    return make_element("ul", "".join(items), class_="bars", aria_label=label)


def render_share(share: float) -> str:
    """Return a share of the rows as a bar and as text."""
    bar = make_element(
        "svg",
        f'<rect class="all" width="100" height="10"/>'
        f'<rect class="part" width="{format_number(100 * share)}" height="10"/>',
        class_="share",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return f"{bar}<span>{format_share(share)}</span>"


def format_share(share: float) -> str:
    """Return a share as a percentage; a share that is not 0 is never written as 0.

    >>> format_share(0), format_share(0.1234), format_share(0.00001), format_share(1)
    ('0%', '12.3%', '<0.1%', '100%')
    """
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    return "<0.1%" if share < 0.001 else ">99.9%" if share > 0.999 else f"{100 * share:.1f}%"
