"""Candidates: what the archive and the gains choose, constraints and limits."""

import numpy as np
import pytest

from coevo import Constraints, FamilyScorer, load_network, sample
from coevo.errors import ParameterError
from coevo.posteriors.candidates import choose_candidates
from coevo.score import FamilyBatch
from coevo.search import CCMA, Budget, run_search
from coevo.search.base import Problem


@pytest.fixture(scope="module")
def table():
    return sample(load_network("child"), 500, random_state=3)


def make_problem(table, constraints=None):
    return Problem.from_scorer(FamilyScorer(table, "bdeu", ess=1), constraints)


def search(problem):
    return run_search(
        CCMA(),
        problem.scorer,
        constraints=problem.constraints,
        budget=Budget(max_generations=40),
        random_state=1,
    ).state


def test_candidates_hold_the_parents_of_the_best_network(table):
    problem = make_problem(table)
    state = search(problem)
    chosen = choose_candidates(problem, state.archive, 6, state.adjacency[None])
    assert [len(c) for c in chosen] == 20 * [6]
    for child in range(20):
        adjacent = state.adjacency[:, child] | state.adjacency[child]
        if adjacent.sum() <= 6:
            assert set(np.flatnonzero(adjacent)) <= set(chosen[child].tolist())
        assert (np.diff(chosen[child]) > 0).all()
        assert child not in chosen[child]


def test_parents_of_better_families_come_first(table):
    problem = make_problem(table)
    archive = search(problem).archive
    for n_candidates in (2, 5):
        chosen = choose_candidates(problem, archive, n_candidates)
        for child in range(20):
            first = int(archive.begin[child])
            walked = list[int]()
            for family in range(first, int(archive.begin[child + 1])):
                walked += [p for p in archive.parents_of(family) if p not in walked]
            assert set(walked[:n_candidates]) <= set(chosen[child].tolist())


def test_without_an_archive_the_greedy_family_and_the_largest_gains_are_chosen(table):
    problem = make_problem(table)
    chosen = choose_candidates(problem, None, 4)
    child = 7

    def score_of(parents):
        return float(problem.scorer.local_scores(FamilyBatch.from_pairs([(child, parents)]))[0])

    best, score = (), score_of(())
    while True:
        more = [tuple(sorted((*best, v))) for v in range(20) if v != child and v not in best]
        scores = [score_of(family) for family in more]
        if max(scores) <= score:
            break
        best, score = more[scores.index(max(scores))], max(scores)
    assert 0 < len(best) <= 4
    assert set(best) <= set(chosen[child].tolist())


def test_required_arcs_are_candidates_and_forbidden_ones_are_not(table):
    names = table.names
    known = Constraints(
        required=[(names[i], names[9]) for i in (3, 4, 5)], forbidden=[(names[0], names[9])]
    )
    problem = make_problem(table, known)
    state = search(problem)
    for archive in (None, state.archive):
        assert choose_candidates(problem, archive, 2)[9].tolist() == [3, 4, 5]
        barred = state.adjacency[None].copy()
        barred[0, 0, 9] = True
        assert 0 not in choose_candidates(problem, archive, 12, barred)[9]


def test_bad_numbers_are_refused(table):
    problem = make_problem(table)
    with pytest.raises(ParameterError) as error:
        choose_candidates(problem, None, 0)
    assert str(error.value) == "'candidates' of posterior must be an int >= 1; got 0."


def test_tables_that_do_not_fit_are_refused_with_the_number_that_does(monkeypatch):
    from coevo.posteriors.chain_tables import check_table_memory

    monkeypatch.setattr("coevo.posteriors.chain_tables.get_machine_memory", lambda: 8 * 10**9)
    monkeypatch.setattr("coevo.memory.get_machine_memory", lambda: 8 * 10**9)
    check_table_memory(200, 18)
    with pytest.raises(ParameterError) as error:
        check_table_memory(200, 30)
    assert str(error.value) == (
        "A table of all sets of 30 candidates for 200 variables needs 17,179.9 GB of memory; this "
        "machine has 8.0 GB. Set 'candidates' to at most 18."
    )
