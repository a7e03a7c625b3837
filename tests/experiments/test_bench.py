"""The comparison: its numbers follow from its runs, also after interrupts and failures."""

import json
import os
import statistics
import xml.etree.ElementTree as ET
from dataclasses import replace
from importlib import util
from pathlib import Path

import pytest

import coevo.experiments.bench
from coevo import __version__
from coevo.bundled import load_network
from coevo.errors import FileError, FormatError, ParameterError
from coevo.experiments import Bench, run_bench
from coevo.experiments.bench.plan import BenchDataSet, BenchSetting
from coevo.experiments.bench.report import draw_figure
from coevo.experiments.bench.runs import get_time_limit
from coevo.experiments.experiment import describe_machine
from coevo.experiments.peers import PEERS
from coevo.graph import DAG, compare
from coevo.network import sample
from coevo.score import BDeu, FamilyScorer
from coevo.search import METHODS, Budget, run_search
from helpers import benches, isolated_jobs
from helpers.benches import FIGURES, JOURNAL, N_RUNS, PLAIN, SMALL, as_texts, read_csv, timeless
from helpers.errors import refusal
from helpers.interrupts import ctrl_c_works, press_ctrl_c
from helpers.papers import contents, read_lines

LISTED = ", ".join(map(repr, sorted(METHODS)))

