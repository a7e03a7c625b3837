"""Islands are CCMA populations side by side, with migration of their best orders."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from coevo.errors import FormatError, ParameterError
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import (
    CCMA,
    Budget,
    Islands,
    IslandsState,
    Problem,
    read_state,
    run_search,
    write_state,
)
from coevo.search.archive import Archive
from helpers.problems import (
    collect_states,
    find_differing_fields,
    make_problem,
    random_constraints,
    random_table,
)

SMALL = {"orders": 4, "masks": 3, "restart_after": 3}


def list_parents(island, order):
    """Return the parents of each child under an order of an island."""
    return [island.archive.parents_of(int(family)) for family in island.choice[order]]


def sum_scores(island):
    return island.archive.score[island.choice].sum(axis=1)


def evolve_states(problem, seed, n_islands=3, epoch=3):
    """Return CCMA states from different random streams."""
    search = CCMA(**SMALL).make_search(problem)
    states = []
    for number in range(n_islands):
        state, _ = search.start(random_stream(seed, number))
        for generation in range(epoch):
            state, _ = search.step(random_stream(seed, number, generation), state)
        states.append(state)
    return search, states


def test_one_island_is_ccma_with_other_streams(seed):
    problem = make_problem(random_table(seed))
    found = collect_states(Islands(islands=1, epoch=2, **SMALL), problem, seed, 3)
    search = CCMA(**SMALL).make_search(problem)
    alone, _ = search.start(random_stream(seed, 0))
    for number, state in enumerate(found):
        if number:
            (own,) = random_stream(seed, number).spawn(1)
            for rng in own.spawn(2):
                alone, _ = search.step(rng, alone)
        assert not find_differing_fields(state.islands[0], alone)
        assert (state.score, state.evaluations) == (alone.score, alone.evaluations)
        assert state.generation == number


def test_islands_differ_and_the_best_one_is_the_result(seed):
    problem = make_problem(random_table(seed, n_variables=12))
    state = collect_states(Islands(islands=3, epoch=2, **SMALL), problem, seed, 2)[-1]
    orders = [island.orders.tolist() for island in state.islands]
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert state.score == max(island.score for island in state.islands)
    assert [island.generation for island in state.islands] == [4, 4, 4]


@pytest.mark.parametrize("n_orders", [1, 2, 3, 99])
def test_migrants_take_their_families_along_and_replace_the_worst(n_orders, seed):
    table = random_table(seed, n_variables=9)
    known = random_constraints(np.random.default_rng(seed), table.names)
    problem = make_problem(table, "k2", known)
    search, (here, there, _) = evolve_states(problem, seed)
    after = search.with_migrants(here, there, n_orders)
    n = min(n_orders, len(here.orders) - 1)
    expected = [*here.orders[:-n].tolist(), *there.orders[:n].tolist()]
    assert sorted(after.orders.tolist()) == sorted(expected)
    for order, total in zip(there.orders[:n].tolist(), sum_scores(there)[:n], strict=True):
        own = after.orders.tolist().index(order)
        assert sum_scores(after)[own] >= total - 1e-9  # the families of the source, or better ones
    assert after.score >= max(here.score, there.score) - 1e-9
    assert after.score == problem.score(after.adjacency)
    assert search.is_compatible(after)
    assert after.evaluations == here.evaluations


def test_migrants_keep_their_score_with_an_empty_archive(seed):
    problem = make_problem(random_table(seed, n_variables=9))
    search, (here, there, _) = evolve_states(problem, seed)
    empty = Archive.from_problem(problem)
    none = replace(
        here,
        begin=empty.begin,
        family_scores=empty.score,
        start=empty.start,
        parents=empty.parents,
        score=empty.score.sum(),
    )
    assert empty.n_families == problem.n_variables
    assert there.choice[0].tolist() != empty.begin[:-1].tolist()
    after = search.with_migrants(none, there, 1)
    assert there.orders[0].tolist() in after.orders.tolist()
    assert list_parents(after, 0) == list_parents(there, 0)
    assert after.score == problem.score(after.adjacency)
    assert after.improved == here.generation


def test_there_is_no_migration_during_the_hill_climbing(seed):
    problem = make_problem(random_table(seed))
    search, (evolving, *_) = evolve_states(problem, seed)
    climbing, _ = search.start(random_stream(seed, 0))
    assert climbing.is_climbing
    assert search.with_migrants(climbing, evolving, 2) is climbing
    assert search.with_migrants(evolving, climbing, 2) is evolving


def test_migration_goes_round_the_ring_at_once(seed):
    """Each island receives migrants from the previous island as it was before migration."""
    problem = make_problem(random_table(seed, n_variables=10))
    method = Islands(islands=3, epoch=1, migrants=1, **SMALL)
    search, states = evolve_states(problem, seed)
    found = method.make_search(problem)._migrate(states)
    for number, state in enumerate(found):
        expected = search.with_migrants(states[number], states[number - 1], 1)
        assert not find_differing_fields(state, expected)


def test_the_runner_is_no_setting(seed):
    def backwards(epoch, islands):
        return [epoch(island) for island in reversed(islands)][::-1]

    scorer = FamilyScorer(random_table(seed), "k2")
    methods = Islands(**SMALL), Islands(**SMALL, runner=backwards)
    assert methods[0] == methods[1]
    assert methods[0].settings == methods[1].settings
    assert "runner" not in methods[0].settings
    one, two = (
        run_search(method, scorer, budget=Budget(max_generations=2), random_state=seed)
        for method in methods
    )
    assert not find_differing_fields(one.state, two.state)


def test_a_problem_can_be_pickled(seed):
    table = random_table(seed)
    known = random_constraints(np.random.default_rng(seed), table.names)
    weights = {tuple(table.names[:2]): 0.5}
    scorer = FamilyScorer(table, "bdeu", ess=3, weights=weights, parent_penalty=0.25, n_jobs=2)
    problem = Problem.from_scorer(scorer, known)
    other = pickle.loads(pickle.dumps(problem))
    assert other.scorer is not scorer
    assert other.scorer.weights == weights
    assert (other.scorer.threads.n, other.scorer.estimate_memory()) == (2, scorer.estimate_memory())
    states = [
        collect_states(Islands(islands=2, epoch=1, **SMALL), one, seed, 2)[-1]
        for one in (problem, other)
    ]
    assert not find_differing_fields(*states)


def test_other_kinds_of_scorers_cannot_be_pickled(seed):
    class Other(FamilyScorer):
        pass

    with pytest.raises(TypeError, match=r"^A Other cannot be sent to another process\.$"):
        pickle.dumps(Other(random_table(seed)))


def test_a_state_with_another_number_of_islands_is_refused(seed):
    scorer = FamilyScorer(random_table(seed), "k2")
    options = {"budget": Budget(max_generations=1), "random_state": seed}
    state = run_search(Islands(islands=2, **SMALL), scorer, **options).state
    for other in (Islands(islands=3, **SMALL), Islands(islands=2, **SMALL | {"masks": 4})):
        with pytest.raises(ParameterError, match="with other settings"):
            run_search(other, scorer, state=state, **options)


def test_a_file_without_one_of_the_islands(seed, tmp_path):
    method = Islands(islands=2, epoch=1, **SMALL)
    state = collect_states(method, make_problem(random_table(seed)), seed, 1)[-1]
    path = tmp_path / "state.npz"
    write_state(state, path)
    assert not find_differing_fields(read_state(path, IslandsState), state)
    with np.load(path) as held:
        entries = {name: held[name] for name in held.files}
    assert int(entries["islands"]) == 2
    assert entries["islands.1.orders"].tolist() == state.islands[1].orders.tolist()
    del entries["islands.1.orders"], entries["digest"]
    np.savez(path, **entries)
    with pytest.raises(FormatError, match="is not the state of a search"):
        read_state(path, IslandsState)


@pytest.mark.parametrize("name", ["islands", "epoch", "migrants"])
def test_bad_settings(name):
    with pytest.raises(ParameterError) as caught:
        Islands(**{name: 0})
    assert str(caught.value) == f"'{name}' of Islands must be an int >= 1; got 0."


def test_memory_is_that_of_all_islands():
    assert Islands(islands=5).estimate_memory(40) == 5 * CCMA().estimate_memory(40)
