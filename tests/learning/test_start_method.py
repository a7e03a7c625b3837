"""A search may begin with the result of another method."""

import signal

import numpy as np
import pytest

import coevo
from coevo.data import IncompleteDataset
from coevo.errors import FileError, ParameterError
from coevo.graph import Constraints
from coevo.io import write_model
from coevo.score import FamilyScorer
from coevo.search import PC, HillClimb, make_spec, run_search
from helpers.problems import InterruptedScorer, random_table
from helpers.values import as_values


@pytest.fixture
def rows():
    return coevo.sample(coevo.load_network("child"), 1000, random_state=1)


@pytest.mark.parametrize("start", ["pc", PC(), "k2"])
def test_the_start_is_the_result_of_the_method(start, rows):
    known = Constraints(required=[("Age", "Sick")], max_parents=3)
    found = coevo.learn(
        rows, method="hill_climb", start=start, constraints=known, score="bic", bootstraps=0
    )
    first = coevo.learn(rows, method=start, constraints=known, score="bic", bootstraps=0)
    right = coevo.learn(
        rows, method="hill_climb", start=first.dag, constraints=known, score="bic", bootstraps=0
    )
    assert found.dag == right.dag
    assert found.search.history[0].score == first.score
    assert found.search.seconds > 0
    assert found.as_dict()["start_method"] == first.search.method
    assert "start_method" not in right.as_dict()


def test_pc_is_a_good_start_of_hill_climbing():
    alarm = coevo.load_network("alarm")
    rows = coevo.sample(alarm, 2000, random_state=1)
    scorer = FamilyScorer(rows, "bic")
    alone = run_search("hill_climb", scorer)
    started = make_spec(method="hill_climb", score="bic", start=PC()).run(scorer)
    assert started.score > alone.score + 100


def test_a_file_keeps_its_meaning(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    child = coevo.load_network("child")
    write_model(child, tmp_path / "pc.bif")
    (tmp_path / "pc.bif").rename(tmp_path / "pc")
    with pytest.raises(coevo.CoevoError, match="'pc'"):  # a file without a known ending
        coevo.learn(rows, start="pc")
    write_model(child, tmp_path / "k2.bif")
    found = coevo.learn(rows, method="hill_climb", start="k2.bif", bootstraps=0)
    assert "start_method" not in found.as_dict()
    bundled = coevo.learn(rows, method="hill_climb", start="child", bootstraps=0)
    assert bundled.dag == found.dag
    with pytest.raises(FileError):
        coevo.learn(rows, start="pcc")
    with pytest.raises(ParameterError) as caught:
        coevo.learn(rows, start=3)
    assert str(caught.value) == (
        "'start' of learn must be a DAG, a network, the path of a file, the name of a bundled "
        "network, a method or None; got 3."
    )


def test_a_resumed_search_gives_the_same_answer(rows, tmp_path):
    options = {"method": "ccma", "start": "pc", "bootstraps": 0, "random_state": 3}
    right = coevo.learn(rows, **as_values({"max_generations": 6, **options}))
    coevo.learn(rows, output=tmp_path / "run", **as_values({"max_generations": 2, **options}))
    resumed = coevo.learn(
        rows, output=tmp_path / "run", resume=True, **as_values({"max_generations": 6, **options})
    )
    assert resumed.dag == right.dag
    assert [row.score for row in resumed.search.history] == [
        row.score for row in right.search.history
    ]
    other = options | {"start": PC(alpha=0.2)}
    with pytest.raises(coevo.CoevoError, match="start"):
        coevo.learn(
            rows, output=tmp_path / "run", resume=True, **as_values({"max_generations": 6, **other})
        )


@pytest.mark.parametrize("policy", ["evolve", "em", "available", "drop"])
def test_missing_values(policy, seed):
    dataset = coevo.sample(coevo.load_network("asia"), 400, random_state=seed).expand()
    missing = np.random.default_rng(seed).random(dataset.codes.shape) < 0.05
    table = IncompleteDataset(dataset, missing)
    options = {"start": "pc", "missing": policy, "bootstraps": 0, "max_generations": 4}
    one, two = (coevo.learn(table, method="ccma", **as_values(options)) for _ in range(2))
    assert one.dag == two.dag
    assert len(one.dag.arcs) > 3


def test_each_bootstrap_sample_has_its_own_start(rows):
    found = coevo.learn(rows, method="hill_climb", start="pc", bootstraps=3)
    assert found.bootstrap.n_bootstraps == 3


def test_an_interrupt_of_the_start_ends_the_search(seed):
    table = random_table(seed)
    spec = make_spec(method="tabu", score="k2", start=HillClimb(restarts=5))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = spec.run(InterruptedScorer(table, "k2", at=2))
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.stop_reason == "interrupt"
    assert found.generations == 0
    assert found.score == FamilyScorer(table, "k2").score(found.dag)


def test_no_time_for_the_start(rows):
    spec = make_spec(method="hill_climb", start=PC(), budget=coevo.Budget(max_time=0))
    found = spec.run(FamilyScorer(rows))
    assert (found.stop_reason, found.generations, found.dag.arcs) == ("time", 0, ())
