"""DOT, the language of Graphviz: structures, written plainly and read where they are plain.

Read are directed graphs as coevo, networkx (through pydot), pyAgrum and people write them:
nodes, chains of arcs, attributes (passed over), groups in braces, comments. Undirected
graphs are refused: what they mean is not a DAG. A node's name is its identifier, not its
label. Inside quotes DOT knows one escape, of the quote itself; so a backslash is a
backslash, and the few names in which one stands right before a quote, a line end or the end
are refused by `format_dot`.
"""

from __future__ import annotations

import re
from typing import ClassVar

from coevo.graph import DAG
from coevo.io.scanner import Scanner, Token
from coevo.io.structures import Model, StructureReader, check_encodable, dag_of, unfit

__all__ = ["format_dot", "parse_dot"]

LABEL = "DOT"
MAX_DEPTH = 100  # of braces in braces
_STRING = r'"(?:[^"\\]|\\.)*+"'
_ESCAPE = re.compile(r"\\(\r\n|.)", re.DOTALL)
_UNFIT = re.compile(r'\0|(?<!\\)(?:\\\\)*\\(?=["\r\n]|\Z)')


class _DotScanner(Scanner):
    TOKEN: ClassVar[re.Pattern[str]] = re.compile(
        rf'\s*+(?:({_STRING})|((?:-(?=[.0-9]))?[^\s{{}}()\[\];,="<>:+|/#&-]++)|(->|--|[^\s"])|(")|)',
        re.DOTALL,
    )
    COMMENT: ClassVar[re.Pattern[str]] = re.compile(
        rf"{_STRING}|//[^\r\n]*+|/\*.*?\*/|(/\*)|^[ \t]*+#[^\r\n]*+", re.DOTALL | re.MULTILINE
    )
    COMMENT_MARKS: ClassVar[tuple[str, ...]] = ("//", "/*", "#")

    def unquote(self, string: str) -> str:
        """Return what a string says: only quotes and line ends can be escaped."""
        return _ESCAPE.sub(_unescape, string[1:-1])


def _unescape(found: re.Match[str]) -> str:
    if found[1] in ("\n", "\r", "\r\n"):
        return ""  # the string goes on
    return '"' if found[1] == '"' else found[0]


def parse_dot(text: str, source: str = "<text>") -> DAG:
    """Read a structure from a DOT text.

    Raises `FormatError`, with line and column, when it is malformed, undirected or cyclic.

    >>> parse_dot("digraph { rain -> {wet slippery}; alone }").arcs
    (('rain', 'slippery'), ('rain', 'wet'))
    >>> parse_dot("graph { a -- b }", "a.dot")
    Traceback (most recent call last):
    coevo.errors.FormatError: a.dot, line 1, column 1: the graph is undirected; write a digraph.
    """
    return _DotReader(_DotScanner(text, source)).dag()


