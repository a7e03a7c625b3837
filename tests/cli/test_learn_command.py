"""``coevo learn``: its answer, its run folder, its errors, and Ctrl-C."""

from __future__ import annotations

import csv
import json
import os
import random
from functools import partial

import pytest

import coevo
import coevo.progress.displays
from coevo.bundled import load_network
from coevo.data import read_data, write_data
from coevo.errors import NetworkError
from coevo.graph import CPDAG, Constraints
from coevo.io import read_bif
from coevo.learning import result, settings
from coevo.network import fit_network, sample
from coevo.score import (
    GAIN_WORDS,
    FamilyScorer,
    arc_gains,
    find_arc_effects,
    find_best_addition,
    name_gain,
)
from coevo.search import METHODS, Budget, run_search, spec
from helpers.interrupts import ctrl_c_works, interrupted_command, press_ctrl_c
from helpers.problems import MovedClock

KEYS = [
    "score",
    "arcs",
    "n_arcs",
    "cpdag",
    "best_rejected",
    "near_misses",
    "seconds",
    "generations",
    "evaluations",
    "stop_reason",
    "method",
    "scoring",
    "ess",
    "max_table",
    "seed",
    "n_rows",
    "n_variables",
    "data_hash",
    "columns",
    "decisions",
    "audit",
]
N_ROWS = 2000
FILES = ["checkpoint.npz", "history.jsonl", "model.bif", "report.html", "run.json"]
QUICK = ("--max-generations", 12)
LIMITED = ("-m", "ccga", "-s", "k2", "-p", 2, "--seed", 7, *QUICK)  # enough to differ


@pytest.fixture
def asia(folder, seed):
    """Return a sample of Asia that stands in ``asia.csv``."""
    dataset = sample(load_network("asia"), N_ROWS, seed)  # so many that all states are seen
    write_data(dataset, "asia.csv")
    return read_data("asia.csv")


@pytest.fixture
def answer(as_json):
    """Return a function that gives the JSON answer of ``coevo learn``."""
    return partial(as_json, "learn")


def arcs_of(found):
    return [(arc["from"], arc["to"]) for arc in found["arcs"]]


def most_parents(found):
    children = [child for _, child in arcs_of(found)]
    return max(children.count(child) for child in children)


def timeless(found):
    return {name: value for name, value in found.items() if name not in ("seconds", "files")}


def read_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def check_folder(path, found, dataset):
    """Check that the files of a folder agree with the answer."""
    assert sorted(os.listdir(path)) == FILES
    network = read_bif(path / "model.bif")
    assert sorted(network.dag.arcs) == sorted(arcs_of(found))
    assert network.variables == dataset.source_variables
    assert network == fit_network(network.dag, dataset)
    history = read_lines(path / "history.jsonl")
    assert [row["generation"] for row in history] == list(range(found["generations"] + 1))
    for name in ("score", "seconds", "evaluations"):
        values = [row[name] for row in history]
        assert values == sorted(values)
    last = history[-1]
    assert (last["score"], last["n_arcs"]) == (found["score"], found["n_arcs"])
    assert last["evaluations"] == found["evaluations"]
    facts = json.loads((path / "run.json").read_bytes())
    assert facts["version"] == coevo.__version__
    for arc in facts["arcs"]:
        arc.pop("support", None)  # only the file has it
    assert {name: facts[name] for name in KEYS} == {name: found[name] for name in KEYS}
    assert facts["data_hash"] == dataset.content_hash
    return facts


# -- the answer


