"""A Dask data frame in shards gives the same result as the computed data frame in memory."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coevo
from coevo.errors import DataError, ParameterError
from coevo.score import FamilyBatch
from helpers.problems import drop_times
from helpers.random_tables import random_families
from helpers.values import as_values

pytest.importorskip("distributed")
frames = pytest.importorskip("dask.dataframe")

OPTIONS = {"types": {"age": [40, 65], "id": "ignore"}, "max_generations": 3, "random_state": 3}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table(seed, n_rows=300):
    """Return columns of all kinds, whose states do not all occur at the beginning."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows)
    late = np.arange(n_rows) > 200
    return pd.DataFrame(
        {
            "age": age,
            "smoker": np.where(rng.random(n_rows) < 0.2 + (age < 40) * 0.5, "yes", "no"),
            "city": pd.Categorical(rng.choice(["Ulm", "Bonn"], n_rows), ["Ulm", "Bonn", "Köln"]),
            "stage": rng.integers(1, 4, n_rows) + late,
            "ill": rng.random(n_rows) < 0.3 + 0.4 * (age > 60),
            "id": np.arange(n_rows),
        }
    )


@pytest.fixture(params=["files", "workers"])
def place(request, tmp_path, dask_workers):
    """Return the option that selects where the rows are stored."""
    if request.param == "files":
        return {"shards": tmp_path / "shards"}
    return {"cluster": dask_workers.client}


def without(answer):
    """Return an answer without times and without the findings about shards."""
    findings = [one for one in answer["audit"] if one["kind"] != "not_compared"]
    other = ("traffic", "seconds", "no_strengths")
    kept = {name: value for name, value in answer.items() if name not in other}
    return kept | {"audit": findings}


def test_a_network_is_learned(table, place):
    here = coevo.learn(table, output="here", **as_values(OPTIONS))
    there = coevo.learn(
        frames.from_pandas(table, npartitions=7), output="there", **as_values({**OPTIONS, **place})
    )
    assert without(there.as_dict()) == without(here.as_dict())
    assert drop_times(there.history) == drop_times(here.history)
    assert Path("there/model.bif").read_bytes() == Path("here/model.bif").read_bytes()
    assert there.dataset.content_hash == here.dataset.content_hash
    assert ("traffic" in json.loads(Path("there/run.json").read_text())) == ("cluster" in place)


def opened(frame, place, **options):
    folder = place.get("shards")
    if folder is not None:
        folder.mkdir()
    return coevo.parallel.open_shards(frame, folder=folder, cluster=place.get("cluster"), **options)


def test_partitions_without_rows(table, place, seed):
    lazy = frames.from_pandas(table, npartitions=9)
    late = lazy[(lazy["id"] > 220) & (lazy["id"] < 240)].drop(columns=["id"])
    batch = FamilyBatch.from_pairs(random_families(5, 40, 3, seed))
    with opened(late, place, types={"age": [40, 65]}) as shards:
        found = coevo.parallel.ShardedScorer(shards).local_scores(batch)
        rows = coevo.read_data(late.compute(), types={"age": [40, 65]})
        assert rows.n_rows == 19
        assert shards.content_hash == rows.expand().content_hash
    assert found.tobytes() == coevo.FamilyScorer(rows).local_scores(batch).tobytes()


def test_partitions_that_declare_other_states(place):
    parts = [
        pd.DataFrame({"a": pd.Categorical(a), "b": [0, 1]})
        for a in (["y", "x"], ["z", "x"], ["x", "x"])
    ]
    lazy = frames.from_map(lambda part: part, parts)
    with opened(lazy, place) as shards:
        states = {v.name: v.states for v in shards.source_variables}
    assert states == {"a": ("x", "y", "z"), "b": ("0", "1")}


def test_an_error_names_its_partition(table, place):
    table.loc[250, "smoker"] = None
    lazy = frames.from_pandas(table, npartitions=3)
    with pytest.raises(DataError) as raised:
        coevo.learn(lazy, **as_values({**OPTIONS, **place}))
    assert str(raised.value).startswith(
        "In partition 3 of the data frame: Column 'smoker' has 1 missing value, in row 51."
    )


def test_options_are_checked_before_anything_is_computed(place):
    def never(_):
        raise AssertionError("it was computed")

    meta = pd.DataFrame({"a": [0], "b": [0]})
    lazy = frames.from_map(never, [0, 1], meta=meta)
    with pytest.raises(DataError, match="'drop' names 'c', which is not a column of the table"):
        coevo.learn(lazy, **as_values({"drop": ["c"], **place}))
    with pytest.raises(DataError, match="Column 'a' is continuous, and cut points cannot"):
        coevo.learn(lazy, **as_values({"types": {"a": "continuous"}, **place}))


def test_no_rows_at_all(table, place):
    lazy = frames.from_pandas(table, npartitions=3)
    with pytest.raises(DataError) as raised:
        coevo.learn(lazy[lazy["age"] > 200], **as_values({**OPTIONS, **place}))
    assert str(raised.value) == "The table has no rows. Give at least one observation."


def test_without_a_place(table):
    with pytest.raises(ParameterError) as raised:
        coevo.learn(frames.from_pandas(table, npartitions=3))
    assert str(raised.value).endswith(
        " Learn from it with shards= or cluster=, or call .compute() on it first."
    )


def test_another_table_with_a_place(table, place):
    with pytest.raises(ParameterError) as raised:
        coevo.learn(table, **as_values(place))
    assert str(raised.value) == (
        "'shards' and 'cluster' need a Parquet file, a folder of Parquet files, or a Dask data "
        "frame. Write the table as Parquet first, or leave them out."
    )
