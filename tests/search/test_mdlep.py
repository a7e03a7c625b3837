"""Evolutionary programming over graphs: mutations and tournaments against their naive twins."""

import itertools

import numpy as np
import pytest

import naive
from coevo.errors import ParameterError
from coevo.search import MDLEP, Budget
from coevo.search.ga import GraphStrings
from coevo.search.mdlep import CHANCES, GUIDED, MOVE, REVERSE, SIMPLE, Mutations, choose_by_wins
from contracts import SearchContract
from helpers.problems import (
    as_arcs,
    collect_states,
    make_problem,
    random_constraints,
    random_table,
)

NAMES = {SIMPLE: "simple", REVERSE: "reverse", MOVE: "move", GUIDED: "guided"}


class TestMDLEP(SearchContract):
    def make_method(self, names):
        return MDLEP(population=7)


class TestMDLEPOfOneGraph(SearchContract):
    def make_method(self, names):
        return MDLEP(population=1, opponents=2, parents=0.0, max_parents=2)


def make_mutations(problem, rng):
    strings = GraphStrings(problem, 3)
    gains = rng.integers(0, 4, (problem.n_variables,) * 2).astype(float)  # with ties
    mutations = Mutations(strings.parents, strings.children, strings.get_values(gains))
    return strings, gains, mutations


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("is_free", [True, False])
def test_mutations_match_their_naive_twin(kind, is_free, seed):
    """From empty graphs to full ones, with and without constraints."""
    rng = np.random.default_rng([seed, kind])
    table = random_table([seed, kind], 5, 40)
    known = None if is_free else random_constraints(rng, table.names)
    problem = make_problem(table, "k2", known)
    strings, gains, mutations = make_mutations(problem, rng)
    free = list(zip(strings.parents.tolist(), strings.children.tolist(), strict=True))
    required = as_arcs(problem.rules.required)
    changes = set()
    for share in (0.0, 0.1, 0.3, 0.6, 1.0):
        for _ in range(30):
            before = rng.random(strings.n_bits) < share
            draws, after = rng.random(3).tolist(), before.copy()
            mutations.mutate(after, kind, draws)
            old, new = (as_arcs(graph) for graph in strings.decode(np.array([before, after])))
            right = naive.mutated_graph(old - required, free, gains, NAMES[kind], draws) | required
            assert new == right
            changes.add((len(new - old), len(old - new)))
    assert changes <= (
        {(1, 0), (0, 1), (0, 0)} if kind in (SIMPLE, GUIDED) else {(1, 1), (0, 0), (0, 1)}
    )
    assert len(changes) > 1


def test_a_guided_mutation_adds_strong_arcs_and_deletes_weak_ones(seed):
    rng = np.random.default_rng(seed)
    strings, gains, mutations = make_mutations(make_problem(random_table(seed, 5)), rng)
    values = strings.get_values(gains)
    added, deleted = [], []
    for draws in rng.random((2000, 3)).tolist():
        before = rng.random(strings.n_bits) < 0.5
        after = before.copy()
        mutations.mutate(after, GUIDED, draws)
        added.extend(values[after & ~before])
        deleted.extend(values[before & ~after])
    assert len(added) == pytest.approx(1000, abs=120)
    assert np.mean(added) > values.mean() + 0.2
    assert np.mean(deleted) < values.mean() - 0.2


@pytest.mark.parametrize("n", [1, 2, 6])
def test_tournaments_match_their_naive_twin(n, seed):
    rng = np.random.default_rng([seed, n])
    for _ in range(20):
        scores = rng.integers(0, 5, 2 * n).astype(float)  # with ties
        draws = rng.random((2 * n, 3))
        wins = []
        for i, row in enumerate(draws):
            others = [j for j in range(2 * n) if j != i]
            met = [others[int(draw * len(others))] for draw in row]
            wins.append(sum(scores[i] >= scores[j] for j in met))
        right = sorted(range(2 * n), key=lambda i: (-wins[i], -scores[i], i))[:n]
        kept = choose_by_wins(scores, draws)
        assert kept.tolist() == right
        assert scores[kept[0]] == scores.max()  # the best wins every time, so it survives


def test_the_population_holds_its_local_scores(seed):
    problem = make_problem(random_table(seed, 6, 100), "bdeu")
    method = MDLEP(population=8)
    search = method.make_search(problem)
    states = collect_states(method, problem, seed, 8)
    for state in states:
        for graph, local in zip(search.iter_structures(state), state.local, strict=True):
            assert local == pytest.approx(problem.local_scores(graph), abs=1e-8)
            assert graph.sum(axis=0).max() <= 5
    for before, after in itertools.pairwise(states):
        assert after.evaluations - before.evaluations <= 8 * 6  # families that changed


def test_children_differ_by_one_to_six_mutations(seed):
    """In a large sparse graph nearly every mutation is seen, and none closes a cycle."""
    problem = make_problem(random_table(seed, 40, 30))
    search = MDLEP(population=400).make_search(problem)
    parents = np.zeros((400, search._strings.n_bits), dtype=bool)
    children = search._mutate(np.random.default_rng(seed), parents)
    counts = np.bincount(children.sum(axis=1), minlength=7)
    assert sum(CHANCES) == pytest.approx(1)
    assert len(counts) == 7
    assert not parents.any()


def test_settings():
    assert MDLEP().settings == {
        "population": 50,
        "opponents": 7,
        "parents": 1.0,
        "max_parents": None,
    }
    assert MDLEP.default_budget == Budget(max_generations=5000, patience=200)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population": 0}, "'population' of MDLEP must be an int >= 1; got 0."),
        ({"opponents": 1.5}, "'opponents' of MDLEP must be an int >= 1; got 1.5."),
        ({"parents": -1}, "'parents' of MDLEP must be a number >= 0; got -1."),
        ({"max_parents": -1}, "'max_parents' of MDLEP must be an int >= 0 or None; got -1."),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        MDLEP(**settings)
    assert str(caught.value) == message
