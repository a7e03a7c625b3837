"""The genetic algorithm on graphs: repair against its naive twin, optima, orders and settings."""

import itertools
import math

import numpy as np
import pytest

import coevo
import naive
from coevo.errors import ParameterError
from coevo.graph import Constraints
from coevo.score import FamilyScorer
from coevo.search import GA, Budget, Problem, run_search
from coevo.search.ga import GraphStrings, measure_pairs
from helpers.problems import (
    as_arcs,
    collect_states,
    make_problem,
    random_constraints,
    random_table,
    score_naively,
)
from helpers.random_tables import dataset_of


def list_bits(n_bits):
    return np.array(list(itertools.product([False, True], repeat=n_bits)))


@pytest.mark.kernel
@pytest.mark.parametrize(("n", "n_dags"), [(3, 25), (4, 543)])
def test_repair_makes_dags_of_all_graphs_and_leaves_dags_alone(n, n_dags, seed):
    """All 64 graphs of 3 variables and all 4,096 of 4, with random keys."""
    strings = GraphStrings(make_problem(random_table(seed, n)), n)
    bits = list_bits(n * n - n)
    keys = np.random.default_rng(seed).random(int(bits.sum()))
    before, after = strings.decode(bits), strings.repair(bits, keys)
    dags = set(naive.all_dags(n))
    kept = [(frozenset(as_arcs(one)), as_arcs(two)) for one, two in zip(before, after, strict=True)]
    assert all(two in dags and two <= one for one, two in kept)
    assert sum(one == two for one, two in kept) == n_dags
    assert all(one == two for one, two in kept if one in dags)


@pytest.mark.kernel
@pytest.mark.parametrize("case", range(8))
def test_repair_matches_its_naive_twin(case, seed):
    """Under constraints, limits on parents and limits on tables."""
    rng = np.random.default_rng([seed, case])
    table = random_table([seed, case], 7, 60)
    known = random_constraints(rng, table.names) if case % 2 else None
    scorer = FamilyScorer(table, "k2", max_table=10**6 if known else 40)
    problem = Problem.from_scorer(scorer, known)
    limit = int(rng.integers(1, 5))
    strings = GraphStrings(problem, limit)
    bits = rng.random((20, strings.n_bits)) < 0.4
    table_of_keys = rng.integers(0, 9, (7, 7)).astype(float)  # with ties
    keys = strings.get_keys(bits, table_of_keys)
    rules = problem.rules
    for before, after in zip(strings.decode(bits), strings.repair(bits, keys), strict=True):
        free = as_arcs(before) - as_arcs(rules.required)
        arcs = sorted(free, key=lambda arc: (-table_of_keys[arc], arc[1], arc[0]))
        tables = (table.arities.tolist(), rules.max_table)
        right = naive.repaired(
            7, arcs, as_arcs(rules.required), min(limit, rules.max_parents), tables
        )
        assert as_arcs(after) == right


def test_bits_stand_column_after_column(seed):
    """All possible parents of a child stand together; required and forbidden arcs have no bit."""
    names = ("v000", "v001", "v002")
    known = Constraints(required=[names[:2]], forbidden=[names[1:]])
    strings = GraphStrings(make_problem(random_table(seed, 3), "k2", known), 2)
    graphs = strings.decode(np.eye(strings.n_bits, dtype=bool))
    assert [as_arcs(graph) - {(0, 1)} for graph in graphs] == [{(2, 0)}, {(2, 1)}, {(0, 2)}]
    assert all(graph[0, 1] for graph in graphs)
    assert np.array_equal(strings.encode(graphs), np.eye(3, dtype=bool))


def test_graphs_are_scored_right(seed):
    table = random_table(seed, 5, 60)
    problem = make_problem(table, "bdeu")
    dags = [np.triu(np.random.default_rng([seed, i]).random((5, 5)) < 0.5, 1) for i in range(6)]
    local = GraphStrings(problem, 4).score(np.array(dags))
    for dag, scores in zip(dags, local, strict=True):
        right = score_naively(table, problem.make_dag(dag), "bdeu")
        assert scores == pytest.approx(list(right.values()), abs=1e-8)


def test_information_is_the_mutual_information_of_the_likelihood(seed):
    table = random_table(seed, 4, 90)
    measured = measure_pairs(make_problem(table, "loglik"))
    for x, y in itertools.permutations(range(4), 2):
        pairs = list(zip(table.codes[x].tolist(), table.codes[y].tolist(), strict=True))
        right = 0.0
        for pair in set(pairs):
            n_x, n_y = (sum(p[i] == pair[i] for p in pairs) for i in range(2))
            right += pairs.count(pair) * math.log(pairs.count(pair) * 90 / (n_x * n_y))
        assert measured[x, y] == pytest.approx(right, abs=1e-8)
        assert measured[x, y] == measured[y, x]


