"""What the README shows runs as it is written."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import coevo
from coevo.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with the files that the README takes for granted."""
    monkeypatch.chdir(tmp_path)
    asia = coevo.load_network("asia")
    coevo.write_bif(asia, "model.bif")
    rows = coevo.sample(asia, 50, random_state=1)
    numbers = coevo.Variable("patient_id", tuple(str(i) for i in range(50)))
    columns = [rows.codes[rows.position(v.name)] for v in asia.variables]
    canonical = [rows.variables[rows.position(v.name)] for v in asia.variables]
    table = coevo.Dataset([numbers, *canonical], [np.arange(50), *columns])
    coevo.write_data(table, "patients.csv")
    return tmp_path


def test_the_commands(folder, monkeypatch, capsys):
    commands = re.findall(r"^    (coevo .*)$", README, flags=re.MULTILINE)
    assert len(commands) >= 7
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        main()
        assert "Error" not in capsys.readouterr().err
    assert (folder / "patients.bif.gz").exists()


def test_the_python(folder):
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names = {}
    exec(block, names)
    assert names["found"].stop_reason == "time"
    assert coevo.read_bif("model.bif").dag == names["found"].dag
