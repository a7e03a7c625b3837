"""NET, the language of Hugin, as Hugin, SamIam, pgmpy and pyAgrum write it.

    net { name = "weather"; }
    node rain { states = ("no" "yes"); }
    node wet { states = ("no" "yes"); }
    potential (rain) { data = (0.8 0.2); }
    potential (wet | rain) { data = ((0.9 0.1) (0.05 0.95)); }

In the data of a potential the child varies fastest, then the last parent, and the first
parent slowest. The name of a node is an identifier. Names and states that other tools could not
read have a portable spelling; the originals stand in extra fields, ``coevo_name = "body mass"``
and ``coevo_labels = ("very low" "high")``, which other tools ignore and `parse_net` reads back
(see `coevo.io.portable_names`).

Files of other tools hold two things that the language of `format_net` does not have. Hugin
normalises the rows of a table when it compiles a network, so a row may be counts or per cent.
Netica writes a long string over several lines; each line break is read as a blank. The reader
warns of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from coevo.errors import warn_caller
from coevo.io.network_builder import NetworkBuilder
from coevo.io.portable_names import (
    NAME_PROPERTY,
    STATES_PROPERTY,
    make_portable,
    quote_original,
    restore_originals,
)
from coevo.io.scanner import (
    NUMBER,
    OPEN_STRING,
    Scanner,
    Token,
    parse_numbers,
)
from coevo.network import CPT, BayesianNetwork

__all__ = ["format_net", "parse_net"]

KEYWORDS = ("net", "class", "node", "discrete", "continuous", "utility", "decision", "potential")
_DATA = re.compile(r"[-+.0-9eE()\s,]*+;")
_SEPARATOR = re.compile("[(),;]")


_LONG_OPEN_STRING = r'"(?:[^"\\]|\\.)*+'  # also over the end of a line
_AFTER_STRING = re.compile(r'\s*+["();]')
_LINE_BREAK = re.compile(r"[ \t]*[\r\n]\s*")


def _compile_tokens(open_string: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of tokens and of comments, for a pattern of strings without their end."""
    token = rf'\s*+(?:({open_string}")|([^\s{{}}()=;|"]++)|([{{}}()=;|])|(")|)'
    comment = rf"{open_string}\"?|%[^\r\n]*+"
    return re.compile(token, re.DOTALL), re.compile(comment, re.DOTALL)


class _NetScanner(Scanner):
    TOKEN: ClassVar[re.Pattern[str]]
    COMMENT: ClassVar[re.Pattern[str]]
    TOKEN, COMMENT = _compile_tokens(OPEN_STRING)
    COMMENT_STARTS: ClassVar[tuple[str, ...]] = ("%",)


class _LongStringScanner(_NetScanner):
    """A scanner for a text whose strings may hold line breaks."""

    TOKEN, COMMENT = _compile_tokens(_LONG_OPEN_STRING)

    def find_long_strings(self) -> list[re.Match[str]]:
        """Return the strings with line breaks, or none if a quote is lost.

        After a lost quote, the text between two strings looks like a string, and what follows it
        is a name. After a string, another string, a bracket or a semicolon follows.
        """
        strings = list(re.finditer(f'{_LONG_OPEN_STRING}("?)', self.text, re.DOTALL))
        long = [string for string in strings if _LINE_BREAK.search(string[0])]
        if all(string[1] and _AFTER_STRING.match(self.text, string.end()) for string in long):
            return long
        return []

    def unquote(self, string: str) -> str:
        """Return the value of a string, with a blank for each line break."""
        return super().unquote(_LINE_BREAK.sub(" ", string))


