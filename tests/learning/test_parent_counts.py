"""The number of rows behind each row of a probability table, in a result and in its run folder."""

import json

import numpy as np
import pytest

import coevo
import naive
from coevo.data import Dataset, IncompleteDataset, Variable
from coevo.graph import Constraints
from coevo.io import read_run
from coevo.view.page import make_run_page
from helpers.values import as_values

KNOWN = Constraints(required=[("a", "c"), ("b", "c")])
OPTIONS = {"method": "hill_climb", "constraints": KNOWN, "bootstraps": 0, "random_state": 1}
STATES = {"a": ("x", "y", "z"), "b": ("no", "yes"), "c": ("low", "high")}


@pytest.fixture
def rows(seed):
    """Return 60 rows in which a = z and b = yes never occur together."""
    rng = np.random.default_rng(seed)
    cells = np.c_[rng.integers(0, 3, 60), rng.integers(0, 2, 60), rng.integers(0, 2, 60)]
    cells[(cells[:, 0] == 2), 1] = 0
    return cells


def make_dataset(rows, weights=None):
    variables = [Variable(name, states) for name, states in STATES.items()]
    return Dataset(variables, list(rows.T), weights)


def count_naively(rows, network, child, weights=None):
    names = list(STATES)
    arities = [len(states) for states in STATES.values()]
    parents = [names.index(parent) for parent in network.parents(child)]
    table = naive.count_family(rows.tolist(), arities, names.index(child), parents, weights)
    return [sum(cells) for cells in table.values()]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_counts_of_a_run(rows, weighted, seed, tmp_path):
    weights = np.random.default_rng(seed).integers(1, 4, len(rows)) if weighted else None
    result = coevo.learn(make_dataset(rows, weights), output=tmp_path, **as_values(OPTIONS))
    saved = read_run(tmp_path)
    page = make_run_page(saved.facts, saved.history, saved.network)
    assert not page.are_counts_means
    for child in STATES:
        expected = count_naively(rows, result.network, child, weights)
        assert result.parent_counts[child].tolist() == expected
        assert saved.network.parents(child) == result.network.parents(child)
        assert page.parent_counts[child] == expected
    unseen = page.parent_counts["c"].index(0)
    states = [STATES[parent] for parent in saved.network.parents("c")]
    assert np.unravel_index(unseen, [len(each) for each in states]) == (2, 1)  # z and yes
    assert saved.network.table("c")[unseen].tolist() == [0.5, 0.5]
    assert "parent_counts" not in result.as_dict()


@pytest.mark.parametrize("policy", ["evolve", "em", "available", "drop", "state"])
def test_with_missing_values_the_counts_are_means_over_imputed_tables(policy, rows, seed, tmp_path):
    missing = np.random.default_rng(seed).random((3, len(rows))) < 0.1
    table = IncompleteDataset(make_dataset(rows), missing)
    result = coevo.learn(table, missing=policy, output=tmp_path, **as_values(OPTIONS))
    imputation, network = result.imputation, result.network
    fitted = imputation.fitted_to
    for child in STATES:
        family = [*network.parents(child), child]
        variables = [network.variable(name) for name in family]
        arities = [variable.arity for variable in variables]
        cells = []
        for name, variable in zip(family, variables, strict=True):
            position = fitted.find_position(name)
            canonical = fitted.variables[position].states
            codes = [variable.states.index(state) for state in canonical]
            cells.append(np.array(codes)[fitted.codes[position]])
        counted = naive.count_family(
            np.array(cells).T.tolist(), arities, len(family) - 1, range(len(family) - 1)
        )
        means = [sum(counts) / imputation.n_imputations for counts in counted.values()]
        assert result.parent_counts[child].tolist() == pytest.approx(means)
        assert sum(means) == pytest.approx(len(rows))
    facts = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    page = make_run_page(facts, [], network)
    assert page.are_counts_means == (policy != "state")
    assert page.parent_counts["c"] == pytest.approx(result.parent_counts["c"])


def test_counts_that_do_not_belong_to_the_network_are_left_out(rows, tmp_path):
    """A run of an older version has none. The file model.bif may have been replaced."""
    result = coevo.learn(make_dataset(rows), output=tmp_path, **as_values(OPTIONS))
    facts = read_run(tmp_path).facts
    assert set(make_run_page(facts, [], result.network).parent_counts) == set("abc")
    assert make_run_page(facts, [], None).parent_counts == {}
    old = {key: value for key, value in facts.items() if key != "parent_counts"}
    assert make_run_page(old, [], result.network).parent_counts == {}
    other = coevo.fit_network(coevo.DAG("abc", [("c", "a"), ("c", "b")]), make_dataset(rows))
    assert make_run_page(facts, [], other).parent_counts == {}
    facts["parent_counts"]["c"]["rows"].pop()
    assert set(make_run_page(facts, [], result.network).parent_counts) == {"a", "b"}


def test_very_large_tables_have_no_counts_in_the_file(rows, tmp_path, monkeypatch):
    monkeypatch.setattr("coevo.learning.result.MAX_CONFIGURATIONS", 4)
    result = coevo.learn(make_dataset(rows), output=tmp_path, **as_values(OPTIONS))
    assert len(result.parent_counts["c"]) == 6
    assert set(read_run(tmp_path).facts["parent_counts"]) == {"a", "b"}
