"""The lines that commands print about columns: their types, and what the audit found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coevo.errors import format_count

__all__ = ["format_audit", "format_columns", "format_decision", "format_decisions"]

SHOWN = 10  # columns or findings that are printed before the rest is only counted


def format_columns(columns: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the number of columns of each type, and all cut points."""
    kinds = [column["type"] for column in columns.values()]
    words = {"categorical": "categorical", "continuous": "continuous", "ignore": "ignored"}
    words |= {kind: "replaced" for kind in kinds if kind not in words}
    numbers = {word: sum(words[kind] == word for kind in kinds) for word in words.values()}
    counts = [f"{number:,} {word}" for word, number in numbers.items() if number]
    yield f"columns     {', '.join(counts)}"
    lines = []
    for name, column in columns.items():
        if column["type"] == "continuous":
            points = ", ".join(f"{point:zg}" for point in column["cuts"])
            method = f" ({column['method']})" if "method" in column else ""
            text = f"cut points {points}{method}" if points else "no cut point"
            lines.append(f"  {name}: {text}")
        elif column.get("holds", "").endswith("numbers"):
            lines.append(f"  {name}: {len(column['states'])} {column['holds']} as states")
    yield from _truncate(lines)


def format_audit(findings: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the findings of the audit, one per line."""
    if findings:
        yield f"audit       {format_count(len(findings), 'finding')}"
        yield from _truncate([f"  {finding['sentence']}" for finding in findings])


def format_decisions(decisions: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what was decided about the table, one per line, with the option that undoes it.

    The line about missing values is left out: `format_missing` prints it.
    """
    listed = [decision for decision in decisions if decision["kind"] != "missing"]
    if listed:
        yield f"decisions   {len(listed):,}"
        yield from _truncate([f"  {format_decision(decision)}" for decision in listed])


def format_decision(decision: dict[str, Any]) -> str:
    """Return a decision, with its undo as an option of the command."""
    _, found, option = decision["undo"].partition(", or --")
    undo = f"--{option}" if found else decision["undo"]
    return f"{decision['sentence']} Undo: {undo}"


def _truncate(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN:,} more, all in run.json and --format json"
