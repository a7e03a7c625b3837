"""The comparison of reviewed systems: its runs can be repeated, its numbers follow from them."""

import csv
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest
from scipy import stats

import naive
from coevo import __version__
from coevo.bundled import load_network
from coevo.errors import DependencyError, FileError, FormatError, ParameterError
from coevo.experiments import Paper, Reviewed, run_paper, run_reviewed
from coevo.experiments.paper.report import PUBLISHED
from coevo.experiments.related_methods.plan import SYSTEMS, count_ccga_evaluations, draw_order
from coevo.experiments.related_methods.summary import ELSEWHERE
from coevo.graph import compare
from coevo.network import sample
from coevo.score import FamilyScorer
from coevo.search import (
    CCGA,
    CCMA,
    GA,
    GES,
    K2,
    K2GA,
    MDLEP,
    MMHC,
    PC,
    Budget,
    HillClimb,
    SearchSpec,
    Wong,
    run_search,
)
from helpers import reviews
from helpers.errors import refusal
from helpers.interrupts import ctrl_c_works, press_ctrl_c
from helpers.papers import JOURNAL, contents, read_lines
from helpers.reviews import FEW, N_FEW, N_RUNS, SMALL

ASIA = load_network("asia")
TRUE_ORDER = ASIA.dag.topological_order


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return the folder and the result of a small comparison of all systems."""
    folder = tmp_path_factory.mktemp("finished") / "reviewed"
    return folder, run_reviewed(SMALL, folder)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Return the folder of a comparison of few systems, without figures."""
    folder = tmp_path_factory.mktemp("few") / "reviewed"
    run_reviewed(FEW, folder, figures=False)
    return folder


def group_runs(folder):
    """Return the runs of each data set and system."""
    groups = {}
    for line in read_lines(folder / "runs.jsonl"):
        groups.setdefault((line["rows"], line["system"]), []).append(line)
    return groups


# -- the plan


def test_the_default_comparison():
    reviewed = Reviewed()
    data_sets = [(data.network, data.rows) for data in reviewed.list_data_sets()]
    assert data_sets == list(PUBLISHED)
    assert (reviewed.runs, reviewed.generations, reviewed.population) == (20, 250, 100)
    assert reviewed.systems == (
        "ccga", "ccga-1", "ga", "ga-information", "ga-random-order", "ga-true-order", "k2ga",
        "wong", "mdlep", "ccma", "k2", "k2-true-order", "hill_climb", "ges", "mmhc", "pc",
    )  # fmt: skip
    assert len(reviewed.list_jobs()) == 6 * (11 * 20 + 5)
    assert {job.max_evaluations for job in reviewed.list_jobs()} == {3_707_400, 2_705_400}


def test_the_seeds_are_those_of_the_paper():
    """All systems have the seed of CCGA in the paper's experiment, whatever else is chosen."""
    paper = Paper(("asia",), (60, 120), runs=3, generations=10, population=12)
    seeds = {(job.data, job.run): job.seed for job in paper.list_jobs() if job.algorithm == "ccga"}
    for reviewed in (SMALL, replace(SMALL, systems=("pc", "wong"), runs=2)):
        assert all(job.seed == seeds[job.data, job.run] for job in reviewed.list_jobs())


def test_ccga_does_the_runs_of_the_paper(finished, tmp_path):
    paper = Paper(("asia",), (60, 120), runs=3, generations=10, population=12)
    run_paper(paper, tmp_path, figures=False)
    theirs = [line for line in read_lines(tmp_path / "runs.jsonl") if line["algorithm"] == "ccga"]
    ours = [line for line in read_lines(finished[0] / "runs.jsonl") if line["system"] == "ccga"]
    for name in ("rows", "run", "seed", "score", "n_arcs", "generations", "evaluations"):
        assert [line[name] for line in ours] == [line[name] for line in theirs]


# -- the runs


