"""A question about a network: its evidence, its cost, and its exact answer.

One question about a network: what it reads, its cost, and its exact answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.data.prepare.spellings import UNKNOWN, find_code
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
from coevo.network.clique_tree import MarginalCalculation, MarginalTree
from coevo.network.kernels import BUCKET_FIELDS, Plan, plan_question
from coevo.network.planning import Calculation

__all__ = [
    "EnteredEvidence",
    "JointQuestion",
    "MarginalQuestion",
    "check_targets",
    "encode_evidence",
    "encode_state",
    "enter_evidence",
    "make_impossible_evidence_error",
]

Table = NDArray[np.float64]


class _Question:
    """Some variables of a network, and evidence.

    Parameters
    ----------
    network : BayesianNetwork
        The network.
    codes : mapping of str to int
        The number of the state of each observed variable.
    findings : mapping of str to sequence of float
        The weights of soft findings.
    names : sequence of str
        The variables that are asked about; none of them is observed.
    is_total : bool
        Whether the probability of the evidence is asked for, too. Else only evidence is read that
        has an effect on the variables, and that which might be impossible.
    """

    def __init__(
        self,
        network: BayesianNetwork,
        codes: Mapping[str, int],
        findings: Mapping[str, Sequence[float]],
        names: Sequence[str],
        is_total: bool = False,
    ) -> None:
        self._network = numbered = network.numbered
        self._names, self._is_total = names, is_total
        self._evidence = numbered.encode(codes, findings)
        numbers = [numbered.number[name] for name in names]
        asked = [number for number in numbers if numbered.arity[number] > 1]
        self._asked = np.array(asked, dtype=np.int64)


class JointQuestion(_Question):
    """A question for the joint distribution of some variables, perhaps of none."""

    @cached_property
    def calculation(self) -> Calculation:
        """The plan of the answer."""
        network, evidence = self._network, self._evidence
        families, order = network.find_order(evidence, self._asked, self._is_total, are_last=True)
        axes = self._asked[::-1].copy()
        buckets = np.empty((len(network.names), BUCKET_FIELDS), dtype=np.int64)
        self._table = np.empty(1, dtype=np.int64)

        def make(plan: Plan) -> int:
            return plan_question(
                network.tables, order, families, axes, evidence, plan, buckets, self._table
            )

        return Calculation(network, evidence, order, make)

    def answer(self) -> tuple[Table, float]:
        """Return the distribution, an axis for each variable with several states, and log P(e).

        That is the probability of the evidence that was read. Impossible evidence has log P(e) =
        -inf, and no distribution. `FloatingPointError` is raised if a product falls below the
        smallest float.
        """
        log_probability = self.calculation.run()
        if not len(self._asked):
            return np.ones(()), log_probability
        joint, exponent = self.calculation.read(int(self._table[0]))
        total = float(joint.sum())
        if total == 0.0 or log_probability == -math.inf:
            return joint, -math.inf
        return joint / total, log_probability + math.log(total) + exponent * math.log(2)


class MarginalQuestion(_Question):
    """A question for the marginal distribution of each of some variables."""

    @cached_property
    def calculation(self) -> MarginalCalculation:
        """The plan of the answer."""
        families, order = self._network.find_order(self._evidence, self._asked, self._is_total)
        tree = MarginalTree(self._network, order, families, self._asked)
        return tree.plan(self._evidence)

    def answer(self) -> tuple[dict[str, Table], float]:
        """Return the marginal distributions, and log P(e); see `MarginalCalculation.answer`."""
        return self.calculation.answer(self._names)


# Validate a query, its targets and its evidence, before anything is computed.
#
# Evidence is *hard* or *soft*. Hard evidence is a state, or a number that falls into a bin. Soft
# evidence is a distribution over the states of a variable: an uncertain finding, whose probability
# given each state is proportional to the given number (Pearl 1988 calls it virtual evidence). A
# soft finding becomes a variable of its own, a child of the variable that it is about, and this
# variable is observed. All inference therefore needs hard evidence only.


FINDING_STATES = ("not_observed", "observed")


class EnteredEvidence(NamedTuple):
    """Evidence, ready for inference.

    `network` has a further variable for each soft finding. `codes` has the number of the state of
    each observed variable of it.
    """

    network: BayesianNetwork
    codes: dict[str, int]


def enter_evidence(network: BayesianNetwork, given: Evidence | None, owner: str) -> EnteredEvidence:
    """Validate evidence; return it with a network that has its soft findings.

    >>> from coevo.bundled import load_network
    >>> enter_evidence(load_network("earthquake"), {"JohnCalls": "False"}, "query").codes
    {'JohnCalls': 1}
    """
    codes, findings = encode_evidence(network, given, owner)
    extended = _add_findings(network, findings, codes) if findings else network
    return EnteredEvidence(extended, dict(sorted(codes.items())))


def encode_evidence(
    network: BayesianNetwork, given: Evidence | None, owner: str
) -> tuple[dict[str, int], dict[str, list[float]]]:
    """Validate evidence; return the numbers of observed states and the weights of soft findings.

    >>> from coevo.bundled import load_network
    >>> given = {"JohnCalls": "False", "Alarm": {"True": 3, "False": 1}}
    >>> encode_evidence(load_network("earthquake"), given, "query")
    ({'JohnCalls': 1}, {'Alarm': [0.75, 0.25]})
    """
    codes, findings = dict[str, int](), dict[str, list[float]]()
    if given is None:
        return codes, findings
    if not isinstance(given, Mapping):
        raise bad_parameter("given", owner, "a mapping of variable to state", given)
    for name, value in given.items():
        variable = network.variable(name)
        if isinstance(value, Mapping):
            findings[name] = _encode_finding(variable, value)
        else:
            codes[name] = encode_state(variable, value)
    return dict(sorted(codes.items())), dict(sorted(findings.items()))


def _encode_finding(variable: Variable, weights: Mapping[Any, Any]) -> list[float]:
    """Return the weight of each state, with the sum 1; a state that is left out has 0."""
    for state, weight in weights.items():
        if not (is_number(weight) and weight >= 0):
            raise ParameterError(
                f"The soft evidence on {variable.name!r} must have finite numbers of 0 or above; "
                f"got {weight!r} for {state!r}."
            )
    largest = max((float(weight) for weight in weights.values()), default=0.0)
    found = [0.0] * variable.arity
    for state, weight in weights.items():  # in units of a power of 2, so that the sum is finite
        found[encode_state(variable, state)] += math.ldexp(weight, -math.frexp(largest)[1])
    total = math.fsum(found)
    if total == 0:
        raise ParameterError(
            f"The soft evidence on {variable.name!r} has no number above 0. Give the weight of at "
            "least one state."
        )
    return [weight / total for weight in found]


def _add_findings(
    network: BayesianNetwork, findings: Mapping[str, list[float]], codes: dict[str, int]
) -> BayesianNetwork:
    """Return the network with a variable for each finding, which is observed in `codes`."""
    variables = {variable.name: variable for variable in network.variables}
    parents = {name: network.parents(name) for name in variables}
    tables: dict[str, Any] = {name: network.table(name) for name in variables}
    for name in sorted(findings):
        finding = f"soft evidence on {name}"
        while finding in variables:
            finding += "'"
        variables[finding] = Variable(finding, FINDING_STATES)
        parents[finding] = (name,)
        weights = np.array(findings[name])
        tables[finding] = np.stack([1 - weights, weights], axis=1)
        codes[finding] = 1
    return BayesianNetwork(variables.values(), parents, tables, network.name)


def encode_state(variable: Variable, state: Any) -> int:
    """Return the number of a state; a number falls into its bin.

    >>> encode_state(Variable("age", ("below_18", "from_18")), 40)
    1
    """
    code = find_code(variable, state)
    if code == UNKNOWN:
        states = format_list([repr(known) for known in variable.states])
        raise NetworkError(
            f"{variable.name!r} has no state {state!r}; its states are {states}."
            f"{suggest_match(state, variable.states)}"
        )
    return code


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
