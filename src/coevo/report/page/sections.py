"""The parts of a page below its graph: each a piece of HTML, or nothing."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.graph import compare
from coevo.report.page.curve_svg import curve_svg, improvements
from coevo.report.page.edges import Line
from coevo.report.page.markup import element, escaped, table
from coevo.report.page.model import Page
from coevo.report.page.strength_svg import dots_svg

__all__ = ["legend", "sections", "subtitle"]

MOST_STEPS = 200  # of a search that are listed
FACTS = {  # what is known of an arc: digits, and what it means
    "gain": (
        2,
        "The gain of an arc is the score of its child with it, minus that without it: by how "
        "many nats the score would fall if it were left out.",
    ),
    "strength": (3, "Its strength is the share of bootstraps that join the two, either way."),
    "direction": (
        3,
        "Its direction is the share of these that lead from the first to the second; what data "
        "cannot direct counts half.",
    ),
    "support": (
        3,
        "Its support is the share of the last population of the search that joins the two: how "
        "far the survivors agree, which is no probability.",
    ),
}
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
        ("How sure", _sureness(page)),
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
        return f"<p>None. {escaped(page.rejected)}</p>"
    told = [name for name in FACTS if any(getattr(line.facts, name) is not None for line in lines)]
    place = {name: i for i, name in enumerate(names)}
    shown = ["from", "to", "data can direct it", *told]
    shown += ["compared"] if page.other is not None else []
    headers = [f'<button type="button" class="sort" title="Sort">{name}</button>' for name in shown]
    numbers = [i for i, name in enumerate(shown) if name in FACTS]
    by_gain = sorted(lines, key=lambda line: -(line.facts.gain or 0.0))
    rows = []
    for line in by_gain:
        cells = [_name(line.parent, place), _name(line.child, place)]
        cells.append("yes" if line.is_directed else "no")
        cells += [_figure(getattr(line.facts, name), FACTS[name][0]) for name in told]
        if page.other is not None:
            cells.append(escaped(KINDS[line.kind].format(other=page.other_name)))
        rows.append(cells)
    inner = table(headers, rows, numbers=numbers, id="arcs")
    meant = "".join(f"<li>{FACTS[name][1]}</li>" for name in told)
    meant = element("ul", meant, class_="meant") if meant else ""
    rejected = element("p", escaped(page.rejected)) if page.rejected else ""
    return meant + element("div", inner, class_="scroll") + rejected


def _sureness(page: Page) -> str:
    """Return the strengths of all arcs that bootstraps found, and those the network lacks."""
    found = page.sureness
    if found is None:
        return ""
    lacking = [a for a in found.arcs if a.strength > found.threshold and not a.in_network]
    doubted = sum(a.strength <= found.threshold and a.in_network for a in found.arcs)
    text = (
        f"The table was sampled {found.n_bootstraps:,} times, each time with as many rows, drawn "
        "with replacement, and a network was learned from each sample. An arc is significant if "
        f"more than {found.threshold:.3f} of them join its two variables; {doubted:,} of the "
        f"network's arcs are not. Significant and not in the network: {len(lacking):,}"
    )
    named = [f"{a.parent} → {a.child} ({a.strength:.3f})" for a in lacking]
    text += f": {', '.join(named)}." if named else "."
    if not found.arcs:
        return f"<p>{escaped(text)}</p>"
    key = (
        '<p class="legend dots"><span><i class="inside"></i>in the network</span>'
        '<span><i class="outside"></i>found in bootstraps alone</span>'
        '<span><i class="limit"></i>the threshold</span></p>'
    )
    return f"<p>{escaped(text)}</p>{dots_svg(found)}{key}"


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
