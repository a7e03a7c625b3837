"""``coevo learn --shards`` and ``--cluster``: their answers and their errors."""

import pytest

import coevo


@pytest.fixture
def table(folder):
    coevo.write_data(coevo.sample(coevo.load_network("asia"), 300, random_state=1), "t.parquet")
    return "t.parquet"


def test_the_answer_is_that_of_the_table_in_memory(as_json, table, folder):
    command = ("learn", table, "-m", "hill_climb", "--states", "asia")
    here, there = as_json(*command), as_json(*command, "--shards", "kept/here", "-o", "run")
    (finding,) = [one for one in there["audit"] if one["kind"] == "not_compared"]
    assert finding["sentence"].startswith(
        "The rows are not in memory, so columns were not compared "
    )
    files = there.pop("files")
    assert there | {"seconds": 0, "audit": []} == here | {"seconds": 0, "audit": []}
    assert set(files) == {"model", "run", "history", "report"}
    assert list((folder / "kept/here").iterdir()) == []
    assert as_json(*command, "-o", "run", "--resume")["score"] == here["score"]


@pytest.mark.parametrize("option", ["--shards", "--cluster"])
def test_an_example_has_no_shards(option, run):
    code, out, err = run("learn", "--example", "asia", option, "local:2")
    assert (code, out) == (2, "")
    assert err.endswith(f"Error: {option} needs DATA; it cannot be combined with --example.\n")


@pytest.mark.parametrize("option", ["--missing", "--bootstraps", "--bins", "--discretise"])
def test_options_that_need_the_rows_in_memory(option, refused, table):
    value = {"--missing": "evolve", "--discretise": "mdl"}.get(option, 3)
    sentence = refused("learn", table, "--shards", ".", option, value)
    assert sentence.startswith(f"'{option[2:]}' of learn needs all rows in memory, ")


def test_text_is_not_read_into_shards(refused, folder):
    (folder / "t.csv").write_text("a,b\n0,1\n1,1\n")
    assert refused("learn", "t.csv", "--shards", ".").startswith("'t.csv' is not a Parquet file")
    (folder / "file").write_text("")
    assert refused("learn", "t.csv", "--shards", "file") == "'file' is a file. Name a folder."
