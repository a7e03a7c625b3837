"""Exact inference: probabilities of variables given evidence.

Each function validates the query, drops the variables that cannot affect it, and runs
`Elimination`. The functions implement the methods of `BayesianNetwork` with the same names,
which document them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.distribution import Distribution
from coevo.network.elimination import (
    Conditionals,
    Elimination,
    broadcast_shape,
    check_table_size,
    find_relevant,
    make_point,
)
from coevo.network.elimination_order import EliminationStep
from coevo.network.evidence import check_targets, enter_evidence, make_impossible_evidence_error

__all__ = [
    "Explanation",
    "condition",
    "log_probability",
    "marginals",
    "most_probable_explanation",
    "query",
]


@dataclass(frozen=True)
class Explanation:
    """The jointly most probable states of all variables without evidence."""

    states: Mapping[str, str]  # in the order of the network's variables
    log_probability: float  # of these states jointly with the evidence


def query(
    network: BayesianNetwork, targets: str | Iterable[str], given: Evidence | None = None
) -> Distribution:
    """Return the joint distribution of the targets, given evidence."""
    network, evidence = enter_evidence(network, given, "query")
    names = check_targets(network, targets, evidence, "query")
    variables = tuple(network.variable(name) for name in names)
    check_table_size(2 * math.prod(variable.arity for variable in variables))
    free = [variable.name for variable in variables if variable.arity > 1]
    elimination = Elimination(network, evidence, find_relevant(network, {*names, *evidence}), free)
    conditionals = _sum_out_checked(network, evidence, elimination, free)
    joint, axes = np.ones(()), []
    for step in reversed(elimination.steps[len(elimination.steps) - len(free) :]):
        # The separator is eliminated after the variable, so its axes exist already.
        axes.append(step.variable)
        shape = broadcast_shape(step.clique, axes, elimination.arity)
        joint = joint[..., None] * conditionals[step.variable].reshape(shape)
    joint = joint.transpose([axes.index(name) for name in free])
    return Distribution(variables, joint.reshape([variable.arity for variable in variables]))


def marginals(
    network: BayesianNetwork,
    targets: str | Iterable[str] | None = None,
    given: Evidence | None = None,
) -> dict[str, Distribution]:
    """Return the marginal distribution of each target, all from one elimination."""
    all_names = [variable.name for variable in network.variables]
    network, evidence = enter_evidence(network, given, "marginals")
    if targets is None:
        names = tuple(name for name in all_names if name not in evidence)
    else:
        names = check_targets(network, targets, evidence, "marginals")
    elimination = Elimination(network, evidence, find_relevant(network, {*names, *evidence}))
    steps = {step.variable: step for step in elimination.steps}
    keep = _find_message_path(steps, names)
    conditionals = _sum_out_checked(network, evidence, elimination, keep)
    beliefs = _compute_beliefs(elimination.steps, conditionals, names)
    return {
        name: Distribution((network.variable(name),), beliefs.get(name, np.ones(1)))
        for name in names
    }


def _find_message_path(steps: Mapping[str, EliminationStep], names: Iterable[str]) -> set[str]:
    """Return the variables that the messages of the targets pass on their way to the last step."""
    path: set[str] = set()
    for name in names:
        step = steps.get(name)
        while step is not None and step.variable not in path:
            path.add(step.variable)
            step = steps[step.separator[-1]] if step.separator else None
    return path


def _compute_beliefs(
    steps: tuple[EliminationStep, ...], conditionals: Conditionals, names: Iterable[str]
) -> dict[str, NDArray[np.float64]]:
    """Return the distribution of each name, from the last elimination step to the first.

    A separator is a subset of the clique that received its message. The joint distribution
    of that clique is known at that time.
    """
    wanted = set(names)
    joint: dict[str, NDArray[np.float64]] = {}
    cliques = {step.variable: step.clique for step in steps}
    beliefs = {}
    for step in reversed(steps):
        if step.variable not in conditionals:
            continue
        separator_joint = np.ones(())
        if step.separator:
            clique = cliques[step.separator[-1]]
            others = tuple(i for i, name in enumerate(clique) if name not in step.separator)
            separator_joint = joint[step.separator[-1]].sum(axis=others)
        joint[step.variable] = conditionals[step.variable] * separator_joint[..., None]
        if step.variable in wanted:
            axes = tuple(range(separator_joint.ndim))
            beliefs[step.variable] = joint[step.variable].sum(axis=axes)
    return beliefs


def log_probability(network: BayesianNetwork, given: Evidence | None = None) -> float:
    """Return the natural logarithm of the probability of the evidence."""
    network, evidence = enter_evidence(network, given, "log_probability")
    return Elimination(network, evidence, find_relevant(network, evidence)).sum_out()[0]


def most_probable_explanation(
    network: BayesianNetwork, given: Evidence | None = None
) -> Explanation:
    """Return the jointly most probable states of all variables without evidence."""
    network, evidence = enter_evidence(network, given, "most_probable_explanation")
    names = [variable.name for variable in network.variables]
    elimination = Elimination(network, evidence, names)
    total, codes = elimination.maximise()
    if total == -math.inf:
        raise make_impossible_evidence_error(network, evidence)
    codes |= elimination.observed
    states = {
        variable.name: variable.states[codes[variable.name]]
        for variable in network.variables
        if variable.name not in evidence
    }
    return Explanation(states, total)


def condition(network: BayesianNetwork, given: Evidence | None, owner: str) -> BayesianNetwork:
    """Return a network whose distribution is the conditional distribution given the evidence.

    It has the same variables. The table of an observed variable has probability 1 for the
    observed state. The ancestors of observed variables get new parents. All other variables
    keep their tables: given their parents, they are independent of the evidence.
    """
    variables = network.variables
    network, evidence = enter_evidence(network, given, owner)
    if not evidence:
        return network
    elimination = Elimination(network, evidence, find_relevant(network, evidence))
    parents = {step.variable: step.separator for step in elimination.steps}
    tables = dict(_sum_out_checked(network, evidence, elimination, parents))
    for name, code in evidence.items():
        parents[name] = ()
        tables[name] = make_point(network.variable(name).arity, code)
    for variable in variables:
        if variable.name not in parents:
            parents[variable.name] = network.parents(variable.name)
            tables[variable.name] = network.table(variable.name)
    names = [variable.name for variable in variables]  # without the soft findings
    return BayesianNetwork(
        variables,
        {name: parents[name] for name in names},
        {name: tables[name] for name in names},
        network.name,
    )


def _sum_out_checked(
    network: BayesianNetwork,
    evidence: Mapping[str, int],
    elimination: Elimination,
    keep: Iterable[str],
) -> Conditionals:
    """Sum all variables out; return the conditionals, or raise if the evidence is impossible."""
    total, conditionals = elimination.sum_out(set(keep))
    if total == -math.inf:
        raise make_impossible_evidence_error(network, evidence)
    return conditionals