def parse_net(text: str, source: str = "<text>") -> BayesianNetwork:
    """Read a network from a NET text.

    Raises `FormatError`, with line and column, when the text is malformed.

    >>> network = parse_net('''net { }
    ... node rain { states = ("no" "yes"); }
    ... potential (rain) { data = (0.8 0.2); }''')
    >>> network.table("rain").tolist()
    [[0.8, 0.2]]
    """
    scanner = _NetScanner(text, source)
    long_scanner = _LongStringScanner(text, source)
    # Without long strings, the error of a lost quote names its line.
    if not (long_strings := long_scanner.find_long_strings()):
        return _NetReader(scanner).read_network()
    network = _NetReader(long_scanner).read_network()
    more = f" (and {len(long_strings) - 1:,} more)" if len(long_strings) > 1 else ""
    fault = f"this string{more} goes over the end of a line; the line break was read as a blank."
    warn_caller(str(scanner.make_error(long_strings[0].start(), fault)))
    return network


class _NetReader:
    """Read all blocks; then replace the names of nodes by the names of variables."""

    def __init__(self, scanner: _NetScanner) -> None:
        self._scanner = scanner
        self._title = ""
        self._originals: dict[str, str] = {}  # names of variables, by the names in the text
        self._original_states: dict[str, tuple[str, ...]] = {}
        self._builder: NetworkBuilder[int] = NetworkBuilder(
            scanner.make_error, "potential", allows_counts=True
        )
        self._potentials: list[tuple[Token, list[Token], list[float], int]] = []

    def read_network(self) -> BayesianNetwork:
        """Return the network of the text; warn of rows that were rounded."""
        self._read_blocks()
        data = {}
        for child, parents, values, position in self._potentials:
            named_parents = [(parent.text, parent.start) for parent in parents]
            self._builder.add_family(child.text, child.start, named_parents)
            data[child.text] = values, position
        parents_of = self._builder.check()
        tables = {name: self._builder.build_table(name, *data[name]) for name in parents_of}
        self._builder.warn_of_rounded_rows()
        parts = restore_originals(
            self._builder.variables, parents_of, tables, self._originals, self._original_states
        )
        return BayesianNetwork(*parts, self._title)

    def _read_blocks(self) -> None:
        scanner = self._scanner
        while (token := scanner.next()).kind != "end":
            if token.is_word("discrete"):
                token = scanner.next()
            if token.is_word("net"):
                self._read_net()
            elif token.is_word("node"):
                self._read_node()
            elif token.is_word("potential"):
                self._read_potential()
            elif token.kind == "word" and token.text in KEYWORDS:
                raise scanner.make_error(
                    token.start,
                    f"{token.text!r} is not supported. Use only discrete nodes and potentials.",
                )
            else:
                raise scanner.make_unexpected_error(token, "'net', 'node' or 'potential'")

    def _read_net(self) -> None:
        self._scanner.expect("{", "after 'net'")
        for field in self._read_field_names("the net block"):
            values = self._read_value(field)
            if field.text == "name":
                self._title = " ".join(value.text for value in values)

    def _read_field_names(self, where: str) -> Iterator[Token]:
        """Yield the name of each field up to the brace; the caller must read its value."""
        while not (token := self._scanner.next()).is_symbol("}"):
            if token.kind != "word":
                raise self._scanner.make_unexpected_error(token, f"a field or '}}' in {where}")
            self._scanner.expect("=", f"after {token.text!r}")
            yield token

    def _read_value(self, field: Token) -> list[Token]:
        """Read the value of a field and its semicolon; return its words and strings.

        pyAgrum does not quote states. The state `>=5` is then three tokens without blanks
        between them; this method joins them.
        """
        runs: list[list[Token]] = []
        while not (token := self._scanner.next()).is_symbol(";"):
            if token.is_symbol("(") or token.is_symbol(")"):
                continue
            if token.kind == "end" or token.is_symbol("{") or token.is_symbol("}"):
                expected = f"';' after the value of {field.text!r}"
                raise self._scanner.make_unexpected_error(token, expected)
            last = runs[-1][-1] if runs else None
            is_joined = last is not None and last.end == token.start
            if is_joined and "string" not in (runs[-1][-1].kind, token.kind):
                runs[-1].append(token)
            else:
                runs.append([token])
        return [_join_tokens(run) for run in runs]

    def _read_node(self) -> None:
        scanner = self._scanner
        node = scanner.expect_name("the name of a node")
        name, states = node.text, None
        self._builder.add_variable(name, node.start)
        scanner.expect("{", f"after the node {name!r}")
        for field in self._read_field_names(f"the node {name!r}"):
            values = self._read_value(field)
            if field.text == NAME_PROPERTY and len(values) == 1:
                self._originals[name] = values[0].text
            elif field.text == STATES_PROPERTY:
                self._original_states[name] = tuple(value.text for value in values)
            elif field.text == "states":
                if states is not None:
                    raise scanner.make_error(field.start, f"{name!r} has states twice.")
                states = [value.text for value in values]
        self._builder.set_states(name, states or (), node.start)

    def _read_potential(self) -> None:
        scanner = self._scanner
        scanner.expect("(", "after 'potential'")
        child = scanner.expect_name("the child of a potential")
        parents = []
        if scanner.accept("|"):
            groups = scanner.read_list(")", f"a parent of {child.text!r}")
            parents = [token for group in groups for token in group]
        else:
            scanner.expect(")", f"or '|' after the child {child.text!r}")
        scanner.expect("{", f"after the parents of {child.text!r}")
        data: tuple[list[float], int] | None = None
        for field in self._read_field_names(f"the potential of {child.text!r}"):
            if field.text != "data":
                self._read_value(field)
                continue
            if data is not None:
                sentence = f"the potential of {child.text!r} has data twice."
                raise scanner.make_error(field.start, sentence)
            data = self._read_data(child.text), field.start
        if data is None:
            raise scanner.make_error(child.start, f"the potential of {child.text!r} has no data.")
        self._potentials.append((child, parents, *data))

    def _read_data(self, name: str) -> list[float]:
        scanner = self._scanner
        if match := _DATA.match(scanner.text, scanner.position):
            values = parse_numbers(_SEPARATOR.sub(" ", match[0]))
            if values is not None:
                scanner.position = match.end()
                return values
        while True:  # the data hold a token that is not a number: find it
            token = scanner.next()
            if not (token.is_symbol("(") or token.is_symbol(")") or NUMBER.fullmatch(token.text)):
                raise scanner.make_unexpected_error(token, f"a number in the data of {name!r}")


