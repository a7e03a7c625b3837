"""A network as arrays: what the engine reads.

Variables are numbered by name, so that no answer depends on their order in the network. The arrays
of a network are made at its first question and kept with it, because a network never changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination_order import find_order
from coevo.network.kernels import (
    N_SCOPE_COUNTS,
    RELEVANCE_ROWS,
    EliminationOrder,
    EvidenceCodes,
    NetworkTables,
    Scopes,
    find_scopes,
)

__all__ = ["NumberedNetwork"]

Numbers = NDArray[np.int64]

UNKNOWN = -1


class NumberedNetwork:
    """The variables and tables of a network, by the numbers of the variables.

    Attributes
    ----------
    names : list of str
        All variables, sorted.
    number : dict of str to int
        The number of each variable.
    arity : list of int
        The number of states of each variable.
    tables : NetworkTables
        Families and tables.
    starts : array
        Where the states of each variable begin, if those of all variables are in one row.
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self.names = sorted(variable.name for variable in network.variables)
        self.number = {name: i for i, name in enumerate(self.names)}
        self.arity = [network.variable(name).arity for name in self.names]
        tables = [network.table(name) for name in self.names]
        families = [
            [self.number[member] for member in (*network.parents(name), name)]
            for name in self.names
        ]
        arity = np.array(self.arity, dtype=np.int64)
        self.tables = NetworkTables(
            arity,
            _accumulate(map(len, families)),
            np.array(list(itertools.chain.from_iterable(families)), dtype=np.int64),
            _accumulate(table.size for table in tables),
            np.concatenate([table.ravel() for table in tables]),
        )
        self.starts = _accumulate(self.arity)
        self._start_list = self.starts.tolist()
        # A variable with one state counts as observed: it is no axis of any table.
        self._codes = np.where(arity == 1, 0, UNKNOWN)
        self._no_findings = np.full(len(arity), UNKNOWN), np.empty(0)
        order = [self.number[name] for name in network.dag.topological_order]
        self._topological = np.array(order, dtype=np.int64)

    def encode(
        self, codes: Mapping[str, int], findings: Mapping[str, Sequence[float]]
    ) -> EvidenceCodes:
        """Return evidence for the engine."""
        states = self._codes.copy()
        for name, code in codes.items():
            states[self.number[name]] = code
        if not findings:
            return EvidenceCodes(states, *self._no_findings)
        begins, weights = self._no_findings[0].copy(), list[float]()
        for name, finding in findings.items():
            begins[self.number[name]] = len(weights)
            weights += finding
        return EvidenceCodes(states, begins, np.array(weights))

    def split_states(
        self, values: NDArray[np.float64], names: Iterable[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Return the part of each of some variables, of one number for each state of all."""
        starts = self._start_list
        numbers = {name: self.number[name] for name in names}
        return {name: values[starts[i] : starts[i + 1]] for name, i in numbers.items()}

    def find_order(
        self, evidence: EvidenceCodes, asked: Numbers, is_total: bool, are_last: bool = False
    ) -> tuple[Numbers, EliminationOrder]:
        """Return the tables that a question reads, and an order that sums out their variables.

        With `is_total` the probability of the evidence is asked for. With `are_last` the variables
        that are asked about come last in the order.
        """
        n = len(self.names)
        scopes = Scopes(
            np.empty(n, dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.empty(n + 1, dtype=np.int64),
            np.empty(len(self.tables.family), dtype=np.int64),
            np.empty(N_SCOPE_COUNTS, dtype=np.int64),
        )
        scratch = np.empty((RELEVANCE_ROWS, n), dtype=np.int64)
        find_scopes(self.tables, evidence, self._topological, asked, is_total, scopes, scratch)
        n_families, n_variables = scopes.counts.tolist()
        variables, start = scopes.variables[:n_variables], scopes.start[: n_families + 1]
        is_last = np.zeros(n_variables, dtype=np.bool_)
        if are_last:
            is_last[np.searchsorted(variables, asked)] = True
        found = find_order(
            start,
            scopes.members[: start[-1]],
            self.tables.arity[variables],
            is_last,
            self._sweep(variables),
        )
        order = EliminationOrder(
            variables[found.order], found.clique_start, variables[found.members]
        )
        return scopes.families[:n_families], order

    def _sweep(self, variables: Numbers) -> Iterator[int]:
        """Yield the places of some variables, parents first."""
        place = {v: i for i, v in enumerate(variables.tolist())}
        for v in self._topological.tolist():
            if v in place:
                yield place[v]


def _accumulate(lengths: Iterable[int]) -> Numbers:
    """Return where each of some parts begins, and the end of the last one."""
    return np.array([0, *itertools.accumulate(lengths)], dtype=np.int64)
