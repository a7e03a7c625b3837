"""The package: its exports, its imports, and the order of its subpackages."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import coevo
from coevo import errors

ROOT = Path(coevo.__file__).parent
MODULES = sorted(
    ".".join(("coevo", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
)

# From low to high, as CONTRIBUTING.md lists them: the names of a line are one layer. A module
# imports from its own room and from rooms of lower layers only.
ROOMS = (ROOT.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## The rooms")[1]
LAYERS = [
    [name.strip(" /").replace("/", ".") for name in names.split(",")]
    for names in re.findall(r"^ {4}([a-z][a-z_/, ]*?) {2,}", ROOMS, re.M)
    if not names.startswith(("tests", "benchmarks", "docs", "examples"))
]
LAYER = {name: layer for layer, names in enumerate(LAYERS) for name in names}


def path_of(module):
    path = ROOT.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imported(module):
    """Yield (line, full name) of every import from coevo in a module, at any depth."""
    for node in ast.walk(ast.parse(path_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}, line {node.lineno}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "coevo")


def subpackage_of(name):
    """Return the room of a full name, or None for an export of coevo itself."""
    parts = name.split(".")[1:]
    places = (".".join(parts[:n]) for n in range(len(parts), 0, -1))  # a part before its room
    return next((place for place in places if place in LAYER), None)


@pytest.mark.parametrize("module", MODULES)
def test_imports_follow_the_layers(module):
    if module in ("coevo", "coevo.__main__"):
        return  # above all layers
    own = subpackage_of(module)
    assert own is not None, f"{module} is in no room: add it to the list in CONTRIBUTING.md"
    for line, name in imported(module):
        other = subpackage_of(name)
        if own == "options" and other not in ("errors", "checks"):
            continue  # for type checkers only, as the next test shows
        if other is None:
            assert name == "coevo.__version__", f"{module}, line {line} imports {name}"
            continue
        is_own = other.split(".")[0] == own.split(".")[0] and LAYER[other] <= LAYER[own]
        assert is_own or LAYER[other] < LAYER[own], f"{module}, line {line} imports {name}"


def test_options_import_nothing_from_above():
    """They name types of higher layers, which only type checkers import."""
    look = (
        "import sys, coevo.options\n"
        "print(*sorted(name for name in sys.modules if name.startswith('coevo.')), end='')\n"
        "assert 'numpy' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "coevo.errors coevo.lazy_names coevo.options coevo.options.declaration "
        "coevo.options.functions "
        "coevo.options.searches coevo.options.tables"
    )


def test_the_layers_are_checked():
    """The test above would find an import from a higher layer."""
    found = {name for _, name in imported("coevo.bundled")}
    rooms = {"errors", "files", "graph", "io", "names", "network"}
    assert {subpackage_of(name) for name in found} == rooms
    assert LAYER["io"] < LAYER["bundled"]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_docstring(module):
    docstring = ast.get_docstring(ast.parse(path_of(module).read_text(encoding="utf-8")))
    assert docstring
    assert docstring.splitlines()[0].endswith((".", ":"))


@pytest.mark.parametrize("module", [m for m in MODULES if m != "coevo.__main__"])
def test_every_module_has_valid_exports(module):
    loaded = importlib.import_module(module)
    if not hasattr(loaded, "__path__"):  # a room may have no names of its own
        assert loaded.__all__
    exports = getattr(loaded, "__all__", [])
    for name in exports:
        assert hasattr(loaded, name)
    assert len(set(exports)) == len(exports)


def test_exports_of_the_package():
    assert sorted(coevo._HOME) == sorted(coevo.__all__)
    for name, home in coevo._HOME.items():
        module = importlib.import_module(f"coevo.{home}")
        assert getattr(coevo, name) is getattr(module, name)
        assert name in module.__all__
    assert set(coevo.__all__) <= set(dir(coevo))
    space = {}
    exec("from coevo import *", space)
    assert set(coevo.__all__) <= set(space)
    with pytest.raises(AttributeError) as caught:
        coevo.lern  # noqa: B018
    assert str(caught.value) == "module 'coevo' has no attribute 'lern'"


def test_type_checkers_see_the_same_names():
    tree = ast.parse(path_of("coevo").read_text(encoding="utf-8"))
    (for_types,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {}
    for node in ast.walk(for_types):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("coevo."):
            seen |= {alias.name: node.module.removeprefix("coevo.") for alias in node.names}
    assert seen == coevo._HOME


@pytest.mark.parametrize("statement", ["import coevo", "from coevo import CoevoError"])
def test_importing_the_package_is_fast(statement):
    look = f"import sys; {statement}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0


WITHOUT_SCIPY = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "scipy":
            raise ImportError(name)

sys.meta_path.insert(0, Block())
import coevo

rows = coevo.sample(coevo.load_network("asia"), 200, random_state=1)
for method in ("ccma", "ccga", "hill_climb", "k2"):
    coevo.learn(rows, method=method, max_generations=2, n_jobs=1)
print("scipy" in sys.modules)
"""


def test_the_package_needs_no_scipy():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SCIPY], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("False\n", 0), done.stderr


def test_the_package_is_typed():
    assert files("coevo").joinpath("py.typed").is_file()


EXCEPTIONS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, BaseException)
]


@pytest.mark.parametrize("kind", EXCEPTIONS, ids=lambda kind: kind.__name__)
def test_a_message_survives_pickling(kind):
    error = kind("Column 'age' has 14 missing values, the first in row 3.")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error) == "Column 'age' has 14 missing values, the first in row 3."
    assert copy.args == error.args


def test_every_exception_is_listed_in_the_tree():
    assert {kind.__name__ for kind in EXCEPTIONS} <= set(errors.__all__)
    for kind in EXCEPTIONS:
        assert kind.__name__ in errors.__doc__.split()
        assert issubclass(kind, errors.CoevoError | errors.CoevoWarning)
