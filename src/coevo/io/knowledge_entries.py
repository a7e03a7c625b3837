"""The entries of a file of prior knowledge, from JSON or CSV, each with its place.

Only the form is looked at here: which kinds there are, and what each needs. The names are
looked up by `coevo.io.knowledge`, where the form is described.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from coevo.checks import is_int, is_number
from coevo.errors import FormatError, suggestion
from coevo.user_files import Row, is_json_file, read_json, read_rows

__all__ = ["SETS", "Entry", "read_entries"]

SETS = ("root", "leaf")
PAIRS = ("required", "forbidden", "weight")
KINDS = (*PAIRS, *SETS, "group", "tier", "max_parents")
# How JSON calls the entries of each kind.
PLURALS = {
    "required": "required",
    "forbidden": "forbidden",
    "weight": "weights",
    "root": "roots",
    "leaf": "leaves",
    "group": "groups",
    "tier": "tiers",
}
KEYS = (*PLURALS.values(), "max_parents")


class Entry(NamedTuple):
    """One entry of a file: its kind, what it names, its number, and where it stands."""

    kind: str
    names: tuple[str, ...]
    number: float | None
    place: str


def read_entries(path: Path) -> tuple[Entry, ...]:
    """Read the entries of a file, or say which of them is malformed."""
    if is_json_file(path):
        return tuple(_entries_of_object(path, read_json(path)))
    rows = read_rows(path, ("kind", "from"), ("to", "weight"))
    return tuple(_entry_of_row(path, row) for row in rows)


def _entry_of_row(source: Path, row: Row) -> Entry:
    """Return the entry of one line of CSV."""
    place = f"{str(source)!r}, line {row.line}"
    kind, first = row.cells["kind"], row.cells["from"]
    second, weight = row.cells.get("to", ""), row.cells.get("weight", "")
    if kind not in KINDS:
        listed = ", ".join(KINDS)
        near = suggestion(kind, KINDS)
        raise FormatError(f"{place}: the kind must be one of {listed}; got {kind!r}.{near}")
    needs_two = kind in (*PAIRS, "group", "tier")
    if not first or needs_two != bool(second):
        needed = "'from' and 'to'" if needs_two else "'from' only"
        raise FormatError(f"{place}: {kind} needs {needed}.")
    if bool(weight) != (kind == "weight"):
        raise FormatError(f"{place}: a weight goes with the kind weight, and with no other.")
    if kind == "max_parents":
        return Entry(kind, (), _number(first, place, "the limit", least=1), place)
    if kind == "tier":
        return Entry(kind, (second,), _number(first, place, "the tier", least=0), place)
    number = _number(weight, place, "the weight") if weight else None
    return Entry(kind, (first, second) if needs_two else (first,), number, place)


def _number(text: str, place: str, what: str, least: int | None = None) -> float:
    """Return the number of a cell: any finite one, or a whole one that is large enough."""
    expected = "a number" if least is None else f"a whole number of {least} or more"
    try:
        value = float(text) if least is None else int(text)
    except ValueError:
        value = float("nan")
    if not is_number(value) or (least is not None and value < least):
        raise FormatError(f"{place}: {what} must be {expected}; got {text!r}.")
    return value


def _entries_of_object(source: Path, found: Any) -> Iterator[Entry]:
    """Yield the entries of a JSON object."""
    if not isinstance(found, dict):
        raise FormatError(f"{str(source)!r} must hold an object with some of {', '.join(KEYS)}.")
    for key in found:
        if key not in KEYS:
            raise FormatError(
                f"{str(source)!r} has an entry {key!r}, which is none of {', '.join(KEYS)}."
                f"{suggestion(key, KEYS)}"
            )
    for kind, key in PLURALS.items():
        parts = found.get(key, {} if kind == "group" else [])
        if not isinstance(parts, dict if kind == "group" else list):
            form = "an object of lists" if kind == "group" else "a list"
            raise FormatError(f"{key!r} of {str(source)!r} must be {form}; got {parts!r}.")
        listed = parts.items() if isinstance(parts, dict) else enumerate(parts, 1)
        for place, part in listed:
            where = f"{str(source)!r}, {key!r}, entry {place!r}"
            yield from _entries_of_part(kind, place, part, where)
    limit = found.get("max_parents")
    if limit is not None:
        if not is_int(limit, 1):
            raise FormatError(
                f"'max_parents' of {str(source)!r} must be a whole number of 1 or more; got "
                f"{limit!r}."
            )
        yield Entry("max_parents", (), limit, str(source))


def _entries_of_part(kind: str, key: Any, part: Any, place: str) -> Iterator[Entry]:
    """Yield the entries of one part of a list of JSON."""
    if kind in PAIRS:
        yield _pair(kind, part, place)
        return
    names = [part] if isinstance(part, str) else part
    if not _are_names(names) or (kind in SETS and names is part):
        form = "a name" if kind in SETS else "a list of names"
        raise FormatError(f"{place} must be {form}; got {part!r}.")
    if kind == "group":
        yield Entry(kind, (key, *names), None, place)
    else:
        yield from (Entry(kind, (name,), key, place) for name in names)


def _pair(kind: str, part: Any, place: str) -> Entry:
    """Return the entry of an arc: a list, or an object with from, to and weight."""
    keys = ("from", "to", "weight")[: 3 if kind == "weight" else 2]
    given = part
    if isinstance(part, dict) and set(part) == set(keys):
        given = [part[key] for key in keys]
    if not isinstance(given, list) or len(given) != len(keys) or not _are_names(given[:2]):
        form = '["a", "b", 1.5]' if kind == "weight" else '["a", "b"]'
        raise FormatError(f"{place} must be {form}; got {part!r}.")
    if kind != "weight":
        return Entry(kind, tuple(given), None, place)
    if not is_number(given[2]):
        raise FormatError(f"{place}: the weight must be a number; got {given[2]!r}.")
    return Entry(kind, tuple(given[:2]), given[2], place)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