def make_method(system, order):
    """Return what each system is, written once more."""
    return {
        "ccga": CCGA(population=12),
        "ccga-1": CCGA(population=12, random_partners=0),
        "ga": GA(),
        "ga-information": GA(repair="information"),
        "ga-random-order": GA(order=order),
        "ga-true-order": GA(order=TRUE_ORDER),
        "k2ga": K2GA(),
        "wong": Wong(),
        "mdlep": MDLEP(),
        "ccma": CCMA(),
        "k2": K2(),
        "k2-true-order": K2(order=TRUE_ORDER),
        "hill_climb": HillClimb(),
        "ges": GES(),
        "mmhc": MMHC(),
        "pc": PC(),
    }[system]


LIMIT = 8 * (2 * 12 + 10 * 4 * 12)  # local scores of CCGA: start and ten generations
EVOLVING = ("ccga", "ccga-1", "ga", "ga-information", "ga-random-order", "ga-true-order", "k2ga")
PATIENCE = {"wong": 200, "mdlep": 200, "ccma": 25}


@pytest.mark.parametrize("system", list(SYSTEMS))
def test_each_run_can_be_repeated(system, finished):
    for data in SMALL.list_data_sets():
        dataset = sample(ASIA, data.rows, data.seed)
        scorer = FamilyScorer(dataset, "k2")
        lines = group_runs(finished[0])[data.rows, system]
        for line in lines:
            order = draw_order(tuple(dataset.names), line["seed"])
            budget = None
            if system in EVOLVING or system in PATIENCE:
                budget = Budget(max_evaluations=LIMIT, patience=PATIENCE.get(system))
            found = run_search(
                make_method(system, order), scorer, budget=budget, random_state=line["seed"]
            )
            distance = compare(found.dag, ASIA.dag).shd_cpdag
            facts = found.score, len(found.dag.arcs), found.evaluations, distance
            names = ("score", "n_arcs", "evaluations", "shd")
            assert facts == tuple(line[name] for name in names)
        assert len(lines) == (3 if SYSTEMS[system].has_randomness else 1)


@pytest.mark.parametrize("system", [name for name in SYSTEMS if not SYSTEMS[name].has_randomness])
def test_systems_without_randomness(system):
    """Their answer does not depend on the seed, so that one run is enough."""
    scorer = FamilyScorer(sample(ASIA, 200, 1), "k2")
    found = {run_search(make_method(system, None), scorer, random_state=i).dag for i in range(5)}
    assert len(found) == 1


def test_all_systems_that_evolve_have_the_same_limit(finished):
    assert count_ccga_evaluations(8, 10, 12) == LIMIT
    for (_, system), lines in group_runs(finished[0]).items():
        for line in lines:
            if system in ("ccga", "ccga-1"):
                assert line["evaluations"] == LIMIT
            elif system in EVOLVING:
                per_generation = line["evaluations"] / (line["generations"] + 1)
                assert LIMIT <= line["evaluations"] < LIMIT + 2 * per_generation
            elif system not in PATIENCE:
                assert line["evaluations"] < LIMIT / 10


def test_a_random_order_is_the_same_for_all_systems(finished):
    """K2 draws its own order; GA gets the same one."""
    for data in SMALL.list_data_sets():
        dataset = sample(ASIA, data.rows, data.seed)
        scorer = FamilyScorer(dataset, "k2")
        orders = set()
        for line in group_runs(finished[0])[data.rows, "k2"]:
            order = draw_order(tuple(dataset.names), line["seed"])
            orders.add(order)
            assert run_search(K2(order=order), scorer).score == line["score"]
        assert len(orders) == 3


def test_improvements(finished):
    for (_, system), lines in group_runs(finished[0]).items():
        for line in lines:
            assert bool(line["improvements"]) == (system in EVOLVING or system in PATIENCE)
            if line["improvements"]:
                evaluations, scores = zip(*line["improvements"], strict=True)
                assert list(evaluations) == sorted(set(evaluations))
                assert list(scores) == sorted(scores)
                assert scores[-1] == pytest.approx(line["score"], abs=0.000501)
                assert evaluations[-1] <= line["evaluations"]


# -- the numbers


