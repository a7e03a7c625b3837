"""To and from pgmpy: its DiscreteBayesianNetwork with tables, or its DAG without.

In pgmpy's tables a column is a configuration of the parents, the first of them varying
slowest: our rows, turned.
"""

from __future__ import annotations

from typing import Any

from coevo.data.variable import Variable
from coevo.errors import NetworkError, require
from coevo.graph import DAG
from coevo.interop.names import checked_names
from coevo.io.structures import Model
from coevo.network import BayesianNetwork

__all__ = ["from_pgmpy", "to_pgmpy"]


def to_pgmpy(model: Model) -> Any:
    """Return a network as pgmpy's DiscreteBayesianNetwork, a structure as its DAG.

    Parameters
    ----------
    model : BayesianNetwork or DAG
        What to hand over.

    Raises
    ------
    DependencyError
        When pgmpy is not installed.
    """
    require("pgmpy", "pgmpy", "pgmpy")
    if isinstance(model, DAG):
        from pgmpy.base import DAG as TheirDAG  # noqa: N811

        theirs: Any = TheirDAG()
        dag = model
    else:
        from pgmpy.models import DiscreteBayesianNetwork

        theirs = DiscreteBayesianNetwork()
        dag = model.dag
    theirs.add_nodes_from(list(dag.nodes))
    theirs.add_edges_from(list(dag.arcs))
    if isinstance(model, BayesianNetwork):
        theirs.add_cpds(*(_their_table(model, variable) for variable in model.variables))
    return theirs


def _their_table(network: BayesianNetwork, variable: Variable) -> Any:
    from pgmpy.factors.discrete import TabularCPD

    parents = [network.variable(name) for name in network.parents(variable.name)]
    return TabularCPD(
        variable.name,
        variable.arity,
        network.table(variable.name).T,
        evidence=[parent.name for parent in parents] or None,
        evidence_card=[parent.arity for parent in parents] or None,
        state_names={each.name: list(each.states) for each in (variable, *parents)},
    )


def from_pgmpy(model: Any) -> Model:
    """Return a model of pgmpy as a network, or as a structure where it has no tables.

    States that are not texts, such as 0 and 1, become texts.

    Parameters
    ----------
    model : DiscreteBayesianNetwork or DAG of pgmpy
        What to take over.

    Raises
    ------
    NetworkError
        When some variables have tables and others have none.
    """
    names = checked_names(model.nodes, "pgmpy")
    tables = {cpd.variable: cpd for cpd in getattr(model, "cpds", ())}
    if not tables:
        return DAG(names, list(model.edges()))
    for name in names:
        if name not in tables:
            raise NetworkError(f"The variable {name!r} has no table, but others have.")
    variables = [Variable(n, tuple(map(str, tables[n].state_names[n]))) for n in names]
    return BayesianNetwork(
        variables,
        {name: list(tables[name].variables[1:]) for name in names},
        {name: tables[name].get_values().T for name in names},
        str(getattr(model, "name", "") or ""),
    )
