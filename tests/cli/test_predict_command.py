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
        "id,rain,wet,predicted,probability\n"
        "7,no,dry,no,1\n8,no,wet,no,0.6\n9,yes,wet,no,0.6\n10,yes,wet,no,0.6\n",
        "accuracy    0.500000  (2 of 4 rows)\n"
        f"log loss    {-math.log(0.6 * 0.4 * 0.4) / 4:.6f}  (lower is better)\n"
        f"Brier       {(0.16 + 2 * 0.36) / 4:.6f}  (lower is better)\n"
        "AUC         0.750000\n"
        "confusion   rows: true states; columns: predicted states\n"
        "       no  yes\n"
        "  no    2    0\n"
        "  yes   2    0\n",
    )


def test_without_the_column_there_is_nothing_to_compare(garden, run):
    garden("wet,note", "wet,", "dry,?")
    new = "predicted,probability,rain=no,rain=yes"
    arguments = ["predict", "garden.bif", "rows.csv", "rain", "--probabilities"]
    expected = f"wet,note,{new}\nwet,,no,0.6,0.6,0.4\ndry,?,no,1,1,0\n"
    assert run(*arguments) == (0, expected, "")
    garden("wet", "wet", "dry")  # a single column
    assert run(*arguments) == (0, f"wet,{new}\nwet,no,0.6,0.6,0.4\ndry,no,1,1,0\n", "")
    garden("rain,wet", ",wet", ",dry")  # a column without values
    expected = f"rain,wet,{new}\n,wet,no,0.6,0.6,0.4\n,dry,no,1,1,0\n"
    assert run(*arguments) == (0, expected, "")
    assert run(*arguments, "--drop", "rain") == (0, expected, "")


def test_what_is_unknown_is_summed_out_and_said(garden, run, as_json):
    garden("id,wet,rain", "1,dry,no", "2,?,no", "3,soaked,yes", "4,wet,")
    code, out, err = run("predict", "garden.bif", "rows.csv", "rain")
    assert code == 0
    assert out == (
        "id,wet,rain,predicted,probability\n"
        "1,dry,no,no,1\n2,?,no,no,0.75\n3,soaked,yes,no,0.75\n4,wet,,no,0.6\n"
    )
    assert err.splitlines()[:3] == [
        "1 missing value is unknown: 'wet' (1).",
        "1 value of 'wet' is unknown, because the network has no such state: 'soaked' (1).",
        "accuracy    0.666667  (2 of 3 rows)",
    ]
    found = as_json("predict", "garden.bif", "rows.csv", "rain")
    assert found["unknown"] == {
        "absent": [], "missing": {"wet": 1}, "unseen": {"wet": {"soaked": 1}},
    }  # fmt: skip
    assert found["metrics"]["n_rows"] == 3
    garden("other,rain", "1,no")
    _, out, err = run("predict", "garden.bif", "rows.csv", "rain")
    assert out.splitlines()[1] == "1,no,no,0.75"
    assert err.startswith("1 variable has no column and is unknown: 'wet'.\n")


def test_impossible_rows_are_predicted_without_evidence(folder, garden, run):
    tables = {"rain": [0.75, 0.25], "wet": [[0.0, 1.0], [0.0, 1.0]]}
    write_bif(BayesianNetwork(GARDEN.variables, {"wet": ["rain"]}, tables), "sure.bif")
    garden("wet", "dry", "wet")
    code, out, err = run("predict", "sure.bif", "rows.csv", "rain")
    assert (code, out) == (0, "wet,predicted,probability\ndry,no,0.75\nwet,no,0.75\n")
    assert err == (
        "Warning: 1 row is impossible under the network for every state of 'rain' (Row 1 is the "
        "first); its prediction uses no evidence.\n"
    )


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
        "unknown": {"absent": [], "missing": {}, "unseen": {}},
        "n_impossible": 0,
        "metrics": agreed.as_dict(),
    }
    assert f"accuracy    {agreed.accuracy:.6f}  (" in err


def test_a_file(garden, run, as_json, folder):
    garden("rain,wet", "no,dry", "yes,wet")
    answer = as_json("predict", "garden.bif", "rows.csv", "rain", "-o", "out.csv")
    assert (answer["file"], "predictions" in answer) == ("out.csv", False)
    expected = "rain,wet,predicted,probability\nno,dry,no,1\nyes,wet,no,0.6\n"
    assert (folder / "out.csv").read_text() == expected
    code, out, err = run("predict", "garden.bif", "rows.csv", "rain", "-o", "out.csv.gz")
    assert (code, out) == (0, "")
    assert err.endswith("Wrote 2 predictions of 'rain' to out.csv.gz.\n")
    packed = gzip.decompress((folder / "out.csv.gz").read_bytes())
    assert packed == (folder / "out.csv").read_bytes()