in_this_process = benches.in_this_process


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder and the result of a small comparison without interrupts."""
    folder = tmp_path_factory.mktemp("finished") / "bench"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coevo.parallel.processes.run_isolated", benches.here)
        return folder, run_bench(SMALL, folder)


# -- the plan


def test_seeds_belong_to_runs():
    """More seeds, networks, sizes or methods do not change the other seeds."""
    seeds = {job.key: (job.data.seed, job.seed) for job in SMALL.list_jobs()}
    assert len(seeds) == N_RUNS
    for other in (
        replace(SMALL, seeds=4),
        replace(SMALL, networks=("cancer", "sachs", "asia")),
        replace(SMALL, rows=(120, 7, 60)),
        replace(SMALL, methods=("tabu", "k2", "hill_climb"), max_time=3.0, score=BDeu(7)),
    ):
        more = {job.key: (job.data.seed, job.seed) for job in other.list_jobs()}
        assert seeds.items() <= more.items()
    changed = {job.key: (job.data.seed, job.seed) for job in replace(SMALL, seed=1).list_jobs()}
    assert not seeds.items() & changed.items()


def test_seeds_never_change():
    """A later version must sample the data sets that the README of an old folder names."""
    assert Bench(networks=("asia",), rows=(50,), seeds=2, peers=()).list_data_sets() == [
        BenchDataSet(BenchSetting("asia", 50), 0, 463402530),
        BenchDataSet(BenchSetting("asia", 50), 1, 1966935803),
    ]


def test_all_methods_run_on_the_same_rows():
    by_data = {}
    for job in SMALL.list_jobs():
        by_data.setdefault(job.data, []).append((job.method, job.kind))
    runners = [("hill_climb", "ours"), ("k2", "ours"), ("pyagrum", "peer"), ("pybnesian", "peer")]
    assert list(by_data.values()) == [runners] * 4
    assert len({data.seed for data in by_data}) == 4


def test_the_default_comparison():
    bench = Bench()
    assert bench.methods == ("ccma", "ccga", "k2", "hill_climb", "tabu")
    assert set(bench.methods) <= set(METHODS)
    assert bench.peers == tuple(PEERS)
    assert (bench.score, bench.max_time, bench.seeds) == (BDeu(1.0), 60.0, 5)


def test_the_time_limit_of_a_run():
    """A method of coevo may finish its generation; a peer is killed at the limit."""
    jobs = {job.kind: get_time_limit(job) for job in replace(SMALL, max_time=20.0).list_jobs()}
    assert jobs == {"ours": 35.0, "peer": 20.0}


# -- the numbers


def test_each_result_follows_from_its_arcs_and_the_data(finished):
    folder, result = finished
    assert (result.is_complete, result.n_done, result.n_runs) == (True, N_RUNS, N_RUNS)
    runs, rows = read_lines(folder / "runs.jsonl"), read_csv(folder / "results.csv")
    times = read_lines(folder / "times.jsonl")
    by_data = {}
    for job, run, row, time in zip(SMALL.list_jobs(), runs, rows, times, strict=True):
        network = load_network(job.data.setting.network)
        dataset = sample(network, job.data.setting.rows, job.data.seed)
        scorer = FamilyScorer(dataset, "k2")
        dag = DAG(dataset.names, map(tuple, run["arcs"]))
        judged = compare(dag, network.dag)
        expected = {
            "network": network.name,
            "rows": dataset.n_rows,
            "seed": job.data.repetition,
            "method": job.method,
            "kind": job.kind,
            "version": __version__ if job.kind == "ours" else PEERS[job.method].version,
            "score_name": "k2",
            "score_used": "bdeu (ess 1)" if job.method == "pybnesian" else "k2",
            "status": "done",
            "stop_reason": "finished",
            "score": scorer.score(dag),
            "true_score": scorer.score(network.dag),
            "n_arcs": len(dag.arcs),
            "shd": judged.shd,
            "shd_cpdag": judged.shd_cpdag,
            "sid": judged.sid,
            "held_out": "",
            "skeleton_f1": judged.skeleton_f1,
            "arc_f1": judged.arc_f1,
            "seconds": time["seconds"],
            "data_seed": job.data.seed,
            "search_seed": "" if job.seed is None else job.seed,
            "error": "",
        }
        assert {name: row[name] for name in expected} == {k: str(v) for k, v in expected.items()}
        by_data.setdefault(job.data, []).append((row, scorer.score(dag)))
    for found in by_data.values():
        best = max(score for _, score in found)
        for row, score in found:
            assert float(row["best_score"]) == best
            assert float(row["gap_to_best"]) == best - score
            assert float(row["above_true"]) == score - float(row["true_score"])


def test_a_run_of_coevo_equals_run_search(finished):
    folder, _ = finished
    for job, run in zip(SMALL.list_jobs(), read_lines(folder / "runs.jsonl"), strict=True):
        if job.kind == "ours":
            setting = job.data.setting
            rows = sample(load_network(setting.network), setting.rows, job.data.seed)
            found = run_search(job.method, FamilyScorer(rows, "k2"), random_state=job.seed)
            assert [list(arc) for arc in found.dag.arcs] == run["arcs"]
            assert found.score == run["score"]


def test_curves_rise_to_the_score(finished):
    folder, _ = finished
    runs, times = (read_lines(folder / name) for name in ("runs.jsonl", "times.jsonl"))
    for run, time in zip(runs, times, strict=True):
        if run["kind"] == "peer":
            assert time["curve"] == []
            continue
        seconds, scores = zip(*time["curve"], strict=True)
        assert list(seconds) == sorted(seconds)
        assert list(scores) == sorted(scores)
        assert scores[-1] == pytest.approx(run["score"], abs=1e-6)


def test_the_summary_follows_from_the_results(finished):
    folder, result = finished
    rows, summaries = read_csv(folder / "results.csv"), read_csv(folder / "summary.csv")
    assert [tuple(s[x] for x in ("network", "rows", "method")) for s in summaries] == [
        (network, str(size), method)
        for network in SMALL.networks
        for size in SMALL.rows
        for method in SMALL.runners
    ]
    assert [as_texts(s.as_dict()) for s in result.summaries] == summaries
    for summary in summaries:
        key = ("network", "rows", "method")
        own = [row for row in rows if all(row[name] == summary[name] for name in key)]
        assert (summary["runs"], summary["done"]) == ("2", "2")
        distances = ("shd", "shd_cpdag", "sid", "skeleton_f1", "arc_f1")
        for name in ("gap_to_best", "n_arcs", "true_score", "above_true", *distances):
            mean = statistics.mean(float(row[name]) for row in own)
            assert float(summary[f"mean_{name}"]) == pytest.approx(mean)
        at_best = sum(row["score"] == row["best_score"] for row in own) / 2
        assert float(summary["share_at_best"]) == at_best
        seconds = statistics.median(float(row["seconds"]) for row in own)
        assert float(summary["median_seconds"]) == seconds


# -- the files


def test_the_files(finished):
    folder, _ = finished
    assert set(os.listdir(folder)) == PLAIN | FIGURES
    facts = json.loads((folder / "experiment.json").read_text())
    command = " ".join(map(str, benches.arguments_of(SMALL)))
    assert facts["versions"].keys() >= {"python", "coevo", "numpy", "pyagrum", "pybnesian"}
    del facts["versions"]
    assert facts == {
        "version": __version__,
        "seed": 0,
        "score": "k2",
        "max_time": 60.0,
        "machine": describe_machine(),
        "command": f"coevo bench {command} -o DIR",
        "networks": ["asia"],
        "rows": [60, 120],
        "seeds": 2,
        "methods": ["hill_climb", "k2"],
        "peers": ["pyagrum", "pybnesian"],
        "not_installed": [],
    }


def test_the_readme(finished):
    folder, _ = finished
    page = (folder / "README.md").read_text()
    assert f"    {json.loads((folder / 'experiment.json').read_text())['command']}\n" in page
    assert f"on {describe_machine()}; python " in page
    version = PEERS["pybnesian"].version
    assert f"| pybnesian | greedy hill climbing of pybnesian {version} | bdeu (ess 1) |" in page
    for name in FIGURES:
        assert (f"]({name})" in page) == name.endswith(".png")
    for data in SMALL.list_data_sets():
        network, rows = data.setting.network, data.setting.rows
        name = f"{network}-{rows}-{data.repetition}.csv"
        line = f"    coevo sample {network} --rows {rows} --seed {data.seed} -o {name}\n"
        assert line in page
    markdown = (folder / "summary.md").read_text().splitlines()
    assert len([line for line in markdown if line in page]) == len(markdown)
    assert "failed" not in page


def test_the_figures_show_the_runs(finished):
    folder, _ = finished
    for network in SMALL.networks:
        for kind in ("scores", "gaps", "shd"):
            root = ET.fromstring((folder / f"figure-{kind}-{network}.svg").read_text())
            texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
            assert {*SMALL.runners, *(f"{network}, {n} rows" for n in SMALL.rows)} <= texts


# -- the same result after interrupts and with processes


@ctrl_c_works()
@pytest.mark.parametrize("n_done", [1, 9, N_RUNS - 1])
def test_an_interrupted_comparison_continues(n_done, finished, tmp_path, in_this_process):
    calls = []

    def on_run(record, done, total):
        calls.append((record.key, done, total))
        if len(calls) == n_done:
            press_ctrl_c()

    stopped = run_bench(SMALL, tmp_path, figures=False, on_run=on_run)
    assert (stopped.is_complete, stopped.n_done, stopped.n_runs) == (False, n_done, N_RUNS)
    assert (stopped.summaries, stopped.results) == ((), ())
    assert set(os.listdir(tmp_path)) == JOURNAL
    assert len(read_lines(tmp_path / "runs.jsonl")) == n_done

    assert run_bench(SMALL, tmp_path, figures=False, on_run=on_run).is_complete
    assert [done for _, done, _ in calls] == list(range(1, N_RUNS + 1))
    assert {key for key, _, _ in calls} == {job.key for job in SMALL.list_jobs()}
    assert set(os.listdir(tmp_path)) == PLAIN
    assert timeless(tmp_path) == timeless(finished[0])


def test_processes_give_the_same_runs(finished, tmp_path):
    """Each run in its own process, two at once."""
    runners = {"methods": ("k2",), "peers": ("pybnesian",)}
    bench = replace(SMALL, rows=(60,), seeds=1, **runners)
    assert run_bench(bench, tmp_path, n_jobs=2, figures=False).is_complete
    keys = {job.key for job in bench.list_jobs()}
    lines = (finished[0] / "runs.jsonl").read_text().splitlines()
    names = ("network", "rows", "repetition", "method")
    wanted = [line for line in lines if tuple(json.loads(line)[x] for x in names) in keys]
    assert (tmp_path / "runs.jsonl").read_text().splitlines() == wanted
    assert len(wanted) == 2


def test_more_seeds_keep_the_finished_runs(tmp_path, in_this_process):
    small = replace(SMALL, rows=(60,), methods=("k2",))
    calls = []
    run_bench(replace(small, peers=()), tmp_path, figures=False)
    before = read_lines(tmp_path / "runs.jsonl")
    run_bench(small, tmp_path, figures=False, on_run=lambda record, *_: calls.append(record.method))
    assert calls == ["pyagrum", "pybnesian"] * 2
    assert [
        line for line in read_lines(tmp_path / "runs.jsonl") if line["method"] == "k2"
    ] == before


# -- runs without a result


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Return a comparison in which no peer has a result, and its result."""
    bench = Bench(("cancer",), (60,), 1, ("k2",), ("pyagrum", "pybnesian", "pgmpy"), max_time=0.3)
    folder = tmp_path_factory.mktemp("broken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(util, "find_spec", lambda module: module)  # as if all were installed
        patch.setattr(coevo.experiments.bench, "run_bench_job", isolated_jobs.hang_or_crash)
        return bench, folder, run_bench(bench, folder)


def test_timeouts_and_crashes_are_recorded(broken):
    _, folder, result = broken
    assert result.is_complete
    rows = {row["method"]: row for row in read_csv(folder / "results.csv")}
    assert [(row["status"], row["error"]) for row in rows.values()] == [
        ("done", ""),
        ("timeout", ""),
        ("failed", "its process was killed by SIGSEGV"),
        ("failed", "ValueError: pgmpy does"),
    ]
    empty = ("score", "gap_to_best", "above_true", "n_arcs", "shd", "skeleton_f1", "seconds")
    assert all(rows[name][x] == "" for name in ("pyagrum", "pybnesian", "pgmpy") for x in empty)
    assert {row["best_score"] for row in rows.values()} == {rows["k2"]["score"]}


def test_failures_are_in_the_summary_and_the_readme(broken):
    _, folder, result = broken
    counts = [(s.method, s.done, s.timeouts, s.failed) for s in result.summaries]
    assert counts == [
        ("k2", 1, 0, 0), ("pyagrum", 0, 1, 0), ("pybnesian", 0, 0, 1), ("pgmpy", 0, 0, 1)
    ]  # fmt: skip
    assert result.summaries[1].mean_shd is None
    page = (folder / "README.md").read_text()
    nothing = "- | 0 % | - | - | - | - | - | - | - |"
    assert f"| pyagrum | 1, 1 timed out | {nothing}\n" in page
    assert f"| pybnesian | 1, 1 failed | {nothing}\n" in page
    assert (
        "## Failed runs\n\n"
        "- pybnesian on cancer, 60 rows: its process was killed by SIGSEGV\n"
        "- pgmpy on cancer, 60 rows: ValueError: pgmpy does\n"
    ) in page


def test_failed_runs_are_not_repeated(broken):
    bench, folder, _ = broken
    calls = []
    before = timeless(folder)
    run_bench(bench, folder, figures=False, on_run=lambda *run: calls.append(run))
    assert calls == []
    assert timeless(folder) == before


def test_failures_are_named_in_the_box_plots(broken):
    bench, folder, result = broken
    records = list(result.results)
    root = ET.fromstring((folder / "figure-gaps-cancer.svg").read_text())
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert (texts.count("timed out"), texts.count("failed")) == (1, 2)
    assert len(records) == 4
    assert draw_figure("shd", bench, "cancer", []).axes  # a figure without runs


def test_a_peer_that_is_not_installed_is_left_out(tmp_path, monkeypatch, in_this_process):
    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda m: None if m == "pybnesian" else find(m))
    bench = replace(SMALL, rows=(60,), seeds=1)
    result = run_bench(bench, tmp_path, figures=False)
    assert [row.method for row in result.results] == ["hill_climb", "k2", "pyagrum"]
    facts = json.loads((tmp_path / "experiment.json").read_text())
    assert facts["not_installed"] == ["pybnesian"]
    assert (
        "\npybnesian is not installed and is left out. "
        "Install it with: pip install 'coevo[bench]'\n"
    ) in (tmp_path / "README.md").read_text()


