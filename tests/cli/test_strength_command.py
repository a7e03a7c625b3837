"""``coevo strength`` measures the strength of each arc, and stores every sample in its folder."""

from __future__ import annotations

import csv
import json
import os
import sys
import xml.etree.ElementTree

import pytest

import coevo.posteriors
import coevo.progress.displays
from coevo.bundled import load_network, open_structure
from coevo.data import read_data, read_incomplete
from coevo.search import METHODS, spec
from helpers.interrupts import ctrl_c_works, interrupted_command, press_ctrl_c, pressed_after

LISTED = ", ".join(map(repr, sorted(METHODS)))
FILES = {f"strength.{ending}" for ending in ("md", "tex", "csv", "png", "svg", "json")}
FILES |= {"consensus.json"}
JOURNAL = {"experiment.json", "runs.jsonl", "times.jsonl"}
QUICK = ("asia.csv", "--states", "asia", "--bootstraps", 12, "-m", "hill_climb", "--seed", 5)


@pytest.fixture(autouse=True)
def asia(folder, run):
    """Work in a folder with the table ``asia.csv``."""
    assert run("sample", "asia", "--rows", 300, "--seed", 1, "-o", "asia.csv").code == 0


def contents(folder):
    return {
        name: (folder / name).read_bytes()
        for name in sorted(os.listdir(folder))
        if name not in ("times.jsonl", "strength.json")  # the command has the folder's name
    }


def expected(bootstraps=12):
    rows = read_data("asia.csv", states=load_network("asia").variables)
    return coevo.bootstrap_strength(
        rows, bootstraps=bootstraps, method="hill_climb", random_state=5
    )


def test_json_is_the_answer_of_the_library(run):
    code, out, err = run("strength", *QUICK, "--format", "json")
    assert code == 0
    assert err.startswith("13 of 13 networks: sample 12, score -")
    answer = json.loads(out)
    found = expected()
    assert {name: answer[name] for name in found.as_dict()} == found.as_dict()
    assert (answer["method"], answer["scoring"], answer["ess"]) == ("hill_climb", "bdeu", 5.0)
    assert (answer["n_rows"], answer["n_variables"]) == (300, 8)
    assert "files" not in answer
    assert set(os.listdir()) == {"asia.csv"}


def test_text_and_the_folder(folder, run):
    code, out, _ = run("strength", *QUICK, "-o", "strength")
    assert code == 0
    found = expected()
    lines = out.splitlines()
    assert lines[:4] == [
        "bootstraps  12 samples of 300 rows, by hill_climb, bdeu, ess 5, 4 nats for each parent, "
        "seed 5",
        f"threshold   {found.threshold:.4f}, estimated from the strengths",
        f"consensus   {len(found.consensus.arcs)} arcs, of which data alone cannot direct "
        f"{len(found.cpdag.edges)}",
        "  strength                    ->     <-        gain",
    ]
    n_inside = len(found.consensus.arcs)
    inside = [line.split() for line in lines[4 : 4 + n_inside]]
    assert inside == [
        [
            f"{arc.strength:.3f}",
            *(f"({arc.interval[0]:.2f}", "to", f"{arc.interval[1]:.2f})"),
            f"{arc.direction:.3f}",
            f"{arc.reverse:.3f}",
            "-" if arc.gain is None else f"{arc.gain:,.2f}",
            arc.parent,
            "->",
            arc.child,
        ]
        for arc in found.arcs
        if arc.in_consensus
    ]
    assert f"outside     {len(found.arcs) - n_inside} arcs not in the consensus" in lines
    assert {line.split("/")[1] for line in lines if line.startswith("wrote ")} == FILES
    assert set(os.listdir("strength")) == FILES | JOURNAL
    with open("strength/strength.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["from"], row["to"], float(row["strength"])) for row in rows] == [
        (arc.parent, arc.child, round(arc.strength, 4)) for arc in found.arcs
    ]
    assert open_structure("strength/consensus.json") == found.consensus
    facts = json.loads((folder / "strength" / "strength.json").read_text())
    assert facts["arcs"] == found.as_dict()["arcs"]
    assert facts["command"][0] == "strength"
    assert (folder / "strength" / "strength.png").read_bytes().startswith(b"\x89PNG")
    drawn = xml.etree.ElementTree.parse("strength/strength.svg").getroot()
    words = " ".join("".join(text.itertext()) for text in drawn.iter() if text.tag.endswith("text"))
    assert f"threshold {found.threshold:.3f}" in words
    assert f"in the consensus: {n_inside}" in words

    before = contents(folder / "strength")  # once more: nothing is done again
    assert run("strength", *QUICK, "-o", "strength") == (0, out, "")
    assert contents(folder / "strength") == before


def test_constraints_and_columns(folder, run):
    (folder / "known.json").write_text(json.dumps({"required": [["xray", "asia"]]}))
    arguments = [*QUICK, "--constraints", "known.json", "-p", 1, "--drop", "smoke"]
    code, out, _ = run("strength", *arguments, "--format", "json")
    assert code == 0
    answer = json.loads(out)
    arc = next(a for a in answer["arcs"] if (a["from"], a["to"]) == ("xray", "asia"))
    assert (arc["strength"], arc["direction"], arc["in_consensus"]) == (1.0, 1.0, True)
    assert answer["n_variables"] == 7


