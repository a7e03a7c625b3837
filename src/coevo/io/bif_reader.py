"""Read the Bayesian Interchange Format (BIF), in all its dialects.

BIF is the usual format for exchanging networks. R's bnlearn and its repository, pgmpy,
pyAgrum and JavaBayes all write it, each in its own dialect. The reader accepts all of them:

- blocks in any order, with or without a network block, extra semicolons;
- names quoted or not; lists with commas, blanks or both; no bar after the child;
- `//`, `/* */` and (at the start of a line) `#` comments; `property` lines anywhere;
- rows, a `table` or a `default`, as the part on bodies below explains.

The properties `coevo_name` and `coevo_labels` hold the names and states for which the file has
portable spellings (see `coevo.io.portable_names`); all other properties are ignored.

A network called `unknown` (unquoted) has no name: R writes this word for a network without
a name. A row whose sum differs from 1 by up to 0.002 was rounded; the reader normalises it
and warns. Any other fault is a `FormatError` with line and column.

First come the tokens, then the bodies of the probability blocks, then the grammar of the blocks.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from coevo.data.variable import Variable
from coevo.errors import FormatError, format_count, suggest_match
from coevo.io.network_builder import NetworkBuilder, describe_row, normalise_rows
from coevo.io.portable_names import (
    NAME_PROPERTY,
    STATES_PROPERTY,
    read_original,
    read_originals,
    restore_originals,
)
from coevo.io.scanner import (
    NUMBER,
    OPEN_STRING,
    STRING,
    Scanner,
    Token,
    decode_text,
    parse_numbers,
    quote_string,
    read_bytes,
    shorten_repr,
)
from coevo.network import CPT, BayesianNetwork

__all__ = [
    "BifDocument",
    "BifScanner",
    "TableReader",
    "parse_bif",
    "parse_bif_document",
    "quote_name",
    "read_bif",
    "split_names",
]


# The tokens of a BIF text.
#
# BIF was never fully standardised. The scanner therefore knows only what all dialects share:
# words, quoted strings, a few symbols, white space and comments. The grammar interprets
# the words.


_PROPERTY = re.compile(rf'(?:[^;"]++|{STRING})*+;')
_PLAIN = re.compile(r"(?!.*//)[A-Za-z0-9_.+\-<>=%/]+")


class BifScanner(Scanner):
    """A BIF text and the current position in it.

    >>> scanner = BifScanner('variable "a b" { // two words', "demo.bif")
    >>> [scanner.next().text for _ in range(4)]
    ['variable', 'a b', '{', '']
    """

    TOKEN: ClassVar[re.Pattern[str]] = re.compile(
        rf'\s*+(?:({STRING})|([^\s{{}}()\[\];,|"]++)|([{{}}()\[\];,|])|(")|)'
    )
    # `//` right after a colon is part of a web address; property lines contain such addresses.
    COMMENT: ClassVar[re.Pattern[str]] = re.compile(
        rf"{OPEN_STRING}\"?|(?<![:/])//[^\r\n]*+|/\*.*?\*/|(/\*)|^[ \t]*+#[^\r\n]*+",
        re.DOTALL | re.MULTILINE,
    )
    COMMENT_STARTS: ClassVar[tuple[str, ...]] = ("//", "/*", "#")

    _odd_until = 0  # the end of a line with a quote without its partner

    def read_property(self) -> tuple[str, str]:
        """Move behind a property and its semicolon; return its name and its value, if it has both.

        The text after the word `property` may be anything: most tools ignore it.
        """
        start = self.position
        self.skip_property()
        name, _, value = self.text[start : self.position - 1].partition("=")
        return name.strip(), value.strip()

    def skip_property(self) -> None:
        """Move behind the text that follows the word `property`, and its semicolon."""
        match = None
        if self.position >= self._odd_until:
            match = _PROPERTY.match(self.text, self.position)
        if match:
            self.position = match.end()
            return
        end = self.text.find(";", self.position) + 1
        if not end:
            raise self.make_error(self.position, "expected ';' after this property, found none.")
        line_end = self.text.find("\n", end)
        self._odd_until = line_end if line_end >= 0 else len(self.text)
        self.position = end


def split_names(groups: list[list[Token]], n_expected: int) -> list[str]:
    """Return the names of a list that should have `n_expected` of them.

    Commas are optional, so each word is a name. Some writers, R's bnlearn among them, do not
    quote names that contain spaces. If the number of words is wrong and the number of
    comma-separated items is right, the items are the names.
    """
    if len(groups) == n_expected and all(t.kind == "word" for group in groups for t in group):
        return [" ".join(token.text for token in group) for group in groups]
    return [token.text for group in groups for token in group]


def quote_name(name: str) -> str:
    r"""Return `name` as BIF writes it: unchanged if it is a plain word, else quoted and escaped.

    >>> print(quote_name(">=12"), quote_name("a b"), quote_name('5"'))
    >=12 "a b" "5\""
    """
    return name if _PLAIN.fullmatch(name) else quote_string(name)


# Read the body of a BIF probability block: rows, a table or a default, as one array.
#
# Large networks consist almost entirely of rows (`(low, yes) 0.1, 0.9;`). One regular expression
# therefore reads a row in the usual spelling. For any other spelling the reader falls back to the
# scanner, which knows all dialects and reports all errors. Both must give the same result; a test
# compares them.
#
# Conventions. In a row, the states have the order of the parents. A `table` for a variable with
# parents lists the child's first state for all parent configurations, then its second state, and
# so on: of (child, first parent, ..., last parent) the child varies slowest and the last parent
# fastest. That is the Interchange Format 0.15 as JavaBayes writes it; pgmpy and pyAgrum read it
# the same way. A `default` row applies to every configuration without a row.


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


_BODY = re.compile(rf'(?:[^{{}}"]++|{STRING})*+')


def read_bif(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a BIF file, plain or compressed with gzip.

    Parameters
    ----------
    path : str or path-like
        The file. Its content, not its name, shows whether it is compressed.

    Returns
    -------
    BayesianNetwork
        Variables, states and parents in the order of the file.

    Raises
    ------
    FileError
        When the file cannot be read.
    FormatError
        When the file is malformed; the message has the line and the column.

    Examples
    --------
    >>> read_bif("no_such_file.bif")
    Traceback (most recent call last):
    coevo.errors.FileError: There is no file 'no_such_file.bif'.
    """
    return parse_bif(decode_text(read_bytes(Path(path)), str(path)), str(path))


