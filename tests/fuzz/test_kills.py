"""A command that is killed at any moment, and repeated, gives the bytes of one that never was.

The moment is a number of function calls of Python, so that the same seed kills at the same place:
inside of a search, of a checkpoint, or between two files of the answer. In the test suite there
are a few kills. ``COEVO_FUZZ=40`` makes so many for each command.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys

import pytest

from helpers.forked import ForkedProcess
from helpers.run_folders import read_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")

N_KILLS = int(os.environ.get("COEVO_FUZZ") or 2)  # for each command
SECONDS = 300.0  # for a command that does not end
NEVER = 10**15

# Writes each checkpoint; kills itself after a number of calls; else says how many there were.
KILLED = """
import os, signal, sys
import coevo.cli, coevo.learning
from coevo.files import checkpoints
checkpoints.SECONDS_BETWEEN = 0.0
checkpoints.SHARE_OF_TIME = 1e9
first = left = int(sys.argv.pop(1))
def count(frame, event, argument):
    global left
    left -= 1
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(count)
try:
    coevo.cli.main()
finally:
    sys.setprofile(None)
    print("calls", first - left, file=sys.stderr)
"""
COMMANDS = {
    "ccma": ("learn", "rows.csv", "--max-generations", "8", "--resume"),
    "tabu": ("learn", "rows.csv", "-m", "tabu", "--bootstraps", "0", "--resume"),
    "missing": ("learn", "holes.csv", "--missing", "evolve", "--max-generations", "6", "--resume"),
    "bootstraps": ("learn", "rows.csv", "-m", "hill_climb", "--bootstraps", "6", "--resume"),
    "strength": ("strength", "rows.csv", "-m", "hill_climb", "--bootstraps", "8", "--no-figures"),
    "posterior": (
        *("posterior", "rows.csv", "-m", "k2", "--sampler", "chains", "--max-steps", "4"),
        "--resume",
    ),
    "learn with posterior": (
        *("learn", "rows.csv", "-m", "k2", "--posterior", "--bootstraps", "0", "--resume"),
    ),
    "prove": ("prove", "rows.csv", "-m", "k2", "--resume"),
    "learn with proof": (
        *("learn", "rows.csv", "-m", "k2", "--prove", "60", "--bootstraps", "0", "--resume"),
    ),
    "solve": ("solve", "tsp", "burma14", "--form", "literal", "--max-generations", "8", "--resume"),
    "paper": (
        *("paper", "--networks", "cancer", "--rows", "30", "--runs", "3", "--population", "4"),
        *("--max-generations", "3", "--no-figures"),
    ),
    "reviewed": (
        *("paper", "--reviewed", "--systems", "ccga,k2", "--networks", "cancer", "--rows", "30"),
        *("--runs", "2", "--population", "4", "--max-generations", "2", "--no-figures"),
    ),
    "bench": (
        *("bench", "--networks", "cancer", "--rows", "30", "-m", "k2", "--seeds", "2"),
        *("--peers", "none", "--no-figures"),
    ),
}
SHORT = ("ccma", "strength")  # the commands of the test suite
CHOSEN = COMMANDS if os.environ.get("COEVO_FUZZ") else {name: COMMANDS[name] for name in SHORT}


def run(folder, n_calls, arguments):
    """Run a command that dies after a number of calls; return its exit code and its stderr."""
    with ForkedProcess(KILLED, n_calls, *arguments, "-o", "run", cwd=folder) as process:
        _, err = process.communicate(timeout=SECONDS)
    return process.returncode, err


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return a folder with a complete table and an incomplete one."""
    folder = tmp_path_factory.mktemp("tables")
    rng = random.Random(5)
    rows = []
    for _ in range(150):
        one = rng.choice("ab")
        two = one if rng.random() < 0.8 else rng.choice("abc")
        rows.append([one, two, rng.choice([one, two, "c"]), rng.choice("xy"), two + one])
    header = "p,q,r,s,t"
    (folder / "rows.csv").write_text("\n".join([header, *map(",".join, rows)]) + "\n")
    for number, row in enumerate(rows):
        row[number % 5] = "?" if number % 3 == 0 else row[number % 5]
    (folder / "holes.csv").write_text("\n".join([header, *map(",".join, rows)]) + "\n")
    return folder


@pytest.mark.parametrize("name", CHOSEN)
def test_killed_and_repeated(name, tables, tmp_path, seed):
    arguments = COMMANDS[name]
    work = tmp_path / "work"
    shutil.copytree(tables, work)
    code, err = run(work, NEVER, arguments)
    assert code == 0, err
    n_calls = int(err.rsplit("calls", 1)[1])
    right = read_files(work / "run")
    rng, n_killed = random.Random(f"{name} {seed}"), 0
    while n_killed < N_KILLS:
        shutil.rmtree(work / "run", ignore_errors=True)
        code = None
        while code != 0:  # it may be killed again, ever later
            moment = NEVER if code is not None and rng.random() < 0.7 else rng.randint(1, n_calls)
            code, err = run(work, moment, arguments)
            assert code in (0, -signal.SIGKILL), err
            n_killed += code != 0
        assert read_files(work / "run") == right
