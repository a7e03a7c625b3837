"""To and from pyAgrum: its BayesNet, tables in double precision.

In pyAgrum's tables the child varies fastest, then the parent whose arc was added first; as
arrays they run backwards.
"""

from __future__ import annotations

import warnings
from typing import Any

from coevo.data.variable import Variable
from coevo.errors import bad_parameter, require
from coevo.network import BayesianNetwork

__all__ = ["from_pyagrum", "to_pyagrum"]


def to_pyagrum(network: BayesianNetwork) -> Any:
    """Return a network as pyAgrum's BayesNet.

    Parameters
    ----------
    network : BayesianNetwork
        What to hand over. Not a structure: pyAgrum has no variables without states.

    Raises
    ------
    DependencyError
        When pyAgrum is not installed.
    ParameterError
        When this is not a network.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> from coevo.interop import from_pyagrum
    >>> asia = load_network("asia")
    >>> from_pyagrum(to_pyagrum(asia)) == asia
    True
    """
    if not isinstance(network, BayesianNetwork):
        raise bad_parameter("network", "to_pyagrum", "a BayesianNetwork", network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its SWIG layer warns while it is being imported
        peer: Any = require("pyagrum", "pyAgrum", "pyagrum")
    theirs = peer.BayesNet(network.name)
    for variable in network.variables:
        labels = peer.LabelizedVariable(variable.name, "", 0)
        for state in variable.states:
            labels.addLabel(state)
        theirs.add(labels)
    for variable in network.variables:
        for parent in reversed(network.parents(variable.name)):
            theirs.addArc(parent, variable.name)
        theirs.cpt(variable.name).fillWith(network.table(variable.name).ravel().tolist())
    return theirs


def from_pyagrum(model: Any) -> BayesianNetwork:
    """Return a BayesNet of pyAgrum as a network.

    Parameters
    ----------
    model : pyagrum.BayesNet
        What to take over; states are the labels of its variables.
    """
    nodes = sorted(model.nodes())
    variables = [
        Variable(model.variable(node).name(), tuple(model.variable(node).labels()))
        for node in nodes
    ]
    parents, tables = {}, {}
    for variable in variables:
        cpt = model.cpt(variable.name)
        backwards = list(cpt.names)  # the child, then the parents; the last varies slowest
        parents[variable.name] = backwards[:0:-1]
        tables[variable.name] = cpt.toarray()
    return BayesianNetwork(variables, parents, tables, _name(model))


def _name(model: Any) -> str:
    return str(model.property("name")) if "name" in model.properties() else ""
