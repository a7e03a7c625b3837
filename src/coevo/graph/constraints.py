"""Constraints on a structure: background knowledge that the search must respect.

Constraints are required and forbidden arcs, tiers, roots, leaves and a limit on the number
of parents. `Constraints.to_rules` checks them against the variables once, before a search
starts, and turns them into two matrices and a number (`ArcRules`). A search reads nothing
else. `ArcRules.with_table_limit` adds the limit on the size of a conditional probability table,
which needs the numbers of states.

Tiers are ordered groups of variables: no arc may lead from a later tier to an earlier one.
Arcs within a tier, and arcs of variables in no tier, stay free. A root has no parents, a
leaf has no children. (Knowledge that is likely but not certain is not a constraint. It is a
part of the score: see the weights of `coevo.score.FamilyScorer`.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.errors import (
    GraphError,
    ParameterError,
    bad_parameter,
    find_duplicate,
    format_count,
    suggest_match,
)
from coevo.graph.arguments import read_arcs, read_names
from coevo.graph.dag import DAG, Arc
from coevo.signatures import check_keywords

__all__ = ["ArcRules", "Constraints", "read_constraints"]

PARTS = ("max_parents", "required", "forbidden", "tiers", "roots", "leaves")


@dataclass(frozen=True, eq=False)
class ArcRules:
    """Constraints over numbered variables; ``[i, j]`` is about the arc i -> j."""

    allowed: NDArray[np.bool_]  # (n, n), False on the diagonal
    required: NDArray[np.bool_]  # (n, n), only where allowed, without a cycle
    max_parents: int  # n - 1 when there is no limit
    arities: NDArray[np.int64] | None = None  # (n,), set together with `max_table`
    max_table: float = np.inf  # cells of the table of a variable with parents

    def with_table_limit(self, arities: NDArray[np.int64], max_table: int | None) -> Self:
        """Return the rules with a limit on the cells of a table; None is no limit."""
        return self if max_table is None else replace(self, arities=arities, max_table=max_table)

    def count_cells(self, child: int, parents: Iterable[int]) -> float:
        """Return the number of cells of a table; 0 without a limit or without parents."""
        if self.arities is None:
            return 0.0
        sizes = [float(self.arities[parent]) for parent in parents]
        return math.prod(sizes) * float(self.arities[child]) if sizes else 0.0

    def fits(self, child: int, parents: Iterable[int]) -> bool:
        """Return whether the table of a family is within the limit."""
        return self.count_cells(child, parents) <= self.max_table

    def _find_large_table(self, adjacency: NDArray[np.bool_]) -> int | None:
        """Return the first variable whose table is too large, or None."""
        families = ((child, np.flatnonzero(column)) for child, column in enumerate(adjacency.T))
        return next((child for child, parents in families if not self.fits(child, parents)), None)

    @cached_property
    def has_arc_constraints(self) -> bool:
        """Whether any arc is required or forbidden."""
        excluded = ~self.allowed
        np.fill_diagonal(excluded, False)
        return bool(self.required.any() or excluded.any())

    def is_satisfied_by(self, adjacency: NDArray[np.bool_]) -> bool:
        """Return whether a structure satisfies all rules."""
        return bool(
            not (adjacency & ~self.allowed).any()
            and not (self.required & ~adjacency).any()
            and adjacency.sum(axis=0).max(initial=0) <= self.max_parents
            and self._find_large_table(adjacency) is None
        )

    def describe_violation(self, adjacency: NDArray[np.bool_], names: Sequence[str]) -> str:
        """Return a phrase about the first rule that a structure violates; there must be one."""
        for violations, reason in (
            (adjacency & ~self.allowed, "is not allowed"),
            (self.required & ~adjacency, "is required but absent"),
        ):
            if violations.any():
                parent, child = np.argwhere(violations)[0]
                return f"{names[parent]!r} -> {names[child]!r} {reason}"
        n_parents = adjacency.sum(axis=0)
        child = int(n_parents.argmax())
        if n_parents[child] > self.max_parents:
            limit = f"and 'max_parents' is {self.max_parents}"
            return f"{names[child]!r} has {n_parents[child]} parents, {limit}"
        large = self._find_large_table(adjacency) or 0
        n_cells = self.count_cells(large, np.flatnonzero(adjacency[:, large]))
        held = format_count(int(n_parents[large]), "parent")
        return (
            f"the table of {names[large]!r} with {held} has {n_cells:,.0f} cells, and 'max_table' "
            f"is {self.max_table:,}"
        )


class Constraints:
    """Required and forbidden arcs, tiers, roots, leaves and a limit on parents.

    Parameters
    ----------
    max_parents : int, optional
        Maximum number of parents of a variable (default: no limit).
    required, forbidden : iterable of (parent, child)
        Arcs that the structure must have, and arcs that it must not have.
    tiers : iterable of iterables of str
        Ordered groups of variables; no arc leads from a later tier to an earlier one.
    roots, leaves : iterable of str
        Variables without parents, and variables without children.

    Examples
    --------
    >>> known = Constraints(required=[("rain", "wet")], tiers=[["rain"], ["wet", "slip"]])
    >>> rules = known.to_rules(["rain", "slip", "wet"])
    >>> rules.allowed[2, 0], rules.required[0, 2]
    (np.False_, np.True_)
    >>> Constraints(required=[("a", "b")], forbidden=[("a", "b")]).to_rules(["a", "b"])
    Traceback (most recent call last):
    coevo.errors.GraphError: 'a' -> 'b' is required and forbidden.
    """

    __slots__ = ("_forbidden", "_leaves", "_max_parents", "_required", "_roots", "_tiers")

    @check_keywords()
    def __init__(
        self,
        *,
        max_parents: int | None = None,
        required: Iterable[Arc] = (),
        forbidden: Iterable[Arc] = (),
        tiers: Iterable[Iterable[str]] = (),
        roots: Iterable[str] = (),
        leaves: Iterable[str] = (),
    ) -> None:
        if max_parents is not None and not is_int(max_parents, 1):
            raise bad_parameter("max_parents", "Constraints", "an int >= 1 or None", max_parents)
        self._max_parents = None if max_parents is None else int(max_parents)
        owner = "Constraints"
        self._required = tuple(sorted({*read_arcs(required, "required", owner)}))
        self._forbidden = tuple(sorted({*read_arcs(forbidden, "forbidden", owner)}))
        nested = "a list of lists of names"
        if isinstance(tiers, str) or not isinstance(tiers, Iterable):
            raise bad_parameter("tiers", owner, nested, tiers)
        named = [read_names(tier, "tiers", owner, nested) for tier in tiers]
        self._tiers = tuple(filter(None, named))
        self._roots = tuple(sorted({*read_names(roots, "roots", owner)}))
        self._leaves = tuple(sorted({*read_names(leaves, "leaves", owner)}))

    @property
    def max_parents(self) -> int | None:
        """Maximum number of parents of a variable, or None."""
        return self._max_parents

    @property
    def required(self) -> tuple[Arc, ...]:
        """Arcs that the structure must have, sorted."""
        return self._required

    @property
    def forbidden(self) -> tuple[Arc, ...]:
        """Arcs that the structure must not have, sorted."""
        return self._forbidden

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """Groups of variables, first tier first."""
        return self._tiers

    @property
    def roots(self) -> tuple[str, ...]:
        """Variables without parents, sorted."""
        return self._roots

    @property
    def leaves(self) -> tuple[str, ...]:
        """Variables without children, sorted."""
        return self._leaves

    def to_rules(self, names: Sequence[str]) -> ArcRules:
        """Validate the constraints for these variables and return them as matrices.

        Raises
        ------
        GraphError
            If a name is unknown, or if no structure can satisfy the constraints. The message
            names the arcs or the cycle.
        """
        self._check_names(names)
        number = {name: i for i, name in enumerate(names)}
        allowed = ~np.eye(len(names), dtype=np.bool_)
        for parent, child in self._forbidden:
            allowed[number[parent], number[child]] = False
        for i, later in enumerate(self._tiers):
            for earlier in self._tiers[:i]:
                allowed[np.ix_([number[v] for v in later], [number[v] for v in earlier])] = False
        allowed[:, [number[root] for root in self._roots]] = False
        allowed[[number[leaf] for leaf in self._leaves], :] = False
        required = np.zeros_like(allowed)
        for parent, child in self._required:
            if not allowed[number[parent], number[child]]:
                raise GraphError(self._explain_conflict(parent, child))
            required[number[parent], number[child]] = True
        self._check_required(names)
        limit = len(names) - 1 if self._max_parents is None else self._max_parents
        return ArcRules(allowed, required, min(limit, max(len(names) - 1, 0)))

    def _check_names(self, names: Sequence[str]) -> None:
        """Raise `GraphError` for an unknown name, or a variable in two tiers."""
        for kind, arcs in (("required", self._required), ("forbidden", self._forbidden)):
            for parent, child in arcs:
                for end in (parent, child):
                    if end not in names:
                        raise GraphError(
                            f"The {kind} arc {parent!r} -> {child!r} names {end!r}, which is not "
                            f"a variable.{suggest_match(end, names)}"
                        )
        in_tiers = [variable for tier in self._tiers for variable in tier]
        for kind, group in (("tiers", in_tiers), ("roots", self._roots), ("leaves", self._leaves)):
            for variable in group:
                if variable not in names:
                    raise GraphError(
                        f"The {kind} name {variable!r}, which is not a variable."
                        f"{suggest_match(variable, names)}"
                    )
        duplicate = find_duplicate(in_tiers)
        if duplicate is not None:
            raise GraphError(f"The tiers name {duplicate!r} twice.")

    def _explain_conflict(self, parent: str, child: str) -> str:
        """Return a sentence that says why a required arc is not allowed."""
        if parent == child:
            return f"The arc {parent!r} -> {child!r} is required, but it is a loop."
        if (parent, child) in self._forbidden:
            return f"{parent!r} -> {child!r} is required and forbidden."
        if child in self._roots:
            return f"{parent!r} -> {child!r} is required, but {child!r} is a root."
        if parent in self._leaves:
            return f"{parent!r} -> {child!r} is required, but {parent!r} is a leaf."
        later = f"{parent!r} is in a later tier than {child!r}"
        return f"{parent!r} -> {child!r} is required, but {later}."

    def _check_required(self, names: Sequence[str]) -> None:
        """Raise `GraphError` if the required arcs have a cycle or too many parents."""
        try:
            dag = DAG(names, self._required)
        except GraphError as error:
            raise GraphError(str(error).replace("The arcs", "The required arcs", 1)) from None
        for name in names if self._max_parents is not None else ():
            n_parents = len(dag.parents(name))
            if n_parents > (self._max_parents or 0):
                raise GraphError(
                    f"{n_parents} parents of {name!r} are required, but 'max_parents' is "
                    f"{self._max_parents}."
                )

    def as_dict(self) -> dict[str, Any]:
        """Return the constraints as plain values, keyed by parameter name.

        >>> Constraints(max_parents=3, roots=["a"]).as_dict()
        {'max_parents': 3, 'roots': ['a']}
        """
        values: dict[str, Any] = {}
        if self._max_parents is not None:
            values["max_parents"] = self._max_parents
        for name in ("required", "forbidden", "tiers"):
            if getattr(self, name):
                values[name] = [list(part) for part in getattr(self, name)]
        for name in ("roots", "leaves"):
            if getattr(self, name):
                values[name] = list(getattr(self, name))
        return values

    def __eq__(self, other: object) -> bool:
        """Return whether both were given the same constraints."""
        if not isinstance(other, Constraints):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__slots__))

    def __repr__(self) -> str:
        parts = [f"{name}={value!r}" for name in PARTS if (value := getattr(self, name))]
        return f"Constraints({', '.join(parts)})"


def read_constraints(given: Constraints | Mapping[str, Any] | None, owner: str) -> Constraints:
    """Return constraints that may be given as a dict with the parameters of `Constraints`.

    >>> read_constraints({"roots": ["age"]}, "run_search")
    Constraints(roots=('age',))
    >>> read_constraints({"root": ["age"]}, "run_search")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'constraints' of run_search has an unknown key 'root'. The keys \
are max_parents, required, forbidden, tiers, roots, leaves. Did you mean 'roots'?
    """
    if given is None:
        return Constraints()
    if isinstance(given, Constraints):
        return given
    if not isinstance(given, Mapping):
        raise bad_parameter("constraints", owner, "Constraints, a dict or None", given)
    for key in given:
        if key not in PARTS:
            raise ParameterError(
                f"'constraints' of {owner} has an unknown key {key!r}. The keys are "
                f"{', '.join(PARTS)}.{suggest_match(str(key), PARTS)}"
            )
    return Constraints(**given)
