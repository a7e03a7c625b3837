"""PC finds the class of the truth from an oracle, and the skeletons of causal-learn from rows."""

import json
import tracemalloc
from functools import cache, partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import coevo
import naive
from coevo.data import IncompleteDataset
from coevo.errors import ParameterError
from coevo.graph import CPDAG, DAG, Constraints, compare
from coevo.graph.pdag import is_acyclic
from coevo.score import FamilyScorer, IndependenceTests
from coevo.search import PC, Budget, Problem, pc, run_search
from coevo.search.pc_tests import LevelTests, TripleVotes, find_triples, make_chunks, orient
from helpers.problems import random_constraints, random_table
from helpers.random_tables import dataset_of

STORED = json.loads(
    Path(__file__).with_name("causal_learn_skeletons.json").read_text(encoding="utf-8")
)


class OracleScorer(FamilyScorer):
    """A scorer whose tests answer by d-separation in a given DAG."""

    def __init__(self, dag):
        codes = np.random.default_rng(0).integers(0, 2, (len(dag.nodes), 8))
        super().__init__(coevo.read_data(codes.T, names=dag.nodes, types=dict.fromkeys(
            dag.nodes, "categorical")))  # fmt: skip
        self.n_tests = 0
        self._separates = cache(dag.is_d_separated)

    def test_triples(self, triples, test="g2"):
        names, p_values = self.dataset.names, []
        for i in range(len(triples)):
            x, y, *given = triples.members[triples.start[i] : triples.start[i + 1]]
            given = tuple(names[z] for z in given)
            p_values.append(float(self._separates(names[x], names[y], given)))
        self.n_tests += len(p_values)
        p_values = np.array(p_values)
        return IndependenceTests(p_values, p_values, p_values)


def read_graph(result):
    """Return the answer of PC as (arcs, edges), by names."""
    names, directions = result.dag.nodes, result.state.directions
    pairs = {(names[a], names[b]) for a, b in np.argwhere(directions)}
    arcs = {(a, b) for a, b in pairs if (b, a) not in pairs}
    return arcs, {tuple(sorted(pair)) for pair in pairs - arcs}


def check_oracle(dag):
    found = run_search(PC(), OracleScorer(dag))
    truth = CPDAG(dag)
    assert read_graph(found) == (set(truth.arcs), set(truth.edges))
    assert CPDAG(found.dag) == truth
    assert found.stop_reason == "finished"
    return found


def test_the_class_of_all_dags_of_four_variables():
    for arcs in naive.all_dags(4):
        check_oracle(DAG("abcd", [("abcd"[a], "abcd"[b]) for a, b in arcs]))


@pytest.mark.parametrize("case", range(25))
def test_the_class_of_random_dags(case, seed):
    rng = np.random.default_rng([seed, case])
    names = rng.permutation([*"abcdefgh"]).tolist()
    arcs = [pair for pair in combinations(names, 2) if rng.random() < 0.35]
    check_oracle(DAG(names, arcs))


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
def test_the_class_of_published_networks(name):
    check_oracle(coevo.load_network(name).dag)


@pytest.mark.parametrize("case", STORED["skeletons"], ids=lambda case: case["network"])
def test_the_skeleton_is_that_of_causal_learn(case):
    dataset = coevo.sample(coevo.load_network(case["network"]), case["n_rows"], random_state=1)
    if dataset.content_hash != case["data_hash"]:
        pytest.fail("The rows differ. Run benchmarks/causal_learn_skeletons.py again.")
    found = run_search(PC(test=case["test"], alpha=case["alpha"]), FamilyScorer(dataset))
    names = dataset.names
    edges = [[names[a], names[b]] for a, b in np.argwhere(np.triu(found.state.edges))]
    assert edges == case["edges"]


def test_alarm_is_nearly_found():
    alarm = coevo.load_network("alarm")
    found = run_search(PC(), FamilyScorer(coevo.sample(alarm, 5000, random_state=1)))
    assert compare(found.dag, alarm.dag).shd_cpdag <= 6
    arcs, edges = read_graph(found)
    assert {frozenset(arc) for arc in found.dag.arcs} == {*map(frozenset, arcs | edges)}


