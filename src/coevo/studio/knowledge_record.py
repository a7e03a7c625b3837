"""Prior knowledge as the Knowledge view edits it: the constraint file, and its contradictions.

The browser holds the object of an ordinary constraint file (`coevo.io.knowledge`). After each
change it asks for the contradictions. Each is one sentence with the arcs and variables that it is
about, so that it is shown where it was made. Knowledge with a contradiction is never stored.

Two tabs, or a tab and an editor, may change the same file. What is stored has a version, a hash of
the file. Whoever changes it names the version that he has seen, and nothing is stored over another.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.errors import GraphError, format_count, format_list, suggest_match
from coevo.graph import Arc, Constraints
from coevo.io.knowledge import Knowledge, KnowledgeFile, open_knowledge, write_knowledge
from coevo.io.knowledge_entries import parse_entries
from coevo.studio.workspace import InUseError

__all__ = [
    "Contradiction",
    "KnowledgeError",
    "StaleKnowledgeError",
    "compute_version",
    "find_contradictions",
    "parse_knowledge",
    "read_stored_knowledge",
    "store_knowledge",
]

SOURCE = "'knowledge.json'"  # the name of what the browser sends, in messages
_STORING = threading.Lock()  # the version that was compared is the one that is replaced


class KnowledgeError(GraphError):
    """Knowledge with a contradiction; `contradictions` has all of them."""

    def __init__(self, contradictions: Sequence[Contradiction]) -> None:
        super().__init__(contradictions[0].sentence)
        self.contradictions = tuple(contradictions)

    def __reduce__(self) -> tuple[Any, ...]:
        return KnowledgeError, (self.contradictions,)


class StaleKnowledgeError(InUseError):
    """Knowledge that was changed by another tab since it was loaded."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Statements that cannot hold together: one sentence, and what it is about."""

    sentence: str
    arcs: tuple[Arc, ...] = ()
    variables: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the contradiction as plain values."""
        return {
            "sentence": self.sentence,
            "arcs": [list(arc) for arc in self.arcs],
            "variables": list(self.variables),
        }


def parse_knowledge(content: Any) -> Knowledge:
    """Return the knowledge in the object of a constraint file; groups become their variables.

    >>> parse_knowledge({"required": [["rain", "wet"]], "tiers": [[], ["wet"]]}).as_dict()
    {'required': [['rain', 'wet']], 'tiers': [['wet']]}
    """
    return KnowledgeFile(tuple(parse_entries(SOURCE, content))).resolve()


def find_contradictions(knowledge: Knowledge, names: Sequence[str]) -> tuple[Contradiction, ...]:
    """Return everything that keeps a search over the variables `names` from starting.

    >>> known = parse_knowledge({"required": [["a", "b"]], "tiers": [["b"], ["a"]]})
    >>> [one.sentence for one in find_contradictions(known, ["a", "b"])]
    ["'a' -> 'b' is required, but 'a' is in a later tier than 'b'."]
    """
    constraints = knowledge.constraints
    unknown = tuple(_find_unknown(knowledge, names))
    if unknown:
        return unknown
    found = [
        *_find_repeated(constraints),
        *_find_illegal_arcs(constraints, names),
        *_find_cycle(constraints, names),
        *_find_too_many_parents(constraints, names),
    ]
    if not found:
        try:
            constraints.to_rules(names)
        except GraphError as error:  # what the functions above do not know
            found.append(Contradiction(str(error)))
    return tuple(found)


def _find_unknown(knowledge: Knowledge, names: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the names that are no variables, each once."""
    constraints, known = knowledge.constraints, set(names)
    arcs = (*constraints.required, *constraints.forbidden, *knowledge.weights)
    in_tiers = (name for tier in constraints.tiers for name in tier)
    ends = (end for arc in arcs for end in arc)
    mentioned = dict.fromkeys((*ends, *in_tiers, *constraints.roots, *constraints.leaves))
    for name in mentioned:
        if name not in known:
            near = suggest_match(name, names)
            yield Contradiction(
                f"{name!r} is not a variable of the table. Remove it from the knowledge, or use "
                f"the column.{near}",
                tuple(arc for arc in arcs if name in arc),
                (name,),
            )


def _find_repeated(constraints: Constraints) -> Iterator[Contradiction]:
    seen: set[str] = set()
    for name in (name for tier in constraints.tiers for name in tier):
        if name in seen:
            yield Contradiction(f"{name!r} is in two tiers. Leave it in one.", (), (name,))
        seen.add(name)


def _find_illegal_arcs(constraints: Constraints, names: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the required arcs that the rest of the knowledge does not allow, each alone."""
    given = constraints.as_dict() | {"required": ()}
    given.pop("max_parents", None)
    if len({name for tier in constraints.tiers for name in tier}) < sum(
        map(len, constraints.tiers)
    ):
        given.pop("tiers")  # a variable in two tiers is reported already
    for arc in constraints.required:
        try:
            Constraints(**given | {"required": [arc]}).to_rules(names)
        except GraphError as error:
            yield Contradiction(str(error), (arc,), arc)


def _find_cycle(constraints: Constraints, names: Sequence[str]) -> Iterator[Contradiction]:
    """Yield the cycle of the required arcs, if there is one, with all arcs on cycles."""
    arcs = tuple(arc for arc in constraints.required if arc[0] != arc[1])
    try:
        Constraints(required=arcs).to_rules(names)
    except GraphError as error:
        on_cycles = tuple(arc for arc in arcs if _has_path(arcs, arc[1], arc[0]))
        yield Contradiction(str(error), on_cycles, tuple(sorted({a for a, _ in on_cycles})))


def _has_path(arcs: Sequence[Arc], start: str, end: str) -> bool:
    reached, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        new = {child for parent, child in arcs if parent == node} - reached
        reached |= new
        waiting.extend(new)
    return end in reached


def _find_too_many_parents(
    constraints: Constraints, names: Sequence[str]
) -> Iterator[Contradiction]:
    limit = constraints.max_parents
    for name in names if limit is not None else ():
        arcs = tuple(arc for arc in constraints.required if arc[1] == name)
        if len(arcs) > (limit or 0):
            parents = format_list([repr(parent) for parent, _ in arcs])
            yield Contradiction(
                f"{name!r} has {len(arcs)} required parents ({parents}), but the limit is "
                f"{format_count(limit or 0, 'parent')}.",
                arcs,
                (name,),
            )


def read_stored_knowledge(path: Path) -> Knowledge:
    """Read the constraint file of a table; without a file there is no knowledge."""
    return open_knowledge(path).resolve() if path.exists() else Knowledge()


def compute_version(path: Path) -> str:
    """Return the version of the constraint file of a table; it is empty if there is no file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    except FileNotFoundError:
        return ""


def store_knowledge(
    path: Path, knowledge: Knowledge, names: Sequence[str], version: str | None = None
) -> str:
    """Write the constraint file of a table; return its new version.

    A contradiction raises `KnowledgeError`. Another version than the one that is there raises
    `StaleKnowledgeError`; None replaces any. Knowledge without any statement removes the file.
    """
    contradictions = find_contradictions(knowledge, names)
    if contradictions:
        raise KnowledgeError(contradictions)
    with _STORING:
        if version is not None and version != compute_version(path):
            raise StaleKnowledgeError(
                "The knowledge about this table was changed elsewhere since it was loaded."
            )
        if knowledge.as_dict():
            write_knowledge(knowledge, path)
        else:
            path.unlink(missing_ok=True)
        return compute_version(path)
