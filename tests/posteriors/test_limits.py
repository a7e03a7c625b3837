"""A posterior by chains holds its time limit, and ends soon after Ctrl-C, with what there is."""

from __future__ import annotations

import signal
from dataclasses import replace

import numpy as np
import pytest

import coevo
from coevo.learning import check_settings
from coevo.posteriors import chains
from coevo.posteriors.chain_search import ChainSearch
from coevo.posteriors.run import compute_posterior
from coevo.posteriors.settings import PosteriorSettings
from coevo.runtime.deadline import OutOfTime, check_deadline, limit_work_time
from coevo.runtime.threads import Threads
from coevo.search import Budget, run_search
from helpers.problems import MovedClock, SlowScorer, random_table

CHAINS = PosteriorSettings(sampler="chains", candidates=6)
ENDED = "ended the choice of candidate parents: more of them, or better ones, were to be found."
UNMEASURED = "leave out an unknown number of families: there was no time to measure it."
UNFINISHED = pytest.mark.filterwarnings("ignore::coevo.CoevoWarning")


def compute_slowly(table, monkeypatch, seed, max_steps=2, **options):
    """Return the posterior by chains; each part of a batch of families takes a second."""
    clock = MovedClock(monkeypatch)
    scorer = SlowScorer(table, "bdeu", clock=clock)
    found = run_search("hill_climb", scorer, budget=Budget(max_generations=1), random_state=seed)
    spec = replace(check_settings("posterior", score="bdeu").spec, seed=seed)
    began = clock.now
    settings = replace(CHAINS, max_steps=max_steps)
    answer = compute_posterior(scorer, spec, settings, found, **options)
    return answer, clock.now - began


@pytest.mark.parametrize(("limit", "n_candidates"), [(0.0, 2), (30.0, 4), (70.0, 6)])
def test_the_time_limit_holds_while_families_are_chosen(limit, n_candidates, monkeypatch, seed):
    table, ends = random_table(seed, 9), []
    answer, seconds = compute_slowly(
        table, monkeypatch, seed, max_time=limit, on_end=lambda *end: ends.append(end),
        on_checkpoint=lambda checkpoint: ends.append("a choice that is not complete is not stored"),
    )  # fmt: skip
    least = 3 * 9  # scores that an answer needs: the families of two candidates, and a round
    assert seconds <= limit + least
    assert answer.n_candidates == n_candidates
    assert ends == [(None, answer.stop_reason)]
    assert answer.stop_reason == ("generations" if limit else "time")
    assert answer.coverage.startswith(f"The time limit {ENDED} The {n_candidates} candidate par")
    assert ((answer.arcs >= 0) & (answer.arcs + answer.arcs.T <= 1 + 1e-9)).all()
    assert len(answer.sample) >= 4
    assert np.isfinite(answer.score)


def test_without_time_nothing_outside_is_measured(monkeypatch, seed):
    answer, _ = compute_slowly(random_table(seed, 9), monkeypatch, seed, max_time=0.0)
    sentence = f"The time limit {ENDED} The 2 candidate parents of each variable {UNMEASURED}"
    assert answer.coverage == sentence
    facts = answer.as_dict()
    assert (facts["coverage"], facts["left_out"]) == (sentence, None)
    assert np.isnan(answer.errors).any()


def test_a_limit_that_does_not_bind_changes_nothing(monkeypatch, seed):
    table = random_table(seed, 9)
    free, _ = compute_slowly(table, monkeypatch, seed)
    monkeypatch.setattr(chains, "ROUNDS_PER_CHECK", 1000)
    bound, _ = compute_slowly(table, monkeypatch, seed, max_time=1e6)
    assert free.n_candidates is bound.n_candidates is None
    for name in ("arcs", "errors", "trace", "left_out"):
        np.testing.assert_array_equal(getattr(free, name), getattr(bound, name))
    assert (free.n_families, free.stop_reason) == (bound.n_families, bound.stop_reason)


def test_the_deadline_of_a_caller_holds_in_its_threads():
    def work(begin, end, part):
        check_deadline()

    with limit_work_time(0.0), pytest.raises(OutOfTime):
        Threads(2).run_in_parts(work, 2, 1)


@pytest.mark.parametrize(("n_stages", "n_candidates"), [(1, 4), (2, 6), (3, 6)])
def test_ctrl_c_in_the_choice_of_families_ends_with_what_there_is(
    n_stages, n_candidates, monkeypatch, seed
):
    def press(search, chain_seed):
        for number, choice in enumerate(original(search, chain_seed)):
            if number == n_stages:
                signal.raise_signal(signal.SIGINT)
            yield choice

    original = ChainSearch.improve_choice
    monkeypatch.setattr(ChainSearch, "improve_choice", press)
    answer, _ = compute_slowly(random_table(seed, 9), monkeypatch, seed)
    assert (answer.stop_reason, answer.n_candidates) == ("interrupt", n_candidates)
    assert answer.coverage.startswith(f"Ctrl-C {ENDED} The {n_candidates} candidate parents of ")
    assert (answer.n_steps, len(answer.sample)) == (1, 4)


def test_ctrl_c_before_there_are_families_is_a_keyboard_interrupt(monkeypatch, seed):
    def press(search, chain_seed):
        signal.raise_signal(signal.SIGINT)
        yield

    monkeypatch.setattr(ChainSearch, "improve_choice", press)
    with pytest.raises(KeyboardInterrupt):
        compute_slowly(random_table(seed, 9), monkeypatch, seed)


@UNFINISHED
def test_ctrl_c_in_the_first_step_ends_with_a_round(monkeypatch, seed):
    def press(search, rng, state):
        if state.rounds > 1:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)  # at once
        return original(search, rng, state)

    original = ChainSearch.step
    monkeypatch.setattr(ChainSearch, "step", press)
    answer, _ = compute_slowly(random_table(seed, 9), monkeypatch, seed)
    assert (answer.stop_reason, answer.n_steps, len(answer.sample)) == ("interrupt", 1, 4)
    assert answer.n_candidates is None


@pytest.fixture(scope="module")
def rows():
    return coevo.sample(coevo.load_network("cancer"), 100, random_state=1)


def test_after_ctrl_c_in_the_search_there_is_no_posterior(stopped_search, rows):
    with pytest.raises(KeyboardInterrupt):
        coevo.posterior(rows, sampler="chains", budget={"max_generations": 1})
    found = coevo.learn(rows, posterior=True, bootstraps=0, budget={"max_generations": 1})
    assert found.posterior is None
    assert found.search.stop_reason == "interrupt"


def test_learn_keeps_the_network_if_ctrl_c_comes_before_the_posterior(monkeypatch, rows):
    def press(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("coevo.learning.structure_posterior.compute_posterior", press)
    found = coevo.learn(rows, posterior=True, prove=1, bootstraps=0, budget={"max_generations": 1})
    assert (found.posterior, found.proof) == (None, None)
    assert found.search.stop_reason == "generations"
