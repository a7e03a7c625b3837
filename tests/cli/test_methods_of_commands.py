"""``-m`` of ``coevo learn`` and ``coevo strength``: settings, islands, and methods of your own."""

import json
from pathlib import Path

import pytest

import coevo
from coevo.data import write_data
from helpers import own_methods

lab = own_methods.lab


@pytest.fixture
def rows(folder):
    write_data(coevo.sample(coevo.load_network("asia"), 200, random_state=1), "rows.csv")


@pytest.fixture
def learn(run):
    """Return a function that gives run.json of ``coevo learn`` with some options."""

    def call(*options):
        fixed = ("--max-generations", 1, "--bootstraps", 0, "-o", "run")
        code, _, err = run("learn", "rows.csv", *options, *fixed)
        assert code == 0, err
        return json.loads(Path("run/run.json").read_text())

    return call


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ("--islands 2", {"islands": 2, "orders": 20}),
        ("--islands 2 -m ccma:orders=5", {"islands": 2, "orders": 5}),
        ("--islands 2 -m islands:orders=5", {"islands": 2, "orders": 5}),
        ("-m islands:orders=5", {"islands": 3, "orders": 5}),
        ("-m ccma:orders=5,masks=3", {"orders": 5, "masks": 3}),
        ("-m ccma,orders=5", {"orders": 5, "masks": 8}),
    ],
)
def test_settings(options, settings, rows, learn):
    assert settings.items() <= learn(*options.split())["settings"].items()


def test_an_own_method(lab, rows, learn, run):
    found = learn("-m", "cooling.py:Annealing:moves=7")
    assert (found["method"], found["settings"]["moves"]) == ("annealing", 7)
    options = ("--bootstraps", 2, "--format", "json")
    out = run("strength", "rows.csv", "-m", "cooling:Annealing:max_generations=2", *options).out
    assert json.loads(out)["n_bootstraps"] == 2


def test_an_own_method_that_breaks_the_interface(lab, rows, refused):
    own_methods.write_broken(lab, "broken", "score=math.fsum(local),", "score=-1.0,")
    message = refused("learn", "rows.csv", "-m", "broken:Annealing")
    assert message.startswith("The method 'annealing' is wrong in generation 0: its score is -1.0,")
