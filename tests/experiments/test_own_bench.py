"""A comparison on own tables and with own methods: splits, likelihoods, code that changes."""

import json
import os
import sys
from dataclasses import replace

import numpy as np
import pytest

import coevo
from coevo.data import Dataset
from coevo.errors import DataError, FileError, GraphError, MethodError, ParameterError
from coevo.experiments import Bench, BenchTable, run_bench
from coevo.experiments.bench.plan import open_held_out_rows, open_rows
from coevo.graph import DAG, compare
from coevo.network import fit_network
from coevo.score import BDeu, FamilyScorer
from helpers import benches, own_methods
from helpers.benches import read_csv, timeless
from helpers.errors import refusal
from helpers.own_methods import install_package, write_broken
from helpers.papers import read_lines
from helpers.problems import random_table, shuffle_table

in_this_process, lab = benches.in_this_process, own_methods.lab
ASIA = coevo.load_network("asia")
ROWS = coevo.sample(ASIA, 200, random_state=1)
TABLE = BenchTable("rows.csv", ROWS)
BENCH = Bench(networks=(), tables=(TABLE,), seeds=2, methods=("hill_climb", "k2"), peers=())


# -- the rows


def list_rows(dataset):
    """Return the rows as a sorted list of states."""
    codes = dataset.expand().codes
    return sorted(map(tuple, codes.T.tolist()))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.999])
def test_a_split_has_every_row_once(share):
    for data in replace(BENCH, held_out=share).list_data_sets():
        rows, held_out = open_rows(data), open_held_out_rows(data)
        assert rows.n_rows == data.setting.rows
        assert rows.variables == held_out.variables == ROWS.variables
        both = [*list_rows(rows), *list_rows(held_out)]
        assert sorted(both) == list_rows(ROWS)
        assert held_out.n_rows == min(198, round(share * 200))


def test_splits_differ_and_depend_on_the_seed_only():
    splits = [list_rows(open_held_out_rows(data)) for data in BENCH.list_data_sets()]
    assert splits[0] != splits[1]
    more = replace(BENCH, seeds=5, methods=("tabu",), networks=("asia",), rows=(50,))
    again = [list_rows(open_held_out_rows(d)) for d in more.list_data_sets() if d.table is not None]
    assert again[:2] == splits
    elsewhere = replace(BENCH, tables=(replace(TABLE, name="folder/rows.csv"),))
    moved = [(job.data.seed, job.seed) for job in elsewhere.list_jobs()]
    assert moved == [(job.data.seed, job.seed) for job in BENCH.list_jobs()]
    other = [list_rows(open_held_out_rows(d)) for d in replace(BENCH, seed=1).list_data_sets()]
    assert other[0] != splits[0]


@pytest.mark.parametrize("what", ["columns", "rows"])
def test_the_layout_of_a_table_does_not_change_a_split(what, seed):
    table = random_table(seed)
    other = shuffle_table(table, np.random.default_rng(seed), what)
    one, two = (t.split(np.random.default_rng(3), 40) for t in (table, other))
    assert one[0] == two[0]
    assert one[1] == two[1]


def test_a_split_of_a_table_with_weights(seed):
    plain = Dataset(ROWS.variables, ROWS.expand().codes)
    counted = plain.deduplicate()
    one, two = (t.split(np.random.default_rng(seed), 30) for t in (plain, counted))
    assert one == two


# -- the numbers


