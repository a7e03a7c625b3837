"""Variable elimination with logarithms: sum or maximise variables out of a network.

Most probable explanations, conditional networks and samples given evidence come from here, and all
answers with numbers below the smallest float; others from `coevo.network.question`, which computes
with probabilities. The tables of the relevant variables become factors, restricted to the evidence.
Factors hold logarithms, so that a product of many small numbers does not underflow to zero. The
variables are then eliminated one by one, in the order that `elimination_order` finds. The axes of a
factor run from the variable that is eliminated last to the one that is eliminated next, so that
factors combine without a transposition.

Summing out can also return, for each variable, its distribution given its separator and the
evidence. The product of these conditionals is the distribution of all variables given the
evidence: another Bayesian network.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination_order import EliminationStep, count_cells, find_steps
from coevo.runtime.memory import check_memory, fits_into_memory

__all__ = [
    "OPERATIONS_PER_MINUTE",
    "Conditionals",
    "Cost",
    "Elimination",
    "argmax_first",
    "broadcast_shape",
    "check_elimination",
    "count_bytes",
    "count_peak",
    "find_relevant",
    "logarithm",
    "make_point",
    "reduce_last_axis",
]

Conditionals = dict[str, NDArray[np.float64]]  # axes: the clique; sums to 1 over the last

BYTES_PER_CELL = 8
MANY_CELLS = 256  # below, one call of NumPy is faster than several
LONG_AXIS = 16  # from here on, the loop of NumPy is as fast
TIE = 1e-10  # logarithms that differ by less are equal up to round-off
MAX_REPORTED = 10**30  # bytes; a message does not report more

# An operation is one cell of a clique that is multiplied and summed in logarithms: 10 to 15 ns on
# a machine of 2024. A plan of `planning` counts what takes as long. Above the limit an answer is
# estimated. A count decides, not a clock: the same question has the same answer on a busy machine.
OPERATIONS_PER_MINUTE = 1 << 32
MAX_OPERATIONS = OPERATIONS_PER_MINUTE
MAXIMISED_OPERATIONS = 3  # for a cell, to find the best state


class Cost(NamedTuple):
    """What exact inference takes with one elimination order."""

    n_bytes: int
    n_operations: int

    @property
    def is_in_memory(self) -> bool:
        """Whether the tables fit into memory."""
        return fits_into_memory(self.n_bytes)

    @property
    def rank(self) -> tuple[bool, int]:
        """What orders costs: one that fits into memory comes first, then the smallest one."""
        return not self.is_in_memory, self.n_operations if self.is_in_memory else self.n_bytes

    @property
    def is_feasible(self) -> bool:
        """Whether the tables fit into memory, and the work takes about a minute at most."""
        return self.is_in_memory and self.n_operations <= MAX_OPERATIONS


class _Factor(NamedTuple):
    scope: tuple[str, ...]  # the variable that is eliminated last comes first
    logs: NDArray[np.float64]


def find_relevant(network: BayesianNetwork, names: Iterable[str]) -> set[str]:
    """Return the variables that can affect a query about `names`: these and their ancestors.

    All other variables are barren: their tables sum to one for any states of their parents.
    """
    start = set(names)
    return start.union(network.dag.ancestors(start))


class Elimination:
    """Some variables of a network, the evidence, and the elimination order of the others.

    The caller checks `measure_cost` before `sum_out` or `maximise`.

    Parameters
    ----------
    network : BayesianNetwork
        The network with the tables.
    evidence : mapping of str to int
        The number of the state of each observed variable.
    among : collection of str
        The variables whose tables are used. It must contain the parents of each of them.
    last : collection of str
        The variables that are eliminated last.
    """

    def __init__(
        self,
        network: BayesianNetwork,
        evidence: Mapping[str, int],
        among: Collection[str],
        last: Collection[str] = (),
    ) -> None:
        self._network = network
        self.arity = {v.name: v.arity for v in network.variables}
        # A variable with one state counts as observed. Every axis then has at least two states, so
        # a table that fits into memory never exceeds the number of axes that NumPy allows.
        single = {name: 0 for name, arity in self.arity.items() if arity == 1}
        self.observed = {**single, **evidence}
        self._among = sorted(among)
        self._scopes = {node: self._find_scope(node) for node in self._among}
        order = network.dag.topological_order
        self.steps = find_steps(self._scopes.values(), self.arity, last, order)
        self._position = {step.variable: i for i, step in enumerate(self.steps)}

    def _find_scope(self, node: str) -> tuple[str, ...]:
        names = (*self._network.parents(node), node)
        return tuple(name for name in names if name not in self.observed)

    def sum_out(self, keep: Collection[str] = ()) -> tuple[float, Conditionals]:
        """Sum all variables out.

        Returns
        -------
        tuple of float and dict
            The logarithm of the probability of the evidence. For each variable in `keep`, its
            distribution given its separator and the evidence; it is uniform for impossible
            states of the separator.
        """
        conditionals: Conditionals = {}

        def sum_step(step: EliminationStep, logs: NDArray[np.float64]) -> NDArray[np.float64]:
            top = reduce_last_axis(np.maximum, logs)
            top[np.isneginf(top)] = 0.0
            logs -= top[..., None]
            np.exp(logs, out=logs)
            total = reduce_last_axis(np.add, logs)
            if step.variable in keep:
                logs[total == 0] = 1.0
                logs /= np.where(total > 0, total, logs.shape[-1])[..., None]
                conditionals[step.variable] = logs
            return logarithm(total) + top

        return self._eliminate(sum_step), conditionals

    def maximise(self, targets: Collection[str] | None = None) -> tuple[float, dict[str, int]]:
        """Find the jointly most probable states of variables; ties go to the first state.

        `targets` are the variables to maximise (default: all). They must be eliminated last: the
        others are summed out before, because sums and maxima do not commute.

        Returns
        -------
        tuple of float and dict
            The logarithm of the joint probability of these states and the evidence, and the
            number of the state of each of these variables that is not observed.
        """
        best: dict[str, NDArray[np.integer]] = {}

        def maximise_step(step: EliminationStep, logs: NDArray[np.float64]) -> NDArray[np.float64]:
            if targets is not None and step.variable not in targets:
                top = reduce_last_axis(np.maximum, logs)
                top[np.isneginf(top)] = 0.0
                logs -= top[..., None]
                return logarithm(reduce_last_axis(np.add, np.exp(logs, out=logs))) + top
            codes = argmax_first(logs)
            best[step.variable] = codes.astype(np.min_scalar_type(logs.shape[-1]))
            chosen: NDArray[np.float64] = np.take_along_axis(logs, codes[..., None], axis=-1)
            return chosen[..., 0]

        log_probability = self._eliminate(maximise_step)
        codes: dict[str, int] = {}
        for step in reversed(self.steps):
            if step.variable not in best:
                break  # it was summed out, as all variables before it
            separator_codes = tuple(codes[name] for name in step.separator)
            codes[step.variable] = int(best[step.variable][separator_codes])
        return log_probability, codes

    def _eliminate(
        self, run_step: Callable[[EliminationStep, NDArray[np.float64]], NDArray[np.float64]]
    ) -> float:
        """Eliminate all variables; return the logarithm of the remaining constant.

        `run_step` takes a step and the product of the factors of its clique, which it may
        overwrite. It returns the factor of the separator.
        """
        constant = 0.0
        buckets: dict[str, list[_Factor]] = defaultdict(list)
        for node in self._among:
            factor = self._make_factor(node)
            if factor.scope:
                buckets[factor.scope[-1]].append(factor)
            else:
                constant += float(factor.logs)
        for step in self.steps:
            logs = np.zeros([self.arity[name] for name in step.clique])
            for factor in buckets.pop(step.variable):
                logs += factor.logs.reshape(broadcast_shape(factor.scope, step.clique, self.arity))
            message = run_step(step, logs)
            if step.separator:
                buckets[step.separator[-1]].append(_Factor(step.separator, message))
            else:
                constant += float(message)
        return constant

    def _make_factor(self, node: str) -> _Factor:
        """Return the logarithms of a table, restricted to the observed states."""
        names = [*self._network.parents(node), node]
        names = [name for name in names if self.arity[name] > 1]
        table = self._network.table(node).reshape([self.arity[name] for name in names])
        restricted = table[tuple(self.observed.get(name, slice(None)) for name in names)]
        scope = self._scopes[node]
        axes = sorted(range(len(scope)), key=lambda i: -self._position[scope[i]])
        return _Factor(
            tuple(scope[i] for i in axes), logarithm(np.asarray(restricted).transpose(axes))
        )

    def count_bytes(self, keep: Collection[str] = (), is_maximised: bool = False) -> int:
        """Return the most bytes that `sum_out` or `maximise` needs at one time; at most a limit.

        That is all factors; the messages that are not yet used; the largest clique three times, for
        the product and its sums; and each conditional to keep twice. To maximise keeps, for each
        message, the number of the best state.
        """

        def count(names: Iterable[str]) -> int:
            return math.prod(self.arity[name] for name in names)

        n_cells = count_peak(self.steps, self.arity, 3)
        n_cells += sum(count(scope) for scope in self._scopes.values())
        n_cells += 2 * sum(count(step.clique) for step in self.steps if step.variable in keep)
        if is_maximised:
            n_cells += sum(count(step.separator) for step in self.steps) // 4  # 1 or 2 bytes each
        return count_bytes(n_cells)

    def measure_cost(self, keep: Collection[str] = (), is_maximised: bool = False) -> Cost:
        """Return the bytes and the operations of `sum_out` or `maximise`."""
        n_operations = (MAXIMISED_OPERATIONS if is_maximised else 1) * count_cells(
            self.steps, self.arity
        )
        return Cost(self.count_bytes(keep, is_maximised), n_operations)


def check_elimination(n_bytes: int) -> None:
    """Raise `ParameterError` if the tables of an elimination need too much memory.

    The sentence is about the order that was found. Nobody proved that there is no smaller one.
    """
    check_memory(
        n_bytes,
        "Exact inference with the best elimination order found",
        "Give more evidence, or use a machine with more memory.",
    )


def count_peak(steps: Iterable[EliminationStep], arity: Mapping[str, int], n_copies: int) -> int:
    """Return the most cells that exist at one time: messages not yet used, and copies of a clique.

    >>> separators = {"a": ("b",), "b": ("c",), "c": ()}
    >>> steps = [EliminationStep(name, others) for name, others in separators.items()]
    >>> count_peak(steps, {"a": 2, "b": 3, "c": 5}, n_copies=3)  # the message to b, and b with c
    48
    """
    waiting: dict[str, int] = defaultdict(int)  # messages, by the step that uses them
    n_waiting = n_most = 0
    for step in steps:
        n_message = math.prod(arity[name] for name in step.separator)
        n_most = max(n_most, n_waiting + n_copies * n_message * arity[step.variable])
        n_waiting -= waiting.pop(step.variable, 0)
        if step.separator:
            n_waiting += n_message
            waiting[step.separator[-1]] += n_message
    return n_most


def count_bytes(n_cells: int) -> int:
    """Return the bytes of a table; of a huge one, the most that a message reports."""
    return min(n_cells * BYTES_PER_CELL, MAX_REPORTED)


def broadcast_shape(
    scope: Collection[str], clique: Iterable[str], arity: Mapping[str, int]
) -> tuple[int, ...]:
    """Return the shape that broadcasts a factor of `scope` to the axes of `clique`."""
    return tuple(arity[name] if name in scope else 1 for name in clique)


def reduce_last_axis(operation: np.ufunc, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Reduce the last axis with a ufunc, as ``operation.reduce(values, axis=-1)`` does.

    On a short axis, NumPy reduces each run of it in a loop of its own. In a large table, one pass
    over all runs for each position is then up to 50 times as fast.

    >>> reduce_last_axis(np.add, np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    if values.shape[-1] >= LONG_AXIS or values.size < MANY_CELLS:
        return np.asarray(operation.reduce(values, axis=-1))
    reduced = np.array(values[..., 0])  # a copy
    for k in range(1, values.shape[-1]):
        operation(reduced, values[..., k], out=reduced)
    return reduced


def argmax_first(logs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the position of the maximum on the last axis; ties go to the first position.

    >>> argmax_first(np.log([[0.1, 0.6, 0.3], [0.1 + 0.2, 0.4, 0.1 + 0.3]])).tolist()
    [1, 1]
    """
    top = reduce_last_axis(np.maximum, logs)
    positions: NDArray[np.intp] = (logs >= top[..., None] - TIE).argmax(axis=-1)
    return positions


def make_point(arity: int, code: int) -> NDArray[np.float64]:
    """Return the distribution over `arity` states that is sure of one of them.

    >>> make_point(3, 1).tolist()
    [0.0, 1.0, 0.0]
    """
    point = np.zeros(arity)
    point[code] = 1.0
    return point


def logarithm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms; that of 0 is minus infinity, without a NumPy warning."""
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float64] = np.log(values)
    return np.asarray(logs)
