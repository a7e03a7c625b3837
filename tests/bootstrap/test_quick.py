"""The quick bootstrap: when it is run, with how many samples, and what it leaves alone."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import coevo
from coevo.bootstrap import count_quick_samples, quick
from coevo.bundled import load_network
from coevo.data import write_data
from coevo.estimators import BayesianNetworkLearner
from coevo.graph import DAG, Constraints
from coevo.io import Knowledge, read_run
from coevo.learning import check_settings, learn, open_task
from coevo.network import sample
from coevo.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import run_search
from helpers.interrupts import ctrl_c_works, press_ctrl_c

ROWS = sample(load_network("asia"), 400, 1)


@pytest.fixture(scope="module")
def found():
    return learn(ROWS, random_state=3)


@pytest.fixture(scope="module")
def search(found):
    return found.search


# -- the number of samples


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        # a sample costs 8 * (12 + 7) + 250 = 402, and 40 % of the cost of the search is spent
        ({"evaluations": 10049, "generations": 0}, 0),
        ({"evaluations": 10050, "generations": 0}, 10),
        ({"evaluations": 10050 + 1004, "generations": 0}, 10),
        ({"evaluations": 10050 + 1005, "generations": 0}, 11),
        ({"evaluations": 0, "generations": 26}, 10),
        ({"evaluations": 10**9}, 50),
        ({"evaluations": 1_005_000, "generations": 0, "method": "ccga"}, 10),
        ({"evaluations": 10**9, "stop_reason": "interrupt"}, 0),
    ],
)
def test_the_number_of_samples(changed, expected, search):
    dag = DAG(ROWS.names, [(ROWS.names[0], name) for name in ROWS.names[1:]])
    assert count_quick_samples(replace(search, dag=dag, **changed)) == expected


def test_one_climb_is_no_bootstrap():
    for method in ("hill_climb", "tabu", "k2"):
        assert learn(ROWS, method=method, random_state=3).quick_bootstrap is None
    assert learn(ROWS, max_generations=2, random_state=3).quick_bootstrap is None


# -- the strengths


def better_climbs(found, rows, n_samples, seed):
    """Return the better of two hill climbs on each sample, by `run_search`."""
    options = found.spec.make_scorer_options()
    constraints = found.spec.constraints
    for number in range(1, n_samples + 1):
        sampled = rows.resample(random_stream(seed, number, 0))
        scorer = FamilyScorer(sampled, found.scoring, **options)
        near, free = (
            run_search("hill_climb", scorer, constraints=constraints, start=start)
            for start in (found.search.dag, None)
        )
        yield free.dag if free.score > near.score + 1e-9 else near.dag


def check_strengths(found, seed):
    quick = found.quick_bootstrap
    dags = list(better_climbs(found, found.dataset, quick.n_bootstraps, seed))
    assert len(dags) >= 10
    for arc in quick.arcs:
        n_found = sum({(arc.parent, arc.child), (arc.child, arc.parent)} & set(d.arcs) != set()
                      for d in dags)  # fmt: skip
        assert arc.strength == n_found / len(dags)


def test_the_better_of_two_climbs_counts():
    known = Knowledge(Constraints(required=[("xray", "asia")], max_parents=2), {("tub", "asia"): 3})
    start = DAG(ROWS.names, [("xray", "asia")])
    check_strengths(learn(ROWS, constraints=known, start=start, score="k2", random_state=5), 5)


def test_an_exclusive_or_is_found_again():
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, 300))
    rows = coevo.read_data(np.array([a, b, a ^ b]).T, names=list("abc"))
    found = learn(rows, random_state=3)
    assert len(found.dag.arcs) == 2
    assert [arc["strength"] for arc in found.as_dict()["arcs"]] == [1.0, 1.0]


def test_the_answer_has_the_strength_of_each_arc(found):
    plain = found.as_dict()
    assert found.bootstrap is None
    assert "bootstraps" not in plain
    n_samples = found.quick_bootstrap.n_bootstraps
    assert plain["quick_bootstrap"] == {"method": "hill_climb", "n_bootstraps": n_samples}
    assert [arc["gain"] for arc in plain["arcs"]] == sorted(found.gains.values(), reverse=True)
    for arc in plain["arcs"]:
        assert list(arc) == ["from", "to", "gain", "word", "directed", "strength", "says"]
        assert arc["strength"] == found.quick_bootstrap.strength_of((arc["from"], arc["to"]))[0]


def test_nothing_else_changes(found):
    off, full = learn(ROWS, random_state=3, bootstraps=0), learn(ROWS, random_state=3, bootstraps=2)
    assert (off.quick_bootstrap, full.quick_bootstrap) == (None, None)
    assert (off.bootstrap, full.bootstrap.n_bootstraps) == (None, 2)
    assert found.dag == off.dag == full.dag
    plain = [{k: v for k, v in arc.items() if k != "strength"} for arc in found.as_dict()["arcs"]]
    assert plain == off.as_dict()["arcs"]


def timeless(result):
    return {name: value for name, value in result.as_dict().items() if name != "seconds"}


def test_the_same_for_any_order_and_any_threads(found):
    order = np.random.default_rng(1).permutation(ROWS.n_rows)
    frame = ROWS.expand()
    columns = {name: frame.codes[frame.find_position(name)][order] for name in ROWS.names[::-1]}
    variables = [ROWS.variables[ROWS.find_position(name)] for name in columns]
    shuffled = coevo.Dataset(variables, list(columns.values()))
    other = learn(shuffled, random_state=3, n_jobs=2)
    assert other.as_dict()["arcs"] == found.as_dict()["arcs"]
    assert other.quick_bootstrap.arcs == found.quick_bootstrap.arcs


def test_the_same_after_a_resumed_search(found, tmp_path):
    learn(ROWS, random_state=3, max_generations=5, bootstraps=0, output=tmp_path)
    resumed = learn(ROWS, random_state=3, output=tmp_path, resume=True)
    assert timeless(resumed) == timeless(found)


def test_missing_values_are_resampled_after_imputation(tmp_path):
    write_data(ROWS, tmp_path / "asia.csv")
    lines = (tmp_path / "asia.csv").read_text().splitlines()
    lines[1:40] = ["," + line.split(",", 1)[1] for line in lines[1:40]]
    (tmp_path / "asia.csv").write_text("\n".join(lines) + "\n")
    check_strengths(learn(tmp_path / "asia.csv", missing="em", random_state=3), 3)


def test_an_estimator_has_none():
    learner = BayesianNetworkLearner(random_state=3).fit(ROWS)
    assert learner.bootstraps is None
    assert learner.result_.quick_bootstrap is None


# -- files, and Ctrl-C


def test_the_files(found, tmp_path):
    files = learn(ROWS, random_state=3, output=tmp_path).files
    assert sorted(files) == ["history", "model", "report", "run"]
    assert not (tmp_path / "strength").exists()
    facts = read_run(tmp_path).facts
    plain = json.loads(json.dumps(found.as_dict()))
    assert facts["quick_bootstrap"] == plain["quick_bootstrap"]
    assert [arc["strength"] for arc in facts["arcs"]] == [arc["strength"] for arc in plain["arcs"]]
    assert "quick samples" in (tmp_path / "report.html").read_text()


@ctrl_c_works()
@pytest.mark.parametrize("n_done", [0, 3])
def test_ctrl_c_keeps_the_network(n_done, found, monkeypatch, tmp_path):
    runs, pressed = [], []
    run_sample = quick._run_sample

    def press(*arguments):
        runs.append(1)
        if len(runs) == n_done + 1:
            press_ctrl_c()
        return run_sample(*arguments)

    settings = check_settings("learn", random_state=3)
    with open_task(settings, ROWS, output=tmp_path) as task:
        result = task.search()
        written = (tmp_path / "run.json").read_bytes()
        monkeypatch.setattr(quick, "_run_sample", press)
        assert task.count_quick_samples(result) >= 10
        assert task.run_bootstraps(result, on_interrupt=lambda: pressed.append(1)) is result
    assert (len(runs), pressed) == (n_done + 1, [1])
    assert result.dag == found.dag
    assert (tmp_path / "run.json").read_bytes() == written


def test_a_cluster_and_shards_have_none(found):
    settings = check_settings("learn", random_state=3)
    with open_task(settings, ROWS) as task:
        assert task.count_quick_samples(found) == found.quick_bootstrap.n_bootstraps
        there = replace(task, settings=replace(settings, cluster="tcp://HOST:8786"))
        assert there.count_quick_samples(found) == 0
        assert there.run_bootstraps(found) is found


def test_a_table_too_large_to_resample_has_none(found, monkeypatch):
    monkeypatch.setattr(quick, "get_machine_memory", lambda: 24 * 400 - 1)
    assert quick.run_quick_bootstrap(ROWS, found.spec, found.search, found.gains) is None