class _DotReader:
    def __init__(self, scanner: _DotScanner) -> None:
        self._scanner = scanner
        self._found: StructureReader[int] = StructureReader(scanner.error)
        self._is_strict = False  # then an arc may be repeated

    def dag(self) -> DAG:
        scanner = self._scanner
        kind = scanner.next()
        if kind.kind == "word" and kind.text.lower() == "strict":
            self._is_strict = True
            kind = scanner.next()
        if kind.kind == "word" and kind.text.lower() == "graph":
            raise scanner.error(kind.start, "the graph is undirected; write a digraph.")
        if kind.kind != "word" or kind.text.lower() != "digraph":
            raise scanner.unexpected(kind, "'digraph'")
        if scanner.peek().is_name:
            scanner.next()  # what the graph is called
        scanner.expect("{", "after 'digraph'")
        self._statements(0)
        if scanner.peek().kind != "end":
            raise scanner.unexpected(scanner.peek(), "nothing after the graph")
        return self._found.dag()

    def _statements(self, depth: int) -> list[str]:
        """Read up to the closing brace; return the names of the nodes seen."""
        scanner = self._scanner
        if depth > MAX_DEPTH:
            raise scanner.error(scanner.at, f"braces stand in braces {MAX_DEPTH} deep.")
        seen: list[str] = []
        while not (token := scanner.peek()).is_mark("}"):
            if token.is_mark(";") or token.is_mark(","):
                scanner.next()
            elif token.kind == "word" and token.text.lower() in ("graph", "node", "edge"):
                scanner.next()
                self._attributes()
            else:
                seen += self._chain(depth)
        scanner.next()
        return seen

    def _chain(self, depth: int) -> list[str]:
        """Read one node, arcs, a group or a setting; return the names of the nodes."""
        scanner = self._scanner
        before = self._end(depth)
        if scanner.accept("="):
            scanner.expect_name("a value after '='")
            return []
        for name in before:
            self._found.add_node(name)
        seen = before
        while (arrow := scanner.peek()).is_mark("->"):
            scanner.next()
            after = self._end(depth)
            for parent in before:
                for child in after:
                    self._arc(parent, child, arrow)
            seen, before = seen + after, after
        if arrow.is_mark("--"):
            raise scanner.error(arrow.start, "'--' has no direction; write '->'.")
        self._attributes()
        return seen

    def _arc(self, parent: str, child: str, arrow: Token) -> None:
        if not (self._is_strict and self._found.has_arc(parent, child)):
            self._found.add_arc(parent, child, arrow.start)

    def _end(self, depth: int) -> list[str]:
        """Read what can stand at the end of an arc: a node, or a group of nodes."""
        scanner = self._scanner
        token = scanner.next()
        if token.is_word("subgraph"):
            if scanner.peek().is_name:
                scanner.next()
            token = scanner.expect("{", "after 'subgraph'")
        if token.is_mark("{"):
            return list(dict.fromkeys(self._statements(depth + 1)))
        if not token.is_name:
            raise scanner.unexpected(token, "a node, '}' or '->'")
        while scanner.accept(":"):  # a port: where on the node the arc ends
            scanner.expect_name("a port after ':'")
        return [token.text]

    def _attributes(self) -> None:
        """Step over lists of attributes, if there are any."""
        scanner = self._scanner
        while scanner.accept("["):
            while not (token := scanner.next()).is_mark("]"):
                if token.is_mark("<"):
                    self._skip_html(token)
                elif not (token.is_name or token.text in ("=", ",", ";", "+")):
                    raise scanner.unexpected(token, "an attribute or ']'")

    def _skip_html(self, opened: Token) -> None:
        depth = 1
        for found in re.compile("[<>]").finditer(self._scanner.text, opened.end):
            depth += 1 if found[0] == "<" else -1
            if depth == 0:
                self._scanner.at = found.end()
                return
        raise self._scanner.error(opened.start, "the '<' here is never closed.")


def format_dot(model: Model) -> str:
    r"""Return a structure as a DOT text that `parse_dot` turns into the same structure.

    Raises `FormatError` when a name has a backslash where DOT has no way to write it.

    >>> print(format_dot(DAG(["very wet", "rain", "alone"], [("rain", "very wet")])), end="")
    digraph {
      "very wet";
      "rain";
      "alone";
      "rain" -> "very wet";
    }
    """
    dag = dag_of(model)
    ids = {name: _identifier(name) for name in dag.nodes}
    nodes = [f"  {ids[name]};" for name in dag.nodes]
    arcs = [f"  {ids[parent]} -> {ids[child]};" for parent, child in dag.arcs]
    return "\n".join(["digraph {", *nodes, *arcs, "}"]) + "\n"


def _identifier(name: str) -> str:
    check_encodable(name, LABEL)
    if _UNFIT.search(name):
        why = "it has a zero byte, or a backslash before a quote, a line end or its end"
        raise unfit(name, LABEL, why)
    escaped = name.replace('"', '\\"')
    return f'"{escaped}"'
