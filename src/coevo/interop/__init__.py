"""Convert networks and structures to and from the objects of other libraries."""

from coevo.interop.networkx import from_networkx, to_networkx
from coevo.interop.pgmpy import from_pgmpy, to_pgmpy
from coevo.interop.pyagrum import from_pyagrum, to_pyagrum

__all__ = [
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
]
