"""The part of the contract about the structures of a search; see `contracts`."""

import copy
import itertools
import json
import math

import numpy as np
import pytest

from coevo.data import read_data
from coevo.graph import DAG
from coevo.runtime.randomness import random_stream
from coevo.score import SCORES, FamilyScorer
from coevo.search import Budget, Problem, read_state, run_search, write_state
from helpers.problems import (
    drop_times,
    find_differing_fields,
    get_outcome,
    make_problem,
    random_constraints,
    random_table,
    score_naively,
)
from helpers.random_tables import dataset_of

TIGHT = {"rel": 1e-11, "abs": 1e-9}


class Structures:
    """Each state holds a DAG that satisfies the constraints, with its exact score."""

    @pytest.mark.parametrize("case", range(8))
    def test_constraints_hold_in_every_state(self, case, seed):
        rng = np.random.default_rng([seed, case])
        table = random_table(seed + case, n_variables=int(rng.integers(2, 9)), n_rows=60)
        known = random_constraints(rng, table.names)
        problem = make_problem(table, "loglik" if case % 2 else "k2", known)  # loglik adds all arcs
        for state in self.collect_states(problem, seed, n_steps=9):
            assert problem.rules.is_satisfied_by(state.adjacency)
            assert state.score == problem.scorer.score(problem.make_dag(state.adjacency))
        found = self.run(problem.scorer, seed, constraints=known)
        assert set(known.required) <= set(found.dag.arcs)
        assert not set(known.forbidden) & set(found.dag.arcs)
        assert not set(known.roots) & {child for _, child in found.dag.arcs}
        assert not set(known.leaves) & {parent for parent, _ in found.dag.arcs}

    @pytest.mark.parametrize("case", range(6))
    def test_no_state_has_a_table_larger_than_the_limit(self, case, seed):
        rng = np.random.default_rng([seed, case])
        table = random_table(seed + case, n_variables=int(rng.integers(2, 9)), n_rows=60)
        known = random_constraints(rng, table.names)
        needed = Problem.from_scorer(FamilyScorer(table, "k2"), known).rules.required
        sizes = table.arities[:, None] ** needed
        limit = max(int((sizes.prod(axis=0) * table.arities).max()), int(rng.integers(4, 60)))
        scorer = FamilyScorer(table, "loglik" if case % 2 else "bdeu", max_table=limit)
        problem = Problem.from_scorer(scorer, known)
        for state in self.collect_states(problem, seed, n_steps=9):
            assert problem.rules.is_satisfied_by(state.adjacency)
            assert np.isfinite(state.score)
        found = self.run(scorer, seed, constraints=known)
        arity = dict(zip(table.names, table.arities.tolist(), strict=True))
        for child in table.names:
            parents = found.dag.parents(child)
            n_cells = arity[child] * math.prod(arity[parent] for parent in parents)
            assert n_cells <= limit or not parents

    @pytest.mark.parametrize("case", range(3))
    def test_the_best_score_never_falls(self, case, seed):
        if not self.make_method(["a"]).maximises:
            pytest.skip("The method does not maximise the score.")
        problem = make_problem(random_table([seed, case]))
        found = self.run(problem.scorer, seed, budget=Budget(max_generations=12))
        history = found.history
        assert [row.generation for row in history] == list(range(found.generations + 1))
        assert history[0].improved == 0
        for before, row in itertools.pairwise(history):
            rises = row.score > before.score
            assert rises or row.score == before.score
            assert row.improved == (row.generation if rises else before.improved)
            assert row.evaluations >= before.evaluations
            assert row.seconds >= before.seconds
        states = self.collect_states(problem, seed, n_steps=12)
        assert [row.score for row in history] == [state.score for state in states]
        assert [row.n_arcs for row in history] == [int(s.adjacency.sum()) for s in states]
        assert found.seconds >= history[-1].seconds

    @pytest.mark.parametrize("score", SCORES)
    def test_the_result_is_scored_right(self, score, seed):
        table = random_table(seed)
        found = self.run(FamilyScorer(table, score), seed)
        assert isinstance(found.dag, DAG)
        assert found.dag.nodes == table.names
        assert found.score == FamilyScorer(table, score).score(found.dag)
        right = score_naively(table, found.dag, score)
        assert found.per_variable == pytest.approx(right, **TIGHT)
        assert list(found.per_variable) == list(table.names)
        assert found.score == pytest.approx(sum(right.values()), **TIGHT)
        assert sum(found.per_variable.values()) == pytest.approx(found.score, **TIGHT)

    @pytest.mark.parametrize("score", SCORES)
    @pytest.mark.parametrize("kind", ["1 variable", "2 variables", "a constant", "1 row"])
    def test_tiny_data(self, kind, score, seed):
        rng = np.random.default_rng(seed)
        shape = {"1 variable": (20, 1), "2 variables": (20, 2), "1 row": (1, 5)}.get(kind, (20, 5))
        arities = [3, 2, 1 if kind == "a constant" else 2, 4, 2][: shape[1]]
        table = dataset_of(arities, rng.integers(0, arities, shape).T)
        problem = make_problem(table, score)
        found = self.run(problem.scorer, seed)
        assert found.dag.nodes == table.names
        assert found.score == pytest.approx(
            sum(score_naively(table, found.dag, score).values()), **TIGHT
        )
        assert self.collect_states(problem, seed)[-1].score == found.score

    def test_a_step_is_pure(self, seed):
        """A step changes no state, and a search has no memory."""
        table = random_table(seed)
        known = random_constraints(np.random.default_rng(seed), table.names)
        problem = make_problem(table, "k2", known)
        search = self.make_method(problem.names).make_search(problem)
        states, copies, infos = [], [], []
        while len(states) <= self.n_steps and not (states and search.is_finished(states[-1])):
            rng = random_stream(seed, len(states))
            state, info = search.step(rng, states[-1]) if states else search.start(rng)
            states.append(state)
            copies.append(copy.deepcopy(state))
            infos.append(dict(info))
        other = self.make_method(problem.names).make_search(make_problem(table, "k2", known))
        for i in reversed(range(len(states))):
            for one in (search, other):
                rng = random_stream(seed, i)
                state, info = one.step(rng, states[i - 1]) if i else one.start(rng)
                assert not find_differing_fields(state, copies[i])
                assert dict(info) == infos[i]
        for state, before in zip(states, copies, strict=True):
            assert not find_differing_fields(state, before)

    @pytest.mark.parametrize("generation", [0, 1, 3])
    def test_a_search_resumes_from_a_state_file(self, generation, seed, tmp_path):
        table = random_table(seed)
        known = random_constraints(np.random.default_rng(seed), table.names)
        uninterrupted = self.run(FamilyScorer(table, "k2"), seed, constraints=known)
        first = self.run(
            FamilyScorer(table, "k2"),
            seed,
            constraints=known,
            budget=Budget(max_generations=generation),
        )
        write_state(first.state, tmp_path / "state.npz")
        kind = self.make_method(table.names).state_type
        state = read_state(tmp_path / "state.npz", kind)
        assert not find_differing_fields(state, first.state)
        resumed = self.run(FamilyScorer(table, "k2"), seed, constraints=known, state=state)
        assert not find_differing_fields(resumed.state, uninterrupted.state)
        assert not find_differing_fields(state, first.state)
        assert get_outcome(resumed) | {"history": []} == get_outcome(uninterrupted) | {
            "history": []
        }
        assert drop_times([*first.history, *resumed.history]) == drop_times(uninterrupted.history)

    def test_the_arguments_of_the_caller_stay_unchanged(self, seed):
        rng = np.random.default_rng(seed)
        cells = rng.integers(0, 3, (50, 5))
        cells_before = cells.copy()
        table = read_data(cells, names=[*"abcde"])
        codes = table.codes.copy()
        known = random_constraints(rng, table.names)
        words = repr(known)
        scorer = FamilyScorer(table, "k2")
        rules = copy.deepcopy(Problem.from_scorer(scorer, known).rules)
        method = self.make_method(table.names)
        settings = method.settings
        budget = Budget(max_generations=3)
        found = run_search(method, scorer, constraints=known, budget=budget, random_state=seed)
        assert np.array_equal(cells, cells_before)
        assert np.array_equal(table.codes, codes)
        assert repr(known) == words
        assert not find_differing_fields(Problem.from_scorer(scorer, known).rules, rules)
        assert budget == Budget(max_generations=3)
        assert method.settings == settings == found.settings
        assert json.loads(json.dumps(settings)) == settings  # plain JSON values