@pytest.mark.parametrize(
    ("arguments", "generations", "reason"),
    [
        (["-m", "ccga", *QUICK], 12, "generations"),
        (["-m", "ccga", "--max-generations", 0], 0, "generations"),
        (["-m", "ccga", "-t", 0], 0, "time"),
        (["-m", "k2"], None, "finished"),
        (["-m", "k2", "--max-generations", 1], 1, "generations"),
        (["-m", "k2", "-t", 0], 0, "time"),
    ],
)
def test_json_is_the_result_of_the_search(
    arguments, generations, reason, asia, answer, run, monkeypatch
):
    MovedClock(monkeypatch)  # it stands still, so that a slow machine drops no step
    found = answer("asia.csv", *arguments, "-s", "k2", "--seed", 7)
    assert [key for key in found if key != "no_arcs_reason"] == KEYS
    limits = Budget(max_generations=found["generations"])
    scorer = FamilyScorer(asia, "k2")
    expected = run_search(arguments[1], scorer, budget=limits, random_state=7)
    gains, compelled = arc_gains(scorer, expected.dag), CPDAG(expected.dag).arcs
    assert arcs_of(found) == sorted(expected.dag.arcs, key=lambda arc: (-gains[arc], arc))
    assert found["n_arcs"] == len(found["arcs"])
    effects = find_arc_effects(asia, expected.dag, gains)
    for arc, pair in zip(found["arcs"], arcs_of(found), strict=True):
        assert list(arc) == ["from", "to", "gain", "word", "directed", "directed_by", "says"]
        assert (arc["gain"], arc["directed"]) == (gains[pair], pair in compelled)
        assert (arc["word"], arc["says"]) == (name_gain(gains[pair]), str(effects[pair]))
    assert found["cpdag"] == {
        "arcs": [list(arc) for arc in compelled],
        "edges": [list(edge) for edge in CPDAG(expected.dag).edges],
    }
    rejected = find_best_addition(scorer, expected.dag, Constraints().to_rules(asia.names))
    assert tuple(found["best_rejected"].values()) == rejected
    assert found["score"] == expected.score == FamilyScorer(asia, "k2").score(expected.dag)
    assert generations in (None, found["generations"])
    assert found["generations"] == expected.generations
    assert found["evaluations"] == expected.evaluations
    assert found["stop_reason"] == reason
    assert found["seconds"] >= 0
    assert (found["method"], found["scoring"], found["ess"]) == (arguments[1], "k2", None)
    assert (found["seed"], found["n_rows"], found["n_variables"]) == (7, N_ROWS, 8)
    assert found["data_hash"] == asia.content_hash
    assert os.listdir() == ["asia.csv"]  # without -o nothing is written


def written(arc):
    return f"{arc['from']} {'->' if arc['directed'] else '--'} {arc['to']}"


NEAR_MISSES = [
    "near miss   tub -- asia: probability 0.34, if nothing else changes; 1.16 nats short",
    "near miss   asia -- bronc: probability 0.24, if nothing else changes; 1.16 nats short",
]


def test_text(asia, answer, run):
    found = answer("asia.csv", *LIMITED)
    code, out, err = run("learn", "asia.csv", *LIMITED, "-o", "run")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    before, seconds = lines[1].split(" in ")
    assert float(seconds.removesuffix(" s, stopped by the limit on generations")) >= 0
    assert before == "method      ccga, seed 7: 12 generations"
    n_free = sum(not arc["directed"] for arc in found["arcs"])
    assert n_free == len(found["cpdag"]["edges"])
    free = f"; data alone cannot direct {n_free} (--)" if n_free else ""
    words = [arc["word"] for arc in found["arcs"]]
    counts = [f"{words.count(word)} {word}" for word in GAIN_WORDS if word in words]
    gains = [f"{arc['gain']:,.2f}" for arc in found["arcs"]]
    widths = [max(map(len, texts)) for texts in (gains, words, map(written, found["arcs"]))]
    assert len(gains) >= 6
    assert [lines[0], *lines[2:]] == [
        f"score       {found['score']:.6f}  (k2; higher is better)",
        "limit       tables of at most 10,000 cells, which the published method does not have; "
        "--max-table 0 removes it",
        "table       2,000 rows, 8 variables",
        "columns     8 categorical",
        f"arcs        {found['n_arcs']}: {', '.join(counts)}{free}",
        f"  {'gain':>{widths[0]}}  {'':{widths[1]}}  arc",
        *(
            f"  {gain:>{widths[0]}}  {arc['word']:{widths[1]}}  {written(arc):{widths[2]}}  "
            f"{arc['says']}"
            for gain, arc in zip(gains, found["arcs"], strict=True)
        ),
        *NEAR_MISSES,
        "wrote       run/model.bif",
        "wrote       run/run.json",
        "wrote       run/history.jsonl",
        "wrote       run/report.html",
    ]
    without = run("learn", "asia.csv", "-m", "k2", "--ess", 2.5).out.splitlines()
    assert ", 4 nats for each parent, log prior of arcs -" in without[0]
    assert "(bdeu, ess 2.5, " in without[0]
    plain = run("learn", "asia.csv", "-m", "k2", "-s", "bdeu", "--ess", 2.5).out.splitlines()
    assert plain[0].endswith("  (bdeu, ess 2.5; higher is better)")
    assert not any(line.startswith("wrote") for line in without)


