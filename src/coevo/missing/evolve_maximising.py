"""The third species as the 2011 paper proposes it: imputations that maximise the score, under CCGA.

In the paper a third subpopulation holds the missing values. The score of an individual is that
of its imputed table, with its partners from the other species. One generation of imputations:

1. Tournaments of two select individuals.
2. Crossover: pairs exchange complete rows.
3. Mutation: some imputed values change at random.
4. Local search: each missing value takes the state with the highest score under the partner, the
   best structure. The counts are updated with each change; no family is counted again.
5. Elitism: the best individual of the last generation replaces the worst child.

Orders and masks evolve on the best imputation (`coevo.search.ccga`).

This form is here for comparison. A table that maximises the score of a structure is more regular
than the rows it was made from. Under it every arc of the structure looks stronger than it is, right
or wrong. With 20 % of the values missing, it scores 700 nats more than the complete rows do
(``benchmarks/README.md``). `coevo.missing.evolve` is the form that works.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.data import Codes
from coevo.missing.gibbs_kernels import add_rows, maximise_values
from coevo.missing.imputations import Adjacency, Imputations, make_family_tables
from coevo.missing.policy_checkpoint import Clock, Stage
from coevo.missing.policy_input import PolicyInput, PolicyOutput
from coevo.randomness import random_stream
from coevo.score import FamilyScorer, K2Score
from coevo.search import CCGA, Budget, CCGAState, Checkpoint, Problem, SearchResult
from coevo.search.operators import select_by_tournament
from coevo.search.state_schema import SCORES, Array, Number, Schema

__all__ = ["evolve_maximising", "maximise_imputation"]

N_IMPUTATIONS = 10
GENERATIONS = 10  # of orders and masks, between two generations of imputations
MUTATION_RATE = 0.01  # the probability that an imputed value changes at random
STREAM = 3  # first key of the random streams that breed imputations

Scores = NDArray[np.float64]  # (n_imputations,), higher is better


@dataclass(frozen=True)
class _Generation(Stage):
    """A generation of imputations."""

    policy = "evolve, maximising"
    schema: ClassVar[Schema] = {
        "number": Number(),
        "n_draws": Number(),
        "scores": Array(np.float64, (N_IMPUTATIONS,), SCORES),
        "generation": Number(),
    }

    scores: Scores  # of the imputations; -inf before the first structure is known
    generation: int  # of orders and masks, at the start of the stage


def evolve_maximising(inputs: PolicyInput, method: CCGA) -> PolicyOutput:
    """Evolve orders, masks and imputations, each for the highest score with the others."""
    budget = inputs.spec.budget
    budget = budget if budget.is_bounded else replace(method.default_budget, target=budget.target)
    imputations = Imputations(inputs.table, N_IMPUTATIONS, inputs.seed, inputs.make_threads())
    clock, resume_from = Clock(inputs.resume_from), inputs.resume_from
    stage = _start_or_resume(imputations, resume_from)
    scorer = _make_scorer(inputs, imputations, stage)
    while True:
        stage_budget = _limit_generations(budget, stage.generation + GENERATIONS)
        stage_inputs = inputs.with_search(budget=stage_budget)
        result = stage_inputs.run(scorer, resume_from, stage, clock.measure_seconds())
        is_over = result.stop_reason != "generations" or _is_spent(budget, result)
        if is_over or result.state is None:
            return PolicyOutput(result, scorer, imputations, [result.dag.adjacency()], stage)
        checkpoint = Checkpoint(result.state, result.history)
        scores = _breed(stage, imputations, result, inputs)
        stage = _Generation(
            number=stage.number + 1,
            n_draws=imputations.n_draws,
            imputed_codes=imputations.imputed_codes,
            scores=scores,
            generation=result.generations,
        )
        scorer = _make_scorer(inputs, imputations, stage)
        problem = Problem.from_scorer(scorer, inputs.spec.constraints)
        resume_from = _rescore(checkpoint, method, problem)


def _start_or_resume(imputations: Imputations, resume_from: Checkpoint | None) -> _Generation:
    """Return the first generation of imputations, or the generation of the checkpoint."""
    if resume_from is None:
        scores = np.full(N_IMPUTATIONS, -np.inf)
        return _Generation(0, imputations.n_draws, imputations.imputed_codes, scores, 0)
    stage = _Generation.from_arrays(resume_from.extra_arrays)
    imputations.restore(stage.imputed_codes, stage.n_draws)
    return stage


def _make_scorer(inputs: PolicyInput, imputations: Imputations, stage: _Generation) -> FamilyScorer:
    """Return the scorer of the best imputation, which also scores orders and masks."""
    best = imputations.codes[int(stage.scores.argmax())]
    return inputs.make_scorer(inputs.table.make_dataset(best))


def _rescore(checkpoint: Checkpoint, method: CCGA, problem: Problem) -> Checkpoint:
    """Return the checkpoint with orders and masks scored on another imputation."""
    assert isinstance(checkpoint.state, CCGAState)
    return replace(checkpoint, state=method.make_search(problem).rescore(checkpoint.state))


def _limit_generations(budget: Budget, generation: int) -> Budget:
    """Return the budget up to a generation, or up to its own limit if that comes first."""
    own_limit = budget.max_generations
    limit = generation if own_limit is None else min(generation, own_limit)
    return replace(budget, max_generations=limit)


def _is_spent(budget: Budget, result: SearchResult) -> bool:
    return budget.max_generations is not None and result.generations >= budget.max_generations


def _score_imputations(inputs: PolicyInput, all_codes: list[Codes], result: SearchResult) -> Scores:
    """Return the score of the best structure on each imputation."""
    datasets = [inputs.table.make_dataset(codes) for codes in all_codes]
    return np.array([inputs.make_scorer(dataset).score(result.dag) for dataset in datasets])


def _breed(
    stage: _Generation, imputations: Imputations, result: SearchResult, inputs: PolicyInput
) -> Scores:
    """Replace the imputations by their next generation; return the new scores."""
    scores = stage.scores
    if stage.number == 0:  # the first generation has no scores yet
        scores = _score_imputations(inputs, imputations.codes, result)
    rng = random_stream(inputs.seed, STREAM, stage.generation)
    children = _make_children(rng, imputations, scores, result.dag.adjacency(), inputs)
    child_scores = _score_imputations(inputs, children, result)
    imputations.codes, scores = _select_survivors(imputations.codes, scores, children, child_scores)
    return scores


def _make_children(
    rng: Generator,
    imputations: Imputations,
    scores: Scores,
    partner: Adjacency,
    inputs: PolicyInput,
) -> list[Codes]:
    """Return as many children as imputations: selected, crossed, mutated and improved."""
    arities = inputs.table.dataset.arities
    missing_values, n_rows = imputations.missing_values, inputs.table.n_rows
    children = []
    selected = select_by_tournament(rng, scores)
    for one, two in zip(selected, rng.permutation(selected), strict=True):
        is_from_one = rng.random(n_rows) < 0.5
        child: Codes = np.where(is_from_one, imputations.codes[one], imputations.codes[two])
        is_mutated = rng.random(len(missing_values)) < MUTATION_RATE
        variables, rows = missing_values.variables[is_mutated], missing_values.rows[is_mutated]
        child[variables, rows] = rng.integers(arities[variables])
        children.append(maximise_imputation(child, imputations, partner, inputs, 1))
    return children


def maximise_imputation(
    codes: Codes, imputations: Imputations, partner: Adjacency, inputs: PolicyInput, n_sweeps: int
) -> Codes:
    """Return an imputation after local search.

    A sweep sets each missing value to the state with the highest score under the partner. There
    are at most `n_sweeps` sweeps; the search stops early when a sweep changes nothing.
    """
    cell_prior = 1.0 if isinstance(inputs.spec.score, K2Score) else None
    tables = make_family_tables(partner, inputs.table.dataset.arities, cell_prior)
    improved = codes.astype(np.uint16)  # the type of the kernels
    add_rows(tables, improved)
    missing_values = imputations.missing_values
    for _ in range(n_sweeps):
        if not maximise_values(tables, improved, missing_values.variables, missing_values.rows):
            break
    return improved.astype(np.uint8) if codes.dtype == np.uint8 else improved


def _select_survivors(
    old: list[Codes], old_scores: Scores, children: list[Codes], child_scores: Scores
) -> tuple[list[Codes], Scores]:
    """Return the best old imputation and all children but the worst, with their scores."""
    elite, worst = int(old_scores.argmax()), int(child_scores.argmin())
    kept = [i for i in range(len(children)) if i != worst]
    scores = np.concatenate([old_scores[elite : elite + 1], child_scores[kept]])
    return [old[elite], *(children[i] for i in kept)], scores
