"""The entries of a file of prior knowledge, from JSON or CSV, each with its place.

This module checks only the form: the kind of an entry, and the fields that it needs.
`coevo.io.knowledge` describes the form and checks the names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from coevo.checks import is_int, is_number
from coevo.errors import FormatError, suggest_match
from coevo.user_files import CsvRow, UserFile, read_csv_rows, read_json

__all__ = ["NODE_KINDS", "KnowledgeEntry", "parse_entries", "read_entries"]

NODE_KINDS = ("root", "leaf")
ARC_KINDS = ("required", "forbidden", "weight")
KINDS = (*ARC_KINDS, *NODE_KINDS, "group", "tier", "max_parents")
# The key of each kind in JSON.
JSON_KEYS = {
    "required": "required",
    "forbidden": "forbidden",
    "weight": "weights",
    "root": "roots",
    "leaf": "leaves",
    "group": "groups",
    "tier": "tiers",
}
KEYS = (*JSON_KEYS.values(), "max_parents")


class KnowledgeEntry(NamedTuple):
    """One entry of a file: its kind, its names, its number, and its place in the file."""

    kind: str
    names: tuple[str, ...]
    number: float | None
    place: str


def read_entries(path: Path) -> tuple[KnowledgeEntry, ...]:
    """Read the entries of a file; raise `FormatError` for a malformed one."""
    file = UserFile(path)
    if file.is_json:
        return tuple(parse_entries(repr(str(path)), read_json(file)))
    rows = read_csv_rows(file, ("kind", "from"), ("to", "weight"))
    return tuple(_parse_row(path, row) for row in rows)


def _parse_row(source: Path, row: CsvRow) -> KnowledgeEntry:
    """Return the entry in one line of CSV."""
    place = f"{str(source)!r}, line {row.line}"
    kind, first = row.cells["kind"], row.cells["from"]
    second, weight = row.cells.get("to", ""), row.cells.get("weight", "")
    if kind not in KINDS:
        kinds = ", ".join(KINDS)
        hint = suggest_match(kind, KINDS)
        raise FormatError(f"{place}: the kind must be one of {kinds}; got {kind!r}.{hint}")
    needs_two = kind in (*ARC_KINDS, "group", "tier")
    if not first or needs_two != bool(second):
        needed = "'from' and 'to'" if needs_two else "'from' only"
        raise FormatError(f"{place}: {kind} needs {needed}.")
    if bool(weight) != (kind == "weight"):
        raise FormatError(
            f"{place}: an entry of the kind weight needs a weight; other entries must have none."
        )
    if kind == "max_parents":
        return KnowledgeEntry(kind, (), _parse_number(first, place, "the limit", least=1), place)
    if kind == "tier":
        return KnowledgeEntry(
            kind, (second,), _parse_number(first, place, "the tier", least=0), place
        )
    number = _parse_number(weight, place, "the weight") if weight else None
    return KnowledgeEntry(kind, (first, second) if needs_two else (first,), number, place)


def _parse_number(text: str, place: str, what: str, least: int | None = None) -> float:
    """Return the number in a cell; with `least`, it must be an integer of at least that."""
    expected = "a number" if least is None else f"a whole number of {least} or more"
    try:
        value = float(text) if least is None else int(text)
    except ValueError:
        value = float("nan")
    if not is_number(value) or (least is not None and value < least):
        raise FormatError(f"{place}: {what} must be {expected}; got {text!r}.")
    return value


def parse_entries(source: str, content: Any) -> Iterator[KnowledgeEntry]:
    """Yield the entries of a JSON object; messages say that they are in `source`."""
    if not isinstance(content, dict):
        raise FormatError(
            f"{source} must hold a JSON object with some of the keys {', '.join(KEYS)}."
        )
    for key in content:
        if key not in KEYS:
            raise FormatError(
                f"{source} has an unknown key {key!r}. The keys are {', '.join(KEYS)}."
                f"{suggest_match(key, KEYS)}"
            )
    for kind, key in JSON_KEYS.items():
        items = content.get(key, {} if kind == "group" else [])
        if not isinstance(items, dict if kind == "group" else list):
            form = "an object of lists" if kind == "group" else "a list"
            raise FormatError(f"{key!r} of {source} must be {form}; got {items!r}.")
        pairs = items.items() if isinstance(items, dict) else enumerate(items, 1)
        for name_or_number, item in pairs:
            place = f"{source}, {key!r}, entry {name_or_number!r}"
            yield from _parse_item(kind, name_or_number, item, place)
    limit = content.get("max_parents")
    if limit is not None:
        if not is_int(limit, 1):
            raise FormatError(
                f"'max_parents' of {source} must be a whole number of 1 or more; got {limit!r}."
            )
        yield KnowledgeEntry("max_parents", (), limit, source)


def _parse_item(kind: str, name_or_number: Any, item: Any, place: str) -> Iterator[KnowledgeEntry]:
    """Yield the entries of one item: the name of a group or the number in a list, and a value."""
    if kind in ARC_KINDS:
        yield _parse_arc(kind, item, place)
        return
    names = [item] if isinstance(item, str) else item
    if not _are_names(names) or (kind in NODE_KINDS and names is item):
        form = "a name" if kind in NODE_KINDS else "a list of names"
        raise FormatError(f"{place} must be {form}; got {item!r}.")
    if kind == "group":
        yield KnowledgeEntry(kind, (name_or_number, *names), None, place)
    else:
        yield from (KnowledgeEntry(kind, (name,), name_or_number, place) for name in names)


def _parse_arc(kind: str, item: Any, place: str) -> KnowledgeEntry:
    """Return the entry of an arc: a list, or an object with from, to and weight."""
    keys = ("from", "to", "weight")[: 3 if kind == "weight" else 2]
    values = item
    if isinstance(item, dict) and set(item) == set(keys):
        values = [item[key] for key in keys]
    if not isinstance(values, list) or len(values) != len(keys) or not _are_names(values[:2]):
        form = '["a", "b", 1.5]' if kind == "weight" else '["a", "b"]'
        raise FormatError(f"{place} must be {form}; got {item!r}.")
    if kind != "weight":
        return KnowledgeEntry(kind, tuple(values), None, place)
    if not is_number(values[2]):
        raise FormatError(f"{place}: the weight must be a number; got {values[2]!r}.")
    return KnowledgeEntry(kind, tuple(values[:2]), values[2], place)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