def compute_p(rows, test, x, y, given):
    statistic, freedom = naive.independence_test(test, rows, x, y, given)
    return scipy.stats.chi2.sf(statistic, freedom) if freedom else 1.0


@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("limit", [1 << 16, 1, 7])
def test_edges_and_separators_equal_one_test_at_a_time(case, limit, seed, monkeypatch):
    """However many tests a step does."""
    monkeypatch.setattr(pc, "TESTS_PER_STEP", limit)
    table = random_table([seed, case], n_variables=6, n_rows=150)
    test, max_given = [("g2", None), ("x2", None), ("g2", 1)][case % 3]
    max_sets = 10_000 if case < 3 else 3
    method = PC(test=test, alpha=0.1, max_given=max_given, max_sets=max_sets)
    state = run_search(method, FamilyScorer(table)).state
    compute = partial(compute_p, table.codes.T.tolist(), test)
    edges, separators = naive.pc_stable(compute, 6, 0.1, max_given, max_sets)
    assert {frozenset(pair) for pair in np.argwhere(state.edges).tolist()} == edges
    assert read_separators(state) == separators


def test_a_step_does_a_limited_number_of_tests(seed, monkeypatch):
    monkeypatch.setattr(pc, "TESTS_PER_STEP", 10)
    found = run_search(PC(alpha=0.01), FamilyScorer(random_table(seed, n_variables=8)))
    assert max(row.details["n_tests"] for row in found.history) <= 10
    assert found.generations > 4
    total = sum(row.details["n_tests"] for row in found.history)
    assert found.evaluations == total + 2 * 8


def test_a_hub_ends_and_keeps_its_edges(seed):
    """A variable with 24 neighbours has two million sets of 10; without a limit this never ends."""
    rng = np.random.default_rng(seed)
    hub = rng.integers(0, 3, 600)
    leaves = np.where(rng.random((24, 600)) < 0.3, rng.integers(0, 3, (24, 600)), hub)
    scorer = FamilyScorer(dataset_of([3] * 25, np.vstack([hub, leaves])))
    state = run_search(PC(max_sets=300), scorer).state
    assert state.is_done
    assert state.level <= 3  # there are 276 pairs of the 24 other leaves, and 2,024 triples
    assert state.edges[0, 1:].sum() >= 22


def test_the_sets_of_pairs_that_wait_take_little_memory(seed):
    """At level 0 each pair has one set, the empty one. A list of neighbours would be 5 kB each."""
    edges = ~np.eye(120, dtype=bool)
    level = LevelTests(edges, np.zeros_like(edges), 0, None)
    parts, next_pair, next_set = level.take_parts(0, 0, 1 << 16)
    assert (len(parts), next_pair, next_set) == (7_140, 7_140, 0)
    tracemalloc.start()
    chunks = list(make_chunks(level, parts, edges))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [len(chunk) for chunk in chunks] == [7_140]
    assert peak < 25e6


def test_a_required_arc_is_never_tested_and_a_forbidden_pair_has_no_edge():
    table = dataset_of([2] * 4, np.random.default_rng(1).integers(0, 2, (4, 300)))
    a, b, c, d = table.names
    known = Constraints(required=[(b, a)], forbidden=[(c, d), (d, c)])
    tested = []

    class Noting(FamilyScorer):
        def test_triples(self, triples, test="g2"):
            tested.extend(map(tuple, triples.members[triples.start[:-1][:, None] + [0, 1]]))
            return super().test_triples(triples, test)

    found = run_search(PC(), Noting(table), constraints=known)
    assert found.dag.arcs == ((b, a),)
    assert {(0, 2), (0, 3), (1, 2), (1, 3)} == set(tested)


