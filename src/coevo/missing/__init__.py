"""Learn from tables with missing values: imputations as a third species, and other policies."""

from coevo.missing.available_scorer import AvailableScorer
from coevo.missing.evolve import N_IMPUTATIONS
from coevo.missing.expected_scorer import ExpectedScorer
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
