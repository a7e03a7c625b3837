"""The paper's experiment: its numbers follow from its runs, also after interrupts and crashes."""

import csv
import json
import math
import os
import re
import shutil
import statistics
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from coevo import __version__
from coevo.bundled import load_network
from coevo.errors import DependencyError, FileError, FormatError, ParameterError
from coevo.experiments import Bench, Paper, run_paper
from coevo.experiments.bench.runs import make_bench_journal
from coevo.experiments.paper import report
from coevo.experiments.paper.plan import PaperDataSet, PaperRecord, make_paper_journal
from coevo.experiments.paper.report import describe_deviations, format_p_value, summarise
from coevo.experiments.related_methods.plan import Reviewed, make_reviewed_journal
from coevo.io import write_bif
from coevo.network import sample
from coevo.score import FamilyScorer
from coevo.search import SearchSpec
from helpers import papers
from helpers.errors import refusal
from helpers.interrupts import ctrl_c_works, press_ctrl_c
from helpers.papers import N_RUNS, SMALL, contents

DATA_SETS = [(network, rows) for network in SMALL.networks for rows in SMALL.rows]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder and the result of a small experiment without interrupts."""
    folder = tmp_path_factory.mktemp("finished") / "paper"
    return folder, run_paper(SMALL, folder)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """Return the folder of the same experiment without figures."""
    folder = tmp_path_factory.mktemp("plain") / "paper"
    run_paper(SMALL, folder, figures=False)
    return folder


class RunLog:
    """An `on_run` that records its calls; after some runs it presses Ctrl-C or fails."""

    def __init__(self, press_after=None, crash_after=None):
        self.keys, self.counts = [], []
        self.press_after, self.crash_after = press_after, crash_after

    def __call__(self, record, done, total):
        self.keys.append(record.key)
        self.counts.append((done, total))
        if len(self.keys) == self.press_after:
            press_ctrl_c()
        if len(self.keys) == self.crash_after:
            raise ZeroDivisionError


# -- the published numbers


def test_the_published_values():
    """Typed from the paper's tables 3 and 4: original; mean, sd, min, max of CCGA and of K2; p."""
    printed = """
    alarm 1000 -11569.02 -12166.21 178.23 -12663.12 -11850.92 \
        -12226.24 161.33 -12597.60 -11827.39 0.0067
    alarm 3000 -33759.28 -35020.31 396.06 -36275.13 -34093.27 \
        -35138.41 341.31 -36291.70 -34491.62 0.0125
    alarm 5000 -55575.11 -57282.66 548.55 -58636.40 -56185.14 \
        -57574.12 492.94 -58884.39 -56111.89 <0.0001
    insurance 1000 -15397.00 -15787.28 279.19 -16581.80 -15180.42 \
        -16107.61 293.06 -16928.16 -15458.19 <0.0001
    insurance 3000 -43508.63 -45142.37 722.67 -47530.71 -43789.77 \
        -45778.39 721.08 -47753.82 -44465.06 <0.0001
    insurance 5000 -72183.51 -74624.88 995.01 -77083.61 -72526.31 \
        -75837.82 1249.83 -79275.45 -73011.77 <0.0001
    """
    found = [
        [network, str(rows), *(f"{x:.2f}" for x in (row.original, *row.ccga, *row.k2)), row.p_value]
        for (network, rows), row in report.PUBLISHED.items()
    ]
    assert found == [line.split() for line in printed.strip().splitlines()]
    assert report.CROSSING == {"alarm": 230, "insurance": 150}
    assert report.TABLE == {"alarm": 3, "insurance": 4}
    assert report.FIGURE == {"alarm": 5, "insurance": 6}


def test_the_default_experiment_is_that_of_the_paper():
    paper = Paper()
    assert list(report.PUBLISHED) == [(data.network, data.rows) for data in paper.list_data_sets()]
    assert (paper.runs, paper.generations, paper.population) == (100, 250, 100)
    assert len(paper.list_jobs()) == 1200


# -- seeds


