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
    coevo.write_bif(coevo.load_network("asia"), "model.bif")
    write_patients(tmp_path / "patients.csv")
    (tmp_path / "types.json").write_text(block("json"))
    (tmp_path / "known.csv").write_text(block("csv"))
    return tmp_path


def block(language):
    (found,) = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    return found


def write_patients(path, n_rows=200):
    """Write a table of text, codes, and whole and decimal measurements."""
    rng = np.random.default_rng(1)
    smoker = rng.random(n_rows) < 0.4
    age = rng.integers(10, 90, n_rows)
    crp = np.exp(rng.normal(size=n_rows) + smoker + age / 60).round(2)
    columns = {
        "patient_id": [f"p{i}" for i in range(n_rows)],
        "sex": rng.choice(["f", "m"], n_rows),
        "age": age,
        "smoker": np.where(smoker, "yes", "no"),
        "ward": rng.integers(1, 5, n_rows),
        "crp": crp,
        "ill": np.where(crp + rng.normal(size=n_rows) > 9, "yes", "no"),
    }
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


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
    assert coevo.Cuts.from_states(ages) == coevo.Cuts((18, 40, 65))


def test_the_python(folder):
    names = {}
    exec(block("python"), names)
    assert names["found"].stop_reason == "time"
    assert coevo.read_bif("model.bif").dag == names["found"].dag
    assert coevo.read_bif("saved/model.bif") == names["learned"].network
