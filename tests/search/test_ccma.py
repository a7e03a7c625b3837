"""CCMA finds the best of all structures, and parents that greedy search misses."""

import numpy as np
import pytest

import naive
from coevo.bundled import load_network
from coevo.data import read_data
from coevo.errors import ParameterError
from coevo.network import sample
from coevo.score import FamilyBatch, FamilyScorer
from coevo.search import CCMA, Budget, Problem, run_search
from coevo.search.archive import Archive
from coevo.search.order_kernels import index_families
from coevo.search.parent_extension import extend_parent_sets
from helpers.problems import collect_states, make_problem, random_table
from helpers.random_tables import dataset_of


@pytest.mark.parametrize("score", ["k2", "bdeu", "bic"])
@pytest.mark.parametrize("case", range(4))
def test_the_best_of_all_structures(case, score, seed):
    table = random_table([seed, case], n_variables=4, n_rows=80)
    rows, arities = table.codes.T.tolist(), table.arities.tolist()
    best = max(naive.structure_score(score, rows, arities, arcs) for arcs in naive.all_dags(4))
    found = run_search("ccma", FamilyScorer(table, score), random_state=seed)
    assert found.stop_reason == "patience"
    assert found.score == pytest.approx(best, rel=1e-11)


def test_parents_that_only_work_together_are_found(seed):
    """Neither of two columns alone predicts their parity."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2, (400, 6))
    cells[:, 5] = cells[:, 0] ^ cells[:, 3]
    table = read_data(cells, names=list("abcdef"))
    found = run_search("ccma", FamilyScorer(table, "bdeu"), random_state=seed)
    trio = {"a", "d", "f"}
    children = [child for child in trio if set(found.dag.parents(child)) == trio - {child}]
    assert len(children) == 1
    assert found.score > run_search("hill_climb", FamilyScorer(table, "bdeu")).score + 100


@pytest.mark.parametrize("network", ["asia", "sachs"])
def test_every_seed_finds_the_same_score(network, seed):
    table = sample(load_network(network), 500, seed)
    scorer = FamilyScorer(table, "bdeu")
    scores = {round(run_search("ccma", scorer, random_state=s).score, 6) for s in range(4)}
    assert len(scores) == 1


def test_it_starts_with_hill_climbing_and_then_improves_on_it(seed):
    table = sample(load_network("insurance"), 300, seed)
    climbed = run_search("hill_climb", FamilyScorer(table, "k2"))
    found = run_search(
        "ccma", FamilyScorer(table, "k2"), budget=Budget(max_generations=15), random_state=seed
    )
    greedy = [row.score for row in found.history if row.details["n_extended"] == 0]
    assert greedy == pytest.approx([row.score for row in climbed.history[: len(greedy)]])
    assert found.score > climbed.score


def test_the_archive_agrees_with_the_scorer_at_every_step(seed):
    table = random_table(seed, 6)
    problem = make_problem(table, "bic")
    for state in collect_states(CCMA(orders=3, masks=4), problem, seed, 8):
        archive = state.archive
        assert isinstance(archive, Archive)
        for child in range(6):
            part = archive.score[archive.begin[child] : archive.begin[child + 1]]
            assert (np.diff(part) <= 0).all()
            for family in range(archive.begin[child], archive.begin[child + 1]):
                parents = [table.names[p] for p in archive.parents_of(family)]
                exact = problem.scorer.local_score(table.names[child], parents)
                assert archive.score[family] == exact
        assert np.array_equal(
            np.sort(state.orders, axis=1), np.tile(range(6), (len(state.orders), 1))
        )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"orders": 1}, "'orders' of CCMA must be an int >= 2; got 1."),
        ({"masks": 1}, "'masks' of CCMA must be an int >= 2; got 1."),
        ({"restart_after": 0}, "'restart_after' of CCMA must be an int >= 1; got 0."),
        ({"orders": 2.5}, "'orders' of CCMA must be an int >= 2; got 2.5."),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError) as caught:
        CCMA(**settings)
    assert str(caught.value) == message


@pytest.mark.parametrize("score", ["bic", "loglik", "k2"])
def test_more_configurations_than_any_number(score):
    """A set of 1,100 parents has 2**1100 configurations. Nothing overflows."""
    codes = np.random.default_rng(0).integers(0, 2, (1102, 4))
    problem = make_problem(dataset_of([2] * 1102, codes), score)
    rows = np.arange(1102, dtype=np.int32)[None]
    found = extend_parent_sets(problem, [(0, tuple(range(1, 1101)))], rows)
    assert not np.isnan(found.wider_scores).any()
    assert not np.isnan(found.scores).any()


def test_a_state_is_rescored_on_other_rows(seed):
    """Both species stay, and every score comes from the new rows."""
    table = random_table([seed, 1], n_variables=6, n_rows=150)
    other = table.resample(np.random.default_rng(seed))
    state = run_search("ccma", FamilyScorer(table, "k2"), random_state=seed).state
    problem = make_problem(other)
    search = CCMA().make_search(problem)
    again = search.rescore(np.random.default_rng(seed), state)
    assert search.is_compatible(again)
    assert again.generation == again.improved == state.generation
    assert again.score == pytest.approx(problem.score(again.adjacency), rel=1e-12)
    families = again.archive
    pairs = [(c, families.parents_of(i)) for i, c in enumerate(families.children.tolist())]
    scores = problem.scorer.local_scores(FamilyBatch.from_pairs(pairs))
    assert families.score.tolist() == scores.tolist()
    elite = search.rank_structures(again)
    assert (elite[0] == again.adjacency).all()
    totals = [problem.score(structure) for structure in elite]
    assert totals == pytest.approx(sorted(totals, reverse=True))
    best = run_search("ccma", problem.scorer, random_state=seed).score
    resumed = run_search("ccma", problem.scorer, random_state=seed, state=again)
    assert resumed.score == pytest.approx(best, rel=1e-12)


def test_a_hill_climbing_state_is_rescored_on_other_rows(seed):
    table = random_table([seed, 1], n_variables=6, n_rows=150)
    few = Budget(max_generations=0)
    state = run_search("ccma", FamilyScorer(table, "k2"), budget=few, random_state=seed).state
    assert state.is_climbing
    other = FamilyScorer(table.resample(np.random.default_rng(seed)), "k2")
    search = CCMA().make_search(Problem.from_scorer(other))
    again = search.rescore(np.random.default_rng(seed), state)
    fresh = run_search("ccma", other, budget=few, random_state=seed).state
    gains = [  # the same ones in another sequence
        [dict(zip(*row, strict=True)) for row in zip(one.candidates[0], one.gains, strict=True)]
        for one in (again, fresh)
    ]
    assert gains[0] == gains[1]
    assert again.score == pytest.approx(fresh.score)
    assert len(search.rank_structures(again)) == 1


def test_a_quick_search_stops_sooner_unless_a_limit_is_given(seed):
    """By default it waits twice as long as it took to find the best, 14 to 25 generations."""
    scorer = FamilyScorer(random_table(seed, n_variables=5, n_rows=80), "bdeu")
    by_default = run_search("ccma", scorer, random_state=seed)
    waited = by_default.generations - by_default.history[-1].improved
    assert waited == min(25, max(14, 2 * by_default.history[-1].improved))
    assert by_default.stop_reason == "patience"
    patient = run_search("ccma", scorer, budget=Budget(patience=25), random_state=seed)
    assert patient.generations - patient.history[-1].improved == 25
    assert patient.score == by_default.score


def test_a_generation_makes_the_index_of_its_new_archive_alone(monkeypatch):
    indexed = []

    def count(families):
        indexed.append(families)
        return index_families(families)

    monkeypatch.setattr("coevo.search.archive.index_families", count)
    rng = np.random.default_rng(3)
    search = CCMA().make_search(make_problem(random_table(3)))
    state, _ = search.start(rng)
    while state.is_climbing:
        state, _ = search.step(rng, state)
    indexed.clear()
    for n_generations in range(1, 5):
        state, _ = search.step(rng, state)
        assert len(indexed) == n_generations