def test_a_run_that_the_time_limit_stopped(tmp_path, in_this_process, monkeypatch):
    monkeypatch.setattr(METHODS["ccga"], "default_budget", Budget(max_generations=10**9))
    bench = Bench(("cancer",), (60,), 1, ("ccga",), (), max_time=0.05)
    (result,) = run_bench(bench, tmp_path, figures=False).results
    assert (result.stop_reason, result.status) == ("time", "done")
    assert result.seconds >= 0.05


# -- invalid parameters and files


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seeds": 0}, "'seeds' of bench must be an int >= 1; got 0."),
        ({"seed": -1}, "'seed' of bench must be an int >= 0; got -1."),
        ({"rows": [5, 0]}, "'rows' of bench must be ints >= 1; got (5, 0)."),
        ({"rows": [5, 7, 5]}, "'rows' of bench names 5 twice."),
        ({"networks": []}, "'networks' of bench must be names of networks; got ()."),
        ({"networks": ["asia", "asia"]}, "'networks' of bench names asia twice."),
        ({"methods": ["k2", "k2"]}, "'methods' of bench names k2 twice."),
        ({"peers": ["pgmpy", "pgmpy"]}, "'peers' of bench names pgmpy twice."),
        ({"max_time": 0}, "'max_time' of bench must be a number > 0; got 0."),
        ({"max_time": float("nan")}, "'max_time' of bench must be a number > 0; got nan."),
        ({"score": "k2"}, "'score' of bench must be a Score; got 'k2'."),
        (
            {"methods": ["k2", "tabo"]},
            f"'methods' of bench must be one of {LISTED}; got 'tabo'. Did you mean 'tabu'?",
        ),
        (
            {"peers": ["pgmpi"]},
            "'peers' of bench must be one of 'causal-learn', 'pgmpy', 'pyagrum', 'pybnesian'; got "
            "'pgmpi'. Did you mean 'pgmpy'?",
        ),
    ],
)
def test_an_invalid_comparison(options, sentence):
    assert refusal(ParameterError, Bench, **options) == sentence


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        ({"networks": ("asai",)}, {}, "There is no file and no bundled network 'asai'. "
         "Did you mean 'asia'?"),
        ({}, {"n_jobs": 0}, "'n_jobs' of bench must be an int >= 1; got 0."),
        ({"methods": (), "peers": ()}, {}, "There is nothing to run. Give a method, or install one "
         "of the peers."),
    ],
)  # fmt: skip
def test_checks_come_before_anything_is_written(change, options, sentence, tmp_path):
    folder = tmp_path / "new" / "folder"
    kinds = (FileError, ParameterError)
    assert refusal(kinds, run_bench, replace(SMALL, **change), folder, **options) == sentence
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"seed": 3}, "seed 0; this is 3"),
        ({"score": BDeu(2)}, "score k2; this is bdeu (ess 2)"),
        ({"max_time": 5.0}, "max_time 60.0; this is 5.0"),
    ],
)
def test_another_comparison_in_the_same_folder(change, what, finished):
    folder, _ = finished
    before = contents(folder)
    assert refusal(FileError, run_bench, replace(SMALL, **change), folder) == (
        f"{str(folder)!r} holds runs with {what}. Give another folder."
    )
    assert contents(folder) == before


