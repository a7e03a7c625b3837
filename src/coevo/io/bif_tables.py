"""Read the body of a BIF probability block: rows, a table or a default, as one array.

Large networks consist almost entirely of rows (`(low, yes) 0.1, 0.9;`). One regular
expression therefore reads a row in the usual spelling. For any other spelling the reader
falls back to the scanner, which knows all dialects and reports all errors. Both must give
the same result; a test compares them.

Conventions. In a row, the states have the order of the parents. A `table` for a variable
with parents lists the child's first state for all parent configurations, then its second
state, and so on: of (child, first parent, ..., last parent) the child varies slowest and
the last parent fastest. That is the Interchange Format 0.15 as JavaBayes writes it; pgmpy
and pyAgrum read it the same way. A `default` row applies to every configuration without a
row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from coevo.data.variable import Variable
from coevo.errors import FormatError, format_count, suggest_match
from coevo.io.bif_scanner import BifScanner, split_names
from coevo.io.network_builder import describe_row, normalise_rows
from coevo.io.scanner import NUMBER, parse_numbers, shorten_repr
from coevo.network import CPT

__all__ = ["TableReader"]

# These replace the number of a row.
_DEFAULT, _TABLE = -1, -2

_ROW = re.compile(r'\s*+(\()([^()\[\]{};"|]*+)\)([-+.0-9eE,\s]*+);')
_NUMBERS = re.compile(r"[-+.0-9eE,\s]*+;")


class TableReader:
    """Read the body of one probability block, from after its `{` to its `}`.

    `rounded_rows` has a position and a description for each row that `read` normalised
    because its numbers were rounded.
    """

    def __init__(self, scanner: BifScanner, child: Variable, parents: Sequence[Variable]) -> None:
        self._scanner = scanner
        self._child = child
        self._parents = parents
        self._shape = [parent.arity for parent in parents]
        self._offsets: list[dict[str, int]] = []  # row number = sum of these over the parents
        stride = math.prod(self._shape)
        for parent in parents:
            stride //= parent.arity
            self._offsets.append({state: i * stride for i, state in enumerate(parent.states)})
        self._rows: list[int] = []
        self._positions: list[int] = []  # position of each row in the text
        self._values: list[float] = []
        self._default: tuple[int, list[float]] | None = None
        self._table: tuple[int, list[float]] | None = None
        self.rounded_rows: list[tuple[int, str]] = []

    def read(self, start: int) -> CPT:
        """Return the table as (configurations, states), the first parent varying slowest."""
        self._scanner.position = start
        while True:
            self._read_usual_rows()
            token = self._scanner.peek()
            if token.is_symbol("("):
                self._read_row()
                continue
            self._scanner.position = token.end
            if token.is_symbol("}"):
                return self._assemble(token.start)
            if token.is_word("table") or token.is_word("default"):
                self._read_table_or_default(token.text, token.start)
            elif token.is_word("property"):
                self._scanner.skip_property()
            elif not token.is_symbol(";"):
                expected = f"'table', 'default' or a row for {self._child.name!r}"
                raise self._scanner.make_unexpected_error(token, expected)

    def _read_usual_rows(self) -> None:
        """Read rows as long as they have the usual spelling."""
        text, position = self._scanner.text, self._scanner.position
        offsets, n_parents, arity = self._offsets, len(self._parents), self._child.arity
        while match := _ROW.match(text, position):
            words = match[2].split(",")
            try:
                row = sum(map(dict.__getitem__, offsets, map(str.strip, words)))
                values = list(map(float, match[3].replace(",", " ").split()))
            except (KeyError, ValueError):
                break
            if len(words) != n_parents or len(values) != arity:
                break
            self._rows.append(row)
            self._positions.append(match.start(1))
            self._values += values
            position = match.end()
        self._scanner.position = position

    def _read_row(self) -> None:
        """Read one row in any spelling; raise `FormatError` if it is malformed."""
        position = self._scanner.next().start
        name = self._child.name
        groups = self._scanner.read_list(")", f"a state in a row for {name!r}")
        states = split_names(groups, len(self._parents))
        if len(states) != len(self._parents):
            raise self._scanner.make_error(
                position,
                f"this row for {name!r} has {format_count(len(states), 'state')}; "
                f"it needs one for each of {format_count(len(self._parents), 'parent')}.",
            )
        row = 0
        for state, parent, offsets in zip(states, self._parents, self._offsets, strict=True):
            if state not in offsets:
                raise self._scanner.make_error(
                    position,
                    f"{shorten_repr(state)} in this row for {name!r} is not a state of its parent "
                    f"{parent.name!r}.{suggest_match(state[:100], parent.states)}",
                )
            row += offsets[state]
        self._rows.append(row)
        self._positions.append(position)
        self._values += self._read_numbers(position, row, self._child.arity)

    def _read_table_or_default(self, kind: str, position: int) -> None:
        """Read the numbers after the word `table` or `default`."""
        name = self._child.name
        if (self._table if kind == "table" else self._default) is not None:
            raise self._scanner.make_error(position, f"{name!r} has a second '{kind}'.")
        if kind == "table":
            size = math.prod(self._shape) * self._child.arity
            self._table = position, self._read_numbers(position, _TABLE, size)
        else:
            self._default = position, self._read_numbers(position, _DEFAULT, self._child.arity)

    def _read_numbers(self, position: int, row: int, n_expected: int) -> list[float]:
        """Read numbers up to the semicolon; `row` and `position` are for messages."""
        values: list[float] | None = None
        if match := _NUMBERS.match(self._scanner.text, self._scanner.position):
            values = parse_numbers(match[0][:-1].replace(",", " "))
        if match and values is not None:
            self._scanner.position = match.end()
        else:
            values = self._scan_numbers(row)
        if len(values) != n_expected:
            count = format_count(len(values), "probability", "probabilities")
            sentence = f"{self._describe(row)} has {count}; it needs {n_expected:,}."
            raise self._scanner.make_error(position, sentence)
        return values

    def _scan_numbers(self, row: int) -> list[float]:
        """Read numbers up to the semicolon, token by token."""
        values: list[float] = []
        while True:
            token = self._scanner.next()
            if token.is_name and NUMBER.fullmatch(token.text):
                values.append(float(token.text))
            elif token.is_name:
                expected = f"a number in {self._describe(row)}"
                raise self._scanner.make_unexpected_error(token, expected)
            elif token.is_symbol(";"):
                return values
            elif not token.is_symbol(","):
                expected = f"';' after {self._describe(row)}"
                raise self._scanner.make_unexpected_error(token, expected)

    def _assemble(self, end: int) -> CPT:
        """Build the table and check that it has each configuration once."""
        name, arity, size = self._child.name, self._child.arity, math.prod(self._shape)
        if self._table is not None:
            others = self._positions + ([] if self._default is None else [self._default[0]])
            if others:
                raise self._scanner.make_error(min(others), f"{name!r} has a table and also rows.")
            position, values = self._table
            table = np.array(values).reshape(arity, size).T.copy()
            return self._normalise(table, [position] * size, range(size))
        covered = np.zeros(size, dtype=np.bool_)
        covered[self._rows] = True
        if int(covered.sum()) != len(self._rows):
            raise self._make_repeated_error()
        table = np.empty((size, arity))
        given = np.array(self._values, dtype=np.float64).reshape(len(self._rows), arity)
        table[self._rows] = self._normalise(given, self._positions, self._rows)
        if self._default is not None:
            position, values = self._default
            table[~covered] = self._normalise(np.array([values]), [position], [_DEFAULT])
        elif not covered.all():
            raise self._scanner.make_error(end, self._describe_missing(covered))
        return table

    def _make_repeated_error(self) -> Exception:
        seen: set[int] = set()
        for row, position in zip(self._rows, self._positions, strict=True):
            if row in seen:
                return self._scanner.make_error(position, f"{self._describe(row)} is given twice.")
            seen.add(row)
        raise AssertionError("there is a repeated row")

    def _describe_missing(self, covered: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> str:
        if not self._parents:
            return f"{self._child.name!r} has no probabilities."
        n_missing = int(covered.size - covered.sum())
        first = self._describe(int(np.argmin(covered)))
        more = f" and {n_missing - 1:,} more" if n_missing > 1 else ""
        verb = "are" if n_missing > 1 else "is"
        return f"{first}{more} {verb} missing, and there is no default."

    def _normalise(self, table: CPT, positions: Sequence[int], rows: Sequence[int]) -> CPT:
        """Normalise rounded rows and remember them in `rounded_rows`."""

        def make_error(i: int, fault: str) -> FormatError:
            return self._scanner.make_error(positions[i], f"{self._describe(rows[i])} {fault}.")

        normalised, rounded = normalise_rows(table, make_error)
        self.rounded_rows += [
            (positions[i], f"{self._describe(rows[i])} {fault}") for i, fault in rounded
        ]
        return normalised

    def _describe(self, row: int) -> str:
        """Return the name of a row for a message."""
        if row == _DEFAULT:
            return f"the default row of {self._child.name!r}"
        return describe_row(self._child, () if row == _TABLE else self._parents, row)