def test_seeds_belong_to_runs():
    """More runs, networks or rows do not change the other seeds."""
    seeds = {job.key: (job.seed, job.data.seed) for job in SMALL.list_jobs()}
    assert len({seed for seed, _ in seeds.values()}) == N_RUNS
    assert len({data_seed for _, data_seed in seeds.values()}) == len(DATA_SETS)
    for other in (
        replace(SMALL, runs=5),
        replace(SMALL, networks=("cancer", "sachs", "asia")),
        replace(SMALL, rows=(120, 7, 60)),
        replace(SMALL, generations=1, population=2),
    ):
        more = {job.key: (job.seed, job.data.seed) for job in other.list_jobs()}
        assert seeds.items() <= more.items()
    changed = {job.key: (job.seed, job.data.seed) for job in replace(SMALL, seed=1).list_jobs()}
    assert not seeds.items() & changed.items()


def test_seeds_never_change():
    """A later version must sample the data sets that the README of an old folder names."""
    assert [
        data.seed for data in Paper(networks=("asia", "cancer"), rows=(50, 100)).list_data_sets()
    ] == [
        2825863668,
        1010987346,
        161116969,
        1600942002,
    ]


# -- the numbers


def test_the_record_of_each_run(finished):
    folder, _ = finished
    lines = papers.read_lines(folder / "runs.jsonl")
    jobs = SMALL.list_jobs()
    assert [(line["network"], line["rows"], line["algorithm"], line["run"]) for line in lines] == [
        job.key for job in jobs
    ]
    for line, job in zip(lines, jobs, strict=True):
        assert line["seed"] == job.seed
        if job.algorithm == "k2":
            assert line["improvements"] == []
            continue
        generations, scores = zip(*line["improvements"], strict=True)
        assert generations[0] == 0
        assert list(generations) == sorted(set(generations))
        assert list(scores) == sorted(scores)
        assert scores[-1] == pytest.approx(line["score"], abs=0.00501)  # rounded
        assert line["generations"] == SMALL.generations
    times = papers.read_lines(folder / "times.jsonl")
    assert [{**time, "seconds": 0} for time in times] == [
        {name: line[name] for name in ("network", "rows", "algorithm", "run")} | {"seconds": 0}
        for line in lines
    ]
    assert all(time["seconds"] >= 0 for time in times)


def test_the_numbers_follow_from_the_runs(finished):
    folder, result = finished
    assert (result.is_complete, result.n_done, result.n_runs) == (True, N_RUNS, N_RUNS)
    rows = [summary.as_dict() for summary in result.summaries]
    assert [(row["network"], row["rows"]) for row in rows] == DATA_SETS
    for row, data in zip(rows, SMALL.list_data_sets(), strict=True):
        papers.check_row(row, papers.expected_row(folder, SMALL, data))
    crossings = [row["crossing_generation"] for row in rows]
    assert None in crossings  # both cases occur
    assert any(crossings)


