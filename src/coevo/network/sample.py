"""Forward sampling: draw rows from a network.

Each variable has its own random stream, which its position among the sorted names
identifies. It uses one number of the stream for each row. The rows of a seed therefore do not
depend on the order of the variables or on the size of the blocks, and the first n rows of a
long sample are the rows of a sample of n.

With evidence, rows are drawn in the same way from the conditional network
(`coevo.network.inference.condition`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.data import Dataset
from coevo.errors import bad_parameter
from coevo.memory import check_memory
from coevo.network.bayesian_network import CPT, BayesianNetwork, Evidence
from coevo.network.inference import condition
from coevo.randomness import RandomState, resolve_seed
from coevo.signatures import check_keywords

__all__ = ["sample"]

ROWS_PER_BLOCK = 1 << 16


@check_keywords()
def sample(
    network: BayesianNetwork,
    rows: int,
    random_state: RandomState = None,
    given: Evidence | None = None,
) -> Dataset:
    """Draw independent rows from a network.

    Parameters
    ----------
    network : BayesianNetwork
        The network to draw from.
    rows : int
        Number of rows.
    random_state : int, numpy Generator or None
        The same int gives the same rows. None (default) gives different rows each time.
    given : mapping, optional
        Evidence as for `BayesianNetwork.query`: the states of some variables in every row. The
        other variables follow their exact conditional distribution; no row is rejected.

    Returns
    -------
    Dataset
        It declares all states of the network, including states that occur in no row.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> sample(load_network("asia"), 1000, random_state=1)
    <Dataset: 1,000 rows, 8 variables>
    >>> rows = sample(load_network("asia"), 1000, random_state=1, given={"xray": "yes"})
    >>> [variable.states for variable in rows.variables if variable.name == "xray"]
    [('no', 'yes')]
    """
    if not isinstance(network, BayesianNetwork):
        raise bad_parameter("network", "sample", "a BayesianNetwork", network)
    if not is_int(rows, 1):
        raise bad_parameter("rows", "sample", "an int >= 1", rows)
    # Twice: the rows as they are drawn, and in the order of the Dataset.
    width = 1 if all(variable.arity <= 256 for variable in network.variables) else 2
    n_bytes = 2 * int(rows) * width * len(network.variables)
    check_memory(n_bytes, f"A sample of {rows:,} rows", "Ask for fewer rows.")
    network = condition(network, given, "sample")
    streams = _make_streams(network, random_state)
    codes: dict[str, NDArray[Any]] = {
        variable.name: np.empty(rows, dtype=np.uint8 if variable.arity <= 256 else np.uint16)
        for variable in network.variables
    }
    limits = {
        variable.name: _compute_limits(network.table(variable.name))
        for variable in network.variables
    }
    for start in range(0, rows, ROWS_PER_BLOCK):
        block = slice(start, min(start + ROWS_PER_BLOCK, rows))
        for name in network.dag.topological_order:
            column = codes[name][block]
            draws = streams[name].random(len(column))
            parent_codes = {parent: codes[parent][block] for parent in network.parents(name)}
            configuration = network.find_configurations(name, parent_codes)
            column[:] = 0
            for limit in limits[name].T:
                column += draws >= limit[configuration]
    return Dataset(network.variables, [codes[v.name] for v in network.variables])


def _make_streams(
    network: BayesianNetwork, random_state: RandomState
) -> dict[str, np.random.Generator]:
    """Return a generator for each variable."""
    root = np.random.SeedSequence(resolve_seed(random_state, "sample"))
    names = sorted(variable.name for variable in network.variables)
    return {
        name: np.random.default_rng(sequence)
        for name, sequence in zip(names, root.spawn(len(names)), strict=True)
    }


def _compute_limits(table: CPT) -> NDArray[np.float64]:
    """Return the upper limits of the intervals of the states in [0, 1), except the last state.

    A draw u selects the first state whose limit is above u. The limits are 1 from the last
    possible state of a row on, so that round-off never selects a state of probability 0.
    """
    limits = np.cumsum(table, axis=1)
    last_possible = table.shape[1] - 1 - (table[:, ::-1] > 0).argmax(axis=1)
    limits[np.arange(table.shape[1]) >= last_possible[:, None]] = 1.0
    return limits[:, :-1]
