"""``coevo bench`` compares methods and peers, resumes an interrupted comparison, and prints it."""

import json
import os
import re
from dataclasses import replace
from importlib import util

import pytest

import coevo.experiments
import coevo.progress.displays
from coevo.cli.bench import _describe_run, command
from coevo.experiments import Bench
from coevo.experiments.bench.runs import BenchRecord
from coevo.search import METHODS
from helpers import benches
from helpers.benches import (
    FIGURES,
    JOURNAL,
    N_RUNS,
    PLAIN,
    SMALL,
    arguments_of,
    as_texts,
    read_csv,
    timeless,
)
from helpers.interrupts import ctrl_c_works, interrupted_command, pressed_after
from helpers.papers import contents, read_lines

LISTED = ", ".join(map(repr, sorted(METHODS)))
QUICK = (*arguments_of(SMALL), "--no-figures")
in_this_process = benches.in_this_process


# -- the answer


def test_json(folder, run, in_this_process):
    code, out, err = run("bench", *QUICK, "-o", "out/bench", "--format", "json")
    assert code == 0
    assert err.startswith(f"{N_RUNS} of {N_RUNS} runs: asia 120 seed 1 pybnesian, score ")
    assert err.count("\n") == 1
    rows = [as_texts(row) for row in json.loads(out)]
    assert rows == read_csv("out/bench/summary.csv")
    assert set(os.listdir("out/bench")) == PLAIN


def test_text_and_the_folder(folder, run, in_this_process):
    arguments = [*arguments_of(SMALL), "-o", "bench"]
    code, out, _ = run("bench", *arguments)
    assert code == 0
    assert set(os.listdir("bench")) == PLAIN | FIGURES
    *tables, last = out.split("\n\n")
    assert last == "Tables, figures and a README are in bench.\n"
    summaries = read_csv("bench/summary.csv")
    for table, n in zip(tables, range(0, 8, 4), strict=True):
        title, head, *lines = table.splitlines()
        assert title == f"{summaries[n]['network']}, {summaries[n]['rows']} rows"
        assert re.split(r" {2,}", head.strip()) == [
            "method", "runs", "below best", "at best", "above true", "SHD", "SHD CPDAG", "SID",
            "skeleton F1", "arc F1", "seconds",
        ]  # fmt: skip
        assert len({len(line) for line in (head, *lines)}) == 1  # columns stand below each other
        for line, summary in zip(lines, summaries[n : n + 4], strict=True):
            assert re.split(r" {2,}", line.strip()) == [
                summary["method"],
                "2",
                f"{float(summary['mean_gap_to_best']):.1f}",
                f"{100 * float(summary['share_at_best']):.0f} %",
                f"{float(summary['mean_above_true']):+.1f}",
                f"{float(summary['mean_shd']):.1f}",
                f"{float(summary['mean_shd_cpdag']):.1f}",
                f"{float(summary['mean_sid']):.1f}",
                f"{float(summary['mean_skeleton_f1']):.2f}",
                f"{float(summary['mean_arc_f1']):.2f}",
                f"{float(summary['median_seconds']):.3f}",
            ]
    # Once more: nothing runs again, so there is no progress to show.
    before = contents("bench")
    assert run("bench", *arguments) == (0, out, "")
    assert contents("bench") == before


def test_a_peer_that_is_not_installed_is_reported(folder, run, monkeypatch, in_this_process):
    find = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda m: None if m == "pgmpy" else find(m))
    small = replace(SMALL, rows=(60,), seeds=1, peers=("pgmpy", "pybnesian"))
    code, _, err = run("bench", *arguments_of(small), "--no-figures", "-o", "bench")
    assert code == 0
    assert err.startswith(
        "pgmpy is not installed and is left out. Install it with: pip install 'coevo[bench]'\n"
        "3 of 3 runs: "
    )


def test_the_progress_message_of_a_run():
    record = BenchRecord(
        "asia", 60, 1, "pgmpy", "peer", "1", 7, None, "k2", "bdeu (ess 1)", "done", "", "finished",
        -1234.56, None, (), None, None, 1.234, (),
    )  # fmt: skip
    assert _describe_run(record) == "asia 60 seed 1 pgmpy, score -1,234.6 in 1.23 s"
    nothing = replace(record, score=None, arcs=None, seconds=None)
    assert _describe_run(replace(nothing, status="timeout")) == "asia 60 seed 1 pgmpy, timed out"
    failed = replace(nothing, status="failed", error="MemoryError")
    assert _describe_run(failed) == "asia 60 seed 1 pgmpy, failed: MemoryError"