def test_results_and_curves_as_csv(finished):
    folder, result = finished
    with (folder / "results.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    for line, summary in zip(found, result.summaries, strict=True):
        row = summary.as_dict()
        del row["ccga_seconds"], row["k2_seconds"]  # they differ from run to run
        row["crossing_generation"] = row["crossing_generation"] or ""
        assert line == {name: str(value) for name, value in row.items()}  # full precision
    with (folder / "convergence.csv").open(newline="") as file:
        curves = list(csv.DictReader(file))
    expected = []
    for network, rows in DATA_SETS:
        runs = papers.runs_of(folder, network, rows, "ccga")
        for generation, mean in enumerate(papers.mean_curve(runs, SMALL.generations)):
            best = [max(s for at, s in run["improvements"] if at <= generation) for run in runs]
            sd = statistics.stdev(best)
            expected.append([network, rows, generation, mean, sd])
    for line, row in zip(curves, expected, strict=True):
        assert list(line) == ["network", "rows", "generation", "ccga_mean", "ccga_sd"]
        assert [line["network"], int(line["rows"]), int(line["generation"])] == row[:3]
        found = [float(line["ccga_mean"]), float(line["ccga_sd"])]
        assert found == pytest.approx(row[3:], abs=0.00501)


def cells(summary):
    """Return the cells of a data set's two lines in the tables."""
    crossing = summary.crossing_generation
    found = [format_p_value(summary.p_value), "never" if crossing is None else str(crossing)]
    return [
        [summary.data.label, "CCGA", summary.original, *summary.ccga, *found],
        [summary.data.label, "K2", "", *summary.k2, "", ""],
    ]


def formatted(row, pattern):
    return [format(cell, pattern) if isinstance(cell, float) else cell for cell in row]


@pytest.mark.parametrize("network", SMALL.networks)
def test_the_tables_show_the_numbers(network, finished):
    folder, result = finished
    expected = [row for s in result.summaries if s.data.network == network for row in cells(s)]
    head = ["data set", "algorithm", "original DAG", "average", "sd", "minimum", "maximum", "p"]
    head += ["crossing"]
    with (folder / f"table-{network}.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [head, *(formatted(row, ".2f") for row in expected)]
    shown = [head, *(formatted(row, ",.2f") for row in expected)]
    markdown = (folder / f"table-{network}.md").read_text().splitlines()
    lines = [line.strip("|").split("|") for line in markdown if line.startswith("| ")]
    assert [[cell.strip() for cell in line] for line in lines] == shown
    latex = (folder / f"table-{network}.tex").read_text().splitlines()
    lines = [line.removesuffix(" \\\\").split(" & ") for line in latex if " & " in line]
    assert [[cell.strip() for cell in line] for line in lines] == shown
    page = (folder / "README.md").read_text()
    assert "\n".join(markdown) in page


def test_the_times(finished):
    folder, result = finished
    with (folder / "times.csv").open(newline="") as file:
        _, *lines = csv.reader(file)
    assert lines == [
        [s.data.label, f"{s.ccga_seconds:.3f}", f"{s.k2_seconds:.4f}", f"{s.time_ratio:.0f}"]
        for s in result.summaries
    ]
    for summary in result.summaries:
        assert summary.time_ratio * summary.k2_seconds == pytest.approx(summary.ccga_seconds)


def synthetic(ccga, k2, generations=4):
    """Return the summary of runs with these improvements and these scores."""

    def record(algorithm, run, score, improvements):
        return PaperRecord("x", 9, algorithm, run, 0, score, 3, 4, 5, improvements, 0.0)

    runs = [record("ccga", i, steps[-1][1], tuple(steps)) for i, steps in enumerate(ccga)]
    runs += [record("k2", i, score, ()) for i, score in enumerate(k2)]
    return summarise(PaperDataSet("x", 9, 0), -1.0, runs, generations)


def test_a_curve_holds_its_score_until_the_next_improvement():
    found = synthetic([[(0, -9.0), (3, -4.0)], [(0, -8.0), (1, -7.0), (4, -2.0)]], [-6.0, -7.0])
    assert found.curve.tolist() == [-8.5, -8.0, -8.0, -5.5, -3.0]
    assert found.curve_sd.tolist() == pytest.approx(
        [
            statistics.stdev(pair)
            for pair in zip([-9, -9, -9, -4, -4], [-8, -7, -7, -7, -2], strict=True)
        ]
    )
    assert found.crossing_generation == 3
    assert math.isnan(found.time_ratio)  # no run took any time


@pytest.mark.parametrize(
    ("level", "generation"), [(-9.0, 0), (-8.0, 1), (-5.0, 3), (-4.0, None), (-1.0, None)]
)
def test_the_crossing_is_the_first_generation_above(level, generation):
    steps = [(0, -8.0), (1, -6.0), (3, -4.0)]
    assert synthetic([steps, steps], [level, level]).crossing_generation == generation


@pytest.mark.parametrize(("k2", "p_value"), [(-5.0, 0.0), (-4.0, 0.5), (-3.0, 1.0)])
def test_p_where_nothing_varies(k2, p_value):
    assert synthetic([[(0, -4.0)]] * 2, [k2, k2]).p_value == p_value


@pytest.mark.parametrize("tiny", [0.0, 1e-13])
def test_p_where_one_algorithm_does_not_vary(tiny):
    """It is common on small networks and gives no warning."""
    found = synthetic([[(0, -4.0)], [(0, -4.0 + tiny)], [(0, -4.0)]], [-5.0, -6.0, -5.5])
    t = 1.5 / math.sqrt(0.25 / 3)  # two degrees of freedom: a closed form exists
    assert found.p_value == pytest.approx((1 - t / math.sqrt(2 + t * t)) / 2)


def test_equal_means_do_not_cross(tmp_path):
    """All runs find the same structure; its rounded score is below its exact score."""
    paper = Paper(("cancer",), (50,), runs=3, seed=11, generations=60, population=20)
    (found,) = run_paper(paper, tmp_path, figures=False).summaries
    assert (found.ccga, found.p_value) == (found.k2, 0.5)
    assert found.crossing_generation is None


@pytest.mark.parametrize(
    ("p_value", "text"),
    [
        (0.0, "<0.0001"),
        (0.00009, "<0.0001"),
        (0.0001, "0.0001"),
        (0.03456, "0.0346"),
        (1, "1.0000"),
    ],
)
def test_the_format_of_p_values(p_value, text):
    assert format_p_value(p_value) == text


# -- the same files after interrupts and with processes


def test_the_files(finished):
    folder, _ = finished
    assert set(os.listdir(folder)) == papers.SMALL_FILES
    facts = json.loads((folder / "experiment.json").read_text())
    assert facts == {"version": __version__, "seed": 0, "generations": 30, "population": 12}
    page = (folder / "README.md").read_text()
    command = " ".join(map(str, papers.arguments_of(SMALL)))
    assert f"\n    coevo paper {command} -o DIR\n" in page
    for network in SMALL.networks:
        assert f"]({'figure-' + network}.png)" in page


def test_two_processes_give_the_same_bytes(finished, tmp_path):
    calls = RunLog()
    run_paper(SMALL, tmp_path / "paper", n_jobs=2, on_run=calls)
    assert contents(tmp_path / "paper", timeless=True) == contents(finished[0], timeless=True)
    assert sorted(calls.keys) == sorted(job.key for job in SMALL.list_jobs())
    assert calls.counts == [(i + 1, N_RUNS) for i in range(N_RUNS)]


@ctrl_c_works()
@pytest.mark.parametrize("n_done", [1, 13, N_RUNS - 1])
def test_an_interrupted_experiment_continues(n_done, plain, tmp_path):
    first, second = RunLog(press_after=n_done), RunLog()
    stopped = run_paper(SMALL, tmp_path, figures=False, on_run=first)
    assert len(first.keys) == n_done
    assert (stopped.is_complete, stopped.n_done, stopped.n_runs) == (False, n_done, N_RUNS)
    assert stopped.summaries == ()
    assert set(os.listdir(tmp_path)) == papers.JOURNAL
    assert len(papers.read_lines(tmp_path / "runs.jsonl")) == n_done

    result = run_paper(SMALL, tmp_path, figures=False, on_run=second)
    assert result.is_complete
    assert sorted(first.keys + second.keys) == sorted(job.key for job in SMALL.list_jobs())
    assert second.counts == [(i + 1, N_RUNS) for i in range(n_done, N_RUNS)]
    assert contents(tmp_path, timeless=True) == contents(plain, timeless=True)


@ctrl_c_works()
def test_an_unfinished_run_is_not_recorded(plain, tmp_path, monkeypatch):
    """A second Ctrl-C ends the running search at once, which then returns its best structure."""
    search, n_searches = SearchSpec.run, []

    def pressed(spec, scorer):
        n_searches.append(1)
        press = len(n_searches) == 3
        calls = [lambda row: press and row.generation == 4 and press_ctrl_c(times=2)]
        return search(spec, scorer, callbacks=calls)

    with monkeypatch.context() as patch:
        patch.setattr(SearchSpec, "run", pressed)
        with pytest.raises(KeyboardInterrupt):
            run_paper(SMALL, tmp_path, figures=False)
    assert len(papers.read_lines(tmp_path / "runs.jsonl")) == 2
    run_paper(SMALL, tmp_path, figures=False)
    assert contents(tmp_path, timeless=True) == contents(plain, timeless=True)


def test_a_finished_experiment_does_not_change(plain, tmp_path):
    shutil.copytree(plain, tmp_path / "paper")
    calls = RunLog()
    result = run_paper(SMALL, tmp_path / "paper", figures=False, on_run=calls)
    assert calls.keys == []
    assert (result.is_complete, len(result.summaries)) == (True, len(DATA_SETS))
    assert contents(tmp_path / "paper") == contents(plain)  # even the times


@pytest.mark.parametrize(
    ("n_runs", "n_times", "half"),
    [
        (9, 9, '{"network": "asia", "ro'),  # a truncated line
        (9, 10, ""),  # a crash between the writes to the two files
        (10, 7, ""),  # without its time a run does not count
        (0, 1, '{"network": "asia", "rows": 60}'),  # a complete record without its line end
        (0, 0, "{"),
    ],
)
def test_a_crash_loses_only_the_running_job(n_runs, n_times, half, plain, tmp_path):
    shutil.copy(plain / "experiment.json", tmp_path)
    for name, n_lines in (("runs.jsonl", n_runs), ("times.jsonl", n_times)):
        lines = (plain / name).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[:n_lines]) + half)
    crashing, calls = RunLog(crash_after=2), RunLog()
    with pytest.raises(ZeroDivisionError):
        run_paper(SMALL, tmp_path, figures=False, on_run=crashing)
    run_paper(SMALL, tmp_path, figures=False, on_run=calls)
    assert len(calls.keys) == N_RUNS - min(n_runs, n_times) - 2
    assert contents(tmp_path, timeless=True) == contents(plain, timeless=True)


