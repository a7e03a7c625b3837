"""The blocks of a BIF text: the network, its variables, and who has which parents.

This is the grammar. What a word looks like is known to `coevo.io.bif_scanner`, what stands
inside a probability block to `coevo.io.bif_tables`. Every name and every count is checked
here, with its place in the text, so that the rooms below have nothing left to refuse.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import NamedTuple

from coevo.data.variable import MAX_STATES, Variable
from coevo.errors import FormatError, GraphError, suggestion
from coevo.graph import DAG
from coevo.io.bif_document import Document
from coevo.io.bif_scanner import STRING, Scanner, Token, choose, shown
from coevo.io.bif_tables import TableReader
from coevo.network import Table

__all__ = ["MAX_PROBABILITIES", "BlockReader"]

# A default row lets a short file ask for any amount of memory; this allows 256 MiB.
MAX_PROBABILITIES = 2**25

_BODY = re.compile(rf'(?:[^{{}}"]++|{STRING})*+')


class _Block(NamedTuple):
    """A probability block whose body is still to be read."""

    child: Token
    parents: list[Token]
    start: int  # of the body


class BlockReader:
    """One pass over the blocks, then one over the bodies of the probability blocks.

    Two passes, because a probability block may come before the variables it speaks of.
    After `document`, `notice` is a sentence about rounded rows, or empty.
    """

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._name: str | None = None
        self._variables: dict[str, Variable] = {}
        self._declared: dict[str, int] = {}  # where each variable was
        self._blocks: dict[str, _Block] = {}
        self.notice = ""

    def document(self) -> Document:
        """Return what the text says."""
        self._read_blocks()
        self._check_parents()
        parents = {
            name: tuple(parent.text for parent in self._blocks[name].parents)
            for name in self._variables
        }
        self._check_cycles(parents)
        tables = self._read_tables()
        return Document(self._name or "", tuple(self._variables.values()), parents, tables)

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
        if name.text in self._declared:
            raise scanner.error(name.start, f"the variable {name.text!r} is declared twice.")
        self._declared[name.text] = name.start
        scanner.expect("{", f"after the variable {name.text!r}")
        while not (token := scanner.next()).is_mark("}"):
            if token.is_word("property"):
                scanner.skip_property()
            elif token.is_word("type"):
                if name.text in self._variables:
                    raise scanner.error(token.start, f"{name.text!r} has a second type.")
                self._variables[name.text] = Variable(name.text, self._states(name.text))
            elif not token.is_mark(";"):
                raise scanner.unexpected(
                    token, f"'type', 'property' or '}}' in the block of {name.text!r}"
                )
        if name.text not in self._variables:
            raise scanner.error(keyword.start, f"the variable {name.text!r} has no type.")

    def _states(self, name: str) -> tuple[str, ...]:
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
        self._check_states(name, states, count)
        return tuple(states)

    def _check_states(self, name: str, states: list[str], count: Token) -> None:
        if len(states) != int(count.text):
            fault = f"lists {len(states):,} of {int(count.text):,} states."
        elif not states:
            fault = "has no states."
        elif len(states) > MAX_STATES:
            fault = f"has {len(states):,} states; the most is {MAX_STATES:,}."
        elif len(set(states)) != len(states):
            fault = f"lists the state {shown(Counter(states).most_common(1)[0][0])} twice."
        else:
            return
        raise self._scanner.error(count.start, f"{name!r} {fault}")

    def _probability(self, keyword: Token) -> None:
        """Read the head of a probability block and step over its body."""
        scanner = self._scanner
        scanner.expect("(", "after 'probability'")
        child = scanner.expect_name("the child of a probability block")
        if child.text in self._blocks:
            raise scanner.error(child.start, f"{child.text!r} has a second probability block.")
        bar = scanner.peek()
        if bar.is_mark("|"):
            scanner.at = bar.end
        groups = scanner.items(")", f"a parent of {child.text!r}")
        scanner.expect("{", f"after the parents of {child.text!r}")
        parents = [token for group in groups for token in group]
        self._blocks[child.text] = _Block(child, parents, scanner.at)
        body = _BODY.match(scanner.text, scanner.at)
        assert body is not None  # it may be empty
        scanner.at = body.end()
        if not scanner.peek().is_mark("}"):
            raise scanner.error(
                keyword.start, f"the probability block of {child.text!r} is never closed."
            )
        scanner.next()

    def _check_parents(self) -> None:
        """Check that all names are declared and that each variable has its block."""
        for child, parents, _ in self._blocks.values():
            if child.text not in self._variables:
                raise self._unknown(child, "this probability block is for")
            seen = {child.text}
            for parent in parents:
                if parent.text not in self._variables:
                    raise self._unknown(parent, f"{child.text!r} has the parent")
                if parent.text in seen:
                    own = parent.text == child.text
                    fault = "is its own parent" if own else f"has the parent {parent.text!r} twice"
                    raise self._scanner.error(parent.start, f"{child.text!r} {fault}.")
                seen.add(parent.text)
        for name, place in self._declared.items():
            if name not in self._blocks:
                raise self._scanner.error(place, f"{name!r} has no probability block.")

    def _unknown(self, token: Token, what: str) -> FormatError:
        hint = suggestion(token.text, self._variables) if len(token.text) < 100 else ""
        sentence = f"{what} {shown(token.text)}, which is not a variable.{hint}"
        return self._scanner.error(token.start, sentence)

    def _check_cycles(self, parents: dict[str, tuple[str, ...]]) -> None:
        try:
            DAG.from_parents(parents)
        except GraphError as error:  # all else that a DAG refuses was checked before
            message = str(error)
            # The sentence names the variables of the cycle; the first of them is the place.
            on_it = (name for name in parents if repr(name) in message)
            place = self._blocks[next(on_it)].child.start
            sentence = message[0].lower() + message[1:]
            raise self._scanner.error(place, sentence) from None

    def _read_tables(self) -> dict[str, Table]:
        tables: dict[str, Table] = {}
        uneven: list[tuple[int, str]] = []
        total = 0
        for name, variable in self._variables.items():
            child, tokens, start = self._blocks[name]
            parents = [self._variables[token.text] for token in tokens]
            total += math.prod(parent.arity for parent in parents) * variable.arity
            if total > MAX_PROBABILITIES:
                raise self._scanner.error(
                    child.start,
                    f"the table of {name!r} is too large: with it, the network has more than "
                    f"{MAX_PROBABILITIES:,} probabilities.",
                )
            reader = TableReader(self._scanner, variable, parents)
            tables[name] = reader.read(start)
            uneven += reader.uneven
        if uneven:
            place, fault = uneven[0]
            more = f"this row and {len(uneven) - 1:,} more were"
            sentence = f"{fault}; {more if len(uneven) > 1 else 'it was'} normalised."
            self.notice = str(self._scanner.error(place, sentence))
        return tables
