"""NET, the language of Hugin: read as Hugin, SamIam, pgmpy and pyAgrum write it.

    net { name = "weather"; }
    node rain { states = ("no" "yes"); }
    node wet { states = ("no" "yes"); }
    potential (rain) { data = (0.8 0.2); }
    potential (wet | rain) { data = ((0.9 0.1) (0.05 0.95)); }

In the data of a potential the child varies fastest, then the last parent, the first parent
slowest. A node is named by an identifier: ASCII letters, digits and `_`, no digit first. A
variable called otherwise gets an identifier made of what its name allows, and its name goes
into a field of its own, ``coevo_name = "body mass"``, which other tools pass over and
`parse_net` takes for the name. States are strings; quotes, backslashes and line ends in
them are escaped as in BIF.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from coevo.io.bif_document import Document
from coevo.io.declarations import Declarations
from coevo.io.scanner import NUMBER, STRING, Scanner, Token, plain_numbers, quoted
from coevo.network import BayesianNetwork

__all__ = ["format_net", "parse_net"]

FIELD = "coevo_name"
KEYWORDS = ("net", "class", "node", "discrete", "continuous", "utility", "decision", "potential")
_IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_DATA = re.compile(r"[-+.0-9eE()\s,]*+;")
_BETWEEN = re.compile("[(),;]")


class _NetScanner(Scanner):
    TOKEN: ClassVar[re.Pattern[str]] = re.compile(
        rf'\s*+(?:({STRING})|([^\s{{}}()=;|"]++)|([{{}}()=;|])|(")|)'
    )
    COMMENT: ClassVar[re.Pattern[str]] = re.compile(rf"{STRING}|%[^\r\n]*+")
    COMMENT_MARKS: ClassVar[tuple[str, ...]] = ("%",)


def parse_net(text: str, source: str = "<text>") -> BayesianNetwork:
    """Read a network from a NET text.

    Raises `FormatError`, with line and column, when it is malformed.

    >>> network = parse_net('''net { }
    ... node rain { states = ("no" "yes"); }
    ... potential (rain) { data = (0.8 0.2); }''')
    >>> network.table("rain").tolist()
    [[0.8, 0.2]]
    """
    return _NetReader(_NetScanner(text, source)).network()


class _NetReader:
    """One pass over the blocks; identifiers become names when all nodes are known."""

    def __init__(self, scanner: _NetScanner) -> None:
        self._scanner = scanner
        self._title = ""
        self._names: dict[str, str] = {}  # of identifiers
        self._found: Declarations[int] = Declarations(scanner.error, "potential")
        self._potentials: list[tuple[Token, list[Token], list[float], int]] = []

    def network(self) -> BayesianNetwork:
        """Return what the text says."""
        self._read_blocks()
        data = {}
        for child, given, values, place in self._potentials:
            parents = [(self._name(parent), parent.start) for parent in given]
            self._found.add_family(self._name(child), child.start, parents)
            data[self._name(child)] = values, place
        parents_of = self._found.check()
        tables = {name: self._found.table(name, *data[name]) for name in parents_of}
        self._found.warn()
        variables = tuple(self._found.variables.values())
        return Document(self._title, variables, parents_of, tables).network()

    def _name(self, identifier: Token) -> str:
        return self._names.get(identifier.text, identifier.text)

    def _read_blocks(self) -> None:
        scanner = self._scanner
        while (token := scanner.next()).kind != "end":
            if token.is_word("discrete"):
                token = scanner.next()
            if token.is_word("net"):
                self._net()
            elif token.is_word("node"):
                self._node()
            elif token.is_word("potential"):
                self._potential()
            elif token.kind == "word" and token.text in KEYWORDS:
                sentence = f"{token.text!r} is not read: only discrete nodes and potentials are."
                raise scanner.error(token.start, sentence)
            else:
                raise scanner.unexpected(token, "'net', 'node' or 'potential'")

    def _net(self) -> None:
        self._scanner.expect("{", "after 'net'")
        for field in self._fields("the net block"):
            values = self._values(field)
            if field.text == "name":
                self._title = " ".join(value.text for value in values)

    def _fields(self, where: str) -> Iterator[Token]:
        """Yield the name of each field up to the brace; its value is for the caller."""
        while not (token := self._scanner.next()).is_mark("}"):
            if token.kind != "word":
                raise self._scanner.unexpected(token, f"a field or '}}' in {where}")
            self._scanner.expect("=", f"after {token.text!r}")
            yield token

    def _values(self, field: Token) -> list[Token]:
        """Step over the value of a field and its semicolon; return the words and strings.

        pyAgrum does not quote states, so that `>=5` is three tokens that belong together.
        """
        found: list[Token] = []
        while not (token := self._scanner.next()).is_mark(";"):
            if token.is_mark("(") or token.is_mark(")"):
                continue
            if token.kind == "end" or token.text in ("{", "}"):
                raise self._scanner.unexpected(token, f"';' after the value of {field.text!r}")
            if (
                found
                and found[-1].end == token.start
                and "string"
                not in (
                    found[-1].kind,
                    token.kind,
                )
            ):
                last = found.pop()
                token = Token("word", last.text + token.text, last.start, token.end)
            found.append(token)
        return found

    def _node(self) -> None:
        scanner = self._scanner
        identifier = scanner.expect_name("the name of a node")
        name, states = identifier.text, None
        scanner.expect("{", f"after the node {name!r}")
        for field in self._fields(f"the node {identifier.text!r}"):
            values = self._values(field)
            if field.text == FIELD and len(values) == 1:
                name = values[0].text
            elif field.text == "states":
                if states is not None:
                    raise scanner.error(field.start, f"{identifier.text!r} has states twice.")
                states = [value.text for value in values]
        if identifier.text in self._names:
            sentence = f"the node {identifier.text!r} is declared twice."
            raise scanner.error(identifier.start, sentence)
        self._names[identifier.text] = name
        self._found.declare(name, identifier.start)
        self._found.set_states(name, states or (), identifier.start)

    def _potential(self) -> None:
        scanner = self._scanner
        scanner.expect("(", "after 'potential'")
        child = scanner.expect_name("the child of a potential")
        parents = []
        if scanner.accept("|"):
            groups = scanner.items(")", f"a parent of {child.text!r}")
            parents = [token for group in groups for token in group]
        else:
            scanner.expect(")", f"or '|' after the child {child.text!r}")
        scanner.expect("{", f"after the parents of {child.text!r}")
        data: tuple[list[float], int] | None = None
        for field in self._fields(f"the potential of {child.text!r}"):
            if field.text != "data":
                self._values(field)
                continue
            if data is not None:
                raise scanner.error(field.start, f"the potential of {child.text!r} has data twice.")
            data = self._numbers(child.text), field.start
        if data is None:
            raise scanner.error(child.start, f"the potential of {child.text!r} has no data.")
        self._potentials.append((child, parents, *data))

    def _numbers(self, name: str) -> list[float]:
        scanner = self._scanner
        if found := _DATA.match(scanner.text, scanner.at):
            values = plain_numbers(_BETWEEN.sub(" ", found[0]))
            if values is not None:
                scanner.at = found.end()
                return values
        while True:  # there is something else among the numbers
            token = scanner.next()
            if not (token.is_mark("(") or token.is_mark(")") or NUMBER.fullmatch(token.text)):
                raise scanner.unexpected(token, f"a number in the data of {name!r}")


def format_net(network: BayesianNetwork) -> str:
    """Return a network as a NET text that `parse_net` turns into the same network.

    Examples
    --------
    >>> from coevo.data.variable import Variable
    >>> wet = BayesianNetwork([Variable("very wet", ("0", "1"))], {}, {"very wet": [0.8, 0.2]})
    >>> print(format_net(wet), end="")
    net
    {
    }
    node very_wet
    {
      states = ("0" "1");
      coevo_name = "very wet";
    }
    potential (very_wet)
    {
      data = (0.8 0.2);
    }
    """
    return "\n".join(_lines(network)) + "\n"


def _lines(network: BayesianNetwork) -> Iterator[str]:
    identifiers = _identifiers([variable.name for variable in network.variables])
    yield "net"
    yield "{"
    if network.name:
        yield f"  name = {quoted(network.name)};"
    yield "}"
    for variable in network.variables:
        yield f"node {identifiers[variable.name]}"
        yield "{"
        yield f"  states = ({' '.join(map(quoted, variable.states))});"
        if identifiers[variable.name] != variable.name:
            yield f"  {FIELD} = {quoted(variable.name)};"
        yield "}"
    for variable in network.variables:
        parents = network.parents(variable.name)
        given = f" | {' '.join(identifiers[parent] for parent in parents)}" if parents else ""
        yield f"potential ({identifiers[variable.name]}{given})"
        yield "{"
        yield f"  data = {_nested(network, variable.name)};"
        yield "}"


def _nested(network: BayesianNetwork, name: str) -> str:
    """Return the table with a pair of brackets around the states of each variable."""
    groups = [f"({' '.join(map(repr, row))})" for row in network.table(name).tolist()]
    for parent in reversed(network.parents(name)):
        arity = network.variable(parent).arity
        starts = range(0, len(groups), arity)
        groups = [f"({' '.join(groups[start : start + arity])})" for start in starts]
    return groups[0]


def _identifiers(names: list[str]) -> dict[str, str]:
    """Return an identifier for each name: itself where it is one.

    >>> _identifiers(["a b", "a_b", "1", "node"])
    {'a b': 'a_b_2', 'a_b': 'a_b', '1': '_1', 'node': 'node_'}
    """
    found = {n: n for n in names if _IDENTIFIER.fullmatch(n) and n not in KEYWORDS}
    taken = {*found, *KEYWORDS}
    for name in names:
        if name in found:
            continue
        plain = re.sub("[^A-Za-z0-9_]", "_", name)
        plain = plain + "_" if plain in KEYWORDS else plain
        plain = plain if _IDENTIFIER.fullmatch(plain) else f"_{plain}"
        free, number = plain, 1
        while free in taken:
            number += 1
            free = f"{plain}_{number}"
        taken.add(free)
        found[name] = free
    return {name: found[name] for name in names}
