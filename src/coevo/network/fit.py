"""Fit the tables of a structure to data: the posterior mean under a Dirichlet prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.data import Table, as_dataset
from coevo.errors import bad_parameter
from coevo.graph import DAG
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.node_distribution import TableDistribution, check_ess
from coevo.signatures import check_keywords

__all__ = ["FittedNetwork", "fit_and_count", "fit_network", "fit_networks"]


class FittedNetwork(NamedTuple):
    """A network, and the number of rows behind each row of its tables."""

    network: BayesianNetwork
    parent_counts: dict[str, NDArray[np.int64]]  # by child, in the order of the rows of its table


@check_keywords()
def fit_network(dag: DAG, table: Any, ess: float = 1.0, name: str = "") -> BayesianNetwork:
    """Estimate the tables of a structure from data.

    The count of each cell is increased by ``ess / (cells of the table)`` pseudo-counts, then
    each row of the table is normalised. This is the posterior mean under the prior of the
    BDeu score. A parent configuration that never occurs gets a uniform row.

    Parameters
    ----------
    dag : DAG
        The structure. Each of its variables must be a column of `table`.
    table : path, data frame, array, Dataset or Shards
        The data: a table of any kind that `read_data` accepts, numbers cut into bins as `learn`
        does, or rows in shards (`open_shards`). ``read_data(table, states=network.variables)``
        reads a table with the states and bins of another network.
    ess : float
        Equivalent sample size of the prior, at least 0 (default: 1). With 0 the tables are
        the observed frequencies (maximum likelihood), and a state that never occurs has
        probability 0.
    name : str
        The name of the network (default: empty).

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> data = read_data(np.array([[0, 0], [0, 0], [0, 1], [1, 1]]), names=["a", "b"])
    >>> network = fit_network(DAG(["a", "b"], [("a", "b")]), data, ess=4)
    >>> network.table("a").tolist()
    [[0.625, 0.375]]
    >>> network.table("b").round(3).tolist()
    [[0.6, 0.4], [0.333, 0.667]]
    """
    return fit_and_count(dag, table, ess, name).network


def fit_and_count(dag: DAG, table: Any, ess: float = 1.0, name: str = "") -> FittedNetwork:
    """Return the network of `fit_network`, and the number of rows with each parent configuration.

    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> data = read_data(np.array([[0, 0], [0, 0], [0, 1], [1, 1]]), names=["a", "b"])
    >>> fitted = fit_and_count(DAG(["a", "b"], [("a", "b")]), data)
    >>> {child: counts.tolist() for child, counts in fitted.parent_counts.items()}
    {'a': [4], 'b': [3, 1]}
    """
    return _fit_all([dag], table, ess, name)[0]


def fit_networks(dags: Sequence[DAG], table: Any, ess: float = 1.0) -> list[BayesianNetwork]:
    """Return the networks of several structures of the same variables.

    The same as `fit_network` for each, but a family that several structures have is counted once.
    """
    return [fitted.network for fitted in _fit_all(dags, table, ess, "")]


def _fit_all(dags: Sequence[DAG], table: Any, ess: float, name: str) -> list[FittedNetwork]:
    """Return the networks of structures with the same variables."""
    check_ess(ess)
    for dag in dags:
        if not isinstance(dag, DAG):
            raise bad_parameter("dag", "fit_network", "a DAG", dag)
    nodes = dags[0].nodes
    dataset = table if isinstance(table, Table) else as_dataset(table, nodes)
    source = {variable.name: variable for variable in dataset.source_variables}
    variables = [source[dataset.names[dataset.find_position(node)]] for node in nodes]
    families = list(dict.fromkeys((*dag.parents(node), node) for dag in dags for node in nodes))
    declared = [[source[axis] for axis in family] for family in families]
    # One kind today; families of another kind would be fitted by its own `fit_families`.
    distributions, parent_counts = {}, {}
    found = TableDistribution.fit_families(dataset, declared, ess)
    for key, (distribution, counts) in zip(families, found, strict=True):
        distributions[key], parent_counts[key] = distribution, counts
    fitted = []
    for dag in dags:
        keys = {node: (*dag.parents(node), node) for node in nodes}
        parents = {node: dag.parents(node) for node in nodes}
        chosen = {node: distributions[key] for node, key in keys.items()}
        network = BayesianNetwork(variables, parents, chosen, name)
        fitted.append(
            FittedNetwork(network, {node: parent_counts[key] for node, key in keys.items()})
        )
    return fitted
