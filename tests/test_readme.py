"""What the README shows runs as it is written."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import coevo
from coevo.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with the files that the README takes for granted."""
    monkeypatch.chdir(tmp_path)
    coevo.write_bif(coevo.load_network("asia"), "model.bif")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    return found


def test_the_files_of_the_example_are_as_shown():
    assert (ROOT / "examples" / "types.json").read_text(encoding="utf-8") == block("json")
    assert (ROOT / "examples" / "known.csv").read_text(encoding="utf-8") == block("csv")


def test_the_commands(folder, monkeypatch, capsys):
    commands = re.findall(r"^    (coevo .*)$", README, flags=re.MULTILINE)
    assert len(commands) >= 7
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        main()
        assert "Error" not in capsys.readouterr().err
    assert (folder / "patients.bif.gz").exists()
    again = coevo.read_bif("again/model.bif")
    assert again.dag.parents("age") == again.dag.parents("sex") == again.dag.children("ill") == ()
    assert ("smoker", "crp") in again.dag.arcs
    ages = next(v for v in again.variables if v.name == "age").states
    assert coevo.Cuts.from_states(ages) == coevo.Cuts((40, 65))


def test_the_python(folder):
    names = {}
    exec(block("python"), names)
    assert names["found"].stop_reason == "time"
    assert coevo.read_bif("model.bif").dag == names["found"].dag
    assert coevo.read_bif("saved/model.bif") == names["learned"].network
