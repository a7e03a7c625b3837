"""`learn` with bootstraps agrees with `bootstrap_strength`, and searches the table once."""

from __future__ import annotations

import json
import os
import pickle
import sys

import pytest

import coevo
from coevo.bundled import load_network
from coevo.errors import CoevoWarning, FileError, ParameterError
from coevo.graph import Constraints
from coevo.io import Knowledge, read_run
from coevo.learning import check_settings, learn, open_task
from coevo.network import sample
from coevo.posteriors import bootstrap
from coevo.posteriors.consensus import find_interval
from coevo.search import Budget
from helpers.errors import refusal
from helpers.interrupts import ctrl_c_works, press_ctrl_c
from helpers.values import as_values

ROWS = sample(load_network("asia"), 300, 1)
QUICK = {"method": "hill_climb", "random_state": 3}
FIGURES = {"strength.png", "strength.svg"}
FILES = {f"strength.{ending}" for ending in ("md", "tex", "csv", "json")} | {"consensus.json"}


@pytest.fixture(scope="module")
def found():
    return learn(ROWS, bootstraps=12, **as_values(QUICK))


# -- the same as the parts


@pytest.mark.parametrize("method", ["hill_climb", "ccma", "ccga"])
def test_strengths_equal_those_of_bootstrap_strength(method):
    known = Knowledge(Constraints(required=[("xray", "asia")], max_parents=2), {("tub", "asia"): 3})
    limit = {"method": method, "random_state": 5, "score": "k2"}
    found = learn(
        ROWS, bootstraps=3, **as_values({"constraints": known, "max_generations": 4, **limit})
    )
    expected = coevo.bootstrap_strength(
        ROWS,
        bootstraps=3,
        constraints=known.constraints,
        weights=known.weights,
        budget=Budget(max_generations=4),
        **limit,
    )
    assert found.bootstrap == expected
    alone = learn(ROWS, **as_values({"constraints": known, "max_generations": 4, **limit}))
    assert (found.dag, found.score, alone.bootstrap) == (alone.dag, alone.score, None)
    for arc in expected.arcs:
        assert (arc.support is None) == (method == "hill_climb")
        if found.support is not None and (arc.parent, arc.child) in found.dag.arcs:
            assert arc.support == found.support[arc.parent, arc.child]


def test_the_table_is_searched_once(monkeypatch):
    searched = []
    search = bootstrap._search

    def count(*arguments):
        searched.append(arguments)
        return search(*arguments)

    monkeypatch.setattr(bootstrap, "_search", count)
    found = learn(ROWS, bootstraps=2, **as_values(QUICK))
    assert len(searched) == 2
    assert found.bootstrap.network == found.search.dag
    assert found.bootstrap.score == found.score


def test_processes_change_nothing(found):
    assert (
        learn(ROWS, bootstraps=12, n_jobs=2, **as_values(QUICK)).as_dict()["arcs"]
        == (found.as_dict()["arcs"])
    )


# -- plain values


def test_each_arc_is_looked_up_in_its_own_direction(found):
    plain = found.as_dict()
    for arc in plain["arcs"]:
        assert list(arc) == [
            "from", "to", "gain", "word", "directed", "directed_by",
            "strength", "interval", "direction", "reverse", "says",
        ]  # fmt: skip
        strengths = found.bootstrap.strength_of((arc["from"], arc["to"]))
        assert strengths == (arc["strength"], arc["direction"])
    for arc in found.bootstrap.arcs:
        assert found.bootstrap.strength_of((arc.parent, arc.child)) == (arc.strength, arc.direction)
        back = found.bootstrap.strength_of((arc.child, arc.parent))
        assert back == (arc.strength, arc.reverse)
        plain = found.bootstrap.describe_arc((arc.child, arc.parent))
        assert (plain["direction"], plain["reverse"]) == (arc.reverse, arc.direction)
        assert plain["interval"] == list(find_interval(round(12 * arc.strength), 12))
    assert found.bootstrap.strength_of(("asia", "no such")) == (0.0, 0.0)


def test_significant_arcs_outside_the_network(found):
    summary = found.as_dict()["bootstraps"]
    assert list(summary) == [
        "n_bootstraps", "n_asked", "threshold", "consensus", "not_in_network", "arcs",
    ]  # fmt: skip
    assert (summary["n_bootstraps"], summary["n_asked"]) == (12, 12)
    joined = {frozenset(arc) for arc in found.dag.arcs}
    assert summary["not_in_network"] == [
        arc
        for arc in summary["arcs"]
        if arc["strength"] > summary["threshold"] and {arc["from"], arc["to"]} not in joined
    ]
    empty = coevo.DAG(found.dag.nodes)
    above = [arc for arc in found.bootstrap.arcs if arc.strength > summary["threshold"]]
    assert above
    assert list(found.bootstrap.arcs_missing_in(empty)) == above


def test_a_result_without_bootstraps():
    plain = learn(ROWS, **as_values(QUICK)).as_dict()
    assert "bootstraps" not in plain
    assert list(plain["arcs"][0]) == [
        "from",
        "to",
        "gain",
        "word",
        "directed",
        "directed_by",
        "says",
    ]


def test_support_is_in_the_files_alone(tmp_path):
    found = learn(ROWS, method="ccga", bootstraps=3, random_state=3, budget={"max_generations": 4})
    assert "support" not in json.dumps(found.as_dict())
    found.save(tmp_path)
    facts = read_run(tmp_path).facts
    shares = {(arc["from"], arc["to"]): arc["support"] for arc in facts["arcs"]}
    assert shares == found.support
    assert [arc["support"] for arc in facts["bootstraps"]["arcs"]] == [
        arc.support for arc in found.bootstrap.arcs
    ]
    assert "support" not in (tmp_path / "report.html").read_text().lower()


