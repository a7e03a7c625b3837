"""What a page says about the table of a run: the audit, the decisions and the columns, in words.

The values come from ``run.json``, which any version of coevo may have written. Values of an unknown
shape are shown as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coevo.data.state_words import shorten_states
from coevo.errors import format_count

__all__ = ["describe_audit", "describe_columns", "describe_decisions", "format_value"]

MAX_STATES = 20  # of a column that are listed


def describe_audit(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence about missing values, if there are any, and one for each finding.

    >>> describe_audit({"audit": [{"kind": "constant", "columns": ["a"], "sentence": "Drop 'a'."}]})
    ["Drop 'a'."]
    """
    return [*_describe_missing(facts), *(_format_item(item) for item in facts.get("audit", ()))]


def _describe_missing(facts: Mapping[str, Any]) -> list[str]:
    if "missing" not in facts:
        return []
    missing = facts["missing"]
    counts = ", ".join(f"{name} {count:,}" for name, count in missing["columns"].items())
    return [
        f"Missing values: {missing['n_missing']:,} ({missing['share']:.1%} of all values). "
        f"Complete rows: {missing['n_complete_rows']:,}. Policy: {missing['policy']}. "
        f"Missing values by column: {counts}."
    ]


def describe_decisions(facts: Mapping[str, Any]) -> list[str]:
    """Return what was decided about the table, and how to undo it."""
    return [
        f"{item['sentence']} Undo: {item['undo']}." if item.get("undo") else str(item["sentence"])
        for item in facts.get("decisions", ())
    ]


def describe_columns(columns: Mapping[str, Any] | Sequence[Any]) -> dict[str, str]:
    """Return the type and treatment of each column, from an object or a list of objects.

    >>> describe_columns({"age": {"type": "continuous", "method": "mdl", "cuts": [18.0, 65.0]}})
    {'age': 'continuous, 3 bins with the cut points 18, 65 (mdl)'}
    """
    if isinstance(columns, Mapping):
        return {name: _describe_column(value) for name, value in columns.items()}
    return {
        str(item["name"]): _describe_column({k: v for k, v in item.items() if k != "name"})
        for item in columns
    }


def _describe_column(column: Any) -> str:
    """Return the type of a column, its values, and its states or cut points."""
    if not (isinstance(column, Mapping) and isinstance(column.get("type"), str)):
        return _format_item(column)
    if column["type"] == "ignore":
        return str(column.get("reason") or "left out")
    if column["type"] not in ("categorical", "continuous"):
        return f"dates, replaced by {column['type'].replace('+', ', ')}"
    parts = [column["type"], *([column["holds"]] if column.get("holds") else [])]
    if "cuts" in column:
        parts.append(_describe_cuts(column["cuts"], column.get("method")))
    elif "states" in column:
        parts.append(_describe_states(column["states"]))
    if column.get("source"):
        parts.append(f"part of {column['source']}")
    return ", ".join(parts)


def _describe_cuts(cuts: Sequence[float], method: str | None) -> str:
    if not cuts:
        return "no cut point"
    label = "the cut point" if len(cuts) == 1 else "the cut points"
    named = f" ({method})" if method else ""
    return f"{len(cuts) + 1:,} bins with {label} {format_value(cuts)}{named}"


def _describe_states(states: Sequence[str]) -> str:
    shown = shorten_states(tuple(map(str, states)))
    listed = ", ".join([*shown.values()][:MAX_STATES])
    rest = len(states) - MAX_STATES
    more = f" and {rest:,} more" if rest > 0 else ""
    return f"{format_count(len(states), 'state')}: {listed}{more}"


def _format_item(item: Any) -> str:
    """Return the sentence of an item; without one, its keys and values."""
    if not isinstance(item, Mapping):
        return format_value(item)
    for name in ("sentence", "message"):
        if isinstance(item.get(name), str):
            return str(item[name])
    return ", ".join(f"{name}: {format_value(value)}" for name, value in item.items())


def format_value(value: Any) -> str:
    """Return a value of ``run.json`` as text.

    >>> format_value([True, None, -0.0, {"a": 0.25}])
    'yes, none, 0, a 0.25'
    """
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, list | tuple):
        return ", ".join(map(format_value, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {format_value(inner)}" for name, inner in value.items())
    return f"{value:zg}" if isinstance(value, float) else str(value)
