"""The result of a query: a probability distribution over states of variables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.data.bins import CutPoints
from coevo.data.labels import parse_number
from coevo.data.variable import Variable
from coevo.errors import ParameterError, bad_parameter, format_count, format_list
from coevo.network.elimination import OPERATIONS_PER_MINUTE, Cost
from coevo.network.question import encode_state

__all__ = [
    "Approximation",
    "Distribution",
    "States",
    "average_distributions",
    "describe_approximation",
    "describe_infeasible",
]

States: TypeAlias = str | tuple[str, ...]  # a state, or one state of each variable

MAX_SHOWN = 12  # probabilities in the text form
ROUNDOFF = 1e-12  # of a sum of probabilities


@dataclass(frozen=True, eq=False)
class Approximation:
    """How probabilities were estimated by likelihood weighting, and how large their errors are.

    Parameters
    ----------
    standard_errors : array
        The standard error of each probability, in the form of the probabilities. Read-only.
    n_samples : int
        Number of weighted samples.
    effective_sample_size : float
        Number of samples of equal weight that would be worth as much.
    smallest_order_bytes : int
        Memory in bytes for exact inference with the best of the elimination orders that were tried.
        There may be a smaller order.
    smallest_order_operations : int
        Work of that order: the number of cells of all tables that it computes.
    is_in_memory : bool
        Whether that memory is there. Then the work is the reason for the estimate, and
        ``exact=True`` computes the exact answer.
    """

    standard_errors: NDArray[np.float64]
    n_samples: int
    effective_sample_size: float
    smallest_order_bytes: int
    smallest_order_operations: int = 0
    is_in_memory: bool = False

    def __post_init__(self) -> None:
        self.standard_errors.flags.writeable = False


@dataclass(frozen=True, eq=False, repr=False)
class Distribution(Mapping[States, float]):
    """The distribution of one variable, or the joint distribution of several.

    It is a read-only mapping of states to probabilities, in the order of the states. The keys of a
    joint distribution are tuples with one state of each variable, in the order of `variables`. A
    distribution equals another one with the same variables and exactly the same probabilities. It
    equals a dict if ``to_dict()`` does.

    Parameters
    ----------
    variables : tuple of Variable
        The variables of the distribution.
    probabilities : array
        One axis for each variable, in the order of its states. Read-only; sums to 1.
    approximation : Approximation, optional
        How the probabilities were estimated. None (default) if they are exact.

    Examples
    --------
    >>> coin = Distribution((Variable("coin", ("heads", "tails")),), np.array([0.75, 0.25]))
    >>> coin
    <Distribution of 'coin': {'heads': 0.75, 'tails': 0.25}>
    >>> coin["tails"], "edge" in coin, max(coin, key=coin.get)
    (0.25, False, 'heads')
    >>> dict(coin) == coin.to_dict() == coin
    True
    >>> coin.is_exact, coin.standard_errors.tolist()
    (True, [0.0, 0.0])
    >>> print(coin)
    coin
      0.750000  heads
      0.250000  tails
    """

    variables: tuple[Variable, ...]
    probabilities: NDArray[np.float64]
    approximation: Approximation | None = None

    def __post_init__(self) -> None:
        self.probabilities.flags.writeable = False

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities are exact; else they are estimated."""
        return self.approximation is None

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """The standard error of each probability; 0 if they are exact."""
        if self.approximation is None:
            return np.zeros_like(self.probabilities)
        return self.approximation.standard_errors

    def __getitem__(self, states: States) -> float:
        """Return the probability of a state, or of one state of each variable."""
        state_tuple = (states,) if isinstance(states, str) else states
        if len(state_tuple) != len(self.variables):
            names = ", ".join(repr(variable.name) for variable in self.variables)
            raise ParameterError(f"Give one state for each of {names}; got {states!r}.")
        return float(self.probabilities[tuple(map(encode_state, self.variables, state_tuple))])

    def __contains__(self, states: object) -> bool:
        """Return whether a state, or a tuple of states, is one of the distribution."""
        state_tuple = (states,) if isinstance(states, str) else states
        if not isinstance(state_tuple, tuple) or len(state_tuple) != len(self.variables):
            return False
        pairs = zip(self.variables, state_tuple, strict=True)
        return all(state in variable.states for variable, state in pairs)

    def __iter__(self) -> Iterator[States]:
        if len(self.variables) == 1:
            return iter(self.variables[0].states)
        return itertools.product(*(variable.states for variable in self.variables))

    def __len__(self) -> int:
        return self.probabilities.size

    def get(self, states: Any, default: Any = None) -> Any:
        """Return the probability of a state, or `default` if there is no such state."""
        if states not in self:  # unknown states raise no KeyError, which `Mapping.get` expects
            return default
        return self[states]

    def to_dict(self) -> dict[str, float] | dict[tuple[str, ...], float]:
        """Return the probability of each state, or of each tuple of states."""
        answer: dict[Any, float] = dict(zip(self, self.probabilities.ravel().tolist(), strict=True))
        return answer

    def entropy(self) -> float:
        """Return the entropy in nats: 0 for a certain state, the most for equal probabilities.

        >>> coin = Distribution((Variable("coin", ("heads", "tails")),), np.array([0.5, 0.5]))
        >>> round(coin.entropy(), 6)
        0.693147
        """
        possible = self.probabilities[self.probabilities > 0]
        return max(0.0, -math.fsum((possible * np.log(possible)).tolist()))  # not -0.0

    def mean(self, low: float | None = None, high: float | None = None) -> float:
        """Return the mean of a variable whose states are numbers, or bins of numbers.

        Inside a bin every number counts as equally probable. The first and the last bin have no
        outer end. If one of them is possible, `low` or `high` gives that end: the smallest or the
        largest number of the variable.

        >>> age = Variable("age", ("below_20", "from_20_to_60", "from_60"))
        >>> found = Distribution((age,), np.array([0.25, 0.5, 0.25]))
        >>> found.mean(low=0, high=100)
        42.5
        >>> found.mean()
        Traceback (most recent call last):
        coevo.errors.ParameterError: The bin 'below_20' has no lower end. Give the smallest number \
of 'age' as 'low' of mean.
        >>> Distribution((Variable("n", ("1", "2")),), np.array([0.75, 0.25])).mean()
        1.25
        """
        ranges = self._find_ranges(low, high, "mean")
        return math.fsum(
            p * sum(self._check_ends(i, ranges[i], "mean")) / 2
            for i, p in enumerate(self.probabilities.tolist())
            if p > 0
        )

    def quantile(self, q: float, low: float | None = None, high: float | None = None) -> float:
        """Return the number that the variable does not exceed with probability `q`.

        The states are numbers, or bins of numbers, as for `mean`. Of numbers it is the smallest one
        whose cumulative probability is at least `q`. `low` and `high` are needed only if the
        quantile is in the first or in the last bin.

        >>> age = Variable("age", ("below_20", "from_20_to_60", "from_60"))
        >>> found = Distribution((age,), np.array([0.25, 0.5, 0.25]))
        >>> found.quantile(0.5), found.quantile(0.95, high=100)
        (40.0, 92.0)
        """
        if not (is_number(q) and 0 <= q <= 1):
            raise bad_parameter("q", "quantile", "a number from 0 to 1", q)
        ranges = self._find_ranges(low, high, "quantile")
        shares = self.probabilities.tolist()
        possible = sorted((i for i, p in enumerate(shares) if p > 0), key=lambda i: ranges[i])
        below = 0.0
        for i in possible:
            # Sums of probabilities are off by round-off; the last state takes what is missing.
            if (below + shares[i] >= q - ROUNDOFF and q < 1) or i == possible[-1]:
                break
            below += shares[i]
        part = min(1.0, max(0.0, (q - below) / shares[i])) if q < 1 else 1.0
        start, end = ranges[i]
        if part in (0.0, 1.0) and math.isfinite(end if part else start):
            return end if part else start  # the other end does not matter
        start, end = self._check_ends(i, ranges[i], "quantile")
        return start + (end - start) * part

    def _find_ranges(
        self, low: float | None, high: float | None, owner: str
    ) -> list[tuple[float, float]]:
        """Return the range of each state: of a number, the number twice; open ends are infinite."""
        if len(self.variables) > 1:
            names = format_list([variable.name for variable in self.variables])
            raise ParameterError(
                f"A joint distribution has no {owner}. Ask for one variable of {names}."
            )
        for label, end in (("low", low), ("high", high)):
            if end is not None and not is_number(end):
                raise bad_parameter(label, owner, "a number or None", end)
        variable = self.variables[0]
        cuts = CutPoints.from_states(variable.states)
        if cuts is not None:
            return _list_bins(variable, cuts, low, high, owner)
        numbers = [parse_number(state) for state in variable.states]
        if None in numbers:
            state = variable.states[numbers.index(None)]
            raise ParameterError(
                f"{variable.name!r} has no {owner}: its state {state!r} is neither a number nor a "
                "bin of numbers."
            )
        if low is not None or high is not None:
            raise ParameterError(
                f"'low' and 'high' of {owner} are ends of bins, and the states of "
                f"{variable.name!r} are numbers. Leave them out."
            )
        return [(number, number) for number in numbers if number is not None]

    def _check_ends(self, i: int, ends: tuple[float, float], owner: str) -> tuple[float, float]:
        """Return the range of a state; raise `ParameterError` if one of its ends is not known."""
        variable = self.variables[0]
        for end, place, size, label in (
            (ends[0], "lower", "smallest", "low"),
            (ends[1], "upper", "largest", "high"),
        ):
            if math.isinf(end):
                raise ParameterError(
                    f"The bin {variable.states[i]!r} has no {place} end. Give the {size} number of "
                    f"{variable.name!r} as {label!r} of {owner}."
                )
        return ends

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same states with exactly the same probabilities."""
        if isinstance(other, Distribution):
            return self.variables == other.variables and np.array_equal(
                self.probabilities, other.probabilities
            )
        if isinstance(other, Mapping):
            return self.to_dict() == dict(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it holds an array

    def _list_first(self) -> tuple[list[tuple[States, float]], int]:
        """Return the first states with their probabilities, and the number of the others."""
        first = itertools.islice(zip(self, self.probabilities.flat, strict=True), MAX_SHOWN)
        return [(states, float(p)) for states, p in first], max(0, len(self) - MAX_SHOWN)

    def __repr__(self) -> str:
        first, n_others = self._list_first()
        shown = [f"{states!r}: {p:.4g}" for states, p in first]
        shown += [f"... {n_others:,} more"] if n_others else []
        names = ", ".join(repr(variable.name) for variable in self.variables)
        kind = "Distribution" if self.is_exact else "Approximate distribution"
        return f"<{kind} of {names}: {{{', '.join(shown)}}}>"

    def __str__(self) -> str:
        first, n_others = self._list_first()
        lines = [", ".join(variable.name for variable in self.variables)]
        lines += [
            f"  {p:.6f}  {states if isinstance(states, str) else ', '.join(states)}"
            for states, p in first
        ]
        lines += [f"  ... {n_others:,} more"] if n_others else []
        lines += [] if self.is_exact else [describe_approximation([self])]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from coevo.view.picture.notebook import MAX_ROWS, Bar, Table, render_block, render_table

        names = [variable.name for variable in self.variables]
        pairs = zip(self, self.probabilities.flat, strict=True)
        rows = [
            (*((states,) if isinstance(states, str) else states), f"{p:.6f}", Bar(float(p)))
            for states, p in itertools.islice(pairs, MAX_ROWS)
        ]
        table = Table([*names, "probability", ""], rows, numbers={len(names)})
        n_others = len(self) - len(rows)
        more = (
            f", the first {len(rows)} of {format_count(len(self), 'probability', 'probabilities')}"
        )
        caption = f"Distribution of {', '.join(names)}{more if n_others else ''}"
        caption += "" if self.is_exact else f" ({describe_approximation([self])})"
        return render_block(caption, render_table(table))


def _list_bins(
    variable: Variable, cuts: CutPoints, low: float | None, high: float | None, owner: str
) -> list[tuple[float, float]]:
    """Return the ends of each bin, in the order of the states; infinite where none is known."""
    first = -math.inf if low is None else float(low)
    last = math.inf if high is None else float(high)
    points = (first, *cuts.points, last)
    if not (points[0] < points[1] and points[-2] < points[-1]):
        wanted = f"below {points[1]:g}" if points[0] >= points[1] else f"above {points[-2]:g}"
        label, got = ("low", low) if points[0] >= points[1] else ("high", high)
        raise bad_parameter(label, owner, f"{wanted}, which is a cut point of the bins", got)
    ends = dict(zip(cuts.states, pairwise(points), strict=True))
    return [ends[state] for state in variable.states]


def describe_approximation(answers: Iterable[Distribution]) -> str:
    """Return a line about the estimated ones of some answers; empty if all of them are exact.

    >>> coin = Variable("coin", ("heads", "tails"))
    >>> found = Approximation(np.array([0.002, 0.002]), 100_000, 60_000.0, 114_600_000_000)
    >>> describe_approximation([Distribution((coin,), np.array([0.7, 0.3]), found)])
    'approximate: likelihood weighting, 100,000 samples, standard error at most 0.002; the exact \
answer was not feasible with the elimination orders tried (smallest found: 114.6 GB)'
    """
    found = [answer.approximation for answer in answers if answer.approximation is not None]
    if not found:
        return ""
    largest = max(float(each.standard_errors.max()) for each in found)
    cost = Cost(
        max(each.smallest_order_bytes for each in found),
        max(each.smallest_order_operations for each in found),
    )
    is_in_memory = all(each.is_in_memory for each in found)
    return (
        f"approximate: likelihood weighting, {min(each.n_samples for each in found):,} samples, "
        f"standard error at most {_round_up(largest)}; {describe_infeasible(cost, is_in_memory)}"
    )


def describe_infeasible(cost: Cost, is_in_memory: bool, is_part: bool = False) -> str:
    """Return why an answer is not exact. It must not say what the exact answer needs.

    `cost` is that of the best order of the rules that were tried. Nobody proved that it is the best
    of all orders. `is_part` says that it is only a part of what the answer takes.

    >>> describe_infeasible(Cost(10**9, 10**11), is_in_memory=True)
    'the exact answer would take about 23 minutes with the elimination orders tried (smallest \
found: 100.0 billion operations)'
    >>> describe_infeasible(Cost(10**9, 10**11), is_in_memory=True, is_part=True)
    'the exact answer would take more than 23 minutes with the elimination orders tried (more than \
100.0 billion operations)'
    """
    if not is_in_memory:
        return (
            "the exact answer was not feasible with the elimination orders tried (smallest found: "
            f"{cost.n_bytes / 1e9:,.1f} GB)"
        )
    if is_part:
        minutes = format_count(max(1, cost.n_operations // OPERATIONS_PER_MINUTE), "minute")
        return (
            f"the exact answer would take more than {minutes} with the elimination orders tried "
            f"(more than {cost.n_operations / 1e9:,.1f} billion operations)"
        )
    minutes = format_count(max(1, round(cost.n_operations / OPERATIONS_PER_MINUTE)), "minute")
    return (
        f"the exact answer would take about {minutes} with the elimination orders tried "
        f"(smallest found: {cost.n_operations / 1e9:,.1f} billion operations)"
    )


def _round_up(number: float) -> str:
    """Return a number with one significant digit, rounded up."""
    digits = 1 - math.ceil(math.log10(number))
    return f"{math.ceil(round(number * 10**digits, 6)) / 10**digits:.{max(0, digits)}f}"


def average_distributions(answers: Sequence[tuple[float, Distribution]]) -> Distribution:
    """Return the weighted mean of distributions of the same variables.

    The mean of exact distributions is exact. Estimates may share their random numbers, so the
    standard error of their mean is at most the mean of their standard errors.
    """
    first = answers[0][1]
    mean = np.asarray(sum(weight * answer.probabilities for weight, answer in answers))
    found = [answer.approximation for _, answer in answers if answer.approximation is not None]
    if not found:
        return Distribution(first.variables, mean)
    errors = np.asarray(sum(weight * answer.standard_errors for weight, answer in answers))
    return Distribution(
        first.variables,
        mean,
        Approximation(
            errors,
            min(each.n_samples for each in found),
            min(each.effective_sample_size for each in found),
            max(each.smallest_order_bytes for each in found),
            max(each.smallest_order_operations for each in found),
            all(each.is_in_memory for each in found),
        ),
    )