@pytest.mark.parametrize(
    ("first", "n_first"),
    [
        (replace(SMALL, runs=2), 16),
        (replace(SMALL, networks=("sachs",)), 12),
        (replace(SMALL, networks=("sachs", "asia"), rows=(120,)), 12),
    ],
    ids=["runs", "networks", "rows"],
)
def test_a_larger_experiment_keeps_the_finished_runs(first, n_first, plain, tmp_path):
    earlier, later = RunLog(), RunLog()
    run_paper(first, tmp_path, figures=False, on_run=earlier)
    times = papers.read_lines(tmp_path / "times.jsonl")
    run_paper(SMALL, tmp_path, figures=False, on_run=later)
    assert (len(earlier.keys), len(later.keys)) == (n_first, N_RUNS - n_first)
    assert not set(earlier.keys) & set(later.keys)
    assert contents(tmp_path, timeless=True) == contents(plain, timeless=True)
    assert all(line in papers.read_lines(tmp_path / "times.jsonl") for line in times)


def test_a_smaller_experiment_keeps_all_finished_runs(plain, tmp_path):
    few = replace(SMALL, networks=("sachs",), runs=2)
    run_paper(few, tmp_path / "fresh", figures=False)
    shutil.copytree(plain, tmp_path / "paper")
    calls = RunLog()
    run_paper(few, tmp_path / "paper", figures=False, on_run=calls)
    assert calls.keys == []
    found, expected = (contents(tmp_path / name, timeless=True) for name in ("paper", "fresh"))
    for name in ("table-sachs.md", "results.csv", "convergence.csv", "README.md"):
        assert found[name] == expected[name]
    assert sorted(found["runs.jsonl"].splitlines()) == sorted(
        (plain / "runs.jsonl").read_bytes().splitlines()
    )


