"""What a file declares, checked as it comes together: variables, families, tables.

The readers of BIF, XMLBIF, NET and JSON know what their files look like; what makes a
network of the parts is the same for all of them and stands here, each complaint with the
place that it is about. A place is whatever the reader's own errors are made from.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import CoevoWarning, FormatError, GraphError, suggestion
from coevo.graph import DAG
from coevo.io.scanner import shown
from coevo.network.bayesian_network import CPT, TOLERANCE

__all__ = [
    "MAX_PROBABILITIES",
    "ROUNDING",
    "Declarations",
    "counted",
    "normalised",
    "row_label",
    "uncapitalised",
]

# A default row lets a short file ask for any amount of memory; this allows 256 MiB.
MAX_PROBABILITIES = 2**25

# Three decimals leave up to 0.002 in a row of four states. A row that is further from 1
# was not rounded, it is wrong.
ROUNDING = 2e-3

Place = TypeVar("Place")


class _Family(NamedTuple, Generic[Place]):
    place: Place  # of the child's name
    parents: list[tuple[str, Place]]


class Declarations(Generic[Place]):
    """The variables and families of one file.

    Families may come before the variables that they speak of, so `check` is called when all
    are there. `error` makes an exception of a place and a sentence; `block` is what the
    format calls the part of the file that holds a table.
    """

    def __init__(self, error: Callable[[Place, str], FormatError], block: str) -> None:
        self._error = error
        self._block = block
        self._declared: dict[str, Place] = {}  # where each variable was
        self._families: dict[str, _Family[Place]] = {}
        self._uneven: list[tuple[Place, str]] = []
        self.variables: dict[str, Variable] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that were declared so far."""
        return tuple(self._declared)

    def declare(self, name: str, place: Place) -> None:
        """Take down that there is a variable of this name; its states come later."""
        if name in self._declared:
            raise self._error(place, f"the variable {name!r} is declared twice.")
        self._declared[name] = place

    def set_states(self, name: str, states: Sequence[str], place: Place) -> None:
        """Take down the states of a variable."""
        if not states:
            fault = "has no states."
        elif len(states) > MAX_STATES:
            fault = f"has {len(states):,} states; the most is {MAX_STATES:,}."
        elif len(set(states)) != len(states):
            fault = f"lists the state {shown(Counter(states).most_common(1)[0][0])} twice."
        else:
            self.variables[name] = Variable(name, tuple(states))
            return
        raise self._error(place, f"{name!r} {fault}")

    def add_family(self, child: str, place: Place, parents: list[tuple[str, Place]]) -> None:
        """Take down the parents of a variable, each with its place."""
        self.check_first(child, place)
        self._families[child] = _Family(place, parents)

    def check_first(self, child: str, place: Place) -> None:
        """Raise `FormatError` if the parents of a variable were taken down before."""
        if child in self._families:
            raise self._error(place, f"{child!r} has a second {self._block}.")

    def parents(self, child: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of the file."""
        return tuple(name for name, _ in self._families[child].parents)

    def parent_variables(self, child: str) -> list[Variable]:
        """Return the parents of a variable with their states."""
        return [self.variables[name] for name in self.parents(child)]

    def check(self) -> dict[str, tuple[str, ...]]:
        """Check that names are known, that nothing is missing and that there is no cycle.

        Returns the parents of each variable.
        """
        for child, family in self._families.items():
            if child not in self._declared:
                raise self._unknown(child, family.place, f"this {self._block} is for")
            self._check_parents(child, family.parents)
        for name, place in self._declared.items():
            if name not in self._families:
                raise self._error(place, f"{name!r} has no {self._block}.")
        parents = {name: self.parents(name) for name in self._declared}
        self._check_cycles(parents)
        self._check_size()
        return parents

    def _check_parents(self, child: str, parents: Iterable[tuple[str, Place]]) -> None:
        seen = {child}
        for parent, place in parents:
            if parent not in self._declared:
                raise self._unknown(parent, place, f"{child!r} has the parent")
            if parent in seen:
                own = parent == child
                fault = "is its own parent" if own else f"has the parent {parent!r} twice"
                raise self._error(place, f"{child!r} {fault}.")
            seen.add(parent)

    def _unknown(self, name: str, place: Place, what: str) -> FormatError:
        hint = suggestion(name, self._declared) if len(name) < 100 else ""
        return self._error(place, f"{what} {shown(name)}, which is not a variable.{hint}")

    def _check_cycles(self, parents: dict[str, tuple[str, ...]]) -> None:
        try:
            DAG.from_parents(parents)
        except GraphError as error:  # all else that a DAG refuses was checked before
            message = str(error)
            # The sentence names the variables of the cycle; the first of them is the place.
            on_it = (name for name in parents if repr(name) in message)
            place = self._families[next(on_it)].place
            raise self._error(place, uncapitalised(message)) from None

    def _check_size(self) -> None:
        total = 0
        for name, variable in self.variables.items():
            total += variable.arity * math.prod(v.arity for v in self.parent_variables(name))
            if total > MAX_PROBABILITIES:
                raise self._error(
                    self._families[name].place,
                    f"the table of {name!r} is too large: with it, the network has more than "
                    f"{MAX_PROBABILITIES:,} probabilities.",
                )

    def table(self, name: str, values: Sequence[float], place: Place) -> CPT:
        """Return the table whose numbers are given row by row, the first parent slowest."""
        child, parents = self.variables[name], self.parent_variables(name)
        wanted = child.arity * math.prod(parent.arity for parent in parents)
        if len(values) != wanted:
            found = counted(len(values), "probability", "probabilities")
            raise self._error(place, f"the table of {name!r} has {found}; it needs {wanted:,}.")
        table, uneven = normalised(
            np.array(values, dtype=np.float64).reshape(-1, child.arity),
            lambda row, fault: self._error(place, f"{row_label(child, parents, row)} {fault}."),
        )
        self._uneven += [
            (place, f"{row_label(child, parents, row)} {fault}") for row, fault in uneven
        ]
        return table

    def note_uneven(self, rows: Iterable[tuple[Place, str]]) -> None:
        """Take down rows that were normalised, and why."""
        self._uneven += rows

    def warn(self) -> None:
        """Give notice, once, of all rows that were normalised."""
        if not self._uneven:
            return
        place, fault = self._uneven[0]
        more = f"this row and {len(self._uneven) - 1:,} more were"
        sentence = f"{fault}; {more if len(self._uneven) > 1 else 'it was'} normalised."
        warnings.warn(str(self._error(place, sentence)), CoevoWarning, stacklevel=5)


def normalised(
    table: CPT, error: Callable[[int, str], FormatError]
) -> tuple[CPT, list[tuple[int, str]]]:
    """Return `table` with rows that sum to 1, but for what a network forgives.

    Rows that miss 1 by no more than rounding explains are divided by their sum and listed,
    each with what was wrong. `error` makes an exception of a row and what is wrong with it.
    """
    bad = ~(np.isfinite(table) & (table >= 0))
    if bad.any():
        i, j = (int(index) for index in np.argwhere(bad)[0])
        raise error(i, f"has the probability {float(table[i, j])!r}")
    with np.errstate(over="ignore"):
        sums = table.sum(axis=1)
    off = np.abs(sums - 1)
    if (off > ROUNDING).any():
        i = int(np.argmax(off > ROUNDING))
        raise error(i, f"sums to {sums[i]:.9g}; it must sum to 1")
    rounded = np.flatnonzero(off > TOLERANCE).tolist()
    if not rounded:
        return table, []
    uneven = [(i, f"sums to {sums[i]:.9g}") for i in rounded]
    even = table.copy()
    even[rounded] /= sums[rounded, None]
    return even, uneven


def row_label(child: Variable, parents: Sequence[Variable], row: int) -> str:
    """Return what a message calls a row of a table.

    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> row_label(wet, [rain], 1), row_label(rain, [], 0)
    ("the row (yes) of 'wet'", "the table of 'rain'")
    """
    if not parents:
        return f"the table of {child.name!r}"
    states = []
    for parent in reversed(parents):
        row, code = divmod(row, parent.arity)
        states.append(parent.states[code])
    return f"the row ({', '.join(reversed(states))}) of {child.name!r}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "state"), counted(2000, "state")
    ('1 state', '2,000 states')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def uncapitalised(sentence: str) -> str:
    """Return a sentence as it reads behind a colon."""
    return sentence[0].lower() + sentence[1:]
