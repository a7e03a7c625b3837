"""Bootstrap confidence of a network learned from a table with missing values."""

import json
from pathlib import Path

import numpy as np
import pytest

import coevo
from coevo.data import IncompleteDataset
from coevo.errors import DataError, FileError, ParameterError
from coevo.missing import POLICIES, learn_incomplete
from coevo.posteriors.bootstrap import ROWS, SEARCH
from coevo.runtime.randomness import random_stream
from coevo.search import Budget
from helpers.values import as_values

OPTIONS = {"max_generations": 3, "random_state": 3, "bootstraps": 2}


@pytest.fixture
def table(seed):
    rows = coevo.sample(coevo.load_network("asia"), 200, seed).expand()
    return IncompleteDataset(rows, np.random.default_rng(seed).random(rows.codes.shape) < 0.1)


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_each_bootstrap_is_a_search_on_drawn_rows(policy, table, tmp_path):
    found = coevo.learn(table, missing=policy, output=tmp_path, **as_values(OPTIONS))
    alone = coevo.learn(table, missing=policy, **as_values(OPTIONS | {"bootstraps": None}))
    assert found.bootstrap.network == found.dag == alone.dag
    assert found.bootstrap.n_bootstraps == 2
    lines = (tmp_path / "strength" / "runs.jsonl").read_text().splitlines()
    runs = {run["bootstrap"]: run for run in map(json.loads, lines)}
    limit = {"budget": coevo.Budget(max_generations=3)}
    for number in (1, 2):
        limit["random_state"] = int(random_stream(3, number, SEARCH).integers(2**32))
        if policy == "drop":  # samples of the complete rows
            rows = table.drop_incomplete_rows().resample(random_stream(3, number, ROWS))
            scorer = coevo.FamilyScorer(rows, ess=5.0, parent_penalty=4.0)
            expected = coevo.run_search("ccma", scorer, **limit)
        else:
            rows = table.resample(random_stream(3, number, ROWS))
            expected = learn_incomplete(rows, policy, **limit).search
        assert runs[number]["score"] == expected.score
        assert {tuple(arc) for arc in runs[number]["arcs"]} == set(expected.dag.arcs)
    gains = {(arc.parent, arc.child): arc.gain for arc in found.bootstrap.arcs}
    assert {arc: gains.get(arc, gains.get(arc[::-1])) for arc in found.gains} == found.gains


def test_rows_and_processes_change_nothing(table, seed):
    order = np.random.default_rng(seed).permutation(table.n_rows)
    codes = table.make_dataset(table.dataset.codes[:, order])
    moved = IncompleteDataset(codes, table.missing[:, order])
    one = coevo.learn(table, missing="em", **as_values(OPTIONS))
    two = coevo.learn(moved, missing="em", n_jobs=2, **as_values(OPTIONS))
    assert one.bootstrap == two.bootstrap


def test_a_folder_with_bootstraps_of_another_policy(table, tmp_path):
    first = coevo.learn(table, missing="state", output=tmp_path, **as_values(OPTIONS))
    more = coevo.learn(
        table, missing="state", output=tmp_path, **as_values(OPTIONS | {"bootstraps": 3})
    )
    assert (first.bootstrap.n_bootstraps, more.bootstrap.n_bootstraps) == (2, 3)
    with pytest.raises(FileError, match="missing state; this is em"):
        coevo.learn(table, missing="em", output=tmp_path, **as_values(OPTIONS))
    assert Path(tmp_path, "strength").is_dir()


def test_few_complete_rows(seed):
    """Some samples of all rows would not have two complete rows."""
    rows = coevo.sample(coevo.load_network("asia"), 60, seed).expand()
    missing = np.zeros(rows.codes.shape, dtype=np.bool_)
    missing[2, 3:] = True
    found = coevo.learn(
        IncompleteDataset(rows, missing), missing="drop", **as_values(OPTIONS | {"bootstraps": 20})
    )
    assert found.bootstrap.n_bootstraps == 20