def test_a_network_from_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("my nets")
    write_bif(load_network("asia"), "my nets/asia.bif")
    paper = Paper(networks=("my nets/asia.bif",), rows=(60,), runs=2, generations=3, population=4)
    result = run_paper(paper, Path("paper"))
    stems = ("table-my-nets-asia.bif", "figure-my-nets-asia.bif")
    assert set(os.listdir("paper")) == papers.file_names(stems)
    (data,) = paper.list_data_sets()
    scorer = FamilyScorer(sample(load_network("asia"), 60, data.seed), "k2")
    assert result.summaries[0].original == scorer.score(load_network("asia").dag)


# -- invalid parameters and files


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"runs": 1}, "'runs' of paper must be an int >= 2; got 1."),
        ({"runs": 2.0}, "'runs' of paper must be an int >= 2; got 2.0."),
        ({"seed": -1}, "'seed' of paper must be an int >= 0; got -1."),
        ({"generations": -1}, "'generations' of paper must be an int >= 0; got -1."),
        ({"population": 1}, "'population' of paper must be an int >= 2; got 1."),
        ({"population": True}, "'population' of paper must be an int >= 2; got True."),
        ({"rows": ()}, "'rows' of paper must be ints >= 1; got ()."),
        ({"rows": [5, 0]}, "'rows' of paper must be ints >= 1; got (5, 0)."),
        ({"rows": [5, 7, 5]}, "'rows' of paper names 5 twice."),
        ({"networks": []}, "'networks' of paper must be names of networks; got ()."),
        ({"networks": ["asia", "asia"]}, "'networks' of paper names asia twice."),
    ],
)
def test_an_invalid_experiment(options, sentence):
    assert refusal(ParameterError, Paper, **options) == sentence


