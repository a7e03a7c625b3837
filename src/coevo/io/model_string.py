"""The model string of R's bnlearn: ``[A][B|A][C|A:B]``.

Brackets hold a variable and, after a bar, its parents with colons between them. The format
has no quoting, so names with any of these four characters cannot be written. White space
and line ends between the brackets do not count; inside them they are part of the name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from coevo.errors import FormatError
from coevo.graph import DAG
from coevo.io.declarations import Declarations
from coevo.io.structures import Model, check_encodable, dag_of, unfit

__all__ = ["format_modelstring", "parse_modelstring"]

LABEL = "A model string"
_SPACE = re.compile(r"\s*+")
_ITEM = re.compile(r"\[([^\[\]|:]++)(?:\|([^\[\]|]*+))?\]\s*+")
_SPECIAL = re.compile(r"[\[\]|:]")


def parse_modelstring(text: str, source: str = "<text>") -> DAG:
    """Read a structure from a model string.

    Raises `FormatError`, with line and column, when it is malformed or cyclic.

    >>> parse_modelstring("[rain][wet|rain:sprinkler][sprinkler]").parents("wet")
    ('rain', 'sprinkler')
    """
    string = text.removeprefix("\ufeff")

    def error(at: int, sentence: str) -> FormatError:
        before = string[:at]
        line, column = before.count("\n") + 1, at - before.rfind("\n")
        return FormatError(f"{source}, line {line}, column {column}: {sentence}")

    found: Declarations[int] = Declarations(error, "pair of brackets")
    at = _SPACE.match(string).end()  # type: ignore[union-attr]  # it may be empty
    while item := _ITEM.match(string, at):
        found.declare(item[1], item.start(1))
        found.add_family(item[1], item.start(1), _parents(item, error))
        at = item.end()
    if at < len(string) or not found.names:
        raise error(at, "expected a variable and its parents, such as [A] or [C|A:B].")
    return DAG.from_parents(found.check())


def _parents(
    item: re.Match[str], error: Callable[[int, str], FormatError]
) -> list[tuple[str, int]]:
    """Return the parents that follow the bar, if there is one, with their places."""
    if item[2] is None:
        return []
    found, place = [], item.start(2)
    for name in item[2].split(":"):
        if not name:
            raise error(place, f"{item[1]!r} has a parent without a name.")
        found.append((name, place))
        place += len(name) + 1
    return found


def format_modelstring(model: Model) -> str:
    r"""Return the structure of a model as a model string, parents in the order of their names.

    Raises `FormatError` when a name has a bracket, a bar or a colon, or is empty.

    >>> format_modelstring(DAG(["rain", "wet"], [("rain", "wet")]))
    '[rain][wet|rain]\n'
    """
    dag = dag_of(model)
    if not dag.nodes:
        raise FormatError(f"{LABEL} cannot hold a structure without variables. Write JSON.")
    for name in dag.nodes:
        check_encodable(name, LABEL)
        if not name or _SPECIAL.search(name):
            raise unfit(
                name, LABEL, "it has a bracket, a bar or a colon" if name else "it is empty"
            )
    items = []
    for name in dag.nodes:
        given = ":".join(dag.parents(name))
        items.append(f"[{name}|{given}]" if given else f"[{name}]")
    return "".join(items) + "\n"
