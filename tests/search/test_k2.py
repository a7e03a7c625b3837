"""K2 is greedy under any order and equals its naive oracle."""

import numpy as np
import pytest

import coevo
import naive
from coevo.data import read_data
from coevo.errors import ParameterError
from coevo.graph import DAG, Constraints
from coevo.score import SCORES, FamilyScorer
from coevo.search import K2, Budget, run_search
from helpers.problems import as_arcs, collect_states, make_problem, random_constraints, random_table
from helpers.random_tables import dataset_of


def make_dag(table, arcs):
    return DAG(table.names, [(table.names[parent], table.names[child]) for parent, child in arcs])


def run_k2(method, scorer, **options):
    found = run_search(method, scorer, budget=Budget(max_generations=99), **options)
    assert found.stop_reason == "finished"
    return found


def run_naive_k2(table, score, order, max_parents, **rules):
    rows, arities = table.codes.T.tolist(), table.arities.tolist()
    numbers = [table.find_position(name) for name in order]
    return make_dag(table, naive.k2(score, rows, arities, numbers, max_parents, **rules))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_k2_matches_the_naive_oracle(limit, score, seed):
    table = random_table([seed, limit], n_variables=6, n_rows=150)
    order = np.random.default_rng(seed).permutation(table.names).tolist()
    found = run_k2(K2(order=order, max_parents=limit), FamilyScorer(table, score))
    assert found.dag == run_naive_k2(table, score, order, limit)


@pytest.mark.parametrize("case", range(6))
def test_k2_matches_the_naive_oracle_under_constraints(case, seed):
    """Required arcs may contradict the order; a variable then moves behind its parents."""
    rng = np.random.default_rng([seed, case])
    table = random_table([seed, case], n_variables=6, n_rows=100)
    known = random_constraints(rng, table.names)
    rules = known.to_rules(table.names)
    order = rng.permutation(table.names).tolist()
    found = run_k2(K2(order=order), FamilyScorer(table, "k2"), constraints=known)
    required, allowed = as_arcs(rules.required), as_arcs(rules.allowed)
    assert found.dag == run_naive_k2(
        table, "k2", order, rules.max_parents, required=required, allowed=allowed
    )


def test_a_required_arc_against_the_order(seed):
    table = random_table(seed, n_variables=3)
    names = table.names
    known = Constraints(required=[(names[2], names[0])])
    states = collect_states(K2(order=names), make_problem(table, "loglik", known), seed, 9)
    assert all(state.order.tolist() == [1, 2, 0] for state in states)
    assert make_dag(table, as_arcs(states[0].adjacency)).arcs == known.required
    assert make_dag(table, as_arcs(states[-1].adjacency)) == DAG(
        names, [(names[1], names[0]), (names[1], names[2]), (names[2], names[0])]
    )


def test_random_orders_are_drawn_from_the_seed(seed):
    problem = make_problem(random_table(seed, n_variables=5))
    orders = {
        tuple(collect_states(K2(), problem, [seed, i], 0)[0].order.tolist()) for i in range(400)
    }
    assert len(orders) > 100  # of 120
    assert all(sorted(order) == list(range(5)) for order in orders)


def test_the_true_order_of_asia_finds_its_strong_arcs(seed):
    asia = coevo.load_network("asia")
    table = coevo.sample(asia, 5000, random_state=seed)
    order = asia.dag.topological_order
    found = run_k2(K2(order=order), FamilyScorer(table, "k2"))
    assert found.dag == run_naive_k2(table, "k2", order, 10)
    strong = {("bronc", "dysp"), ("either", "xray"), ("lung", "either"), ("smoke", "bronc")}
    assert strong <= set(found.dag.arcs)


@pytest.mark.parametrize("score", SCORES)
def test_ties_go_to_the_first_parent_by_name(score, seed):
    """The first two columns are equal; their order does not matter."""
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 2, 200)
    child = np.where(rng.random(200) < 0.9, column, 1 - column)
    table = dataset_of([2, 2, 2], np.array([column, column, child]))
    for order in ([0, 1, 2], [1, 0, 2]):
        names = [table.names[i] for i in order]
        found = run_k2(K2(order=names, max_parents=1), FamilyScorer(table, score))
        assert found.dag.parents(table.names[2]) == (table.names[0],)


@pytest.mark.parametrize("score", SCORES)
def test_a_parent_without_a_gain_is_not_added(score, seed):
    """Here: a constant, and a copy of a parent."""
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 2, 200)
    child = np.where(rng.random(200) < 0.9, column, 1 - column)
    table = dataset_of([1, 2, 2, 2], np.array([0 * column, column, column, child]))
    found = run_k2(K2(order=table.names), FamilyScorer(table, score))
    assert found.dag.arcs == (("v001", "v002"), ("v001", "v003"))


