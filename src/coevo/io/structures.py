"""Structures from files: arcs are taken down with their places, then made a DAG of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from coevo.errors import FormatError, GraphError
from coevo.graph import DAG, Arc
from coevo.io.declarations import uncapitalised
from coevo.network import BayesianNetwork

__all__ = ["Model", "StructureReader", "check_encodable", "dag_of", "texts_of", "unfit"]

Model = BayesianNetwork | DAG  # what a file may hold

Place = TypeVar("Place")


class StructureReader(Generic[Place]):
    """The variables and arcs of one file, in the order in which it names them.

    `error` makes an exception of a place and a sentence.
    """

    def __init__(self, error: Callable[[Place, str], FormatError]) -> None:
        self._error = error
        self._nodes: dict[str, None] = {}
        self._arcs: dict[Arc, Place] = {}

    def add_node(self, name: str) -> None:
        """Take down a variable; it may be there already."""
        self._nodes.setdefault(name)

    def add_arc(self, parent: str, child: str, place: Place) -> None:
        """Take down an arc, and the variables of it."""
        if (parent, child) in self._arcs:
            raise self._error(place, f"the arc {parent!r} -> {child!r} is given twice.")
        self.add_node(parent)
        self.add_node(child)
        self._arcs[parent, child] = place

    def has_arc(self, parent: str, child: str) -> bool:
        """Return whether an arc was taken down before."""
        return (parent, child) in self._arcs

    def dag(self) -> DAG:
        """Return the structure."""
        try:
            return DAG(tuple(self._nodes), self._arcs)
        except GraphError as error:  # there is a cycle: all else was checked before
            message = str(error)
            on_it = (place for (a, b), place in self._arcs.items() if f"{a!r} -> {b!r}" in message)
            raise self._error(next(on_it), uncapitalised(message)) from None


def dag_of(model: Model) -> DAG:
    """Return the structure of a network, or the structure that it is."""
    return model.dag if isinstance(model, BayesianNetwork) else model


def texts_of(model: Model) -> Iterator[str]:
    """Yield the names and states of a model, and what it is called."""
    if isinstance(model, DAG):
        yield from model.nodes
        return
    yield model.name
    for variable in model.variables:
        yield from (variable.name, *variable.states)


def unfit(name: str, label: str, why: str) -> FormatError:
    """Build the sentence for a name or state that a format cannot hold.

    >>> print(unfit("a|b", "A model string", "it has a '|'"))
    A model string cannot hold the name or state 'a|b': it has a '|'. Rename it, or write JSON.
    """
    return FormatError(
        f"{label} cannot hold the name or state {name!r}: {why}. Rename it, or write JSON."
    )


def check_encodable(name: str, label: str) -> None:
    """Raise `FormatError` for a name that no text in UTF-8 can hold."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError(
            f"{label} cannot hold the name or state {name!r}: it has half of a surrogate pair, "
            "which UTF-8 cannot hold. Rename it, or write BIF."
        ) from None