def test_the_default_settings(asia, answer):
    found = answer("asia.csv", *QUICK)
    objective = ("-s", "bdeu", "--ess", 5, "--parent-penalty", 4, "--sparse-penalty", 1)
    defaults = ("-m", "ccma", *objective, "--max-table", 10_000, "--seed", 0)
    assert timeless(found) == timeless(answer("asia.csv", *QUICK, *defaults))
    few = ("-m", "ccga", "--max-generations", 3)
    found, *others = [answer("asia.csv", *few, "--seed", other) for other in (0, 1, 2, 3)]
    assert any(other["arcs"] != found["arcs"] for other in others)


def test_without_a_limit_each_method_has_its_own(asia, answer):
    less = ("asia.csv", "--drop", "asia", "--drop", "tub", "--drop", "xray")
    found = answer(*less, "-m", "ccga")
    assert (found["generations"], found["stop_reason"]) == (250, "generations")
    assert answer(*less)["stop_reason"] == "patience"
    assert answer(*less, "-m", "tabu")["stop_reason"] == "finished"


def test_patience_and_target(asia, answer):
    found = answer("asia.csv", "-m", "ccga", "--patience", 3)
    assert found["stop_reason"] == "patience"
    reached = answer("asia.csv", "-m", "ccga", "--target", found["score"] - 1)
    assert reached["stop_reason"] == "target"
    assert reached["score"] >= found["score"] - 1


@pytest.mark.parametrize("method", ["ccga", "k2"])
@pytest.mark.parametrize("limit", [1, 2])
def test_max_parents(method, limit, asia, answer):
    """A parent never lowers the likelihood, so only the limit bounds the number of parents."""
    arguments = ["asia.csv", "-m", method, "-s", "loglik", "--max-generations", 30]
    limited, free = answer(*arguments, "-p", limit), answer(*arguments)
    assert most_parents(limited) == limit < most_parents(free)


def test_a_class_variable(asia, answer, run):
    found = answer("asia.csv", "-m", "tan", "--class-variable", "dysp", "-s", "loglik")
    children = {arc["to"] for arc in found["arcs"] if arc["from"] == "dysp"}
    assert children == set(asia.names) - {"dysp"}
    assert len(found["arcs"]) == 7 + 6
    code, _, err = run("learn", "asia.csv", "-m", "k2", "--class-variable", "dysp")
    sentence = "--class-variable needs the method tan or naive_bayes; got -m k2."
    assert (code, err.splitlines()[-1]) == (2, f"Error: {sentence}")


# -- the folder


