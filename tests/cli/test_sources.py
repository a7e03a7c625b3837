"""Commands read tables of any kind: options of the source, databases, and the standard input."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import sys

import pandas as pd
import pytest

import coevo
from coevo.bundled import load_network
from coevo.network import sample

QUICK = ("-m", "hill_climb", "--format", "json")


@pytest.fixture
def frame(folder):
    """Return rows of the network Asia, and make the folder the current one."""
    dataset = sample(load_network("asia"), 300, random_state=1).expand()
    columns = {
        variable.name: [variable.states[code] for code in codes]
        for variable, codes in zip(dataset.variables, dataset.codes.tolist(), strict=True)
    }
    return pd.DataFrame(columns)


@pytest.fixture
def learn(run):
    """Return a function that gives the hash of the rows that ``coevo learn`` reads."""

    def call(*arguments):
        code, out, err = run("learn", *arguments, *QUICK)
        assert (code, err) == (0, "")
        return json.loads(out)["data_hash"]

    return call


def test_the_same_rows_from_every_source(frame, learn, monkeypatch):
    frame.to_csv("t.csv", index=False)
    expected = learn("t.csv")
    text = "report\n" + frame.rename_axis("index").to_csv(sep="~")
    with open("dirty.txt", "w", encoding="utf-16-le") as file:
        file.write(text + "bye\n")
    options = ("--encoding", "utf-16-le", "--delimiter", "~", "--skiprows", 1, "--skipfooter", 1)
    assert learn("dirty.txt", *options, "--drop", "index") == expected
    with pd.ExcelWriter("t.xlsx") as writer:
        frame[:5].to_excel(writer, sheet_name="some", index=False)
        frame.to_excel(writer, sheet_name="all", index=False)
    assert learn("t.xlsx", "--sheet", "all") == learn("t.xlsx", "--sheet", 2) == expected
    with contextlib.closing(sqlite3.connect("t.db")) as connection:
        frame.to_sql("visits", connection, index=False)
        frame.to_sql("other", connection, index=False)
    assert learn("t.db", "--table", "visits") == expected
    assert learn("t.db", "--query", "SELECT * FROM visits") == expected

    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(frame.to_csv(index=False).encode()))

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert learn("-") == expected


def test_other_commands_take_the_options(frame, run):
    with open("t.csv", "w") as file:
        file.write("title\n" + frame.to_csv(index=False, sep="~"))
    options = ("--delimiter", "~", "--skiprows", 1)
    for command in (
        ("score", "t.csv", "--structure", "asia"),
        ("evaluate", "asia", "t.csv"),
        ("predict", "asia", "t.csv", "dysp", "-o", "p.csv"),
    ):
        code, out, _ = run(*command, *options, "--format", "json")
        assert (code, json.loads(out)["n_rows"]) == (0, 300)
        code, _, err = run(*command, "--delimiter", "~~")
        assert code == 2
        assert "must be one character or None; got '~~'." in err


def test_inspect_takes_the_options_and_repeats_them(frame, run):
    with open("t.csv", "w") as file:
        file.write("title\n" + frame.to_csv(index=False, sep="~"))
    options = ("--delimiter", "~", "--comment", "", "--skiprows", 1, "--skipfooter", 0)
    code, out, err = run("inspect", "t.csv", *options, "--format", "json")
    answer = json.loads(out)
    assert (code, err, answer["n_rows"], answer["decisions"]) == (0, "", 300, [])
    assert answer["next"] == (
        "coevo learn t.csv --delimiter '~' --comment '' --skiprows 1 --skipfooter 0 -o run/"
    )
    code, out, _ = run("inspect", "t.csv", "--delimiter", "~", "--no-header", "--format", "json")
    assert "--no-header" in json.loads(out)["next"]
    code, out, _ = run("inspect", "t.csv", "--delimiter", "~", "--format", "json")
    assert [decision["kind"] for decision in json.loads(out)["decisions"]] == ["titles"]


def test_queries_in_python(frame):
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        frame.to_sql("visits", connection, index=False)
        found = coevo.learn(
            "SELECT * FROM visits", method="hill_climb", read={"connection": connection}
        )
    assert found.dataset.content_hash == coevo.read_data(frame).content_hash
    assert found.source is None


def test_imputed_copies(frame, run):
    frame.loc[3, "asia"] = None
    with pd.ExcelWriter("t.xlsx") as writer:
        frame[:5].to_excel(writer, sheet_name="some", index=False)
        frame.to_excel(writer, sheet_name="all", index=False)
    imputing = ("--missing", "evolve", "--max-generations", 3, "--imputed", "copy.csv")
    code, _, err = run("learn", "t.xlsx", "--sheet", "all", *imputing)
    assert (code, err) == (0, "")
    copy = pd.read_csv("copy.csv")
    assert not copy.isna().any().any()
    assert copy.drop(index=3).equals(frame.drop(index=3).astype(copy.dtypes))
    code, _, err = run("learn", "-", *imputing)
    assert code == 2
    assert err.endswith(
        "Error: --imputed needs DATA to be a file that can be read twice; '-' is not one.\n"
    )


def test_shards_take_no_options_of_a_source(frame, run):
    frame.to_parquet("t.parquet")
    code, _, err = run("learn", "t.parquet", "--shards", ".", "--encoding", "latin-1")
    assert (code, err) == (
        2,
        "Error: 'encoding' of learn does not apply to the Parquet files and Dask data frames of "
        "'shards' and 'cluster'. Leave it out.\n",
    )
