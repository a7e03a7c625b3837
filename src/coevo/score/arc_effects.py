"""What an arc says: how the share of a state of the child differs with a state of the parent.

The effect of an arc is one sentence, computed from the counts of the table: "P(crp=high) is 0.48
where smoker=yes, 0.21 elsewhere". The first number is the share of crp=high in the rows with
smoker=yes, the second its share in all other rows. The sentence describes the table. It claims no
cause, so it is true whether the arc has a direction or not. An arc has many such pairs of states.
The sentence is about the pair that carries the most information, which is the largest term
n(x, y) log(P(y | x) / P(y)) of the mutual information. The number of rows is a factor, so rare
states do not win by chance. Equal terms are decided by the names of the states.

Parents can interact: in an exclusive or, each parent alone says nothing about the child. If the
gain of an arc is strong, and the two variables alone carry less than a quarter of it, then the
sentence is about the rows with one configuration of the other parents, the one with the most
information: "with b=yes: P(c=yes) is 0.97 where a=yes, 0.02 elsewhere".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.data import Table, Variable
from coevo.data.state_words import format_shares, format_state
from coevo.graph import DAG, Arc
from coevo.score.gain_words import STRONG
from coevo.score.joint_counts import JointCounts, count_configurations

__all__ = ["ArcEffect", "find_arc_effects"]

NEGLIGIBLE = 0.25  # share of the gain, below which two variables alone say too little
LARGEST_FAMILY = 1 << 20  # cells; of a larger family only pairs of variables are counted
LARGEST_PAIR = 1 << 22  # cells; a larger pair has no effect
DIGITS = 6  # of nats: smaller differences of two terms may be round-off


@dataclass(frozen=True, slots=True)
class ArcEffect:
    """One effect of an arc. ``str`` gives the sentence.

    Attributes
    ----------
    condition : str
        A state of the parent, as "smoker=yes" or "age >= 57".
    outcome : str
        The state of the child that is more frequent where the condition holds.
    without, within : float
        The share of the outcome in the rows without the condition, and in those with it.
    given : tuple of str
        The states of the other parents in these rows; empty if all rows are meant.

    Examples
    --------
    >>> str(ArcEffect("smoker=yes", "crp=high", 0.21, 0.48))
    'P(crp=high) is 0.48 where smoker=yes, 0.21 elsewhere'
    >>> str(ArcEffect("a=1", "c=1", 0.0, 0.9996, given=("b=0", "d=1")))
    'with b=0 and d=1: P(c=1) is 0.9996 where a=1, 0 elsewhere'
    """

    condition: str
    outcome: str
    without: float
    within: float
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        among = f"with {' and '.join(self.given)}: " if self.given else ""
        low, high = format_shares(self.without, self.within)
        return f"{among}P({self.outcome}) is {high} where {self.condition}, {low} elsewhere"


def find_arc_effects(table: Table, dag: DAG, gains: Mapping[Arc, float]) -> dict[Arc, ArcEffect]:
    """Return the effect of each arc of a DAG, from the counts of a table.

    An arc has no effect if its two variables are independent in the table, or if they have too
    many states to be counted.

    Parameters
    ----------
    table : Dataset or Shards
        The observations.
    dag : DAG
        The structure over its variables.
    gains : mapping of (parent, child) to float
        The gain of each arc; see `arc_gains`.

    Examples
    --------
    >>> from coevo.data import read_data
    >>> rows = read_data(np.array([[0, 0], [0, 0], [0, 1], [1, 1]]), names=["a", "b"])
    >>> effects = find_arc_effects(rows, DAG("ab", [("a", "b")]), {("a", "b"): 0.1})
    >>> str(effects["a", "b"])
    'P(b=1) is 1 where a=1, 0.33 elsewhere'
    """
    position, variables = table.find_position, table.variables
    families: list[list[int]] = []
    for child in dag.nodes:
        parents = sorted(map(position, dag.parents(child)))
        families += _split_family(parents, position(child), table.arities.tolist())
    found: dict[Arc, ArcEffect] = {}
    for family, counts in zip(families, count_configurations(table, families), strict=True):
        members = [variables[place] for place in family]
        for axis, parent in enumerate(members[:-1]):
            arc = (parent.name, members[-1].name)
            effect = _find_effect(members, counts, axis, gains[arc])
            if effect is not None:
                found[arc] = effect
    return {arc: found[arc] for arc in dag.arcs if arc in found}


def _split_family(parents: Sequence[int], child: int, arities: list[int]) -> Iterator[list[int]]:
    """Yield the groups of variables to count: the family, or pairs if the family is too large."""
    if parents and math.prod(arities[i] for i in (*parents, child)) <= LARGEST_FAMILY:
        yield [*parents, child]
        return
    for parent in parents:
        if arities[parent] * arities[child] <= LARGEST_PAIR:
            yield [parent, child]


def _find_effect(
    family: Sequence[Variable], counts: JointCounts, axis: int, gain: float
) -> ArcEffect | None:
    """Return the effect of the parent at `axis` of the counts of a family; the child is last."""
    parent, child = family[axis], family[-1]
    slices = np.moveaxis(counts, axis, -2)  # the other parents come first
    shape = slices.shape[:-2]
    slices = slices.reshape(-1, parent.arity, child.arity)
    best = _find_best_term(slices.sum(axis=0))
    given: tuple[str, ...] = ()
    if shape and gain >= STRONG and best.information < NEGLIGIBLE * gain:
        information = np.round(_compute_terms(slices).sum(axis=(1, 2)), DIGITS)
        chosen = int(information.argmax())
        best = _find_best_term(slices[chosen])
        others = [variable for i, variable in enumerate(family[:-1]) if i != axis]
        states = np.unravel_index(chosen, shape)
        given = tuple(
            format_state(variable, variable.states[int(state)])
            for variable, state in zip(others, states, strict=True)
        )
    if best.information <= 0:
        return None
    condition = format_state(parent, parent.states[best.row])
    outcome = format_state(child, child.states[best.column])
    return ArcEffect(condition, outcome, best.without, best.within, given)


class _BestTerm(NamedTuple):
    """The term of two states with the most information, and the information of all states."""

    information: float  # nats
    row: int
    column: int
    without: float
    within: float


def _find_best_term(pair: JointCounts) -> _BestTerm:
    """Return the best term of a table with one row per state of the parent."""
    terms = np.round(_compute_terms(pair), DIGITS)
    information = float(terms.sum())
    row, column = divmod(int(terms.argmax()), pair.shape[1])
    if information <= 0:
        return _BestTerm(0.0, row, column, 0.0, 0.0)
    n_row, n_column, n_both = pair[row].sum(), pair[:, column].sum(), pair[row, column]
    without = (n_column - n_both) / (pair.sum() - n_row)
    return _BestTerm(information, row, column, float(without), float(n_both / n_row))


def _compute_terms(counts: JointCounts) -> NDArray[np.float64]:
    """Return n(x, y) log(P(y | x) / P(y)) for the last two axes; 0 where no row is counted."""
    cells = counts.astype(np.float64)
    rows, columns = cells.sum(axis=-1, keepdims=True), cells.sum(axis=-2, keepdims=True)
    expected = rows * columns
    total = rows.sum(axis=-2, keepdims=True)
    ratio = np.divide(cells * total, expected, out=np.ones_like(cells), where=cells > 0)
    terms: NDArray[np.float64] = cells * np.log(ratio)
    return terms
