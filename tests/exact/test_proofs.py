"""Every proved optimum agrees with exhaustive dynamic programming, and every certificate holds."""

import itertools

import numpy as np
import pytest

import coevo
import naive
from coevo.exact import check_certificate, cuts
from coevo.exact.solver import make_adjacency
from helpers.proofs import SCORES, limit_tables, list_local_scores, prove_problem, random_problem

N_TABLES = 6  # of each kind; the proof is exact, so every one counts


@pytest.mark.parametrize("is_constrained", [False, True])
@pytest.mark.parametrize("n_variables", [2, 4, 5, 6])
@pytest.mark.parametrize("score", SCORES)
def test_the_optimum_is_that_of_dynamic_programming(score, n_variables, is_constrained):
    for seed in range(N_TABLES):
        problem = random_problem(seed, score, n_variables, 60, is_constrained)
        best = naive.best_network(n_variables, list_local_scores(problem))
        sizes = ((), (4,), cuts.LOCAL_SIZES)[seed % 3]  # with few tables, a tree is needed
        with limit_tables(*sizes):
            task, last, certificate = prove_problem(problem)
        assert last.history[-1].gap < 1e-6
        assert last.state.score == pytest.approx(best, abs=1e-6)
        adjacency = make_adjacency(task.families, last.state.chosen)
        assert problem.rules.is_satisfied_by(adjacency)
        assert problem.score(adjacency) == pytest.approx(best, abs=1e-6)
        verdict = check_certificate(certificate, problem.scorer.dataset)
        assert verdict.score == pytest.approx(best, abs=1e-6)
        assert verdict.gap <= last.history[-1].gap + 1e-12


@pytest.mark.parametrize("seed", range(2))
def test_eight_variables(seed):
    problem = random_problem(seed, "bdeu", 8, 150)
    best = naive.best_network(8, list_local_scores(problem))
    _, last, certificate = prove_problem(problem)
    assert last.state.score == pytest.approx(best, abs=1e-6)
    assert check_certificate(certificate, problem.scorer.dataset).gap < 1e-6


def find_common_arcs(problem):
    """Return the arcs of all optimal networks, by enumeration."""
    n, local = problem.n_variables, list_local_scores(problem)
    scores = {}
    for arcs in map(frozenset, naive.all_dags(n)):
        families = [(v, frozenset(naive.parents_in(arcs, v))) for v in range(n)]
        if all(family in local for family in families):  # else it breaks the constraints
            scores[arcs] = sum(local[family] for family in families)
    best = max(scores.values())
    return frozenset.intersection(*(arcs for arcs, s in scores.items() if s > best - 1e-9))


def list_arcs(flags):
    return {(int(u), int(v)) for u, v in np.argwhere(flags) if u != v}


@pytest.mark.parametrize("is_constrained", [False, True])
@pytest.mark.parametrize("n_variables", [3, 4])
@pytest.mark.parametrize("score", ["k2", "bic"])
@pytest.mark.parametrize("seed", range(6))
def test_certain_arcs_are_in_every_optimal_network(seed, score, n_variables, is_constrained):
    problem = random_problem(seed, score, n_variables, 50, is_constrained)
    task, last, certificate = prove_problem(problem)
    verdict, names = check_certificate(certificate, problem.scorer.dataset), problem.names
    certain = {(names.index(a), names.index(b)) for a, b in verdict.arcs}
    assert certain <= find_common_arcs(problem)
    assert certain >= list_arcs(problem.rules.required)
    search = task.make_search()
    assert list_arcs(search.find_certain_arcs(last.state)) == certain
    assert list_arcs(search.combine_certain_arcs(last.state)) <= certain


def test_a_proof_that_closes_at_once_has_the_arcs_of_its_certificate(seed):
    rows = np.random.default_rng(seed).integers(0, 2, (300, 3))
    for arcs in ([("a", "b")], [("a", "b"), ("b", "c")]):
        knowledge = coevo.Constraints(required=arcs)
        found = coevo.prove(rows, score="bic", constraints=knowledge, read={"names": list("abc")})
        assert set(arcs) <= set(found.arcs)
        assert found.arcs == coevo.check_proof(found.certificate, rows, names=list("abc")).arcs


def test_every_bound_on_the_way_is_valid():
    problem = random_problem(1, "k2", 6, 80)
    best = naive.best_network(6, list_local_scores(problem))
    rows = []
    _, last, _ = prove_problem(problem, callbacks=[lambda row: rows.append(row)])
    assert rows == list(last.history)
    assert all(row.score + row.gap >= best - 1e-9 for row in rows)
    assert [row.score for row in rows] == sorted(row.score for row in rows)
    for one, two in itertools.pairwise(rows):
        assert two.score + two.gap <= one.score + one.gap + 1e-6


def test_a_stopped_proof_has_a_certificate_of_its_gap():
    problem = random_problem(2, "k2", 6, 80)
    best = naive.best_network(6, list_local_scores(problem))
    for n_steps in range(4):
        _, last, certificate = prove_problem(
            problem, callbacks=[lambda row, n=n_steps: row.generation >= n]
        )
        verdict = check_certificate(certificate, problem.scorer.dataset)
        assert verdict.score + verdict.gap >= best - 1e-9
        assert verdict.gap == pytest.approx(last.history[-1].gap, abs=1e-6)


def test_threads_and_rows_do_not_change_the_certificate(seed):
    problem = random_problem(seed % 100, "bdeu", 6, 80)
    _, _, first = prove_problem(problem)
    other = random_problem(seed % 100, "bdeu", 6, 80)
    _, _, second = prove_problem(other)
    assert first.as_dict() == second.as_dict()
    assert np.isfinite(first.gap)