def test_columns_of_every_kind_of_table_are_kept(folder, garden, run):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {"id": ["a 1", "b,2"], "predicted": [1.5, 2.5], "wet": ["wet", None], "n": [1, 2]}
    )
    frame.to_parquet("rows.parquet")
    expected = (
        'id,predicted,wet,n,predicted_2,probability\na 1,1.5,wet,1,no,0.6\n"b,2",2.5,,2,no,0.75\n'
    )
    assert run("predict", "garden.bif", "rows.parquet", "rain").out == expected
    frame.to_json("rows.jsonl", orient="records", lines=True)
    assert run("predict", "garden.bif", "rows.jsonl", "rain").out == expected
    (folder / "rows.txt").write_bytes("id;wet\nä;wet\n\n;dry\n".encode("latin-1"))
    assert run("predict", "garden.bif", "rows.txt", "rain", "-o", "out.tsv").code == 0
    assert (folder / "out.tsv").read_text(encoding="utf-8") == (
        "id\twet\tpredicted\tprobability\nä\twet\tno\t0.6\n\tdry\tno\t1\n"
    )
    run("predict", "garden.bif", "rows.parquet", "rain", "-o", "out.parquet")
    assert pandas.read_parquet("out.parquet")["predicted_2"].tolist() == ["no", "no"]


def test_the_standard_input(garden, run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"id,wet\n7,wet\n")))
    code, out, _ = run("predict", "garden.bif", "-", "rain")
    assert (code, out) == (0, "id,wet,predicted,probability\n7,wet,no,0.6\n")


def test_the_folder_of_a_run_is_a_model(folder, garden, run):
    garden("rain,wet", *["no,dry"] * 20, *["yes,wet"] * 20, *["no,wet"] * 10)
    assert run("learn", "rows.csv", "-o", "run", "-m", "hill_climb").code == 0
    by_folder = run("predict", "run", "rows.csv", "rain")
    assert by_folder.code == 0
    assert by_folder == run("predict", "run/model.bif", "rows.csv", "rain")
    assert run("query", "run", "rain").out == run("query", "run/model.bif", "rain").out
    (folder / "run" / "model.bif").unlink()
    assert run("query", "run", "rain").err == (
        "Error: The run in 'run' has no network, because no tables could be fitted to its "
        "structure.\n"
    )


def test_numbers_go_into_the_bins_of_the_network(folder, garden, run):
    age = Variable("age", ("below_18", "from_18_to_65", "from_65"))
    tables = {"age": [0.25, 0.5, 0.25], "rain": [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]}
    write_bif(BayesianNetwork([age, GARDEN.variable("rain")], {"rain": ["age"]}, tables), "age.bif")
    garden("age", "17.9", "18", "65", "3e1")
    assert run("predict", "age.bif", "rows.csv", "rain") == (
        0, "age,predicted,probability\n17.9,no,0.9\n18,yes,0.8\n65,no,0.5\n3e1,yes,0.8\n", "",
    )  # fmt: skip
    garden("age,rain", "17.9,no", "18,yes", "66.5,yes")
    _, out, err = run("predict", "age.bif", "rows.csv", "age")
    assert out.splitlines()[1:] == [  # 0.225, 0.1, 0.125 and 0.025, 0.4, 0.125
        "17.9,no,below_18,0.5",
        "18,yes,from_18_to_65,0.727272727273",
        "66.5,yes,from_18_to_65,0.727272727273",
    ]
    assert err.startswith("accuracy    0.666667  (2 of 3 rows)\n")


def test_a_variable_that_depends_on_nothing(folder, garden, run):
    tables = {"rain": [0.75, 0.25], "wet": [0.5, 0.5]}
    write_bif(BayesianNetwork(GARDEN.variables, {}, tables), "alone.bif")
    garden("wet", "dry", "dry")
    expected = "wet,predicted,probability\ndry,no,0.75\ndry,no,0.75\n"
    assert run("predict", "alone.bif", "rows.csv", "rain") == (0, expected, "")


def test_a_large_confusion_matrix_is_not_printed(folder, garden, run):
    many = Variable("many", tuple(f"s{i:02}" for i in range(11)))
    tables = {"many": np.full(11, 1 / 11), "rain": [0.5, 0.5]}
    write_bif(BayesianNetwork([many, GARDEN.variable("rain")], {}, tables), "many.bif")
    garden("many,rain", "s03,no")
    _, out, err = run("predict", "many.bif", "rows.csv", "many")
    assert out.splitlines()[1:] == ["s03,no,s00,0.0909090909091"]
    assert err.splitlines()[-1] == "confusion   11 states; see --format json"


def test_a_true_state_of_probability_zero(garden, run, as_json):
    garden("rain,wet", "yes,dry", "no,wet")
    found = as_json("predict", "garden.bif", "rows.csv", "rain")
    assert (found["metrics"]["log_loss"], found["metrics"]["accuracy"]) == (None, 0.5)
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
    assert refused("predict", "garden.bif", "rows.csv", "rain", "-o", "out.xlsx").startswith(
        "The name of a table must end in one of .csv,"
    )
    garden("a,b", "no,1")
    assert refused("predict", "garden.bif", "rows.csv", "rain") == (
        "The table has none of the columns 'rain', 'wet'."
    )
    garden("rain,wet", "no,dry")
    assert refused("predict", "garden.bif", "rows.csv", "rain", "--drop", "id") == (
        "'drop' names 'id', which is not a column of the table."
    )
