"""Compute a posterior: choose between the exact sums and the chains, and run them.

The exact posterior is chosen where it takes less than about ten seconds and a gigabyte. Elsewhere
chains run until they agree or a limit stops them. What was chosen is part of the answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace

import numpy as np

from coevo.data import Dataset
from coevo.errors import ParameterError
from coevo.parallel import Cluster
from coevo.posteriors.chain_search import ChainMethod, PosteriorState, start_in_time
from coevo.posteriors.chains import ChainRunner, open_chain_runner
from coevo.posteriors.diagnostics import diagnose_chains
from coevo.posteriors.exact import (
    MAX_EXACT,
    ExactSampler,
    estimate_exact_cost,
)
from coevo.posteriors.family_weights import make_complete_weights
from coevo.posteriors.outside import measure_outside
from coevo.posteriors.result import Posterior
from coevo.posteriors.sample import DagSample
from coevo.posteriors.settings import PosteriorSettings, check_score
from coevo.runtime.deadline import OutOfTime, defer_interrupts, limit_work_time, measure_work_time
from coevo.runtime.randomness import random_stream
from coevo.score import Scorer
from coevo.search import Budget, Callback, Checkpoint, Problem, SearchResult, SearchSpec, run_search
from coevo.search.ccma import CCMAState
from coevo.search.loop import SHARE_OF_GRACE
from coevo.search.run import CheckpointCallback

__all__ = ["compute_posterior", "make_chain_method"]

EXACT_SECONDS = 10.0
EXACT_BYTES = 1_000_000_000
EXACT_FAMILIES = 200_000
DRAWS = 2  # the key of the random stream of exact draws


def choose_sampler(problem: Problem, settings: PosteriorSettings) -> str:
    """Return ``'exact'`` or ``'chains'``; raise `ParameterError` if the exact one is not feasible.

    Under ``'auto'`` it is the exact one where it is cheap.
    """
    n = problem.n_variables
    if settings.sampler == "chains":
        return "chains"
    largest = MAX_EXACT[settings.prior]
    if n > largest:
        if settings.sampler == "exact":
            raise ParameterError(
                f"The exact posterior under the prior {settings.prior!r} is limited to {largest} "
                f"variables; the table has {n:,}. Use sampler='chains' (--sampler chains)."
            )
        return "chains"
    if settings.sampler == "exact":
        return "exact"
    cost = estimate_exact_cost(n, problem.rules.max_parents, settings.prior)
    is_cheap = (
        cost.seconds <= EXACT_SECONDS
        and cost.n_bytes <= EXACT_BYTES
        and cost.n_families <= EXACT_FAMILIES
    )
    return "exact" if is_cheap else "chains"


def make_chain_method(
    settings: PosteriorSettings, found: SearchResult | None, runner: ChainRunner | None = None
) -> ChainMethod:
    """Return the chains, with the archive of the search that they start from."""
    state = None if found is None else found.state
    archive = state.archive if isinstance(state, CCMAState) and not state.is_climbing else None
    values = asdict(settings)
    shared = {name: values[name] for name in ChainMethod().settings}
    return ChainMethod(**shared, archive=archive, runner=runner)


def compute_posterior(
    scorer: Scorer,
    spec: SearchSpec,
    settings: PosteriorSettings,
    found: SearchResult,
    *,
    max_time: float | None = None,
    cluster: Cluster = None,
    callbacks: Iterable[Callback] = (),
    state: Checkpoint | None = None,
    on_checkpoint: CheckpointCallback | None = None,
    on_end: Callable[[Checkpoint | None, str], object] = lambda checkpoint, stop_reason: None,
) -> Posterior:
    """Return the posterior over structures.

    Parameters
    ----------
    scorer : Scorer
        The rows and the score.
    spec : SearchSpec
        The constraints, the prior of arcs and the seed.
    settings : PosteriorSettings
        The priors, and how to compute the posterior.
    found : SearchResult
        The result of a search, where the chains start.
    max_time : float, optional
        The time limit of the chains.
    cluster : str or distributed.Client, optional
        Run the chains on the workers of a Dask cluster.
    callbacks, state, on_checkpoint : optional
        As for `run_search`; the exact posterior has no use for them.
    on_end : callable
        Called with the last checkpoint of the chains and the reason why they stopped.
    """
    check_score(spec.score)
    problem = Problem.from_scorer(scorer, spec.constraints)
    if choose_sampler(problem, settings) == "exact":
        return _compute_exactly(problem, spec, settings, found)
    with open_chain_runner(cluster) as runner:
        method = make_chain_method(settings, found, runner)
        budget = Budget(max_time=max_time, max_generations=settings.max_steps)
        budget = budget.with_default(method.default_budget)
        first = None
        if state is None:
            limit = math.inf if budget.max_time is None else budget.max_time
            from_found = Problem.from_scorer(scorer, spec.constraints, found.dag)
            first = start_in_time(method, from_found, spec.seed, limit)
            method = replace(method, first=first.state)
        ended_by = None if first is None else first.ended_by
        result = run_search(
            method,
            scorer,
            constraints=spec.constraints,
            budget=replace(budget, max_generations=0) if ended_by == "interrupt" else budget,
            random_state=spec.seed,
            callbacks=callbacks,
            start=found.dag,
            state=state,
            on_checkpoint=on_checkpoint if ended_by is None else None,  # more time: choose again
            seconds=0.0 if first is None else first.seconds,
        )
    if ended_by == "interrupt":
        result = replace(result, stop_reason=ended_by)
    on_end(result.checkpoint if ended_by is None else None, result.stop_reason)
    with defer_interrupts():  # keep the result even if Ctrl-C comes now
        result = _ensure_step(method, problem, result)
        answer = _summarise_chains(method, problem, spec, settings, result, budget)
    return replace(answer, n_candidates=None if first is None else first.n_candidates)


def _ensure_step(method: ChainMethod, problem: Problem, result: SearchResult) -> SearchResult:
    """Return the result with at least a step: of a single round if no step has ended in time."""
    state = result.state
    if not isinstance(state, PosteriorState):
        raise KeyboardInterrupt  # there is nothing to report
    if state.step:
        return result
    after = method.make_search(problem).step_briefly(state)
    return replace(
        result, state=after, dag=problem.make_dag(after.adjacency), score=after.score, generations=1
    )


def _compute_exactly(
    problem: Problem, spec: SearchSpec, settings: PosteriorSettings, found: SearchResult
) -> Posterior:
    """Return the exact posterior, with independent draws from it."""
    began = time.perf_counter()
    weights = make_complete_weights(problem, settings.family_prior)
    sampler = ExactSampler(weights, settings.prior)
    exact = sampler.compute_posterior()
    drawn = sampler.draw_dags(settings.networks, random_stream(spec.seed, DRAWS))
    return Posterior(
        names=problem.names,
        arcs=exact.arcs,
        errors=np.zeros_like(exact.arcs),
        sample=DagSample.from_matrices(problem.names, drawn),
        sampler="exact",
        settings=settings,
        network=found.dag,
        score=found.score,
        scoring=spec.score.name,
        seed=spec.seed,
        seconds=time.perf_counter() - began,
        n_families=weights.n_scored,
        log_evidence=exact.log_evidence,
        dataset=_get_dataset(problem),
    )


def _summarise_chains(
    method: ChainMethod,
    problem: Problem,
    spec: SearchSpec,
    settings: PosteriorSettings,
    result: SearchResult,
    budget: Budget,
) -> Posterior:
    """Return the posterior of chains, from their last state."""
    state = result.state
    assert isinstance(state, PosteriorState)
    chains, names = state.chains, problem.names
    tables = method.make_search(problem).get_tables(state)
    draws = chains.kept_dags.reshape(-1, len(names))
    drawn = (tables.make_adjacency(choice) for choice in draws)  # all at once may not fit
    diagnostics = diagnose_chains(chains)
    arcs = diagnostics.arcs
    time_left = math.inf
    if budget.max_time is not None:  # the measure of what is left out may use some of the grace
        time_left = max(0.0, budget.max_time - result.seconds) + SHARE_OF_GRACE * budget.grace
    try:
        with limit_work_time(measure_work_time() + time_left):
            outside = measure_outside(problem, tables, draws, settings.family_prior)
        is_outside = ~tables.arrays.is_possible & (outside.chance > 0)
        chance = outside.chance / np.maximum(1.0, outside.chance + outside.chance.T)
        chance = np.minimum(chance, 1.0 - arcs.T)  # one direction excludes the other
        left_out = outside.probability
    except OutOfTime:
        is_outside = ~tables.arrays.is_possible & problem.rules.allowed
        chance, left_out = np.zeros_like(arcs), np.full(len(names), np.nan)
    return Posterior(
        names=names,
        arcs=np.where(is_outside, chance, arcs),
        errors=np.where(is_outside, np.nan, diagnostics.standard_error),
        sample=DagSample.from_matrices(names, drawn).thin(settings.networks),
        sampler="chains",
        settings=settings,
        network=result.dag,
        score=result.score,
        scoring=spec.score.name,
        seed=spec.seed,
        seconds=result.seconds,
        n_families=state.evaluations,
        diagnostics=diagnostics,
        trace=chains.kept_trace,
        n_steps=state.step,
        n_moves=chains.n_proposals,
        exchange_rate=chains.exchange_rate,
        stop_reason=result.stop_reason,
        dropped=tables.dropped,
        left_out=left_out,
        dataset=_get_dataset(problem),
    )


def _get_dataset(problem: Problem) -> Dataset | None:
    dataset = problem.scorer.dataset
    return dataset if isinstance(dataset, Dataset) else None
