"""Forward sampling: draw rows from a network, with the streams of `ForwardSampler`.

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
from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.inference import condition
from coevo.network.node_distribution import ForwardSampler
from coevo.network.work_limit import check_exact
from coevo.randomness import RandomState, resolve_seed
from coevo.signatures import check_keywords

__all__ = ["sample"]

ROWS_PER_BLOCK = 1 << 16


@check_keywords()
def sample(
    network: BayesianNetwork,
    rows: int,
    random_state: RandomState = 0,
    given: Evidence | None = None,
    exact: bool = False,
) -> Dataset:
    """Draw independent rows from a network.

    Parameters
    ----------
    network : BayesianNetwork
        The network to draw from.
    rows : int
        Number of rows.
    random_state : int, numpy Generator or None
        The same int gives the same rows (default: 0). None gives different rows each time.
    given : mapping, optional
        Evidence as for `BayesianNetwork.query`: the states of some variables in every row. The
        other variables follow their exact conditional distribution; no row is rejected.
    exact : bool, default: False
        Compute this distribution however long it takes. By default more than about a minute of work
        raises `ParameterError`.

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
    check_exact(exact, "sample")
    if not is_int(rows, 1):
        raise bad_parameter("rows", "sample", "an int >= 1", rows)
    # Twice: the rows as they are drawn, and in the order of the Dataset.
    width = 1 if all(variable.arity <= 256 for variable in network.variables) else 2
    n_bytes = 2 * int(rows) * width * len(network.variables)
    check_memory(n_bytes, f"A sample of {rows:,} rows", "Ask for fewer rows.")
    network = condition(network, given, "sample", exact)
    sampler = ForwardSampler(network, resolve_seed(random_state, "sample"))
    codes: dict[str, NDArray[Any]] = {
        variable.name: np.empty(rows, dtype=np.uint8 if variable.arity <= 256 else np.uint16)
        for variable in network.variables
    }
    for start in range(0, rows, ROWS_PER_BLOCK):
        block = slice(start, min(start + ROWS_PER_BLOCK, rows))
        for name in network.dag.topological_order:
            column = codes[name][block]
            parent_codes = {parent: codes[parent][block] for parent in network.parents(name)}
            column[:] = sampler.draw(name, parent_codes, len(column))
    return Dataset(network.variables, [codes[v.name] for v in network.variables])