@pytest.mark.parametrize(
    ("change", "options", "sentence"),
    [
        ({"networks": ("asia", "asai")}, {}, "There is no file and no bundled network 'asai'. "
         "Did you mean 'asia'?"),
        ({"networks": ("asia", "no.bif")}, {}, "There is no file 'no.bif'."),
        ({}, {"n_jobs": 0}, "'n_jobs' of paper must be an int >= 1; got 0."),
        ({}, {"folder": "file"}, "'file' is a file. Name a folder."),
        ({}, {"folder": "file/x"}, "'file/x' cannot be created: 'file' is a file."),
    ],
)  # fmt: skip
def test_checks_come_before_anything_is_written(change, options, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    folder = Path(options.pop("folder", "new/folder"))
    calls = RunLog()
    found = refusal(
        (FileError, ParameterError),
        run_paper,
        replace(SMALL, **change),
        folder,
        on_run=calls,
        **options,
    )
    assert found == sentence
    assert calls.keys == []
    assert contents(tmp_path) == {"file": b"mine"}


def test_without_matplotlib(plain, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    calls = RunLog()
    sentence = "matplotlib is not installed. Install it with: pip install 'coevo[plot]'"
    folder = tmp_path / "paper"
    assert refusal(DependencyError, run_paper, SMALL, folder, on_run=calls) == sentence
    assert calls.keys == []
    assert os.listdir(tmp_path) == []
    run_paper(SMALL, folder, figures=False)
    assert contents(folder, timeless=True) == contents(plain, timeless=True)
    names = papers.file_names(("table-asia", ""), ("table-sachs", ""), figures=False)
    assert set(os.listdir(folder)) == names
    assert "figure" not in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("paper", "name", "was", "now"),
    [
        (replace(SMALL, seed=3), "seed", 0, 3),
        (replace(SMALL, generations=31), "generations", 30, 31),
        (replace(SMALL, population=10), "population", 12, 10),
    ],
    ids=["seed", "generations", "population"],
)
def test_another_experiment_in_the_same_folder(paper, name, was, now, plain):
    before = contents(plain)
    assert refusal(FileError, run_paper, paper, plain) == (
        f"{str(plain)!r} holds runs with {name} {was}; this is {now}. Give another folder."
    )
    assert contents(plain) == before


def test_another_version_in_the_same_folder(plain, tmp_path):
    shutil.copytree(plain, tmp_path / "paper")
    path = tmp_path / "paper" / "experiment.json"
    path.write_text(path.read_text().replace(__version__, "0.0.1"))
    assert refusal(FileError, run_paper, SMALL, tmp_path / "paper") == (
        f"{str(tmp_path / 'paper')!r} holds runs with version 0.0.1; this is {__version__}. "
        "Give another folder."
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00"])
def test_a_damaged_experiment(text, plain, tmp_path):
    path = tmp_path / "paper" / "experiment.json"
    shutil.copytree(plain, path.parent)
    path.write_text(text)
    before = contents(path.parent)
    assert refusal(FormatError, run_paper, SMALL, path.parent) == (
        f"{str(path)!r} is damaged. Give another folder."
    )
    assert contents(path.parent) == before


def test_runs_of_an_unknown_experiment(plain, tmp_path):
    folder = tmp_path / "paper"
    shutil.copytree(plain, folder)
    (folder / "experiment.json").unlink()
    assert refusal(FileError, run_paper, SMALL, folder) == (
        f"{str(folder)!r} holds runs, but no 'experiment.json' with their settings. "
        "Give another folder."
    )


@pytest.mark.parametrize("name", ["runs.jsonl", "times.jsonl"])
@pytest.mark.parametrize("line", ["", "{", "[]", "7", "null", '{"network": "asia"}'])
def test_a_damaged_line(name, line, plain, tmp_path):
    path = tmp_path / "paper" / name
    shutil.copytree(plain, path.parent)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], line, *lines[5:], ""]))
    before = contents(path.parent)
    assert refusal(FormatError, run_paper, SMALL, path.parent) == (
        f"Line 5 of {str(path)!r} is damaged. Remove it or give another folder."
    )
    assert contents(path.parent) == before


