"""What a question names: variables that are asked for, and states that are given.

Everything about a question that can be wrong is found here, before anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from coevo.data.variable import Variable
from coevo.errors import (
    NetworkError,
    ParameterError,
    bad_parameter,
    first_repeated,
    listed,
    suggestion,
)
from coevo.network.bayesian_network import BayesianNetwork, Evidence

__all__ = ["checked_evidence", "checked_targets", "impossible", "state_code"]


def checked_evidence(
    network: BayesianNetwork, given: Evidence | None, owner: str
) -> dict[str, int]:
    """Return the number of the state of each variable that is given, by name.

    >>> from coevo.bundled import load_network
    >>> checked_evidence(load_network("earthquake"), {"JohnCalls": "False"}, "query")
    {'JohnCalls': 1}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise bad_parameter("given", owner, "a mapping of variable to state", given)
    codes = {name: state_code(network.variable(name), state) for name, state in given.items()}
    return dict(sorted(codes.items()))


def state_code(variable: Variable, state: Any) -> int:
    """Return the number of a state among those of its variable."""
    if state not in variable.states:
        states = listed([repr(known) for known in variable.states])
        raise NetworkError(
            f"{variable.name!r} has no state {state!r}; its states are {states}."
            f"{suggestion(state, variable.states)}"
        )
    return variable.states.index(state)


def checked_targets(
    network: BayesianNetwork, targets: str | Iterable[str], given: Mapping[str, int], owner: str
) -> tuple[str, ...]:
    """Return the variables that are asked for; one may stand by itself."""
    if not isinstance(targets, Iterable):
        raise bad_parameter("targets", owner, "a variable, or a list of variables", targets)
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise ParameterError(f"'targets' of {owner} is empty. Name at least one variable.")
    twice = first_repeated(names)
    if twice is not None:
        raise ParameterError(f"'targets' of {owner} names {twice!r} twice.")
    for name in names:
        if network.variable(name).name in given:
            raise ParameterError(
                f"{name!r} is asked for and given. Leave it out of the targets or the evidence."
            )
    return names


def impossible(network: BayesianNetwork, evidence: Mapping[str, int]) -> NetworkError:
    """Return the error for evidence that has probability 0."""
    pieces = [f"{name!r} = {network.variable(name).states[i]!r}" for name, i in evidence.items()]
    return NetworkError(
        f"The evidence is impossible, the network gives it probability 0: {listed(pieces)}."
    )
