"""Convert networks to and from a pyAgrum BayesNet, with tables in double precision.

In a table of pyAgrum, the child varies fastest, then the parent whose arc was added first.
The axes of its array are in the reverse order.
"""

from __future__ import annotations

import warnings
from typing import Any

from coevo.data.variable import Variable
from coevo.errors import bad_parameter, import_optional
from coevo.network import BayesianNetwork

__all__ = ["from_pyagrum", "to_pyagrum"]


def to_pyagrum(network: BayesianNetwork) -> Any:
    """Convert a network to a pyAgrum BayesNet.

    Parameters
    ----------
    network : BayesianNetwork
        The network to convert. A structure cannot be converted, because pyAgrum has no
        variables without states.

    Raises
    ------
    DependencyError
        If pyAgrum is not installed.
    ParameterError
        If `network` is not a BayesianNetwork.

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
        warnings.simplefilter("ignore")  # its SWIG layer warns during the import
        library: Any = import_optional("pyagrum", "pyAgrum", "pyagrum")
    converted = library.BayesNet(network.name)
    for variable in network.variables:
        labels = library.LabelizedVariable(variable.name, "", 0)
        for state in variable.states:
            labels.addLabel(state)
        converted.add(labels)
    for variable in network.variables:
        for parent in reversed(network.parents(variable.name)):
            converted.addArc(parent, variable.name)
        converted.cpt(variable.name).fillWith(network.table(variable.name).ravel().tolist())
    return converted


def from_pyagrum(model: Any) -> BayesianNetwork:
    """Convert a pyAgrum BayesNet to a network.

    Parameters
    ----------
    model : pyagrum.BayesNet
        The model to convert. The labels of its variables become states.
    """
    if not hasattr(model, "nodes"):
        raise bad_parameter("model", "from_pyagrum", "a BayesNet of pyAgrum", model)
    nodes = sorted(model.nodes())
    variables = [
        Variable(model.variable(node).name(), tuple(model.variable(node).labels()))
        for node in nodes
    ]
    parents, tables = {}, {}
    for variable in variables:
        cpt = model.cpt(variable.name)
        names = list(cpt.names)  # the child, then the parents; the last parent varies slowest
        parents[variable.name] = names[:0:-1]
        tables[variable.name] = cpt.toarray()
    return BayesianNetwork(variables, parents, tables, _get_name(model))


def _get_name(model: Any) -> str:
    return str(model.property("name")) if "name" in model.properties() else ""
