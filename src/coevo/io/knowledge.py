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

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coevo.errors import FormatError, GraphError, ParameterError, bad_parameter, suggest_match
from coevo.files import check_path
from coevo.graph import Arc, Constraints
from coevo.io.knowledge_entries import NODE_KINDS, KnowledgeEntry, parse_entries, read_entries
from coevo.io.run_folder import write_json

__all__ = [
    "Knowledge",
    "KnowledgeFile",
    "open_knowledge",
    "parse_knowledge",
    "read_knowledge",
    "write_knowledge",
]


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
        The file; the docstring of `coevo.io.knowledge` describes its form.
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
