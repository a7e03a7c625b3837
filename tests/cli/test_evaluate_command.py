"""``coevo evaluate``: the log-likelihood of the library, and impossible rows."""

from __future__ import annotations

import json
import math

import pytest

from coevo.bundled import load_network
from coevo.data import Variable, write_data
from coevo.io import write_bif
from coevo.learning import cross_validate
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
        "unknown": {"absent": [], "missing": {}, "unseen": {}},
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


def test_what_is_unknown_is_summed_out_and_said(garden, run, refused):
    garden("rain,other", "no,1", "?,2", "snow,3")
    total = math.log(0.75)
    assert run("evaluate", "garden.bif", "rows.csv").out == (
        f"total       {total:.6f}  (log-likelihood; higher is better)\n"
        f"mean        {total / 3:.6f} per row\n"
        "rows        3\n"
        "variables   1\n"
        "unknown     1 variable has no column and is unknown: 'wet'.\n"
        "unknown     1 missing value is unknown: 'rain' (1).\n"
        "unknown     1 value of 'rain' is unknown, because the network has no such state: 'snow' "
        "(1).\n"
    )
    garden("rain,wet", "no,dry", "?,dry")
    assert refused("evaluate", "garden.bif", "rows.csv", "--per-variable") == (
        "'--per-variable' needs rows without unknown cells. 1 missing value is unknown: 'rain' (1)."
    )


def test_a_target(garden, as_json, run, folder):
    garden("rain,wet", "no,dry", "no,wet", "yes,wet", "yes,wet", ",wet")
    found = as_json("evaluate", "garden.bif", "rows.csv", "--target", "rain")
    metrics = found["metrics"]
    assert (metrics["n_rows"], metrics["accuracy"], metrics["auc"]) == (4, 0.5, 0.75)
    assert metrics["per_state"]["yes"] == {
        "n_rows": 2, "sensitivity": 0.0, "specificity": 1.0, "auc": 0.75,
    }  # fmt: skip
    out = run("evaluate", "garden.bif", "rows.csv", "--target", "rain").out
    assert out.endswith(
        "target      rain\n"
        "accuracy    0.500000  (2 of 4 rows)\n"
        f"log loss    {-math.log(0.6 * 0.4 * 0.4) / 4:.6f}  (lower is better)\n"
        "Brier       0.220000  (lower is better)\n"
        "AUC         0.750000\n"
        f"calibration {metrics['calibration_error']:.6f}  (mean error of a probability)\n"
        "states      sensitivity  specificity       AUC     rows\n"
        "                 1.0000       0.0000    0.7500        2  no\n"
        "                 0.0000       1.0000    0.7500        2  yes\n"
        "confusion   rows: true states; columns: predicted states\n"
        "       no  yes\n"
        "  no    2    0\n"
        "  yes   2    0\n"
    )


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure(suffix, garden, run, folder):
    pytest.importorskip("matplotlib")
    garden("rain,wet", "no,dry", "no,wet", "yes,wet", "yes,wet")
    written = []
    for name in (f"one.{suffix}", f"two.{suffix}"):
        arguments = ["evaluate", "garden.bif", "rows.csv", "--target", "rain", "--figure", name]
        assert run(*arguments).out.endswith(f"wrote       {name}\n")
        written.append((folder / name).read_bytes())
    assert written[0] == written[1]
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert written[0].startswith(start)


def test_cross_validation(folder, as_json, run):
    write_data(sample(load_network("asia"), 300, 3), "asia.csv")
    arguments = ["evaluate", "asia.csv", "--cv", "3", "--target", "bronc", "-m", "hill_climb"]
    found = as_json(*arguments, "-s", "bic", "--seed", "1")
    expected = cross_validate(
        "asia.csv", cv=3, predict="bronc", method="hill_climb", score="bic", random_state=1
    )
    assert found["log_likelihood"] == expected.log_likelihood
    assert found["metrics"] == expected.metrics.as_dict()
    assert [fold["n_rows"] for fold in found["folds"]] == [100, 100, 100]
    out = run(*arguments).out
    assert out.startswith("folds       3\nmean        -")
    assert "\ntarget      bronc\naccuracy    " in out
    fixed = as_json("evaluate", "asia", "asia.csv", "--cv", "3")
    assert {fold["n_arcs"] for fold in fixed["folds"]} == {8}
    assert "metrics" not in fixed


def test_refusals(garden, refused):
    garden("rain,wet", "no,dry", "no,wet")
    assert refused("evaluate", "garden.dot", "rows.csv").startswith("There is no")
    assert refused("evaluate", "rows.csv") == (
        "Name a model and a table, or learn from parts of the table with '--cv 10'."
    )
    assert refused("evaluate", "garden.bif", "rows.csv", "-m", "k2") == (
        "'--method' is about learning. Use it together with '--cv'."
    )
    assert refused("evaluate", "garden.bif", "rows.csv", "--figure", "a.png") == (
        "'--figure' shows a prediction. Name the variable with '--target'."
    )
    assert refused(
        "evaluate", "garden.bif", "rows.csv", "--figure", "a.gif", "--target", "rain"
    ) == ("The name of a figure must end in one of .png, .svg, .pdf; got 'a.gif'.")
    assert refused("evaluate", "rows.csv", "--cv", "2", "--per-variable") == (
        "'--per-variable' and '--cv' cannot be combined."
    )
    assert refused("evaluate", "a", "b", "c") == (
        "Name a model and a table, or with '--cv' a table alone."
    )
