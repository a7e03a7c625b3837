"""Answers to questions about a network, as plain values for a page.

Questions come from a browser or a notebook, so their content is validated like that of any caller.
Where exact answers would take too much memory or time, probabilities are estimated, and the answer
has their standard errors and a sentence that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from coevo.checks import is_choice
from coevo.errors import NetworkError, ParameterError, bad_choice
from coevo.graph.active_paths import find_active_paths
from coevo.network import BayesianNetwork, JunctionTree
from coevo.network.distribution import describe_approximation
from coevo.network.estimated_beliefs import BeliefEstimator
from coevo.network.evidence import encode_evidence, encode_state
from coevo.network.explain import split_evidence
from coevo.network.inference import most_probable_explanation
from coevo.view.page.data import make_table_data

__all__ = ["QUESTIONS", "Explorer"]

DIGITS = 6  # significant digits of a probability
MOST_PATHS = 5
ESTIMATED = (
    "Estimated by likelihood weighting. Variables that seem to tell something by chance are left "
    "out."
)

Body = Mapping[str, Any]
Answer = dict[str, Any]


class Explorer:
    """A network and its junction tree, if it is not too large, which answers questions about it.

    Parameters
    ----------
    network : BayesianNetwork
        The network.
    parent_counts : mapping of str to sequence of numbers, optional
        The number of rows behind each row of a probability table.

    Examples
    --------
    >>> from coevo.bundled import load_network
    >>> explorer = Explorer(load_network("earthquake"))
    >>> answer = explorer.answer("beliefs", {"given": {"Alarm": "True"}})
    >>> round(answer["log_probability"], 3), answer["marginals"][1]
    (-4.128, [0.583461, 0.416539])
    """

    def __init__(
        self, network: BayesianNetwork, parent_counts: Mapping[str, Any] | None = None
    ) -> None:
        self.network = network
        self.names = sorted(variable.name for variable in network.variables)
        self._number = {name: i for i, name in enumerate(self.names)}
        self._parent_counts = parent_counts or {}

    @cached_property
    def tree(self) -> JunctionTree | BeliefEstimator:
        """The junction tree, which keeps its messages between questions.

        A network that is too large for one has an estimator, which answers the same questions.
        """
        try:
            return JunctionTree(self.network)
        except ParameterError:  # its only reason is the size
            return BeliefEstimator(self.network)

    def answer(self, question: str, body: Body) -> Answer:
        """Return the answer to a question of `QUESTIONS`; variables are numbered by name."""
        if not is_choice(question, QUESTIONS):
            raise bad_choice("question", "Explorer", QUESTIONS, question)
        return QUESTIONS[question](self, body)

    def tell_beliefs(self, body: Body) -> Answer:
        """Return the marginals of all variables and the logarithm of P(evidence).

        Impossible evidence is an answer, too: one sentence.
        """
        given = _get_given(body)
        encode_evidence(self.network, given, "beliefs")
        try:
            beliefs = self.tree.compute_beliefs(given)
        except NetworkError as error:
            return {"impossible": str(error)}
        found = [beliefs.marginals[name] for name in self.names]
        answer: Answer = {
            "marginals": [[_round(p) for p in each.probabilities.tolist()] for each in found],
            "log_probability": beliefs.log_probability,
        }
        if not all(each.is_exact for each in found):
            answer["standard_errors"] = [
                [_round(error) for error in each.standard_errors.tolist()] for each in found
            ]
            answer["log_probability_error"] = beliefs.log_probability_error
            answer["estimate"] = f"These numbers are {describe_approximation(found)}."
        return answer

    def tell_explanation(self, body: Body) -> Answer:
        """Return the jointly most probable state of each variable."""
        given = _get_given(body)
        found = most_probable_explanation(self.network, given)
        states = [
            encode_state(self.network.variable(name), found.states.get(name, given.get(name)))
            for name in self.names
        ]
        evidence = self.tree.compute_beliefs(given).log_probability
        return {
            "states": states,
            "log_probability": found.log_probability,
            "share": math.exp(min(0.0, found.log_probability - evidence)),
        }

    def tell_information(self, body: Body) -> Answer:
        """Return what each unobserved variable would tell about a target, in nats."""
        target, given = self._get_name(body, "target"), _get_given(body)
        if isinstance(self.tree, BeliefEstimator):
            estimated = self.tree.measure_information(target, given)
            rows = [
                {
                    "variable": self._number[name],
                    "nats": _round(nats),
                    "standard_error": _round(estimated.standard_errors[name]),
                }
                for name, nats in estimated.information.items()
            ]
            return {"entropy": _round(estimated.entropy), "rows": rows, "estimate": ESTIMATED}
        told = self.tree.measure_information(target, given)
        entropy = told.pop(target, 0.0)
        rows = [
            {"variable": self._number[name], "nats": _round(nats)}
            for name, nats in told.items()
            if round(nats, 9) > 0
        ]
        return {"entropy": _round(entropy), "rows": rows}

    def tell_paths(self, body: Body) -> Answer:
        """Return the shortest active paths between two variables, and what opens them."""
        source, target = self._get_name(body, "source"), self._get_name(body, "target")
        if source == target:
            raise ParameterError("Choose two different variables.")
        given = {n: value for n, value in _get_given(body).items() if n not in (source, target)}
        known, soft = split_evidence(given)
        paths = find_active_paths(self.network.dag, source, target, known, soft, MOST_PATHS)
        return {
            "paths": [
                {
                    "nodes": [self._number[node] for node in path.nodes],
                    "opened_by": [self._number[node] for node in path.opened_by],
                    "text": str(path),
                }
                for path in paths
            ],
            "known": [self._number[name] for name in known],
        }

    def tell_table(self, body: Body) -> Answer:
        """Return the probability table of a variable."""
        name = self._get_name(body, "variable")
        counts = self._parent_counts.get(name)
        return make_table_data(self.network, name, self._number, counts)

    def _get_name(self, body: Body, key: str) -> str:
        name = body.get(key)
        if not isinstance(name, str):
            raise ParameterError(f"The question must name a variable as its {key}.")
        return self.network.variable(name).name


def _get_given(body: Body) -> dict[str, Any]:
    """Return the evidence of a question: a state, or weights of states, of each variable."""
    given = body.get("given") or {}
    if not isinstance(given, Mapping) or not all(
        isinstance(value, str | Mapping) for value in given.values()
    ):
        raise ParameterError("The evidence must have a state, or weights, of each variable.")
    return dict(given)


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


QUESTIONS: dict[str, Callable[[Explorer, Body], Answer]] = {
    "beliefs": Explorer.tell_beliefs,
    "explanation": Explorer.tell_explanation,
    "information": Explorer.tell_information,
    "paths": Explorer.tell_paths,
    "table": Explorer.tell_table,
}
