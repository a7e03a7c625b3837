"""Prior knowledge in one JSON or CSV file: constraints on arcs, and weights of arcs.

A JSON file holds an object; all of its keys are optional::

    {"groups": {"labs": ["crp", "wbc"]},
     "tiers": [["age", "sex"], ["labs"], ["outcome"]],
     "required": [["age", "outcome"]],
     "forbidden": [["labs", "smoker"]],
     "roots": ["age"], "leaves": ["outcome"],
     "max_parents": 3,
     "weights": [["smoker", "outcome", 2.5]]}

A CSV file has one line an entry::

    kind,from,to,weight
    group,labs,crp
    group,labs,wbc
    tier,1,age
    tier,2,labs
    required,age,outcome
    forbidden,labs,smoker
    root,age
    leaf,outcome
    max_parents,3
    weight,smoker,outcome,2.5

The name of a group may stand wherever the name of a variable may stand; it means all
variables of the group. A weight is a log prior: the scorer adds it to the score of every
structure that has the arc.

Reading has two steps. `open_knowledge` checks the form of the file; it needs no table.
`KnowledgeFile.resolve` then replaces groups by their variables and refuses names that are
not in the table. Its messages give the line or the entry.
"""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from coevo.checks import is_int, is_number
from coevo.errors import FormatError, GraphError, ParameterError, bad_parameter, suggest_match
from coevo.files.files import check_path
from coevo.files.user_files import CsvRow, UserFile, read_csv_rows, read_json
from coevo.graph import Arc, Constraints
from coevo.io.run_folder import write_json

__all__ = [
    "NODE_KINDS",
    "Knowledge",
    "KnowledgeEntry",
    "KnowledgeFile",
    "check_record",
    "open_knowledge",
    "parse_entries",
    "parse_knowledge",
    "read_entries",
    "read_knowledge",
    "read_number",
    "write_knowledge",
]


# The entries of a file of prior knowledge, from JSON or CSV, each with its place.
#
# This module checks only the form: the kind of an entry, and the fields that it needs.
# The top of the module describes the form; the names are checked below.


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


