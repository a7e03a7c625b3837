"""What a question about a network has to read (``engine/relevance.c``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.engine import INT, Structure, array, kernel, read_array
from coevo.network.factor_kernels import EvidenceCodes, NetworkTables

__all__ = ["N_SCOPE_COUNTS", "RELEVANCE_ROWS", "Scopes", "find_scopes"]

RELEVANCE_ROWS = 5
N_SCOPE_COUNTS = 2  # families, variables


class Scopes(Structure):
    """The tables that are read, and their unobserved variables, which are numbered from 0 on."""

    families: Any = array(np.int64)
    variables: Any = array(np.int64)
    start: Any = array(np.int64)
    members: Any = array(np.int64)
    counts: Any = array(np.int64)


@kernel(
    NetworkTables,
    EvidenceCodes,
    read_array(np.int64),
    read_array(np.int64),
    INT,
    Scopes,
    array(np.int64, 2),
)
def find_scopes(
    network: NetworkTables,
    evidence: EvidenceCodes,
    topological: NDArray[np.int64],
    asked: NDArray[np.int64],
    is_total: bool,
    scopes: Scopes,
    scratch: NDArray[np.int64],
) -> None:
    """Overwrite the scopes with what a question about some variables reads.

    With `is_total` all evidence is read, because its probability is asked for.
    """
    raise NotImplementedError
