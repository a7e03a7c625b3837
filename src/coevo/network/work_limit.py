"""The limit of work: what inference computes by itself, and what only on request.

Everything that eliminates variables knows its cost before it starts. Where the tables do not fit
into memory, there is no exact answer. What takes more than about a minute of work is computed only
if the caller insists: with ``exact=True``, on the command line ``--exact``. A count of operations
decides, not a clock.

Without it, probabilities of variables and of evidence are estimated by likelihood weighting, with
their errors. The following answers have no honest estimate. They are refused with one sentence:

- A most probable explanation is one configuration of many variables. A sample hardly ever has it.
- `explain` compares probabilities that often differ by less than the errors of estimates.
- The known cells of a row are much evidence, with which hardly a weighted sample agrees; and the
  errors of the logarithms of estimates add up over the rows.
- Rows that are drawn given evidence follow the exact distribution.
- `log_probability` is one number without an error; `measure_evidence` has the estimate.
"""

from __future__ import annotations

from typing import Any

from coevo.checks import is_bool
from coevo.errors import ParameterError, bad_parameter
from coevo.network.distribution import describe_infeasible
from coevo.network.elimination import Cost, check_elimination

__all__ = ["WorkLimit", "check_exact", "is_feasible"]


def check_exact(exact: Any, owner: str) -> None:
    """Raise `ParameterError` if the parameter `exact` of a function is no bool."""
    if not is_bool(exact):
        raise bad_parameter("exact", owner, "a bool", exact)


class WorkLimit:
    """The limit of an answer that is never estimated. It may take several eliminations.

    Parameters
    ----------
    what : str
        The answer, as the subject of a sentence.
    exact : bool
        Whether the answer may take as long as it takes.
    way_out : str
        What else than `exact` makes it feasible, as the begin of a sentence.

    Examples
    --------
    >>> limit = WorkLimit("An explanation", exact=False)
    >>> limit.add(Cost(n_bytes=1000, n_operations=1 << 31))
    >>> limit.add(Cost(n_bytes=1000, n_operations=1 << 31))  # a minute in all
    >>> WorkLimit("An explanation", exact=True).add(Cost(1000, 1 << 40))
    """

    def __init__(self, what: str, exact: bool, way_out: str = "Give more evidence") -> None:
        self._what, self._exact, self._way_out = what, exact, way_out
        self._n_operations = 0

    def add(self, cost: Cost, is_all: bool = False) -> None:
        """Count an elimination; raise `ParameterError` if it is too large, or all are together.

        `is_all` says that no other elimination follows, so that the sum is the cost of the answer.
        """
        check_elimination(cost.n_bytes)
        self._n_operations += cost.n_operations
        total = Cost(cost.n_bytes, self._n_operations)
        if not self._exact and not total.is_feasible:
            why = describe_infeasible(total, is_in_memory=True, is_part=not is_all)
            raise ParameterError(
                f"{self._what} is never estimated; {why}. {self._way_out}, or compute the exact "
                "answer with exact=True (--exact)."
            )


def is_feasible(cost: Cost, exact: bool, limit: WorkLimit | None = None) -> bool:
    """Return whether an answer is computed; else it is estimated.

    What must be exact raises `ParameterError` if it does not fit into memory; what is part of an
    answer that is never estimated, also if it exceeds the limit of that.
    """
    if limit is not None:
        limit.add(cost)
        return True
    if exact:
        check_elimination(cost.n_bytes)
    return exact or cost.is_feasible
