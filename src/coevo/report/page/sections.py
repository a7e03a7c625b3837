"""The parts of a page below its graph: each a piece of HTML, or nothing."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.graph import compare
from coevo.report.page.curve_svg import curve_svg, improvements
from coevo.report.page.lines import Line
from coevo.report.page.markup import element, escaped, table
from coevo.report.page.value import Page

__all__ = ["legend", "sections", "subtitle"]

MOST_STEPS = 200  # of a search that are listed
KINDS = {
    "same": "in both",
    "added": "here alone",
    "missing": "in {other} alone",
    "reversed": "directed otherwise in {other}",
}


def subtitle(page: Page, lines: list[Line]) -> str:
    """Return the facts that stand beside the title."""
    own = [line for line in lines if line.kind != "missing"]
    undirected = sum(not line.is_directed for line in own)
    facts = {
        "variables": f"{len(page.dag.nodes):,}",
        "arcs": f"{len(own):,}",
        "that data cannot direct": f"{undirected:,}",
        **page.facts,
    }
    items = "".join(
        f"<div><dt>{escaped(k)}</dt><dd>{escaped(v)}</dd></div>" for k, v in facts.items()
    )
    return element("dl", items, class_="facts")


def legend(page: Page, lines: list[Line]) -> str:
    """Return what the lines of the graph mean."""
    items = [_sample("same", "parent to child")]
    items.append(
        _sample("same undirected", "a direction that data cannot tell, in the second view", "cpdag")
    )
    if any(line.facts.gain is not None for line in lines):
        items.append("<span>the thicker, the more score the arc gains</span>")
    if page.other is not None:
        items = items[:1] + [
            _sample(kind, text.format(other=page.other_name))
            for kind, text in KINDS.items()
            if kind != "same"
        ]
    return element("p", "".join(items), class_="legend", aria_label="Legend")


def _sample(kind: str, text: str, view: str = "") -> str:
    line = f'<path class="arc {kind}" d="M2 7L34 7" stroke-width="1.6"/>'
    svg = element("svg", line, class_=f"sample {view}", viewBox="0 0 38 14", aria_hidden="true")
    return f"<span>{svg}{escaped(text)}</span>"


def sections(page: Page, lines: list[Line], names: list[str]) -> str:
    """Return everything below the graph."""
    parts = [
        ("Compared with " + page.other_name, _comparison(page)),
        ("How the score rose", _progress(page)),
        ("What was noticed in the data", _audit(page)),
        ("What was decided about the columns", _pairs(page.columns, "column", "decision")),
        ("Arcs", _arcs(page, lines, names)),
        ("Settings", _pairs(page.settings, "setting", "value")),
        ("To repeat it", _command(page)),
    ]
    return "".join(
        element("section", f"<h2>{escaped(title)}</h2>{inner}") for title, inner in parts if inner
    )


def _comparison(page: Page) -> str:
    if page.other is None:
        return ""
    found = compare(page.dag, page.other)
    facts = {
        "SHD of the DAGs": f"{found.shd:,}",
        "SHD of the CPDAGs": f"{found.shd_cpdag:,}",
        "in both": f"{len(found.correct):,}",
        "reversed": f"{len(found.reversed):,}",
        "here alone": f"{len(found.added):,}",
        "there alone": f"{len(found.missing):,}",
        "F1 of arcs": f"{found.arc_f1:.3f}",
        "F1 of the skeleton": f"{found.skeleton_f1:.3f}",
    }
    items = "".join(f"<div><dt>{escaped(k)}</dt><dd>{v}</dd></div>" for k, v in facts.items())
    return element("dl", items, class_="facts")


def _progress(page: Page) -> str:
    if not page.history:
        return ""
    rows = improvements(page.history)
    last = page.history[-1]
    steps = rows if len(rows) <= MOST_STEPS else rows[-MOST_STEPS:]
    listed = table(
        ("generation", "seconds", "score"),
        ((f"{r.generation:,}", f"{r.seconds:,.3f}", f"{r.score:,.4f}") for r in steps),
        numbers=range(3),
    )
    said = f"The last {len(steps):,} of {len(rows):,} steps up"
    text = (
        f"From {rows[0].score:,.2f} to {last.score:,.2f} in {last.generation:,} generations and "
        f"{last.seconds:,.2f} seconds; natural logarithms, higher is better."
    )
    inner = f"<summary>{said}</summary>{element('div', listed, class_='scroll')}"
    return f"<p>{text}</p>{curve_svg(page.history)}{element('details', inner)}"


def _audit(page: Page) -> str:
    if not page.audit:
        return ""
    return element("ul", "".join(f"<li>{escaped(line)}</li>" for line in page.audit))


def _pairs(given: Mapping[str, str], first: str, second: str) -> str:
    if not given:
        return ""
    rows = ((escaped(name), escaped(value)) for name, value in given.items())
    inner = table((first, second), list(rows), class_="pairs")
    return element("div", inner, class_="scroll")


def _arcs(page: Page, lines: list[Line], names: list[str]) -> str:
    """Return the table of arcs, the strongest first; a click on a header sorts it."""
    if not lines:
        return "<p>None.</p>"
    has_gain = any(line.facts.gain is not None for line in lines)
    has_strength = any(line.facts.strength is not None for line in lines)
    place = {name: i for i, name in enumerate(names)}
    columns = {"from": True, "to": True, "data can direct it": True, "gain": has_gain}
    columns |= {"strength": has_strength, "compared": page.other is not None}
    shown = [name for name, is_shown in columns.items() if is_shown]
    headers = [f'<button type="button" class="sort" title="Sort">{name}</button>' for name in shown]
    numbers = [i for i, name in enumerate(shown) if name in ("gain", "strength")]
    by_gain = sorted(lines, key=lambda line: -(line.facts.gain or 0.0))
    rows = []
    for line in by_gain:
        cells = [_name(line.parent, place), _name(line.child, place)]
        cells.append("yes" if line.is_directed else "no")
        cells += [_figure(line.facts.gain, 2)] * has_gain
        cells += [_figure(line.facts.strength, 3)] * has_strength
        if page.other is not None:
            cells.append(escaped(KINDS[line.kind].format(other=page.other_name)))
        rows.append(cells)
    inner = table(headers, rows, numbers=numbers, id="arcs")
    gain = (
        "<p>The gain of an arc is the score of its child with it, minus that without it: by how "
        "many nats the score would fall if it were left out.</p>"
    )
    return gain * has_gain + element("div", inner, class_="scroll")


def _name(name: str, place: dict[str, int]) -> str:
    return element("button", escaped(name), type="button", class_="name", data_n=place[name])


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _command(page: Page) -> str:
    parts = ""
    if page.command:
        button = '<button type="button" id="copy">Copy</button>'
        parts += (
            f'<div class="command"><pre id="command">{escaped(page.command)}</pre>{button}</div>'
        )
    return parts + _pairs(page.stamp, "made with", "")
