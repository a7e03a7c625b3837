"""Exact answers about variables, given the states of others.

Each question is checked, loses what cannot matter to it, and goes to `Elimination`. These
functions are the methods of `BayesianNetwork` that have their names; what they mean stands
there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.distribution import Distribution
from coevo.network.elimination import Conditionals, Elimination, check_cells, relevant, spread
from coevo.network.elimination_order import Step
from coevo.network.evidence import checked_evidence, checked_targets, impossible

__all__ = [
    "Explanation",
    "condition",
    "log_probability",
    "marginals",
    "most_probable",
    "query",
]


@dataclass(frozen=True)
class Explanation:
    """The jointly most probable states of all variables that are not given."""

    states: Mapping[str, str]  # in the order of the network's variables
    log_probability: float  # of these states and the evidence together


def query(
    network: BayesianNetwork, targets: str | Iterable[str], given: Evidence | None = None
) -> Distribution:
    """Return the joint distribution of the targets given evidence."""
    evidence = checked_evidence(network, given, "query")
    names = checked_targets(network, targets, evidence, "query")
    variables = tuple(network.variable(name) for name in names)
    check_cells(2 * math.prod(variable.arity for variable in variables))
    free = [variable.name for variable in variables if variable.arity > 1]
    elimination = Elimination(network, evidence, relevant(network, {*names, *evidence}), free)
    conditionals = _possible(network, evidence, elimination, free)
    joint, axes = np.ones(()), []
    for step in reversed(elimination.steps[len(elimination.steps) - len(free) :]):
        # Its separator went later than it, so that the axes for it are already there.
        axes.append(step.variable)
        shape = spread(step.clique, axes, elimination.arity)
        joint = joint[..., None] * conditionals[step.variable].reshape(shape)
    joint = joint.transpose([axes.index(name) for name in free])
    return Distribution(variables, joint.reshape([variable.arity for variable in variables]))


def marginals(
    network: BayesianNetwork,
    targets: str | Iterable[str] | None = None,
    given: Evidence | None = None,
) -> dict[str, Distribution]:
    """Return the distribution of each target by itself, all of them from one elimination."""
    evidence = checked_evidence(network, given, "marginals")
    if targets is None:
        names = tuple(v.name for v in network.variables if v.name not in evidence)
    else:
        names = checked_targets(network, targets, evidence, "marginals")
    elimination = Elimination(network, evidence, relevant(network, {*names, *evidence}))
    steps = {step.variable: step for step in elimination.steps}
    keep = _towards_the_end(steps, names)
    conditionals = _possible(network, evidence, elimination, keep)
    found = _beliefs(elimination.steps, conditionals, names)
    return {
        name: Distribution((network.variable(name),), found.get(name, np.ones(1))) for name in names
    }


def _towards_the_end(steps: Mapping[str, Step], names: Iterable[str]) -> set[str]:
    """Return the variables on the way of each target's message to the end."""
    found: set[str] = set()
    for name in names:
        on_the_way = steps.get(name)
        while on_the_way is not None and on_the_way.variable not in found:
            found.add(on_the_way.variable)
            separator = on_the_way.separator
            on_the_way = steps[separator[-1]] if separator else None
    return found


def _beliefs(
    steps: tuple[Step, ...], conditionals: Conditionals, names: Iterable[str]
) -> dict[str, NDArray[np.float64]]:
    """Return the distribution of each name, going back from what was summed out last.

    A separator is part of the clique of the variable that takes its message, whose joint
    distribution is known by then.
    """
    wanted = set(names)
    joint: dict[str, NDArray[np.float64]] = {}
    cliques = {step.variable: step.clique for step in steps}
    found = {}
    for step in reversed(steps):
        if step.variable not in conditionals:
            continue
        above = np.ones(())
        if step.separator:
            clique = cliques[step.separator[-1]]
            gone = tuple(i for i, name in enumerate(clique) if name not in step.separator)
            above = joint[step.separator[-1]].sum(axis=gone)
        joint[step.variable] = conditionals[step.variable] * above[..., None]
        if step.variable in wanted:
            found[step.variable] = joint[step.variable].sum(axis=tuple(range(above.ndim)))
    return found


def log_probability(network: BayesianNetwork, given: Evidence | None = None) -> float:
    """Return the natural logarithm of the probability of evidence."""
    evidence = checked_evidence(network, given, "log_probability")
    return Elimination(network, evidence, relevant(network, evidence)).sum_out()[0]


def most_probable(network: BayesianNetwork, given: Evidence | None = None) -> Explanation:
    """Return the jointly most probable states of all variables that are not given."""
    evidence = checked_evidence(network, given, "most_probable")
    names = [variable.name for variable in network.variables]
    elimination = Elimination(network, evidence, names)
    total, codes = elimination.maximise()
    if total == -math.inf:
        raise impossible(network, evidence)
    codes |= elimination.observed
    states = {
        variable.name: variable.states[codes[variable.name]]
        for variable in network.variables
        if variable.name not in evidence
    }
    return Explanation(states, total)


def condition(network: BayesianNetwork, evidence: Mapping[str, int]) -> BayesianNetwork:
    """Return a network of the same variables whose distribution is that given the evidence.

    Observed variables have a table of zeros and a one, and the ancestors of these have new
    parents. All others keep their tables: their parents tell all that the evidence does.
    """
    elimination = Elimination(network, evidence, relevant(network, evidence))
    new = {step.variable: step.separator for step in elimination.steps}
    tables = dict(_possible(network, evidence, elimination, new))
    for name, code in evidence.items():
        new[name] = ()
        tables[name] = np.eye(network.variable(name).arity)[code]
    for variable in network.variables:
        if variable.name not in new:
            new[variable.name] = network.parents(variable.name)
            tables[variable.name] = network.table(variable.name)
    return BayesianNetwork(network.variables, new, tables, network.name)


def _possible(
    network: BayesianNetwork,
    evidence: Mapping[str, int],
    elimination: Elimination,
    keep: Iterable[str],
) -> Conditionals:
    """Return the tables to keep, once it is sure that the evidence is possible."""
    total, conditionals = elimination.sum_out(set(keep))
    if total == -math.inf:
        raise impossible(network, evidence)
    return conditionals