def test_tiers_direct_edges_and_what_follows_from_them():
    dag = DAG("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    scorer = OracleScorer(dag)
    found = run_search(PC(), scorer, constraints=Constraints(tiers=[["a"], ["b", "c", "d"]]))
    assert read_graph(found) == (set(dag.arcs), set())
    back = run_search(PC(), scorer, constraints=Constraints(tiers=[["b", "c", "d"], ["a"]]))
    assert read_graph(back) == ({("b", "a")}, {("b", "c"), ("c", "d")})
    assert back.dag.parents("a") == ("b",)


def read_separators(state):
    starts = state.separator_start.tolist()
    return {
        tuple(pair): tuple(state.separators[starts[i] : starts[i + 1]].tolist())
        for i, pair in enumerate(state.separated.tolist())
    }


@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("limit", [1 << 16, 3])
def test_votes_equal_one_test_at_a_time(case, limit, seed, monkeypatch):
    """The sets of neighbours that separate a pair, with and without the variable in the middle."""
    monkeypatch.setattr(pc, "TESTS_PER_STEP", limit)
    table = random_table([seed, case], n_variables=7, n_rows=150)
    test, max_given = [("g2", None), ("x2", None), ("g2", 1)][case % 3]
    max_sets = 10_000 if case < 3 else 2
    method = PC(test=test, alpha=0.1, max_given=max_given, max_sets=max_sets)
    state = run_search(method, FamilyScorer(table)).state
    compute = partial(compute_p, table.codes.T.tolist(), test)
    most = state.level if max_given is None else min(state.level, max_given)
    edges = {tuple(sorted(pair)) for pair in np.argwhere(state.edges).tolist()}
    separators = read_separators(state)
    right = naive.collider_votes(compute, 7, edges, separators, 0.1, most, max_sets)
    found = {
        tuple(triple): (*votes, *map(pytest.approx, largest))
        for triple, votes, largest in zip(
            state.triples.tolist(), state.votes.tolist(), state.vote_p_values.tolist(), strict=True
        )
    }
    assert right == found


def test_a_majority_of_sets_decides_and_then_the_larger_p():
    triples = np.array([[0, 4, 1], [0, 4, 2], [0, 4, 3], [1, 4, 2], [1, 4, 3], [2, 4, 3]])
    votes = np.array([[3, 1], [1, 3], [2, 2], [2, 2], [1, 0], [0, 1]])
    p_values = np.array([[0.2, 0.6], [0.9, 0.1], [0.8, 0.3], [0.3, 0.8], [0.5, 0.0], [0.0, 0.5]])
    colliders = TripleVotes(triples, votes, p_values).list_colliders()
    assert colliders == [(0, 4, 3), (1, 4, 3), (0, 4, 1)]


@pytest.mark.parametrize("case", range(30))
def test_any_edges_and_colliders_give_a_dag_that_fulfils_the_rules(case, seed):
    """Contradictions of every kind: the answers of the tests are random."""
    rng = np.random.default_rng([seed, case])
    table = random_table([seed, case], n_variables=7, n_rows=20)
    known = random_constraints(rng, table.names)
    rules = Problem.from_scorer(FamilyScorer(table), known).rules
    edges = np.triu(rng.random((7, 7)) < 0.5, 1) & (rules.allowed | rules.allowed.T)
    edges |= rules.required | rules.required.T
    edges |= edges.T
    pairs = [pair for pair in combinations(range(7), 2) if not edges[pair]]
    triples = find_triples(edges, dict.fromkeys(pairs[::2], ()))
    assert all(edges[a, c] and edges[c, b] and (a, b) in pairs[::2] for a, c, b in triples)
    colliders = [triples[i] for i in rng.permutation(len(triples))]
    p_values = rng.random((7, 7))
    graph, dag = orient(edges, colliders, p_values + p_values.T, rules)
    assert rules.is_satisfied_by(dag)
    assert naive.topological_orders(range(7), {tuple(arc) for arc in np.argwhere(dag).tolist()})
    assert ((graph | graph.T) == edges).all()
    assert not (graph & ~rules.allowed).any()
    demanded = edges & rules.allowed & ~(edges & rules.allowed).T | rules.required
    if rules.max_parents >= 6 and rules.arities is None and is_acyclic(demanded):
        assert ((dag | dag.T) == edges).all()
        assert dag[graph & ~graph.T].all()


def direct(n, edges, colliders):
    matrix = np.zeros((n, n), dtype=np.bool_)
    for a, b in edges:
        matrix[a, b] = matrix[b, a] = True
    rules = Constraints().to_rules([*"abcdef"[:n]])
    graph, dag = orient(matrix, colliders, np.zeros((n, n)), rules)
    arcs = {tuple(arc) for arc in np.argwhere(graph & ~graph.T).tolist()}
    return arcs, {tuple(arc) for arc in np.argwhere(dag).tolist()}


def test_the_surer_of_two_colliders_wins():
    """Of a -> b <- c and b -> c <- d, which turn b - c both ways."""
    edges = [(0, 1), (1, 2), (2, 3)]
    first, second = (0, 1, 2), (1, 2, 3)
    assert direct(4, edges, [first, second])[0] == {(0, 1), (2, 1)}
    assert direct(4, edges, [second, first])[0] == {(1, 2), (3, 2)}


def test_a_contradiction_costs_one_collider_only():
    """The pair in the middle contradicts itself. A weaker collider elsewhere stays."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    arcs, dag = direct(6, edges, [(0, 1, 2), (1, 2, 3), (3, 4, 5)])
    assert arcs == {(0, 1), (2, 1), (3, 4), (5, 4)}
    assert len(dag) == 5


def test_a_ring_without_a_collider_gives_a_dag_with_all_edges():
    """Four edges in a ring have no consistent extension."""
    arcs, dag = direct(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [])
    assert arcs == set()
    assert {frozenset(arc) for arc in dag} == set(map(frozenset, [(0, 1), (1, 2), (2, 3), (0, 3)]))
    assert naive.topological_orders(range(4), dag)


def test_without_the_last_step_the_structure_is_the_start(seed):
    table = random_table(seed)
    start = DAG(table.names, [table.names[:2]])
    found = run_search(PC(), FamilyScorer(table), start=start, budget=Budget(max_generations=1))
    assert found.dag == start
    assert found.stop_reason == "generations"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "chi2"}, "'test' of PC must be one of 'g2', 'x2'; got 'chi2'."),
        ({"alpha": 1}, "'alpha' of PC must be a number between 0 and 1; got 1."),
        ({"alpha": "5%"}, "'alpha' of PC must be a number between 0 and 1; got '5%'."),
        ({"max_given": -1}, "'max_given' of PC must be an int >= 0 or None; got -1."),
        ({"max_given": True}, "'max_given' of PC must be an int >= 0 or None; got True."),
        ({"max_sets": 0}, "'max_sets' of PC must be an int >= 1 or None; got 0."),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        PC(**settings)
    assert str(caught.value) == message


@pytest.mark.parametrize("policy", ["evolve", "em", "available", "state", "drop"])
def test_pc_learns_from_missing_values(policy, seed):
    rows = coevo.sample(coevo.load_network("asia"), 800, random_state=seed)
    codes = rows.expand().codes
    missing = np.random.default_rng(seed).random(codes.shape) < 0.05
    table = IncompleteDataset(rows.expand(), missing)
    found = coevo.missing.learn_incomplete(table, policy, method="pc", random_state=seed)
    assert found.search.method == "pc"
    edges = {frozenset(arc) for arc in found.search.dag.arcs}
    assert {frozenset(("bronc", "dysp")), frozenset(("bronc", "smoke"))} <= edges
    again = coevo.missing.learn_incomplete(table, policy, method="pc", random_state=seed)
    assert again.search.dag == found.search.dag


def test_shards_give_the_same_answer(seed, tmp_path):
    rows = coevo.sample(coevo.load_network("asia"), 2000, random_state=seed)
    coevo.write_data(rows, tmp_path / "asia.parquet")
    in_memory = coevo.learn(tmp_path / "asia.parquet", method="pc", bootstraps=0)
    sharded = coevo.learn(
        tmp_path / "asia.parquet", method="pc", read={"shards": tmp_path / "shards"}
    )
    assert sharded.dag == in_memory.dag
    assert sharded.score == in_memory.score


def test_learn_reports_the_class_that_pc_found(seed):
    rows = coevo.sample(coevo.load_network("asia"), 5000, random_state=seed)
    found = coevo.learn(rows, method=PC(alpha=0.01), bootstraps=0)
    arcs, edges = read_graph(found.search)
    assert (set(found.cpdag.arcs), set(found.cpdag.edges)) == (arcs, edges)
