"""The API reference, from the names that the code exports.

`coevo.__all__` is the public interface. Each of its names gets a page in ``reference/generated``,
and ``reference/api.md`` lists them by the package that defines them. The packages that ``coevo``
names are public, too: the page of a package has its description and its other exported names.
Nothing has to be edited here when a name is added or renamed; a new package appears under its own
name until `SUBJECTS` has a better title.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from types import ModuleType

from sphinx.application import Sphinx

import coevo

PLACEHOLDER = "% The list of names is generated here."

# package or module of coevo: the title of its group, in the order of the page
SUBJECTS = {
    "learning": "Learn a network",
    "estimators": "Use coevo as scikit-learn estimators",
    "data": "Read and write tables",
    "missing": "Learn from missing values",
    "search": "Search for structures",
    "score": "Score structures",
    "graph": "Graphs and constraints",
    "network": "Networks: parameters, inference and sampling",
    "posteriors": "Arc strength by the bootstrap, posterior probabilities",
    "bundled": "Published networks",
    "io": "Read and write networks",
    "interop": "Convert to other libraries",
    "view": "Draw, report, explore and inspect",
    "view.picture": "Draw graphs",
    "view.page": "Write report pages",
    "experiments": "Repeat the paper, compare with other libraries",
    "parallel": "Processes, clusters, tables larger than memory",
    "errors": "Errors and warnings",
}


def group_names() -> dict[str, list[str]]:
    """Return the names of `coevo.__all__` by package, in the order of the page."""
    groups: dict[str, list[str]] = {
        package: [] for package in (*coevo._PACKAGES, "view.picture", "view.page")
    }
    for name in sorted(coevo.__all__, key=str.lower):
        package = getattr(coevo, name).__module__.split(".")[1]
        groups.setdefault(package, []).append(name)
    order = list(SUBJECTS)
    last = len(order)
    return dict(
        sorted(
            groups.items(),
            key=lambda item: (order.index(item[0]) if item[0] in SUBJECTS else last, item[0]),
        )
    )


def format_lists(groups: dict[str, list[str]]) -> str:
    """Return the groups as Markdown: a title, a link to the package and a table of names."""
    parts = []
    for package, names in groups.items():
        title = SUBJECTS.get(package, package)
        listed = "\n".join(f"   {name}" for name in names)
        table = (
            "```{eval-rst}\n.. currentmodule:: coevo\n.. autosummary::\n"
            f"   :nosignatures:\n   :toctree: generated\n\n{listed}\n```\n"
        )
        label = "More names" if names else "Names"
        more = f"\n{label}: {{doc}}`generated/coevo.{package}`.\n" if is_package(package) else ""
        parts.append(f"## {title}\n\n{table if names else ''}{more}")
    packages = "\n".join(f"generated/coevo.{package}" for package in groups if is_package(package))
    return "\n".join(parts) + f"\n```{{toctree}}\n:hidden:\n\n{packages}\n```\n"


def is_package(name: str) -> bool:
    """Return whether a part of coevo is a folder, which has a page of its own."""
    return hasattr(import_module(f"coevo.{name}"), "__path__")


def format_name_page(name: str) -> str:
    """Return the page of one public name."""
    return heading(f"coevo.{name}") + directive("coevo", name, getattr(coevo, name))


def format_package_page(package: str) -> str:
    """Return the page of a package: its description, then what only the package exports."""
    path = f"coevo.{package}"
    module = import_module(path)
    parts = [heading(path), f".. automodule:: {path}\n   :no-members:\n\n"]
    parts += [directive(path, name, value) for name, value in own_names(module)]
    return "".join(parts)


def own_names(module: ModuleType) -> list[tuple[str, object]]:
    """Return the documented classes and functions that a package exports and coevo does not."""
    found: list[tuple[str, object]] = []
    for name in sorted(getattr(module, "__all__", ()), key=str.lower):
        value = getattr(module, name)
        is_public = name in coevo.__all__ and getattr(coevo, name) is value
        if not is_public and (inspect.isclass(value) or inspect.isfunction(value)):
            found.append((name, value))
    return found


def heading(title: str) -> str:
    """Return a title in reStructuredText."""
    return f"{title}\n{'=' * len(title)}\n\n"


def directive(module: str, name: str, value: object) -> str:
    """Return the directive that documents a class or a function."""
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    return f".. currentmodule:: {module}\n\n.. {kind}:: {name}\n\n"


def write_pages(folder: Path) -> None:
    """Write all pages; leave equal ones alone, and remove those of names that are gone."""
    groups = group_names()
    pages = {f"coevo.{name}.rst": format_name_page(name) for name in coevo.__all__}
    pages |= {
        f"coevo.{package}.rst": format_package_page(package)
        for package in groups
        if is_package(package)
    }
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for file_name, text in pages.items():
        path = folder / file_name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def skip_tuple_fields(
    app: Sphinx, kind: str, name: str, value: object, skip: bool, options: object
) -> bool | None:
    """Skip the fields of a named tuple that Python documents as an alias."""
    return True if str(inspect.getdoc(value)).startswith("Alias for field number") else None


def insert_lists(app: Sphinx, document: str, source: list[str]) -> None:
    """Put the list of names into ``reference/api.md``."""
    if document == "reference/api":
        source[0] = source[0].replace(PLACEHOLDER, format_lists(group_names()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before Sphinx looks for documents."""
    write_pages(Path(app.srcdir) / "reference" / "generated")
    app.connect("source-read", insert_lists)
    app.connect("autodoc-skip-member", skip_tuple_fields)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
