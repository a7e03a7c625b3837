"""The body of a probability block: rows, a table or a default become one array.

Large networks are nearly all rows (`(low, yes) 0.1, 0.9;`), so a row in the usual spelling
is read by one match of one pattern; anything else about it falls back to the scanner,
which knows all dialects and every complaint. Both must agree, and are tested to.

Conventions. In a row, the states stand in the order of the parents. A `table` for a
variable with parents lists the child's first state for all parent configurations, then
its second state, and so on: of (child, first parent, ..., last parent) the child varies
slowest and the last parent fastest. That is the Interchange Format 0.15 as JavaBayes
writes it; pgmpy and pyAgrum read it the same way. A `default` row stands for every
configuration that has no row of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from coevo.data.variable import Variable
from coevo.errors import FormatError, suggestion
from coevo.io.bif_scanner import BifScanner, choose
from coevo.io.declarations import counted, normalised, row_label
from coevo.io.scanner import NUMBER, plain_numbers, shown
from coevo.network import CPT

__all__ = ["TableReader"]

# In place of a row number, what a message is about.
_DEFAULT, _TABLE = -1, -2

_ROW = re.compile(r'\s*+(\()([^()\[\]{};"|]*+)\)([-+.0-9eE,\s]*+);')
_NUMBERS = re.compile(r"[-+.0-9eE,\s]*+;")


class TableReader:
    """Reads the body of one probability block, from behind its `{` to its `}`.

    `uneven` has a place and a sentence for each row that missed 1 by more than a network
    accepts, but not by more than rounding explains, and was therefore normalised.
    """

    def __init__(self, scanner: BifScanner, child: Variable, parents: Sequence[Variable]) -> None:
        self._scanner = scanner
        self._child = child
        self._parents = parents
        self._shape = [parent.arity for parent in parents]
        self._weights: list[dict[str, int]] = []  # state -> its share of the row number
        weight = math.prod(self._shape)
        for parent in parents:
            weight //= parent.arity
            self._weights.append({state: i * weight for i, state in enumerate(parent.states)})
        self._rows: list[int] = []
        self._places: list[int] = []  # where each row begins in the text
        self._values: list[float] = []
        self._default: tuple[int, list[float]] | None = None
        self._table: tuple[int, list[float]] | None = None
        self.uneven: list[tuple[int, str]] = []

    def read(self, start: int) -> CPT:
        """Return the table as (configurations, states), the first parent varying slowest."""
        self._scanner.at = start
        while True:
            self._usual_rows()
            token = self._scanner.peek()
            if token.is_mark("("):
                self._row()
                continue
            self._scanner.at = token.end
            if token.is_mark("}"):
                return self._assembled(token.start)
            if token.is_word("table") or token.is_word("default"):
                self._whole(token.text, token.start)
            elif token.is_word("property"):
                self._scanner.skip_property()
            elif not token.is_mark(";"):
                expected = f"'table', 'default' or a row for {self._child.name!r}"
                raise self._scanner.unexpected(token, expected)

    def _usual_rows(self) -> None:
        """Read rows for as long as they have the usual spelling; leave the rest alone."""
        text, at = self._scanner.text, self._scanner.at
        weights, n_parents, arity = self._weights, len(self._parents), self._child.arity
        while found := _ROW.match(text, at):
            words = found[2].split(",")
            try:
                row = sum(map(dict.__getitem__, weights, map(str.strip, words)))
                values = list(map(float, found[3].replace(",", " ").split()))
            except (KeyError, ValueError):
                break
            if len(words) != n_parents or len(values) != arity:
                break
            self._rows.append(row)
            self._places.append(found.start(1))
            self._values += values
            at = found.end()
        self._scanner.at = at

    def _row(self) -> None:
        """Read one row in any spelling, or raise the error that it deserves."""
        place = self._scanner.next().start
        name = self._child.name
        groups = self._scanner.items(")", f"a state in a row for {name!r}")
        states = choose(groups, len(self._parents))
        if len(states) != len(self._parents):
            raise self._scanner.error(
                place,
                f"this row for {name!r} has {counted(len(states), 'state')}; "
                f"it needs one for each of {counted(len(self._parents), 'parent')}.",
            )
        row = 0
        for state, parent, weights in zip(states, self._parents, self._weights, strict=True):
            if state not in weights:
                raise self._scanner.error(
                    place,
                    f"{shown(state)} in this row for {name!r} is not a state of its parent "
                    f"{parent.name!r}.{suggestion(state[:100], parent.states)}",
                )
            row += weights[state]
        self._rows.append(row)
        self._places.append(place)
        self._values += self._numbers(place, row, self._child.arity)

    def _whole(self, kind: str, place: int) -> None:
        """Read what follows the word `table` or `default`."""
        name = self._child.name
        if (self._table if kind == "table" else self._default) is not None:
            raise self._scanner.error(place, f"{name!r} has a second '{kind}'.")
        if kind == "table":
            size = math.prod(self._shape) * self._child.arity
            self._table = place, self._numbers(place, _TABLE, size)
        else:
            self._default = place, self._numbers(place, _DEFAULT, self._child.arity)

    def _numbers(self, place: int, row: int, wanted: int) -> list[float]:
        """Read numbers up to the semicolon; `row` and `place` say whose they are."""
        values: list[float] | None = None
        if found := _NUMBERS.match(self._scanner.text, self._scanner.at):
            values = plain_numbers(found[0][:-1].replace(",", " "))
        if found and values is not None:
            self._scanner.at = found.end()
        else:
            values = self._any_numbers(row)
        if len(values) != wanted:
            count = counted(len(values), "probability", "probabilities")
            sentence = f"{self._label(row)} has {count}; it needs {wanted:,}."
            raise self._scanner.error(place, sentence)
        return values

    def _any_numbers(self, row: int) -> list[float]:
        """Read numbers up to the semicolon, token by token, or say what is wrong with them."""
        values: list[float] = []
        while True:
            token = self._scanner.next()
            if token.is_name and NUMBER.fullmatch(token.text):
                values.append(float(token.text))
            elif token.is_name:
                raise self._scanner.unexpected(token, f"a number in {self._label(row)}")
            elif token.is_mark(";"):
                return values
            elif not token.is_mark(","):
                raise self._scanner.unexpected(token, f"';' after {self._label(row)}")

    def _assembled(self, end: int) -> CPT:
        """Put the parts together and check that they cover each configuration once."""
        name, arity, size = self._child.name, self._child.arity, math.prod(self._shape)
        if self._table is not None:
            others = self._places + ([] if self._default is None else [self._default[0]])
            if others:
                raise self._scanner.error(min(others), f"{name!r} has a table and also rows.")
            place, values = self._table
            table = np.array(values).reshape(arity, size).T.copy()
            return self._checked(table, [place] * size, range(size))
        covered = np.zeros(size, dtype=np.bool_)
        covered[self._rows] = True
        if int(covered.sum()) != len(self._rows):
            raise self._twice()
        table = np.empty((size, arity))
        given = np.array(self._values, dtype=np.float64).reshape(len(self._rows), arity)
        table[self._rows] = self._checked(given, self._places, self._rows)
        if self._default is not None:
            place, values = self._default
            table[~covered] = self._checked(np.array([values]), [place], [_DEFAULT])
        elif not covered.all():
            raise self._scanner.error(end, self._missing(covered))
        return table

    def _twice(self) -> Exception:
        seen: set[int] = set()
        for row, place in zip(self._rows, self._places, strict=True):
            if row in seen:
                return self._scanner.error(place, f"{self._label(row)} is given twice.")
            seen.add(row)
        raise AssertionError("there is a repeated row")

    def _missing(self, covered: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
        if not self._parents:
            return f"{self._child.name!r} has no probabilities."
        n_missing = int(covered.size - covered.sum())
        first = self._label(int(np.argmin(covered)))
        more = f" and {n_missing - 1:,} more" if n_missing > 1 else ""
        verb = "are" if n_missing > 1 else "is"
        return f"{first}{more} {verb} missing, and there is no default."

    def _checked(self, table: CPT, places: Sequence[int], rows: Sequence[int]) -> CPT:
        """Return `table` with rows that sum to 1, but for what a network forgives."""

        def error(i: int, fault: str) -> FormatError:
            return self._scanner.error(places[i], f"{self._label(rows[i])} {fault}.")

        even, uneven = normalised(table, error)
        self.uneven += [(places[i], f"{self._label(rows[i])} {fault}") for i, fault in uneven]
        return even

    def _label(self, row: int) -> str:
        """Return what a message calls a row."""
        if row == _DEFAULT:
            return f"the default row of {self._child.name!r}"
        return row_label(self._child, () if row == _TABLE else self._parents, row)