def test_the_numbers_follow_from_the_runs(finished):
    folder, result = finished
    assert (result.is_complete, result.n_done, result.n_runs) == (True, N_RUNS, N_RUNS)
    groups = group_runs(folder)
    assert [(s.rows, s.system) for s in result.summaries] == list(groups)
    for data in SMALL.list_data_sets():
        true_score = FamilyScorer(sample(ASIA, data.rows, data.seed), "k2").score(ASIA.dag)
        for summary in (s for s in result.summaries if s.rows == data.rows):
            lines = groups[data.rows, summary.system]
            scores = [line["score"] - true_score for line in lines]
            assert summary.runs == len(lines)
            assert summary.true_score == true_score
            assert summary.mean == pytest.approx(fmean(scores))
            assert summary.sd == (None if len(lines) == 1 else pytest.approx(stdev(scores)))
            assert (summary.min, summary.max) == (min(scores), max(scores))
            assert summary.mean_shd == pytest.approx(fmean(line["shd"] for line in lines))
            assert summary.mean_n_arcs == pytest.approx(fmean(line["n_arcs"] for line in lines))
            assert summary.published is None
            assert summary.max_evaluations == LIMIT


@pytest.mark.parametrize("other", ["ccga", "ccma"])
def test_paired_tests(other, finished):
    """SciPy's paired t-test and a naive correction; where nothing varies is checked below."""
    folder, result = finished
    groups = group_runs(folder)
    p_values, found = [], []
    for summary in result.summaries:
        above, p_value = (getattr(summary, f"{name}_{other}") for name in ("above", "p"))
        if summary.system == other:
            assert (above, p_value) == (None, None)
            continue
        first, second = (
            np.resize([line["score"] for line in groups[summary.rows, system]], 3)
            for system in (summary.system, other)
        )
        assert above == pytest.approx(first.mean() - second.mean(), abs=1e-9)
        differences = first - second
        if np.ptp(differences) < 1e-6:
            p_values.append(float(abs(differences[0]) < 1e-6))
        else:
            p_values.append(float(stats.ttest_rel(first, second).pvalue))
        found.append(p_value)
    assert len(found) == 30
    assert found == pytest.approx(naive.correct_p_values(p_values), rel=1e-9)


def test_where_nothing_varies():
    results = reviews.make_invented(
        {60: {"ccga": [-5.0] * 3, "k2ga": [-5.0] * 3, "ges": [-4.0], "pc": [-9.0]}}
    )
    (data,) = results.data_sets
    found = {
        system: (c.difference, c.p_value, c.sign)
        for (_, system), c in results.comparisons["ccga"].items()
    }
    assert found == {"k2ga": (0.0, 1.0, 0), "ges": (1.0, 0.0, 1), "pc": (-4.0, 0.0, -1)}
    assert results.compute_mean(data, "ges") == 996.0


