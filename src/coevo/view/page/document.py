"""The complete HTML file of a network: template, style, script, drawings, data and sections.

Each section is a piece of HTML, or empty.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from coevo.errors import format_count
from coevo.files.files import check_output_path, write_text
from coevo.graph import DirectedBy, compare
from coevo.score import GAIN_WORDS
from coevo.view.page.charts import find_improvements, render_curve_svg, render_strength_svg
from coevo.view.page.drawing import format_script_json, make_page_data, render_graph_svg
from coevo.view.page.model import ArcFacts, DrawnEdge, Page, list_drawn_edges, orient_for_layout
from coevo.view.page.species_section import name_species, render_species
from coevo.view.page.template import bundle_modules, fill_page, read_asset
from coevo.view.picture.layout import lay_out
from coevo.view.picture.markup import escape, make_element, make_scroll_area, make_table
from coevo.view.picture.routing import Curve

__all__ = [
    "find_curve",
    "render_facts",
    "render_legend",
    "render_page",
    "render_sections",
    "render_summary",
    "write_page",
]


MAX_IMPROVEMENTS = 200  # in the table of a search
MAX_KEY_LENGTH = 26  # of a name that stays on one line
FACTS = {  # facts about an arc: number of digits, and definition
    "gain": (
        2,
        "Gain: the score of the child with this arc, minus its score without it. Without the arc "
        "the score is lower by so many nats.",
    ),
    "word": (
        0,
        "Word: decisive if the gain is above 5 nats, strong from 3 to 5, weak below 3, against "
        "below 0. For a Bayesian score 3 and 5 nats are Bayes factors of 20 and 150 (Kass and "
        "Raftery 1995).",
    ),
    "strength": (
        3,
        "Strength: share of bootstrap samples whose network joins the two variables, in either "
        "direction.",
    ),
    "direction": (
        3,
        "Direction: share of these bootstrap samples in which the data direct the edge from the "
        "first variable to the second (in the CPDAG), or of the posterior probability of the edge.",
    ),
    "reverse": (
        3,
        "Reverse: the same share for the other direction. The rest has no direction.",
    ),
    "probability": (
        3,
        "Probability: the posterior probability that the two variables are joined, in either "
        "direction, given the rows.",
    ),
    "what the arc says": (
        0,
        "What the arc says: the state of the first variable that carries most information about a "
        "state of the second. The numbers are the shares of that state in the rows with it and in "
        "all other rows. This is an association, not a cause.",
    ),
}
DIRECTED_BY: dict[DirectedBy | None, str] = {
    "data": "data",
    "knowledge": "constraints",
    None: "unknown",
}
N_STRONGEST = 3  # arcs that the summary names
KINDS = {
    "same": "in both",
    "added": "only here",
    "missing": "only in {other}",
    "reversed": "other direction in {other}",
}


def render_facts(page: Page, edges: list[DrawnEdge]) -> str:
    """Return the list of facts below the title."""
    own_edges = [edge for edge in edges if edge.kind != "missing"]
    undirected = sum(not edge.is_directed for edge in own_edges)
    return _render_fact_list(
        {
            "variables": f"{len(page.dag.nodes):,}",
            "arcs": f"{len(own_edges):,}",
            "direction unknown": f"{undirected:,}",
            **page.facts,
        }
    )


def _render_fact_list(facts: Mapping[str, str]) -> str:
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts.items()
    )
    return make_element("dl", items, class_="facts")


def render_summary(page: Page, edges: list[DrawnEdge]) -> str:
    """Return what a page says, in a few sentences."""
    own = [edge for edge in edges if edge.kind != "missing"]
    size = f"{format_count(len(page.dag.nodes), 'variable')} and {format_count(len(own), 'arc')}"
    rows = f" was learned from {format_count(page.n_rows, 'row')}. It" if page.n_rows else ""
    words = _count_words(own)
    text = f"This network{rows} has {size}{f' ({words})' if words else ''}."
    if own:
        text += f" {_describe_directions(page, own)}"
    hints = "".join(make_element("p", escape(hint), class_="hint") for hint in page.hints)
    ranked = [edge for edge in own if edge.facts.says]
    ranked.sort(key=lambda edge: (-(edge.facts.gain or 0.0), edge.parent, edge.child))
    strongest = ""
    if ranked:
        items = ""
        for edge in ranked[:N_STRONGEST]:
            sign = "→" if edge.is_directed else "—"
            named = make_element("b", escape(f"{edge.parent} {sign} {edge.child}"))
            items += f"<li>{named}: {escape(edge.facts.says)}</li>"
        label = "The strongest arc" if len(ranked) == 1 else "The strongest arcs"
        strongest = f"<p>{label}, by gain:</p>{make_element('ul', items)}"
    return make_element("div", f"<p>{escape(text)}</p>{strongest}{hints}", class_="summary")


def _describe_directions(page: Page, edges: list[DrawnEdge]) -> str:
    """Return how many arcs the data and the constraints direct, in a sentence."""
    counts = Counter(edge.directed_by for edge in edges)
    if not page.is_learned:
        if not counts[None]:
            return "The arrows are those of the file; data alone could direct all of them."
        return f"The arrows are those of the file; data alone could not direct {counts[None]:,}."
    n_data = f"{counts['data']:,}" if counts["data"] else "none"
    parts = [f"The data direct {n_data} of them"]
    if counts["knowledge"]:
        parts.append(f"the constraints direct {counts['knowledge']:,}")
    if counts[None]:
        have = "has" if counts[None] == 1 else "have"
        parts.append(f"{counts[None]:,} {have} no arrowhead: both directions fit equally well")
    return f"{', '.join(parts)}."


def render_legend(page: Page, edges: list[DrawnEdge]) -> str:
    """Return the legend of the graph; some of it belongs to one of the two views."""
    found = {edge.directed_by for edge in edges}
    items = [_render_legend_item("same", "parent to child", "of-dag")]
    items.append(_render_legend_item("same", "directed by the data", "of-class"))
    if "knowledge" in found:
        text = "directed by the constraints"
        items.append(_render_legend_item("same known", text, "of-class"))
    text = "direction unknown: both directions fit equally well"
    items.append(_render_legend_item("same undirected", text, "of-class"))
    if page.is_learned and None in found:
        n_unknown = sum(edge.directed_by is None for edge in edges)
        items.append(
            f'<span class="of-dag">{n_unknown:,} of {len(edges):,} directions are not known</span>'
        )
    if page.other is not None:
        items += [
            _render_legend_item(kind, text.format(other=page.other_name))
            for kind, text in KINDS.items()
            if kind != "same"
        ]
    elif any(edge.facts.gain is not None for edge in edges):
        items.append("<span>thicker: higher gain</span>")
    return make_element("p", "".join(items), class_="legend", aria_label="Legend")


def _render_legend_item(kind: str, text: str, view: str = "") -> str:
    line = f'<path class="arc {kind}" d="M2 7L34 7" stroke-width="1.6"/>'
    svg = make_element("svg", line, class_="sample cpdag", viewBox="0 0 38 14", aria_hidden="true")
    shown = f' class="{view}"' if view else ""
    return f"<span{shown}>{svg}{escape(text)}</span>"


def render_sections(page: Page, edges: list[DrawnEdge], names: list[str]) -> str:
    """Return all sections below the graph."""
    parts = [
        ("Comparison with " + page.other_name, _render_comparison(page)),
        ("Arcs", _render_arcs(page, edges, names)),
        ("Arc strength (bootstrap confidence)", _render_bootstrap(page)),
        ("Score over time", _render_history(page)),
        (name_species(page), render_species(page)),
        ("Decisions about the table", _render_sentences(page.decisions)),
        ("Audit of the data", _render_sentences(page.audit)),
        ("Columns", _render_pairs(page.columns, "column", "type and treatment")),
        ("Settings", _render_pairs(page.settings, "setting", "value")),
        ("Reproduce this result", _render_command(page)),
    ]
    return "".join(
        make_element("section", f"<h2>{escape(title)}</h2>{inner}")
        for title, inner in parts
        if inner
    )


def _render_comparison(page: Page) -> str:
    if page.other is None:
        return ""
    comparison = compare(page.dag, page.other)
    return _render_fact_list(
        {
            "SHD of the DAGs": f"{comparison.shd:,}",
            "SHD of the CPDAGs": f"{comparison.shd_cpdag:,}",
            "in both": f"{len(comparison.correct):,}",
            "reversed": f"{len(comparison.reversed):,}",
            "only here": f"{len(comparison.added):,}",
            "only there": f"{len(comparison.missing):,}",
            "F1 of arcs": f"{comparison.arc_f1:.3f}",
            "F1 of the skeleton": f"{comparison.skeleton_f1:.3f}",
        }
    )


def _render_history(page: Page) -> str:
    """Return the curve of the score, and the table of its improvements."""
    if not page.history:
        return ""
    improvements = find_improvements(page.history)
    last = page.history[-1]
    listed = improvements[-MAX_IMPROVEMENTS:]
    table = make_table(
        ("generation", "seconds", "score"),
        ((f"{r.generation:,}", f"{r.seconds:,.3f}", f"{r.score:z,.4f}") for r in listed),
        numbers=range(3),
    )
    summary = f"The last {len(listed):,} of {len(improvements):,} improvements"
    text = (
        f"From {improvements[0].score:z,.2f} to {last.score:z,.2f} in {last.generation:,} "
        f"generations and {last.seconds:,.2f} seconds. Scores are natural logarithms; higher is "
        "better."
    )
    inner = f"<summary>{summary}</summary>{make_scroll_area(table, summary)}"
    return f"<p>{text}</p>{render_curve_svg(page.history)}{make_element('details', inner)}"


def _render_sentences(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    return make_element("ul", "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences))


def _render_pairs(pairs: Mapping[str, str], first: str, second: str) -> str:
    if not pairs:
        return ""
    rows = [(_render_key(name), escape(value)) for name, value in pairs.items()]
    inner = make_table((first, second), rows, class_="pairs")
    return make_scroll_area(inner, f"Each {first} and its {second}")


def _render_key(name: str) -> str:
    """Return the name of a row. A long name has several lines, a short one always one."""
    kinds = "key long" if len(name) > MAX_KEY_LENGTH else "key"
    return make_element("span", escape(name), class_=kinds)


def _render_arcs(page: Page, edges: list[DrawnEdge], names: list[str]) -> str:
    """Return the table of arcs, the highest gain first. A click on a header sorts it."""
    if not edges:
        sentences = " ".join(text for text in (page.reason, page.rejected) if text)
        return f"<p>None. {escape(sentences)}</p>{_render_near_misses(page)}"
    known = [_format_facts(edge.facts) for edge in edges]
    facts = [name for name in FACTS if any(texts[name] for texts in known)]
    index = {name: i for i, name in enumerate(names)}
    columns = ["from", "to", "directed by", *facts]
    columns += ["compared"] if page.other is not None else []
    headers = [
        f'<button type="button" class="sort" title="Sort">{name}</button>' for name in columns
    ]
    numeric = [i for i, name in enumerate(columns) if FACTS.get(name, (0, ""))[0]]
    rows = []
    ranked = zip(edges, known, strict=True)
    for edge, texts in sorted(ranked, key=lambda pair: -(pair[0].facts.gain or 0.0)):
        cells = [_render_name(edge.parent, index), _render_name(edge.child, index)]
        cells.append(DIRECTED_BY[edge.directed_by])
        cells += [escape(texts[name]) for name in facts]
        if page.other is not None:
            cells.append(escape(KINDS[edge.kind].format(other=page.other_name)))
        rows.append(cells)
    table = make_table(headers, rows, numbers=numeric, labels=columns, id="arcs")
    definitions = "".join(f"<li>{FACTS[name][1]}</li>" for name in facts)
    definitions = make_element("ul", definitions, class_="definitions") if definitions else ""
    known_of_all = (page.proof, page.samples, page.posterior, page.rejected)
    after = "".join(make_element("p", escape(text)) for text in known_of_all if text)
    counts = _count_words(edges)
    before = make_element("p", f"{counts}.") if counts else ""
    near_misses = _render_near_misses(page)
    return before + make_scroll_area(table, "Arcs") + after + definitions + near_misses


def _render_near_misses(page: Page) -> str:
    """Return a small table of arcs that the structure lacks and that are not improbable."""
    if not page.near_misses:
        return ""
    rows = [
        (escape(f"{m.parent} — {m.child}"), f"{m.gain:z,.2f}", f"{m.probability or 0:.2f}")
        for m in page.near_misses
    ]
    inner = make_table(("near miss", "gain", "probability"), rows, numbers=[1, 2], class_="pairs")
    note = "Not in the network. The probability is that of the edge, if nothing else changes."
    return make_scroll_area(inner, "Near misses") + make_element("p", escape(note))


def _count_words(edges: list[DrawnEdge]) -> str:
    """Return the number of arcs with each word."""
    words = Counter(edge.facts.word for edge in edges)
    return ", ".join(f"{words[word]:,} {word}" for word in GAIN_WORDS if words[word])


def _format_facts(facts: ArcFacts) -> dict[str, str]:
    """Return the facts about an arc as texts; an unknown fact is empty."""
    numbers = {
        "gain": facts.gain,
        "strength": facts.strength,
        "direction": facts.direction,
        "reverse": facts.reverse,
        "probability": facts.probability,
    }
    texts = {
        name: "" if value is None else f"{value:z,.{FACTS[name][0]}f}"
        for name, value in numbers.items()
    }
    return texts | {"word": facts.word, "what the arc says": facts.says}


def _render_bootstrap(page: Page) -> str:
    """Return the strengths of all arcs in bootstrap samples, and the arcs that are missing."""
    summary = page.bootstrap
    if summary is None:
        return ""
    threshold = summary.threshold
    missing = [a for a in summary.arcs if a.strength > threshold and not a.in_network]
    not_significant = sum(a.strength <= threshold and a.in_network for a in summary.arcs)
    text = (
        f"{summary.n_bootstraps:,} bootstrap samples of the rows were drawn with replacement, each "
        "as large as the table, and a network was learned from each sample. The strength of an arc "
        "is the share of samples whose network joins its two variables. An arc is significant if "
        f"its strength is above the threshold {threshold:.3f}. Arcs of the network that are not "
        f"significant: {not_significant:,}. Significant arcs that are not in the network: "
        f"{len(missing):,}"
    )
    named = [f"{a.parent} — {a.child} ({a.strength:.3f})" for a in missing]
    text += f": {', '.join(named)}." if named else "."
    if not summary.arcs:
        return f"<p>{escape(text)}</p>"
    legend = (
        '<p class="legend dots"><span><i class="inside"></i>in the network</span>'
        '<span><i class="outside"></i>only in bootstrap samples</span>'
        '<span><i class="limit"></i>threshold</span></p>'
    )
    return f"<p>{escape(text)}</p>{render_strength_svg(summary)}{legend}"


def _render_name(name: str, index: dict[str, int]) -> str:
    return make_element("button", escape(name), type="button", class_="name", data_n=index[name])


def _render_command(page: Page) -> str:
    parts = ""
    if page.command:
        button = '<button type="button" id="copy">Copy</button>'
        parts += (
            f'<div class="command"><pre id="command">{escape(page.command)}</pre>{button}</div>'
        )
    return parts + _render_pairs(page.stamp, "item", "value")


DIFFERENCES = '<label><input type="checkbox" id="differences"> Differences only</label>'


def render_page(page: Page) -> str:
    """Return a page as one self-contained HTML document.

    Examples
    --------
    >>> from coevo.graph import DAG
    >>> text = render_page(Page(DAG("ab", [("a", "b")]), title="Two <variables>"))
    >>> "<title>Two &lt;variables&gt;</title>" in text
    True
    """
    edges = list_drawn_edges(page)
    names = sorted(page.dag.nodes)
    layout_arcs = orient_for_layout(page.dag, edges)
    layout = lay_out(names, layout_arcs.values())
    curves = [find_curve(edge, layout_arcs, layout.curves) for edge in edges]
    return fill_page(
        read_asset("page.html"),
        read_asset("page.css"),
        bundle_modules("page"),
        {
            "title": escape(page.title),
            "facts": render_facts(page, edges),
            "differences": "" if page.other is None else DIFFERENCES,
            "graph": render_graph_svg(layout, edges, curves, names, page.is_learned),
            "summary": render_summary(page, edges),
            "dag_pressed": str(not page.is_learned).lower(),
            "cpdag_pressed": str(page.is_learned).lower(),
            "legend": render_legend(page, edges),
            "sections": render_sections(page, edges, names),
            "data": format_script_json(make_page_data(page, layout, edges, names)),
        },
    )


def write_page(path: str | os.PathLike[str], page: Page) -> None:
    """Write a page as an HTML file. A failure leaves no partial file.

    Parameters
    ----------
    path : str or path
        The file. An existing file is replaced.
    page : Page
        The content.
    """
    check_output_path(Path(path))
    write_text(Path(path), render_page(page))


def find_curve(
    edge: DrawnEdge,
    layout_arcs: dict[tuple[str, str], tuple[str, str]],
    curves: dict[tuple[str, str], Curve],
) -> Curve:
    """Return the curve of an edge, from its parent to its child."""
    arc = (edge.parent, edge.child)
    curve = curves[layout_arcs[arc]]
    return curve if layout_arcs[arc] == arc else curve[::-1]
