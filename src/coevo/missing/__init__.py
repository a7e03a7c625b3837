"""Learning from tables with missing cells: the third species, and the policies beside it."""

from coevo.missing.available_scorer import AvailableScorer
from coevo.missing.evolve import N_IMPUTATIONS
from coevo.missing.expected_scorer import ExpectedScorer
from coevo.missing.imputations import Filled, Holes, Imputations
from coevo.missing.imputed_table import ImputedTable, write_imputed
from coevo.missing.policies import (
    POLICIES,
    IncompleteResult,
    check_policy,
    learn_incomplete,
    search_incomplete,
)
from coevo.missing.policy_input import PolicyInput

__all__ = [
    "N_IMPUTATIONS",
    "POLICIES",
    "AvailableScorer",
    "ExpectedScorer",
    "Filled",
    "Holes",
    "Imputations",
    "ImputedTable",
    "IncompleteResult",
    "PolicyInput",
    "check_policy",
    "learn_incomplete",
    "search_incomplete",
    "write_imputed",
]