def parse_bif(text: str, source: str = "<text>") -> BayesianNetwork:
    """Read a network from a BIF text.

    Parameters
    ----------
    text : str
        The content of a BIF file.
    source : str
        The name of the text in messages: usually the name of the file.

    Returns
    -------
    BayesianNetwork
        Variables, states and parents in the order of the text.

    Raises
    ------
    FormatError
        When the text is malformed; the message has the line and the column.

    Notes
    -----
    A row lists the probabilities of the child's states for one configuration of the
    parents. A ``table`` of a variable with parents has the opposite order: the child varies
    slowest and the last parent fastest, as in the Interchange Format 0.15.

    Examples
    --------
    >>> network = parse_bif('''
    ... network weather { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.05, 0.95; }
    ... ''')
    >>> network
    <BayesianNetwork 'weather': 2 variables, 1 arcs, 3 parameters>
    >>> parse_bif("variable rain { type discrete [ 3 ] { no, yes }; }", "rain.bif")
    Traceback (most recent call last):
    coevo.errors.FormatError: rain.bif, line 1, column 33: 'rain' lists 2 of 3 states.
    """
    return parse_bif_document(text, source).to_network()


def parse_bif_document(text: str, source: str = "<text>") -> BifDocument:
    """Read a BIF text as `parse_bif` does, but keep the published digits of its tables."""
    return _BlockReader(BifScanner(text, source)).read_document()


@dataclass(frozen=True, slots=True)
class BifDocument:
    """The name, variables, parents and tables of a BIF file, in the order of the file.

    A `BayesianNetwork` normalises its tables. A document keeps the published numbers, so
    that a program can rewrite the bundled files without a change of a digit.
    """

    name: str  # empty when the file gives none
    variables: tuple[Variable, ...]
    parents: Mapping[str, tuple[str, ...]]
    tables: Mapping[str, CPT]  # the first parent varies slowest; rows not yet normalised

    @classmethod
    def from_network(cls, network: BayesianNetwork) -> BifDocument:
        """Return the document that describes `network`."""
        names = [variable.name for variable in network.variables]
        return cls(
            network.name,
            network.variables,
            {node: network.parents(node) for node in names},
            {node: network.table(node) for node in names},
        )

    def to_network(self) -> BayesianNetwork:
        """Return the network that the document describes."""
        return BayesianNetwork(self.variables, self.parents, self.tables, self.name)


