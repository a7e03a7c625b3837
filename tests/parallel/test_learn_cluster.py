"""``coevo learn --cluster`` gives the result of one machine, and can resume without one."""

import json
import sys
from pathlib import Path

import pytest

import coevo
from coevo.cli import main
from coevo.data.read import formats as parquet_module
from coevo.files import checkpoints
from coevo.learning.checkpoints import CheckpointFile
from helpers.clusters import dask_commands, kill
from helpers.interrupts import interrupted_command
from helpers.problems import drop_times
from helpers.values import as_values

pytest.importorskip("distributed")

OPTIONS = {"max_generations": 5, "random_state": 3, "score": "bic"}
COMMAND = [
    "coevo",
    "learn",
    "table.parquet",
    "-s",
    "bic",
    "--max-generations",
    "5",
    "--seed",
    "3",
    "-o",
    "run",
]


@pytest.fixture(autouse=True)
def rows(tmp_path, monkeypatch, seed):
    """Write a table in many row groups into the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(parquet_module, "ROW_GROUP_ROWS", 100)
    dataset = coevo.sample(coevo.load_network("asia"), 900, random_state=seed)
    coevo.write_data(dataset, "table.parquet")
    return dataset


def without(answer):
    """Return an answer without times and without the parts that only a cluster adds."""
    findings = [one for one in answer["audit"] if one["kind"] != "not_compared"]
    other = ("traffic", "seconds", "no_strengths")
    kept = {name: value for name, value in answer.items() if name not in other}
    return kept | {"audit": findings}


def test_a_network_is_learned_on_a_client(dask_workers):
    here = coevo.learn("table.parquet", output="here", **as_values(OPTIONS))
    there = coevo.learn(
        "table.parquet", output="there", cluster=dask_workers.client, **as_values(OPTIONS)
    )
    assert without(there.as_dict()) == without(here.as_dict())
    assert drop_times(there.history) == drop_times(here.history)
    assert Path("there/model.bif").read_bytes() == Path("here/model.bif").read_bytes()
    traffic = json.loads(Path("there/run.json").read_text())["traffic"]
    assert traffic["families"] >= there.search.cache.scored
    assert min(traffic.values()) > 0
    assert "hash of the data" in Path("there/report.html").read_text()


def test_a_scheduler_that_dies_in_the_middle(monkeypatch, capsys):
    expected = coevo.learn("table.parquet", output="expected", **as_values(OPTIONS))
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE_OF_TIME", 1e9)
    with dask_commands() as dask:
        dask.add_worker()
        n_written = kill_after(3, dask.scheduler, monkeypatch)
        monkeypatch.setattr(sys, "argv", [*COMMAND, "--cluster", dask.address])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[-1] == (
        f"Error: The connection to the scheduler at {dask.address} is lost. Finished work is "
        "stored in the output folder (-o). Repeat the command to resume (coevo learn: with "
        "--resume), on another cluster or without one."
    )
    assert [path.name for path in Path("run").iterdir()] == ["checkpoint.npz"]
    assert n_written == [3]
    monkeypatch.setattr(sys, "argv", [*COMMAND, "--resume", "--format", "json"])
    main()
    found = json.loads(capsys.readouterr().out)
    assert found["score"] == expected.score
    assert found["generations"] == 5
    assert Path("run/model.bif").read_bytes() == Path("expected/model.bif").read_bytes()
    history = [json.loads(line) for line in Path("run/history.jsonl").read_text().splitlines()]
    assert [row["score"] for row in history] == [row.score for row in expected.history]


def kill_after(n, process, monkeypatch):
    """Kill a process after n checkpoints are saved; return the number of checkpoints, in a list."""
    write, n_written = CheckpointFile.write_if_due, [0]

    def write_and_kill(file, checkpoint):
        write(file, checkpoint)
        n_written[0] += 1
        if n_written[0] == n:
            kill(process)

    monkeypatch.setattr(CheckpointFile, "write_if_due", write_and_kill)
    return n_written


def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    found = interrupted_command(
        "learn", "table.parquet", "--max-generations", "100000", "-o", "out",
        "--cluster", "local:1", cwd=tmp_path, at="generation 1",
    )  # fmt: skip
    assert found.code == 130
    assert found.err[-1] == "Interrupted. This is the best network so far.\n"
    assert (tmp_path / "out/model.bif").exists()
    (line,) = [line for line in found.out.splitlines() if line.startswith("cluster ")]
    assert " round trips: " in line
