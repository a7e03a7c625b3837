"""Prior knowledge in one file, JSON or CSV: what is known about arcs, and what is believed.

JSON is an object; every part of it may be left out::

    {"groups": {"labs": ["crp", "wbc"]},
     "tiers": [["age", "sex"], ["labs"], ["outcome"]],
     "required": [["age", "outcome"]],
     "forbidden": [["labs", "smoker"]],
     "roots": ["age"], "leaves": ["outcome"],
     "max_parents": 3,
     "weights": [["smoker", "outcome", 2.5]]}

CSV has one line an entry and says the same::

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

The name of a group stands for its variables wherever one variable may stand. A weight is a
log prior: it is added to the score of every structure that has the arc.

A file is read in two steps. `open_knowledge` finds what is malformed, before there is a
table; `Entries.over` then puts variables in place of groups and refuses names that the table
does not have, with the line or the entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coevo.errors import GraphError, bad_parameter, suggestion
from coevo.graph import Arc, Constraints
from coevo.io.knowledge_entries import SETS, Entry, read_entries
from coevo.io.run_folder import write_json

__all__ = ["Entries", "Knowledge", "open_knowledge", "read_knowledge", "write_knowledge"]


@dataclass(frozen=True)
class Knowledge:
    """Constraints, which hold, and weights of arcs, which count in the score.

    >>> Knowledge(Constraints(roots=["age"]), {("age", "ill"): 1.5}).as_dict()
    {'roots': ['age'], 'weights': [['age', 'ill', 1.5]]}
    """

    constraints: Constraints = field(default_factory=Constraints)
    weights: Mapping[Arc, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the object that a JSON file holds."""
        found = self.constraints.as_dict()
        if self.weights:
            found["weights"] = [[*arc, weight] for arc, weight in sorted(self.weights.items())]
        return found


@dataclass(frozen=True)
class Entries:
    """The entries of a file, well formed; their names are not looked at yet."""

    found: tuple[Entry, ...]

    def over(self, names: Sequence[str] | None = None) -> Knowledge:
        """Put variables in place of groups; refuse names that are not among `names`."""
        groups = self._groups(names)
        arcs: dict[str, list[Arc]] = {"required": [], "forbidden": []}
        sets: dict[str, list[str]] = {kind: [] for kind in SETS}
        tiers: dict[float, list[str]] = {}
        weights: dict[Arc, float] = {}
        limits = []
        for entry in self.found:
            ends = [_members(name, groups, names, entry.place) for name in entry.names]
            if entry.kind in ("required", "forbidden"):
                arcs[entry.kind].extend(_pairs(*ends))
            elif entry.kind == "weight":
                _add_weights(weights, _pairs(*ends), entry)
            elif entry.kind in SETS:
                sets[entry.kind].extend(ends[0])
            elif entry.kind == "tier":
                tiers.setdefault(entry.number or 0, []).extend(ends[0])
            elif entry.kind == "max_parents":
                limits.append(int(entry.number or 0))
        self._check_weights(weights, set(arcs["forbidden"]))
        constraints = Constraints(
            max_parents=min(limits, default=None),
            **arcs,
            tiers=[tiers[number] for number in sorted(tiers)],
            roots=sets["root"],
            leaves=sets["leaf"],
        )
        return Knowledge(constraints, weights)

    def _groups(self, names: Sequence[str] | None) -> dict[str, list[str]]:
        """Return the variables of each group; a group may hold no other group."""
        groups: dict[str, list[str]] = {}
        for entry in self.found:
            if entry.kind != "group":
                continue
            group, *members = entry.names
            if names is not None and group in names:
                raise GraphError(
                    f"{entry.place}: the group {group!r} has the name of a variable. Rename it."
                )
            for member in members:
                groups.setdefault(group, []).extend(_members(member, {}, names, entry.place))
        return groups

    def _check_weights(self, weights: dict[Arc, float], forbidden: set[Arc]) -> None:
        for parent, child in sorted(weights):
            if (parent, child) in forbidden:
                raise GraphError(f"{parent!r} -> {child!r} has a weight and is forbidden.")


def open_knowledge(path: str | Path) -> Entries:
    """Read the entries of a file, before it is known which variables there are."""
    return Entries(read_entries(Path(path)))


def read_knowledge(path: str | Path, names: Sequence[str] | None = None) -> Knowledge:
    r"""Read prior knowledge from a JSON or CSV file.

    Parameters
    ----------
    path : str or path
        The file; its form stands in the docstring of `coevo.io.knowledge`.
    names : sequence of str, optional
        The variables. With them, a name that is not one of them is refused with the place
        where it stands; without, the search will refuse it.

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
    return open_knowledge(path).over(names)


def write_knowledge(knowledge: Knowledge | Constraints, path: str | Path) -> None:
    """Write prior knowledge as JSON; `read_knowledge` gives the same again."""
    if isinstance(knowledge, Constraints):
        knowledge = Knowledge(knowledge)
    if not isinstance(knowledge, Knowledge):
        raise bad_parameter("knowledge", "write_knowledge", "Knowledge or Constraints", knowledge)
    write_json(Path(path), knowledge.as_dict())


def _members(
    name: str, groups: Mapping[str, list[str]], names: Sequence[str] | None, place: str
) -> list[str]:
    """Return the variables that a name stands for."""
    if name in groups:
        return groups[name]
    if names is not None and name not in names:
        what = "variable or group" if groups else "variable"
        near = suggestion(name, [*names, *groups])
        raise GraphError(f"{place}: there is no {what} {name!r}.{near}")
    return [name]


def _pairs(parents: list[str], children: list[str]) -> list[Arc]:
    """Return all arcs from one group to another; a variable has none to itself."""
    is_one = len(parents) == len(children) == 1  # then a loop is a mistake to be refused
    return [(a, b) for a in parents for b in children if is_one or a != b]


def _add_weights(weights: dict[Arc, float], arcs: list[Arc], entry: Entry) -> None:
    for parent, child in arcs:
        weight = float(entry.number or 0)
        if weights.setdefault((parent, child), weight) != weight:
            raise GraphError(
                f"{entry.place}: {parent!r} -> {child!r} has another weight already, "
                f"{weights[parent, child]:g}."
            )
