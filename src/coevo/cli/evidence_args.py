"""How commands read evidence and names of variables: as lists with commas.

Names and states may contain any character, also commas and equals signs, without quotes: a
list is split into names that the network has. If there are two ways to split it, the longest
name or state wins. A user who wants the other way repeats the option for each item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import click

from coevo.errors import ParameterError, find_duplicate
from coevo.names import split_items

if TYPE_CHECKING:
    from coevo.cli.tables import Answering
    from coevo.data import Variable

__all__ = ["exact_option", "given_option", "read_given", "read_names", "soft_option"]

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"

given_option = click.option(
    "--given",
    multiple=True,
    metavar="VARIABLE=STATE",
    help="Evidence: the observed state of a variable, or a number for its bin (repeatable, or "
    "several with commas). Names and states may contain commas and equals signs.",
)
soft_option = click.option(
    "--soft",
    multiple=True,
    metavar="VARIABLE=STATE:WEIGHT,...",
    help="Soft evidence: an uncertain finding about a variable, with a weight for each state that "
    "it is possible in, as smoke=yes:0.7,no:0.3 (repeatable).",
)

exact_option = click.option(
    "--exact",
    is_flag=True,
    help="Compute exact answers, however long they take (default: those that would take more than "
    "about a minute are estimated, or refused where there is no honest estimate).",
)


def read_given(
    network: Answering, texts: Iterable[str], soft: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the evidence of ``--given`` and ``--soft``: the state or weights of each variable."""
    from coevo.data.summary import shorten_states

    pairs = {
        f"{variable.name}={text}": (variable.name, state)
        for variable in network.variables
        for state, short in shorten_states(variable.states).items()
        for text in (short, state)
    }
    evidence: list[tuple[str, Any]] = []
    for text in texts:
        known = {**_find_numbers(network, text), **pairs}
        items = split_items(text, known)
        if items is None:
            _raise_evidence_error(
                network, next(item for item in text.split(",") if item not in known)
            )
        evidence.extend(known[item] for item in items)
    evidence += [_read_soft(network, text) for text in soft]
    duplicate = find_duplicate(name for name, _ in evidence)
    if duplicate is not None:
        raise ParameterError(f"The evidence names {duplicate!r} twice. Give one state for it.")
    return dict(evidence)


def _find_numbers(network: Answering, text: str) -> dict[str, tuple[str, str]]:
    """Return the items of a text that are a variable and a number with a bin or a state."""
    from coevo.data.prepare.spellings import find_code

    found = {}
    for variable in network.variables:
        for match in re.finditer(f"{re.escape(variable.name)}=({_NUMBER})(?=,|$)", text):
            code = find_code(variable, match[1])
            if code >= 0:
                found[match[0]] = (variable.name, variable.states[code])
    return found


def _read_soft(network: Answering, text: str) -> tuple[str, dict[str, float]]:
    """Return the variable and the weights of an item of ``--soft``."""
    names = [v.name for v in network.variables if text.startswith(f"{v.name}=")]
    if not names and "=" not in text:
        raise ParameterError(f"'--soft' must be VARIABLE=STATE:WEIGHT,...; got {text!r}.")
    name = max(names, key=len, default=text.partition("=")[0])
    variable, rest = network.variable(name), text[len(name) + 1 :]
    weights = _find_weights(variable, rest)
    items = split_items(rest, weights)
    if items is None:
        raise ParameterError(
            f"'--soft' must have STATE:WEIGHT for states of {name!r}; got {rest!r}. Its states are "
            f"{', '.join(map(repr, variable.states))}."
        )
    duplicate = find_duplicate(weights[item][0] for item in items)
    if duplicate is not None:
        raise ParameterError(f"'--soft' names the state {duplicate!r} of {name!r} twice.")
    return name, dict(weights[item] for item in items)


def _find_weights(variable: Variable, text: str) -> dict[str, tuple[str, float]]:
    """Return the items of a text that are a state and its weight."""
    from coevo.data.summary import shorten_states

    return {
        match[0]: (state, float(match[1]))
        for state, short in shorten_states(variable.states).items()
        for shown in (short, state)
        for match in re.finditer(f"{re.escape(shown)}:({_NUMBER})(?=,|$)", text)
    }


def _raise_evidence_error(network: Answering, item: str) -> NoReturn:
    """Raise the error for an item that is not a variable with one of its states."""
    from coevo.network.question import encode_state

    names = [v.name for v in network.variables if item.startswith(f"{v.name}=")]
    if not names and "=" not in item:
        raise ParameterError(f"'--given' must be VARIABLE=STATE; got {item!r}.")
    name = max(names, key=len, default=item.partition("=")[0])
    encode_state(network.variable(name), item[len(name) + 1 :])
    raise AssertionError(f"{item!r} is a variable with one of its states")


def read_names(network: Answering, texts: Iterable[str]) -> list[str]:
    """Return the variables that arguments name."""
    known = {variable.name for variable in network.variables}
    names: list[str] = []
    for text in texts:
        items = split_items(text, known)
        if items is None:
            items = [network.variable(name).name for name in text.split(",")]
        names.extend(items)
    return names
