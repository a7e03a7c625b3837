"""What the README shows runs as it is written."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import coevo
from coevo.cli import main
from helpers.clusters import dask_commands

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
    assert coevo.CutPoints.from_states(ages) == coevo.CutPoints((40, 65))


def test_the_commands_of_a_cluster(folder, monkeypatch, capsys):
    """As written, but for the name of the machine and a free port."""
    pytest.importorskip("distributed")
    scheduler, worker, command = block("sh").splitlines()
    assert scheduler == "dask scheduler --port 8786"
    with dask_commands() as dask:
        address = dask.address.removeprefix("tcp://")
        assert worker == "dask worker tcp://HOST:8786 --nthreads 1"
        dask.add_worker()
        monkeypatch.setattr(sys, "argv", shlex.split(command.replace("HOST:8786", address)))
        main()
    shown = capsys.readouterr()
    assert "Error" not in shown.err
    assert "consensus" in shown.out


def test_the_python_of_shards(folder):
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv("examples/patients.csv")[["patient_id", "sex", "smoker", "ward", "ill"]]
    table.to_parquet("patients.parquet", row_group_size=60)
    names = {}
    exec(block("py"), names)
    rows = coevo.read_data(table, drop=["patient_id"])
    here = coevo.run_search("ccma", coevo.FamilyScorer(rows, "bdeu"), random_state=7)
    assert (names["found"].dag, names["found"].score) == (here.dag, here.score)


def test_the_python(folder):
    names = {}
    exec(block("python"), names)
    assert names["found"].stop_reason == "time"
    assert coevo.read_bif("model.bif").dag == names["found"].dag
    assert coevo.read_bif("saved/model.bif") == names["learned"].network
