"""Families outside the candidates: odds against enumeration, exchange, and what is kept."""

import itertools

import numpy as np
import pytest

import naive
from coevo import Constraints, FamilyScorer, load_network, sample
from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.chain_tables import prepare_tables
from coevo.posteriors.chains import draw_roughly
from coevo.posteriors.family_weights import (
    choose_candidates,
    make_complete_weights,
    make_family_weights,
)
from coevo.posteriors.outside import (
    OutsideMeasure,
    choose_families,
    exchange_candidates,
    improve_weights,
    measure_outside,
)
from coevo.posteriors.sample import find_descendants
from coevo.search.base import Problem
from helpers.problems import random_table
from helpers.random_weights import list_log_weights

CANDIDATES = ([1, 2], [0, 2], [0, 1], [1, 2])  # variable 3 is outside those of 0, 1, 2; 0 of 3


def make_problem(seed, **options):
    return Problem.from_scorer(FamilyScorer(random_table(seed, 4, 40), "bdeu"), **options)


@pytest.fixture
def every_base(monkeypatch):
    """Extend all sets of two candidates, not only those that were drawn."""
    monkeypatch.setattr(
        "coevo.posteriors.outside._choose_bases", lambda tables, child, draws: np.arange(4)
    )


def scale(listed):
    """Return log weights whose exponentials stay in range, and what was subtracted."""
    tops = [max(families.values()) for families in listed]
    return [{p: w - top for p, w in f.items()} for f, top in zip(listed, tops, strict=True)]


def number_families(tables, arcs):
    """Return the numbers of the families of a DAG in the tables."""
    t, found = tables.arrays, []
    for v in range(4):
        wanted = [u for u in range(4) if (u, v) in arcs]
        found += [
            f
            for f in range(t.begin[v], t.begin[v + 1])
            if t.parents[t.start[f] : t.start[f + 1]].tolist() == wanted
        ]
    return found


@pytest.mark.parametrize("prior", ["uniform", "fair"])
def test_the_odds_are_those_of_enumeration(seed, prior, every_base):
    """Over all DAGs of the tables: the weight of DAGs in which one child has a left-out family."""
    problem = make_problem(seed)
    candidates = [np.array(chosen) for chosen in CANDIDATES]
    weights = make_family_weights(problem, candidates, prior)
    tables = prepare_tables(weights, negligible=0.0)
    complete = scale(list_log_weights(make_complete_weights(problem, prior)))
    inside = [{frozenset(s) for k in range(3) for s in itertools.combinations(c, k)}
              for c in CANDIDATES]  # fmt: skip
    held, lost, odds = 0.0, np.zeros(4), np.zeros(4)
    for arcs, weight in naive.dag_weights(4, complete).items():
        beyond = [v for v in range(4) if frozenset(naive.parents_in(arcs, v)) not in inside[v]]
        if len(beyond) == 1:
            lost[beyond[0]] += weight
        if not beyond:
            held += weight
            draw = np.array([number_families(tables, arcs)])
            odds += weight * measure_outside(problem, tables, draw, prior).odds
    assert lost.min() > 0
    np.testing.assert_allclose(odds / held, lost / held, rtol=1e-9)


@pytest.mark.parametrize("prior", ["uniform", "fair"])
def test_the_chance_is_that_of_a_family_drawn_among_all(seed, prior, every_base):
    problem = make_problem(seed)
    candidates = [np.array(chosen) for chosen in CANDIDATES]
    tables = prepare_tables(make_family_weights(problem, candidates, prior), negligible=0.0)
    complete = scale(list_log_weights(make_complete_weights(problem, prior)))
    dags = ((), ((0, 1),), ((1, 2), (2, 0)))
    expected = np.zeros((4, 4))
    for dag in dags:
        adjacency = np.zeros((4, 4), dtype=bool)
        for u, v in dag:
            adjacency[u, v] = True
        descends = find_descendants(adjacency)
        for v in range(4):
            allowed = {
                parents: np.exp(weight)
                for parents, weight in complete[v].items()
                if not any(descends[v, u] for u in parents)
            }
            for u in set(range(4)) - {v, *CANDIDATES[v]}:
                having = sum(weight for parents, weight in allowed.items() if u in parents)
                expected[u, v] += having / sum(allowed.values()) / len(dags)
    draws = np.array([number_families(tables, arcs) for arcs in dags])
    found = measure_outside(problem, tables, draws, prior).chance
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert (found > 0).sum() == 4


def test_families_that_are_kept_are_not_left_out(seed):
    problem = make_problem(seed)
    candidates = [np.array(chosen) for chosen in CANDIDATES]
    tables = prepare_tables(make_family_weights(problem, candidates), negligible=0.0)
    draws = np.array([number_families(tables, arcs) for arcs in ((), ((0, 1),), ((1, 2), (2, 0)))])
    before = measure_outside(problem, tables, draws)
    kept = choose_families(before._replace(share=np.ones(len(before.share))))
    assert kept.parents.tolist() == before.sets.parents.tolist()
    weights = make_family_weights(problem, candidates, outside=kept)
    tables = prepare_tables(weights, negligible=0.0)
    draws = np.array([number_families(tables, arcs) for arcs in ((), ((0, 1),), ((1, 2), (2, 0)))])
    after = measure_outside(problem, tables, draws)
    assert len(after.share) == 0
    assert (after.probability == 0).all()


