"""How variables and states are named on the command line: lists with commas between them.

Names and states may hold any character, commas and equals signs too, and nothing has to be
quoted for it: a list is read as names that the network has. Where it can be read in two
ways, the longest name or state goes first, and options that are given one by one settle it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

import click

from coevo.errors import ParameterError, find_duplicate

if TYPE_CHECKING:
    from coevo.network import BayesianNetwork

__all__ = ["given_option", "read_given", "read_names"]

given_option = click.option(
    "--given",
    multiple=True,
    metavar="VARIABLE=STATE",
    help="What is known; several with commas between them, or one option each. Names and "
    "states that hold commas or equals signs are recognised as they are.",
)


def read_given(network: BayesianNetwork, texts: Iterable[str]) -> dict[str, str]:
    """Return the state of each variable that ``--given`` names."""
    pairs = {
        f"{variable.name}={state}": (variable.name, state)
        for variable in network.variables
        for state in variable.states
    }
    found: list[tuple[str, str]] = []
    for text in texts:
        items = _known_items(text, pairs)
        if items is None:
            _refuse(network, next(item for item in text.split(",") if item not in pairs))
        found.extend(pairs[item] for item in items)
    twice = find_duplicate(name for name, _ in found)
    if twice is not None:
        raise ParameterError(f"'--given' names {twice!r} twice.")
    return dict(found)


def _refuse(network: BayesianNetwork, item: str) -> NoReturn:
    """Say what is wrong with an item that is not a variable with one of its states."""
    from coevo.network.evidence import encode_state

    names = [v.name for v in network.variables if item.startswith(f"{v.name}=")]
    if not names and "=" not in item:
        raise ParameterError(f"'--given' must be VARIABLE=STATE; got {item!r}.")
    name = max(names, key=len, default=item.partition("=")[0])
    encode_state(network.variable(name), item[len(name) + 1 :])
    raise AssertionError(f"{item!r} is a variable with one of its states")


def read_names(network: BayesianNetwork, texts: Iterable[str]) -> list[str]:
    """Return the variables that some arguments name."""
    known = {variable.name for variable in network.variables}
    found: list[str] = []
    for text in texts:
        items = _known_items(text, known)
        if items is None:
            items = [network.variable(name).name for name in text.split(",")]
        found.extend(items)
    return found


def _known_items(text: str, known: Iterable[str]) -> list[str] | None:
    """Return the known items that a text is when commas join them, or None.

    >>> _known_items("b,a,b", ["a", "b", "a,b"])
    ['b', 'a,b']
    >>> _known_items("b,c", ["a", "b"])
    """
    longest_first = sorted((item for item in known if item in text), key=len, reverse=True)
    lists: dict[int, list[str]] = {len(text) + 1: []}  # what the text is from a place on
    for start in range(len(text), -1, -1):
        if start > 0 and text[start - 1] != ",":
            continue
        for item in longest_first:
            after = start + len(item) + 1
            if after in lists and text.startswith(item, start):
                lists[start] = [item, *lists[after]]
                break
    return lists.get(0)
