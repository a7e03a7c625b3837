"""Inference: probabilities of variables given evidence.

Each function validates the query, drops the variables that cannot affect it, and asks a question
(`coevo.network.question`). Where the tables of the best elimination order found do not fit into
memory, or take more than about a minute of work, distributions are estimated by likelihood
weighting, and say so. Everything else is refused then (`coevo.network.work_limit`). The functions
implement the methods of `BayesianNetwork` with the same names, which
document them.

Explanations, conditional networks, and answers with numbers below the smallest float come from
`Elimination`, which uses logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coevo.errors import ParameterError, format_count, warn_caller
from coevo.network.bayesian_network import BayesianNetwork, Evidence
from coevo.network.distribution import (
    Approximation,
    Distribution,
    describe_approximation,
    describe_infeasible,
)
from coevo.network.elimination import (
    Conditionals,
    Cost,
    Elimination,
    broadcast_shape,
    count_bytes,
    find_relevant,
    make_point,
)
from coevo.network.elimination_order import EliminationStep
from coevo.network.likelihood_weighting import (
    MIN_EFFECTIVE_SIZE,
    WeightedSample,
    draw_weighted_sample,
)
from coevo.network.question import (
    JointQuestion,
    MarginalQuestion,
    check_targets,
    encode_evidence,
    enter_evidence,
    make_impossible_evidence_error,
)
from coevo.network.work_limit import WorkLimit, check_exact, is_feasible
from coevo.runtime.memory import check_memory

__all__ = [
    "EvidenceProbability",
    "Explanation",
    "compute_by_logarithms",
    "compute_marginals",
    "condition",
    "draw_checked_sample",
    "limit_logarithms",
    "log_probability",
    "marginals",
    "measure_evidence",
    "most_probable_explanation",
    "most_probable_states",
    "query",
]


Table = NDArray[np.float64]


@dataclass(frozen=True)
class Explanation:
    """The jointly most probable states of variables: of all without evidence, or of some."""

    states: Mapping[str, str]  # in the order of the network's variables, or as they were named
    log_probability: float  # of these states jointly with the evidence


class EvidenceProbability(NamedTuple):
    """The natural logarithm of the probability of the evidence, and its standard error."""

    log_probability: float
    standard_error: float = 0.0  # 0 if the logarithm is exact

    @property
    def is_exact(self) -> bool:
        """Whether the logarithm is exact; else it is estimated."""
        return self.standard_error == 0


def query(
    network: BayesianNetwork,
    targets: str | Iterable[str],
    given: Evidence | None = None,
    exact: bool = False,
    limit: WorkLimit | None = None,
) -> Distribution:
    """Return the joint distribution of the targets, given evidence.

    With the `limit` of an answer that it is a part of, it is never estimated.
    """
    check_exact(exact, "query")
    codes, findings = encode_evidence(network, given, "query")
    names = check_targets(network, targets, codes, "query")
    n_cells = math.prod(network.variable(name).arity for name in names)
    what = f"joint distribution of {format_count(len(names), 'variable')}"
    way_out = "Ask for fewer variables at once."
    check_memory(count_bytes(n_cells), f"The {what}", way_out)  # the answer itself
    question = JointQuestion(network, codes, findings, names)
    cost = question.calculation.cost
    cost = cost._replace(n_bytes=cost.n_bytes + count_bytes(n_cells))  # and once more, divided
    if is_feasible(cost, exact, limit):
        return _query_exactly(network, given, names, question, limit or limit_logarithms(exact))
    # Sums of weights and of squares, also those of a block; probabilities and errors.
    check_memory(count_bytes(6 * n_cells), f"An estimate of the {what}", way_out)
    answers = _estimate(*enter_evidence(network, given, "query"), [names], cost)
    _warn_of_estimates(answers)
    return answers[0]


def limit_logarithms(exact: bool) -> WorkLimit:
    """Return the limit of an elimination with logarithms, where a plan was feasible."""
    return WorkLimit("An answer with numbers below the smallest float", exact)


def _query_exactly(
    network: BayesianNetwork,
    given: Evidence | None,
    names: Sequence[str],
    question: JointQuestion,
    limit: WorkLimit,
) -> Distribution:
    """Return the joint distribution of the targets; `limit` is that of logarithms."""
    variables = tuple(network.variable(name) for name in names)
    try:
        joint, total = question.answer()
    except FloatingPointError:
        return _query_by_logarithms(network, given, names, limit)
    if total == -math.inf:
        raise make_impossible_evidence_error(*enter_evidence(network, given, "query"))
    return Distribution(variables, joint.reshape([variable.arity for variable in variables]))


def _query_by_logarithms(
    network: BayesianNetwork, given: Evidence | None, names: Sequence[str], limit: WorkLimit
) -> Distribution:
    """Return the joint distribution of the targets, without products of small numbers."""
    variables = tuple(network.variable(name) for name in names)
    free = [variable.name for variable in variables if variable.arity > 1]
    network, evidence = enter_evidence(network, given, "query")
    elimination = Elimination(network, evidence, find_relevant(network, {*names, *evidence}), free)
    limit.add(elimination.measure_cost(free))
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
    exact: bool = False,
) -> dict[str, Distribution]:
    """Return the marginal distribution of each target, all from one elimination."""
    check_exact(exact, "marginals")
    answers = compute_marginals(network, targets, given, exact)
    _warn_of_estimates(answers.values())
    return answers


def compute_marginals(
    network: BayesianNetwork,
    targets: str | Iterable[str] | None = None,
    given: Evidence | None = None,
    exact: bool = False,
    limit: WorkLimit | None = None,
) -> dict[str, Distribution]:
    """Do as `marginals`, without a warning: for callers that tell about estimates themselves.

    With the `limit` of an answer that they are a part of, they are never estimated.
    """
    codes, findings = encode_evidence(network, given, "marginals")
    if targets is None:
        names = tuple(v.name for v in network.variables if v.name not in codes)
    else:
        names = check_targets(network, targets, codes, "marginals")
    question = MarginalQuestion(network, codes, findings, names)
    cost = question.calculation.cost
    # One question for each target keeps no messages, so it needs less memory, and less time if the
    # targets are few. It is worth it for targets that were named.
    if targets is not None and not cost.is_feasible:
        singles, singles_cost = list[JointQuestion](), Cost(0, 0)
        for name in names:
            singles.append(JointQuestion(network, codes, findings, [name]))
            singles_cost = _add_costs(singles_cost, singles[-1].calculation.cost)
            if singles_cost.rank >= cost.rank:
                break  # the others only add to it
        else:
            cost = singles_cost
            if is_feasible(cost, exact, limit):
                logarithms = limit or limit_logarithms(exact)
                return {
                    name: _query_exactly(network, given, [name], single, logarithms)
                    for name, single in zip(names, singles, strict=True)
                }
    if is_feasible(cost, exact, limit):
        return _compute_exactly(network, given, names, question, limit or limit_logarithms(exact))
    groups = [[name] for name in names]
    answers = _estimate(*enter_evidence(network, given, "marginals"), groups, cost)
    return dict(zip(names, answers, strict=True))


def _add_costs(one: Cost, other: Cost) -> Cost:
    """Return the cost of two answers, one after the other."""
    return Cost(max(one.n_bytes, other.n_bytes), one.n_operations + other.n_operations)


def _compute_exactly(
    network: BayesianNetwork,
    given: Evidence | None,
    names: Sequence[str],
    question: MarginalQuestion,
    limit: WorkLimit,
) -> dict[str, Distribution]:
    """Return the marginal distribution of each target; `limit` is that of logarithms."""
    try:
        found, total = question.answer()
    except FloatingPointError:
        found, total = compute_by_logarithms(network, given, names, limit)
    if total == -math.inf:
        raise make_impossible_evidence_error(*enter_evidence(network, given, "marginals"))
    return {name: Distribution((network.variable(name),), found[name]) for name in names}


def compute_by_logarithms(
    network: BayesianNetwork,
    given: Evidence | None,
    names: Collection[str],
    limit: WorkLimit,
) -> tuple[dict[str, Table], float]:
    """Return the marginals of unobserved variables, and log P(e), from one elimination.

    There are none if the evidence is impossible. No product of small numbers is computed.
    """
    arity = {name: network.variable(name).arity for name in names}
    network, evidence = enter_evidence(network, given, "marginals")
    elimination = Elimination(network, evidence, find_relevant(network, {*names, *evidence}))
    keep = _find_message_path({step.variable: step for step in elimination.steps}, names)
    limit.add(elimination.measure_cost(keep))
    total, conditionals = elimination.sum_out(keep)
    if total == -math.inf:
        return {}, total
    beliefs = _compute_beliefs(elimination.steps, conditionals, names)
    return {name: beliefs[name] if n > 1 else np.ones(1) for name, n in arity.items()}, total


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


def _estimate(
    network: BayesianNetwork,
    evidence: Mapping[str, int],
    groups: Sequence[Sequence[str]],
    cost: Cost,
) -> list[Distribution]:
    """Return the joint distribution of each group of targets by likelihood weighting.

    `cost` is that of the best elimination order found.
    """
    sample = draw_checked_sample(network, evidence, groups, cost)
    return [
        Distribution(
            tuple(network.variable(name) for name in group),
            probabilities,
            Approximation(
                errors, sample.n_samples, sample.effective_size, *cost, cost.is_in_memory
            ),
        )
        for group, probabilities, errors in zip(
            groups, sample.probabilities, sample.standard_errors, strict=True
        )
    ]


def _warn_of_estimates(answers: Collection[Distribution]) -> None:
    """Warn that answers are approximate, and how to get exact ones if memory allows it."""
    found = [answer.approximation for answer in answers if answer.approximation is not None]
    if found:
        is_in_memory = all(each.is_in_memory for each in found)
        way_out = " Pass exact=True to compute the exact answer." if is_in_memory else ""
        warn_caller(f"The answer is {describe_approximation(answers)}.{way_out}")


def draw_checked_sample(
    network: BayesianNetwork,
    evidence: Mapping[str, int],
    groups: Sequence[Sequence[str]],
    cost: Cost,
) -> WeightedSample:
    """Return a weighted sample; raise `ParameterError` if its effective size is too small."""
    sample = draw_weighted_sample(network, evidence, groups)
    if sample.effective_size < MIN_EFFECTIVE_SIZE:
        way_out = (
            "compute the exact answer with exact=True (--exact)"
            if cost.is_in_memory
            else "use a machine with more memory"
        )
        raise ParameterError(
            f"The evidence is too improbable for likelihood weighting: the effective size of "
            f"{sample.n_samples:,} samples is {sample.effective_size:.1f}, and "
            f"{MIN_EFFECTIVE_SIZE} are needed; {describe_infeasible(cost, cost.is_in_memory)}. "
            f"Leave out the least probable findings, or {way_out}."
        )
    return sample


def log_probability(
    network: BayesianNetwork,
    given: Evidence | None = None,
    exact: bool = False,
    limit: WorkLimit | None = None,
) -> float:
    """Return the natural logarithm of the probability of the evidence.

    `limit` is that of an answer that it is a part of.
    """
    check_exact(exact, "log_probability")
    codes, findings = encode_evidence(network, given, "log_probability")
    question = JointQuestion(network, codes, findings, (), is_total=True)
    is_all = limit is None
    if limit is None:
        limit = WorkLimit("'log_probability'", exact, "Use measure_evidence for an estimate")
    limit.add(question.calculation.cost, is_all)
    return _compute_log_probability(network, given, question, limit)


def _compute_log_probability(
    network: BayesianNetwork, given: Evidence | None, question: JointQuestion, limit: WorkLimit
) -> float:
    try:
        return question.answer()[1]
    except FloatingPointError:
        return compute_by_logarithms(network, given, (), limit)[1]


def measure_evidence(
    network: BayesianNetwork, given: Evidence | None = None, exact: bool = False
) -> EvidenceProbability:
    """Return the logarithm of the probability of the evidence; estimate it if necessary."""
    check_exact(exact, "measure_evidence")
    codes, findings = encode_evidence(network, given, "measure_evidence")
    question = JointQuestion(network, codes, findings, (), is_total=True)
    cost = question.calculation.cost
    if is_feasible(cost, exact):
        limit = limit_logarithms(exact)
        return EvidenceProbability(_compute_log_probability(network, given, question, limit))
    network, evidence = enter_evidence(network, given, "measure_evidence")
    sample = draw_checked_sample(network, evidence, [], cost)
    return EvidenceProbability(sample.log_probability, sample.log_probability_error)


def most_probable_explanation(
    network: BayesianNetwork, given: Evidence | None = None, exact: bool = False
) -> Explanation:
    """Return the jointly most probable states of all variables without evidence."""
    check_exact(exact, "most_probable_explanation")
    network, evidence = enter_evidence(network, given, "most_probable_explanation")
    names = [variable.name for variable in network.variables]
    elimination = Elimination(network, evidence, names)
    limit = WorkLimit("The most probable explanation", exact)
    limit.add(elimination.measure_cost(is_maximised=True), is_all=True)
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


def condition(
    network: BayesianNetwork, given: Evidence | None, owner: str, exact: bool = False
) -> BayesianNetwork:
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
    WorkLimit("A sample given evidence", exact).add(elimination.measure_cost(parents), is_all=True)
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


def most_probable_states(
    network: BayesianNetwork,
    targets: str | Iterable[str],
    given: Evidence | None = None,
    exact: bool = False,
) -> Explanation:
    """Return the jointly most probable states of the targets; all other variables are summed out.

    It is never estimated, as the most probable explanation is not.
    """
    check_exact(exact, "most_probable_states")
    codes, _ = encode_evidence(network, given, "most_probable_states")
    names = check_targets(network, targets, codes, "most_probable_states")
    variables = {name: network.variable(name) for name in names}
    network, evidence = enter_evidence(network, given, "most_probable_states")
    relevant = find_relevant(network, {*names, *evidence})
    free = [name for name, variable in variables.items() if variable.arity > 1]
    elimination = Elimination(network, evidence, relevant, free)
    way_out = "Give more evidence, ask for fewer variables"
    limit = WorkLimit("The most probable explanation of some variables", exact, way_out)
    limit.add(elimination.measure_cost(is_maximised=True), is_all=True)
    total, found = elimination.maximise(free)
    if total == -math.inf:
        raise make_impossible_evidence_error(network, evidence)
    found |= elimination.observed
    states = {name: variable.states[found[name]] for name, variable in variables.items()}
    return Explanation(states, total)
