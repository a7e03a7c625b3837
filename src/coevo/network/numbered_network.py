"""A network as arrays: what the engine reads.

Variables are numbered by name, so that no answer depends on their order in the network. The arrays
of a network are made at its first question and kept with it, because a network never changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination_kernels import EliminationOrder
from coevo.network.elimination_order import find_order
from coevo.network.factor_kernels import EvidenceCodes, NetworkTables

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
        self.parents = [[self.number[p] for p in network.parents(name)] for name in self.names]
        tables = [network.table(name) for name in self.names]
        families = [[*parents, i] for i, parents in enumerate(self.parents)]
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
        self._topological = [self.number[name] for name in network.dag.topological_order]

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

    def find_relevant(self, names: Iterable[str]) -> Numbers:
        """Return some variables and their ancestors; all others are barren."""
        waiting = [self.number[name] for name in names]
        found = set(waiting)
        while waiting:
            for parent in self.parents[waiting.pop()]:
                if parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return np.array(sorted(found), dtype=np.int64)

    def find_order(
        self, families: Numbers, codes: Numbers, last: Sequence[int] = ()
    ) -> EliminationOrder:
        """Return an order that sums out the unobserved variables of some families."""
        start, members = self._find_scopes(families, codes)
        present, own = np.unique(members, return_inverse=True)  # and numbers among these alone
        is_last = np.zeros(len(present), dtype=np.bool_)
        is_last[np.searchsorted(present, last)] = True
        sweep = (i for v in self._topological for i in np.flatnonzero(present == v).tolist())
        found = find_order(start, own, self.tables.arity[present], is_last, sweep)
        return EliminationOrder(present[found.order], found.clique_start, present[found.members])

    def _find_scopes(self, families: Numbers, codes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the unobserved members of families: where those of each begin, and all."""
        begins, members = self.tables.family_start, self.tables.family
        if len(families) < len(self.names):
            lengths = begins[families + 1] - begins[families]
            begins = _accumulate(lengths)
            offsets = np.repeat(self.tables.family_start[families] - begins[:-1], lengths)
            members = members[offsets + np.arange(len(offsets))]
        is_free = codes[members] < 0
        n_free = np.concatenate([[0], np.cumsum(is_free)])
        return n_free[begins], members[is_free]


def _accumulate(lengths: Iterable[int]) -> Numbers:
    """Return where each of some parts begins, and the end of the last one."""
    return np.array([0, *itertools.accumulate(lengths)], dtype=np.int64)
