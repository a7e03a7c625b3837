"""The page of an inspection: problems, decisions, and one row for each column of the table.

The page has the look and the rules of a report: one file, no request, no inline style.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coevo.data.column_summary import StateCount
from coevo.errors import format_count
from coevo.view.inspection.charts import (
    format_share,
    format_value,
    render_bars,
    render_histogram,
    render_share,
)
from coevo.view.inspection.commands import split_undo, suggest_option
from coevo.view.inspection.result import InspectedColumn, TableInspection
from coevo.view.page.bundle import bundle_modules
from coevo.view.page.markup import escape, make_element
from coevo.view.page.template import fill_page, read_asset

__all__ = ["render_inspection"]

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
            "next": _render_command(command),
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


def _render_command(command: str) -> str:
    if not command:
        return ""
    return f'<div class="next"><span>Learn from it:</span>{_render_copy(command)}</div>'


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
