"""A BIF file, taken apart: what `coevo.io.bif_reader` finds and `bif_writer` writes.

This stands between text and `BayesianNetwork` because a network normalises its tables. A
document keeps the numbers as they were published, so that the bundled files can be
rewritten without changing a digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.data.variable import Variable
from coevo.network import CPT, BayesianNetwork

__all__ = ["Document"]


@dataclass(frozen=True, slots=True)
class Document:
    """The name, variables, parents and tables of a BIF file, in the order of the file."""

    name: str  # empty when the file gives none
    variables: tuple[Variable, ...]
    parents: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, CPT]  # the first parent varies slowest; rows not yet normalised

    @classmethod
    def of(cls, network: BayesianNetwork) -> Document:
        """Return the document that describes `network`."""
        names = [variable.name for variable in network.variables]
        return cls(
            network.name,
            network.variables,
            {node: network.parents(node) for node in names},
            {node: network.table(node) for node in names},
        )

    def network(self) -> BayesianNetwork:
        """Return the network that the document describes."""
        return BayesianNetwork(self.variables, self.parents, self.tables, self.name)