@pytest.mark.parametrize("method", ["ccga", "k2"])
def test_the_folder(method, asia, answer, folder, run):
    arguments = ["asia.csv", "-m", method, "-s", "bds", "--ess", 2.0, "--seed", 3, *QUICK]
    found = answer(*arguments, "-o", "runs/first")
    assert list(found) == [*KEYS, "files"]
    assert found["files"] == {
        "model": "runs/first/model.bif",
        "run": "runs/first/run.json",
        "history": "runs/first/history.jsonl",
        "report": "runs/first/report.html",
    }
    facts = check_folder(folder / "runs/first", found, asia)
    written = [*map(str, arguments), "-o", "runs/first", "--format", "json"]
    assert facts["command"] == ["learn", *written]
    assert (facts["seed"], facts["scoring"], facts["ess"]) == (3, "bds", 2.0)
    assert facts["settings"] == METHODS[method]().settings
    scorer = FamilyScorer(asia, "bds", ess=2.0)
    assert facts["per_variable"] == scorer.score_per_variable(read_bif("runs/first/model.bif").dag)

    code, out, err = run(
        "score", "asia.csv", "--structure", "runs/first/model.bif", "-s", "bds", "--ess", 2.0,
        "--format", "json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert json.loads(out)["score"] == found["score"]


def test_a_folder_is_used_again(asia, answer, folder):
    answer("asia.csv", *QUICK, "-o", "run")
    (folder / "run" / "notes.txt").write_text("mine")
    found = answer("asia.csv", "-m", "k2", "-o", "run")
    (folder / "run" / "notes.txt").unlink()
    check_folder(folder / "run", found, asia)


# -- the same answer


def test_no_thread_process_or_hash_seed_changes_a_byte(asia, answer, folder, launch):
    found = answer("asia.csv", *LIMITED, "-o", "one")
    again = answer("asia.csv", *LIMITED, "-o", "two", "-j", 2)
    code, out, err = launch(
        "learn", "asia.csv", *LIMITED, "-o", "three", "-j", 2, "--format", "json",
        PYTHONHASHSEED="1",
    )  # fmt: skip
    assert code == 0
    assert all(line.startswith("generation ") for line in err.splitlines())  # if it was slow
    assert timeless(found) == timeless(again) == timeless(json.loads(out))
    models = {(folder / name / "model.bif").read_bytes() for name in ("one", "two", "three")}
    assert len(models) == 1


def test_threads_change_nothing_where_there_is_work_for_two(folder, answer, monkeypatch, seed):
    write_data(sample(load_network("alarm"), 500, seed), "alarm.csv")
    asked = []

    def scorer(*arguments, n_jobs, **options):
        asked.append(n_jobs)
        return FamilyScorer(*arguments, n_jobs=n_jobs, **options)

    monkeypatch.setattr(spec, "FamilyScorer", scorer)
    one, two = (
        answer("alarm.csv", "--max-generations", 4, "-j", n, "-o", f"run{n}") for n in (1, 2)
    )
    assert asked == [1, 2]
    assert timeless(one) == timeless(two)
    assert (folder / "run1/model.bif").read_bytes() == (folder / "run2/model.bif").read_bytes()


@pytest.mark.parametrize("method", ["ccga", "k2"])
def test_the_order_of_rows_and_columns_changes_nothing(method, asia, folder, answer, seed):
    with (folder / "asia.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    shuffle = random.Random(seed)
    shuffle.shuffle(rows)
    order = [*range(1, len(header)), 0]
    with (folder / "moved.csv").open("w", newline="") as file:
        csv.writer(file).writerows([row[i] for i in order] for row in [header, *rows])
    arguments = ["-m", method, "--seed", 5, *QUICK]
    found = answer("moved.csv", *arguments, "-o", "run")
    assert timeless(found) == timeless(answer("asia.csv", *arguments))
    names = [variable.name for variable in read_bif("run/model.bif").variables]
    assert names == [header[i] for i in order]  # a network is written as its table was


# -- states


def test_states(folder, answer, run):
    (folder / "rows.csv").write_text("a,b\nx,no\nx,yes\ny,yes\ny,yes\nx,no\n")
    (folder / "states.json").write_text('{"a": ["w", "x", "y", "z"]}')
    arguments = ["rows.csv", "-m", "k2", "-s", "k2"]
    found = answer(*arguments, "--states", "states.json", "-o", "run")
    assert found["score"] != answer(*arguments)["score"]
    variable, _ = read_bif("run/model.bif").variables
    assert variable.states == ("w", "x", "y", "z")
    scored = run("score", "rows.csv", "--structure", "run/model.bif", "-s", "k2")
    assert scored.out.startswith(f"score       {found['score']:.6f}\n")


def test_warnings_are_plain_lines(folder, run):
    (folder / "rows.csv").write_text("a,b\nx,no\nx,yes\n")
    code, out, err = run("learn", "rows.csv", "-m", "k2", "--type", "a=categorical")
    assert code == 0
    assert out.startswith("score ")
    assert err == (
        "Warning: Column 'a' is 'x' in every row, so it gives no information about the other "
        "columns.\n"
    )


# -- refusals

METHOD_NAMES = ", ".join(map(repr, sorted(METHODS)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            "asia.csv -m ccgga",
            f"'method' of learn must be one of {METHOD_NAMES}; got 'ccgga'. Did you mean 'ccga'?",
        ),
        (
            "asia.csv -s bicc",
            "'score' of learn must be one of 'aic', 'bde', 'bdeu', 'bds', 'bic', 'fnml', 'k2', "
            "'loglik', 'qnml'; "
            "got 'bicc'. Did you mean 'bic'?",
        ),
        (
            "asia.csv -m tan",
            "The method 'tan' needs the class variable. Give its name: "
            "method=TAN(class_variable='NAME'), or coevo learn -m tan --class-variable NAME.",
        ),
        (
            "asia.csv -m naive_bayes --class-variable lugn",
            "'class_variable' of NaiveBayes must be a variable of the data; got 'lugn'. "
            "Did you mean 'lung'?",
        ),
        ("asia.csv -s k2 --ess 2", "'ess' goes with 'bdeu' and 'bds' only; the score is 'k2'."),
        ("asia.csv --ess 0", "'ess' of bdeu must be a number > 0; got 0.0."),
        ("asia.csv -t nan", "'max_time' of learn must be a number >= 0 or None; got nan."),
        ("asai.csv", "There is no file 'asai.csv'. Did you mean 'asia.csv'?"),
        (".", "'.' is a folder. Name a file in it."),
        (
            "missing.csv --missing refuse",
            "Column 'b' has 1 missing value, in row 2. Drop or impute it, or learn with "
            "missing='evolve' (--missing evolve of coevo learn and strength).",
        ),
        ("asia.csv -o asia.csv", "'asia.csv' is a file. Name a folder."),
        ("asia.csv -o asia.csv/run", "'asia.csv/run' cannot be created: 'asia.csv' is a file."),
        ("asia.csv -o old/a/b", "'old/a/b' cannot be created: 'old/a' is a file."),
        (
            "asia.csv --states typo.json",
            "'typo.json' declares states of 'asai', which is not a column of the table. "
            "Did you mean 'asia'?",
        ),
        ("asia.csv --states tipo.json", "There is no file 'tipo.json'. Did you mean 'typo.json'?"),
        (
            "asia.csv --states cancer",
            "'cancer' declares states of 'Pollution', which is not a column of the table.",
        ),
        ("asia.csv --states asai", "There is no file and no bundled network 'asai'. "
         "Did you mean 'asia'?"),
        ("asia.csv --drop asai", "'drop' names 'asai', which is not a column of the table. "
         "Did you mean 'asia'?"),
    ],
)  # fmt: skip
def test_refusals(arguments, sentence, asia, folder, refused):
    (folder / "missing.csv").write_text("a,b\nx,no\ny,\nx,yes\n")
    (folder / "typo.json").write_text('{"asai": ["no", "yes"]}')
    (folder / "old").mkdir()
    (folder / "old" / "a").write_text("mine")
    before = sorted(path for path in folder.rglob("*"))
    given = arguments.split()
    assert refused("learn", *given, *([] if "-o" in given else ["-o", "new/run"])) == sentence
    assert sorted(path for path in folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("-p 0", "Invalid value for '-p' / '--max-parents': 0 is not in the range x>=1."),
        ("-t -1", "Invalid value for '-t' / '--max-time': -1.0 is not in the range x>=0."),
        (
            "--max-generations -1",
            "Invalid value for '--max-generations': -1 is not in the range x>=0.",
        ),
        ("--seed -1", "Invalid value for '--seed': -1 is not in the range x>=0."),
        ("-j 0", "Invalid value for '-j' / '--n-jobs': 0 is not in the range 1<=x<=1024."),
        ("--format xml", "Invalid value for '--format': 'xml' is not one of 'text', 'json'."),
    ],
)
def test_usage_errors(arguments, sentence, asia, run):
    code, out, err = run("learn", "asia.csv", "-o", "run", *arguments.split())
    assert (code, out) == (2, "")
    assert err == (
        "Usage: coevo learn [OPTIONS] [DATA]\n"
        "Try 'coevo learn --help' for help.\n"
        f"\nError: {sentence}\n"
    )
    assert os.listdir() == ["asia.csv"]