def test_results_as_csv(finished):
    folder, result = finished
    with (folder / "results.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    for line, summary in zip(found, result.summaries, strict=True):
        row = summary.as_dict()
        del row["mean_seconds"]  # it differs from run to run
        assert line == {name: "" if x is None else str(x) for name, x in row.items()}


@pytest.mark.parametrize("name", ["scores", "shd", "evaluations", "tests-ccga", "tests-ccma"])
def test_the_page_has_the_tables(name, finished):
    folder, result = finished
    table = (folder / f"{name}.md").read_text()
    assert table in (folder / "README.md").read_text()
    cells = {
        "scores": lambda s: f"{s.mean:+z,.1f}" + ("" if s.sd is None else f" ({s.sd:,.1f})"),
        "shd": lambda s: f"{s.mean_shd:.1f}",
        "evaluations": lambda s: f"{s.mean_evaluations:,.0f}",
    }
    if name in cells:
        for system in SYSTEMS:
            shown = [cells[name](s) for s in result.summaries if s.system == system]
            assert f"| {system} | {' | '.join(shown)} |\n" in table


def test_published_values_stand_beside_ours(tmp_path):
    reviewed = Reviewed(
        networks=("alarm",), rows=(1000, 50), runs=2, generations=1, population=4,
        systems=("ccga", "k2"),
    )  # fmt: skip
    result = run_reviewed(reviewed, tmp_path, figures=False)
    assert [(s.system, s.published) for s in result.summaries] == [
        ("ccga", pytest.approx(-597.19)),
        ("k2", pytest.approx(-657.22)),
        ("ccga", None),
        ("k2", None),
    ]
    table = (tmp_path / "scores.md").read_text()
    assert table.endswith("| ccga, published | -597.2 |  |\n| k2, published | -657.2 |  |\n")


def test_values_published_elsewhere():
    """Typed from `Blanco et al. 2003`: the differences to base 10."""
    found = {(r.system, r.data): r.difference / np.log(10) for r in ELSEWHERE}
    assert found["GA", "Alarm 10000"] == pytest.approx(-657.83)
    assert found["K2", "Alarm 10000"] == pytest.approx(-2106.83)
    assert found["GA", "Asia 10000"] == pytest.approx(-10.43)
    assert found["hill climbing", "Alarm 3000"] == pytest.approx(-12.93)
    assert len(found) == len(ELSEWHERE) == 10


# -- the same files after interrupts and with processes


def test_the_files(finished):
    folder, _ = finished
    assert set(os.listdir(folder)) == reviews.file_names("asia")
    facts = json.loads((folder / "experiment.json").read_text())
    assert facts == {
        "experiment": "reviewed", "version": __version__, "seed": 0, "generations": 10,
        "population": 12,
    }  # fmt: skip
    page = (folder / "README.md").read_text()
    command = " ".join(map(str, reviews.arguments_of(SMALL)))
    assert f"\n    coevo paper {command} -o DIR\n" in page
    for kind in ("scores", "curves"):
        assert f"](figure-{kind}-asia.png)" in page
    assert "A system without randomness has one run: k2-true-order, hill_climb, ges, mmhc, pc." in (
        page.replace("\n  ", " ")
    )
    found = re.findall(r"^    coevo sample asia --rows (\d+) --seed (\d+) -o (\S+)$", page, re.M)
    assert found == [
        (str(data.rows), str(data.seed), f"asia-{data.rows}.csv") for data in SMALL.list_data_sets()
    ]


def test_two_processes_give_the_same_bytes(few, tmp_path):
    run_reviewed(FEW, tmp_path, n_jobs=2, figures=False)
    assert contents(tmp_path, timeless=True) == contents(few, timeless=True)


@ctrl_c_works()
@pytest.mark.parametrize("n_before", [1, 9, N_FEW - 1])
def test_an_interrupted_comparison_continues(n_before, few, tmp_path):
    def press(record, done, total):
        if done == n_before:
            press_ctrl_c()

    stopped = run_reviewed(FEW, tmp_path, figures=False, on_run=press)
    assert (stopped.is_complete, stopped.n_done, stopped.n_runs) == (False, n_before, N_FEW)
    assert stopped.summaries == ()
    assert set(os.listdir(tmp_path)) == JOURNAL
    assert run_reviewed(FEW, tmp_path, figures=False).is_complete
    assert contents(tmp_path, timeless=True) == contents(few, timeless=True)


@ctrl_c_works()
def test_an_unfinished_run_is_not_recorded(few, tmp_path, monkeypatch):
    """A second Ctrl-C ends the running search at once, which then returns its best structure."""
    search, n_searches = SearchSpec.run, []

    def pressed(spec, scorer):
        n_searches.append(1)
        press = len(n_searches) == 3
        calls = [lambda row: press and row.generation == 2 and press_ctrl_c(times=2)]
        return search(spec, scorer, callbacks=calls)

    with monkeypatch.context() as patch:
        patch.setattr(SearchSpec, "run", pressed)
        with pytest.raises(KeyboardInterrupt):
            run_reviewed(FEW, tmp_path, figures=False)
    assert len(read_lines(tmp_path / "runs.jsonl")) == 2
    run_reviewed(FEW, tmp_path, figures=False)
    assert contents(tmp_path, timeless=True) == contents(few, timeless=True)


@pytest.mark.parametrize(
    ("n_runs", "n_times", "half"),
    [(9, 9, '{"network": "asia", "ro'), (9, 10, ""), (10, 7, ""), (0, 0, "{")],
)
def test_a_killed_comparison_resumes_to_the_same_bytes(n_runs, n_times, half, few, tmp_path):
    """A kill leaves complete lines, and perhaps half of one, in either file."""
    shutil.copy(few / "experiment.json", tmp_path)
    for name, n_lines in (("runs.jsonl", n_runs), ("times.jsonl", n_times)):
        lines = (few / name).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(lines[:n_lines]) + half)
    done = []
    run_reviewed(FEW, tmp_path, figures=False, on_run=lambda record, *_: done.append(record.key))
    assert len(done) == N_FEW - min(n_runs, n_times)
    assert contents(tmp_path, timeless=True) == contents(few, timeless=True)


