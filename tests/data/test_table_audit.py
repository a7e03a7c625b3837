"""The audit finds all problems of a table and no others, in any order of rows and columns."""

import itertools
import time

import numpy as np
import pytest

import naive
from coevo.bundled import load_network
from coevo.data import Dataset, IncompleteDataset, Variable, audit
from coevo.data import audit as audit_function
from coevo.network import sample
from helpers.problems import shuffle_table


def dataset_of(columns, weights=None):
    """Return a dataset of named columns of whole numbers, the states named ``s0, s1, ...``."""
    variables = [
        Variable(name, tuple(f"s{k}" for k in range(max(column) + 1)))
        for name, column in columns.items()
    ]
    return Dataset(variables, [np.array(column) for column in columns.values()], weights)


def found(dataset, kind):
    return [finding.columns for finding in audit(dataset) if finding.kind == kind]


def test_a_good_table_has_no_findings():
    assert audit(sample(load_network("asia"), 5000, 0)) == ()


def test_the_sentences():
    n = 60
    table = {
        "city": [i % 12 for i in range(n)],
        "land": [i % 12 // 4 for i in range(n)],
        "copy": [2 - i % 12 // 4 for i in range(n)],
        "id": [max(i, 4) for i in range(n)],
        "same": [0] * n,
        "rare": [int(i == 7) for i in range(n)],
    }
    assert [(f.kind, f.sentence) for f in audit(dataset_of(table))] == [
        (
            "constant",
            "'same' is 's0' in every row, so nothing can be learned about it. Leave it out "
            "(drop=['same'], or --drop same).",
        ),
        (
            "identifier",
            "'id' has 56 states in 60 rows, like an identifier. Leave it out (drop=['id'], or "
            "--drop id), or merge its states.",
        ),
        (
            "duplicate",
            "'land' duplicates 'copy' in every row. Keep one of them (drop=['land'], or "
            "--drop land).",
        ),
        (
            "deterministic",
            "'copy' is determined by 'city' in every row. Leave out 'city' (drop=['city'], or "
            "--drop city), or the column that it determines.",
        ),
        (
            "rare_states",
            "'rare' has 1 state with fewer than 5 rows: 's1'. Collect more rows, or leave it out "
            "(drop=['rare'], or --drop rare).",
        ),
        (
            "few_rows",
            "With one parent, fewer than 5 rows are left for each parameter of 'city' (12 states). "
            "Merge states, use fewer bins, or collect more than 60 rows.",
        ),
    ]


@pytest.mark.parametrize("number", range(6))
def test_findings_match_naive(number, seed):
    rng = np.random.default_rng([seed, number])
    n = 150
    table = {f"v{i}": rng.integers(0, rng.integers(2, 9), n).tolist() for i in range(6)}
    table["same"] = rng.permutation(9)[table["v0"]].tolist()
    table["coarse"] = (np.array(table["v1"]) // 2).tolist()
    table["coarser"] = (np.array(table["v1"]) // 4).tolist()
    table["odd"] = (rng.random(n) < 0.01).astype(int).tolist()
    dataset = dataset_of(table)
    names = sorted(table)
    constant = [name for name in names if len(set(table[name])) == 1]
    duplicate = [
        (a, b)
        for a, b in itertools.combinations(names, 2)
        if a not in constant
        and naive.follows(table[a], table[b])
        and naive.follows(table[b], table[a])
    ]
    first = [name for name in names if name not in constant + [b for _, b in duplicate]]
    follows = {
        (a, b)
        for a, b in itertools.permutations(first, 2)
        if naive.follows(table[a], table[b]) and len(set(table[a])) * 5 <= n
    }
    rare = [
        (name,)
        for name in names
        if any(0 < table[name].count(state) < 5 for state in set(table[name]))
    ]
    assert found(dataset, "constant") == [(name,) for name in constant]
    pairs = found(dataset, "duplicate")
    assert {b for _, b in pairs} == {b for _, b in duplicate}
    assert set(pairs) <= set(duplicate)
    deterministic = {(a, b) for a, *rest in found(dataset, "deterministic") for b in rest}
    assert deterministic == follows
    assert found(dataset, "rare_states") == rare
    for what in ("columns", "rows", "states"):
        again = audit(shuffle_table(dataset, rng, what))
        assert [f.columns for f in again] == [f.columns for f in audit(dataset)]


def test_audit_counts_weights():
    columns = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    often = dataset_of(columns, np.array([40, 40, 40, 40]))
    assert audit(often) == ()
    assert found(dataset_of(columns, np.array([40, 40, 4, 0 + 1])), "rare_states") == []
    assert found(dataset_of(columns, np.array([40, 40, 3, 1])), "rare_states") == [("a",)]


def test_one_row_has_no_constant_columns():
    assert found(dataset_of({"a": [0], "b": [1]}), "constant") == []


def test_audit_of_a_thousand_columns_is_fast(seed):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 2 + i % 7, 5000) for i in range(998)]
    codes += [codes[5] // 3, (rng.random(5000) < 0.002).astype(int)]
    dataset = Dataset(
        [Variable(f"v{i:03}", tuple(f"{k}" for k in range(8))) for i in range(1000)], codes
    )
    began = time.process_time()
    findings = audit_function(dataset)
    assert time.process_time() - began < 5  # about a quarter of a second
    assert [f.columns for f in findings if f.kind == "deterministic"] == [("v005", "v998")]


def test_missing_is_not_a_state_in_the_audit():
    """Missing values are not a rare state; a column with one observed state is constant."""
    missing = np.zeros((2, 60), dtype=bool)
    missing[:, 3] = True
    table = IncompleteDataset(dataset_of({"a": [0, 1] * 30, "b": [0] * 60}), missing)
    assert [(one.kind, one.columns) for one in audit(table)] == [("constant", ("b",))]
