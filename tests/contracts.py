"""The contract suite of all search methods. A subclass of `SearchContract` tests one method.

    class TestHillClimb(SearchContract):
        def make_method(self, names):
            return HillClimb()

The suite uses only the interface of `coevo.search.base`. Its parts are `SameAnswer` (a result
depends on data, settings and seed only), `Endings` (budgets, callbacks, interrupts), `Starts`
(start structures, checkpoints) and `Structures` (the structure of each state).
"""

import pytest

from coevo.search import Budget, run_search
from helpers.problems import collect_states

# These modules hold tests without a test name. Register them so that a failure shows its values.
pytest.register_assert_rewrite(
    "contract_answers", "contract_endings", "contract_starts", "contract_structures"
)

from helpers.contract_answers import SameAnswer  # noqa: E402
from helpers.contract_endings import Endings  # noqa: E402
from helpers.contract_starts import Starts  # noqa: E402
from helpers.contract_structures import Structures  # noqa: E402

__all__ = ["SearchContract"]


class SearchContract(SameAnswer, Endings, Starts, Structures):
    """All tests that a method must pass. A subclass makes the method."""

    n_steps = 5  # the default of a test
    scores_batches = True  # it asks for many families at once
    source = None  # the class as MODULE:CLASS or FILE.py:CLASS, of a method from outside coevo

    def make_method(self, names):
        """Return the method for data with these variables."""
        raise NotImplementedError

    def run(self, scorer, seed, **options):
        defaults = {"budget": Budget(max_generations=self.n_steps), "random_state": seed}
        return run_search(self.make_method(scorer.dataset.names), scorer, **(defaults | options))

    def collect_states(self, problem, seed, n_steps=None):
        """Return the states of a search without a budget."""
        method = self.make_method(problem.names)
        return collect_states(method, problem, seed, self.n_steps if n_steps is None else n_steps)
