"""The third species in its plain form: completions that maximise the score, under CCGA.

This is what the 2011 paper proposes: a third subpopulation holds the missing cells, and an
individual of it is worth the score of the table that it completes, with its partners. A
generation of completions: tournaments of two; pairs exchange whole rows; some cells change
at random; then each cell takes the state that the partner, the best structure, scores best
(counts follow each change, nothing is counted again); the best of before stays. Orders and
masks evolve on the best completion (`coevo.search.ccga`).

It is here to be compared with. A table that maximises the score of a structure is more regular
than the rows that it was made from: under it every arc of the structure looks stronger than
it is, right or wrong. With 20 % of the cells missing it scores 700 nats more than the complete
rows do (``benchmarks/README.md``). `coevo.missing.evolve` is the form that works.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from coevo.data import Codes
from coevo.missing.gibbs_kernels import add_rows, climb_cells
from coevo.missing.imputations import Adjacency, Imputations, family_tables
from coevo.missing.policy_checkpoint import Clock, Stage
from coevo.missing.policy_input import PolicyInput, PolicyOutput
from coevo.randomness import random_stream
from coevo.score import FamilyScorer, K2Score
from coevo.search import CCGA, Budget, CCGAState, Checkpoint, Problem, SearchResult
from coevo.search.operators import select_by_tournament

__all__ = ["climbed", "evolve_plain"]

N_IMPUTATIONS = 10
GENERATIONS = 10  # of orders and masks, between two generations of completions
MUTATION = 0.01  # the chance of a cell to change at random
STREAM = 3  # first key of the random streams that breed completions


@dataclass(frozen=True)
class _Generation(Stage):
    """A generation of completions, and where orders and masks are that meet it."""

    policy = "evolve, plain"

    scores: NDArray[np.float64]  # of the completions; -inf before they have met a structure
    generation: int  # of orders and masks


def evolve_plain(inputs: PolicyInput, method: CCGA) -> PolicyOutput:
    """Evolve orders, masks and completions, each for the highest score with the others."""
    limit = inputs.spec.budget
    limit = limit if limit.is_bounded else replace(method.default_budget, target=limit.target)
    completions = Imputations(inputs.table, N_IMPUTATIONS, inputs.seed, inputs.make_threads())
    clock, start = Clock(inputs.resume_from), inputs.resume_from
    own = _begin(completions, start)
    scorer = _scorer(inputs, completions, own)
    while True:
        until = inputs.with_search(budget=_until(limit, own.generation + GENERATIONS))
        result = until.run(scorer, start, own, clock.seconds())
        is_over = result.stop_reason != "generations" or _is_spent(limit, result)
        if is_over or result.state is None:
            return PolicyOutput(result, scorer, completions, [result.dag.adjacency()], own)
        reached = Checkpoint(result.state, result.history)
        scores = _bred(own, completions, result, inputs)
        own = _Generation(
            number=own.number + 1,
            n_drawn=completions.n_drawn,
            cells=completions.cells,
            scores=scores,
            generation=result.generations,
        )
        scorer = _scorer(inputs, completions, own)
        start = _rescored(reached, method, Problem.from_scorer(scorer, inputs.spec.constraints))


def _begin(completions: Imputations, reached: Checkpoint | None) -> _Generation:
    """Return the first generation of completions, or the one to go on with."""
    if reached is None:
        scores = np.full(N_IMPUTATIONS, -np.inf)
        return _Generation(0, completions.n_drawn, completions.cells, scores, 0)
    own = _Generation.of(reached.extra_arrays)
    completions.put(own.cells, own.n_drawn)
    return own


def _scorer(inputs: PolicyInput, completions: Imputations, own: _Generation) -> FamilyScorer:
    """Return what judges orders and masks: the best completion."""
    best = completions.codes[int(own.scores.argmax())]
    return inputs.make_scorer(inputs.table.make_dataset(best))


def _rescored(reached: Checkpoint, method: CCGA, problem: Problem) -> Checkpoint:
    """Return where orders and masks are, on another completion; their history goes on."""
    assert isinstance(reached.state, CCGAState)
    return replace(reached, state=method.make_search(problem).rescore(reached.state))


def _until(limit: Budget, generation: int) -> Budget:
    """Return the budget up to a generation, or to the limit if that comes first."""
    most = generation if limit.max_generations is None else min(generation, limit.max_generations)
    return replace(limit, max_generations=most)


def _is_spent(limit: Budget, result: SearchResult) -> bool:
    return limit.max_generations is not None and result.generations >= limit.max_generations


def _scores(inputs: PolicyInput, codes: list[Codes], result: SearchResult) -> NDArray[np.float64]:
    """Return what the best structure scores on each completion."""
    datasets = [inputs.table.make_dataset(own) for own in codes]
    return np.array([inputs.make_scorer(dataset).score(result.dag) for dataset in datasets])


def _bred(
    own: _Generation, completions: Imputations, result: SearchResult, inputs: PolicyInput
) -> NDArray[np.float64]:
    """Put the next generation in the place of the completions; return what they score."""
    scores = own.scores
    if own.number == 0:  # they had met no structure
        scores = _scores(inputs, completions.codes, result)
    rng = random_stream(inputs.seed, STREAM, own.generation)
    children = _children(rng, completions, scores, result.dag.adjacency(), inputs)
    earned = _scores(inputs, children, result)
    completions.codes, scores = _replaced(completions.codes, scores, children, earned)
    return scores


def _children(
    rng: Generator,
    completions: Imputations,
    scores: NDArray[np.float64],
    partner: Adjacency,
    inputs: PolicyInput,
) -> list[Codes]:
    """Return as many children: selected, crossed by rows, changed a little, and climbed."""
    arities = inputs.table.dataset.arities
    holes, n_rows = completions.holes, inputs.table.n_rows
    children = []
    selected = select_by_tournament(rng, scores)
    for one, two in zip(selected, rng.permutation(selected), strict=True):
        from_one = rng.random(n_rows) < 0.5
        child: Codes = np.where(from_one, completions.codes[one], completions.codes[two])
        changed = rng.random(len(holes)) < MUTATION
        variables, rows = holes.variables[changed], holes.rows[changed]
        child[variables, rows] = rng.integers(arities[variables])
        children.append(climbed(child, completions, partner, inputs, 1))
    return children


def climbed(
    codes: Codes, completions: Imputations, partner: Adjacency, inputs: PolicyInput, n_sweeps: int
) -> Codes:
    """Return a completion after each cell took the state that scores best, so many times."""
    prior = 1.0 if isinstance(inputs.spec.score, K2Score) else None
    tables = family_tables(partner, inputs.table.dataset.arities, prior)
    own: Codes = codes.copy()
    add_rows(tables, own)
    for _ in range(n_sweeps):
        if not climb_cells(tables, own, completions.holes.variables, completions.holes.rows):
            break
    return own


def _replaced(
    old: list[Codes],
    old_scores: NDArray[np.float64],
    children: list[Codes],
    earned: NDArray[np.float64],
) -> tuple[list[Codes], NDArray[np.float64]]:
    """Return the best of before and all children but the worst, with their scores."""
    elite, worst = int(old_scores.argmax()), int(earned.argmin())
    kept = [i for i in range(len(children)) if i != worst]
    scores = np.concatenate([old_scores[elite : elite + 1], earned[kept]])
    return [old[elite], *(children[i] for i in kept)], scores