def test_a_column_without_observed_values_in_a_sample(seed):
    """A column has one observed value; a third of all samples do not contain its row."""
    rows = coevo.sample(coevo.load_network("asia"), 60, seed).expand()
    missing = np.zeros(rows.codes.shape, dtype=np.bool_)
    missing[0, 1:] = True
    for policy in ("evolve", "em", "state", "available"):
        found = coevo.learn(
            IncompleteDataset(rows, missing),
            missing=policy,
            **as_values(OPTIONS | {"bootstraps": 6}),
        )
        assert found.bootstrap.n_bootstraps == 6


def test_resampled_rows(table):
    """A sample draws rows with their missing values, all with the same probability."""
    rng = np.random.default_rng(5)
    drawn = [table.resample(rng) for _ in range(300)]
    assert {one.n_rows for one in drawn} == {table.n_rows}
    hidden = table.dataset.arities.max()
    cells = [np.where(t.missing, hidden, t.dataset.codes) for t in (table, *drawn)]
    known = {tuple(row) for row in cells[0].T.tolist()}
    for one in cells[1:]:
        assert {tuple(row) for row in one.T.tolist()} <= known
    share = np.mean([one.missing.mean(axis=1) for one in drawn], axis=0)
    assert share == pytest.approx(table.missing.mean(axis=1), abs=0.01)


# -- the same by `bootstrap_strength` alone


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_strength_finds_what_learn_finds(policy, table, tmp_path):
    found = coevo.learn(table, missing=policy, **as_values(OPTIONS)).bootstrap
    plan = {"missing": policy, "random_state": 3, "budget": Budget(max_generations=3)}
    alone = coevo.bootstrap_strength(table, bootstraps=2, **plan, folder=tmp_path)
    assert alone == found
    again = coevo.bootstrap_strength(
        table, bootstraps=2, **plan, folder=tmp_path
    )  # with the stored gains
    assert again == found


def test_strength_of_a_complete_table(table):
    complete = IncompleteDataset(table.dataset, np.zeros(table.missing.shape, dtype=bool))
    plan = {"bootstraps": 2, "random_state": 3, "budget": Budget(max_generations=3)}
    expected = coevo.bootstrap_strength(table.dataset, **plan)
    assert coevo.bootstrap_strength(complete, **plan) == expected
    assert coevo.bootstrap_strength(complete, **plan, missing="em") == expected


def test_refusals_of_bootstrap_strength(table):
    with pytest.raises(DataError) as caught:
        coevo.bootstrap_strength(table)
    assert str(caught.value) == (
        f"The table has missing values ({table.n_missing:,}). Choose a policy with 'missing': "
        "'evolve', 'em', 'available', 'state', 'drop'."
    )
    with pytest.raises(
        ParameterError, match="'missing' of bootstrap_strength must be one of 'available', "
    ):
        coevo.bootstrap_strength(table, missing="evolv")
    with pytest.raises(ParameterError, match="'source' of read_data must be the path of a "):
        coevo.bootstrap_strength([[1, 2]])


def test_a_folder_of_another_policy_is_refused(table, tmp_path):
    plan = {"bootstraps": 2, "random_state": 3, "budget": Budget(max_generations=3)}
    first = coevo.bootstrap_strength(table, missing="drop", **plan, folder=tmp_path)
    assert coevo.bootstrap_strength(table, missing="drop", **plan, folder=tmp_path) == first
    with pytest.raises(FileError, match="holds runs with missing drop; this is em"):
        coevo.bootstrap_strength(table, missing="em", **plan, folder=tmp_path)


def test_a_journal_without_gains(table, tmp_path):
    plan = {"bootstraps": 2, "random_state": 3, "budget": Budget(max_generations=3)}
    first = coevo.bootstrap_strength(table, missing="em", **plan, folder=tmp_path)
    path = tmp_path / "runs.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line.pop("worth", None)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert coevo.bootstrap_strength(table, missing="em", **plan, folder=tmp_path) == first
