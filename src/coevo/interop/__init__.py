"""Convert networks and structures to and from the objects of other libraries."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.interop.networkx import from_networkx, to_networkx
    from coevo.interop.pgmpy import from_pgmpy, to_pgmpy
    from coevo.interop.pyagrum import from_pyagrum, to_pyagrum
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        networkx="from_networkx to_networkx",
        pgmpy="from_pgmpy to_pgmpy",
        pyagrum="from_pyagrum to_pyagrum",
    )

__all__ = [
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
]
