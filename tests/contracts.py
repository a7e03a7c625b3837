"""What every search obeys. A method passes if a class that inherits `SearchContract` does.

    class TestHillClimb(SearchContract):
        def method(self, names):
            return HillClimb()

The suite knows nothing of a method but what `coevo.search.base` promises. Its parts are
`SameAnswer` (nothing but data, settings and seed reaches a result), `Endings` (budgets,
callbacks, interrupts), `Starts` (structures to begin with, checkpoints) and `Structures`
(what is found, state by state).
"""

import pytest

from coevo.search import Budget, run_search
from helpers.problems import trajectory

# So that a failure shows its values: these modules hold tests without being called so.
pytest.register_assert_rewrite(
    "contract_answers", "contract_endings", "contract_starts", "contract_structures"
)

from helpers.contract_answers import SameAnswer  # noqa: E402
from helpers.contract_endings import Endings  # noqa: E402
from helpers.contract_starts import Starts  # noqa: E402
from helpers.contract_structures import Structures  # noqa: E402

__all__ = ["SearchContract"]


class SearchContract(SameAnswer, Endings, Starts, Structures):
    """All that a method must pass; a subclass says how the method is made."""

    n_steps = 5  # where a test does not say otherwise

    def method(self, names):
        """Return the method, for data with these variables."""
        raise NotImplementedError

    def run(self, scorer, seed, **options):
        usual = {"budget": Budget(max_generations=self.n_steps), "random_state": seed}
        return run_search(self.method(scorer.dataset.names), scorer, **(usual | options))

    def states(self, problem, seed, n_steps=None):
        """Return the states of a search that no budget stops."""
        method = self.method(problem.names)
        return trajectory(method, problem, seed, self.n_steps if n_steps is None else n_steps)
