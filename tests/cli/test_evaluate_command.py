"""``coevo evaluate``: the log-likelihood of the library, and impossible rows."""

from __future__ import annotations

import json
import math

import pytest

from coevo.bundled import load_network
from coevo.data import Variable, write_data
from coevo.io import write_bif
from coevo.network import BayesianNetwork, sample
from helpers.tiny_networks import GARDEN


def test_by_hand(garden, run):
    garden("id,rain,wet", "7,no,dry", "8,no,wet", "9,yes,wet", "10,yes,wet")
    total = math.log(0.375**2 * 0.25**2)
    wet, rain = 2 * math.log(0.5), math.log(0.75**2 * 0.25**2)
    assert run("evaluate", "garden.bif", "rows.csv", "--per-variable") == (
        0,
        f"total       {total:.6f}  (log-likelihood; higher is better)\n"
        f"mean        {total / 4:.6f} per row\n"
        "rows        4\n"
        "variables   2\n"
        "\n"
        "          total     mean per row variable\n"
        f"{rain:>15.6f} {rain / 4:>16.6f} rain\n"
        f"{wet:>15.6f} {wet / 4:>16.6f} wet\n",
        "",
    )


def test_the_numbers_of_the_library(folder, as_json):
    network = load_network("alarm")
    dataset = sample(network, 200, 3)
    write_data(dataset, "alarm.csv")
    expected = network.log_likelihood(dataset)
    found = as_json("evaluate", "alarm", "alarm.csv")
    per_variable = found.pop("per_variable")
    assert per_variable == expected.per_variable
    assert list(per_variable) == [variable.name for variable in dataset.source_variables]
    assert found == {
        "log_likelihood": expected.total,
        "mean": expected.total / 200,
        "n_rows": 200,
        "n_variables": 37,
        "impossible_rows": 0,
        "possible_rows": {
            "n_rows": 200, "log_likelihood": expected.total, "mean": expected.total / 200,
        },
        "data_hash": dataset.content_hash,
    }  # fmt: skip


def test_rows_that_are_impossible(garden, run):
    garden("rain,wet", "no,dry", "yes,dry", "no,wet", "yes,dry")
    warning = (
        "Warning: Row 2 (and 1 more) is impossible under the network; its log-likelihood is -inf.\n"
    )
    possible = 2 * math.log(0.375)
    code, out, err = run("evaluate", "garden.bif", "rows.csv", "--format", "json")
    assert (code, err) == (0, warning)
    found = json.loads(out)
    json.dumps(found, allow_nan=False)
    assert (found["log_likelihood"], found["mean"], found["impossible_rows"]) == (None, None, 2)
    assert found["possible_rows"] == {
        "n_rows": 2,
        "log_likelihood": pytest.approx(possible),
        "mean": pytest.approx(possible / 2),
    }
    assert found["per_variable"]["wet"] is None
    code, out, err = run("evaluate", "garden.bif", "rows.csv", "--per-variable")
    assert (code, err) == (0, warning)
    assert out.startswith(
        "total       -inf  (log-likelihood; higher is better)\n"
        "mean        -inf per row\n"
        "rows        4\n"
        "impossible  2\n"
        f"possible    2: total {possible:.6f}, mean {possible / 2:.6f} per row\n"
        "variables   2\n"
    )
    assert out.endswith("           -inf             -inf wet\n")
    garden("rain,wet", "yes,dry")
    assert "impossible  1\nvariables" in run("evaluate", "garden.bif", "rows.csv").out


def test_numbers_go_into_the_bins_of_the_network(folder, garden, as_json):
    age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    tables = {"age": [0.25, 0.5, 0.25], "rain": [0.75, 0.25]}
    write_bif(BayesianNetwork([age, GARDEN.variable("rain")], {}, tables), "age.bif")
    garden("rain,age", "no,17.9", "no,64.9", "yes,65")
    found = as_json("evaluate", "age.bif", "rows.csv")
    assert found["per_variable"]["age"] == pytest.approx(math.log(0.25 * 0.5 * 0.25))


def test_refusals(garden, refused):
    garden("rain,wet", "no,dry", "no,soaked")
    assert "'soaked'" in refused("evaluate", "garden.bif", "rows.csv")
    garden("rain,other", "no,1")
    assert refused("evaluate", "garden.bif", "rows.csv") == (
        "There is no column 'wet'. A log-likelihood needs every variable of the network."
    )
    assert refused("evaluate", "garden.dot", "rows.csv").startswith("There is no")
