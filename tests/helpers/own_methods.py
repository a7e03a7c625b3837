"""Methods from outside coevo, as files: a good one, and how to break it."""

import contextlib
import importlib.util
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

ANNEALING = Path(__file__).resolve().parents[2] / "examples" / "annealing.py"
ENTRY_POINTS = "[coevo.methods]\nchilled = chilled:Annealing\n"


@cache
def load_annealing():
    """Return the class of the example, under a name that no other test imports."""
    spec = importlib.util.spec_from_file_location("annealing_of_the_tests", ANNEALING)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Annealing


@contextlib.contextmanager
def forget_imports(folder):
    """Forget at the end what was imported from a folder, and additions to Python's path."""
    path = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None)
            if file and Path(file).is_relative_to(folder):
                del sys.modules[name]


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Work in a folder with the example as ``cooling.py``, and forget all imports from it."""
    shutil.copy(ANNEALING, tmp_path / "cooling.py")
    monkeypatch.chdir(tmp_path)
    with forget_imports(tmp_path):
        yield tmp_path


def write_broken(folder, name, was, now):
    """Write the example with a change, as another module."""
    text = ANNEALING.read_text(encoding="utf-8")
    assert was in text
    (folder / f"{name}.py").write_text(text.replace(was, now), encoding="utf-8")


def install_package(folder):
    """Write a package that offers the example as an entry point, as pip installs it."""
    shutil.copy(ANNEALING, folder / "chilled.py")
    info = folder / "chilled-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: chilled\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (info / "top_level.txt").write_text("chilled\n")
    sys.path.append(str(folder))