def test_systems_can_be_added(few, tmp_path):
    """The runs of a system do not depend on the other systems."""
    for systems in (("ges", "k2"), ("ccma", "k2ga")):
        run_reviewed(replace(FEW, systems=systems), tmp_path, figures=False)
    done = []
    run_reviewed(FEW, tmp_path, figures=False, on_run=lambda record, *_: done.append(record.system))
    assert set(done) == {"ccga", "ga-random-order"}
    for name in ("runs.jsonl", "README.md", "results.csv", "scores.md", "tests-ccga.csv"):
        assert (tmp_path / name).read_bytes() == (few / name).read_bytes()


def test_a_finished_comparison_does_not_change(few, tmp_path):
    shutil.copytree(few, tmp_path / "reviewed")
    run_reviewed(FEW, tmp_path / "reviewed", figures=False, on_run=lambda *_: pytest.fail("a run"))
    assert contents(tmp_path / "reviewed") == contents(few)  # even the times


# -- invalid parameters and files


def test_unknown_systems():
    names = ", ".join(repr(name) for name in sorted(SYSTEMS))
    assert refusal(ParameterError, Reviewed, systems=("ccga", "k2gaa")) == (
        f"'systems' of paper must be one of {names}; got 'k2gaa'. Did you mean 'k2ga'?"
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"systems": ()}, "'systems' of paper must be names of systems; got ()."),
        ({"systems": ("ges", "ges")}, "'systems' of paper names ges twice."),
        ({"runs": 1}, "'runs' of paper must be an int >= 2; got 1."),
        ({"rows": [0]}, "'rows' of paper must be ints >= 1; got (0,)."),
    ],
)
def test_an_invalid_comparison(options, sentence):
    assert refusal(ParameterError, Reviewed, **options) == sentence


def test_a_folder_of_the_other_experiment(few, tmp_path):
    paper = Paper(("asia",), (60,), runs=3, generations=6, population=8)
    run_paper(paper, tmp_path, figures=False)
    for work, plan, folder in ((run_reviewed, FEW, tmp_path), (run_paper, paper, few)):
        before = contents(folder)
        assert refusal(FileError, work, plan, folder, figures=False) == (
            f"{str(folder)!r} holds runs of another experiment. Give another folder."
        )
        assert contents(folder) == before


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"seed": 3}, "seed 0; this is 3"),
        ({"generations": 7}, "generations 6; this is 7"),
        ({"population": 9}, "population 8; this is 9"),
    ],
)
def test_a_folder_with_other_settings(change, difference, few):
    assert refusal(FileError, run_reviewed, replace(FEW, **change), few, figures=False) == (
        f"{str(few)!r} holds runs with {difference}. Give another folder."
    )


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('"score":', '"scor":'),
        ('"run": ', '"run": 0.'),
        ('"shd": ', '"shd": 0.'),
        ('"system": "', '"system": "x'),
        ('"improvements": [', '"improvements": [7, '),
        ('"evaluations": ', '"evaluations": 0.'),
    ],
)
def test_a_json_line_that_is_not_a_run(was, now, few, tmp_path):
    path = tmp_path / "reviewed" / "runs.jsonl"
    shutil.copytree(few, path.parent)
    first, second, *rest = path.read_text().splitlines()
    assert was in second
    path.write_text("\n".join([first, second.replace(was, now, 1), *rest, ""]))
    assert refusal(FormatError, run_reviewed, FEW, path.parent, figures=False) == (
        f"Line 2 of {str(path)!r} is damaged. Remove it or give another folder."
    )


def test_figures_need_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    sentence = "matplotlib is not installed. Install it with: pip install 'coevo[plot]'"
    assert refusal(DependencyError, run_reviewed, FEW, tmp_path / "new") == sentence
    assert os.listdir(tmp_path) == []
