"""Tables for a structure: the posterior mean under a Dirichlet prior."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from coevo.data import Table, Variable
from coevo.errors import NetworkError, bad_parameter
from coevo.graph import DAG
from coevo.network.bayesian_network import CPT, BayesianNetwork
from coevo.score import joint_counts

__all__ = ["fit"]

LARGEST_TABLE = 1 << 25  # cells; fitting takes about 40 bytes for each


def fit(dag: DAG, dataset: Table, ess: float = 1.0, name: str = "") -> BayesianNetwork:
    """Estimate the tables of a structure from data.

    Each cell gets ``ess / (cells of the table)`` imagined rows beside those observed, and
    each row of the table is then the share of its cells: the posterior mean under the prior
    of the BDeu score. A parent configuration that never occurs gets equal shares.

    Parameters
    ----------
    dag : DAG
        The structure; its variables must all be columns of `dataset`.
    dataset : Dataset or Shards
        The observations, in memory or in shards (`open_shards`); the tables are the same.
    ess : float
        Equivalent sample size of the prior, at least 0. With 0 the tables are the observed
        shares, and a state that was never seen becomes impossible.
    name : str
        What to call the network.

    Examples
    --------
    >>> import numpy as np
    >>> from coevo.data import read_data
    >>> data = read_data(np.array([[0, 0], [0, 0], [0, 1], [1, 1]]), names=["a", "b"])
    >>> network = fit(DAG(["a", "b"], [("a", "b")]), data, ess=4)
    >>> network.table("a").tolist()
    [[0.625, 0.375]]
    >>> network.table("b").round(3).tolist()
    [[0.6, 0.4], [0.333, 0.667]]
    """
    valid = isinstance(ess, Real) and not isinstance(ess, bool)
    if not (valid and math.isfinite(ess) and ess >= 0):
        raise bad_parameter("ess", "fit", "a number >= 0", ess)
    source = {variable.name: variable for variable in dataset.source_variables}
    variables = [source[dataset.names[dataset.position(node)]] for node in dag.nodes]
    families = [[source[axis] for axis in (*dag.parents(node), node)] for node in dag.nodes]
    for family in families:
        _check_size(family)
    groups = [[dataset.position(variable.name) for variable in family] for family in families]
    counts = zip(families, joint_counts(dataset, groups), strict=True)
    tables = {family[-1].name: _table(family, own, ess) for family, own in counts}
    return BayesianNetwork(variables, {n: dag.parents(n) for n in dag.nodes}, tables, name)


def _check_size(family: list[Variable]) -> None:
    """Raise `NetworkError` if the table of the last variable, given the others, is too large."""
    n_cells = math.prod(variable.arity for variable in family)
    if n_cells > LARGEST_TABLE:
        raise NetworkError(
            f"The table of {family[-1].name!r} with its {len(family) - 1} parents would have "
            f"{n_cells:.3g} cells. Learn with fewer parents (max_parents)."
        )


def _table(family: list[Variable], counts: NDArray[np.int64], ess: float) -> CPT:
    """Return the table of one variable, axes and states in the order of the source."""
    n_cells, arity = counts.size, family[-1].arity
    for i, variable in enumerate(family):
        canonical = variable.canonical().states
        counts = counts.take([canonical.index(state) for state in variable.states], axis=i)
    table = counts.reshape(-1, arity).astype(np.float64) + ess / n_cells
    totals = table.sum(axis=1, keepdims=True)
    return np.where(totals > 0, table / np.where(totals > 0, totals, 1), 1 / arity)
