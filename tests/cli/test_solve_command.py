"""``coevo solve`` prints and writes tours and orderings, and checks its arguments first."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from coevo.errors import FileError
from coevo.files import checkpoints
from coevo.problems import SolveResult
from helpers.interrupts import interrupted_command
from helpers.killing import killed_after_lines

BURMA = "1 2 14 3 4 5 6 12 7 13 8 11 9 10"


def test_a_tour(run):
    code, out, err = run("solve", "tsp", "burma14", "--seed", 1)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["burma14: 14 cities, length 3,323, the optimum", f"tour: {BURMA}"]
    assert lines[2].startswith("champion form, 25 generations, found in generation 0, ")
    assert lines[2].endswith(" s, stopped by patience, seed 1")


def test_the_files(run, folder):
    arguments = ["solve", "tsp", "burma14", "-o", "run", "--figure", "mine.svg"]
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[3:] == [
        f"wrote {path}"
        for path in (
            str(Path("run", "solution.tour")),
            str(Path("run", "run.json")),
            str(Path("run", "history.jsonl")),
            str(Path("run", "tour.svg")),
            "mine.svg",
        )
    ]
    numbers = BURMA.split()
    assert (folder / "run/solution.tour").read_text().splitlines() == [
        *("NAME : burma14", "TYPE : TOUR", "DIMENSION : 14", "TOUR_SECTION"),
        *(*numbers, "-1", "EOF"),
    ]
    assert (folder / "mine.svg").read_bytes() == (folder / "run/tour.svg").read_bytes()
    facts = json.loads((folder / "run/run.json").read_text())
    assert facts["command"] == arguments
    assert facts["tour"] == list(map(int, numbers))


def test_resume_on_the_command_line(as_json, run, refused, folder):
    arguments = ["solve", "tsp", "bays29", "--form", "literal", "--seed", 5, "--max-generations"]
    first = as_json(*arguments, 2, "-o", "run")
    again = as_json(*arguments, 12, "-o", "run", "--resume")
    assert (first["generations"], again["generations"]) == (2, 12)
    uninterrupted = as_json(*arguments, 12, "-o", "other")
    changing = {"seconds": 0, "files": {}}
    assert again | changing == uninterrupted | changing
    for name in ("solution.tour", "tour.svg"):
        assert (folder / "run" / name).read_bytes() == (folder / "other" / name).read_bytes()
    assert refused(*arguments, 12, "-o", "run", "--resume", "--seed", 6) == (
        "'run' holds a search with seed 5; this is 6. Repeat its settings to resume it, or give "
        "another folder."
    )
    code, _, err = run(*arguments, 1, "-o", "new", "--resume")
    assert code == 0
    assert err == (
        "Warning: There is nothing to resume in 'new': it has no checkpoint.npz. The search starts "
        "from its beginning.\n"
    )


def test_an_ordering(as_json, run, folder):
    found = as_json("solve", "lop", "t59n11xx", "--seed", 2)
    assert sorted(found["ordering"]) == list(range(1, 45))
    del found["ordering"], found["seconds"], found["generations"], found["evaluations"]
    del found["improved"]
    assert found == {
        "problem": "lop",
        "instance": "t59n11xx",
        "places": 44,
        "form": "champion",
        "weight": 20928,
        "optimum": 20928,
        "stop_reason": "patience",
        "seed": 2,
    }
    (folder / "two.lop").write_text("2\n0 1\n5 0\n")
    code, out, err = run("solve", "lop", "two.lop", "--max-generations", 1, "-o", "run")
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == ["two: 2 items, weight 5", "ordering: 2 1"]
    assert (folder / "run/solution.txt").read_text() == "2 1\n"


def test_the_literal_form_and_the_distance_to_the_optimum(run):
    code, out, err = run(
        "solve", "tsp", "bays29", "--form", "literal", "--max-generations", 5, "--seed", 3
    )
    assert (code, err) == (0, "")
    assert "% above the optimum 2,020" in out.splitlines()[0]
    assert "literal form, 5 generations" in out
    code, out, err = run("solve", "lop", "t59n11xx", "--form", "literal", "--max-generations", 1)
    assert "% below the optimum 20,928" in out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["lop", "t59n11xx", "--figure", "x.svg"],
            "Error: --figure needs a tour; it cannot be combined with lop.",
        ),
        (
            ["tsp", "berlin53"],
            "Error: There is no file and no bundled instance 'berlin53'. The bundled ones are "
            "burma14, bays29, att48, eil51, berlin52, st70, kroA100. Did you mean 'berlin52'?",
        ),
        (
            ["tsp", "burma14", "--figure", "tour.gif"],
            "Error: The extension of 'tour.gif' names no format of pictures. Use one of .svg, "
            ".png, .pdf.",
        ),
        (
            ["tsp", "burma14", "--figure", "nowhere/tour.svg"],
            "Error: 'nowhere/tour.svg' cannot be written: there is no folder 'nowhere'.",
        ),
        (
            ["tsp", "burma14", "-o", "bare.tsp"],
            "Error: 'bare.tsp' is a file. Name a folder.",
        ),
        (
            ["tsp", "burma14", "--resume"],
            "Error: --resume needs -o, the run folder to resume.",
        ),
        (
            ["tsp", "bare.tsp", "--figure", "tour.svg"],
            "Error: 'bare' has no coordinates, so its tour cannot be drawn. Write it to a file "
            "instead.",
        ),
        (["lop", "bare.tsp"], "Error: bare.tsp, line 2: 'DIMENSION:' is not a number."),
    ],
)
def test_errors(arguments, sentence, run, folder):
    (folder / "bare.tsp").write_text(
        "TYPE: TSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: UPPER_ROW\n"
        "EDGE_WEIGHT_SECTION\n5\n"
    )
    code, out, err = run("solve", *arguments)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == sentence
    assert [path.name for path in folder.iterdir()] == ["bare.tsp"]


def test_ctrl_c_prints_the_best_so_far_and_can_be_resumed(folder, as_json):
    arguments = ["solve", "tsp", "eil51", "--form", "literal", "--max-generations"]
    ended = interrupted_command(*arguments, 1_000_000, "-o", "run", at="generation 2,", cwd=folder)
    assert ended.code == 130
    assert ended.out.startswith("eil51: 51 cities, length ")
    assert ended.err == ["Interrupted. This is the best tour so far.\n"]
    facts = json.loads((folder / "run/run.json").read_text())
    assert facts["stop_reason"] == "interrupt"
    limit = facts["generations"] + 5
    resumed = as_json(*arguments, limit, "-o", "run", "--resume")
    uninterrupted = as_json(*arguments, limit)
    assert resumed["tour"] == uninterrupted["tour"]
    assert resumed["generations"] == limit


@pytest.mark.parametrize("problem", [["tsp", "att48"], ["lop", "be75oi"]])
def test_killed_again_and_again(problem, folder, run, seed):
    """A process is killed at random generations; the last one gives the uninterrupted answer."""
    arguments = ["solve", *problem, "--form", "literal", "--seed", seed, "--max-generations", 40]
    assert run(*arguments, "-o", "uninterrupted").code == 0
    rng, n_kills = random.Random(seed), 0
    places = iter(lambda: (rng.randint(2, 25), rng.randint(0, 500)), None)
    while killed_after_lines(*next(places), *arguments, "-o", "run", "--resume", cwd=folder):
        n_kills += 1
        assert n_kills < 60
    assert n_kills >= 1
    facts, expected = (
        json.loads((folder / name / "run.json").read_text()) for name in ("run", "uninterrupted")
    )
    changing = {"seconds": 0, "command": []}
    assert facts | changing == expected | changing
    name = "solution.tour" if problem[0] == "tsp" else "solution.txt"
    assert (folder / "run" / name).read_bytes() == (folder / "uninterrupted" / name).read_bytes()
    assert not list((folder / "run").glob(".*.tmp"))


def test_a_disk_that_stays_full_prints_the_answer(folder, run, monkeypatch):
    right = run("solve", "tsp", "burma14")

    def fail(*_, **__):
        raise FileError("'run/solution.tour' cannot be written: No space left on device.")

    monkeypatch.setattr(checkpoints, "PAUSES", ())
    monkeypatch.setattr(SolveResult, "write", fail)
    found = run("solve", "tsp", "burma14", "-o", "run")
    assert found.code == 2
    assert found.err == "Error: 'run/solution.tour' cannot be written: No space left on device.\n"
    assert found.out.splitlines()[:2] == right.out.splitlines()[:2]


def test_the_time_limit(run):
    code, out, err = run("solve", "tsp", "st70", "-t", 0)
    assert (code, err) == (0, "")
    assert ", 0 generations, found in generation 0, " in out
    assert ", stopped by time, seed 0" in out
