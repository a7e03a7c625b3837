"""What the script of a page knows: names, tables and arcs, as JSON inside the page."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from coevo.network import BayesianNetwork
from coevo.report.layout import Layout
from coevo.report.page.edges import Line
from coevo.report.page.model import ArcFacts, Page

__all__ = ["page_data", "script_json"]

MOST_CELLS = 600  # of a table that is shown; the rest is counted
DIGITS = 6  # significant, of a probability


def script_json(value: object) -> str:
    r"""Return JSON that can stand inside a script element whatever its strings hold.

    >>> script_json({"a": "</script><!--"})
    '{"a":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def page_data(page: Page, layout: Layout, lines: list[Line], names: list[str]) -> dict[str, Any]:
    """Return the data of a page; variables are numbered as in `names`, arcs as in `lines`."""
    place = {name: i for i, name in enumerate(names)}
    data: dict[str, Any] = {
        "names": names,
        "boxes": [
            [round(box.x, 1), round(box.y, 1), box.width]
            for box in (layout.boxes[name] for name in names)
        ],
        "arcs": [
            [
                place[line.parent],
                place[line.child],
                int(line.is_directed),
                line.kind,
                line.class_kind,
                *map(_short, (getattr(line.facts, fact.name) for fact in fields(ArcFacts))),
            ]
            for line in lines
        ],
    }
    if page.network is not None:
        data["states"] = [page.network.variable(name).states for name in names]
        data["tables"] = [_table(page.network, name, place) for name in names]
    return data


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _table(network: BayesianNetwork, name: str, place: dict[str, int]) -> dict[str, Any]:
    """Return the parents in the order in which the rows run, and the first rows."""
    rows = network.table(name)
    shown = rows[: max(1, MOST_CELLS // rows.shape[1])]
    return {
        "parents": [place[parent] for parent in network.parents(name)],
        "n": len(rows),
        "rows": [[_short(cell) for cell in row] for row in shown.tolist()],
    }
