"""Files of coevo 0.1.0: networks and run folders open; searches are refused in one sentence."""

import json
import shutil
from pathlib import Path

import pytest

import coevo
from coevo.data import read_types
from coevo.errors import FileError
from coevo.io import read_run
from coevo.view.page import make_run_page
from helpers.errors import refusal
from helpers.values import as_values

OLD = Path(__file__).parent / "files_of_0_1_0"
SEARCH = {"max_generations": 5, "random_state": 3}


@pytest.fixture
def run(tmp_path):
    """Return a copy of a run folder with bootstraps, and of its table."""
    shutil.copytree(OLD, tmp_path / "run")
    return tmp_path / "run"


def snapshot(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_network_and_the_run_open(run):
    saved = read_run(run)
    assert saved.facts["version"] == "0.1.0"
    network = coevo.open_network(run / "model.bif")
    arcs = {(arc["from"], arc["to"]) for arc in saved.facts["arcs"]}
    assert set(network.dag.arcs) == arcs
    page = make_run_page(saved.facts, saved.history, network)
    assert page.title == "Learned from asia.csv"
    assert list(read_types(run / "run.json")) == list(saved.facts["columns"])


def test_the_same_table_has_the_same_hash(run):
    facts = json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert coevo.read_data(run / "asia.csv").content_hash == facts["data_hash"]
    again = coevo.learn(
        run / "asia.csv", **as_values({**SEARCH, "score": "bdeu", "max_table": None})
    )
    assert (again.score, len(again.dag.arcs)) == (facts["score"], facts["n_arcs"])


@pytest.mark.parametrize("more", [{}, {"max_generations": 9}])
def test_a_search_is_not_resumed(more, run):
    before = snapshot(run)
    options = SEARCH | {"output": run, "resume": True} | more
    assert refusal(FileError, coevo.learn, run / "asia.csv", **as_values(options)) == (
        f"{str(run)!r} holds a search of coevo 0.1.0, which coevo {coevo.__version__} cannot "
        "resume. Give another folder."
    )
    assert snapshot(run) == before


def test_bootstraps_are_not_added_to(run):
    before = snapshot(run)
    options = SEARCH | {"output": run, "bootstraps": 5}
    assert refusal(FileError, coevo.learn, run / "asia.csv", **as_values(options)) == (
        f"{str(run / 'strength')!r} holds runs with version 0.1.0; this is {coevo.__version__}. "
        "Give another folder."
    )
    assert snapshot(run) == before
