"""The data for the script of a page: names, tables and arcs, as JSON inside the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from coevo.checks import as_plain
from coevo.data.state_words import shorten_states
from coevo.network import BayesianNetwork
from coevo.view.page.edges import DrawnEdge
from coevo.view.page.model import Page
from coevo.view.picture.layout import Layout

__all__ = ["format_script_json", "make_arc_data", "make_page_data", "make_table_data"]

MAX_CELLS = 600  # of a table that is included; further rows are only counted
DIGITS = 6  # significant digits of a probability
DIRECTED_BY = (None, "data", "knowledge")  # the number of each in the data of an arc
MAX_GENERATIONS = 300  # whose credit is included
GAIN_DIGITS = 9  # of a gain, which the table of arcs shows to two decimal places


def format_script_json(value: object) -> str:
    r"""Return JSON that is safe inside a script element, for any strings.

    >>> format_script_json({"a": "</script><!--"})
    '{"a":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=as_plain
    )
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def make_page_data(
    page: Page, layout: Layout, edges: list[DrawnEdge], names: list[str]
) -> dict[str, Any]:
    """Return the data of a page. Variables are indexed as in `names`, arcs as in `edges`."""
    place = {name: i for i, name in enumerate(names)}
    data: dict[str, Any] = {
        "names": names,
        "boxes": [
            [round(box.x, 1), round(box.y, 1), box.width]
            for box in (layout.boxes[name] for name in names)
        ],
        "arcs": make_arc_data(edges, names),
    }
    if page.network is not None:
        all_states = [page.network.variable(name).states for name in names]
        data["states"] = [list(shorten_states(states).values()) for states in all_states]
        data["tables"] = [
            make_table_data(page.network, name, place, page.parent_counts.get(name))
            for name in names
        ]
        data["means"] = page.are_counts_means
    if page.species is not None:
        data["species"] = _make_species_data(page, page.species)
    return data


def _make_species_data(page: Page, species: Mapping[str, Any]) -> dict[str, Any]:
    """Return the species for their pictures, with the arcs of the network by their numbers.

    Of a long history every second row is left out, or more. The credit of a mask changes slowly.
    """
    place = {name: i for i, name in enumerate(species["variables"])}
    step = -(-len(page.credit) // MAX_GENERATIONS) or 1
    arcs = [[place[a], place[b]] for a, b in page.dag.arcs if a in place and b in place]
    credit = [[_round(value) for value in row] for row in page.credit[::-1][::step][::-1]]
    return {**species, "arcs": arcs, "credit": credit}


def _round(value: float | None, digits: int = DIGITS) -> float | None:
    return None if value is None else float(f"{value:.{digits}g}")


def make_arc_data(edges: list[DrawnEdge], names: list[str]) -> list[list[Any]]:
    """Return the ends, the kinds and the facts of each arc."""
    place = {name: i for i, name in enumerate(names)}
    return [
        [
            place[edge.parent],
            place[edge.child],
            DIRECTED_BY.index(edge.directed_by),
            edge.kind,
            edge.class_kind,
            _round(edge.facts.gain, GAIN_DIGITS),
            _round(edge.facts.strength),
            _round(edge.facts.direction),
            _round(edge.facts.reverse),
            edge.facts.word,
            edge.facts.says,
        ]
        for edge in edges
    ]


def make_table_data(
    network: BayesianNetwork,
    name: str,
    place: Mapping[str, int],
    counts: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Return the parents in the order of the rows, the number of rows, and the first rows.

    `counts` are the numbers of rows of data behind each row of the table, if they are known.
    """
    rows = network.table(name)
    included = rows[: max(1, MAX_CELLS // rows.shape[1])]
    table: dict[str, Any] = {
        "parents": [place[parent] for parent in network.parents(name)],
        "n": len(rows),
        "rows": [[_round(cell) for cell in row] for row in included.tolist()],
    }
    if counts is not None:
        table["counts"] = [_round(count) for count in counts[: len(included)]]
        table["unseen"] = sum(count == 0 for count in counts)
    return table