def test_it_can_be_pickled(found):
    assert pickle.loads(pickle.dumps(found)).as_dict() == found.as_dict()


# -- files


def test_files(found, tmp_path):
    files = found.save(tmp_path)
    assert files["strength"] == str(tmp_path / "strength")
    assert set(os.listdir(tmp_path / "strength")) == FILES | FIGURES
    plain = json.loads(json.dumps(found.as_dict()))
    assert read_run(tmp_path).facts["bootstraps"] == plain["bootstraps"]
    facts = json.loads((tmp_path / "strength" / "strength.json").read_text())
    assert facts["arcs"] == plain["bootstraps"]["arcs"]
    assert (facts["method"], facts["n_rows"]) == ("hill_climb", 300)
    assert "<h2>Arc strength (bootstrap confidence)</h2>" in (tmp_path / "report.html").read_text(
        encoding="utf-8"
    )


def test_without_matplotlib_the_figure_is_left_out(found, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.warns(CoevoWarning) as said:
        found.save(tmp_path)
    assert [str(warning.message) for warning in said] == [
        "The figure of arc strengths is not written. matplotlib is not installed. Install it with: "
        "pip install 'coevo[plot]'"
    ]
    assert set(os.listdir(tmp_path / "strength")) == FILES


def test_the_name_of_the_table(tmp_path):
    coevo.write_data(ROWS, tmp_path / "asia & co.csv")
    found = learn(tmp_path / "asia & co.csv", **as_values(QUICK))
    assert found.source == "asia & co.csv"
    found.save(tmp_path / "run")
    assert read_run(tmp_path / "run").facts["source"] == "asia & co.csv"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<title>Learned from asia &amp; co.csv</title>" in page
    assert learn(ROWS, **as_values(QUICK)).source is None


# -- a folder of bootstraps, and Ctrl-C


def open_tasks(output=None, **options):
    return open_task(
        check_settings("learn", **(QUICK | {"bootstraps": 12} | options)), ROWS, output=output
    )


def test_bootstraps_of_a_folder_are_resumed(found, tmp_path):
    numbers = []

    def note(run, done, total):
        numbers.append((run.bootstrap, done, total))

    for n in (5, 12):
        with open_tasks(tmp_path, bootstraps=n) as task:
            result = task.run_bootstraps(task.search(), note)
    assert numbers == [
        *((i, i + 1, 6) for i in range(1, 6)),
        *((i, i + 1, 13) for i in range(6, 13)),
    ]
    assert result.bootstrap == found.bootstrap
    (tmp_path / "checkpoint.npz").unlink()
    with pytest.raises(FileError) as caught, open_tasks(tmp_path, random_state=4):
        pass
    assert str(caught.value) == (
        f"{str(tmp_path / 'strength')!r} holds runs with seed 3; this is 4. Give another folder."
    )


def test_support_is_stored_in_the_folder(tmp_path):
    options = {"bootstraps": 2, "budget": Budget(max_generations=4), "random_state": 3}
    first = coevo.bootstrap_strength(ROWS, folder=tmp_path, **options)
    assert any(arc.support == 1 for arc in first.arcs)
    assert coevo.bootstrap_strength(ROWS, folder=tmp_path, **options) == first


@ctrl_c_works()
@pytest.mark.parametrize("n_done", [1, 4])
def test_ctrl_c_ends_with_the_bootstraps_that_are_done(n_done):
    def press(run, done, total):
        if done == n_done + 1:
            press_ctrl_c()

    with open_tasks() as task:
        result = task.run_bootstraps(task.search(), press)
    assert (result.bootstrap.n_bootstraps, result.bootstrap.n_asked) == (n_done, 12)


@ctrl_c_works()
def test_ctrl_c_before_the_first_bootstrap_leaves_the_network(monkeypatch):
    with open_tasks() as task:
        result = task.search()
        monkeypatch.setattr(bootstrap, "_search", lambda *arguments: press_ctrl_c(2))
        assert task.run_bootstraps(result) is result


@ctrl_c_works()
def test_after_an_interrupted_search_no_bootstrap_is_run():
    with open_tasks(method="ccma") as task:
        result = task.search([lambda row: press_ctrl_c()])
        assert result.search.stop_reason == "interrupt"
        assert task.run_bootstraps(result) is result


def test_refusal():
    sentence = "'bootstraps' of learn must be an int >= 0 or None; got -1."
    assert refusal(ParameterError, learn, "no such file.csv", bootstraps=-1) == sentence


# -- the run folder is written once, and always


def test_a_quick_bootstrap_draws_one_page(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("coevo.view.page.write_page", lambda path, page: drawn.append(path))
    found = learn(ROWS, output=tmp_path / "run", budget={"max_generations": 20})
    assert found.quick_bootstrap is not None
    assert drawn == [str(tmp_path / "run" / "report.html")]


def test_a_quick_bootstrap_that_fails_loses_no_network(tmp_path, monkeypatch):
    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr("coevo.posteriors.run_quick_bootstrap", fail)
    with pytest.raises(MemoryError):
        learn(ROWS, output=tmp_path / "run", budget={"max_generations": 20})
    assert (
        read_run(tmp_path / "run").network
        == learn(ROWS, bootstraps=0, budget={"max_generations": 20}).network
    )
