"""Explain the probability of a target: what each finding does, and what to observe next.

The effect of a finding has two numbers, because findings overlap: its effect alone (from the prior
to the distribution given only this finding), and its contribution (from the distribution given all
other findings to the distribution given all). Both are also given as a *weight of evidence*: the
change of the log odds of one state of the target, in nats [1]_.

A finding without an active path to the target tells nothing more than the others. A finding
*conflicts* with the others if they make it less probable. The measure is that of Jensen [2]_:
log P(finding) + log P(others) - log P(all).

What an unobserved variable would tell is its mutual information with the target, given the
evidence: the expected loss of entropy of the target. It is exact, and takes one elimination for
each state of the target, because P(v | t, e) is known for all v at once. `BayesianNetwork.explain`
documents the parameters.

.. [1] I. J. Good, Probability and the Weighing of Evidence, Griffin, 1950.
.. [2] F. V. Jensen, B. Chamberlain, T. Nordahl and F. Jensen, Analysis in HUGIN of data conflict,
   Uncertainty in Artificial Intelligence, 1990.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_int
from coevo.data.variable import Variable
from coevo.errors import bad_parameter
from coevo.graph.active_paths import find_active_paths, find_connected
from coevo.network.bayesian_network import BayesianNetwork
from coevo.network.elimination import argmax_first, logarithm
from coevo.network.explanation import (
    FindingEffect,
    NextObservation,
    Outcome,
    TargetExplanation,
)
from coevo.network.inference import compute_marginals, log_probability, query
from coevo.network.question import check_targets, encode_state, enter_evidence
from coevo.network.work_limit import WorkLimit, check_exact

__all__ = ["explain", "split_evidence"]

DIGITS = 9  # of nats and probabilities: smaller differences are round-off
Given = Mapping[str, Any]  # the state of each observed variable, or soft evidence about it
Probabilities = NDArray[np.float64]  # (states of the target,)


def explain(
    network: BayesianNetwork,
    target: str,
    given: Given | None = None,
    state: str | None = None,
    top: int = 5,
    exact: bool = False,
) -> TargetExplanation:
    """Return what each finding does to the target, and what would tell most about it."""
    check_exact(exact, "explain")
    enter_evidence(network, given, "explain")
    findings: Given = {
        name: value if isinstance(value, Mapping) else _name_state(network.variable(name), value)
        for name, value in (given or {}).items()
    }
    if not isinstance(target, str):
        raise bad_parameter("target", "explain", "the name of a variable", target)
    check_targets(network, target, dict.fromkeys(findings, 0), "explain")
    if not is_int(top, 0):
        raise bad_parameter("top", "explain", "an int >= 0", top)
    variable = network.variable(target)
    chosen = None if state is None else encode_state(variable, state)
    reader = _Reader(network, variable, WorkLimit("An explanation", exact))
    prior, posterior = reader.query({}), reader.query(findings)
    code = _choose_state(prior, posterior) if chosen is None else chosen
    effects = [
        reader.measure_finding(name, findings, prior, posterior, code) for name in sorted(findings)
    ]
    return TargetExplanation(
        target=variable,
        state=variable.states[code],
        given=findings,
        prior=_name_states(variable, prior),
        posterior=_name_states(variable, posterior),
        weight=_weigh(prior, posterior, code),
        entropy=_compute_entropy(posterior),
        findings=tuple(sorted(effects, key=_rank_effect)),
        next_observations=tuple(reader.rank_observations(findings, posterior, code)[:top]),
    )


def _name_state(variable: Variable, value: Any) -> str:
    """Return the state of hard evidence, which may be a number."""
    return variable.states[encode_state(variable, value)]


class _Reader:
    """What a network says about one target, given evidence.

    `limit` is that of all answers together.
    """

    def __init__(self, network: BayesianNetwork, target: Variable, limit: WorkLimit) -> None:
        self._network, self._target, self._limit = network, target, limit

    def query(self, given: Given) -> Probabilities:
        """Return the distribution of the target."""
        return query(self._network, self._target.name, given, limit=self._limit).probabilities

    def measure_finding(
        self, name: str, given: Given, prior: Probabilities, posterior: Probabilities, code: int
    ) -> FindingEffect:
        """Return the effect of one finding, alone and given all others."""
        dag, target = self._network.dag, self._target.name
        others = {other: value for other, value in given.items() if other != name}
        known, soft = split_evidence(others)
        paths = find_active_paths(dag, name, target, known, soft)
        has_effect = others and find_active_paths(dag, name, target, most=1)
        alone = self.query({name: given[name]}) if has_effect or not others else prior
        without = prior if not others else self.query(others) if paths else posterior
        return FindingEffect(
            variable=self._network.variable(name),
            value=given[name],
            alone=_name_states(self._target, alone),
            without=_name_states(self._target, without),
            weight_alone=_weigh(prior, alone, code),
            weight=_weigh(without, posterior, code) if paths else 0.0,
            conflict=self._measure_conflict(name, given, others),
            paths=tuple(paths),
            separated_by=() if paths else self._find_separators(name, known, soft),
        )

    def _measure_conflict(self, name: str, given: Given, others: Given) -> float:
        """Return log P(finding) + log P(others) - log P(all), in nats."""
        if not others:
            return 0.0
        alone, rest, together = (
            log_probability(self._network, findings, limit=self._limit)
            for findings in ({name: given[name]}, others, given)
        )
        return alone + rest - together

    def _find_separators(
        self, name: str, known: Sequence[str], soft: Collection[str]
    ) -> tuple[str, ...]:
        """Return findings that separate a finding from the target, none of which can be left out.

        The result is empty if the two variables are independent without evidence.
        """
        dag, kept = self._network.dag, list(known)
        for other in known:
            fewer = [one for one in kept if one != other]
            if not find_active_paths(dag, name, self._target.name, fewer, soft, most=1):
                kept = fewer
        return tuple(kept)

    def rank_observations(
        self, given: Given, posterior: Probabilities, code: int
    ) -> list[NextObservation]:
        """Return what each unobserved variable would tell about the target, most first."""
        dag, target = self._network.dag, self._target
        known, soft = split_evidence(given)
        names = sorted(find_connected(dag, target.name, known, soft) - set(soft))
        entropy = _compute_entropy(posterior)
        if not names or round(entropy, DIGITS) == 0:
            return []
        rows: dict[str, list[Probabilities]] = {name: [] for name in names}
        for number, share in enumerate(posterior.tolist()):  # P(v | t, e) P(t | e)
            if share == 0:
                continue
            fixed = {**given, target.name: target.states[number]}
            found_marginals = compute_marginals(self._network, names, fixed, limit=self._limit)
            for name, found in found_marginals.items():
                rows[name].append(share * found.probabilities)
        place = int(np.count_nonzero(posterior[:code]))
        possible = posterior[code] > 0
        told = [
            self._measure_observation(name, np.array(rows[name]), place if possible else None)
            for name in names
        ]
        useful = [one for one in told if round(one.information, DIGITS) > 0]
        return sorted(useful, key=lambda one: (-round(one.information, DIGITS), one.name))

    def _measure_observation(
        self, name: str, joint: NDArray[np.float64], row: int | None
    ) -> NextObservation:
        """Return what a variable would tell, from its joint distribution with the target.

        `joint` is (possible states of the target, states of the variable); `row` is the state of
        the target that sentences are about, or None if it is impossible.
        """
        variable, shares = self._network.variable(name), joint.sum(axis=0)
        expected = joint.sum(axis=1, keepdims=True) * shares
        ratio = np.divide(joint, expected, out=np.ones_like(joint), where=joint > 0)
        information = max(0.0, float((joint * np.log(ratio)).sum()))
        outcomes = tuple(
            Outcome(state, float(share), 0.0 if row is None else float(joint[row, i] / share))
            for i, (state, share) in enumerate(zip(variable.states, shares.tolist(), strict=True))
            if share > 0
        )
        share = information / _compute_entropy(joint.sum(axis=1))
        return NextObservation(variable, information, min(1.0, share), outcomes)


def split_evidence(given: Given) -> tuple[list[str], list[str]]:
    """Return the variables whose states are known, and those with soft evidence, by name."""
    known = sorted(name for name, value in given.items() if isinstance(value, str))
    return known, sorted(given.keys() - set(known))


def _choose_state(prior: Probabilities, posterior: Probabilities) -> int:
    """Return the state that the evidence changes most.

    Both states of a variable with two states change as much. The rarer one is chosen, because an
    event of interest is rare. If nothing changes, it is the most probable of several states.
    """
    change = np.round(np.abs(posterior - prior), DIGITS)
    if not change.any() and len(prior) > 2:
        return int(argmax_first(logarithm(posterior)))
    rarest = np.where(change == change.max(), np.round(prior, DIGITS), np.inf)
    return int(np.argmin(rarest))


def _weigh(before: Probabilities, after: Probabilities, code: int) -> float:
    """Return the change of the log odds of a state; it is infinite if the state becomes 0 or 1."""
    low, high = _compute_log_odds(before, code), _compute_log_odds(after, code)
    return 0.0 if low == high else high - low


def _compute_log_odds(probabilities: Probabilities, code: int) -> float:
    yes = float(probabilities[code])
    no = math.fsum(np.delete(probabilities, code).tolist())  # exact also if it is tiny
    if yes == 0 or no == 0:
        return -math.inf if yes == 0 else math.inf
    return math.log(yes) - math.log(no)


def _compute_entropy(probabilities: Probabilities) -> float:
    occurring = probabilities[probabilities > 0]
    return max(0.0, -float((occurring * np.log(occurring)).sum()))


def _name_states(variable: Variable, probabilities: Iterable[float]) -> dict[str, float]:
    return dict(zip(variable.states, map(float, probabilities), strict=True))


def _rank_effect(effect: FindingEffect) -> tuple[float, float, str]:
    """Return the rank of a finding: the largest contribution, then the largest effect alone."""
    return -abs(round(effect.weight, DIGITS)), -abs(round(effect.weight_alone, DIGITS)), effect.name