def _join_tokens(run: list[Token]) -> Token:
    if len(run) == 1:
        return run[0]
    return Token("word", "".join(token.text for token in run), run[0].start, run[-1].end)


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
    return "\n".join(_format_lines(network)) + "\n"


def _format_lines(network: BayesianNetwork) -> Iterator[str]:
    portable = make_portable(network)
    yield "net"
    yield "{"
    if network.name:
        yield f"  name = {quote_original(network.name)};"
    yield "}"
    for variable in portable.variables:
        original = portable.originals[variable.name]
        listed = " ".join(f'"{state}"' for state in variable.states)
        yield f"node {variable.name}"
        yield "{"
        yield f"  states = ({listed});"
        if original.name != variable.name:
            yield f"  {NAME_PROPERTY} = {quote_original(original.name)};"
        if original.states != variable.states:
            yield f"  {STATES_PROPERTY} = ({' '.join(map(quote_original, original.states))});"
        yield "}"
    arity = {variable.name: variable.arity for variable in portable.variables}
    for name, parents in portable.parents.items():
        given = f" | {' '.join(parents)}" if parents else ""
        yield f"potential ({name}{given})"
        yield "{"
        yield f"  data = {_format_data(portable.tables[name], [arity[p] for p in parents])};"
        yield "}"


def _format_data(table: CPT, arities: list[int]) -> str:
    """Return a table with one level of brackets for each variable; the parents have `arities`."""
    groups = [f"({' '.join(map(repr, row))})" for row in table.tolist()]
    for arity in reversed(arities):
        starts = range(0, len(groups), arity)
        groups = [f"({' '.join(groups[start : start + arity])})" for start in starts]
    return groups[0]
