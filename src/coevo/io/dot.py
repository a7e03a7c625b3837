"""DOT, the language of Graphviz: write structures, and read simple directed graphs.

The reader accepts directed graphs as coevo, networkx (through pydot), pyAgrum and people
write them: nodes, chains of arcs, groups in braces, comments; it ignores attributes. It
refuses undirected graphs, because they are not DAGs. The name of a variable is the
identifier of its node, not the label. Inside quotes, DOT has one escape, of the quote
itself. All other backslashes are plain characters. `format_dot` refuses the few names in
which a backslash stands right before a quote, before a line end or at the end.
"""

from __future__ import annotations

import re
from typing import ClassVar

from coevo.graph import DAG
from coevo.io.csv_structures import (
    Model,
    StructureBuilder,
    check_encodable,
    get_dag,
    make_name_error,
)
from coevo.io.scanner import Scanner, Token

__all__ = ["format_dot", "parse_dot"]

LABEL = "DOT"
MAX_DEPTH = 100  # of nested braces
MIN_ARCS = 100_000  # a short text with groups may make so many arcs, a long one as many as it has
_OPEN_STRING = r'"(?:[^"\\]|\\.)*+'
_STRING = _OPEN_STRING + '"'
_ESCAPE = re.compile(r"\\(\r\n|.)", re.DOTALL)
_UNWRITABLE = re.compile(r'\0|(?<!\\)(?:\\\\)*\\(?=["\r\n]|\Z)')


class _DotScanner(Scanner):
    TOKEN: ClassVar[re.Pattern[str]] = re.compile(
        rf'\s*+(?:({_STRING})|((?:-(?=[.0-9]))?[^\s{{}}()\[\];,="<>:+|/#&-]++)|(->|--|[^\s"])|(")|)',
        re.DOTALL,
    )
    COMMENT: ClassVar[re.Pattern[str]] = re.compile(
        rf"{_OPEN_STRING}\"?|//[^\r\n]*+|/\*.*?\*/|(/\*)|^[ \t]*+#[^\r\n]*+",
        re.DOTALL | re.MULTILINE,
    )
    COMMENT_STARTS: ClassVar[tuple[str, ...]] = ("//", "/*", "#")

    def unquote(self, string: str) -> str:
        """Return the value of a string: only quotes and line ends can be escaped."""
        return _ESCAPE.sub(_unescape, string[1:-1])


def _unescape(match: re.Match[str]) -> str:
    if match[1] in ("\n", "\r", "\r\n"):
        return ""  # the string continues on the next line
    return '"' if match[1] == '"' else match[0]


def parse_dot(text: str, source: str = "<text>") -> DAG:
    """Read a structure from a DOT text.

    Raises `FormatError`, with line and column, when the text is malformed, or the graph is
    undirected or has a cycle.

    >>> parse_dot("digraph { rain -> {wet slippery}; alone }").arcs
    (('rain', 'slippery'), ('rain', 'wet'))
    >>> parse_dot("graph { a -- b }", "a.dot")
    Traceback (most recent call last):
    coevo.errors.FormatError: a.dot, line 1, column 1: the graph is undirected; write a digraph.
    """
    return _DotReader(_DotScanner(text, source)).read_dag()