@pytest.mark.parametrize("true", [None, ASIA.dag])
def test_each_result_follows_from_its_arcs_and_the_rows(true, tmp_path, in_this_process):
    bench = replace(BENCH, tables=(replace(TABLE, true=true),), score=BDeu(2))
    result = run_bench(bench, tmp_path, figures=False)
    rows, runs = read_csv(tmp_path / "results.csv"), read_lines(tmp_path / "runs.jsonl")
    for job, run, row in zip(bench.list_jobs(), runs, rows, strict=True):
        train, held_out = open_rows(job.data), open_held_out_rows(job.data)
        dag = DAG(ROWS.names, map(tuple, run["arcs"]))
        assert float(row["score"]) == FamilyScorer(train, BDeu(2)).score(dag)
        likelihood = fit_network(dag, train).log_likelihood(held_out).total / 40
        assert float(row["held_out"]) == likelihood
        assert row["n_arcs"] == str(len(dag.arcs))
        names = ("shd", "shd_cpdag", "sid", "skeleton_f1", "arc_f1")
        if true is None:
            assert {row[name] for name in (*names, "true_score", "above_true")} == {""}
        else:
            judged = compare(dag, true)
            assert {n: row[n] for n in names} == {n: str(getattr(judged, n)) for n in names}
            assert float(row["true_score"]) == FamilyScorer(train, BDeu(2)).score(true)
    headers = (tmp_path / "summary.md").read_text().splitlines()[2]
    shown = "| data sets | method | runs | below best | at best | held-out | arcs | {}seconds |"
    distances = "above true | SHD | SHD CPDAG | SID | skeleton F1 | arc F1 | "
    assert headers == shown.format("" if true is None else distances)
    assert result.summaries[0].mean_held_out == pytest.approx(
        np.mean([float(row["held_out"]) for row in rows if row["method"] == "hill_climb"])
    )


def test_networks_and_tables_together(tmp_path, in_this_process):
    bench = replace(BENCH, networks=("cancer",), rows=(60,), seeds=1)
    run_bench(bench, tmp_path)
    sources = [row["network"] for row in read_csv(tmp_path / "results.csv")]
    assert sources == ["cancer", "cancer", "rows.csv", "rows.csv"]
    figures = {name for name in os.listdir(tmp_path) if name.endswith(".png")}
    assert figures == {
        *(f"figure-{kind}-cancer.png" for kind in ("scores", "gaps", "shd")),
        *(f"figure-{kind}-rows.csv.png" for kind in ("scores", "gaps", "held-out")),
    }
    page = (tmp_path / "README.md").read_text()
    assert "    coevo bench rows.csv --held-out 0.2 --networks cancer --rows 60 --seeds 1 " in page
    assert "- **Held-out rows.** Each seed holds out 0.2 of the rows" in page
    assert all(f"]({name})" in page for name in figures)


def test_other_rows_in_the_same_folder(tmp_path, in_this_process):
    run_bench(BENCH, tmp_path, figures=False)
    other = BenchTable("rows.csv", coevo.sample(ASIA, 200, random_state=2))
    changed = replace(BENCH, tables=(other,))
    assert refusal(FileError, run_bench, changed, tmp_path, figures=False) == (
        f"{str(tmp_path)!r} holds runs on other rows of 'rows.csv'. Give another folder."
    )


# -- methods with settings


def test_two_settings_of_a_method_are_two_rows(tmp_path, in_this_process):
    methods = ("Hill-Climb", "hill_climb:restarts=3,max_generations=2", "ccga:max_generations=2")
    bench = replace(BENCH, methods=methods, seeds=1)
    expected = ["hill_climb", *methods[1:]]
    assert list(bench.methods) == expected
    run_bench(bench, tmp_path, figures=False)
    rows = read_csv(tmp_path / "results.csv")
    assert [row["method"] for row in rows] == expected
    assert [row["stop_reason"] for row in rows] == ["finished", "generations", "generations"]
    assert len({row["search_seed"] for row in rows}) == 3
    again = replace(
        bench, methods=json.loads((tmp_path / "experiment.json").read_text())["methods"]
    )
    assert again == bench


@pytest.mark.parametrize(
    ("methods", "label"),
    [
        (("k2", "K2"), "k2"),
        (("hill_climb:restarts=1,perturbations=2", "hill_climb:perturbations=2,restarts=1"),
         "hill_climb:perturbations=2,restarts=1"),
        (("hill_climb", "hill_climb:restarts=0"), "hill_climb:restarts=0"),
    ],
)  # fmt: skip
def test_the_same_search_twice(methods, label):
    assert refusal(ParameterError, replace, BENCH, methods=methods) == (
        f"'methods' of bench names {label} twice."
    )


def test_the_time_limit_of_a_method_and_of_the_comparison():
    bench = replace(BENCH, methods=("ccma:max_time=3", "ccma:patience=9"), max_time=5.0, seeds=1)
    budgets = [job.make_spec().budget for job in bench.list_jobs()]
    assert [(b.max_time, b.patience) for b in budgets] == [(3, None), (5.0, 9)]


# -- own methods