@dataclass(frozen=True)
class Knowledge:
    """Prior knowledge: hard constraints, and weights of arcs that add to the score.

    >>> Knowledge(Constraints(roots=["age"]), {("age", "ill"): 1.5}).as_dict()
    {'roots': ['age'], 'weights': [['age', 'ill', 1.5]]}
    """

    constraints: Constraints = field(default_factory=Constraints)
    weights: Mapping[Arc, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the object of a JSON file."""
        content = self.constraints.as_dict()
        if self.weights:
            content["weights"] = [[*arc, weight] for arc, weight in sorted(self.weights.items())]
        return content


@dataclass(frozen=True)
class KnowledgeFile:
    """The well-formed entries of a file; their names are not yet checked."""

    entries: tuple[KnowledgeEntry, ...]

    def resolve(self, names: Sequence[str] | None = None) -> Knowledge:
        """Replace groups by their variables; refuse names that are not in `names`."""
        known = None if names is None else dict.fromkeys(names)  # finds a name at once
        groups = self._resolve_groups(known)
        arcs: dict[str, list[Arc]] = {"required": [], "forbidden": []}
        node_sets: dict[str, list[str]] = {kind: [] for kind in NODE_KINDS}
        tiers: dict[float, list[str]] = {}
        weights: dict[Arc, float] = {}
        limits = []
        for entry in self.entries:
            ends = [_expand_name(name, groups, known, entry.place) for name in entry.names]
            if entry.kind in ("required", "forbidden"):
                arcs[entry.kind].extend(_make_arcs(*ends))
            elif entry.kind == "weight":
                _add_weights(weights, _make_arcs(*ends), entry)
            elif entry.kind in NODE_KINDS:
                node_sets[entry.kind].extend(ends[0])
            elif entry.kind == "tier":
                tiers.setdefault(entry.number or 0, []).extend(ends[0])
            elif entry.kind == "max_parents":
                limits.append(int(entry.number or 0))
        self._check_weights(weights, set(arcs["forbidden"]))
        constraints = Constraints(
            max_parents=min(limits, default=None),
            **arcs,
            tiers=[tiers[number] for number in sorted(tiers)],
            roots=node_sets["root"],
            leaves=node_sets["leaf"],
        )
        return Knowledge(constraints, weights)

    def _resolve_groups(self, names: Collection[str] | None) -> dict[str, list[str]]:
        """Return the variables of each group; a group must not contain another group."""
        groups: dict[str, list[str]] = {}
        for entry in self.entries:
            if entry.kind != "group":
                continue
            group, *members = entry.names
            if names is not None and group in names:
                raise GraphError(
                    f"{entry.place}: the group {group!r} has the name of a variable. Rename it."
                )
            for member in members:
                groups.setdefault(group, []).extend(_expand_name(member, {}, names, entry.place))
        return groups

    def _check_weights(self, weights: dict[Arc, float], forbidden: set[Arc]) -> None:
        for parent, child in sorted(weights):
            if (parent, child) in forbidden:
                raise GraphError(
                    f"{parent!r} -> {child!r} has a weight and is forbidden. Remove one of the two."
                )


def open_knowledge(path: str | Path) -> KnowledgeFile:
    """Read a file of prior knowledge and check its form, but not the names in it."""
    check_path(path, "path", "read_knowledge")
    return KnowledgeFile(read_entries(Path(path)))


def parse_knowledge(content: Mapping[str, Any], owner: str) -> KnowledgeFile:
    """Check the form of a dict with the keys of a JSON file, but not the names in it.

    Any iterable may stand for a list.

    >>> known = parse_knowledge({"roots": ("age",), "max_parents": 2}, "learn")
    >>> known.resolve(["age", "ill"]).constraints
    Constraints(max_parents=2, roots=('age',))
    >>> parse_knowledge({"root": ["age"]}, "learn")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'constraints' of learn has an unknown key 'root'. The keys are \
required, forbidden, weights, roots, leaves, groups, tiers, max_parents. Did you mean 'roots'?
    """
    try:
        return KnowledgeFile(
            tuple(parse_entries(f"'constraints' of {owner}", _make_lists(content)))
        )
    except FormatError as error:
        raise ParameterError(str(error)) from None


def _make_lists(value: Any) -> Any:
    """Return a value of JSON: a dict keeps its form, another iterable is a list."""
    if isinstance(value, Mapping):
        return {name: _make_lists(inner) for name, inner in value.items()}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    items = sorted(value) if isinstance(value, Set) else value
    return [_make_lists(item) for item in items]


def read_knowledge(path: str | Path, names: Sequence[str] | None = None) -> Knowledge:
    r"""Read prior knowledge from a JSON or CSV file.

    Parameters
    ----------
    path : str or path
        The file; the docstring of this module describes its form.
    names : sequence of str, optional
        The variables. If given, `read_knowledge` refuses any other name and gives its place
        in the file. If not given, the search refuses it later.

    Returns
    -------
    Knowledge
        Constraints for a search, and weights for a `FamilyScorer`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "known.csv")
    ...     _ = path.write_text("kind,from,to,weight\nroot,age\nweight,age,ill,1.5\n")
    ...     read_knowledge(path, ["age", "ill"])
    Knowledge(constraints=Constraints(roots=('age',)), weights={('age', 'ill'): 1.5})
    """
    return open_knowledge(path).resolve(names)


def write_knowledge(knowledge: Knowledge | Constraints, path: str | Path) -> None:
    """Write prior knowledge as JSON; `read_knowledge` reads back the same."""
    if isinstance(knowledge, Constraints):
        knowledge = Knowledge(knowledge)
    if not isinstance(knowledge, Knowledge):
        raise bad_parameter("knowledge", "write_knowledge", "Knowledge or Constraints", knowledge)
    write_json(Path(path), knowledge.as_dict())


def _expand_name(
    name: str, groups: Mapping[str, list[str]], names: Collection[str] | None, place: str
) -> list[str]:
    """Return the variables of a group, or the variable with this name."""
    if name in groups:
        return groups[name]
    if names is not None and name not in names:
        what = "variable or group" if groups else "variable"
        near = suggest_match(name, [*names, *groups])
        raise GraphError(f"{place}: there is no {what} {name!r}.{near}")
    return [name]


def _make_arcs(parents: list[str], children: list[str]) -> list[Arc]:
    """Return all arcs from one group to another, without arcs from a variable to itself."""
    # Between two single variables, keep such an arc: `Constraints` refuses it as a mistake.
    is_single = len(parents) == len(children) == 1
    return [(a, b) for a in parents for b in children if is_single or a != b]


def _add_weights(weights: dict[Arc, float], arcs: list[Arc], entry: KnowledgeEntry) -> None:
    for parent, child in arcs:
        weight = float(entry.number or 0)
        if weights.setdefault((parent, child), weight) != weight:
            raise GraphError(
                f"{entry.place}: {parent!r} -> {child!r} already has the weight "
                f"{weights[parent, child]:g}. Remove one of the two."
            )


# Check the values of a record against the types that its dataclass declares.
#
# A record from a file may hold anything: a list where a name should be, a text for a number. A
# check at the door is simpler than one in each place that uses a value.


def read_number(value: Any) -> float:
    """Return a number of a record; raise `TypeError` for a text, or one that is not finite."""
    if not is_number(value):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def check_record(record: Any) -> None:
    """Raise `TypeError` if a field of a dataclass has a value of another type.

    Numbers must be finite, because JSON has no others. An int is a float, too; a bool is neither.
    """
    kind: Any = type(record)
    hints = _get_hints(kind)
    for one in fields(record):
        value = getattr(record, one.name)
        if not _fits(value, hints[one.name]):
            raise TypeError(f"{one.name} is {value!r}")


@cache
def _get_hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value has a type.

    >>> _fits((("a", 1.5),), tuple[tuple[str, float], ...]), _fits(None, int | None)
    (True, True)
    >>> _fits([1], int), _fits(True, int), _fits(float("nan"), float), _fits(1, float)
    (False, False, False, True)
    """
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return any(_fits(value, part) for part in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        parts = typing.get_args(hint)
        if not isinstance(value, tuple):
            return False
        if parts[-1:] == (...,):
            return all(_fits(item, parts[0]) for item in value)
        return len(value) == len(parts) and all(map(_fits, value, parts))
    if hint is float:
        return type(value) in (int, float) and abs(value) < math.inf
    return type(value) is (type(None) if hint is None else hint)
