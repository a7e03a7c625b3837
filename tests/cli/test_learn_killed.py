"""``coevo learn --resume`` after a kill gives the answer of an uninterrupted run."""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path

import pytest

from coevo.io import read_run
from helpers.forked import ForkedProcess
from helpers.killing import AT_EVERY_GENERATION, LONGEST, killed_after_lines

# Dies instead of putting the n-th file into place.
DYING = f"""{AT_EVERY_GENERATION}
import os, signal, sys
left, really = int(sys.argv.pop(1)), os.replace
def replace(*paths):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    really(*paths)
os.replace = replace
coevo.cli.main()
"""


def timeless(folder):
    return [row | {"seconds": 0} for row in read_run(Path(folder)).history]


def facts(folder):
    found = read_run(Path(folder)).facts
    return {name: found[name] for name in ("score", "arcs", "generations", "stop_reason", "seed")}


def same_run(one, two):
    assert (one / "model.bif").read_bytes() == (two / "model.bif").read_bytes()
    assert timeless(one) == timeless(two)
    assert facts(one) == facts(two)
    assert not list(one.glob(".*.tmp"))


def write_incomplete(folder, run, seed):
    """Write a table in which every ninth value is missing; return its name."""
    assert run("sample", "child", "--rows", 200, "--seed", seed, "-o", "incomplete.csv").code == 0
    header, *rows = (folder / "incomplete.csv").read_text().splitlines()
    cells = [row.split(",") for row in rows]
    for number, row in enumerate(cells):
        row[number % 9 :: 9] = ["?"] * len(row[number % 9 :: 9])
    (folder / "incomplete.csv").write_text("\n".join([header, *map(",".join, cells)]))
    return "incomplete.csv"


@pytest.mark.parametrize(
    ("method", "missing"), [("ccma", None), ("ccga", None), ("ccma", "evolve"), ("ccga", "evolve")]
)
def test_killed_again_and_again(method, missing, folder, run, seed):
    arguments = ["learn", "--example", "child", "--rows", "300"]
    if missing is not None:
        arguments = ["learn", write_incomplete(folder, run, seed), "--missing", missing]
    arguments += ["-m", method, "--seed", seed, "--max-generations", 30]
    assert run(*arguments, "-o", "uninterrupted").code == 0
    rng, n_kills = random.Random(seed), 0
    places = iter(lambda: (rng.randint(2, 15), rng.randint(0, 500)), None)
    while killed_after_lines(*next(places), *arguments, "-o", "run", "--resume", cwd=folder):
        n_kills += 1
        assert n_kills < 60
    assert n_kills >= 2
    same_run(folder / "run", folder / "uninterrupted")


def test_killed_before_any_file_is_in_place(folder, run, seed):
    """A process may die at any file: no file is lost, and none is half written."""
    arguments = ["learn", "--example", "asia", "--rows", "200", "--seed", seed]
    short, longer = [*arguments, "--max-generations", 1], [*arguments, "--max-generations", 3]
    assert run(*longer, "-o", "uninterrupted").code == 0
    for n_files in range(30):
        with ForkedProcess(DYING, n_files, *short, "-o", "run", "--resume", cwd=folder) as process:
            process.communicate(timeout=LONGEST)
        for path in (folder / "run").glob("*.json*"):
            for line in path.read_text().splitlines() if path.suffix == ".jsonl" else []:
                json.loads(line)
            if path.suffix == ".json":
                json.loads(path.read_text())
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
    assert n_files >= 5  # a checkpoint, and the four files of a run
    assert run(*longer, "-o", "run", "--resume").code == 0
    same_run(folder / "run", folder / "uninterrupted")


def test_resume_and_start_on_the_command_line(folder, run, refused, as_json):
    arguments = ["learn", "--example", "asia", "--rows", "200", "--max-generations"]
    first = as_json(*arguments, 1, "-o", "run")
    again = as_json(*arguments, 6, "-o", "run", "--resume")
    assert (first["generations"], again["generations"]) == (1, 6)
    assert again == as_json(*arguments, 6, "-o", "other") | {
        "seconds": again["seconds"],
        "files": again["files"],
    }
    assert refused(*arguments, 6, "-o", "run", "--resume", "--seed", 3).startswith(
        "'run' holds a search with other data: hash "
    )
    code, _, err = run(*arguments, 6, "--resume")
    assert code == 2
    assert "Error: --resume needs -o, the run folder to resume.\n" in err
    code, _, err = run(*arguments, 1, "-o", "new", "--resume")
    assert code == 0
    assert err == (
        "Warning: There is nothing to resume in 'new': it has no checkpoint.npz. The search starts "
        "from its beginning.\n"
    )
    started_there = as_json(*arguments, 0, "--start", "asia")
    assert started_there["n_arcs"] == 8
    assert refused(*arguments, 0, "--start", "alrm") == (
        "There is no file and no bundled network 'alrm'. Did you mean 'alarm'?"
    )
    assert refused(*arguments, 0, "--start", "cancer").startswith("The data have no column")