def test_the_defaults_are_those_of_python():
    usual = Bench()
    defaults = {option.name: option.default for option in command.params}
    for name in ("networks", "rows", "peers"):
        assert defaults[name] == ",".join(map(str, getattr(usual, name)))
    assert list(defaults["methods"]) == [",".join(usual.methods)]
    for name in ("seeds", "max_time", "seed", "held_out"):
        assert defaults[name] == getattr(usual, name)
    assert defaults["score"] == usual.score.name


# -- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            "--networks asia,asai",
            "There is no file and no bundled network 'asai'. Did you mean 'asia'?",
        ),
        (
            "--methods ccma,tabo",
            f"'methods' of bench must be one of {LISTED}; got 'tabo'. Did you mean 'tabu'?",
        ),
        (
            "--peers pyagrum,pgmpi",
            "'peers' of bench must be one of 'causal-learn', 'pgmpy', 'pyagrum', 'pybnesian'; got "
            "'pgmpi'. Did you mean 'pgmpy'?",
        ),
        (
            "--methods none --peers none",
            "There is nothing to run. Give a method, or install one of the peers.",
        ),
        ("--max-time 0", "'max_time' of bench must be a number > 0; got 0.0."),
        (
            "--score bicc",
            "'score' of bench must be one of 'aic', 'bde', 'bdeu', 'bds', 'bic', 'fnml', 'k2', "
            "'loglik', 'qnml'; "
            "got 'bicc'. Did you mean 'bic'?",
        ),
        ("--ess 2", "'ess' goes with 'bdeu' and 'bds' only; the score is 'k2'."),
        ("-o file", "'file' is a file. Name a folder."),
    ],
)
def test_refusals(arguments, sentence, folder, refused):
    (folder / "file").write_text("mine")
    assert refused("bench", *QUICK, "-o", "bench", *arguments.split()) == sentence
    assert contents(folder) == {"file": b"mine"}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("", "Missing option '-o' / '--output'."),
        ("-o x --seeds 0", "Invalid value for '--seeds': 0 is not in the range x>=1."),
    ],
)
def test_usage_errors(arguments, sentence, folder, misused):
    assert misused("bench", *arguments.split(), usage=" [TABLE]...") == f"{sentence}\n"
    assert os.listdir() == []


# -- Ctrl-C


@ctrl_c_works()
def test_ctrl_c_stores_the_runs_and_the_same_command_resumes(
    folder, run, monkeypatch, in_this_process
):
    pressed = pressed_after(5, coevo.experiments.run_bench)
    with monkeypatch.context() as patch:
        patch.setattr(coevo.experiments, "run_bench", pressed)
        code, out, err = run("bench", *QUICK, "-o", "bench")
    assert (code, out) == (130, "")
    assert err == (
        "Stopping after the current runs ...\n"
        f"Interrupted. 5 of {N_RUNS} runs are stored in bench. Repeat the command to resume.\n"
    )
    assert set(os.listdir("bench")) == JOURNAL
    for name in ("bench", "complete"):
        assert run("bench", *QUICK, "-o", name).code == 0
    assert timeless("bench") == timeless("complete")


def test_ctrl_c_in_a_terminal_with_processes(folder):
    """Ctrl-C comes long before all 500 runs are done."""
    many = replace(SMALL, rows=(60,), seeds=500, methods=("k2",), peers=())
    command = ["bench", *arguments_of(many), "-j", 2, "-o", "bench"]
    ended = interrupted_command(*command, cwd=folder, at="2 of ")
    assert (ended.code, ended.out) == (130, "")
    n_stored = len(read_lines("bench/runs.jsonl"))
    assert 2 <= n_stored < 500
    assert ended.err == [
        "Stopping after the current runs ...\n",
        f"Interrupted. {n_stored} of 500 runs are stored in bench. Repeat the command to resume.\n",
    ]
    assert set(os.listdir("bench")) == JOURNAL