# -- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("no.csv", "There is no file 'no.csv'."),
        (
            "asia.csv -m hillclimbs",
            f"'method' of strength must be one of {LISTED}"
            "; got 'hillclimbs'. Did you mean 'hill_climb'?",
        ),
        ("asia.csv -o asia.csv", "'asia.csv' is a file. Name a folder."),
        (
            "asia.csv --discretise none --bins 3",
            "'bins' of strength needs a method; 'discretise' is 'none'.",
        ),
    ],
)
def test_refusals(arguments, sentence, refused):
    assert refused("strength", *arguments.split()) == sentence
    assert set(os.listdir()) == {"asia.csv"}


def test_at_least_one_bootstrap(run):
    code, out, err = run("strength", "asia.csv", "--bootstraps", 0)
    assert (code, out) == (2, "")
    assert err.endswith("Error: Invalid value for '--bootstraps': 0 is not in the range x>=1.\n")


def test_without_matplotlib(run, refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    missing = "matplotlib is not installed. Install it with: pip install 'coevo[plot]'"
    assert refused("strength", *QUICK, "--figures", "-o", "strength") == missing
    assert set(os.listdir()) == {"asia.csv"}
    code, out, err = run("strength", *QUICK, "-o", "strength")
    assert code == 0
    assert f"Warning: The figure of arc strengths is not written. {missing}\n" in err
    assert ".png" not in out
    assert set(os.listdir("strength")) == (FILES - {"strength.png", "strength.svg"}) | JOURNAL
    assert run("strength", *QUICK).code == 0  # nothing is drawn without a folder


def test_a_folder_of_another_seed(run, refused):
    run("strength", *QUICK, "--no-figures", "-o", "strength")
    assert refused("strength", *QUICK, "--seed", 6, "-o", "strength") == (
        "'strength' holds runs with seed 5; this is 6. Give another folder."
    )


# -- Ctrl-C


@ctrl_c_works()
@pytest.mark.parametrize("output", [(), ("-o", "strength")])
def test_ctrl_c_answers_from_the_samples_that_are_done(output, folder, run, monkeypatch):
    pressed = pressed_after(7, coevo.posteriors.run_bootstraps)
    with monkeypatch.context() as patch:
        patch.setattr(coevo.posteriors, "run_bootstraps", pressed)
        code, out, err = run("strength", *QUICK, *output, "--format", "json")
    resume = " Repeat the command to resume." if output else ""
    assert (code, err) == (
        130,
        "Stopping after the current runs ...\n"
        f"Interrupted. The answer is based on 6 of 12 bootstrap samples.{resume}\n",
    )
    answer = json.loads(out)
    assert (answer["n_bootstraps"], answer["n_asked"]) == (6, 12)
    assert answer["arcs"] == expected(6).as_dict()["arcs"]
    if output:
        assert run("strength", *QUICK, "-o", "strength").code == 0
        assert run("strength", *QUICK, "-o", "uninterrupted").code == 0
        assert contents(folder / "strength") == contents(folder / "uninterrupted")


@ctrl_c_works()
def test_ctrl_c_before_the_first_sample(run, monkeypatch):
    search = spec.run_search

    def pressed(*arguments, callbacks=(), **options):
        press = lambda row: press_ctrl_c()  # noqa: E731
        return search(*arguments, callbacks=[*callbacks, press], **options)

    monkeypatch.setattr(spec, "run_search", pressed)
    assert run("strength", *QUICK) == (130, "", "\nInterrupted.\n")


def test_ctrl_c_in_a_terminal_with_processes(folder):
    many = [*QUICK, "--bootstraps", 5000, "--no-figures", "-j", 2, "-o", "strength"]
    ended = interrupted_command("strength", *many, cwd=folder, at="20 of ")
    assert ended.code == 130
    n_done = len((folder / "strength" / "runs.jsonl").read_bytes().splitlines()) - 1
    assert 19 <= n_done < 5000
    assert [line for line in ended.err if " networks: " not in line] == [
        "Stopping after the current runs ...\n",
        f"Interrupted. The answer is based on {n_done:,} of 5,000 bootstrap samples. Repeat the "
        "command to resume.\n",
    ]
    assert ended.out.startswith(f"bootstraps  {n_done:,} samples of 300 rows, ")


def test_a_table_with_missing_values(folder, run, refused):
    lines = (folder / "asia.csv").read_text().splitlines()
    lines[1:40] = [line.rsplit(",", 1)[0] + ",?" for line in lines[1:40]]
    (folder / "incomplete.csv").write_text("\n".join(lines))
    asked = ("incomplete.csv", *QUICK[1:])
    assert "39 missing values" in refused("strength", *asked, "--missing", "refuse")
    assert "policy: evolve\n" in run("strength", *asked, "--bootstraps", 1).out
    answer = json.loads(run("strength", *asked, "--missing", "em", "--format", "json").out)
    table = read_incomplete("incomplete.csv", states=load_network("asia").variables)
    options = {"bootstraps": 12, "method": "hill_climb", "random_state": 5}
    found = coevo.bootstrap_strength(table, missing="em", **options)
    assert {name: answer[name] for name in found.as_dict()} == found.as_dict()
    last = lines[0].rsplit(",", 1)[1]
    assert answer["missing"] == {
        "policy": "em",
        "n_missing": 39,
        "share": 39 / 2400,
        "n_complete_rows": 261,
        "columns": {last: 39},
    }
    assert (
        "bootstraps  12 samples of 261 rows, by "
        in run("strength", *asked, "--missing", "drop").out
    )
    text = run("strength", *asked, "--missing", "em").out
    assert "missing     39 values (1.6%) in 1 column; 261 complete rows; policy: em\n" in text
