"""Structures in files: build a DAG from the arcs of a file; check names before writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from coevo.errors import FormatError, GraphError, bad_parameter
from coevo.graph import DAG, Arc
from coevo.io.network_builder import uncapitalise
from coevo.network import BayesianNetwork

__all__ = [
    "Model",
    "StructureBuilder",
    "check_encodable",
    "get_dag",
    "iterate_texts",
    "make_name_error",
    "require_network",
]

Model = BayesianNetwork | DAG  # a network with tables, or a structure only

Place = TypeVar("Place")


class StructureBuilder(Generic[Place]):
    """Collect the variables and arcs of one file, in the order of the file.

    `make_error` returns the exception for a place in the file and a sentence.
    """

    def __init__(self, make_error: Callable[[Place, str], FormatError]) -> None:
        self._make_error = make_error
        self._nodes: dict[str, None] = {}
        self._arcs: dict[Arc, Place] = {}

    def add_node(self, name: str) -> None:
        """Add a variable; do nothing if it was added before."""
        self._nodes.setdefault(name)

    def add_arc(self, parent: str, child: str, place: Place) -> None:
        """Add an arc and its two variables."""
        if (parent, child) in self._arcs:
            raise self._make_error(place, f"the arc {parent!r} -> {child!r} is given twice.")
        self.add_node(parent)
        self.add_node(child)
        self._arcs[parent, child] = place

    def has_arc(self, parent: str, child: str) -> bool:
        """Return whether an arc was added before."""
        return (parent, child) in self._arcs

    def build_dag(self) -> DAG:
        """Return the structure; raise `FormatError` if it has a cycle."""
        try:
            return DAG(tuple(self._nodes), self._arcs)
        except GraphError as error:  # there is a cycle: all other reasons were excluded before
            message = str(error)
            in_cycle = (
                place for (a, b), place in self._arcs.items() if f"{a!r} -> {b!r}" in message
            )
            raise self._make_error(next(in_cycle), uncapitalise(message)) from None


def get_dag(model: Model) -> DAG:
    """Return the structure of a model: the DAG of a network, or the DAG itself."""
    return model.dag if isinstance(model, BayesianNetwork) else model


def require_network(model: Model, source: str) -> BayesianNetwork:
    """Return a model that is a network; raise `FormatError` if it is a structure without tables."""
    if isinstance(model, DAG):
        raise FormatError(
            f"{source!r} holds a structure without tables, but a network is needed. Name "
            "a file with tables, such as BIF, or fit tables to the structure first."
        )
    return model


def check_model(model: object, owner: str) -> None:
    """Raise `ParameterError` unless this is a network or a structure."""
    if not isinstance(model, BayesianNetwork | DAG):
        raise bad_parameter("model", owner, "a BayesianNetwork or a DAG", model)


def iterate_texts(model: Model) -> Iterator[str]:
    """Yield the name of a model and the names and states of its variables."""
    if isinstance(model, DAG):
        yield from model.nodes
        return
    yield model.name
    for variable in model.variables:
        yield from (variable.name, *variable.states)


def make_name_error(name: str, label: str, reason: str) -> FormatError:
    """Return the error for a name or state that a format cannot hold.

    >>> print(make_name_error("a|b", "A model string", "it has a '|'"))
    A model string cannot hold the name or state 'a|b': it has a '|'. Rename it, or write JSON.
    """
    return FormatError(
        f"{label} cannot hold the name or state {name!r}: {reason}. Rename it, or write JSON."
    )


def check_encodable(name: str, label: str) -> None:
    """Raise `FormatError` if UTF-8 cannot encode a name."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError(
            f"{label} cannot hold the name or state {name!r}: it has half of a surrogate pair, "
            "which UTF-8 cannot hold. Rename it, or write BIF."
        ) from None