def test_an_own_method_in_a_process(lab):
    install_package(lab)
    methods = ("cooling.py:Annealing:moves=5", "chilled:moves=5", "k2")
    bench = replace(BENCH, methods=methods, seeds=1)
    result = run_bench(bench, lab / "out", n_jobs=2, figures=False)
    assert [(run.method, run.status, run.error) for run in result.results] == [
        ("cooling:Annealing:moves=5", "done", ""),
        ("chilled:moves=5", "done", ""),
        ("k2", "done", ""),
    ]
    assert [run.version for run in result.results] == [None, "1.2", coevo.__version__]
    page = (lab / "out" / "README.md").read_text()
    assert "| cooling:Annealing:moves=5 | cooling.Annealing | bdeu (ess 1) |" in page
    assert "| chilled:moves=5 | chilled.Annealing 1.2 | bdeu (ess 1) |" in page
    assert "--methods cooling.py:Annealing:moves=5,chilled:moves=5,k2 " in page


def test_the_runs_of_changed_code_are_repeated(lab, in_this_process):
    bench = replace(BENCH, methods=("cooling:Annealing:moves=5", "k2"))
    calls = []

    def run():
        calls.clear()
        on_run = lambda record, *_: calls.append(record.method)  # noqa: E731
        run_bench(bench, lab / "out", figures=False, on_run=on_run)
        return timeless(lab / "out")[0]

    first = run()
    assert len(calls) == 4
    assert run() == first
    assert calls == []
    write_broken(lab, "cooling", "cooling: float = 0.9", "cooling: float = 0.5")
    del sys.modules["cooling"]
    assert run() != first
    assert calls == ["cooling:Annealing:moves=5"] * 2
    assert len(read_lines(lab / "out" / "runs.jsonl")) == 4


def test_a_method_that_breaks_the_interface_stops_before_the_first_run(lab, in_this_process):
    write_broken(lab, "broken", "score=math.fsum(local),", "score=0.0,")
    bench = replace(BENCH, methods=("broken:Annealing", "k2"))
    calls = []
    message = refusal(MethodError, run_bench, bench, lab / "out", on_run=calls.append)
    assert message.startswith("The method 'annealing' is wrong in generation 0: its score is 0.0,")
    assert calls == []


def test_a_method_that_fails_is_recorded(lab):
    write_broken(
        lab,
        "broken",
        "current, local = state.current",
        "oops = 1 / 0\n        current, local = state.current",
    )
    bench = replace(BENCH, methods=("broken:Annealing", "k2"), seeds=1)
    result = run_bench(bench, lab / "out", figures=False)
    assert [(run.status, run.error) for run in result.results] == [
        ("failed", "ZeroDivisionError: division by zero"),
        ("done", ""),
    ]


# -- invalid parameters


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BenchTable("", ROWS), "'name' of BenchTable must be a name; got ''."),
        (lambda: BenchTable("x", [1]), "'dataset' of BenchTable must be a Dataset; got [1]."),
        (
            lambda: BenchTable("x", coevo.sample(ASIA, 4, random_state=1)),
            "'x' has 4 rows, too few to hold some of them out. Give at least 5.",
        ),
        (
            lambda: BenchTable("x", ROWS, DAG(["asia"])),
            "The true structure of 'x' has no variable 'bronc', which the table has. Leave the "
            "column out, or add the variable.",
        ),
        (
            lambda: BenchTable("x", ROWS, DAG([*ROWS.names, "more"])),
            "'x' has no column 'more', which the true structure has. Both must have the same "
            "variables.",
        ),
        (
            lambda: replace(BENCH, held_out=1.0),
            "'held_out' of bench must be a number between 0 and 1, such as 0.2; got 1.0.",
        ),
        (lambda: replace(BENCH, tables=(TABLE, TABLE)), "'tables' of bench names rows.csv twice."),
        (
            lambda: replace(BENCH, networks=("rows.csv",)),
            "'tables' of bench names rows.csv twice.",
        ),
        (
            lambda: replace(BENCH, methods=("ccma:order=3",)),
            "The method 'ccma' has no setting 'order'. Its settings: masks, orders, "
            "restart_after. Limits: max_time, max_generations, max_evaluations, patience, "
            "target. Did you mean 'orders'?",
        ),
    ],
)
def test_invalid_comparisons(make, sentence):
    assert refusal((ParameterError, DataError, GraphError), make) == sentence
