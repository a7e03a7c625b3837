"""Learn from tables with missing values: imputations as a third species, and other policies."""

from typing import TYPE_CHECKING

from coevo.lazy_names import import_lazily

if TYPE_CHECKING:
    from coevo.missing.evolve import N_IMPUTATIONS
    from coevo.missing.imputations import ImputationProbabilities, Imputations, MissingValues
    from coevo.missing.imputed_table import ImputedTable, ImputedValue, write_imputed
    from coevo.missing.policies import (
        POLICIES,
        ImputationResult,
        IncompleteResult,
        check_policy,
        learn_incomplete,
        learn_with_policy,
        search_incomplete,
    )
    from coevo.missing.policy_input import PolicyInput
    from coevo.missing.scorers import AvailableScorer, ExpectedScorer
else:
    __getattr__, __dir__ = import_lazily(
        __name__,
        evolve="N_IMPUTATIONS",
        imputations="ImputationProbabilities Imputations MissingValues",
        imputed_table="ImputedTable ImputedValue write_imputed",
        policies=(
            "ImputationResult IncompleteResult POLICIES check_policy learn_incomplete "
            "learn_with_policy search_incomplete"
        ),
        policy_input="PolicyInput",
        scorers="AvailableScorer ExpectedScorer",
    )

__all__ = [
    "N_IMPUTATIONS",
    "POLICIES",
    "AvailableScorer",
    "ExpectedScorer",
    "ImputationProbabilities",
    "ImputationResult",
    "Imputations",
    "ImputedTable",
    "ImputedValue",
    "IncompleteResult",
    "MissingValues",
    "PolicyInput",
    "check_policy",
    "learn_incomplete",
    "learn_with_policy",
    "search_incomplete",
    "write_imputed",
]
