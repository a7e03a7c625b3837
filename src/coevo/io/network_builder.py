"""Build a network from the parts of a file: variables, families and tables.

The readers of BIF, XMLBIF, NET, JSON and model strings know the grammar of their files. The
steps from the parts to a network are the same for all of them and stand here. Each error
message names the place in the file. A reader chooses what a place is: a position in a text,
a line and a column, or the number of a variable.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import FormatError, GraphError, format_count, suggest_match, warn_caller
from coevo.graph import DAG
from coevo.io.scanner import shorten_repr
from coevo.network.node_distribution import CPT, TOLERANCE

__all__ = [
    "MAX_PROBABILITIES",
    "ROUNDING",
    "NetworkBuilder",
    "describe_row",
    "normalise_rows",
    "uncapitalise",
]

# A default row lets a short file ask for any amount of memory; this limit allows 256 MiB.
MAX_PROBABILITIES = 2**25

# Three decimals cause an error of up to 0.002 in a row of four states. A row with a larger
# error is not rounded but wrong.
ROUNDING = 2e-3

# Tools that compute in single precision leave probabilities such as -1.19e-07 (the public
# Pathfinder network has them). A number further below 0 is not rounded but wrong.
NEGATIVE_ROUNDING = 1e-6

Place = TypeVar("Place")


class _Family(NamedTuple, Generic[Place]):
    place: Place  # of the child's name
    parents: list[tuple[str, Place]]


class NetworkBuilder(Generic[Place]):
    """Collect the variables and families of one file.

    A family may come before its variables in the file. A reader therefore adds all parts
    first and then calls `check`.

    Parameters
    ----------
    make_error : callable
        Returns the exception for a place and a sentence.
    block : str
        The name that the format gives to the part of a file that holds a table.
    allows_counts : bool, default False
        Whether the rows of a table may have any positive sum, such as counts and percentages.
    """

    def __init__(
        self,
        make_error: Callable[[Place, str], FormatError],
        block: str,
        allows_counts: bool = False,
    ) -> None:
        self._make_error = make_error
        self._block = block
        self._allows_counts = allows_counts
        self._places: dict[str, Place] = {}  # of the declaration of each variable
        self._families: dict[str, _Family[Place]] = {}
        self._rounded_rows: list[tuple[Place, str]] = []
        self.variables: dict[str, Variable] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables that were added so far."""
        return tuple(self._places)

    def add_variable(self, name: str, place: Place) -> None:
        """Add a variable; `set_states` adds its states later."""
        if name in self._places:
            raise self._make_error(place, f"the variable {name!r} is declared twice.")
        self._places[name] = place

    def set_states(self, name: str, states: Sequence[str], place: Place) -> None:
        """Set the states of a variable."""
        if not states:
            fault = "has no states."
        elif len(states) > MAX_STATES:
            fault = f"has {len(states):,} states; the most is {MAX_STATES:,}."
        elif len(set(states)) != len(states):
            fault = f"lists the state {shorten_repr(Counter(states).most_common(1)[0][0])} twice."
        else:
            self.variables[name] = Variable(name, tuple(states))
            return
        raise self._make_error(place, f"{name!r} {fault}")

    def add_family(self, child: str, place: Place, parents: list[tuple[str, Place]]) -> None:
        """Add the parents of a variable, each with its place."""
        self.check_no_family(child, place)
        self._families[child] = _Family(place, parents)

    def check_no_family(self, child: str, place: Place) -> None:
        """Raise `FormatError` if the parents of a variable were already added."""
        if child in self._families:
            raise self._make_error(place, f"{child!r} has a second {self._block}.")

    def parents(self, child: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of the file."""
        return tuple(name for name, _ in self._families[child].parents)

    def get_parent_variables(self, child: str) -> list[Variable]:
        """Return the parents of a variable with their states."""
        return [self.variables[name] for name in self.parents(child)]

    def check(self) -> dict[str, tuple[str, ...]]:
        """Validate the names, the families and the size; return the parents of each variable.

        Raises `FormatError` for an unknown name, a missing family, a cycle, or too large
        tables.
        """
        for child, family in self._families.items():
            if child not in self._places:
                raise self._make_unknown_error(child, family.place, f"this {self._block} is for")
            self._check_parents(child, family.parents)
        for name, place in self._places.items():
            if name not in self._families:
                raise self._make_error(place, f"{name!r} has no {self._block}.")
        parents = {name: self.parents(name) for name in self._places}
        self._check_acyclic(parents)
        self._check_size()
        return parents

    def _check_parents(self, child: str, parents: Iterable[tuple[str, Place]]) -> None:
        seen = {child}
        for parent, place in parents:
            if parent not in self._places:
                raise self._make_unknown_error(parent, place, f"{child!r} has the parent")
            if parent in seen:
                is_loop = parent == child
                fault = "is its own parent" if is_loop else f"has the parent {parent!r} twice"
                raise self._make_error(place, f"{child!r} {fault}.")
            seen.add(parent)

    def _make_unknown_error(self, name: str, place: Place, what: str) -> FormatError:
        hint = suggest_match(name, self._places) if len(name) < 100 else ""
        sentence = f"{what} {shorten_repr(name)}, which is not a variable.{hint}"
        return self._make_error(place, sentence)

    def _check_acyclic(self, parents: dict[str, tuple[str, ...]]) -> None:
        try:
            DAG.from_parents(parents)
        except GraphError as error:  # all other reasons were excluded before
            message = str(error)
            # The message names the variables of the cycle; report the place of the first one.
            in_cycle = (name for name in parents if repr(name) in message)
            place = self._families[next(in_cycle)].place
            raise self._make_error(place, uncapitalise(message)) from None

    def _check_size(self) -> None:
        total = 0
        for name, variable in self.variables.items():
            total += variable.arity * math.prod(v.arity for v in self.get_parent_variables(name))
            if total > MAX_PROBABILITIES:
                raise self._make_error(
                    self._families[name].place,
                    f"the table of {name!r} is too large: with it, the network has more than "
                    f"{MAX_PROBABILITIES:,} probabilities.",
                )

    def build_table(self, name: str, values: Sequence[float], place: Place) -> CPT:
        """Return the table of a variable from its numbers, row by row, first parent slowest."""
        child, parents = self.variables[name], self.get_parent_variables(name)
        n_expected = child.arity * math.prod(parent.arity for parent in parents)
        if len(values) != n_expected:
            count = format_count(len(values), "probability", "probabilities")
            sentence = f"the table of {name!r} has {count}; it needs {n_expected:,}."
            raise self._make_error(place, sentence)

        def make_row_error(row: int, fault: str) -> FormatError:
            return self._make_error(place, f"{describe_row(child, parents, row)} {fault}.")

        table, rounded = normalise_rows(
            np.array(values, dtype=np.float64).reshape(-1, child.arity),
            make_row_error,
            self._allows_counts,
        )
        self._rounded_rows += [
            (place, f"{describe_row(child, parents, row)} {fault}") for row, fault in rounded
        ]
        return table

    def add_rounded_rows(self, rows: Iterable[tuple[Place, str]]) -> None:
        """Remember rows that were normalised; `warn_of_rounded_rows` reports them."""
        self._rounded_rows += rows

    def warn_of_rounded_rows(self) -> None:
        """Warn once about all rows that were normalised."""
        if not self._rounded_rows:
            return
        place, fault = self._rounded_rows[0]
        more = f"this row and {len(self._rounded_rows) - 1:,} more were"
        sentence = f"{fault}; {more if len(self._rounded_rows) > 1 else 'it was'} normalised."
        warn_caller(str(self._make_error(place, sentence)))


def normalise_rows(
    table: CPT, make_error: Callable[[int, str], FormatError], allows_counts: bool = False
) -> tuple[CPT, list[tuple[int, str]]]:
    """Divide rounded rows by their sum; return the table and the rows that were rounded.

    A row is rounded if its sum differs from 1 by more than `TOLERANCE`, which a network
    accepts, and by at most `ROUNDING` (by any amount if the format `allows_counts`), or if it
    has a probability that is below 0 by at most `NEGATIVE_ROUNDING`, which is read as 0. Each
    rounded row comes with a description of its fault. `make_error` returns the exception for a
    row and its fault.
    """
    bad = ~(np.isfinite(table) & (table >= -NEGATIVE_ROUNDING))
    if bad.any():
        i, j = (int(index) for index in np.argwhere(bad)[0])
        raise make_error(i, f"has the probability {float(table[i, j])!r}")
    positive = np.maximum(table, 0.0)
    with np.errstate(over="ignore"):
        sums = positive.sum(axis=1)
    deviations = np.abs(sums - 1)
    wrong = ~((sums > 0) & np.isfinite(sums)) if allows_counts else deviations > ROUNDING
    if wrong.any():
        i = int(np.argmax(wrong))
        wanted = "its sum must be above 0" if allows_counts else "it must sum to 1"
        raise make_error(i, f"sums to {sums[i]:.9g}; {wanted}")
    lowest = table.min(axis=1)
    rounded = np.flatnonzero((deviations > TOLERANCE) | (lowest < 0)).tolist()
    if not rounded:
        return table, []
    normalised = positive
    normalised[rounded] /= sums[rounded, None]
    faults = [
        (i, f"has the probability {lowest[i]:.9g}, which was read as 0")
        if lowest[i] < 0
        else (i, f"sums to {sums[i]:.9g}")
        for i in rounded
    ]
    return normalised, faults


def describe_row(child: Variable, parents: Sequence[Variable], row: int) -> str:
    """Return the name of a row of a table for a message.

    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> describe_row(wet, [rain], 1), describe_row(rain, [], 0)
    ("the row (yes) of 'wet'", "the table of 'rain'")
    """
    if not parents:
        return f"the table of {child.name!r}"
    states = []
    for parent in reversed(parents):
        row, code = divmod(row, parent.arity)
        states.append(parent.states[code])
    return f"the row ({', '.join(reversed(states))}) of {child.name!r}"


def uncapitalise(sentence: str) -> str:
    """Return a sentence with a lower-case first letter, to follow a colon."""
    return sentence[0].lower() + sentence[1:]
