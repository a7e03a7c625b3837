"""``coevo learn --missing``: policies for missing values, and the imputed table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import coevo
import coevo.progress.displays
from coevo import posteriors
from coevo.data import read_incomplete
from coevo.errors import DataError
from coevo.missing import POLICIES, learn_incomplete
from coevo.search import Budget

QUICK = ("incomplete.csv", "--max-generations", 6, "--seed", 3)
LABELS = ("", "NA", "NaN", "null", "?")


@pytest.fixture
def incomplete(folder, seed):
    """Return the rows of ``incomplete.csv`` before some of their values went missing."""
    rng = np.random.default_rng(seed)
    rows = coevo.sample(coevo.load_network("asia"), 300, seed)
    coevo.write_data(rows, "complete.csv")
    with open("complete.csv", newline="") as stream:
        header, *cells = csv.reader(stream)
    with open("incomplete.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        for row in cells:
            is_missing = rng.random(len(row)) < 0.1
            writer.writerow(
                [
                    rng.choice(LABELS) if missing else cell
                    for cell, missing in zip(row, is_missing, strict=True)
                ]
            )
    return header, cells


def test_missing_values_are_imputed_by_default(incomplete, as_json, run):
    found = as_json("learn", *QUICK)
    asked = as_json("learn", *QUICK, "--missing", "evolve")
    n_missing, share = found["missing"]["n_missing"], found["missing"]["share"]
    assert found.pop("decisions") == [
        {
            "kind": "missing",
            "columns": incomplete[0],
            "sentence": f"{n_missing:,} missing values ({share:.1%} of all values) are imputed by "
            "the policy 'evolve'.",
            "undo": "missing='refuse', or --missing refuse",
        }
    ]
    assert asked.pop("decisions") == []
    assert found | {"seconds": 0} == asked | {"seconds": 0}
    assert "policy: evolve\n" in run("learn", *QUICK).out


@pytest.mark.parametrize("options", [("--missing", "refuse"), ("--strict",)])
def test_missing_values_can_be_an_error(options, incomplete, refused):
    sentence = refused("learn", *QUICK, *options, "-o", "run")
    assert " missing values, the first in row " in sentence
    assert "or learn with missing='evolve' (--missing evolve of coevo learn" in sentence
    assert not Path("run").exists()


def test_a_strict_reader_accepts_missing_values_with_a_policy(incomplete, as_json):
    found = as_json("learn", *QUICK, "--strict", "--missing", "em", "-m", "hill_climb")
    assert found["missing"]["policy"] == "em"


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_the_answer_is_that_of_the_library(policy, incomplete, as_json, run):
    found = as_json("learn", *QUICK, "-s", "k2", "--missing", policy, "-o", "run")
    table = read_incomplete("incomplete.csv", discretise="mdl")
    limits = Budget(max_generations=6)
    expected = learn_incomplete(table, policy, score="k2", budget=limits, random_state=3)
    assert found["score"] == expected.search.score
    assert {(arc["from"], arc["to"]) for arc in found["arcs"]} == set(expected.search.dag.arcs)
    assert found["missing"] == {
        "policy": policy,
        "n_missing": table.n_missing,
        "share": table.n_missing / 2400,
        "n_complete_rows": table.n_complete_rows,
        "columns": {name: table.missing_counts[name] for name in incomplete[0]},
    }
    assert (found["data_hash"], found["n_rows"]) == (table.content_hash, 300)
    written = coevo.io.read_bif("run/model.bif")
    assert written == expected.imputation.network
    assert [variable.name for variable in written.variables] == incomplete[0]
    with open("run/run.json") as stream:
        assert json.load(stream)["missing"] == found["missing"]
    text = run("learn", *QUICK, "--missing", policy).out
    assert (
        f"missing     {table.n_missing:,} values ({table.n_missing / 2400:.1%}) in 8 columns; "
        f"{table.n_complete_rows:,} complete rows; policy: {policy}\n"
    ) in text
    assert f"{table.n_missing:,}" in Path("run/report.html").read_text(encoding="utf-8")


def test_the_imputed_table(incomplete, as_json):
    found = as_json("learn", *QUICK, "--missing", "evolve", "--imputed", "imputed.csv")
    assert found["files"] == {
        "imputed": "imputed.csv",
        "probabilities": "imputed.probabilities.csv",
    }
    header, truth = incomplete
    with open("incomplete.csv", newline="") as stream:
        before = list(csv.reader(stream))[1:]
    with open("imputed.csv", newline="") as stream:
        names, *after = csv.reader(stream)
    assert names == header
    with open("imputed.probabilities.csv", newline="") as stream:
        imputed = {(int(c["row"]), c["column"]): c for c in csv.DictReader(stream)}
    missing = {
        (i + 1, name)
        for i, row in enumerate(before)
        for name, cell in zip(header, row, strict=True)
        if cell in LABELS
    }
    assert imputed.keys() == missing
    n_correct = 0
    for i, (old, new, true) in enumerate(zip(before, after, truth, strict=True), start=1):
        for name, was, now, really in zip(header, old, new, true, strict=True):
            if (i, name) in missing:
                assert imputed[i, name]["state"] == now
                assert 0 < float(imputed[i, name]["probability"]) <= 1
                n_correct += now == really
            else:
                assert now == was
    assert n_correct / len(missing) > 0.75


def test_other_labels(incomplete, as_json, refused):
    with open("incomplete.csv", newline="") as stream:
        rows = list(csv.reader(stream))
    with open("incomplete.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([["-9" if c in LABELS else c for c in row] for row in rows])
    plain = as_json("learn", *QUICK, "-m", "hill_climb")
    assert "missing" not in plain
    found = as_json("learn", *QUICK, "-m", "hill_climb", "--missing", "em", "--missing-label", "-9")
    assert found["missing"]["n_missing"] == sum(c in LABELS for row in rows[1:] for c in row)


def test_a_table_without_missing_values(incomplete, as_json):
    """A policy changes nothing if no value is missing."""
    arguments = ("complete.csv", *QUICK[1:])
    found = as_json("learn", *arguments, "--missing", "evolve", "--imputed", "copy.csv")
    plain = as_json("learn", *arguments)
    assert found | {"seconds": 0, "files": 0} == plain | {"seconds": 0, "files": 0}
    assert coevo.read_data("copy.csv") == coevo.read_data("complete.csv")


def test_options_that_cannot_be_combined(incomplete, refused, run):
    evolve = ("--missing", "evolve")
    assert refused("learn", *QUICK, "--missing", "evolv").endswith("Did you mean 'evolve'?")
    for arguments, sentence in (
        (
            ("--missing", "state", "--imputed", "x.csv"),
            "--imputed needs a policy that imputes values; --missing state does not.",
        ),
        (
            ("--missing", "refuse", "--imputed", "x.csv"),
            "--imputed needs a policy that imputes values; --missing refuse does not.",
        ),
    ):
        code, _, err = run("learn", *QUICK, *arguments)
        assert code == 2
        assert err.endswith(f"\nError: {sentence}\n")
    assert refused("learn", *QUICK, *evolve, "--imputed", "x.foo", "-o", "run").endswith(
        "got 'x.foo'."
    )
    assert not Path("run").exists()  # found before the search
    code, _, err = run("learn", *QUICK, *evolve, "--imputed", "incomplete.csv")
    assert code == 2
    assert err.endswith(
        "\nError: --imputed would overwrite DATA, 'incomplete.csv'. Give another name.\n"
    )
    code, _, err = run("learn", "/dev/null", *evolve, "--imputed", "x.csv")
    assert code == 2
    assert err.endswith(
        "\nError: --imputed needs DATA to be a file that can be read twice; '/dev/null' is not "
        "one.\n"
    )
    assert refused("learn", *QUICK, *evolve, "--imputed", "no/x.csv").endswith(
        "there is no folder 'no'."
    )


def test_threads_and_columns_change_nothing(incomplete, as_json):
    """The order of columns and rows changes nothing."""
    first = as_json("learn", *QUICK, "--missing", "evolve")
    with open("incomplete.csv", newline="") as stream:
        header, *rows = csv.reader(stream)
    order = list(reversed(range(len(header))))
    with open("incomplete.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([[row[i] for i in order] for row in [header, *reversed(rows)]])
    again = as_json("learn", *QUICK, "--missing", "evolve", "-j", 2)
    for found in (first, again):
        found["arcs"].sort(key=lambda arc: (arc["from"], arc["to"]))
    assert (again["score"], again["arcs"]) == (first["score"], first["arcs"])
    assert again["data_hash"] == first["data_hash"]


def test_the_imputed_table_keeps_what_was_given(folder, as_json, seed):
    """Identifiers, numbers and order stay; only missing values are new."""
    rng = np.random.default_rng(seed)
    lines = ["id;mm;wet;rain"]
    for i in range(80):
        mm = rng.gamma(1.0, 4.0)
        shown = "" if i % 10 == 3 else f"{mm:.2f}"
        wet = "?" if i % 10 == 7 else ("yes" if mm > 3 else "no")
        lines.append(f"r{i};{shown};{wet};{'yes' if mm > 1 else 'no'}")
    Path("rain.csv").write_text("\n".join(lines), encoding="utf-8")
    options = ("--drop", "id", "--max-generations", 6, "--missing", "evolve")
    as_json("learn", "rain.csv", *options, "--imputed", "complete.csv")
    before = [line.split(";") for line in lines]
    after = [line.split(",") for line in Path("complete.csv").read_text().splitlines()]
    numbers = {row[1] for row in before}
    for old, new in zip(before, after, strict=True):
        assert (new[0], new[3]) == (old[0], old[3])
        assert new[1] == old[1] if old[1] else new[1] in numbers
        assert new[2] == old[2] if old[2] != "?" else new[2] in ("yes", "no")


def test_the_imputed_table_is_written_before_the_bootstrap(incomplete, run, monkeypatch):
    """A run that is killed during its bootstrap has the imputed table already."""

    def interrupt(*arguments, **options):
        assert Path("x.csv").is_file()
        raise KeyboardInterrupt

    monkeypatch.setattr(posteriors, "run_bootstraps", interrupt)
    arguments = ("--missing", "em", "--imputed", "x.csv", "--bootstraps", 3)
    code, out, err = run("learn", *QUICK, *arguments)
    assert (code, err) == (130, "Interrupted. This is the network, without bootstrap samples.\n")
    assert out.endswith("wrote       x.csv\nwrote       x.probabilities.csv\n")


def test_an_error_of_the_imputed_table_does_not_lose_the_network(incomplete, run, monkeypatch):
    """DATA was replaced during the search."""

    def fail(*_):
        raise DataError("The table has 3 rows, and 300 were read.")

    monkeypatch.setattr(coevo.missing, "write_imputed", fail)
    code, out, err = run("learn", *QUICK, "--missing", "em", "--imputed", "x.csv")
    assert code == 2
    assert "score" in out
    assert "arcs" in out
    assert err.endswith("Error: The table has 3 rows, and 300 were read.\n")
