"""``coevo predict``: the predictions of the library as a table, and their accuracy."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math

import numpy as np
import pytest

from coevo.bundled import load_network
from coevo.data import Variable, write_data
from coevo.io import write_bif
from coevo.network import BayesianNetwork, sample
from helpers.tiny_networks import GARDEN


def test_by_hand(garden, run):
    garden("id,rain,wet", "7,no,dry", "8,no,wet", "9,yes,wet", "10,yes,wet")
    assert run("predict", "garden.bif", "rows.csv", "rain") == (
        0,
        "predicted,probability\nno,1\nno,0.6\nno,0.6\nno,0.6\n",
        "accuracy    0.500000  (2 of 4 rows)\n"
        f"log loss    {-math.log(0.6 * 0.4 * 0.4) / 4:.6f}  (lower is better)\n"
        "confusion   rows: true states; columns: predicted states\n"
        "       no  yes\n"
        "  no    2    0\n"
        "  yes   2    0\n",
    )


def test_without_the_column_there_is_nothing_to_compare(garden, run):
    garden("wet,note", "wet,", "dry,?")
    expected = "predicted,probability,rain=no,rain=yes\nno,0.6,0.6,0.4\nno,1,1,0\n"
    assert run("predict", "garden.bif", "rows.csv", "rain", "--probabilities") == (0, expected, "")
    garden("wet", "wet", "dry")  # a single column
    assert run("predict", "garden.bif", "rows.csv", "rain", "--probabilities").out == expected
    garden("rain,wet", ",wet", ",dry")  # a column without values
    arguments = ["predict", "garden.bif", "rows.csv", "rain", "--probabilities"]
    assert run(*arguments).err.startswith("Error: Column 'rain' has 2 missing values")
    assert run(*arguments, "--drop", "rain") == (0, expected, "")


@pytest.mark.parametrize("target", ["BP", "HR", "KINKEDTUBE"])
def test_the_numbers_of_the_library(target, folder, run, as_json):
    network = load_network("alarm")
    dataset = sample(network, 200, 3)
    write_data(dataset, "alarm.csv")
    expected = network.predict(dataset, target)
    agreed = expected.evaluate(dataset)
    code, out, err = run("predict", "alarm", "alarm.csv", target, "--probabilities")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["predicted"] for row in rows] == list(expected.states)
    written = [[float(row[f"{target}={s}"]) for s in expected.variable.states] for row in rows]
    np.testing.assert_allclose(written, expected.probabilities, rtol=1e-11)
    highest = expected.probabilities.max(axis=1)
    np.testing.assert_allclose([float(row["probability"]) for row in rows], highest, rtol=1e-11)
    found = as_json("predict", "alarm", "alarm.csv", target)
    assert found.pop("predictions") == [
        {"predicted": state, "probability": probability}
        for state, probability in zip(expected.states, highest.tolist(), strict=True)
    ]
    assert found == {
        "target": target,
        "states": list(expected.variable.states),
        "n_rows": 200,
        "accuracy": agreed.accuracy,
        "log_loss": agreed.log_loss,
        "confusion": agreed.confusion.tolist(),
    }
    assert f"accuracy    {agreed.accuracy:.6f}  (" in err


def test_a_file(garden, run, as_json, folder):
    garden("rain,wet", "no,dry", "yes,wet")
    answer = as_json("predict", "garden.bif", "rows.csv", "rain", "-o", "out.csv")
    assert (answer["file"], "predictions" in answer) == ("out.csv", False)
    assert (folder / "out.csv").read_text() == "predicted,probability\nno,1\nno,0.6\n"
    code, out, err = run("predict", "garden.bif", "rows.csv", "rain", "-o", "out.csv.gz")
    assert (code, out) == (0, "")
    assert err.endswith("Wrote 2 predictions of 'rain' to out.csv.gz.\n")
    packed = gzip.decompress((folder / "out.csv.gz").read_bytes())
    assert packed == (folder / "out.csv").read_bytes()


def test_numbers_go_into_the_bins_of_the_network(folder, garden, run):
    age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    tables = {"age": [0.25, 0.5, 0.25], "rain": [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]}
    write_bif(BayesianNetwork([age, GARDEN.variable("rain")], {"rain": ["age"]}, tables), "age.bif")
    garden("age", "17.9", "18", "65", "3e1")
    assert run("predict", "age.bif", "rows.csv", "rain") == (
        0, "predicted,probability\nno,0.9\nyes,0.8\nno,0.5\nyes,0.8\n", "",
    )  # fmt: skip
    garden("age,rain", "17.9,no", "18,yes", "66.5,yes")
    _, out, err = run("predict", "age.bif", "rows.csv", "age")
    assert out.splitlines()[1:] == [  # 0.225, 0.1, 0.125 and 0.025, 0.4, 0.125
        "below_18,0.5", "from_18_to_65,0.727272727273", "from_18_to_65,0.727272727273",
    ]  # fmt: skip
    assert err.startswith("accuracy    0.666667  (2 of 3 rows)\n")


def test_a_variable_that_depends_on_nothing(folder, garden, run):
    tables = {"rain": [0.75, 0.25], "wet": [0.5, 0.5]}
    write_bif(BayesianNetwork(GARDEN.variables, {}, tables), "alone.bif")
    garden("wet", "dry", "dry")
    expected = "predicted,probability\nno,0.75\nno,0.75\n"
    assert run("predict", "alone.bif", "rows.csv", "rain") == (0, expected, "")


def test_a_large_confusion_matrix_is_not_printed(folder, garden, run):
    many = Variable("many", tuple(f"s{i:02}" for i in range(11)))
    tables = {"many": np.full(11, 1 / 11), "rain": [0.5, 0.5]}
    write_bif(BayesianNetwork([many, GARDEN.variable("rain")], {}, tables), "many.bif")
    garden("many,rain", "s03,no")
    _, out, err = run("predict", "many.bif", "rows.csv", "many")
    assert out.splitlines()[1:] == ["s00,0.0909090909091"]
    assert err.splitlines()[-1] == "confusion   11 states; see --format json"


def test_a_true_state_of_probability_zero(garden, run, as_json):
    garden("rain,wet", "yes,dry", "no,wet")
    found = as_json("predict", "garden.bif", "rows.csv", "rain")
    assert (found["log_loss"], found["accuracy"]) == (None, 0.5)
    json.dumps(found, allow_nan=False)
    assert "log loss    inf  (" in run("predict", "garden.bif", "rows.csv", "rain").err


def test_refusals(garden, refused, folder):
    garden("rain,wet", "no,dry", "no,soaked")
    assert refused("predict", "garden.bif", "no.csv", "rian") == (
        "There is no variable 'rian' in the network. Did you mean 'rain'?"
    )
    assert refused("predict", "garden.bif", "none.txt", "rain") == ("There is no file 'none.txt'.")
    assert refused("predict", "garden.bif", "rows.csv", "rain", "-o", "no/out.csv") == (
        "'no/out.csv' cannot be written: there is no folder 'no'."
    )
    assert "'soaked'" in refused("predict", "garden.bif", "rows.csv", "rain")
    garden("rain,other", "no,1")
    assert refused("predict", "garden.bif", "rows.csv", "rain") == (
        "There is no column 'wet'. A prediction of 'rain' needs its parents, its children and "
        "their parents."
    )
    garden("a,b", "no,1")
    assert refused("predict", "garden.bif", "rows.csv", "rain") == (
        "The table has none of the columns 'rain', 'wet'."
    )
    garden("rain,wet", "no,dry")
    assert refused("predict", "garden.bif", "rows.csv", "rain", "--drop", "id") == (
        "'drop' names 'id', which is not a column of the table."
    )
