"""How commands read evidence and names of variables: as lists with commas.

Names and states may contain any character, also commas and equals signs, without quotes: a
list is split into names that the network has. If there are two ways to split it, the longest
name or state wins. A user who wants the other way repeats the option for each item.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

import click

from coevo.errors import ParameterError, find_duplicate
from coevo.names import split_items

if TYPE_CHECKING:
    from coevo.network import BayesianNetwork

__all__ = ["given_option", "read_given", "read_names"]

given_option = click.option(
    "--given",
    multiple=True,
    metavar="VARIABLE=STATE",
    help="Evidence: the observed state of a variable (repeatable, or several with commas). "
    "Names and states may contain commas and equals signs.",
)


def read_given(network: BayesianNetwork, texts: Iterable[str]) -> dict[str, str]:
    """Return the evidence of ``--given``: the state of each variable that it names."""
    pairs = {
        f"{variable.name}={state}": (variable.name, state)
        for variable in network.variables
        for state in variable.states
    }
    evidence: list[tuple[str, str]] = []
    for text in texts:
        items = split_items(text, pairs)
        if items is None:
            _raise_evidence_error(
                network, next(item for item in text.split(",") if item not in pairs)
            )
        evidence.extend(pairs[item] for item in items)
    duplicate = find_duplicate(name for name, _ in evidence)
    if duplicate is not None:
        raise ParameterError(f"'--given' names {duplicate!r} twice. Give one state for it.")
    return dict(evidence)


def _raise_evidence_error(network: BayesianNetwork, item: str) -> NoReturn:
    """Raise the error for an item that is not a variable with one of its states."""
    from coevo.network.evidence import encode_state

    names = [v.name for v in network.variables if item.startswith(f"{v.name}=")]
    if not names and "=" not in item:
        raise ParameterError(f"'--given' must be VARIABLE=STATE; got {item!r}.")
    name = max(names, key=len, default=item.partition("=")[0])
    encode_state(network.variable(name), item[len(name) + 1 :])
    raise AssertionError(f"{item!r} is a variable with one of its states")


def read_names(network: BayesianNetwork, texts: Iterable[str]) -> list[str]:
    """Return the variables that arguments name."""
    known = {variable.name for variable in network.variables}
    names: list[str] = []
    for text in texts:
        items = split_items(text, known)
        if items is None:
            items = [network.variable(name).name for name in text.split(",")]
        names.extend(items)
    return names
