"""Names of a package that are imported on first use.

``import coevo`` must be fast, and a command must import only what it uses. The ``__init__`` of a
package therefore names its modules in a call of `import_lazily`, and imports them only for the
type checker. A module must not have the name of one of these objects: Python would return the
module instead, once it is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["import_lazily"]


def import_lazily(package: str, **modules: str) -> tuple[Callable[[str], Any], Callable[[], Any]]:
    """Return ``__getattr__`` and ``__dir__`` of a package, given the names in each module.

    >>> __getattr__, __dir__ = import_lazily("coevo.graph", dag="DAG Arc", intervention="intervene")
    >>> __dir__()
    ['Arc', 'DAG', 'intervene']
    >>> __getattr__("DAG")
    <class 'coevo.graph.dag.DAG'>
    >>> __getattr__("Dag")
    Traceback (most recent call last):
    AttributeError: module 'coevo.graph' has no attribute 'Dag'
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next use does not come here
        return value

    return find, lambda: sorted(homes)
