"""Methods from outside coevo, as files: a good one, and how to break it."""

import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

ANNEALING = Path(__file__).resolve().parents[2] / "examples" / "annealing.py"
ENTRY_POINTS = "[coevo.methods]\nchilled = chilled:Annealing\n"


def load_annealing():
    """Return the class of the example."""
    if str(ANNEALING.parent) not in sys.path:
        sys.path.append(str(ANNEALING.parent))
    return import_module("annealing").Annealing


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Work in a folder with the example as ``cooling.py``, and forget all imports from it."""
    shutil.copy(ANNEALING, tmp_path / "cooling.py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(tmp_path):
            del sys.modules[name]


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