class _BlockReader:
    """Read the blocks of a text, and then the bodies of the probability blocks.

    There are two passes because a probability block may come before its variables. This
    class checks all names and counts, so that `to_network` cannot fail.
    """

    def __init__(self, scanner: BifScanner) -> None:
        self._scanner = scanner
        self._name: str | None = None
        self._builder: NetworkBuilder[int] = NetworkBuilder(scanner.make_error, "probability block")
        self._bodies: dict[str, int] = {}  # position of the body of each probability block
        self._originals: dict[str, str] = {}  # names of variables, by the names in the text
        self._original_states: dict[str, tuple[str, ...]] = {}

    def read_document(self) -> BifDocument:
        """Return the content of the text; warn of rows that were rounded."""
        self._read_blocks()
        parents = self._builder.check()
        variables = self._builder.variables
        tables = {}
        for name, variable in variables.items():
            reader = TableReader(self._scanner, variable, self._builder.get_parent_variables(name))
            tables[name] = reader.read(self._bodies[name])
            self._builder.add_rounded_rows(reader.rounded_rows)
        self._builder.warn_of_rounded_rows()
        parts = restore_originals(
            variables, parents, tables, self._originals, self._original_states
        )
        return BifDocument(self._name or "", *parts)

    def _read_blocks(self) -> None:
        readers = {
            "network": self._read_network,
            "variable": self._read_variable,
            "probability": self._read_probability,
        }
        while (token := self._scanner.next()).kind != "end":
            if token.kind == "word" and token.text in readers:
                readers[token.text](token)
            elif token.is_word("property"):
                self._scanner.skip_property()
            elif not token.is_symbol(";"):
                expected = "'network', 'variable' or 'probability'"
                raise self._scanner.make_unexpected_error(token, expected)

    def _read_network(self, keyword: Token) -> None:
        scanner = self._scanner
        if self._name is not None:
            raise scanner.make_error(keyword.start, "this is a second network block.")
        token = scanner.peek()
        self._name = ""
        if token.is_name:
            self._name = "" if token.is_word("unknown") else token.text
            scanner.position = token.end
        scanner.expect("{", "after the name of the network")
        while not (token := scanner.next()).is_symbol("}"):
            if token.is_word("property"):
                name, value = scanner.read_property()
                original = read_original(value) if name == NAME_PROPERTY else None
                self._name = self._name if original is None else original
            elif not token.is_symbol(";"):
                expected = "'property' or '}' in the network block"
                raise scanner.make_unexpected_error(token, expected)

    def _read_variable(self, keyword: Token) -> None:
        scanner = self._scanner
        name = scanner.expect_name("the name of a variable")
        self._builder.add_variable(name.text, name.start)
        scanner.expect("{", f"after the variable {name.text!r}")
        while not (token := scanner.next()).is_symbol("}"):
            if token.is_word("property"):
                self._read_originals(name.text)
            elif token.is_word("type"):
                if name.text in self._builder.variables:
                    raise scanner.make_error(token.start, f"{name.text!r} has a second type.")
                self._read_states(name.text)
            elif not token.is_symbol(";"):
                expected = f"'type', 'property' or '}}' in the block of {name.text!r}"
                raise scanner.make_unexpected_error(token, expected)
        if name.text not in self._builder.variables:
            raise scanner.make_error(keyword.start, f"the variable {name.text!r} has no type.")

    def _read_originals(self, name: str) -> None:
        """Read a property of a variable, after the word `property`; keep it if it is ours."""
        kind, value = self._scanner.read_property()
        if kind == NAME_PROPERTY and (original := read_original(value)) is not None:
            self._originals[name] = original
        elif kind == STATES_PROPERTY and (originals := read_originals(value)) is not None:
            self._original_states[name] = originals

    def _read_states(self, name: str) -> None:
        """Read the rest of a type, after the word `type`, with its semicolon."""
        scanner = self._scanner
        kind = scanner.expect_name(f"the type of {name!r}")
        if kind.text != "discrete":
            value = shorten_repr(kind.text)
            sentence = f"the type of {name!r} is {value}; only discrete is supported."
            raise scanner.make_error(kind.start, sentence)
        scanner.expect("[", f"after the type of {name!r}")
        count = scanner.expect_name(f"the number of states of {name!r}")
        if not re.fullmatch("[0-9]{1,9}", count.text):
            raise scanner.make_unexpected_error(count, f"the number of states of {name!r}")
        scanner.expect("]", f"after the number of states of {name!r}")
        scanner.expect("{", f"before the states of {name!r}")
        states = split_names(scanner.read_list("}", f"a state of {name!r}"), int(count.text))
        scanner.expect(";", f"after the states of {name!r}")
        if len(states) != int(count.text):
            sentence = f"{name!r} lists {len(states):,} of {int(count.text):,} states."
            raise scanner.make_error(count.start, sentence)
        self._builder.set_states(name, states, count.start)

    def _read_probability(self, keyword: Token) -> None:
        """Read the head of a probability block and skip its body."""
        scanner = self._scanner
        scanner.expect("(", "after 'probability'")
        child = scanner.expect_name("the child of a probability block")
        self._builder.check_no_family(child.text, child.start)
        scanner.accept("|")
        groups = scanner.read_list(")", f"a parent of {child.text!r}")
        scanner.expect("{", f"after the parents of {child.text!r}")
        parents = [(token.text, token.start) for group in groups for token in group]
        self._builder.add_family(child.text, child.start, parents)
        self._bodies[child.text] = scanner.position
        body = _BODY.match(scanner.text, scanner.position)
        assert body is not None  # the pattern also matches an empty body
        scanner.position = body.end()
        if not scanner.peek().is_symbol("}"):
            sentence = f"the probability block of {child.text!r} is never closed."
            raise scanner.make_error(keyword.start, sentence)
        scanner.next()
