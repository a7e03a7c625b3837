"""Names of a package that are imported on first use, and old names that are refused.

``import coevo`` must be fast, and a command must import only what it uses. The ``__init__`` of a
package therefore names its modules in a call of `import_lazily`, and imports them only for the
type checker. A module must not have the name of one of these objects: Python would return the
module instead, once it is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["describe_renamed", "import_lazily", "refuse_old_packages"]


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


def describe_renamed(package: str, renamed: Mapping[str, str], name: str) -> str | None:
    """Return the sentence about a subpackage that has another name today; None for the others.

    >>> describe_renamed("coevo", {"averaging": "posteriors"}, "averaging")
    "'coevo.averaging' is called 'coevo.posteriors' since version 0.3.0."
    """
    if name not in renamed:
        return None
    return f"'{package}.{name}' is called '{package}.{renamed[name]}' since version 0.3.0."


class OldPackages:
    """Refuse imports of old subpackages. It is the last finder: no other import reaches it."""

    def __init__(self, package: str, renamed: Mapping[str, str]) -> None:
        self.package, self.renamed = package, dict(renamed)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> None:
        """Raise `ModuleNotFoundError` with the new name; find nothing."""
        parent, _, name = fullname.partition(".")
        sentence = describe_renamed(self.package, self.renamed, name)
        if parent == self.package and sentence is not None:
            raise ModuleNotFoundError(sentence, name=fullname)


def refuse_old_packages(package: str, renamed: Mapping[str, str]) -> None:
    """Let an import of an old subpackage, or from it, raise one sentence with the new name."""
    sys.meta_path.append(OldPackages(package, renamed))
