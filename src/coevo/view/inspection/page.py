"""The page of an inspection: problems, decisions, and one row for each column of the table.

The page has the look and the rules of a report: one file, no request, no inline style.

Its drawings are a histogram with cut points, and bars of states.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coevo.data.summary import NumberSummary, StateCount, shorten_states
from coevo.errors import format_count
from coevo.view.inspection.result import (
    InspectedColumn,
    TableInspection,
    split_undo,
    suggest_option,
)
from coevo.view.page.template import bundle_modules, fill_page, read_asset
from coevo.view.picture.markup import escape, format_number, make_element

__all__ = [
    "format_share",
    "format_value",
    "render_bars",
    "render_histogram",
    "render_inspection",
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
    lines = ""
    for cut in cuts:
        place = format_number(find_x(min(max(cut, low), high)))
        title = f"<title>cut point {format_value(cut)}</title>"
        lines += make_element("path", title, class_="cut", d=f"M{place} 0V{BASE + 4:.0f}")
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


HEADERS = ("column", "type", "distinct", "missing", "values", "becomes")
SORTABLE = HEADERS[:4]
_PACKAGE = "coevo.view.inspection"


def render_inspection(inspection: TableInspection, command: str = "") -> str:
    """Return an inspection as one self-contained HTML document.

    Parameters
    ----------
    inspection : TableInspection
        What to show.
    command : str
        The command that learns from the table; none by default.
    """
    return fill_page(
        read_asset("inspection.html", _PACKAGE),
        read_asset("page.css") + read_asset("inspection.css", _PACKAGE),
        bundle_modules("inspection", _read_module),
        {
            "title": escape(f"Inspection of {inspection.source}"),
            "facts": _render_facts(inspection),
            "next": command
            and f'<div class="next"><span>Learn from it:</span>{_render_copy(command)}</div>',
            "notes": _render_problems(inspection) + _render_decisions(inspection),
            "number": f"{len(inspection.columns):,}",
            "columns": _render_columns(inspection),
        },
    )


def _read_module(name: str) -> str:
    """Return a module of this page, or one that it shares with reports."""
    return read_asset(name, _PACKAGE) if name == "inspection.js" else read_asset(name)


def _render_facts(inspection: TableInspection) -> str:
    facts = {"rows": f"{inspection.n_rows:,}", "columns": f"{inspection.n_columns:,}"}
    facts |= {kind: f"{n:,}" for kind, n in inspection.count_kinds().items()}
    facts["missing values"] = format_share(inspection.missing_share)
    facts["decisions"] = f"{len(inspection.decisions):,}"
    facts["problems"] = f"{len(inspection.findings):,}"
    items = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())
    return make_element("dl", items, class_="facts")


def _render_copy(text: str) -> str:
    """Return a text that a button copies."""
    button = make_element("button", "Copy", type="button", class_="copy", aria_label=f"Copy {text}")
    return f'<span class="option"><code>{escape(text)}</code>{button}</span>'


def _render_problems(inspection: TableInspection) -> str:
    items = []
    for i, finding in enumerate(inspection.findings):
        option = suggest_option(finding)
        inner = escape(finding.sentence) + (_render_copy(option) if option else "")
        items.append(make_element("li", inner, id=f"problem-{i}"))
    return _render_notes("Problems", "problems", items, "None was found.")


def _render_decisions(inspection: TableInspection) -> str:
    items = []
    for i, decision in enumerate(inspection.decisions):
        options = "".join(map(_render_copy, split_undo(decision)))
        undo = f' <span class="undo">Undo:</span>{options}'
        items.append(make_element("li", escape(decision.sentence) + undo, id=f"decision-{i}"))
    return _render_notes("Decisions of the reader", "decisions", items, "")


def _render_notes(title: str, kind: str, items: Sequence[str], otherwise: str) -> str:
    """Return a section with a list, or with a sentence if the list is empty."""
    if not items and not otherwise:
        return ""
    inner = make_element("ol", "".join(items), class_="notes") if items else f"<p>{otherwise}</p>"
    return make_element("section", f"<h2>{title}</h2>{inner}", class_=kind)


def _render_columns(inspection: TableInspection) -> str:
    """Return the table of columns."""
    notes = _link_notes(inspection)
    cells = (_render_header(header) for header in HEADERS)
    head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    rows = (_render_column(column, notes.get(column.name, "")) for column in inspection.columns)
    caption = '<caption class="hidden">Columns of the table</caption>'
    body = f"<tbody>{''.join(rows)}</tbody>"
    return make_element("table", f"{caption}{head}{body}", id="columns", class_="inspected")


def _render_header(header: str) -> str:
    inner = header
    if header in SORTABLE:
        inner = f'<button type="button" class="sort" title="Sort">{header}</button>'
    return make_element("th", inner, scope="col")


def _link_notes(inspection: TableInspection) -> dict[str, str]:
    """Return links from each column to its problems and to the decisions about it."""
    links: dict[str, list[str]] = {}
    listed = [(f.columns, f"problem-{i}", "problem") for i, f in enumerate(inspection.findings)]
    listed += [(d.columns, f"decision-{i}", "decision") for i, d in enumerate(inspection.decisions)]
    for columns, target, word in listed:
        text = f"{word} {int(target.rpartition('-')[2]) + 1}"
        for name in columns:
            link = make_element("a", text, href=f"#{target}", class_=f"note {word}")
            links.setdefault(name, []).append(link)
    return {name: "".join(found) for name, found in links.items()}


def _render_column(column: InspectedColumn, notes: str) -> str:
    info, summary = column.info, column.summary
    kind = column.kind
    pill = make_element("span", kind, class_=f"pill {kind.replace(' ', '-')}")
    holds = make_element("small", escape(info.holds)) if info.holds else ""
    name = f'<span class="column-name">{_allow_breaks(info.name)}</span>'
    distinct = share = ""
    if summary is not None:
        distinct, share = f"{summary.n_distinct:,}", render_share(summary.missing_share)
    cells = [
        make_element("th", name + (f"<div>{notes}</div>" if notes else ""), scope="row"),
        make_element("td", pill + holds, data_label="type", data_value=kind),
        make_element("td", distinct, data_label="distinct", class_="number"),
        make_element(
            "td",
            share,
            data_label="missing",
            data_value=f"{summary.missing_share:.9f}" if summary is not None else "",
        ),
        make_element("td", _render_values(column), data_label="values", class_="values"),
        make_element("td", _render_outcome(column), data_label="becomes", class_="becomes"),
    ]
    cells[0] = cells[0].replace("<th", f'<th data-value="{escape(info.name)}"', 1)
    return make_element("tr", "".join(cells), data_search=f"{info.name} {kind} {info.holds}")


def _allow_breaks(name: str) -> str:
    """Return a name that a narrow cell breaks at its punctuation."""
    return "<wbr>".join(escape(part) for part in re.split(r"(?<=[_./-])", name))


def _render_values(column: InspectedColumn) -> str:
    """Return the drawing of the values of the source."""
    info, summary = column.info, column.summary
    if summary is None:
        return ""
    if summary.examples or not column.is_variable:
        listed = ", ".join(summary.examples)
        more = ", ..." if summary.n_distinct > len(summary.examples) else ""
        return make_element("small", escape(listed + more), class_="examples")
    numbers = summary.numbers
    if numbers is not None and (info.type == "continuous" or summary.n_other_states):
        cuts = () if info.cuts is None else info.cuts.points
        five = (
            f"min {format_value(numbers.minimum)}, quartiles {format_value(numbers.lower_quartile)}"
            f", {format_value(numbers.median)}, {format_value(numbers.upper_quartile)}, "
            f"max {format_value(numbers.maximum)}"
        )
        return render_histogram(info.name, numbers, cuts) + make_element("small", five)
    other = None
    if summary.n_other_states:
        label = format_count(summary.n_other_states, "other state")
        other = StateCount(label, summary.n_other_rows)
    return render_bars(f"States of {info.name}", summary.states, other)


def _render_outcome(column: InspectedColumn) -> str:
    """Return the outcome of a column: its states, or its bins with their rows."""
    info, summary = column.info, column.summary
    if not column.is_variable:
        reason = getattr(info, "reason", None) or "not a variable"
        return make_element("small", escape(reason))
    text = format_count(len(info.states), "state")
    if info.cuts is None:
        return text
    method = f" ({escape(info.method)})" if info.method else ""
    if summary is None or summary.numbers is None:
        return f"{text}{method}"
    return f"{text}{method}" + render_bars(f"Bins of {info.name}", summary.numbers.bins)