def test_settings_are_checked_before_a_file_is_opened(folder, refused):
    for arguments, start in (
        ("-m x", "'method' of learn "),
        ("-s x", "'score' of learn "),
        ("-o .", "There is no file 'no.csv'."),
    ):
        assert refused("learn", "no.csv", *arguments.split()).startswith(start)
    (folder / "file").write_text("")
    assert refused("learn", "no.csv", "-o", "file") == "'file' is a file. Name a folder."


# -- Ctrl-C


@pytest.fixture
def press_at(monkeypatch):
    """Return a function that makes a callback press Ctrl-C `times` times at a generation."""

    def install(generation, times):
        search = spec.run_search

        def press(row):
            if row.generation == generation:
                press_ctrl_c(times)

        def pressed(*arguments, callbacks=(), **options):
            return search(*arguments, callbacks=[*callbacks, press], **options)

        monkeypatch.setattr(spec, "run_search", pressed)

    return install


@ctrl_c_works()
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("generation", [0, 4])
def test_ctrl_c_gives_the_best_so_far(generation, times, asia, answer, run, folder, press_at):
    arguments = ["asia.csv", "-s", "k2", "--seed", 7, "--bootstraps", 0]
    expected = answer(*arguments, "--max-generations", generation)
    press_at(generation, times)
    code, out, err = run("learn", *arguments, "-t", 600, "-o", "run", "--format", "json")
    assert (code, err) == (130, "Interrupted. This is the best network so far.\n")
    found = json.loads(out)
    assert found["stop_reason"] == "interrupt"
    assert timeless(found) == timeless(expected) | {"stop_reason": "interrupt"}
    check_folder(folder / "run", found, asia)


