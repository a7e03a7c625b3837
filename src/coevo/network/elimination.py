"""Summing variables out of a network, and maximising them out.

All exact answers come from here. The tables of the variables that matter become factors:
what is observed is read off, the rest is kept as logarithms, so that no product of however
many small numbers becomes zero. One variable after another then goes, in the order that
`elimination_order` finds. Axes run from the variable that goes last to the one that goes
next, so that factors fit each other without being turned.

A sum can leave behind, for each variable, its distribution given its separator and the
evidence. Multiplied together these are the distribution of all variables given the
evidence: another Bayesian network.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.memory import check_memory
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination_order import Step, find_steps

__all__ = [
    "Conditionals",
    "Elimination",
    "check_cells",
    "first_best",
    "logarithm",
    "relevant",
    "spread",
]

Conditionals = dict[str, NDArray[np.float64]]  # axes: the clique; sums to 1 over the last

BYTES_A_CELL = 8
TIE = 1e-10  # logarithms that differ by less are equal but for round-off
UNCOUNTED = 10**30  # bytes; whatever needs more need not be told apart


class _Factor(NamedTuple):
    scope: tuple[str, ...]  # what goes last stands first
    logs: NDArray[np.float64]


def relevant(network: BayesianNetwork, names: Iterable[str]) -> set[str]:
    """Return the variables that can matter to `names`: themselves and their ancestors.

    All others are barren: their tables sum to one, whatever their parents are.
    """
    asked = set(names)
    return asked.union(network.dag.ancestors(asked))


class Elimination:
    """Variables of a network, the states of some, and the order in which the others go.

    Parameters
    ----------
    network : BayesianNetwork
        Where the tables come from.
    evidence : mapping of str to int
        The number of the state of each variable that is observed.
    among : collection of str
        The variables whose tables matter; with each of them, its parents.
    last : collection of str
        The variables that go last.
    """

    def __init__(
        self,
        network: BayesianNetwork,
        evidence: Mapping[str, int],
        among: Collection[str],
        last: Collection[str] = (),
    ) -> None:
        self._network = network
        # A variable of one state is always observed; then no table has too many axes either.
        single = {v.name: 0 for v in network.variables if v.arity == 1}
        self.observed = {**single, **evidence}
        self.arity = {v.name: v.arity for v in network.variables}
        self._among = sorted(among)
        self._scopes = {node: self._scope(node) for node in self._among}
        self.steps = find_steps(self._scopes.values(), self.arity, last)
        self._place = {step.variable: i for i, step in enumerate(self.steps)}

    def _scope(self, node: str) -> tuple[str, ...]:
        names = (*self._network.parents(node), node)
        return tuple(name for name in names if name not in self.observed)

    def sum_out(self, keep: Collection[str] = ()) -> tuple[float, Conditionals]:
        """Sum all variables out.

        Returns
        -------
        tuple of float and dict
            The logarithm of the probability of the evidence, and for each variable to keep
            its distribution given its separator and the evidence. Where the separator reads
            what cannot be, that is uniform.
        """
        self._check_size(keep)
        kept: Conditionals = {}

        def out(step: Step, logs: NDArray[np.float64]) -> NDArray[np.float64]:
            top = logs.max(axis=-1, keepdims=True)
            top[np.isneginf(top)] = 0.0
            logs -= top
            np.exp(logs, out=logs)
            total = logs.sum(axis=-1, keepdims=True)
            if step.variable in keep:
                logs[total[..., 0] == 0] = 1.0
                logs /= np.where(total > 0, total, logs.shape[-1])
                kept[step.variable] = logs
            message: NDArray[np.float64] = logarithm(total[..., 0]) + top[..., 0]
            return message

        return self._run(out), kept

    def maximise(self) -> tuple[float, dict[str, int]]:
        """Find the most probable states of all variables, the first of several.

        Returns
        -------
        tuple of float and dict
            The logarithm of the probability of these states and the evidence together, and
            the number of the state of each variable that is not observed.
        """
        self._check_size(())
        best: dict[str, NDArray[np.integer]] = {}

        def out(step: Step, logs: NDArray[np.float64]) -> NDArray[np.float64]:
            codes = first_best(logs)
            best[step.variable] = codes.astype(np.min_scalar_type(logs.shape[-1]))
            chosen: NDArray[np.float64] = np.take_along_axis(logs, codes[..., None], axis=-1)
            return chosen[..., 0]

        log_probability = self._run(out)
        codes: dict[str, int] = {}
        for step in reversed(self.steps):
            place = tuple(codes[name] for name in step.separator)
            codes[step.variable] = int(best[step.variable][place])
        return log_probability, codes

    def _run(self, out: Callable[[Step, NDArray[np.float64]], NDArray[np.float64]]) -> float:
        """Take all variables out in turn; return the logarithm of what is left.

        `out` gets a step and the product of its clique, which it may overwrite, and returns
        the factor of the separator.
        """
        left = 0.0
        buckets: dict[str, list[_Factor]] = defaultdict(list)
        for node in self._among:
            factor = self._factor(node)
            if factor.scope:
                buckets[factor.scope[-1]].append(factor)
            else:
                left += float(factor.logs)
        for step in self.steps:
            logs = np.zeros([self.arity[name] for name in step.clique])
            for factor in buckets.pop(step.variable):
                logs += factor.logs.reshape(spread(factor.scope, step.clique, self.arity))
            message = out(step, logs)
            if step.separator:
                buckets[step.separator[-1]].append(_Factor(step.separator, message))
            else:
                left += float(message)
        return left

    def _factor(self, node: str) -> _Factor:
        """Return the logarithms of a table where the observed variables read as they do."""
        names = [*self._network.parents(node), node]
        names = [name for name in names if self.arity[name] > 1]
        table = self._network.table(node).reshape([self.arity[name] for name in names])
        seen = table[tuple(self.observed.get(name, slice(None)) for name in names)]
        scope = self._scopes[node]
        turned = sorted(range(len(scope)), key=lambda i: -self._place[scope[i]])
        return _Factor(
            tuple(scope[i] for i in turned), logarithm(np.asarray(seen).transpose(turned))
        )

    def _check_size(self, keep: Collection[str]) -> None:
        """Refuse what the machine cannot hold: factors, two cliques, and what is kept twice."""

        def cells(names: Iterable[str]) -> int:
            return math.prod(self.arity[name] for name in names)

        n_cells = sum(cells(scope) for scope in self._scopes.values())
        n_cells += sum(cells(step.separator) for step in self.steps)
        n_cells += 2 * max((cells(step.clique) for step in self.steps), default=0)
        n_cells += 2 * sum(cells(step.clique) for step in self.steps if step.variable in keep)
        check_cells(n_cells)


def check_cells(n_cells: int) -> None:
    """Raise `ParameterError` if tables with so many cells are too large for this machine."""
    check_memory(
        min(n_cells * BYTES_A_CELL, UNCOUNTED),
        "The exact answer",
        "Ask for fewer variables at once, or give more evidence.",
    )


def spread(
    scope: Collection[str], clique: Iterable[str], arity: Mapping[str, int]
) -> tuple[int, ...]:
    """Return the shape in which a factor of `scope` fits the axes of `clique`."""
    return tuple(arity[name] if name in scope else 1 for name in clique)


def first_best(logs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return where the last axis is highest; of several that are equal, the first.

    >>> first_best(np.log([[0.1, 0.6, 0.3], [0.1 + 0.2, 0.4, 0.1 + 0.3]])).tolist()
    [1, 1]
    """
    top = logs.max(axis=-1, keepdims=True)
    found: NDArray[np.intp] = (logs >= top - TIE).argmax(axis=-1)
    return found


def logarithm(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return natural logarithms; that of 0 is minus infinity, without a warning."""
    with np.errstate(divide="ignore"):
        logs: NDArray[np.float64] = np.log(values)
    return np.asarray(logs)
