"""SIGTERM, SIGHUP, SIGINT and SIGKILL end a command with all its processes.

All but the last save its work.

`COEVO_FUZZ` makes it all commands and all signals; otherwise it is one command for each signal.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path

import pytest

from helpers.orphans import signalled_command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MANY = 500  # runs; a command would take minutes without the signal
COMMANDS = {
    "strength": ("strength", "asia.csv", "--bootstraps", MANY, "-m", "hill_climb"),
    "learn": ("learn", "asia.csv", "--bootstraps", MANY, "-m", "hill_climb"),
    "paper": ("paper", "--networks", "asia", "--rows", 50, "--runs", MANY, "--population", 10),
    "reviewed": (
        *("paper", "--reviewed", "--networks", "asia", "--rows", 50, "--runs", MANY),
        *("--systems", "ccga,k2", "--population", 10),
    ),
    "bench": ("bench", "asia.csv", "-m", "k2,tabu", "--peers", "none", "--seeds", MANY),
}
FIRST = dict.fromkeys(COMMANDS, "1 of") | {"learn": "2 of", "strength": "2 of"}  # lines
JOURNALS = dict.fromkeys(COMMANDS, "run") | {"learn": "run/strength"}
SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
FEW = [("paper", 0), ("strength", 1), ("learn", 2), ("bench", 3)]
CASES = [(command, SIGNALS[number]) for command, number in FEW]
if os.environ.get("COEVO_FUZZ"):
    CASES = list(itertools.product(COMMANDS, SIGNALS))


@pytest.mark.parametrize(("command", "number"), CASES)
def test_a_signal_ends_everything_and_saves(command, number, folder, run):
    assert run("sample", "asia", "--rows", 300, "--seed", 1, "-o", "asia.csv").code == 0
    ended = signalled_command(
        *COMMANDS[command],
        *("-j", 2, "-o", "run"),
        cwd=folder,
        number=number,
        at=FIRST[command],
        n_workers=2,
    )
    assert ended.left == []
    lines = Path(folder, JOURNALS[command], "runs.jsonl").read_text().splitlines()
    assert 1 <= len(lines) < MANY
    if number == signal.SIGKILL:
        assert ended.code == -number
        return
    assert ended.code == 130
    assert any(line.startswith("Interrupted.") for line in ended.err)
    if command in ("learn", "strength"):
        assert "bootstraps" in ended.out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_search_that_is_ended_is_saved(number, folder):
    arguments = ("learn", "--example", "child", "--rows", 500, "--patience", 100_000)
    ended = signalled_command(*arguments, "-o", "run", cwd=folder, number=number, at="generation")
    assert ended.code == 130
    assert ended.err[-1] == "Interrupted. This is the best network so far.\n"
    assert "stopped by the user" in ended.out
    assert Path(folder, "run/model.bif").exists()
    assert Path(folder, "run/checkpoint.npz").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_tour_that_is_ended_is_saved(number, folder):
    arguments = ("solve", "tsp", "eil51", "--form", "literal", "--max-generations", 1_000_000)
    ended = signalled_command(*arguments, "-o", "run", cwd=folder, number=number, at="generation")
    assert ended.code == 130
    assert ended.err[-1] == "Interrupted. This is the best tour so far.\n"
    assert ended.out.startswith("eil51: 51 cities, length ")
    assert Path(folder, "run/solution.tour").exists()
    assert Path(folder, "run/checkpoint.npz").exists()