@ctrl_c_works()
def test_ctrl_c_before_the_search_writes_nothing(asia, run, monkeypatch):
    def press(*arguments, **options):
        press_ctrl_c()

    monkeypatch.setattr(settings, "read_table", press)
    code, out, err = run("learn", "asia.csv", *QUICK, "-o", "run")
    assert (code, out, err.strip()) == (130, "", "Interrupted.")
    assert os.listdir() == ["asia.csv"]


@ctrl_c_works()
def test_ctrl_c_after_the_search_loses_nothing(asia, answer, run, monkeypatch, folder):
    fit = result.fit_and_count

    def press(*arguments, **options):
        press_ctrl_c()
        return fit(*arguments, **options)

    monkeypatch.setattr(result, "fit_and_count", press)
    code, out, err = run("learn", "asia.csv", *QUICK, "-o", "run", "--format", "json")
    assert (code, err) == (0, "")
    check_folder(folder / "run", json.loads(out), asia)


def test_the_answer_without_model_bif_if_a_table_is_too_large(asia, run, monkeypatch):
    def fit(*arguments, **options):
        raise NetworkError("The table of 'a' would be too large.")

    assert run("learn", "asia.csv", *QUICK, "-o", "run").code == 0
    monkeypatch.setattr(result, "fit_and_count", fit)
    code, out, err = run("learn", "asia.csv", *QUICK, "-o", "run", "--format", "json")
    sentence = "Warning: model.bif is not written. The table of 'a' would be too large.\n"
    assert (code, err) == (0, sentence)
    assert sorted(json.loads(out)["files"]) == ["history", "report", "run"]
    assert sorted(os.listdir("run")) == [name for name in FILES if name != "model.bif"]


def test_ctrl_c_in_a_terminal(asia, answer, folder):
    arguments = ("asia.csv", "-s", "k2", "--seed", 7, "--bootstraps", 0)
    ended = interrupted_command(
        "learn", *arguments, "-t", 600, "-o", "run", "--format", "json",
        cwd=folder, at="generation 3,",
    )  # fmt: skip
    assert ended.code == 130
    assert ended.err == ["Interrupted. This is the best network so far.\n"]
    found = json.loads(ended.out)
    assert found["generations"] >= 3
    check_folder(folder / "run", found, asia)
    expected = answer(*arguments, "--max-generations", found["generations"])
    assert timeless(found) == timeless(expected) | {"stop_reason": "interrupt"}
