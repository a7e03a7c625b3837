"""Structural EM in its hard form, as in R's bnlearn (Friedman 1997; `structural.em`).

A round imputes the most probable state of each missing value given the observed values of its
row, and learns a structure from the imputed table. The policy ends when a structure occurs a
second time. The first round has no structure yet: it imputes the most common state of each column.

Each round treats imputed values as observed values. The uncertainty of an imputed value is lost:
the next structure is learned from the expectations of the last one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo.missing.imputations import Imputations, impute_codes, impute_most_common
from coevo.missing.policy_checkpoint import Clock, ImputedCodes, Stage, make_damage_error
from coevo.missing.policy_input import PolicyInput, PolicyOutput
from coevo.search.base import Array, Number, Schema

__all__ = ["structural_em"]

MAX_ROUNDS = 5  # as in `structural.em`
N_CHAINS = 4  # Gibbs chains that estimate the probabilities of missing values
N_SWEEPS = 25  # of each chain, and as many for burn-in


@dataclass(frozen=True, eq=False)
class _Round(Stage):
    """One round: the imputed values, and the structures of the earlier rounds."""

    policy = "em"
    schema: ClassVar[Schema] = {
        "number": Number(0, MAX_ROUNDS - 1),
        "n_draws": Number(),
        "structures": Array(np.bool_, ("number", "n", "n")),
    }

    most_probable: ImputedCodes  # (n_missing,)
    structures: NDArray[np.bool_]  # (n_rounds, n, n), [parent, child]


def structural_em(inputs: PolicyInput) -> PolicyOutput:
    """Impute and learn in turn, until a structure occurs a second time."""
    table, resume_from = inputs.table, inputs.resume_from
    imputations = Imputations(table, N_CHAINS, inputs.seed, inputs.make_threads())
    missing_values = imputations.missing_values
    clock = Clock(resume_from)
    stage = _start_or_resume(inputs, imputations)
    while True:
        codes = impute_codes(table, missing_values, stage.most_probable)
        scorer = inputs.make_scorer(table.make_dataset(codes))
        result = inputs.run(scorer, resume_from, stage, clock.measure_seconds())
        adjacency, resume_from = result.dag.adjacency(), None
        is_stopped = result.stop_reason in ("callback", "interrupt", "time")
        is_repeated = bool((stage.structures == adjacency).all(axis=(1, 2)).any())
        output = PolicyOutput(result, scorer, imputations, [adjacency], stage)
        if is_stopped or is_repeated or stage.number + 1 == MAX_ROUNDS:
            return output
        estimated = imputations.estimate_probabilities([adjacency], N_SWEEPS)
        if inputs.is_stopped():  # the next round has no result yet
            return output
        stage = _Round(
            number=stage.number + 1,
            n_draws=imputations.n_draws,
            imputed_codes=imputations.imputed_codes,
            most_probable=estimated.most_probable_codes.astype(table.dataset.codes.dtype),
            structures=np.concatenate([stage.structures, adjacency[np.newaxis]]),
        )


def _start_or_resume(inputs: PolicyInput, imputations: Imputations) -> _Round:
    """Return the first round, or the round of the checkpoint."""
    if inputs.resume_from is not None:
        stage = _Round.from_arrays(inputs.resume_from.extra_arrays)
        imputations.restore(stage.imputed_codes, stage.n_draws)
        imputations.check_codes(stage.most_probable, "most_probable")
        if len(stage.structures) and stage.structures.shape[1] != inputs.table.n_variables:
            raise make_damage_error("'structures' must have all variables")
        return stage
    n, missing_values = inputs.table.n_variables, imputations.missing_values
    most_common = impute_most_common(inputs.table)
    return _Round(
        number=0,
        n_draws=imputations.n_draws,
        imputed_codes=imputations.imputed_codes,
        most_probable=most_common[missing_values.variables, missing_values.rows],
        structures=np.empty((0, n, n), dtype=np.bool_),
    )