@pytest.mark.parametrize(
    ("name", "was", "now"),
    [
        ("times.jsonl", '"seconds":', '"second":'),
        ("runs.jsonl", '"score":', '"scor":'),
        ("runs.jsonl", '"score": -', '"score": "x", "n_arcs": -'),
        ("runs.jsonl", '"run": ', '"run": 0.'),
        ("runs.jsonl", '"rows": 60', '"rows": "60"'),
        ("runs.jsonl", '"algorithm": "', '"algorithm": "x'),
        ("runs.jsonl", '"improvements": [[0,', '"improvements": [[1,'),
        ("runs.jsonl", '"improvements": [', '"improvements": [7, '),
        ("runs.jsonl", '"network": "asia"', '"network": []'),
        ("runs.jsonl", '"seed":', '"more": 1, "seed":'),
    ],
)
def test_a_json_line_that_is_not_a_run(name, was, now, plain, tmp_path):
    path = tmp_path / "paper" / name
    shutil.copytree(plain, path.parent)
    first, second, *rest = path.read_text().splitlines()
    assert was in second
    path.write_text("\n".join([first, second.replace(was, now, 1), *rest, ""]))
    before = contents(path.parent)
    assert refusal(FormatError, run_paper, SMALL, path.parent) == (
        f"Line 2 of {str(path)!r} is damaged. Remove it or give another folder."
    )
    assert contents(path.parent) == before


def test_the_readme_has_the_commands_that_sample_the_data(finished):
    page = (finished[0] / "README.md").read_text()
    found = re.findall(r"^    coevo sample (\S+) --rows (\d+) --seed (\d+) -o (\S+)$", page, re.M)
    assert found == [
        (data.network, str(data.rows), str(data.seed), f"{data.network}-{data.rows}.csv")
        for data in SMALL.list_data_sets()
    ]


@pytest.mark.parametrize(
    ("original", "k2", "found"),
    [
        (-20.0, -9.0, ["The sign agrees", "Above the original DAG", "Earlier crossings"]),
        (-1.0, -9.0, ["The sign agrees", "Earlier crossings"]),
        (-1.0, -3.0, ["The sign"]),
    ],
)
def test_the_readme_names_where_the_results_differ(original, k2, found):
    """Only what the runs show: both above the original DAG, the sign, the crossing."""
    steps = [(0, -20.0), (2, -4.0)]
    summary = replace(
        synthetic([steps, steps], [k2, k2]),
        data=PaperDataSet("insurance", 1000, 0),
        original=original,
    )
    lines = list(describe_deviations([summary]))
    assert [line.split("**")[1].rstrip(".") for line in lines if "**" in line] == found


def test_a_network_file_that_has_changed(tmp_path):
    """Old runs are not mixed with runs on another network of the same name."""
    path, folder = tmp_path / "net.bif", tmp_path / "paper"
    write_bif(load_network("asia"), path)
    paper = Paper(networks=(str(path),), rows=(50,), runs=2, generations=2, population=4)
    run_paper(paper, folder, figures=False)
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    path.write_text(path.read_text() + "\n// a comment does not matter\n")
    run_paper(paper, folder, figures=False)
    assert json.loads((folder / "experiment.json").read_text())["inputs"].keys() == {str(path)}
    write_bif(load_network("cancer"), path)
    with pytest.raises(FileError) as caught:
        run_paper(paper, folder, figures=False)
    assert str(caught.value) == (
        f"{str(folder)!r} holds runs on another version of {str(path)!r}. Give another folder."
    )
    assert (folder / "runs.jsonl").read_bytes() == before["runs.jsonl"]
    # Another plan keeps what the folder knows of other inputs.
    other = Paper(networks=("asia",), rows=(50,), runs=2, generations=2, population=4)
    run_paper(other, folder, figures=False)
    with pytest.raises(FileError):
        make_paper_journal(folder, paper)
    facts = json.loads((folder / "experiment.json").read_text())
    (folder / "experiment.json").write_text(json.dumps({**facts, "inputs": 3}))
    with pytest.raises(FormatError):
        make_paper_journal(folder, paper)


@pytest.mark.parametrize("kind", ["reviewed", "bench"])
def test_other_journals_know_the_network_files(kind, tmp_path):
    path, folder = tmp_path / "net.bif", tmp_path / "run"
    write_bif(load_network("asia"), path)
    networks = {"networks": (str(path),), "rows": (50,)}

    def open_journal():
        if kind == "reviewed":
            make_reviewed_journal(folder, Reviewed(**networks)).open()
        else:
            bench = Bench(**networks, methods=("k2",), peers=())
            make_bench_journal(folder, bench, "coevo bench").open()

    open_journal()
    open_journal()
    write_bif(load_network("cancer"), path)
    with pytest.raises(FileError) as caught:
        open_journal()
    assert str(caught.value) == (
        f"{str(folder)!r} holds runs on another version of {str(path)!r}. Give another folder."
    )
