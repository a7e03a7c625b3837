"""What the tests of documents share: a working directory as a document expects it."""

import shutil
from pathlib import Path

import pytest

from helpers.own_methods import forget_imports

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Work in an empty folder that holds a copy of the repository's examples."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    with forget_imports(tmp_path):
        yield tmp_path
