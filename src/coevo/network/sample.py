"""Forward sampling: rows from a network, by seed.

Each variable has a random stream of its own, found by its place among the sorted names,
and uses one number of it for each row. The rows of a seed are therefore the same in any
order of the variables and for any size of the blocks in which they are made, and the
first n rows of a long sample are the rows of a sample of n.

With evidence, rows come in the same way from the network of what is left open by it.
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
from coevo.network.evidence import checked_evidence
from coevo.network.inference import condition
from coevo.randomness import RandomState, seed_of

__all__ = ["sample"]

ROWS_A_BLOCK = 1 << 16


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
        What to draw from.
    rows : int
        How many rows.
    random_state : int, numpy Generator or None
        The same int gives the same rows; None gives others each time.
    given : mapping of str to str, optional
        States that some variables have in every row. The others follow their exact
        distribution given these; no row is thrown away.

    Returns
    -------
    Dataset
        All states of the network are declared, those that no row shows too.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> sample(load_network("asia"), 1000, random_state=1)
    <Dataset: 1,000 rows, 8 variables>
    >>> rows = sample(load_network("asia"), 1000, random_state=1, given={"xray": "yes"})
    >>> [variable.states for variable in rows.variables if variable.name == "xray"]
    [('no', 'yes')]
    """
    if not is_int(rows, 1):
        raise bad_parameter("rows", "sample", "an int >= 1", rows)
    # Twice: the rows as they are drawn, and in the order of the data set.
    width = 1 if all(variable.arity <= 256 for variable in network.variables) else 2
    n_bytes = 2 * int(rows) * width * len(network.variables)
    check_memory(n_bytes, f"A sample of {rows:,} rows", "Ask for fewer rows.")
    evidence = checked_evidence(network, given, "sample")
    if evidence:
        network = condition(network, evidence)
    streams = _streams(network, random_state)
    codes: dict[str, NDArray[Any]] = {
        variable.name: np.empty(rows, dtype=np.uint8 if variable.arity <= 256 else np.uint16)
        for variable in network.variables
    }
    limits = {
        variable.name: _limits(network.table(variable.name)) for variable in network.variables
    }
    for start in range(0, rows, ROWS_A_BLOCK):
        block = slice(start, min(start + ROWS_A_BLOCK, rows))
        for name in network.dag.topological_order:
            column = codes[name][block]
            draws = streams[name].random(len(column))
            before = {parent: codes[parent][block] for parent in network.parents(name)}
            configuration = network.configurations(name, before)
            column[:] = 0
            for limit in limits[name].T:
                column += draws >= limit[configuration]
    return Dataset(network.variables, [codes[v.name] for v in network.variables])


def _streams(network: BayesianNetwork, random_state: RandomState) -> dict[str, np.random.Generator]:
    """Return a generator for each variable."""
    root = np.random.SeedSequence(seed_of(random_state, "sample"))
    names = sorted(variable.name for variable in network.variables)
    return {
        name: np.random.default_rng(stream)
        for name, stream in zip(names, root.spawn(len(names)), strict=True)
    }


def _limits(table: CPT) -> NDArray[np.float64]:
    """Return the upper ends of the states' parts of [0, 1), but for the last state.

    A draw u is in the first state whose end is above u. From the last possible state of
    a row on, ends are 1, so that round-off never draws a state of probability 0.
    """
    ends = np.cumsum(table, axis=1)
    last_possible = table.shape[1] - 1 - (table[:, ::-1] > 0).argmax(axis=1)
    ends[np.arange(table.shape[1]) >= last_possible[:, None]] = 1.0
    return ends[:, :-1]