@pytest.mark.kernel
def test_the_weakest_arc_of_a_cycle_is_removed(seed):
    """Here a and b nearly agree, b and c agree less, c and a least: the cycle loses c -> a."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, 2000)
    b = np.where(rng.random(2000) < 0.05, 1 - a, a)
    c = np.where(rng.random(2000) < 0.2, 1 - b, b)
    problem = make_problem(dataset_of([2, 2, 2], np.array([a, b, c])), "bdeu")
    strings = GraphStrings(problem, 2)
    cycle = np.zeros((1, 3, 3), dtype=bool)
    cycle[0, [0, 1, 2], [1, 2, 0]] = True
    bits = strings.encode(cycle)
    graph = strings.repair(bits, strings.get_keys(bits, measure_pairs(problem)))[0]
    assert as_arcs(graph) == {(0, 1), (1, 2)}


@pytest.mark.parametrize("repair", ["random", "information"])
def test_of_two_opposite_arcs_a_random_one_stays(repair, seed):
    """Otherwise no flip of one bit could reverse an arc."""
    search = GA(repair=repair).make_search(make_problem(random_table(seed, 3)))
    both = np.zeros((200, 3, 3), dtype=bool)
    both[:, [0, 1], [1, 0]] = True
    bits = search._strings.encode(both)
    graphs, *_ = search._make_graphs(np.random.default_rng(seed), bits)
    assert (graphs.sum(axis=(1, 2)) == 1).all()
    assert 60 < graphs[:, 0, 1].sum() < 140


@pytest.mark.parametrize("repair", ["random", "information"])
def test_the_optimum_of_four_variables_is_found(repair, seed):
    for case in range(20):
        table = random_table([seed, case], 4, 60)
        scorer = FamilyScorer(table, "bdeu")
        optimum = max(
            scorer.score(
                coevo.DAG(table.names, [(table.names[a], table.names[b]) for a, b in arcs])
            )
            for arcs in (members[0] for members in naive.equivalence_classes(4).values())
        )
        budget = Budget(max_generations=40)
        found = run_search(GA(repair=repair), scorer, budget=budget, random_state=seed)
        assert found.score == pytest.approx(optimum, abs=1e-8)


@pytest.mark.parametrize("optimise", [False, True])
def test_with_an_order_no_arc_is_against_it(optimise, seed):
    table = random_table(seed, 6, 100)
    order = np.random.default_rng(seed).permutation(table.names).tolist()
    problem = make_problem(table)
    place = {table.find_position(name): i for i, name in enumerate(order)}
    method = GA(population=10, order=order, p_flip=0.2, optimise=optimise)
    search = method.make_search(problem)
    for state in collect_states(method, problem, seed, 6):
        assert state.graphs.shape == (10, 15)  # half of the 30 arcs
        for graph in [state.adjacency, *search.iter_structures(state)]:
            assert all(place[parent] < place[child] for parent, child in as_arcs(graph))
    greedy = run_search(coevo.K2(order=order, max_parents=5), problem.scorer)
    found = run_search(GA(order=order), problem.scorer, random_state=seed)
    assert found.score >= greedy.score - 1e-8


def test_the_population_holds_its_scores_and_different_graphs(seed):
    problem = make_problem(random_table(seed, 6, 100))
    method = GA(population=12)
    search = method.make_search(problem)
    for state in collect_states(method, problem, seed, 8):
        for graph, score in zip(search.iter_structures(state), state.graph_scores, strict=True):
            assert score == pytest.approx(problem.score(graph), abs=1e-8)
        assert (np.diff(state.graph_scores) <= 0).all()
    assert len({bits.tobytes() for bits in state.graphs}) == 12


def test_optimise_keeps_a_subset_of_the_parents(seed):
    """Graphs that K2 has pruned stay as they are."""
    problem = make_problem(random_table(seed, 6, 100), "bic")
    state = collect_states(GA(population=10, optimise=True), problem, seed, 0)[0]
    sparse = collect_states(GA(population=10), problem, seed, 0)[0]
    assert state.graphs.sum() < sparse.graphs.sum()
    assert state.score > sparse.score


def test_the_start_has_the_expected_number_of_parents(seed):
    problem = make_problem(random_table(seed, 20, 50))
    state = collect_states(GA(population=200, parents=0.5), problem, seed, 0)[0]
    assert state.graphs.sum() / 200 / 20 == pytest.approx(0.5, abs=0.06)


def test_settings():
    order = ["b", "a"]
    method = GA(order=order)
    order.reverse()
    assert method.settings == {
        "population": 100,
        "p_crossover": 0.9,
        "p_flip": None,
        "parents": 2.0,
        "repair": "random",
        "order": ["b", "a"],
        "optimise": False,
        "max_parents": None,
    }
    assert GA().settings["order"] is None
    assert GA.default_budget == Budget(max_generations=500)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population": 1}, "'population' of GA must be an int >= 2; got 1."),
        ({"p_crossover": None}, "'p_crossover' of GA must be a number from 0 to 1; got None."),
        ({"p_flip": 2}, "'p_flip' of GA must be a number from 0 to 1 or None; got 2."),
        ({"parents": -1}, "'parents' of GA must be a number >= 0; got -1."),
        ({"repair": "x"}, "'repair' of GA must be one of 'information', 'random'; got 'x'."),
        ({"order": "abc"}, "'order' of GA must be a sequence of names or None; got 'abc'."),
        ({"optimise": 1}, "'optimise' of GA must be True or False; got 1."),
        ({"max_parents": -1}, "'max_parents' of GA must be an int >= 0 or None; got -1."),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        GA(**settings)
    assert str(caught.value) == message


def test_an_order_that_lacks_a_variable(seed):
    with pytest.raises(ParameterError) as caught:
        run_search(GA(order=["v000"]), FamilyScorer(random_table(seed, 2)))
    assert str(caught.value) == "The order lacks 'v001'. It must name every variable."
