"""The quick bootstrap: when it is run, with how many samples, and what it leaves alone."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import coevo
from coevo.bundled import load_network
from coevo.data import IncompleteDataset, write_data
from coevo.estimators import BayesianNetworkLearner
from coevo.graph import DAG, Constraints
from coevo.io import Knowledge, read_run
from coevo.learning import check_settings, learn, open_task
from coevo.network import sample
from coevo.posteriors import count_quick_samples, quick_bootstrap
from coevo.search import CCMA, Budget, Islands
from helpers.interrupts import ctrl_c_works, press_ctrl_c

ROWS = sample(load_network("asia"), 400, 1)


@pytest.fixture(scope="module")
def found():
    return learn(ROWS, random_state=3)


# -- the number of samples


@pytest.mark.parametrize(
    ("changed", "improved", "expected"),
    [
        # a sample makes improved + 2 generations, and the samples ten times those of the search
        ({"generations": 27}, 2, 40),
        ({"generations": 10}, 2, 25),
        ({"generations": 9}, 2, 0),
        ({"generations": 27}, 8, 27),
        ({"generations": 0}, 0, 0),
        # a search costs 700 a generation and 1 + 400 / 7000 a local score; all samples 1,200,000
        ({"generations": 100, "evaluations": 770_270}, 2, 33),
        ({"generations": 100, "evaluations": 1_200_000}, 2, 25),
        ({"generations": 30, "evaluations": 10**9}, 2, 0),
        # or as much as the search
        ({"generations": 100, "evaluations": 10**9}, 2, 25),
        ({"generations": 1000, "evaluations": 10**9}, 2, 40),
        ({"generations": 27, "stop_reason": "interrupt"}, 2, 0),
    ],
)
def test_the_number_of_samples(changed, improved, expected, found):
    row = replace(found.history[-1], improved=improved)
    search = replace(found.search, **{"evaluations": 1000, "history": (row,), **changed})
    assert count_quick_samples(ROWS, found.spec, search) == expected
    assert count_quick_samples(ROWS, found.spec, replace(search, history=())) == 0


def test_a_generation_of_islands_is_an_epoch_of_each(found):
    islands = replace(found.spec, method=Islands(islands=2, epoch=5))
    row = replace(found.history[-1], improved=1)
    search = replace(found.search, evaluations=1000, generations=2, history=(row,))
    # a sample makes 1 * 5 + 2 generations of one population, the search 2 * 5 * 2 of two
    assert count_quick_samples(ROWS, islands, search) == 10 * 20 // 7
    assert quick_bootstrap.make_quick_spec(islands, ROWS).method == CCMA()


def test_the_limits_of_a_search_hold_for_samples(found):
    def shorten(table=ROWS, **limits):
        spec = replace(found.spec, budget=Budget(**limits))
        return quick_bootstrap.make_quick_spec(spec, table).budget

    assert shorten() == Budget(patience=2)
    assert shorten(patience=1, max_time=9) == Budget(patience=1)
    limits = {"max_generations": 3, "max_evaluations": 9}
    assert shorten(patience=9, **limits) == Budget(patience=2, **limits)
    table = IncompleteDataset(ROWS.expand(), np.zeros((8, 400), dtype=np.bool_))
    assert shorten(table) == Budget(patience=2, max_generations=16)
    assert shorten(table, max_generations=5) == Budget(patience=2, max_generations=5)


def test_methods_other_than_ccma_have_none():
    for method in ("hill_climb", "tabu", "k2"):
        found = learn(ROWS, method=method, random_state=3)
        assert (found.quick_bootstrap, found.no_strengths) == (None, "")


def test_a_search_that_was_cut_short_has_none_and_says_so():
    found = learn(ROWS, random_state=3, budget={"max_generations": 2})
    assert found.quick_bootstrap is None
    assert found.no_strengths == (
        "samples would take much longer than the search; --bootstraps 100 measures the strength of "
        "each arc"
    )
    assert found.as_dict()["no_strengths"] == found.no_strengths
    assert (
        learn(ROWS, random_state=3, bootstraps=0, budget={"max_generations": 2}).no_strengths == ""
    )


# -- the strengths


@pytest.fixture
def few(monkeypatch):
    """Make three samples enough, so that a test is fast."""
    monkeypatch.setattr(quick_bootstrap, "MIN_SAMPLES", 3)
    monkeypatch.setattr(quick_bootstrap, "MAX_SAMPLES", 3)


def check_strengths(found, table):
    """Compare with the full bootstrap by shorter searches: same rows, same seeds."""
    quick_result, spec = found.quick_bootstrap, found.spec
    assert quick_result.n_bootstraps == 3
    policy = None if found.imputation is None else found.imputation.policy
    limits = {} if policy is None else {"max_generations": 16}
    full = coevo.bootstrap_strength(
        table,
        bootstraps=quick_result.n_bootstraps,
        missing=policy,
        score=spec.score,
        parent_penalty=spec.parent_penalty,
        constraints=spec.constraints,
        weights=spec.weights,
        budget=Budget(patience=2, **limits),
        random_state=spec.seed,
    )
    for arc in (*quick_result.arcs, *full.arcs):
        pair = (arc.parent, arc.child)
        assert quick_result.describe_arc(pair) == full.describe_arc(pair)


@pytest.mark.usefixtures("few")
def test_samples_are_those_of_the_full_bootstrap():
    known = Knowledge(Constraints(required=[("xray", "asia")], max_parents=2), {("tub", "asia"): 3})
    start = DAG(ROWS.names, [("xray", "asia")])
    check_strengths(learn(ROWS, constraints=known, start=start, score="k2", random_state=5), ROWS)


@pytest.mark.usefixtures("few")
def test_missing_values_are_imputed_again_in_each_sample(tmp_path):
    write_data(sample(load_network("survey"), 150, 1), tmp_path / "survey.csv")
    lines = (tmp_path / "survey.csv").read_text().splitlines()
    lines[1:40] = ["," + line.split(",", 1)[1] for line in lines[1:40]]
    (tmp_path / "survey.csv").write_text("\n".join(lines) + "\n")
    for missing in ("evolve", "drop"):
        found = learn(
            tmp_path / "survey.csv", missing=missing, random_state=3, read={"drop": ["T"]}
        )
        check_strengths(found, found.imputation.table)


def test_an_exclusive_or_is_found_again():
    rng = np.random.default_rng(1)
    a, b = rng.integers(2, size=(2, 300))
    rows = coevo.read_data(np.array([a, b, a ^ b]).T, names=list("abc"))
    found = learn(rows, random_state=3)
    assert len(found.dag.arcs) == 2
    # each of the three can be the child of the others: every sample has two of three edges
    assert math.fsum(arc.strength for arc in found.quick_bootstrap.arcs) == pytest.approx(2)
    assert max(arc.strength for arc in found.quick_bootstrap.arcs) < 1


def test_the_answer_has_the_strength_of_each_arc(found):
    plain = found.as_dict()
    assert found.bootstrap is None
    assert "bootstraps" not in plain
    n_samples = found.quick_bootstrap.n_bootstraps
    facts = plain["quick_bootstrap"]
    assert list(facts) == [
        "n_bootstraps", "n_asked", "threshold", "consensus", "not_in_network", "arcs",
    ]  # fmt: skip
    assert facts["n_bootstraps"] == n_samples == 40
    assert [arc["gain"] for arc in plain["arcs"]] == sorted(found.gains.values(), reverse=True)
    for arc in plain["arcs"]:
        measured = found.quick_bootstrap.describe_arc((arc["from"], arc["to"]))
        assert list(measured) == ["strength", "interval", "direction", "reverse"]
        assert list(arc) == [
            "from",
            "to",
            "gain",
            "word",
            "directed",
            "directed_by",
            *measured,
            "says",
        ]
        assert {name: arc[name] for name in measured} == measured


def test_nothing_else_changes(found):
    off, full = learn(ROWS, random_state=3, bootstraps=0), learn(ROWS, random_state=3, bootstraps=2)
    assert (off.quick_bootstrap, full.quick_bootstrap) == (None, None)
    assert (off.bootstrap, full.bootstrap.n_bootstraps) == (None, 2)
    assert found.dag == off.dag == full.dag
    plain = found.as_dict()["arcs"]
    for arc in plain:
        for name in ("strength", "interval", "direction", "reverse"):
            del arc[name]
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
    learn(ROWS, random_state=3, bootstraps=0, output=tmp_path, budget={"max_generations": 5})
    resumed = learn(ROWS, random_state=3, output=tmp_path, resume=True)
    assert timeless(resumed) == timeless(found)


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
    assert "each learned by a short search" in (tmp_path / "report.html").read_text()


@ctrl_c_works()
@pytest.mark.parametrize("n_done", [0, 3])
def test_ctrl_c_keeps_the_network(n_done, found, monkeypatch, tmp_path):
    runs, pressed = [], []
    run_sample = quick_bootstrap.run_bootstrap

    def press(*arguments):
        runs.append(1)
        if len(runs) == n_done + 1:
            press_ctrl_c()
        return run_sample(*arguments)

    settings = check_settings("learn", random_state=3)
    with open_task(settings, ROWS, output=tmp_path) as task:
        result = task.search()
        monkeypatch.setattr(quick_bootstrap, "run_bootstrap", press)
        assert task.count_quick_samples(result) >= 25
        kept = task.run_bootstraps(result, on_interrupt=lambda: pressed.append(1))
    assert (len(runs), pressed) == (n_done + 1, [1])
    assert kept.dag == found.dag
    assert kept.quick_bootstrap is None
    run = read_run(tmp_path)
    assert run.network.dag == found.dag
    assert run.facts.get("quick_bootstrap") is None


def test_a_cluster_and_shards_have_none(found):
    settings = check_settings("learn", random_state=3)
    with open_task(settings, ROWS) as task:
        assert task.count_quick_samples(found) == found.quick_bootstrap.n_bootstraps
        there = replace(task, settings=replace(settings, cluster="tcp://HOST:8786"))
        assert there.count_quick_samples(found) == 0
        bare = replace(found, quick_bootstrap=None)
        told = there.run_bootstraps(bare)
        assert told.quick_bootstrap is None
        assert told.no_strengths.startswith("the rows are not in this process;")


def test_a_table_too_large_to_resample_has_none(found, monkeypatch):
    monkeypatch.setattr(quick_bootstrap, "get_machine_memory", lambda: 24 * 400 - 1)
    assert quick_bootstrap.run_quick_bootstrap(ROWS, found.spec, found.search, found.gains) is None
