"""``coevo paper --reviewed`` compares the reviewed systems in a folder, and resumes it."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

import coevo.experiments
from coevo.experiments import Paper, Reviewed
from helpers import reviews
from helpers.interrupts import ctrl_c_works, pressed_after
from helpers.papers import JOURNAL, contents, read_lines
from helpers.reviews import FEW, N_FEW, arguments_of

QUICK = (*arguments_of(FEW), "--no-figures")


def test_json(folder, run):
    code, out, err = run("paper", *QUICK, "-o", "out", "--format", "json")
    assert code == 0
    assert err.startswith(f"{N_FEW} of {N_FEW} runs: asia 60 ges, score ")
    rows = json.loads(out)
    assert [row["system"] for row in rows] == list(FEW.systems)
    lines = read_lines("out/runs.jsonl")
    for row in rows:
        scores = [line["score"] for line in lines if line["system"] == row["system"]]
        assert row["mean"] == pytest.approx(sum(scores) / len(scores) - row["true_score"])
        assert row["runs"] == len(scores)
    assert rows[0]["above_ccga"] is None
    assert rows[-1]["above_ccga"] == pytest.approx(rows[-1]["mean"] - rows[0]["mean"])


def test_text_and_the_folder(folder, run):
    arguments = [*arguments_of(replace(FEW, rows=(60, 90))), "-o", "out"]
    code, out, _ = run("paper", *arguments)
    assert code == 0
    assert set(os.listdir("out")) == reviews.file_names("asia")
    head, *lines, empty, last = out.splitlines()
    assert head.split() == [
        *("data", "set", "system", "runs"),
        *("score", "-", "true", "(sd)", "SHD", "seconds"),
    ]
    assert (empty, last) == ("", "Tables, figures and a README are in out.")
    groups = [line.removeprefix("Asia 60").removeprefix("Asia 90").split() for line in lines]
    assert [cells[0] for cells in groups] == [*FEW.systems, *FEW.systems]
    assert [line.startswith("Asia") for line in lines] == 2 * [True, *[False] * 5]
    # Once more: nothing runs again, so there is no progress to show.
    before = contents("out")
    assert run("paper", *arguments) == (0, out, "")
    assert contents("out") == before


@pytest.mark.parametrize(
    ("arguments", "function", "plan"),
    [
        ([], "run_paper", Paper(runs=100)),
        (["--reviewed"], "run_reviewed", Reviewed(runs=20)),
        (["--reviewed", "--runs", 7], "run_reviewed", Reviewed(runs=7)),
        (
            ["--reviewed", "--systems", "ges, ccga"],
            "run_reviewed",
            Reviewed(systems=("ccga", "ges")),
        ),
    ],
)
def test_the_plan(arguments, function, plan, folder, run, monkeypatch):
    """The default number of runs depends on the experiment."""
    plans = []

    def record(given, *arguments, **options):
        plans.append(given)
        raise KeyboardInterrupt

    monkeypatch.setattr(coevo.experiments, function, record)
    run("paper", *arguments, "-o", "out")
    assert plans == [plan]


def test_refusals(folder, refused, misused):
    assert refused("paper", "--reviewed", "--systems", "ges,ges", "-o", "out") == (
        "'systems' of paper names ges twice."
    )
    assert refused("paper", "--reviewed", "--systems", ",", "-o", "out") == (
        "'systems' of paper must be names of systems; got ()."
    )
    assert misused("paper", "--systems", "ges", "-o", "out") == "--systems needs --reviewed.\n"
    assert os.listdir() == []


@ctrl_c_works()
def test_ctrl_c_stores_the_runs_and_the_same_command_resumes(folder, run, monkeypatch):
    pressed = pressed_after(5, coevo.experiments.run_reviewed)
    with monkeypatch.context() as patch:
        patch.setattr(coevo.experiments, "run_reviewed", pressed)
        code, out, err = run("paper", *QUICK, "-o", "out")
    assert (code, out) == (130, "")
    assert err == (
        "Stopping after the current runs ...\n"
        f"Interrupted. 5 of {N_FEW} runs are stored in out. Repeat the command to resume.\n"
    )
    assert set(os.listdir("out")) == JOURNAL
    for name in ("out", "complete"):
        assert run("paper", *QUICK, "-o", name).code == 0
    assert contents("out", timeless=True) == contents("complete", timeless=True)
