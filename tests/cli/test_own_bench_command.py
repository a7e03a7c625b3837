"""``coevo bench`` on own tables and with own methods."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest

import coevo
from coevo.data import write_data
from helpers import benches, own_methods
from helpers.benches import PLAIN, read_csv
from helpers.papers import read_lines

in_this_process, lab = benches.in_this_process, own_methods.lab
QUICK = ("-m", "hill_climb,k2", "--peers", "none", "--seeds", "2", "--no-figures", "-o", "bench")


@pytest.fixture
def rows(folder, in_this_process):
    """Return a sample of Asia, in ``rows.csv``."""
    dataset = coevo.sample(coevo.load_network("asia"), 300, random_state=1)
    write_data(dataset, "rows.csv")
    return dataset


def read_command():
    """Return the command that the folder says to repeat."""
    return json.loads(Path("bench/experiment.json").read_text())["command"]


def test_text(rows, run):
    code, out, err = run("bench", "rows.csv", *QUICK)
    assert code == 0
    assert err.splitlines()[-1].startswith("4 of 4 runs: rows.csv 240 seed 1 k2, score -")
    lines = out.splitlines()
    assert lines[0] == "rows.csv, 240 rows"
    assert lines[1].split("  ")[1] == "method"
    assert [word.strip() for word in lines[1].split("  ") if word.strip()] == [
        "method", "runs", "below best", "at best", "held-out", "arcs", "seconds",
    ]  # fmt: skip
    assert set(os.listdir("bench")) == PLAIN


def test_the_truth(rows, run):
    out = run("bench", "rows.csv", *QUICK, "--truth", "asia", "--format", "json").out
    summaries = json.loads(out)
    assert all(s["mean_sid"] is not None and s["mean_held_out"] < 0 for s in summaries)
    command = read_command()
    assert command.startswith("coevo bench rows.csv --truth asia --missing drop --held-out 0.2 ")
    words = command.removeprefix("coevo ").replace("DIR", "again").split()
    assert run(*words, "--no-figures").code == 0
    assert benches.timeless("bench") == benches.timeless("again")


@pytest.mark.parametrize(
    ("policy", "line", "n_rows"),
    [
        (
            "drop",
            "t.csv: 20 missing values: 20 rows of 100 are left out (--missing state keeps them).",
            64,
        ),
        ("state", "t.csv: 20 missing values: missing is a state (--missing state).", 80),
    ],
)
def test_missing_values(policy, line, n_rows, folder, run, in_this_process):
    frame = pd.DataFrame({"a": list("xy") * 50, "b": list("uuvv") * 25, "c": list("pqqqr") * 20})
    frame.loc[:19, "b"] = None
    frame.to_csv("t.csv", index=False)
    code, _, err = run("bench", "t.csv", *QUICK, "--missing", policy.upper())
    assert code == 0
    assert line in err.splitlines()
    assert {row["rows"] for row in read_csv("bench/results.csv")} == {str(n_rows)}


def test_the_reading_options(rows, run):
    code, _, err = run("bench", "rows.csv", *QUICK, "--drop", "asia,tub", "--score", "BIC")
    assert code == 0
    assert "Reading 'BIC' as 'bic'." in err.splitlines()
    arcs = read_lines("bench/runs.jsonl")[0]["arcs"]
    assert not {"asia", "tub"} & {name for arc in arcs for name in arc}
    command = read_command()
    assert command.startswith("coevo bench rows.csv --drop asia,tub --missing drop ")


def test_own_methods_and_settings(lab, rows, run):
    methods = ("-m", "cooling.py:Annealing:moves=3,max_generations=2", "-m", "k2,tabu:tenure=3")
    options = ("--peers", "none", "--seeds", "1", "--no-figures", "-o", "bench")
    assert run("bench", "rows.csv", *methods, *options).code == 0
    assert [row["method"] for row in read_csv("bench/results.csv")] == [
        "cooling:Annealing:moves=3,max_generations=2", "k2", "tabu:tenure=3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("nothing.csv", "There is no file 'nothing.csv'."),
        ("rows.csv rows.csv", "'tables' of bench names rows.csv twice."),
        (
            "rows.csv --truth cancer",
            "The true structure of 'rows.csv' has no variable 'asia', which the table has. Leave "
            "the column out, or add the variable.",
        ),
        ("rows.csv --drop nothing", "'drop' names 'nothing', which is not a column of the table."),
        (
            "rows.csv -m nothing:There",
            "There is no module 'nothing', neither installed nor in {!r}. Install it, or give "
            "the path of its file, as in lab/search.py:MySearch.",
        ),
    ],
)
def test_refusals(arguments, sentence, rows, refused):
    quick = ("--peers", "none", "--no-figures", "-o", "bench")
    found = refused("bench", *arguments.split(), *quick)
    assert found == sentence.format(os.getcwd())
    assert not os.path.exists("bench")


@pytest.mark.parametrize("option", ["--truth asia", "--held-out 0.3", "--drop x", "--missing drop"])
def test_options_that_need_a_table(option, folder, misused):
    name = option.split()[0]
    found = misused("bench", *option.split(), "-o", "bench", usage=" [TABLE]...")
    assert found == f"{name} needs a TABLE, as in coevo bench rows.csv.\n"
