"""Validate a query, its targets and its evidence, before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from coevo.data.variable import Variable
from coevo.errors import (
    NetworkError,
    ParameterError,
    bad_parameter,
    find_duplicate,
    format_list,
    suggest_match,
)
from coevo.network.bayesian_network import BayesianNetwork, Evidence

__all__ = ["check_targets", "encode_evidence", "encode_state", "make_impossible_evidence_error"]


def encode_evidence(network: BayesianNetwork, given: Evidence | None, owner: str) -> dict[str, int]:
    """Validate evidence; return the number of the state of each observed variable.

    >>> from coevo.bundled import load_network
    >>> encode_evidence(load_network("earthquake"), {"JohnCalls": "False"}, "query")
    {'JohnCalls': 1}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise bad_parameter("given", owner, "a mapping of variable to state", given)
    codes = {name: encode_state(network.variable(name), state) for name, state in given.items()}
    return dict(sorted(codes.items()))


def encode_state(variable: Variable, state: Any) -> int:
    """Return the number of a state among the states of its variable."""
    if state not in variable.states:
        states = format_list([repr(known) for known in variable.states])
        raise NetworkError(
            f"{variable.name!r} has no state {state!r}; its states are {states}."
            f"{suggest_match(state, variable.states)}"
        )
    return variable.states.index(state)


def check_targets(
    network: BayesianNetwork, targets: str | Iterable[str], given: Mapping[str, int], owner: str
) -> tuple[str, ...]:
    """Validate the targets of a query, one name or several; return them as a tuple."""
    if not isinstance(targets, Iterable):
        raise bad_parameter("targets", owner, "a variable, or a list of variables", targets)
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise ParameterError(f"'targets' of {owner} is empty. Name at least one variable.")
    duplicate = find_duplicate(names)
    if duplicate is not None:
        raise ParameterError(f"'targets' of {owner} names {duplicate!r} twice.")
    for name in names:
        if network.variable(name).name in given:
            raise ParameterError(
                f"{name!r} is both a target and evidence. Remove it from one of them."
            )
    return names


def make_impossible_evidence_error(
    network: BayesianNetwork, evidence: Mapping[str, int]
) -> NetworkError:
    """Return the exception for evidence that has probability 0."""
    states = [f"{name!r} = {network.variable(name).states[i]!r}" for name, i in evidence.items()]
    return NetworkError(f"The evidence has probability 0 under the network: {format_list(states)}.")