class _DotReader:
    def __init__(self, scanner: _DotScanner) -> None:
        self._scanner = scanner
        self._builder: StructureBuilder[int] = StructureBuilder(scanner.make_error)
        self._is_strict = False  # a strict graph may repeat an arc
        self._n_arcs = 0  # all, also repeated ones

    def read_dag(self) -> DAG:
        scanner = self._scanner
        kind = scanner.next()
        if kind.kind == "word" and kind.text.lower() == "strict":
            self._is_strict = True
            kind = scanner.next()
        if kind.kind == "word" and kind.text.lower() == "graph":
            raise scanner.make_error(kind.start, "the graph is undirected; write a digraph.")
        if kind.kind != "word" or kind.text.lower() != "digraph":
            raise scanner.make_unexpected_error(kind, "'digraph'")
        if scanner.peek().is_name:
            scanner.next()  # the name of the graph
        scanner.expect("{", "after 'digraph'")
        self._read_statements(0)
        if scanner.peek().kind != "end":
            raise scanner.make_unexpected_error(scanner.peek(), "nothing after the graph")
        return self._builder.build_dag()

    def _read_statements(self, depth: int) -> list[str]:
        """Read up to the closing brace; return the names of the nodes in it."""
        scanner = self._scanner
        if depth > MAX_DEPTH:
            raise scanner.make_error(
                scanner.position, f"braces are nested more than {MAX_DEPTH} deep."
            )
        seen: list[str] = []
        while not (token := scanner.peek()).is_symbol("}"):
            if token.is_symbol(";") or token.is_symbol(","):
                scanner.next()
            elif token.kind == "word" and token.text.lower() in ("graph", "node", "edge"):
                scanner.next()
                self._skip_attributes()
            else:
                seen += self._read_chain(depth)
        scanner.next()
        return seen

    def _read_chain(self, depth: int) -> list[str]:
        """Read a node, a chain of arcs, a group or a setting; return the names of its nodes."""
        scanner = self._scanner
        before = self._read_endpoint(depth)
        if scanner.accept("="):
            scanner.expect_name("a value after '='")
            return []
        for name in before:
            self._builder.add_node(name)
        seen = list(before)
        while (arrow := scanner.peek()).is_symbol("->"):
            scanner.next()
            after = self._read_endpoint(depth)
            self._count_arcs(len(before) * len(after), arrow)
            for parent in before:
                for child in after:
                    self._add_arc(parent, child, arrow)
            seen += after
            before = after
        if arrow.is_symbol("--"):
            raise scanner.make_error(arrow.start, "'--' has no direction; write '->'.")
        self._skip_attributes()
        return seen

    def _count_arcs(self, n_more: int, arrow: Token) -> None:
        """Raise `FormatError` if groups make more arcs than a text of this size should have."""
        self._n_arcs += n_more
        limit = max(MIN_ARCS, len(self._scanner.text))
        if self._n_arcs > limit:
            sentence = f"the groups make more than {limit:,} arcs. Write fewer, or a list of arcs."
            raise self._scanner.make_error(arrow.start, sentence)

    def _add_arc(self, parent: str, child: str, arrow: Token) -> None:
        if not (self._is_strict and self._builder.has_arc(parent, child)):
            self._builder.add_arc(parent, child, arrow.start)

    def _read_endpoint(self, depth: int) -> list[str]:
        """Read one end of an arc: a node, or a group of nodes."""
        scanner = self._scanner
        token = scanner.next()
        if token.is_word("subgraph"):
            if scanner.peek().is_name:
                scanner.next()
            token = scanner.expect("{", "after 'subgraph'")
        if token.is_symbol("{"):
            return list(dict.fromkeys(self._read_statements(depth + 1)))
        if not token.is_name:
            raise scanner.make_unexpected_error(token, "a node, '}' or '->'")
        while scanner.accept(":"):  # a port: the point of the node where the arc ends
            scanner.expect_name("a port after ':'")
        return [token.text]

    def _skip_attributes(self) -> None:
        """Skip lists of attributes, if there are any."""
        scanner = self._scanner
        while scanner.accept("["):
            while not (token := scanner.next()).is_symbol("]"):
                if token.is_symbol("<"):
                    self._skip_html(token)
                elif not (token.is_name or token.text in ("=", ",", ";", "+")):
                    raise scanner.make_unexpected_error(token, "an attribute or ']'")

    def _skip_html(self, opening: Token) -> None:
        depth = 1
        for match in re.compile("[<>]").finditer(self._scanner.text, opening.end):
            depth += 1 if match[0] == "<" else -1
            if depth == 0:
                self._scanner.position = match.end()
                return
        raise self._scanner.make_error(opening.start, "the '<' here is never closed.")


def format_dot(model: Model) -> str:
    r"""Return a structure as a DOT text that `parse_dot` turns into the same structure.

    Raises `FormatError` when a name has a backslash in a place where DOT cannot write it.

    >>> print(format_dot(DAG(["very wet", "rain", "alone"], [("rain", "very wet")])), end="")
    digraph {
      "very wet";
      "rain";
      "alone";
      "rain" -> "very wet";
    }
    """
    dag = get_dag(model)
    ids = {name: _quote_identifier(name) for name in dag.nodes}
    nodes = [f"  {ids[name]};" for name in dag.nodes]
    arcs = [f"  {ids[parent]} -> {ids[child]};" for parent, child in dag.arcs]
    return "\n".join(["digraph {", *nodes, *arcs, "}"]) + "\n"


def _quote_identifier(name: str) -> str:
    check_encodable(name, LABEL)
    if _UNWRITABLE.search(name):
        reason = "it has a zero byte, or a backslash before a quote, a line end or its end"
        raise make_name_error(name, LABEL, reason)
    escaped = name.replace('"', '\\"')
    return f'"{escaped}"'