def test_a_step_without_a_gain_does_not_count_as_an_improvement(seed):
    codes = np.random.default_rng(seed).integers(0, 2, (2, 50)) * [[0], [1]]
    problem = make_problem(dataset_of([1, 2], codes))
    states = collect_states(K2(), problem, seed, 9)
    assert [(state.generation, state.improved) for state in states] == [(0, 0), (1, 0)]


@pytest.mark.parametrize(
    ("method", "known", "limit"),
    [
        (K2(), None, 10),
        (K2(max_parents=11), None, 11),
        (K2(max_parents=3), None, 3),
        (K2(), Constraints(max_parents=11), 11),
        (K2(), Constraints(max_parents=2), 2),
        (K2(max_parents=3), Constraints(max_parents=2), 2),
        (K2(max_parents=2), Constraints(max_parents=3), 2),
        (K2(max_parents=0), Constraints(max_parents=3), 0),
    ],
    ids=repr,
)
def test_the_maximum_number_of_parents(method, known, limit, seed):
    """The data are noise. Under the log-likelihood without a penalty each parent gains."""
    codes = np.random.default_rng(seed).integers(0, 2, (13, 8000))
    scorer = FamilyScorer(dataset_of([2] * 13, codes), "loglik")
    found = run_k2(method, scorer, constraints=known, random_state=seed)
    assert max(len(found.dag.parents(name)) for name in found.dag.nodes) == limit
    assert found.generations in (limit, limit + 1)


def test_required_arcs_may_exceed_the_limit_of_k2(seed):
    table = random_table(seed, n_variables=4)
    known = Constraints(required=[(name, "v003") for name in table.names[:3]])
    found = run_k2(K2(max_parents=1), FamilyScorer(table, "k2"), constraints=known)
    assert len(found.dag.parents("v003")) == 3
    assert all(len(found.dag.parents(name)) <= 1 for name in table.names[:3])


def test_evaluations_are_the_families_tried(seed):
    """First each variable without parents, then with each possible parent."""
    problem = make_problem(random_table(seed, n_variables=6))
    states = collect_states(K2(), problem, seed, 1)
    assert [state.evaluations for state in states] == [6, 6 + 15]


def test_the_order_of_the_caller_is_copied():
    order = ["b", "a"]
    method = K2(order=order)
    order.reverse()
    assert method.settings == {"order": ["b", "a"], "max_parents": None}
    assert K2().settings == {"order": None, "max_parents": None}
    assert (K2.name, K2.default_budget) == ("k2", Budget())


def test_k2_stopped_after_one_step_has_at_most_one_parent_each(seed):
    table = random_table(seed)
    found = run_search(
        K2(order=table.names), FamilyScorer(table, "k2"), budget=Budget(max_generations=1)
    )
    assert found.dag == run_naive_k2(table, "k2", table.names, 1)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["a", "b", "x"], "The order names 'x', which is not a variable."),
        (["a", "B", "c"], "The order names 'B', which is not a variable. Did you mean 'b'?"),
        (["a", "b", "a"], "The order names 'a' twice."),
        (["a", "c"], "The order lacks 'b'. It must name every variable."),
        ([], "The order lacks 'a'. It must name every variable."),
    ],
)
def test_bad_orders(order, message):
    table = coevo.read_data(np.array([[0, 0, 1], [1, 1, 0], [0, 1, 1]]), names=["a", "b", "c"])
    with pytest.raises(ParameterError) as caught:
        run_k2(K2(order=order), FamilyScorer(table))
    assert str(caught.value) == message


def test_an_order_is_not_one_string():
    with pytest.raises(ParameterError) as caught:
        K2(order="abc")
    assert str(caught.value) == "'order' of K2 must be a sequence of names or None; got 'abc'."


@pytest.mark.parametrize("value", [-1, 1.5, True, "2"])
def test_bad_max_parents(value):
    with pytest.raises(ParameterError) as caught:
        K2(max_parents=value)
    assert str(caught.value) == f"'max_parents' of K2 must be an int >= 0 or None; got {value!r}."


@pytest.mark.parametrize("case", range(20))
def test_parents_that_differ_by_round_off_count_as_equal(case, seed):
    """Two columns that differ only in the names of their states have equal scores."""
    rng = np.random.default_rng([seed, case])
    a = rng.integers(0, 3, 60)
    c = np.where(rng.random(60) < 0.6, a % 2, rng.integers(0, 2, 60))
    copied = {"b": "categorical"}  # else it is left out as a copy
    table = read_data(np.c_[a, (a + 1) % 3, c], names=["a", "b", "c"], types=copied)
    found = run_k2(K2(order=["a", "b", "c"], max_parents=1), FamilyScorer(table, "bic"))
    assert found.dag.parents("c") in ((), ("a",))
