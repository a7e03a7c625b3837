"""Tables for a structure: the posterior mean under a Dirichlet prior."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from coevo.data import Dataset, Variable
from coevo.errors import NetworkError, bad_parameter
from coevo.graph import DAG
from coevo.network.bayesian_network import BayesianNetwork, Table

__all__ = ["fit"]

LARGEST_TABLE = 1 << 25  # cells; fitting takes about 40 bytes for each


def fit(dag: DAG, dataset: Dataset, ess: float = 1.0, name: str = "") -> BayesianNetwork:
    """Estimate the tables of a structure from data.

    Each cell gets ``ess / (cells of the table)`` imagined rows beside those observed, and
    each row of the table is then the share of its cells: the posterior mean under the prior
    of the BDeu score. A parent configuration that never occurs gets equal shares.

    Parameters
    ----------
    dag : DAG
        The structure; its variables must all be columns of `dataset`.
    dataset : Dataset
        The observations.
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
    tables = {node: _table(dag, dataset, source, node, ess) for node in dag.nodes}
    return BayesianNetwork(variables, {n: dag.parents(n) for n in dag.nodes}, tables, name)


def _table(dag: DAG, dataset: Dataset, source: dict[str, Variable], node: str, ess: float) -> Table:
    """Return the table of one variable, axes and states in the order of the source."""
    axes = [*dag.parents(node), node]
    shape = [source[axis].arity for axis in axes]
    if math.prod(shape) > LARGEST_TABLE:
        raise NetworkError(
            f"The table of {node!r} with its {len(axes) - 1} parents would have "
            f"{math.prod(shape):.3g} cells. Learn with fewer parents (max_parents)."
        )
    counts = _counts(dataset, axes, shape)
    for i, axis in enumerate(axes):
        canonical = dataset.variables[dataset.position(axis)].states
        counts = counts.take([canonical.index(state) for state in source[axis].states], axis=i)
    table = counts.reshape(-1, shape[-1]) + ess / math.prod(shape)
    totals = table.sum(axis=1, keepdims=True)
    return np.where(totals > 0, table / np.where(totals > 0, totals, 1), 1 / shape[-1])


def _counts(dataset: Dataset, axes: list[str], shape: list[int]) -> NDArray[np.float64]:
    """Return how often each configuration occurs, states in canonical order."""
    joint = np.zeros(dataset.codes.shape[1], dtype=np.intp)
    for axis, arity in zip(axes, shape, strict=True):
        joint *= arity
        joint += dataset.codes[dataset.position(axis)]
    counts = np.bincount(joint, weights=dataset.weights, minlength=math.prod(shape))
    return counts.astype(np.float64).reshape(shape)
