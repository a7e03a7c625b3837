"""Settings may be numbers of NumPy; numbers that are too large are refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import coevo
from coevo.bundled import load_network
from coevo.errors import ParameterError
from helpers.values import as_values


@pytest.fixture(scope="module")
def rows():
    return coevo.sample(load_network("asia"), 100, random_state=1)


SETTINGS = {
    "ess": (np.float32(2), 2.0),
    "max_parents": (np.uint64(2), 2),
    "random_state": (np.int64(3), 3),
    "max_generations": (np.int32(2), 2),
    "patience": (np.int16(5), 5),
    "max_table": (np.int64(100), 100),
    "bootstraps": (np.int64(0), 0),
    "parent_penalty": (np.float16(0.5), 0.5),
    "strict": (np.True_, True),
    "target": (np.float32(-1.0), -1.0),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_number_of_numpy_is_the_same_setting(rows, name, tmp_path):
    found = []
    for i, value in enumerate(SETTINGS[name]):
        options = {"method": "tabu", "max_generations": 2, "bootstraps": 0, name: value}
        folder = tmp_path / str(i)
        coevo.learn(rows, output=folder, progress=False, **as_values(options))
        facts = json.loads(Path(folder, "run.json").read_text())
        found.append({key: facts[key] for key in ("score", "arcs", "settings", "seed", "scoring")})
    assert found[0] == found[1]


def test_settings_of_methods_and_a_fraction(rows, tmp_path):
    method = coevo.CCGA(population=np.int64(6), p_flip=np.float32(0.25))
    coevo.learn(
        rows, method=method, bootstraps=0, output=tmp_path / "a", budget={"max_generations": 1}
    )
    settings = json.loads((tmp_path / "a" / "run.json").read_text())["settings"]
    assert (settings["population"], settings["p_flip"]) == (6, 0.25)
    coevo.learn(
        rows,
        method="tabu",
        bootstraps=0,
        output=tmp_path,
        score=coevo.Objective(ess=Fraction(3, 2)),
        budget={"max_generations": 1},
    )


@pytest.mark.parametrize("name", ["ess", "max_parents", "max_time", "target", "max_table"])
def test_a_number_of_400_digits(rows, name):
    with pytest.raises(ParameterError) as caught:
        coevo.learn(rows, **as_values({name: 10**400}))
    assert str(caught.value).startswith(f"'{name}' of ")
    assert len(str(caught.value)) < 200
