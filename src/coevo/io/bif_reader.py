"""Read the Bayesian Interchange Format (BIF), in all its dialects.

BIF is the usual format for exchanging networks. R's bnlearn and its repository, pgmpy,
pyAgrum and JavaBayes all write it, each in its own dialect. The reader accepts all of them:

- blocks in any order, with or without a network block, extra semicolons;
- names quoted or not; lists with commas, blanks or both; no bar after the child;
- `//`, `/* */` and (at the start of a line) `#` comments; `property` lines anywhere;
- rows, a `table` or a `default`, as `coevo.io.bif_tables` explains.

The properties `coevo_name` and `coevo_labels` hold the names and states for which the file has
portable spellings (see `coevo.io.portable_names`); all other properties are ignored.

A network called `unknown` (unquoted) has no name: R writes this word for a network without
a name. A row whose sum differs from 1 by up to 0.002 was rounded; the reader normalises it
and warns. Any other fault is a `FormatError` with line and column.

This module holds the grammar of the blocks. `coevo.io.bif_scanner` finds the tokens,
`coevo.io.bif_tables` reads the bodies of the probability blocks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.data.variable import Variable
from coevo.io.bif_scanner import BifScanner, split_names
from coevo.io.bif_tables import TableReader
from coevo.io.network_builder import NetworkBuilder
from coevo.io.portable_names import (
    NAME_PROPERTY,
    STATES_PROPERTY,
    read_original,
    read_originals,
    restore_originals,
)
from coevo.io.scanner import STRING, Token, shorten_repr
from coevo.io.text_files import decode_text, read_bytes
from coevo.network import CPT, BayesianNetwork

__all__ = ["BifDocument", "parse_bif", "parse_bif_document", "read_bif"]

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
