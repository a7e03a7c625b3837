"""The explanation of a target as plain records, and in sentences.

`coevo.network.explain` computes the records. A sentence names one state of the target, so that the
sentences of all findings can be compared; the records have the probabilities of all states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coevo.checks import finite_or_none
from coevo.data.summary import format_share, format_shares, format_state
from coevo.data.variable import Variable
from coevo.graph.active_paths import ActivePath

__all__ = ["FindingEffect", "NextObservation", "Outcome", "TargetExplanation"]

CONFLICT = math.log(2)  # nats: the other findings halve the probability of the finding
NO_CHANGE = 1e-9  # of a probability: smaller changes are round-off
SMALL_WEIGHT, TINY_WEIGHT = 0.1, 0.02  # nats: the odds change by less than 10 or 2 per cent
DIGITS = 3  # of a probability beside another one
States = Mapping[str, float]  # the probability of each state of the target


@dataclass(frozen=True, eq=False)
class FindingEffect:
    """What one finding does to the target.

    Attributes
    ----------
    variable : Variable
        The variable of the finding.
    value : object
        Its state, or soft evidence about it, as it was given.
    alone : mapping of str to float
        The distribution of the target given only this finding.
    without : mapping of str to float
        The distribution of the target given all other findings.
    weight_alone, weight : float
        The weight of evidence for the state of the explanation: alone, and given all other
        findings. In nats; infinite if the finding makes the state impossible or certain.
    conflict : float
        log P(finding) + log P(others) - log P(all), in nats. Above 0 the other findings make this
        one less probable.
    paths : tuple of ActivePath
        The shortest active paths to the target, given the other findings.
    separated_by : tuple of str
        If there is no active path: the findings that separate this one from the target. Empty if
        the two variables are independent without evidence.
    """

    variable: Variable
    value: Any
    alone: States
    without: States
    weight_alone: float
    weight: float
    conflict: float
    paths: tuple[ActivePath, ...]
    separated_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.variable.name

    @property
    def is_separated(self) -> bool:
        """Whether the finding tells nothing more about the target than the other findings."""
        return not self.paths

    def __str__(self) -> str:
        return _format_finding(self.variable, self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the effect as plain values; an infinite weight is None."""
        return {
            "variable": self.name,
            "value": self.value if isinstance(self.value, str) else _make_plain(self.value),
            "alone": dict(self.alone),
            "without": dict(self.without),
            "weight_alone": finite_or_none(self.weight_alone),
            "weight": finite_or_none(self.weight),
            "conflict": self.conflict,
            "is_separated": self.is_separated,
            "separated_by": list(self.separated_by),
            "paths": [
                {"nodes": list(path.nodes), "text": str(path), "opened_by": list(path.opened_by)}
                for path in self.paths
            ],
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """A state that an unobserved variable can turn out to have.

    Attributes
    ----------
    state : str
        The state.
    probability : float
        Its probability given the evidence.
    target_probability : float
        The probability that the state of the explanation would then have.
    """

    state: str
    probability: float
    target_probability: float


@dataclass(frozen=True, eq=False)
class NextObservation:
    """What an unobserved variable would tell about the target.

    Attributes
    ----------
    variable : Variable
        The variable.
    information : float
        Its mutual information with the target given the evidence, in nats.
    share : float
        The share of the entropy of the target that this is.
    outcomes : tuple of Outcome
        Its possible states.
    """

    variable: Variable
    information: float
    share: float
    outcomes: tuple[Outcome, ...]

    @property
    def name(self) -> str:
        """The name of the variable."""
        return self.variable.name

    def as_dict(self) -> dict[str, Any]:
        """Return the observation as plain values."""
        return {
            "variable": self.name,
            "information": self.information,
            "share": self.share,
            "outcomes": [
                {
                    "state": outcome.state,
                    "probability": outcome.probability,
                    "target_probability": outcome.target_probability,
                }
                for outcome in self.outcomes
            ],
        }


@dataclass(frozen=True, eq=False)
class TargetExplanation:
    """Why a target has its probability: the effect of each finding, and what to observe next.

    Attributes
    ----------
    target : Variable
        The target.
    state : str
        The state that weights and sentences are about.
    given : mapping
        The evidence.
    prior, posterior : mapping of str to float
        The distribution of the target without evidence, and given all findings.
    weight : float
        The weight of evidence of all findings together for the state, in nats.
    entropy : float
        The entropy of the posterior, in nats: what is not yet known about the target.
    findings : tuple of FindingEffect
        The findings; the largest contribution comes first.
    next_observations : tuple of NextObservation
        The unobserved variables that would tell most about the target, most first.
    """

    target: Variable
    state: str
    given: Mapping[str, Any]
    prior: States
    posterior: States
    weight: float
    entropy: float
    findings: tuple[FindingEffect, ...]
    next_observations: tuple[NextObservation, ...]

    def describe(self) -> str:
        """Return a sentence about the prior and the posterior."""
        low, high = self.prior[self.state], self.posterior[self.state]
        if not self.findings:
            return f"P({self.outcome}) is {format_share(low, DIGITS)} without evidence."
        n_findings = len(self.findings)
        noun, end = ("finding", "s") if n_findings == 1 else (f"{n_findings:,} findings", "")
        return f"The {noun} {_describe_change(self.outcome, low, high, self.weight, end)}."

    @property
    def outcome(self) -> str:
        """The state of the target as a condition, like "lung=yes"."""
        return format_state(self.target, self.state)

    def describe_finding(self, effect: FindingEffect) -> list[str]:
        """Return sentences about a finding: its contribution, its effect alone, its paths."""
        return list(self._iter_sentences(effect))

    def _iter_sentences(self, effect: FindingEffect) -> Iterator[str]:
        alone = self._describe_alone(effect)
        if effect.is_separated:
            once = _join(effect.separated_by)
            are = "is" if len(effect.separated_by) == 1 else "are"
            more = f" more about {self.target.name} once {once} {are} known"
            nothing = more if once else f" about {self.target.name}"
            yield f"{effect} tells nothing{nothing}."
            yield from [f"Alone it {alone}."] if once else []
        else:
            low, high = effect.without[self.state], self.posterior[self.state]
            change = _describe_change(self.outcome, low, high, effect.weight)
            yield f"{effect} {change}{self._describe_others()}."
            yield from [f"Alone it {alone}."] if len(self.findings) > 1 else []
            if abs(high - low) > NO_CHANGE:
                others = ", and by other paths" if len(effect.paths) > 1 else ""
                path = _describe_path(effect.paths[0])
                yield f"It reaches {self.target.name} along {path}{others}."
        if self._is_against(effect):
            yield "It points the other way than all findings together."
        if effect.conflict >= CONFLICT:
            times = math.exp(min(effect.conflict, 700))
            yield (
                f"It conflicts with the others: they make it {times:,.{1 if times < 10 else 0}f} "
                "times less probable."
            )

    def _describe_others(self) -> str:
        if len(self.findings) == 1:
            return ""
        return f", given the other finding{'s' if len(self.findings) > 2 else ''}"

    def _describe_alone(self, effect: FindingEffect) -> str:
        low, high = self.prior[self.state], effect.alone[self.state]
        return _describe_change(self.outcome, low, high, effect.weight_alone)

    def _is_against(self, effect: FindingEffect) -> bool:
        """Return whether a finding and all findings together change the state differently."""
        high = self.posterior[self.state]
        own, total = high - effect.without[self.state], high - self.prior[self.state]
        is_large = min(abs(effect.weight), abs(self.weight)) >= SMALL_WEIGHT
        return is_large and own * total < 0

    def describe_observation(self, told: NextObservation) -> str:
        """Return a sentence about what an unobserved variable would tell."""
        ranked = sorted(told.outcomes, key=lambda one: (one.target_probability, one.state))
        low, high = ranked[0], ranked[-1]
        texts = format_shares(low.target_probability, high.target_probability, DIGITS)
        first, last = (
            f"{text} if {format_state(told.variable, one.state)} (probability "
            f"{format_share(one.probability, DIGITS)})"
            for text, one in zip(texts, (low, high), strict=True)
        )
        share = f"{told.share:.0%}" if told.share >= 0.005 else "less than 1%"
        return (
            f"Observing {told.name} would remove {share} of the uncertainty on average "
            f"({told.information:.3g} nats): P({self.outcome}) would be {first}, and {last}."
        )

    def sentences(self) -> list[str]:
        """Return the explanation in sentences."""
        found = [self.describe()]
        for effect in self.findings:
            found += self.describe_finding(effect)
        return found + [self.describe_observation(one) for one in self.next_observations]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values; an infinite weight is None."""
        return {
            "target": self.target.name,
            "state": self.state,
            "given": {name: _make_plain(value) for name, value in self.given.items()},
            "prior": dict(self.prior),
            "posterior": dict(self.posterior),
            "weight": finite_or_none(self.weight),
            "entropy": self.entropy,
            "sentence": self.describe(),
            "findings": [
                effect.as_dict() | {"sentences": self.describe_finding(effect)}
                for effect in self.findings
            ],
            "next_observations": [
                one.as_dict() | {"sentence": self.describe_observation(one)}
                for one in self.next_observations
            ],
        }


def _describe_change(outcome: str, low: float, high: float, weight: float, end: str = "s") -> str:
    """Return what happens to the probability of a state: "raises P(lung=yes) from ... to ...".

    `end` is the end of the verb: "s" for one finding.
    """
    if abs(high - low) <= NO_CHANGE:
        return f"leave{end} P({outcome}) at {format_share(high, DIGITS)}"
    change = f"from {' to '.join(format_shares(low, high, DIGITS))}"
    if math.isinf(weight):
        word = "impossible" if weight < 0 else "certain"
        return f"make{end} {outcome} {word} ({change})"
    hardly = "hardly " if abs(weight) < TINY_WEIGHT else ""
    verb = "raise" if high > low else "lower"
    nats = f"{weight:+.2f}" if abs(weight) >= 0.01 else f"{weight:+.1g}"
    return f"{hardly}{verb}{end} P({outcome}) {change} ({nats} nats)"


def _describe_path(path: ActivePath) -> str:
    """Return a path, and the findings that open it."""
    if not path.opened_by:
        return str(path)
    are = "is" if len(path.opened_by) == 1 else "are"
    return f"{path} (open because {_join(path.opened_by)} {are} known)"


def _format_finding(variable: Variable, value: Any) -> str:
    """Return a finding as text: a condition, or the probabilities of soft evidence."""
    if isinstance(value, str):
        return format_state(variable, value)
    if isinstance(value, Mapping):
        listed = ", ".join(f"{state} {share:g}" for state, share in value.items())
        return f"{variable.name} ({listed})"
    return f"the finding about {variable.name}"


def _join(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _make_plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
