"""Convert to and from pgmpy: a DiscreteBayesianNetwork with tables, or a DAG without.

In a table of pgmpy, each column is a configuration of the parents, and the first parent
varies slowest: it is the transpose of coevo's table.
"""

from __future__ import annotations

from typing import Any

from coevo.data.variable import Variable
from coevo.errors import NetworkError, bad_parameter, import_optional
from coevo.graph import DAG
from coevo.interop.names import check_names
from coevo.io.csv_structures import Model, check_model
from coevo.network import BayesianNetwork

__all__ = ["from_pgmpy", "to_pgmpy"]


def to_pgmpy(model: Model) -> Any:
    """Convert a network to a pgmpy DiscreteBayesianNetwork, a structure to a pgmpy DAG.

    Parameters
    ----------
    model : BayesianNetwork or DAG
        The model to convert.

    Raises
    ------
    DependencyError
        If pgmpy is not installed.
    """
    check_model(model, "to_pgmpy")
    import_optional("pgmpy", "pgmpy", "pgmpy")
    if isinstance(model, DAG):
        from pgmpy.base import DAG as PgmpyDAG  # noqa: N811

        converted: Any = PgmpyDAG()
        dag = model
    else:
        from pgmpy.models import DiscreteBayesianNetwork

        converted = DiscreteBayesianNetwork()
        dag = model.dag
    converted.add_nodes_from(list(dag.nodes))
    converted.add_edges_from(list(dag.arcs))
    if isinstance(model, BayesianNetwork):
        converted.add_cpds(*(_to_tabular_cpd(model, variable) for variable in model.variables))
    return converted


def _to_tabular_cpd(network: BayesianNetwork, variable: Variable) -> Any:
    from pgmpy.factors.discrete import TabularCPD

    parents = [network.variable(name) for name in network.parents(variable.name)]
    return TabularCPD(
        variable.name,
        variable.arity,
        network.table(variable.name).T,
        evidence=[parent.name for parent in parents] or None,
        evidence_card=[parent.arity for parent in parents] or None,
        state_names={v.name: list(v.states) for v in (variable, *parents)},
    )


def from_pgmpy(model: Any) -> Model:
    """Convert a pgmpy model to a network, or to a structure if it has no tables.

    States that are not strings, such as 0 and 1, are converted to strings.

    Parameters
    ----------
    model : DiscreteBayesianNetwork or DAG of pgmpy
        The model to convert.

    Raises
    ------
    NetworkError
        If some variables have tables and others have none.
    """
    if not hasattr(model, "nodes"):
        raise bad_parameter(
            "model", "from_pgmpy", "a DiscreteBayesianNetwork or DAG of pgmpy", model
        )
    names = check_names(model.nodes, "pgmpy")
    tables = {cpd.variable: cpd for cpd in getattr(model, "cpds", ())}
    if not tables:
        return DAG(names, list(model.edges()))
    for name in names:
        if name not in tables:
            raise NetworkError(f"The variable {name!r} has no table, but other variables have one.")
    variables = [Variable(n, tuple(map(str, tables[n].state_names[n]))) for n in names]
    return BayesianNetwork(
        variables,
        {name: list(tables[name].variables[1:]) for name in names},
        {name: tables[name].get_values().T for name in names},
        str(getattr(model, "name", "") or ""),
    )
