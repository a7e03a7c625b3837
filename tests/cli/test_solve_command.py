"""``coevo solve`` prints and writes tours and orderings, and checks its arguments first."""

from __future__ import annotations

import pytest

from helpers.interrupts import interrupted_command

BURMA = "1 2 14 3 4 5 6 12 7 13 8 11 9 10"


def test_a_tour(run):
    code, out, err = run("solve", "tsp", "burma14", "--seed", 1)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:2] == ["burma14: 14 cities, length 3,323, the optimum", f"tour: {BURMA}"]
    assert lines[2].startswith("champion form, 25 generations, found in generation 0, ")
    assert lines[2].endswith(" s, stopped by patience, seed 1")


def test_the_files(run, folder):
    arguments = ["solve", "tsp", "burma14", "-o", "best.tour", "--figure", "tour.svg"]
    code, _, err = run(*arguments)
    assert code == 0
    assert err == "Wrote the solution to best.tour.\nWrote the picture to tour.svg.\n"
    numbers = BURMA.split()
    assert (folder / "best.tour").read_text().splitlines() == [
        *("NAME : burma14", "TYPE : TOUR", "DIMENSION : 14", "TOUR_SECTION"),
        *(*numbers, "-1", "EOF"),
    ]
    assert (folder / "tour.svg").read_text().startswith("<svg ")


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
    code, out, err = run("solve", "lop", "two.lop", "--max-generations", 1, "-o", "two.txt")
    assert (code, err) == (0, "Wrote the solution to two.txt.\n")
    assert out.splitlines()[:2] == ["two: 2 items, weight 5", "ordering: 2 1"]
    assert (folder / "two.txt").read_text() == "2 1\n"


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
            ["tsp", "burma14", "-o", "nowhere/best.tour"],
            "Error: 'nowhere/best.tour' cannot be written: there is no folder 'nowhere'.",
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


def test_ctrl_c_prints_the_best_so_far(folder):
    ended = interrupted_command(
        "solve", "tsp", "eil51", "--max-generations", 1_000_000, at="generation 2,", cwd=folder
    )
    assert ended.code == 130
    assert ended.out.startswith("eil51: 51 cities, length ")
    assert ended.err == ["Interrupted. This is the best tour so far.\n"]
