"""Learning from tables with missing cells: the third species, and the policies beside it."""

from coevo.missing.available_scorer import AvailableScorer
from coevo.missing.completed import Completed, write_completed
from coevo.missing.completions import Completions, Filled, Holes
from coevo.missing.evolve import COMPLETIONS
from coevo.missing.expected_scorer import ExpectedScorer
from coevo.missing.policies import (
    POLICIES,
    IncompleteResult,
    check_policy,
    learn_incomplete,
    search_incomplete,
)
from coevo.missing.question import Question

__all__ = [
    "COMPLETIONS",
    "POLICIES",
    "AvailableScorer",
    "Completed",
    "Completions",
    "ExpectedScorer",
    "Filled",
    "Holes",
    "IncompleteResult",
    "Question",
    "check_policy",
    "learn_incomplete",
    "search_incomplete",
    "write_completed",
]