def test_only_probable_families_are_kept(seed):
    problem = make_problem(seed)
    candidates = [np.array(chosen) for chosen in CANDIDATES]
    tables = prepare_tables(make_family_weights(problem, candidates), negligible=0.0)
    found = measure_outside(problem, tables, np.array([number_families(tables, ())]))
    share = np.where(np.arange(len(found.share)) % 2, 0.5, 1e-5)
    kept = choose_families(found._replace(share=share))
    chosen = [s.tolist() for s, p in zip(found.sets.split(), share, strict=True) if p == 0.5]
    assert [s.tolist() for s in kept.split()] == chosen


def test_fewer_families_are_extended_where_there_would_be_too_many(seed, monkeypatch):
    """The most frequent families come first, so the odds are those of a part of the sets."""
    problem = make_problem(seed)
    candidates = [np.array(chosen) for chosen in CANDIDATES]
    tables = prepare_tables(make_family_weights(problem, candidates), negligible=0.0)
    drawn = [number_families(tables, arcs) for arcs in 3 * [()] + [((0, 1),), ((1, 2), (2, 0))]]
    complete = measure_outside(problem, tables, np.array(drawn))
    monkeypatch.setattr("coevo.posteriors.outside.FAMILIES_PER_MEASURE", 1)
    monkeypatch.setattr("coevo.posteriors.outside.MIN_BASES", 1)
    some = measure_outside(problem, tables, np.array(drawn))
    assert [s.tolist() for s in some.sets.split()] == [[3], [3], [3], [0]]  # no candidate beside
    listed = [
        (c, tuple(s)) for c, s in zip(complete.sets.children, complete.sets.split(), strict=True)
    ]
    kept = [listed.index((c, tuple(s))) for c, s in enumerate(some.sets.split())]
    np.testing.assert_allclose(some.share, complete.share[kept])
    assert (some.odds < complete.odds).any()


def test_constraints_hold_outside_the_candidates(seed):
    names = random_table(seed, 4, 40).names
    known = Constraints(required=[(names[1], names[0])], forbidden=[(names[3], names[2])])
    problem = make_problem(seed, constraints=known)
    candidates = [np.array(chosen) for chosen in CANDIDATES]
    tables = prepare_tables(make_family_weights(problem, candidates), negligible=0.0)
    draws = np.array([number_families(tables, ((1, 0),))])
    sets = measure_outside(problem, tables, draws).sets
    by_child = [set() for _ in range(4)]
    for child, parents in zip(sets.children.tolist(), sets.split(), strict=True):
        by_child[child].add(tuple(parents.tolist()))
    assert by_child == [{(1, 3)}, {(3,)}, set(), {(0,)}]


def test_more_probable_parents_take_the_place_of_the_least_probable():
    arcs, outside = np.zeros((5, 5)), np.zeros((5, 5))
    arcs[[1, 2], 0] = 0.3, 0.01
    outside[[3, 4], 0] = 0.2, 0.25
    measure = OutsideMeasure(np.zeros(5), outside, None, None, None)
    candidates = [np.array([1, 2])]
    free = np.zeros((5, 5), dtype=bool)
    assert exchange_candidates(candidates, arcs, measure, free)[0].tolist() == [1, 4]
    free[2, 0] = True  # required
    assert exchange_candidates(candidates, arcs, measure, free)[0].tolist() == [1, 2]


def test_the_choice_leaves_less_out_and_does_not_depend_on_threads(seed):
    table = sample(load_network("child"), 500, random_state=seed)
    problem = Problem.from_scorer(FamilyScorer(table, "bdeu", ess=1))
    settings = ChainSettings(chains=2)
    first = choose_candidates(problem, None, 4)
    *_, (weights, outside) = improve_weights(problem, first, "uniform", settings, None, 5)
    assert [len(chosen) for chosen in weights.candidates] == 20 * [4]
    lost = []
    for one in (make_family_weights(problem, first), weights):
        tables = prepare_tables(one)
        rough = draw_roughly(tables, ChainSettings("order", chains=2), None, (seed, 9))
        lost.append(measure_outside(problem, tables, rough.dags).probability.sum())
    assert lost[1] < 0.5 * lost[0]
    again = FamilyScorer(table, "bdeu", ess=1, n_jobs=2)
    choices = improve_weights(Problem.from_scorer(again), first, "uniform", settings, None, 5)
    *_, (other, sets) = choices
    np.testing.assert_array_equal(
        np.concatenate(other.candidates), np.concatenate(weights.candidates)
    )
    np.testing.assert_array_equal(sets.parents, outside.parents)


def test_descendants_are_those_of_the_closure(seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(7)
    dag = np.triu(rng.random((7, 7)) < 0.3, 1)[np.ix_(order, order)]
    power, expected = dag, dag.copy()
    for _ in range(7):
        power = (power.astype(int) @ dag) > 0
        expected |= power
    np.testing.assert_array_equal(find_descendants(dag), expected)