@pytest.mark.parametrize(
    ("name", "was", "now"),
    [
        ("times.jsonl", '"seconds": ', '"seconds": "x", "more": '),
        ("times.jsonl", '"seconds": ', '"seconds": "nan", "more": '),
        ("times.jsonl", '"curve": [', '"curve": [["nan", "1"], '),
        ("times.jsonl", '"curve": [', '"curve": [3, '),
        ("runs.jsonl", '"status": "done"', '"status": "over"'),
        ("runs.jsonl", '"status": "done"', '"status": "failed"'),
        ("runs.jsonl", '"score": -', '"score": null, "n": -'),
        ("runs.jsonl", '"arcs": [', '"arcs": [7, '),
        ("runs.jsonl", '"repetition": 0', '"repetition": 0.5'),
        ("runs.jsonl", '"method": "k2"', '"method": null'),
        ("runs.jsonl", '"rows": 60', '"rows": "60"'),
    ],
)
def test_a_damaged_line(name, was, now, finished, tmp_path):
    for file in JOURNAL:
        (tmp_path / file).write_bytes((finished[0] / file).read_bytes())
    first, second, *rest = (tmp_path / name).read_text().splitlines()
    assert was in second
    (tmp_path / name).write_text("\n".join([first, second.replace(was, now, 1), *rest, ""]))
    before = contents(tmp_path)
    assert refusal(FormatError, run_bench, SMALL, tmp_path) == (
        f"Line 2 of {str(tmp_path / name)!r} is damaged. Remove it or give another folder."
    )
    assert contents(tmp_path) == before
    assert Path(tmp_path, name).exists()
