"""The blocks of the page about clusters that start processes run as they are written."""

from pathlib import Path

import pytest

import coevo
from helpers.clusters import dask_commands
from helpers.documents import read_blocks, read_commands, run_command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "clusters.md"
REASON = "tests/docs/test_clusters_page.py runs it"


@pytest.fixture(autouse=True)
def require_dask():
    pytest.importorskip("distributed")


def read_skipped(language):
    """Return the sources of the blocks that the page leaves to this test."""
    return [
        block.source
        for block in read_blocks(PAGE)
        if block.language == language and REASON in (block.skip_reason or "")
    ]


def list_commands():
    """Return the commands of these blocks, without the program."""
    return [
        command.text
        for source in read_skipped("console")
        for command in read_commands(source, first_line=1)
    ]


def run(command):
    """Run a command line of coevo; return its standard output."""
    code, output, errors = run_command(command.split())
    assert code == 0, errors
    return output


def test_the_commands_of_a_cluster_of_machines(workspace):
    """As written, but for the name of the machine and a free port."""
    text = PAGE.read_text(encoding="utf-8")
    assert "dask scheduler --port 8786\n" in text
    assert "dask worker tcp://HOST:8786 --nthreads 1\n" in text
    (command,) = [command for command in list_commands() if "tcp://HOST:8786" in command]
    with dask_commands() as dask:
        dask.add_worker()
        output = run(command.replace("tcp://HOST:8786", dask.address))
    assert output == run(command.replace("--cluster tcp://HOST:8786", ""))


@pytest.mark.parametrize("index", range(3), ids=["strength", "islands", "shards"])
def test_the_commands_of_local_workers(workspace, index):
    commands = [command for command in list_commands() if "--cluster local:2" in command]
    assert len(commands) == 3
    table = coevo.sample(coevo.load_network("alarm"), 500, random_state=7)
    coevo.write_data(table, "large.parquet")
    there = run(commands[index])
    here = run(commands[index].replace("--cluster local:2", ""))
    assert there.splitlines()[0] == here.splitlines()[0]  # the score, or the bootstraps


def test_the_scorer_of_a_cluster(workspace):
    (source,) = read_skipped("python")
    rows = coevo.sample(coevo.load_network("asia"), 500, random_state=7)
    names = {"coevo": coevo, "rows": rows}
    exec(compile(source, PAGE.name, "exec"), names)
    here = coevo.run_search("hill_climb", coevo.FamilyScorer(rows, "bdeu"), random_state=7)
    assert (names["found"].dag, names["found"].score) == (here.dag, here.score)
