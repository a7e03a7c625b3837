"""Choose the families of the chains by measurement: candidates first, then families beside them.

The candidates that an archive ranks first are a guess. Short chains over orders draw networks from
their tables, and `coevo.posteriors.outside` measures how probable other parents are beside these
networks. The more probable ones take the place of the least probable candidates. After three rounds
of this the most probable families that still have a parent outside the candidates are kept one by
one. Only tables of children whose candidates have changed are scored again.

Each round ends with a complete choice of families, so the choice can end early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coevo.posteriors.chain_state import ChainSettings
from coevo.posteriors.chain_tables import prepare_tables
from coevo.posteriors.chains import draw_roughly
from coevo.posteriors.family_weights import FamilyWeights, ParentSets, make_family_weights
from coevo.posteriors.outside import choose_families, exchange_candidates, measure_outside
from coevo.search.base import Problem

__all__ = ["improve_weights"]

ROUNDS = 3  # in which candidates are exchanged
REFINEMENT = 1 << 61  # in place of the number of a step, the key of their random numbers


def improve_weights(
    problem: Problem,
    candidates: Sequence[NDArray[np.int64]],
    family_prior: str,
    settings: ChainSettings,
    starts: NDArray[np.bool_] | None,
    seed: int,
) -> Iterator[tuple[FamilyWeights, ParentSets]]:
    """Yield the weights of the first candidates' families, then the better ones of each round.

    With them come the parent sets beside the candidates. The parameters are those of
    `start_chains`, and the first candidates.
    """
    weights = make_family_weights(problem, candidates, family_prior)
    n = problem.n_variables
    yield weights, ParentSets.make_empty(n)
    n_allowed = problem.rules.allowed.sum(axis=0)
    if all(len(candidates[child]) == n_allowed[child] for child in range(n)):
        return  # nothing is left out
    warm_up, n_scored = settings.count_warm_up(n) // 2, weights.n_scored
    short = replace(settings, prior="order", warm_up=warm_up)
    outside = ParentSets.make_empty(n)
    for number in range(ROUNDS + 1):
        tables = prepare_tables(weights)
        key = (seed, REFINEMENT, number)
        rough = draw_roughly(tables, short, starts, key, problem.scorer.threads)
        found = measure_outside(problem, tables, rough.dags, family_prior)
        chosen = weights.candidates
        if number < ROUNDS:
            required = problem.rules.required
            chosen = tuple(exchange_candidates(chosen, rough.arcs, found, required))
        else:
            outside = choose_families(found)
        weights = make_family_weights(problem, chosen, family_prior, outside, weights)
        n_scored += weights.n_scored + len(found.share)
        yield replace(weights, n_scored=n_scored), outside
