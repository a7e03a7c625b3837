"""The blocks of a BIF text: the network, its variables, and who has which parents.

This is the grammar. What a word looks like is known to `coevo.io.bif_scanner`, what stands
inside a probability block to `coevo.io.bif_tables`. Every name and every count is checked
here, with its place in the text, so that the rooms below have nothing left to refuse.
"""

from __future__ import annotations

import re

from coevo.io.bif_document import Document
from coevo.io.bif_scanner import BifScanner, choose
from coevo.io.bif_tables import TableReader
from coevo.io.declarations import Declarations
from coevo.io.scanner import STRING, Token, shown

__all__ = ["BlockReader"]

_BODY = re.compile(rf'(?:[^{{}}"]++|{STRING})*+')


class BlockReader:
    """One pass over the blocks, then one over the bodies of the probability blocks.

    Two passes, because a probability block may come before the variables it speaks of.
    """

    def __init__(self, scanner: BifScanner) -> None:
        self._scanner = scanner
        self._name: str | None = None
        self._found: Declarations[int] = Declarations(scanner.error, "probability block")
        self._bodies: dict[str, int] = {}  # where the body of each probability block begins

    def document(self) -> Document:
        """Return what the text says; warn of rows that were rounded."""
        self._read_blocks()
        parents = self._found.check()
        variables = self._found.variables
        tables = {}
        for name, variable in variables.items():
            reader = TableReader(self._scanner, variable, self._found.parent_variables(name))
            tables[name] = reader.read(self._bodies[name])
            self._found.note_uneven(reader.uneven)
        self._found.warn()
        return Document(self._name or "", tuple(variables.values()), parents, tables)

    def _read_blocks(self) -> None:
        readers = {
            "network": self._network,
            "variable": self._variable,
            "probability": self._probability,
        }
        while (token := self._scanner.next()).kind != "end":
            if token.kind == "word" and token.text in readers:
                readers[token.text](token)
            elif token.is_word("property"):
                self._scanner.skip_property()
            elif not token.is_mark(";"):
                raise self._scanner.unexpected(token, "'network', 'variable' or 'probability'")

    def _network(self, keyword: Token) -> None:
        scanner = self._scanner
        if self._name is not None:
            raise scanner.error(keyword.start, "this is a second network block.")
        token = scanner.peek()
        self._name = ""
        if token.is_name:
            self._name = "" if token.is_word("unknown") else token.text
            scanner.at = token.end
        scanner.expect("{", "after the name of the network")
        while not (token := scanner.next()).is_mark("}"):
            if token.is_word("property"):
                scanner.skip_property()
            elif not token.is_mark(";"):
                raise scanner.unexpected(token, "'property' or '}' in the network block")

    def _variable(self, keyword: Token) -> None:
        scanner = self._scanner
        name = scanner.expect_name("the name of a variable")
        self._found.declare(name.text, name.start)
        scanner.expect("{", f"after the variable {name.text!r}")
        while not (token := scanner.next()).is_mark("}"):
            if token.is_word("property"):
                scanner.skip_property()
            elif token.is_word("type"):
                if name.text in self._found.variables:
                    raise scanner.error(token.start, f"{name.text!r} has a second type.")
                self._read_states(name.text)
            elif not token.is_mark(";"):
                raise scanner.unexpected(
                    token, f"'type', 'property' or '}}' in the block of {name.text!r}"
                )
        if name.text not in self._found.variables:
            raise scanner.error(keyword.start, f"the variable {name.text!r} has no type.")

    def _read_states(self, name: str) -> None:
        """Read a type from behind the word `type`, with its semicolon."""
        scanner = self._scanner
        kind = scanner.expect_name(f"the type of {name!r}")
        if kind.text != "discrete":
            raise scanner.error(
                kind.start, f"the type of {name!r} is {shown(kind.text)}; only discrete is read."
            )
        scanner.expect("[", f"after the type of {name!r}")
        count = scanner.expect_name(f"the number of states of {name!r}")
        if not re.fullmatch("[0-9]{1,9}", count.text):
            raise scanner.unexpected(count, f"the number of states of {name!r}")
        scanner.expect("]", f"after the number of states of {name!r}")
        scanner.expect("{", f"before the states of {name!r}")
        states = choose(scanner.items("}", f"a state of {name!r}"), int(count.text))
        scanner.expect(";", f"after the states of {name!r}")
        if len(states) != int(count.text):
            sentence = f"{name!r} lists {len(states):,} of {int(count.text):,} states."
            raise scanner.error(count.start, sentence)
        self._found.set_states(name, states, count.start)

    def _probability(self, keyword: Token) -> None:
        """Read the head of a probability block and step over its body."""
        scanner = self._scanner
        scanner.expect("(", "after 'probability'")
        child = scanner.expect_name("the child of a probability block")
        self._found.check_first(child.text, child.start)
        scanner.accept("|")
        groups = scanner.items(")", f"a parent of {child.text!r}")
        scanner.expect("{", f"after the parents of {child.text!r}")
        parents = [(token.text, token.start) for group in groups for token in group]
        self._found.add_family(child.text, child.start, parents)
        self._bodies[child.text] = scanner.at
        body = _BODY.match(scanner.text, scanner.at)
        assert body is not None  # it may be empty
        scanner.at = body.end()
        if not scanner.peek().is_mark("}"):
            raise scanner.error(
                keyword.start, f"the probability block of {child.text!r} is never closed."
            )
        scanner.next()
