"""The part of the contract about the end of a search; see `contracts`."""

import contextlib
import signal

import numpy as np
import pytest

from coevo.graph import DAG, Constraints
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer
from coevo.search import Budget, Problem
from helpers.problems import (
    InterruptedScorer,
    MovedClock,
    SlowScorer,
    drop_times,
    find_differing_fields,
    get_outcome,
    make_problem,
    random_table,
    walk,
)

NEVER = 10**9
MOST_PLACES = 12  # of an interrupt inside of a step


class Endings:
    """A search stops after the first generation that reaches a limit, and reports the limit."""

    def check_stop(self, problem, seed, budget, reached):
        """Run with a budget; compare with the states of a search without one.

        `reached` returns the limit that a state has reached, or None.
        """
        search = self.make_method(problem.names).make_search(problem)
        for state in walk(search, seed):
            reason = reached(state) or ("finished" if search.is_finished(state) else None)
            if reason is not None:
                break
            assert state.generation < 1000
        found = self.run(problem.scorer, seed, budget=budget)
        assert found.stop_reason == reason
        assert not find_differing_fields(found.state, state)
        assert found.generations == state.generation == len(found.history) - 1
        assert found.evaluations == state.evaluations
        assert found.dag == problem.make_dag(state.adjacency)
        return found

    @pytest.mark.parametrize("limit", [0, 1, 3])
    def test_generations(self, limit, seed):
        found = self.check_stop(
            make_problem(random_table(seed)),
            seed,
            Budget(max_generations=limit),
            lambda state: "generations" if state.generation >= limit else None,
        )
        assert found.generations <= limit

    @pytest.mark.parametrize(("generation", "more"), [(0, -1), (0, 0), (0, 1), (1, 0), (1, 1)])
    def test_evaluations(self, generation, more, seed):
        problem = make_problem(random_table(seed))
        limit = self.collect_states(problem, seed)[generation].evaluations + more
        self.check_stop(
            problem,
            seed,
            Budget(max_evaluations=limit),
            lambda state: "evaluations" if state.evaluations >= limit else None,
        )

    @pytest.mark.parametrize("limit", [1, 4])
    def test_patience(self, limit, seed):
        """With three variables every search soon finds the best structure."""
        self.check_stop(
            make_problem(random_table(seed, n_variables=3)),
            seed,
            Budget(patience=limit),
            lambda state: "patience" if state.generation - state.improved >= limit else None,
        )

    @pytest.mark.parametrize("generation", [0, 1, 2])
    def test_target(self, generation, seed):
        problem = make_problem(random_table(seed))
        states = self.collect_states(problem, seed)
        target = states[min(generation, len(states) - 1)].score
        for goal in (target, np.nextafter(target, -np.inf)):
            found = self.check_stop(
                problem,
                seed,
                Budget(target=goal, max_generations=9),
                lambda state, goal=goal: "target" if state.score >= goal else None,
            )
            assert found.score >= goal

    def test_no_time(self, seed, monkeypatch):
        MovedClock(monkeypatch)  # it stands still, so that a slow machine drops no step
        found = self.run(FamilyScorer(random_table(seed), "k2"), seed, budget=Budget(max_time=0))
        assert (found.stop_reason, found.generations, len(found.history)) == ("time", 0, 1)

    def test_earlier_seconds_count_against_the_time_limit(self, seed, monkeypatch):
        MovedClock(monkeypatch)
        scorer, limit = FamilyScorer(random_table(seed), "k2"), Budget(max_time=1000.0)
        found = self.run(scorer, seed, budget=limit, seconds=1000.5)
        assert get_outcome(found) == get_outcome(self.run(scorer, seed, budget=Budget(max_time=0)))
        assert found.seconds >= found.history[-1].seconds >= 1000.5

    def test_a_step_beyond_the_time_limit_is_dropped(self, seed, monkeypatch):
        """The limit holds, whatever a step costs; the last complete state can be resumed."""
        table, clock = random_table(seed), MovedClock(monkeypatch)
        uninterrupted = self.run(slow := SlowScorer(table, "k2", clock=clock), seed)
        n_parts, n_dropped = slow.n_parts, 0
        for limit in range(0, n_parts, max(1, n_parts // 8)):
            scorer = SlowScorer(table, "k2", clock=clock)
            budget = Budget(max_time=limit + 0.5, max_generations=self.n_steps)
            found = self.run(scorer, seed, budget=budget)
            assert found.seconds <= budget.max_time + 2  # the parts that are under way
            rows = drop_times(uninterrupted.history)[: len(found.history)]
            assert drop_times(found.history) == rows
            if found.stop_reason == "time":
                n_dropped += found.history == () or found.seconds > found.history[-1].seconds
                assert found.score >= (rows[-1].score if rows else -np.inf)
            assert found.score == FamilyScorer(table, "k2").score(found.dag)
            after = self.run(FamilyScorer(table, "k2"), seed, state=found.state)
            assert not find_differing_fields(after.state, uninterrupted.state)
        assert n_dropped or n_parts < 3

    @pytest.mark.parametrize("budget", [None, Budget(target=1.0)], ids=["none", "too high"])
    def test_without_a_bounded_budget_the_default_budget_holds(self, budget, seed):
        scorer = FamilyScorer(random_table(seed, n_variables=3), "k2")
        too_long = [lambda row: row.generation > 1000]
        found = self.run(scorer, seed, budget=budget, callbacks=too_long)
        method = self.make_method(scorer.dataset.names)
        own = method.default_budget
        assert own.target is None
        if method.least_patience is not None:  # a search that found its best early waits less
            own = own.shorten_patience(method.least_patience, found.history[-1].improved)
        assert get_outcome(found) == get_outcome(
            self.run(scorer, seed, budget=own, callbacks=too_long)
        )
        assert found.stop_reason == "finished" or (
            own.is_bounded and found.stop_reason != "callback"
        )

    @pytest.mark.parametrize("last", [0, 1])
    def test_a_callback_may_stop(self, last, seed):
        scorer = FamilyScorer(random_table(seed), "k2")
        rows, others = [], []
        found = self.run(
            scorer,
            seed,
            callbacks=[
                lambda row: rows.append(row) or row.generation == last,
                lambda row: others.append(row) or "no",  # only True stops a search
            ],
        )
        assert found.stop_reason == "callback"
        assert list(found.history) == rows == others
        assert found.generations == last
        assert drop_times(rows) == drop_times(self.run(scorer, seed).history)[: last + 1]

    def test_a_callback_may_return_the_true_of_numpy(self, seed):
        scorer = FamilyScorer(random_table(seed), "k2")
        for answer, stops in ((np.True_, True), (np.False_, False), (1, False)):
            found = self.run(scorer, seed, callbacks=[lambda row, answer=answer: answer])
            assert (found.stop_reason == "callback") is stops

    @pytest.mark.parametrize("kind", ["exception", "signal"])
    @pytest.mark.parametrize("last", [0, 1])
    def test_an_interrupt_between_steps(self, last, kind, seed):
        scorer = FamilyScorer(random_table(seed), "k2")
        uninterrupted = self.run(scorer, seed)

        def interrupt(row):
            if row.generation == last:
                if kind == "exception":
                    raise KeyboardInterrupt
                signal.raise_signal(signal.SIGINT)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            # A signal takes effect between steps. After the last step it changes nothing.
            is_over = kind == "signal" and last == uninterrupted.generations
            reason = uninterrupted.stop_reason if is_over else "interrupt"
            found = self.run_interrupted(scorer, seed, reason, callbacks=[interrupt])
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        finally:
            signal.signal(signal.SIGINT, before)
        assert drop_times(found.history) == drop_times(uninterrupted.history)[: last + 1]
        self.check_best_so_far(found, FamilyScorer(scorer.dataset, "k2"))

    def test_an_interrupt_inside_a_step(self, seed):
        """The previous state stays valid, and the scorer can be used again."""
        table = random_table(seed)
        known = Constraints(required=[table.names[:2]])
        right = InterruptedScorer(table, "k2", at=NEVER)
        n_batches = []  # up to each row
        uninterrupted = self.run(
            right,
            seed,
            constraints=known,
            callbacks=[lambda row: n_batches.append(NEVER - right.left)],
        )
        assert len(n_batches) > 1
        places = np.linspace(0, n_batches[-1] - 1, MOST_PLACES).round().astype(int)
        for at in sorted(set(places.tolist())):
            scorer = InterruptedScorer(table, "k2", at=at)
            found = self.run_interrupted(scorer, seed, constraints=known)
            n_rows = sum(at >= n for n in n_batches)
            assert drop_times(found.history) == drop_times(uninterrupted.history)[:n_rows]
            self.check_best_so_far(found, right)
            if n_rows == 0:
                assert (found.state, found.generations, found.evaluations) == (None, 0, 0)
                assert found.dag == DAG(table.names, known.required)
            for state in (None, found.state):
                after = self.run(scorer, seed, constraints=known, state=state)
                assert not find_differing_fields(after.state, uninterrupted.state)

    def test_a_step_can_be_repeated_after_an_interrupt(self, seed):
        """An interrupt does not corrupt a search."""
        table = random_table(seed)
        right = self.collect_states(make_problem(table), seed)
        for at in range(4):
            search = self.make_method(table.names).make_search(
                Problem.from_scorer(InterruptedScorer(table, "k2", at=at))
            )
            for i in range(len(right)):
                for rng in (random_stream(seed, i), random_stream(seed, i)):
                    with contextlib.suppress(KeyboardInterrupt):
                        state, _ = search.step(rng, right[i - 1]) if i else search.start(rng)
                assert not find_differing_fields(state, right[i])

    def run_interrupted(self, scorer, seed, reason="interrupt", **options):
        """Run a search that is interrupted; it must return a result."""
        try:
            found = self.run(scorer, seed, **options)
        except KeyboardInterrupt:  # would end the test run
            pytest.fail("The search raised KeyboardInterrupt.")
        assert found.stop_reason == reason
        return found

    def check_best_so_far(self, found, scorer):
        assert found.score == scorer.score(found.dag)
        assert found.per_variable == scorer.score_per_variable(found.dag)
        if found.history:
            assert found.score == found.history[-1].score == found.state.score
            assert found.generations == found.history[-1].generation
