"""Learning from rows in shards writes the same files as learning from rows in memory."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coevo
from coevo.data import audit
from coevo.errors import CoevoWarning, DataError, FileError, NetworkError, ParameterError
from coevo.files import checkpoints
from coevo.learning import learn
from helpers.errors import refusal
from helpers.problems import drop_times
from helpers.values import as_values


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def written(seed):
    """Return a function that writes columns of all kinds in small row groups."""

    def write(n_rows=400):
        rng = np.random.default_rng(seed)
        age = rng.integers(18, 90, n_rows)
        smoker = np.where(rng.random(n_rows) < 0.2 + (age < 40) * 0.4, "yes", "no")
        table = {
            "age": age,
            "smoker": smoker,
            "dose": rng.choice([0.5, 1.0, 10.0, 2.5], n_rows),
            "crp": np.round(rng.gamma(2, 4, n_rows) + 9 * (smoker == "yes"), 3),
            "ward": rng.integers(8, 12, n_rows),
            "city": pa.array(rng.choice(["Ulm", "Bonn"], n_rows)).dictionary_encode(),
            "id": np.arange(n_rows),
        }
        pq.write_table(pa.table(table), "table.parquet", row_group_size=90)
        return "table.parquet"

    return write


pytestmark = pytest.mark.filterwarnings("ignore:age has parents here")
OPTIONS = {
    "types": {"age": [40, 65], "crp": [8.5], "dose": "categorical", "id": "ignore"},
    "max_generations": 4,
    "random_state": 3,
}


def without(answer):
    """Return an answer without its time and without the findings about shards."""
    findings = [one for one in answer["audit"] if one["kind"] != "not_compared"]
    kept = {
        name: value for name, value in answer.items() if name not in ("seconds", "no_strengths")
    }
    return kept | {"audit": findings}


@pytest.mark.parametrize("method", ["ccma", "hill_climb"])
def test_every_file_is_that_of_the_rows_in_memory(method, written):
    path = written()
    here = learn(path, method=method, output="here", **as_values(OPTIONS))
    there = learn(path, method=method, output="there", **as_values({**OPTIONS, "shards": "shards"}))
    assert without(there.as_dict()) == without(here.as_dict())
    assert here.audit == ()
    assert [finding.kind for finding in there.audit] == ["not_compared"]
    assert there.columns == here.columns
    assert drop_times(there.history) == drop_times(here.history)
    assert Path("there/model.bif").read_bytes() == Path("here/model.bif").read_bytes()
    assert {path.name for path in Path("there").iterdir()} == {
        path.name for path in Path("here").iterdir()
    }
    facts = json.loads(Path("there/run.json").read_text())
    assert facts["data_hash"] == here.data_hash
    assert facts["parent_counts"] == json.loads(Path("here/run.json").read_text())["parent_counts"]
    assert set(facts["parent_counts"]) == set(here.dag.nodes)
    assert list(Path("shards").iterdir()) == []
    assert there.dataset.source_variables == here.dataset.source_variables


def test_a_folder_of_parts_in_any_order(written):
    whole = pq.read_table(written())
    Path("parts").mkdir()
    for number, first in enumerate((250, 0, 100)):
        rows = whole.slice(first, {250: 150, 0: 100, 100: 150}[first])
        pq.write_table(rows, f"parts/{number}.parquet")
    there = learn("parts", **as_values({**OPTIONS, "shards": "."}))
    assert without(there.as_dict()) == without(
        learn("table.parquet", **as_values(OPTIONS)).as_dict()
    )


def test_tables_too_large_for_a_network(written, monkeypatch):
    monkeypatch.setattr("coevo.network.node_distribution.LARGEST_TABLE", 1)
    found = learn(written(), **as_values({**OPTIONS, "shards": "."}))
    with pytest.raises(NetworkError, match="would have"):
        found.network  # noqa: B018
    with pytest.raises(NetworkError, match="would have"):
        found.parent_counts  # noqa: B018
    assert found.score < 0


class CutError(Exception):
    """An error that stops a run at once."""


@pytest.mark.parametrize(("first", "then"), [("shards", None), (None, "shards")])
def test_resuming_elsewhere(first, then, written, monkeypatch):
    """A search resumes wherever the rows are, because the hash depends only on the rows."""
    monkeypatch.setattr(checkpoints, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(checkpoints, "SHARE_OF_TIME", 1e9)
    path = written()
    whole = learn(path, output="whole", **as_values(OPTIONS))

    def cut(row):
        if row.generation == 2:
            raise CutError

    with pytest.raises(CutError):
        learn(path, output="run", callbacks=[cut], **as_values({**OPTIONS, "shards": first}))
    found = learn(path, output="run", resume=True, **as_values({**OPTIONS, "shards": then}))
    assert without(found.as_dict()) == without(whole.as_dict())
    assert drop_times(found.history) == drop_times(whole.history)
    assert Path("run/model.bif").read_bytes() == Path("whole/model.bif").read_bytes()


def test_other_rows_are_not_resumed(written):
    learn(written(), output="run", **as_values({**OPTIONS, "shards": "."}))
    with pytest.raises(FileError, match="other data: hash"):
        learn(written(399), output="run", resume=True, **as_values({**OPTIONS, "shards": "."}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "evolve"}, "'missing' of learn needs all rows in memory, and 'shards' or "
         "'cluster' keeps them in shards. Drop or impute missing values first."),
        ({"bootstraps": 3}, "'bootstraps' of learn needs all rows in memory, and 'shards' or "
         "'cluster' keeps them in shards. Leave it out; with so many rows the strength of most "
         "arcs is near 0 or 1."),
        ({"bins": 3}, "'bins' of learn needs all rows in memory, and 'shards' or 'cluster' keeps "
         "them in shards. Give the cut points with 'types'; the run.json of a run on some "
         "of the rows has them."),
        ({"discretise": "kmeans"}, "'discretise' of learn needs all rows in memory, and 'shards' "
         "or 'cluster' keeps them in shards. Give the cut points with 'types'; the run.json "
         "of a run on some of the rows has them."),
        ({"cluster": "local:2"}, "'shards' and 'cluster' of learn cannot be combined: both say "
         "where the rows are. Give one of the two."),
        ({"shards": 1}, "'shards' of learn must be the path of a folder or None; got 1."),
        ({"names": ["a", "b"]}, "'shards' and 'cluster' need a Parquet file, a folder of "
         "Parquet files, or a Dask data frame. Write the table as Parquet first, or leave them "
         "out."),
    ],
)  # fmt: skip
def test_options_that_need_rows_in_memory(options, message):
    with pytest.raises(ParameterError) as raised:
        learn("no_such.parquet", **as_values({"shards": ".", **options}))
    assert str(raised.value) == message


CUT_HINT = (
    "Give its cut points with types= (--types), for example from the run.json of a run on some of "
    "the rows, or give 'categorical' there, or leave it out (drop=['age'], or --drop age)."
)


def test_numbers_without_cut_points(written):
    path = written()
    types = {**OPTIONS["types"], "age": "continuous"}
    with pytest.raises(DataError) as raised:
        learn(path, read={"shards": ".", "types": types})
    assert str(raised.value) == (
        "Column 'age' is continuous, and cut points cannot be found out of core. Give its cut "
        "points with types= (--types), for example from the run.json of a run on some of the rows."
    )
    del types["age"]
    n_ages = len(np.unique(pq.read_table(path)["age"].to_numpy()))
    with pytest.raises(DataError) as raised:
        learn(path, read={"shards": ".", "types": types})
    assert str(raised.value) == (
        f"Column 'age' holds {n_ages} different numbers, too many for states, and cut points "
        f"cannot be found out of core. {CUT_HINT}"
    )
    found = learn(
        path,
        read={"shards": ".", "types": types, "discretise": "none"},
        budget={"max_generations": 1},
    )
    here = learn(path, read={"types": types, "discretise": "none"}, budget={"max_generations": 1})
    assert without(found.as_dict()) == without(here.as_dict())


def test_cut_points_come_from_the_run_of_a_sample(written):
    whole = pq.read_table(written())
    pq.write_table(whole.slice(0, 200), "sample.parquet")
    learn("sample.parquet", output="run", read={"drop": ["id"]}, budget={"max_generations": 1})
    found = learn(
        "table.parquet",
        read={"types": "run/run.json", "shards": "."},
        budget={"max_generations": 1},
    )
    here = learn("table.parquet", read={"types": "run/run.json"}, budget={"max_generations": 1})
    assert without(found.as_dict()) == without(here.as_dict())
    assert found.columns == here.columns


def test_a_file_that_is_not_there():
    with pytest.raises(FileError) as raised:
        learn("no_such.parquet", read={"shards": "."})
    assert str(raised.value) == "There is no file or folder 'no_such.parquet'."


def test_the_audit_of_single_columns():
    n = 100
    columns = {
        "same": ["x"] * n,
        "rare": ["r"] + ["a", "b"] * 49 + ["a"],
        "twin": ["R"] + ["A", "B"] * 49 + ["A"],
        "many": [f"m{i // 2}" if i < 98 else f"n{i}" for i in range(n)],
    }
    pq.write_table(pa.table(columns), "t.parquet", row_group_size=30)
    types = dict.fromkeys(columns, "categorical")  # nothing is left out
    with pytest.warns(CoevoWarning, match="'same' is 'x' in every row"):
        whole = audit(coevo.read_data("t.parquet", types=types))
    with coevo.parallel.open_shards("t.parquet") as shards:
        found = audit(shards)
    alone = [one for one in whole if one.kind not in ("duplicate", "deterministic")]
    assert [one for one in found if one.kind != "not_compared"] == alone
    assert {one.kind for one in alone} == {"constant", "identifier", "rare_states"}
    assert len(alone) < len(whole)


def test_rows_that_a_damaged_file_does_not_have_are_missed(tmp_path):
    """PyArrow ends without an error and without a row if one column has none of its 24."""
    damaged = Path(__file__).parents[1] / "corpus/table-parquet/e236e3b3d3c4"
    path = tmp_path / "t.parquet"
    shutil.copyfile(damaged, path)
    sentence = (
        f"{str(path)!r} is not a Parquet file, or is damaged (0 of 24 rows can be read). Write it "
        "again."
    )
    types = dict.fromkeys("abc", "categorical")
    shards = tmp_path / "shards"
    shards.mkdir()
    read = coevo.ReadOptions(types=types, shards=shards)
    assert refusal(DataError, coevo.learn, path, read=read) == sentence
