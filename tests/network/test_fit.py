"""Tables are posterior means, in the states and the order of the source."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from coevo.bundled import load_network
from coevo.data import Dataset, Variable
from coevo.errors import DataError, NetworkError, ParameterError
from coevo.graph import DAG
from coevo.network import fit_network, sample
from coevo.network.fit import fit_and_count

# Names and states whose order in the source is not the canonical one.
VARIABLES = (
    Variable("d", ("yes", "no")),
    Variable("b", ("low", "normal", "high")),
    Variable("c", ("z", "y", "x", "w")),
    Variable("a", ("1", "0")),
)
ARITIES = [variable.arity for variable in VARIABLES]
DAGS = {
    "empty": [],
    "chain": [("a", "b"), ("b", "c"), ("c", "d")],
    "collider": [("a", "d"), ("b", "d"), ("c", "d")],
}


def random_rows(seed, n_rows=60):
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, arity, n_rows) for arity in ARITIES], axis=1)


def dataset_of(rows, weights=None):
    return Dataset(VARIABLES, list(rows.T), weights)


def expected_table(rows, dag, node, ess, weights=None):
    names = [variable.name for variable in VARIABLES]
    child, parents = names.index(node), [names.index(p) for p in dag.parents(node)]
    table = naive.count_family(rows.tolist(), ARITIES, child, parents, weights)
    prior = ess / (len(table) * ARITIES[child])
    return [naive.fitted_row(counts, prior) for counts in table.values()]


@pytest.mark.parametrize("ess", [0, 1, 7.5, np.float64(2.0), np.int64(3)])
@pytest.mark.parametrize("arcs", DAGS.values(), ids=DAGS)
def test_tables_match_naive(arcs, ess, seed):
    rows = random_rows(seed)
    dag = DAG("abcd", arcs)
    network = fit_network(dag, dataset_of(rows), ess=ess, name="fitted")
    assert network.name == "fitted"
    assert network.dag == dag
    assert [variable.name for variable in network.variables] == list("abcd")
    for variable in VARIABLES:
        assert network.variable(variable.name) == variable
        expected = expected_table(rows, dag, variable.name, float(ess))
        np.testing.assert_allclose(network.table(variable.name), expected, rtol=1e-12)


@pytest.mark.parametrize("arcs", DAGS.values(), ids=DAGS)
def test_parent_counts_match_naive(arcs, seed):
    """There is one number for each row of the table, in its order; weights count."""
    rows = random_rows(seed, 40)
    weights = np.random.default_rng(seed).integers(1, 5, len(rows))
    dag, names = DAG("abcd", arcs), [variable.name for variable in VARIABLES]
    for given in (None, weights):
        network, counts = fit_and_count(dag, dataset_of(rows, given), ess=2.0)
        assert network == fit_network(dag, dataset_of(rows, given), ess=2.0)
        assert list(counts) == list("abcd")
        for child in "abcd":
            parents = [names.index(parent) for parent in network.parents(child)]
            table = naive.count_family(rows.tolist(), ARITIES, names.index(child), parents, given)
            assert counts[child].tolist() == [sum(cells) for cells in table.values()]


def test_a_configuration_that_never_occurs_is_uniform(seed):
    rows = random_rows(seed)
    rows = rows[rows[:, 1] != 2]  # b is never "high"
    dag = DAG("abcd", [("b", "c")])
    for ess in (0, 1.0):
        table = fit_network(dag, dataset_of(rows), ess=ess).table("c")
        assert table[2].tolist() == [0.25] * 4
        assert not np.allclose(table[:2], 0.25)
    assert fit_network(dag, dataset_of(rows), ess=0).table("b")[0, 2] == 0
    assert fit_network(dag, dataset_of(rows), ess=1e-3).table("b")[0, 2] > 0


@pytest.mark.parametrize("arcs", DAGS.values(), ids=DAGS)
def test_a_weight_equals_repeated_rows(arcs, seed):
    rows = random_rows(seed, 20)
    weights = np.random.default_rng(seed).integers(1, 5, len(rows))
    weighted = fit_network(DAG("abcd", arcs), dataset_of(rows, weights))
    assert weighted == fit_network(DAG("abcd", arcs), dataset_of(np.repeat(rows, weights, axis=0)))


def test_tables_do_not_depend_on_the_order_of_the_source(seed):
    rows = random_rows(seed)
    dag = DAG("abcd", DAGS["collider"])
    expected = fit_network(dag, dataset_of(rows))
    shuffled = np.random.default_rng(seed).permutation(rows)
    moved = Dataset(VARIABLES[::-1], list(shuffled.T[::-1]))
    assert fit_network(dag, moved) == expected


def test_fewer_variables_than_columns(seed):
    network = fit_network(DAG("ca", [("a", "c")]), dataset_of(random_rows(seed)))
    assert [variable.name for variable in network.variables] == ["c", "a"]


def test_many_rows_recover_the_network(seed):
    network = load_network("survey")
    found = fit_network(network.dag, sample(network, 200_000, seed))
    for variable in network.variables:
        assert found.variable(variable.name) == variable
        table = network.table(variable.name)
        shape = [network.variable(p).arity for p in network.parents(variable.name)]
        order = np.argsort(network.parents(variable.name))
        cube = table.reshape([*shape, -1]).transpose([*order, len(shape)])
        assert np.abs(found.table(variable.name) - cube.reshape(table.shape)).max() < 0.02


@pytest.mark.parametrize("ess", [-1, float("nan"), float("inf"), "1", None, True])
def test_wrong_ess(ess, seed):
    with pytest.raises(ParameterError) as caught:
        fit_network(DAG("ab"), dataset_of(random_rows(seed)), ess=ess)
    assert str(caught.value) == f"'ess' of fit_network must be a number >= 0; got {ess!r}."


def test_a_variable_without_a_column(seed):
    with pytest.raises(DataError) as caught:
        fit_network(DAG(["a", "age"]), dataset_of(random_rows(seed)))
    assert str(caught.value) == "There is no column 'age'."


def test_a_table_that_is_too_large():
    names = [f"v{i:02d}" for i in range(30)]
    data = Dataset([Variable(name, ("0", "1")) for name in names], [[0, 1]] * 30)
    dag = DAG(names, [(parent, names[0]) for parent in names[1:]])
    with pytest.raises(NetworkError) as caught:
        fit_network(dag, data)
    assert str(caught.value) == (
        "The table of 'v00' with its 29 parents would have 1.07e+09 cells. "
        "Learn with fewer parents (max_parents)."
    )
