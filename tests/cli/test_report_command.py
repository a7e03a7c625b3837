"""``coevo report`` writes a page of a run, or of a network alone."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from coevo.bundled import load_network
from coevo.data import write_data
from coevo.io import write_bif
from coevo.network import sample


@pytest.fixture
def learned(folder, run, seed):
    """Learn a network into ``run`` and return the page that was written with it."""
    write_data(sample(load_network("asia"), 500, seed), "a b.csv")
    arguments = ["a b.csv", "-s", "k2", "--max-generations", 5, "-o", "run"]
    assert run("learn", *arguments).code == 0
    return Path("run/report.html").read_text(encoding="utf-8")


def data_of(path):
    html = Path(path).read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', html)[1])


def test_the_report_of_a_run_can_be_written_again(learned, run):
    assert "coevo learn &#x27;a b.csv&#x27; -s k2 --max-generations 5 -o run</pre>" in learned
    facts = json.loads(Path("run/run.json").read_bytes())
    data = data_of("run/report.html")
    gains = {(data["names"][a], data["names"][b]): gain for a, b, _, _, _, gain, *_ in data["arcs"]}
    assert gains == {(a["from"], a["to"]): float(f"{a['gain']:.9g}") for a in facts["arcs"]}
    sentence = f"Wrote a report (8 variables, {facts['n_arcs']} arcs) to run/report.html.\n"
    os.remove("run/report.html")
    assert run("report", "run") == (0, "", sentence)
    assert Path("run/report.html").read_text(encoding="utf-8") == learned
    os.remove("run/model.bif")
    assert run("report", "run", "-o", "bare.html").code == 0
    assert "tables" not in data_of("bare.html")
    assert data_of("bare.html")["arcs"] == data["arcs"]


def test_networks(folder, run):
    expected = (0, "", "Wrote a report (8 variables, 8 arcs) to asia.html.\n")
    assert run("report", "asia") == expected
    page = Path("asia.html").read_bytes()
    write_bif(load_network("asia"), "asia.bif.gz")
    assert run("report", "asia.bif.gz") == expected
    assert Path("asia.html").read_bytes() == page
    os.mkdir("asia")  # a folder without a run does not hide the bundled network
    assert run("report", "asia") == expected


def test_compare(learned, run):
    assert run("report", "run", "--compare", "asia", "-o", "one.html").code == 0
    assert "<h2>Comparison with asia</h2>" in Path("one.html").read_text(encoding="utf-8")
    assert run("report", "asia", "--compare", "run", "-o", "two.html").code == 0
    swapped = {"same": "same", "reversed": "reversed", "added": "missing", "missing": "added"}
    there, back = (data_of(name)["arcs"] for name in ("one.html", "two.html"))
    kinds = sorted(arc[3] for arc in there)
    assert kinds == sorted(swapped[arc[3]] for arc in back)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("asai", "There is no file and no bundled network 'asai'. Did you mean 'asia'?"),
        ("empty", "There is no run in 'empty': it has no file run.json."),
        ("asia -o no/x.html", "'no/x.html' cannot be written: there is no folder 'no'."),
        ("asia -o empty", "'empty' is a folder. Name a file in it."),
        (
            "asia --compare cancer",
            "The found structure has no variable 'Cancer' of the true one; both must have the "
            "same variables.",
        ),
        ("bad", "'bad/run.json' is damaged: it does not hold JSON objects."),
        ("worse", "'worse/history.jsonl' is damaged: it does not hold JSON objects."),
        ("odd", "'odd/run.json' is damaged: it does not hold the facts of a run."),
    ],
)
def test_refusals(arguments, sentence, refused, folder):
    for name in ("empty", "bad", "worse", "odd"):
        os.mkdir(name)
    Path("bad/run.json").write_text("[1]")
    Path("worse/run.json").write_text("{}")
    Path("worse/history.jsonl").write_text('{"a": 1}\nhalf')
    Path("odd/run.json").write_text('{"arcs": [3]}')
    Path("odd/history.jsonl").write_text("")
    assert refused("report", *arguments.split()) == sentence
    assert not list(Path().glob("*.html"))
