"""Exact inference for many rows at once, each with its own unknown variables.

Elimination costs most of its time in Python, and the numbers of one row are few. This module
eliminates the variables of all rows together that need the same steps. For this it takes a row
apart. Unknown variables that have no known descendant are barren and drop out. The others fall
into *components*: two unknown variables are in one component if a chain of unknown variables
connects them, each pair of neighbours in one table. A component with its tables is a small network
by itself, and the known variables in these tables are its evidence. Rows with different unknown
variables often share components. Within a component, rows with equal evidence are computed once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import (
    broadcast_shape,
    check_elimination,
    count_bytes,
    count_peak,
    logarithm,
    reduce_last_axis,
)
from coevo.network.elimination_order import (
    EliminationStep,
    count_cells,
    find_steps,
    iterate_bits,
)

__all__ = ["Component", "RowInference", "RowPlan"]

CELLS_AT_ONCE = 1 << 21  # of the largest table of a component, over all rows of a block
PEAK_AT_ONCE = 16 * CELLS_AT_ONCE  # of all tables that exist at one time: 256 MB
COPIES = 4  # of a clique: the product, its exponentials and their argument, sums and maxima
MAX_KEY = 1 << 62

Codes = NDArray[np.integer]  # (n_rows,), the number of the state in each row
Logs = NDArray[np.float64]


class Component(NamedTuple):
    """Unknown variables that depend on each other, as bit sets of variable numbers."""

    unknown: int
    tables: int  # the variables whose tables contain one of them
    evidence: int  # the known variables in these tables


class RowPlan(NamedTuple):
    """How a component is eliminated, and what it takes for one row."""

    component: Component
    target: str | None
    steps: tuple[EliminationStep, ...]
    n_cells: int  # of all cliques: the operations
    n_most: int  # cells of the largest clique
    n_peak: int  # cells that exist at one time


class _Factor(NamedTuple):
    scope: tuple[str, ...]  # the variable that is eliminated last comes first
    logs: Logs  # first axis: the rows, or one for all rows


class RowInference:
    """A network, prepared for inference in many rows.

    Parameters
    ----------
    network : BayesianNetwork
        The network.
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self._network = network
        self.names = sorted(variable.name for variable in network.variables)
        self.number = {name: i for i, name in enumerate(self.names)}
        self._arity = {variable.name: variable.arity for variable in network.variables}
        families = [(*network.parents(name), name) for name in self.names]
        self._family = [self.make_set(names) for names in families]
        self._logs: dict[int, Logs] = {}  # of the tables that were needed
        self._tables_of = [0] * len(self.names)  # the tables that contain each variable
        for i, members in enumerate(self._family):
            for j in iterate_bits(members):
                self._tables_of[j] |= 1 << i
        self._ancestors = [0] * len(self.names)  # of each variable, and itself
        for name in network.dag.topological_order:
            i = self.number[name]
            self._ancestors[i] = 1 << i
            for parent in network.parents(name):
                self._ancestors[i] |= self._ancestors[self.number[parent]]

    def make_set(self, names: Sequence[str]) -> int:
        """Return variables as a bit set."""
        return sum(1 << self.number[name] for name in names)

    def list_names(self, members: int) -> list[str]:
        """Return the variables of a bit set."""
        return [self.names[i] for i in iterate_bits(members)]

    def iterate_components(self, known: int, target: int | None = None) -> Iterator[Component]:
        """Yield the components of rows with these known variables; of the target alone if given."""
        relevant = self._find_relevant(known, target)
        if target is None:
            yield from self._take_apart(relevant & ~known, known, relevant)
        else:
            yield self._grow(1 << target, relevant & ~known, relevant)

    def iterate_other_components(self, known: int, target: int) -> Iterator[Component]:
        """Yield all components of rows with these known variables but that of the target."""
        relevant = self._find_relevant(known, target)
        own = self._grow(1 << target, relevant & ~known, relevant)
        yield from self._take_apart(relevant & ~known & ~own.unknown, known, relevant)

    def _find_relevant(self, known: int, target: int | None) -> int:
        """Return the known variables, the target and their ancestors."""
        relevant = 0
        for i in iterate_bits(known if target is None else known | 1 << target):
            relevant |= self._ancestors[i]
        return relevant

    def _take_apart(self, left: int, known: int, relevant: int) -> Iterator[Component]:
        """Yield the components of some unknown variables."""
        while left:
            component = self._grow(left & -left, relevant & ~known, relevant)
            left &= ~component.unknown
            yield component

    def _grow(self, start: int, unknown: int, relevant: int) -> Component:
        """Return the component of a variable."""
        found, tables, members, new = start, 0, 0, start
        while new:
            near = 0
            for i in iterate_bits(new):
                near |= self._tables_of[i]
            near &= relevant & ~tables
            tables |= near
            for i in iterate_bits(near):
                members |= self._family[i]
            new = members & unknown & ~found
            found |= new
        return Component(found, tables, members & ~unknown)

    def plan(self, component: Component, target: str | None = None) -> RowPlan:
        """Return how a component is eliminated; a target is eliminated last.

        A component that does not fit into memory raises `ParameterError`.
        """
        last = () if target is None else (target,)
        scopes = [self._find_scope(i, component) for i in iterate_bits(component.tables)]
        steps = find_steps(scopes, self._arity, last, self._network.dag.topological_order)
        n_factors = sum(math.prod(self._arity[name] for name in scope) for scope in scopes)
        n_peak = n_factors + count_peak(steps, self._arity, COPIES)
        check_elimination(count_bytes(n_peak))
        n_most = max(math.prod(self._arity[name] for name in step.clique) for step in steps)
        n_cells = count_cells(steps, self._arity)
        return RowPlan(component, target, steps, n_cells, n_most, n_peak)

    def count_distinct(self, plan: RowPlan, codes: Mapping[str, Codes]) -> int:
        """Return how many rows with these codes differ in the evidence of a component."""
        names = self.list_names(plan.component.evidence)
        if not names:
            return 1
        distinct, _ = self._find_distinct(names, codes, len(codes[names[0]]))
        return len(distinct[names[0]])

    def compute(self, plan: RowPlan, codes: Mapping[str, Codes]) -> Logs:
        """Eliminate a component in rows with these codes of its evidence.

        The caller checks the cost of the plan.

        Returns
        -------
        array
            (n_rows,): the logarithm of the sum over all states of its variables. With a target,
            (n_rows, states): the logarithm of the sum for each state of it.
        """
        component = plan.component
        names = self.list_names(component.evidence)
        n_rows = len(next(iter(codes.values()))) if names else 1
        distinct, place = self._find_distinct(names, codes, n_rows)
        size = max(1, min(CELLS_AT_ONCE // plan.n_most, PEAK_AT_ONCE // plan.n_peak))
        n_distinct = len(next(iter(distinct.values()))) if names else 1
        blocks = [
            self._eliminate(
                component,
                plan.steps,
                {name: column[begin : begin + size] for name, column in distinct.items()},
                plan.target,
            )
            for begin in range(0, n_distinct, size)
        ]
        answer = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return answer if place is None else answer[place]

    def _find_distinct(
        self, names: Sequence[str], codes: Mapping[str, Codes], n_rows: int
    ) -> tuple[dict[str, Codes], NDArray[np.intp] | None]:
        """Return the distinct rows of some columns, and the place of each row among them."""
        columns = {name: codes[name] for name in names}
        if n_rows < 2 or not names:
            return columns, None
        key, size = np.zeros(n_rows, dtype=np.int64), 1
        for name, column in columns.items():
            arity = self._arity[name]
            if size * arity > MAX_KEY:
                distinct, key = np.unique(key, return_inverse=True)
                size = len(distinct)
            key = key * arity + column
            size *= arity
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return {name: column[first] for name, column in columns.items()}, place

    def _find_scope(self, table: int, component: Component) -> tuple[str, ...]:
        """Return the unknown variables of a table, in the order of its axes."""
        node = self.names[table]
        names = (*self._network.parents(node), node)
        return tuple(name for name in names if component.unknown >> self.number[name] & 1)

    def _eliminate(
        self,
        component: Component,
        steps: Sequence[EliminationStep],
        codes: Mapping[str, Codes],
        target: str | None,
    ) -> Logs:
        """Eliminate all variables of a block of rows; see `compute`."""
        position = {step.variable: i for i, step in enumerate(steps)}
        n_rows = len(next(iter(codes.values()))) if codes else 1
        constant = np.zeros(n_rows)
        buckets: dict[str, list[_Factor]] = {step.variable: [] for step in steps}
        for i in iterate_bits(component.tables):
            factor = self._make_factor(i, component, codes, position)
            buckets[factor.scope[-1]].append(factor)
        for step in steps:
            logs = np.zeros([self._arity[name] for name in step.clique])[None]
            for factor in buckets.pop(step.variable):  # so that nothing is kept that was used
                shape = broadcast_shape(factor.scope, step.clique, self._arity)
                logs = logs + factor.logs.reshape(len(factor.logs), *shape)
            if step.variable == target:
                answer: Logs = logs + constant[:, None]
                return answer
            message = _sum_last_axis(logs)
            if step.separator:
                buckets[step.separator[-1]].append(_Factor(step.separator, message))
            else:
                constant += message
        return constant

    def _make_factor(
        self,
        table: int,
        component: Component,
        codes: Mapping[str, Codes],
        position: Mapping[str, int],
    ) -> _Factor:
        """Return the logarithms of a table in each row, with the known variables observed."""
        node = self.names[table]
        names = [*self._network.parents(node), node]
        scope = self._find_scope(table, component)
        known = [name for name in names if name not in scope]
        ordered = sorted(scope, key=lambda name: -position[name])
        axes = [names.index(name) for name in (*known, *ordered)]
        shape = [self._arity[name] for name in ordered]
        if table not in self._logs:
            self._logs[table] = logarithm(self._network.table(node))
        logs = self._logs[table].reshape([self._arity[name] for name in names])
        logs = logs.transpose(axes).reshape(-1, *shape)
        if not known:
            return _Factor(tuple(ordered), logs)
        joint = np.zeros(len(codes[known[0]]), dtype=np.intp)
        for name in known:
            joint = joint * self._arity[name] + codes[name]
        return _Factor(tuple(ordered), logs[joint])


def _sum_last_axis(logs: Logs) -> Logs:
    """Return the logarithm of the sum of exponentials over the last axis."""
    top = reduce_last_axis(np.maximum, logs)
    top[np.isneginf(top)] = 0.0
    return logarithm(reduce_last_axis(np.add, np.exp(logs - top[..., None]))) + top
