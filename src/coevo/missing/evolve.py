"""The third species: imputations that are drawn, and the maximising form of the 2011 paper.

The third species: imputations of the table that evolve together with orders and masks.

The 2011 paper proposes a third subpopulation for missing values. Like the other two, it is
evaluated by the score of the imputed table. Maximising this score rewards imputations that are too
regular (the second half of this module implements and measures that). Here the third species is
*drawn* instead. An imputation is drawn from its posterior distribution under its partner, a
structure (`coevo.missing.imputations`). The score of a structure is its mean score over all
imputations (`coevo.missing.scorers`). Each species can then correct the errors of the
others:

- Each imputation has its own partner, from the best structures of the orders. If one of these
  structures lacks an arc, the dependence is weak in the values drawn under it, not in all values.
- The tables of a structure are averaged over their posterior distribution, so an imputation is as
  irregular as the observed part of the table.
- The first structures have too many arcs rather than too few. Values drawn without an arc do not
  show the dependence, so a structure that lacks an arc keeps lacking it (Insurance, 20 % of the
  values missing depending on another column, seven masks: 102 nats below the best instead of 42).
  Therefore the first structures are learned from tables with the most probable states imputed,
  which overstates arcs. Values drawn later remove what was overstated.
- Orders and masks survive a redraw of the imputations. The families of the archive are scored
  again on the new imputations, and the search continues from the current orders
  (`CCMASearch.rescore`).
- The last imputations stay, and the search ends on them: all structures are compared on the same
  values.

A large table (more than 2**25 for rows times the square of variables) has four imputations instead
of ten, and its last search ends earlier. The size decides, not the time, so the answer is the same
on every machine.

For methods without species (hill climbing, tabu, K2, PC, MMHC), imputations cooperate in the same
way with the structure that hill climbing finds on them. The method itself runs at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.data import Codes
from coevo.missing.imputations import (
    Adjacency,
    Imputations,
    add_rows,
    impute_codes,
    impute_most_common,
    make_family_tables,
    maximise_values,
)
from coevo.missing.policy_checkpoint import Clock, ImputedCodes, Stage
from coevo.missing.policy_input import PolicyInput, PolicyOutput
from coevo.runtime.randomness import random_stream
from coevo.score import FamilyScorer, K2Score
from coevo.search import (
    CCGA,
    CCMA,
    Budget,
    CCGAState,
    CCMAState,
    Checkpoint,
    HillClimb,
    Problem,
    SearchResult,
)
from coevo.search.base import SCORES, Array, Flag, Number, Schema
from coevo.search.ccma import CCMASearch
from coevo.search.operators import select_by_tournament

__all__ = ["N_IMPUTATIONS", "evolve", "evolve_maximising", "maximise_imputation"]


# The third species as the 2011 paper proposes it: imputations that maximise the score, under CCGA.
#
# In the paper a third subpopulation holds the missing values. The score of an individual is that
# of its imputed table, with its partners from the other species. One generation of imputations:
#
# 1. Tournaments of two select individuals.
# 2. Crossover: pairs exchange complete rows.
# 3. Mutation: some imputed values change at random.
# 4. Local search: each missing value takes the state with the highest score under the partner, the
#    best structure. The counts are updated with each change; no family is counted again.
# 5. Elitism: the best individual of the last generation replaces the worst child.
#
# Orders and masks evolve on the best imputation (`coevo.search.ccga`).
#
# This form is here for comparison. A table that maximises the score of a structure is more regular
# than the rows it was made from. Under it every arc of the structure looks stronger than it is,
# right or wrong. With 20 % of the values missing, it scores 700 nats more than the complete rows
# do (``benchmarks/README.md``). The first half is the form that works.


N_IMPUTATIONS = 10
MAXIMISING_GENERATIONS = 10  # of orders and masks, between two generations of imputations
MUTATION_RATE = 0.01  # the probability that an imputed value changes at random
MAXIMISING_STREAM = 3  # first key of the random streams that breed imputations

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
        stage_budget = _limit_generations(budget, stage.generation + MAXIMISING_GENERATIONS)
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
    rng = random_stream(inputs.seed, MAXIMISING_STREAM, stage.generation)
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


N_IMPUTATIONS_LARGE = 4  # the same for a large table, whose families are counted precisely
LARGE = 1 << 25  # rows times the square of the variables
FIRST_ROUNDS = 3  # stages on the most probable states, before any values are drawn
EPOCHS = 8  # stages on drawn values, each with new draws
SWEEPS = 10  # over all missing values, for each redraw
FIRST_GENERATIONS = 5  # of orders and masks, in the first stage
GENERATIONS = 3  # of orders and masks, in every later stage but the last
STREAM = 2  # first key of the random streams that rescore orders and masks
EARLY_SHARE = 0.5  # of the budget, for all stages before the last
LAST_BUDGET = Budget(patience=15)  # of the last stage, if the user sets no limit
LAST_BUDGET_LARGE = Budget(patience=8)
NO_GENERATION = -1  # the generation of the first stage, which has no earlier search


def evolve(inputs: PolicyInput) -> PolicyOutput:
    """Evolve imputations together with structures, and search on the last imputations.

    Under CCGA, the method of the paper, the third species has the form of the paper.
    """
    if isinstance(inputs.spec.method, CCGA):
        return evolve_maximising(inputs, inputs.spec.method)
    if isinstance(inputs.spec.method, CCMA):
        return _EvolveWithCCMA(inputs).run()
    return _EvolveWithHillClimb(inputs).run()


@dataclass(frozen=True)
class _Epoch(Stage):
    """A stage: first on the most probable states, later on drawn values.

    `most_probable` is empty if the stage searches on drawn values.
    """

    policy = "evolve"
    schema: ClassVar[Schema] = {
        "number": Number(0, FIRST_ROUNDS + EPOCHS - 1),
        "n_draws": Number(),
        "generation": Number(NO_GENERATION),
        "is_last": Flag(),
    }

    generation: int  # at the start of the search
    is_last: bool
    most_probable: ImputedCodes  # (n_missing,) or empty


class _EvolveWithHillClimb:
    """The policy for methods without species: hill climbing finds the partners of imputations."""

    def __init__(self, inputs: PolicyInput) -> None:
        table = inputs.table
        self.inputs, self._clock = inputs, Clock(inputs.resume_from)
        self._is_large = table.n_rows * table.n_variables**2 > LARGE
        n = N_IMPUTATIONS_LARGE if self._is_large else N_IMPUTATIONS
        self._imputations = Imputations(table, n, inputs.seed, inputs.make_threads())

    def run(self) -> PolicyOutput:
        """Run all stages; return the result of the last one."""
        before: SearchResult | Checkpoint | None
        stage, before = self._start_or_resume()
        while True:
            scorer = self._make_scorer(stage)
            result = self._search(stage, scorer, before)
            if stage.is_last or result.stop_reason in ("callback", "interrupt"):
                break
            next_stage = self._make_next_stage(stage, scorer, result)
            if self.inputs.is_stopped():  # the next stage has no result yet
                break
            stage, before = next_stage, result
        method = self.inputs.spec.method
        result = replace(result, method=method.name, settings=method.settings)
        partners = self._select_partners(scorer, result)
        return PolicyOutput(result, scorer, self._imputations, partners, stage)

    def _start_or_resume(self) -> tuple[_Epoch, Checkpoint | None]:
        """Return the first stage, or the stage of the checkpoint."""
        resume_from, imputations = self.inputs.resume_from, self._imputations
        if resume_from is None:
            missing_values = imputations.missing_values
            most_common = impute_most_common(self.inputs.table)
            values = most_common[missing_values.variables, missing_values.rows]
            return self._make_stage(0, NO_GENERATION, most_probable=values), None
        stage = _Epoch.from_arrays(resume_from.extra_arrays)
        imputations.restore(stage.imputed_codes, stage.n_draws)
        if stage.number < FIRST_ROUNDS:
            imputations.check_codes(stage.most_probable, "most_probable")
        return stage, resume_from

    def _make_next_stage(self, stage: _Epoch, scorer: FamilyScorer, result: SearchResult) -> _Epoch:
        """Draw missing values under the structures found; return the next stage."""
        partners, generation = self._select_partners(scorer, result), result.generations
        if stage.number < FIRST_ROUNDS - 1 and not self._is_early_share_spent(result):
            estimated = self._imputations.estimate_probabilities(partners[:1], SWEEPS)
            values = estimated.most_probable_codes
            return self._make_stage(stage.number + 1, generation, most_probable=values)
        number = max(stage.number + 1, FIRST_ROUNDS)
        self._imputations.redraw(partners, SWEEPS)
        is_last = number == FIRST_ROUNDS + EPOCHS - 1 or self._is_early_share_spent(result)
        return self._make_stage(number, generation, is_last)

    def _make_stage(
        self,
        number: int,
        generation: int,
        is_last: bool = False,
        most_probable: ImputedCodes | None = None,
    ) -> _Epoch:
        dtype = self.inputs.table.dataset.codes.dtype
        return _Epoch(
            number=number,
            n_draws=self._imputations.n_draws,
            imputed_codes=self._imputations.imputed_codes,
            generation=generation,
            is_last=is_last,
            most_probable=np.array([] if most_probable is None else most_probable, dtype),
        )

    def _make_scorer(self, stage: _Epoch) -> FamilyScorer:
        """Return the scorer of the structures in a stage."""
        if stage.number >= FIRST_ROUNDS:
            return self.inputs.make_expected_scorer(self._imputations.make_datasets())
        table = self.inputs.table
        codes = impute_codes(table, self._imputations.missing_values, stage.most_probable)
        return self.inputs.make_scorer(table.make_dataset(codes))

    def _is_early_share_spent(self, result: SearchResult) -> bool:
        """Return whether the stages before the last have used up their share of the budget."""
        budget = self.inputs.spec.budget
        max_time = math.inf if budget.max_time is None else budget.max_time
        max_generations = math.inf if budget.max_generations is None else budget.max_generations
        time_share = self._clock.measure_seconds() / max(max_time, 1e-9)
        generation_share = result.generations / max(max_generations, 1)
        return max(time_share, generation_share) >= EARLY_SHARE

    def _search(
        self, stage: _Epoch, scorer: FamilyScorer, before: SearchResult | Checkpoint | None
    ) -> SearchResult:
        """Run hill climbing; in the last stage, run the method that the user chose."""
        inputs, seconds = self.inputs, self._clock.measure_seconds()
        resume_from = before if isinstance(before, Checkpoint) else None
        if stage.is_last:
            return inputs.run(scorer, resume_from, stage, seconds)
        budget = Budget(max_time=inputs.spec.budget.max_time)
        climb = inputs.with_search(method=HillClimb(), budget=budget)
        return climb.run(scorer, resume_from, stage, seconds)

    def _select_partners(self, scorer: FamilyScorer, result: SearchResult) -> list[Adjacency]:
        """Return the structures under which imputations are drawn."""
        return [result.dag.adjacency()]


class _EvolveWithCCMA(_EvolveWithHillClimb):
    """The policy for CCMA: orders and masks continue from their state in the last stage."""

    def _search(
        self, stage: _Epoch, scorer: FamilyScorer, before: SearchResult | Checkpoint | None
    ) -> SearchResult:
        """Evolve for a few generations; in the last stage, until the budget is spent."""
        state: CCMAState | Checkpoint | None = None
        if isinstance(before, Checkpoint):
            state = before
        elif before is not None and before.state is not None:  # it had time for a generation
            assert isinstance(before.state, CCMAState)
            rng = random_stream(self.inputs.seed, STREAM, before.generations)
            state = self._make_search(scorer).rescore(rng, before.state)
        inputs = self.inputs.with_search(budget=self._choose_budget(stage))
        return inputs.run(scorer, state, stage, self._clock.measure_seconds())

    def _choose_budget(self, stage: _Epoch) -> Budget:
        """Return the budget of the search of a stage."""
        budget = self.inputs.spec.budget
        if stage.is_last:
            default = LAST_BUDGET_LARGE if self._is_large else LAST_BUDGET
            return budget if budget.is_bounded else replace(default, target=budget.target)
        is_first = stage.generation == NO_GENERATION
        limit = FIRST_GENERATIONS if is_first else stage.generation + GENERATIONS
        if budget.max_generations is not None:
            limit = min(limit, budget.max_generations)
        return Budget(max_time=budget.max_time, max_generations=limit)

    def _select_partners(self, scorer: FamilyScorer, result: SearchResult) -> list[Adjacency]:
        """Return the structures of the orders, the best first."""
        if not isinstance(result.state, CCMAState):  # it ended before its first generation
            return super()._select_partners(scorer, result)
        return self._make_search(scorer).rank_structures(result.state)

    def _make_search(self, scorer: FamilyScorer) -> CCMASearch:
        assert isinstance(self.inputs.spec.method, CCMA)
        return self.inputs.spec.method.make_search(
            Problem.from_scorer(scorer, self.inputs.spec.constraints)
        )
