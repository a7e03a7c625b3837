"""The model string of R's bnlearn: ``[A][B|A][C|A:B]``.

A pair of brackets holds a variable and, after a bar, its parents, separated by colons. The
format has no quotes, so it cannot hold names with any of these four characters. Nor can it hold a
null character, which R has in no text; our reader accepts one, as 0.2.0 wrote it. The reader
ignores white space and line ends between the brackets; inside them they belong to the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from coevo.errors import FormatError
from coevo.graph import DAG
from coevo.io.csv_structures import Model, check_encodable, get_dag, make_name_error
from coevo.io.network_builder import NetworkBuilder

__all__ = ["format_modelstring", "parse_modelstring"]

LABEL = "A model string"
_SPACE = re.compile(r"\s*+")
_ITEM = re.compile(r"\[([^\[\]|:]++)(?:\|([^\[\]|]*+))?\]\s*+")
_SPECIAL = re.compile(r"[\[\]|:]")


def parse_modelstring(text: str, source: str = "<text>") -> DAG:
    """Read a structure from a model string.

    Raises `FormatError`, with line and column, when the text is malformed or has a cycle.

    >>> parse_modelstring("[rain][wet|rain:sprinkler][sprinkler]").parents("wet")
    ('rain', 'sprinkler')
    """
    string = text.removeprefix("\ufeff")

    def make_error(position: int, sentence: str) -> FormatError:
        before = string[:position]
        line, column = before.count("\n") + 1, position - before.rfind("\n")
        return FormatError(f"{source}, line {line}, column {column}: {sentence}")

    builder: NetworkBuilder[int] = NetworkBuilder(make_error, "pair of brackets")
    position = _SPACE.match(string).end()  # type: ignore[union-attr]  # it may be empty
    while item := _ITEM.match(string, position):
        builder.add_variable(item[1], item.start(1))
        builder.add_family(item[1], item.start(1), _parse_parents(item, make_error))
        position = item.end()
    if position < len(string) or not builder.names:
        sentence = "expected a variable and its parents, such as [A] or [C|A:B]."
        raise make_error(position, sentence)
    return DAG.from_parents(builder.check())


def _parse_parents(
    item: re.Match[str], make_error: Callable[[int, str], FormatError]
) -> list[tuple[str, int]]:
    """Return the parents after the bar, if there is one, with their positions."""
    if item[2] is None:
        return []
    parents, position = [], item.start(2)
    for name in item[2].split(":"):
        if not name:
            raise make_error(position, f"{item[1]!r} has a parent without a name.")
        parents.append((name, position))
        position += len(name) + 1
    return parents


def format_modelstring(model: Model) -> str:
    r"""Return the structure of a model as a model string, parents sorted by name.

    Raises `FormatError` when a name has a bracket, a bar, a colon or a null character, or is empty.

    >>> format_modelstring(DAG(["rain", "wet"], [("rain", "wet")]))
    '[rain][wet|rain]\n'
    """
    dag = get_dag(model)
    if not dag.nodes:
        raise FormatError(f"{LABEL} cannot hold a structure without variables. Write JSON.")
    for name in dag.nodes:
        check_encodable(name, LABEL)
        if not name or _SPECIAL.search(name):
            reason = "it has a bracket, a bar or a colon" if name else "it is empty"
            raise make_name_error(name, LABEL, reason)
        if "\0" in name:
            raise make_name_error(name, LABEL, "it has a null character")
    items = []
    for name in dag.nodes:
        parents = ":".join(dag.parents(name))
        items.append(f"[{name}|{parents}]" if parents else f"[{name}]")
    return "".join(items) + "\n"
