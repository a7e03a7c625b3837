"""Names of packages that are imported on first use."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import coevo

ROOT = Path(coevo.__file__).parent
LAZY = sorted(
    path.parent
    for path in ROOT.rglob("__init__.py")
    if "from coevo.lazy_names import import_lazily" in path.read_text(encoding="utf-8")
)


def name_package(folder):
    return ".".join(("coevo", *folder.relative_to(ROOT).parts))


def read_imports(folder):
    """Return {name: module} as the type checker sees them."""
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith(f"{name_package(folder)}.")
        for alias in node.names
    }


@pytest.mark.parametrize("folder", LAZY, ids=name_package)
def test_names_at_run_time_are_those_of_the_type_checker(folder):
    package = importlib.import_module(name_package(folder))
    imports = read_imports(folder)
    assert sorted(imports) == sorted(package.__all__) == dir(package)
    for name, module in imports.items():
        found = importlib.import_module(module)
        assert getattr(package, name) is getattr(found, name)


@pytest.mark.parametrize("folder", LAZY, ids=name_package)
def test_no_module_has_the_name_of_an_object(folder):
    modules = {path.stem for path in folder.iterdir()}
    assert not modules & set(read_imports(folder))


def list_imported(statement):
    """Return the modules that a statement imports, in a process of its own."""
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


# What each of them must not import: it takes longer than the work itself.
UNUSED = {
    "import coevo.search": {"coevo.search.base", "numpy"},
    "import coevo; coevo.learn": {
        *("coevo.posteriors.result", "coevo.exact.run", "coevo.studio", "coevo.experiments"),
        *("coevo.view.page", "coevo.missing.policies", "coevo.search.pc", "narwhals"),
        *("multiprocessing", "concurrent.futures.process", "importlib.metadata"),
    },
    "import coevo.network; coevo.network.BayesianNetwork": {
        *("coevo.search.base", "coevo.score.base", "coevo.data.reader", "narwhals"),
    },
}


@pytest.mark.parametrize("statement", UNUSED)
def test_nothing_is_imported_that_is_not_used(statement):
    assert not UNUSED[statement] & list_imported(statement)


@pytest.mark.parametrize(("old", "new"), coevo._RENAMED.items())
def test_an_old_package_is_refused_with_its_new_name(old, new):
    sentence = f"'coevo.{old}' is called 'coevo.{new}' since version 0.3.0."
    with pytest.raises(AttributeError) as caught:
        getattr(coevo, old)
    assert str(caught.value) == sentence
    for module in (f"coevo.{old}", f"coevo.{old}.result"):
        with pytest.raises(ModuleNotFoundError) as refused:
            importlib.import_module(module)
        assert str(refused.value) == sentence
    assert importlib.util.find_spec(f"coevo.{new}")
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'coevo\.nothing'"):
        importlib.import_module("coevo.nothing")
