"""``coevo paper`` does the experiment of a folder, resumes it after Ctrl-C, and prints its rows."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import sys
from dataclasses import replace

import pytest

import coevo.experiments
import coevo.progress.displays
from coevo.bundled import load_network
from coevo.data import read_data
from coevo.errors import WorkerError
from coevo.experiments import Paper
from coevo.score import FamilyScorer
from coevo.search import CCGA, K2, Budget, run_search
from helpers import papers
from helpers.interrupts import ctrl_c_works, interrupted_command, pressed_after
from helpers.papers import N_RUNS, SMALL, arguments_of, contents

QUICK = (*arguments_of(SMALL), "--no-figures")
ALARM = Paper(networks=("alarm",), rows=(1000,), runs=2, generations=2, population=4)
PUBLISHED = {
    "CCGA": "-11,569.02 | -12,166.21 | 178.23 | -12,663.12 | -11,850.92 | 0.0067 | about 230",
    "K2": " | -12,226.24 | 161.33 | -12,597.60 | -11,827.39 |  | ",
}


# -- the answer


def test_json(folder, run):
    code, out, err = run("paper", *QUICK, "-o", "out/paper", "--format", "json")
    assert code == 0
    assert err.startswith(f"{N_RUNS} of {N_RUNS} runs: sachs 120 k2, score ")
    assert err.count("\n") == 1
    rows = json.loads(out)
    for row, data in zip(rows, SMALL.list_data_sets(), strict=True):
        papers.check_row(row, papers.expected_row("out/paper", SMALL, data))


def test_text_and_the_folder(folder, run):
    paper = replace(SMALL, networks=("asia",))
    arguments = [*arguments_of(paper), "-o", "paper"]
    code, out, err = run("paper", *arguments)
    assert code == 0
    assert err.startswith("12 of 12 runs: asia 120 k2, score ")
    assert err.count("\n") == 1
    assert set(os.listdir("paper")) == papers.file_names(("table-asia", "figure-asia"))
    head, *lines, empty, last = out.splitlines()
    assert (empty, last) == ("", "Tables, figures and a README are in paper.")
    assert re.split(r" {2,}", head) == [
        "data set",
        "original DAG",
        "CCGA mean (sd)",
        "K2 mean (sd)",
        "p",
        "crossing",
    ]
    for line, data in zip(lines, paper.list_data_sets(), strict=True):
        row = papers.expected_row("paper", paper, data)
        scores = [row[x] for x in ("original", "ccga_mean", "ccga_sd", "k2_mean", "k2_sd")]
        crossing = row["crossing_generation"]
        assert re.sub(r"[ ()]+", " ", line).split(" ") == [
            *data.label.split(" "),
            *(f"{score:,.1f}" for score in scores),
            f"{row['p_value']:.4f}",
            "never" if crossing is None else str(crossing),
        ]
    # Once more: nothing runs again, so there is no progress to show.
    before = contents("paper")
    assert run("paper", *arguments) == (0, out, "")
    assert contents("paper") == before


def test_published_values_stand_beside_ours(folder, run):
    assert run("paper", *arguments_of(ALARM), "-o", "paper").code == 0
    stem = "table-3-alarm"
    assert set(os.listdir("paper")) == papers.file_names((stem, "figure-5-alarm"))
    markdown = (folder / "paper" / f"{stem}.md").read_text()
    latex = (folder / "paper" / f"{stem}.tex").read_text()
    with (folder / "paper" / f"{stem}.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert markdown.startswith("Results with the Alarm network (table 3 of the paper).")
    for line, (algorithm, cells) in zip(table, PUBLISHED.items(), strict=True):
        assert line["algorithm"] == algorithm
        shown = cells.split(" | ")
        names = ["original DAG", "average", "sd", "minimum", "maximum", "p", "crossing"]
        found = [line[f"published {name}"] for name in names]
        assert found == [cell.replace(",", "") for cell in shown]
        assert f"{cells} |\n" in markdown
        assert f"{' & '.join(shown)} \\\\\n" in latex
    page = (folder / "paper" / "README.md").read_text()
    assert "## Where this differs from the paper\n" in page
    (data,) = ALARM.list_data_sets()
    row = papers.expected_row("paper", ALARM, data)
    larger = 100 * (row["original"] / -11569.02 - 1)
    assert (
        f"| Alarm 1000 | {row['original']:,.2f} | -11,569.02 | {larger:+.1f} % "
        f"| {row['ccga_mean'] - row['k2_mean']:+,.2f} | +60.03 |\n"
    ) in page


@pytest.mark.filterwarnings("ignore:Column:coevo.CoevoWarning")  # few rows do not show all
def test_each_run_can_be_repeated_from_the_readme(folder, run):
    run("paper", *QUICK, "-o", "paper")
    page = (folder / "paper" / "README.md").read_text()
    n_compared = 0
    for command in re.findall(r"^    coevo (sample .*)$", page, re.M):
        arguments = shlex.split(command)
        assert run(*arguments).code == 0
        network, rows, table = arguments[1], int(arguments[3]), arguments[-1]
        dataset = read_data(table, states=load_network(network).variables)
        scorer = FamilyScorer(dataset, "k2")
        for algorithm, method, budget in (
            ("ccga", CCGA(population=SMALL.population), Budget(max_generations=SMALL.generations)),
            ("k2", K2(), None),
        ):
            for line in papers.runs_of("paper", network, rows, algorithm):
                found = run_search(method, scorer, budget=budget, random_state=line["seed"])
                assert line["score"] == found.score == scorer.score(found.dag)
                assert line["n_arcs"] == len(found.dag.arcs)
                assert line["generations"] == found.generations
                assert line["evaluations"] == found.evaluations
                n_compared += 1
    assert n_compared == N_RUNS


# -- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            "--networks asia,asai",
            "There is no file and no bundled network 'asai'. Did you mean 'asia'?",
        ),
        ("--networks asia,asia", "'networks' of paper names asia twice."),
        ("--rows 50,0", "'rows' of paper must be ints >= 1; got (50, 0)."),
        ("--rows 50,50", "'rows' of paper names 50 twice."),
        ("-o file", "'file' is a file. Name a folder."),
        ("-o file/paper", "'file/paper' cannot be created: 'file' is a file."),
    ],
)
def test_refusals(arguments, sentence, folder, refused):
    (folder / "file").write_text("mine")
    assert refused("paper", *QUICK, "-o", "paper", *arguments.split()) == sentence
    assert contents(folder) == {"file": b"mine"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "Missing option '-o' / '--output'."),
        (
            "-o x --rows 1000,many",
            "Invalid value for '--rows': '1000,many' is not a list of integers, such as 1000,5000.",
        ),
        (
            "-o x --rows ,",
            "Invalid value for '--rows': ',' is not a list of integers, such as 1000,5000.",
        ),
        ("-o x --runs 1", "Invalid value for '--runs': 1 is not in the range x>=2."),
        ("-o x --population 1", "Invalid value for '--population': 1 is not in the range x>=2."),
        (
            "-o x --max-generations -1",
            "Invalid value for '--max-generations': -1 is not in the range x>=0.",
        ),
        ("-o x -j 0", "Invalid value for '-j' / '--n-jobs': 0 is not in the range 1<=x<=1024."),
        ("-o x --seed -1", "Invalid value for '--seed': -1 is not in the range x>=0."),
    ],
)
def test_usage_errors(arguments, sentence, folder, misused):
    assert misused("paper", *arguments.split()) == f"{sentence}\n"
    assert os.listdir() == []


def test_figures_need_matplotlib_before_any_run(folder, run, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert refused("paper", *arguments_of(ALARM), "-o", "paper") == (
        "matplotlib is not installed. Install it with: pip install 'coevo[plot]'"
    )
    assert os.listdir() == []
    assert run("paper", *arguments_of(ALARM), "--no-figures", "-o", "paper").code == 0
    assert set(os.listdir("paper")) == papers.file_names(("table-3-alarm", ""), figures=False)


def test_a_folder_of_another_seed(folder, run, refused):
    run("paper", *arguments_of(ALARM), "--no-figures", "-o", "paper")
    before = contents("paper")
    assert refused("paper", *arguments_of(ALARM), "--seed", 5, "-o", "paper") == (
        "'paper' holds runs with seed 0; this is 5. Give another folder."
    )
    assert contents("paper") == before


def test_a_process_that_dies_gives_exit_code_1(folder, run, monkeypatch):
    def fail(paper, output, *, n_jobs, **options):
        assert (paper, str(output), n_jobs) == (SMALL, "paper", 3)
        raise WorkerError("A worker process died.")

    monkeypatch.setattr(coevo.experiments, "run_paper", fail)
    outcome = run("paper", *QUICK, "-j", 3, "-o", "paper")
    assert outcome == (1, "", "Error: A worker process died.\n")


# -- Ctrl-C


@ctrl_c_works()
def test_ctrl_c_stores_the_runs_and_the_same_command_resumes(folder, run, monkeypatch):
    pressed = pressed_after(5, coevo.experiments.run_paper)
    with monkeypatch.context() as patch:
        patch.setattr(coevo.experiments, "run_paper", pressed)
        code, out, err = run("paper", *QUICK, "-o", "paper")
    assert (code, out) == (130, "")
    assert err == (
        "Stopping after the current runs ...\n"
        f"Interrupted. 5 of {N_RUNS} runs are stored in paper. Repeat the command to resume.\n"
    )
    assert set(os.listdir("paper")) == papers.JOURNAL
    assert run("paper", *QUICK, "-o", "paper").code == 0
    assert run("paper", *QUICK, "-o", "complete").code == 0
    assert contents("paper", timeless=True) == contents("complete", timeless=True)


def test_ctrl_c_in_a_terminal_with_processes(folder, run):
    """Ctrl-C comes long before 500 runs are done; the folder then serves fewer runs."""
    many = [*QUICK, "--runs", 500]
    ended = interrupted_command("paper", *many, "-j", 2, "-o", "paper", cwd=folder, at="40 of ")
    assert (ended.code, ended.out) == (130, "")
    lines = (folder / "paper" / "runs.jsonl").read_bytes().splitlines()
    assert 40 <= len(lines) < 4000
    assert len(papers.read_lines("paper/times.jsonl")) == len(lines)
    assert ended.err == [
        "Stopping after the current runs ...\n",
        f"Interrupted. {len(lines)} of 4000 runs are stored in paper. Repeat the command to "
        "resume.\n",
    ]
    assert set(os.listdir("paper")) == papers.JOURNAL

    for name in ("paper", "complete"):
        assert run("paper", *QUICK, "-o", name).code == 0
    found, expected = (contents(name, timeless=True) for name in ("paper", "complete"))
    more, runs = (files.pop("runs.jsonl").splitlines() for files in (found, expected))
    assert found == expected
    assert set(more) == set(runs) | set(lines)
