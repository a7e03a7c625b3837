"""The settings of a posterior, validated."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TypedDict, cast

from coevo.checks import is_choice, is_int, is_number
from coevo.errors import ParameterError, bad_choice, bad_parameter
from coevo.posteriors.exact import STRUCTURE_PRIORS
from coevo.posteriors.family_weights import FAMILY_PRIORS
from coevo.score import Score

__all__ = [
    "POSTERIOR_DEFAULTS",
    "SAMPLERS",
    "PosteriorOptions",
    "PosteriorSettings",
    "check_score",
    "describe_score",
]

SAMPLERS = ("auto", "exact", "chains")
MOST_CHAINS = 1000  # each needs time and memory before its first step
MARGINAL_LIKELIHOODS = ("bdeu", "bds", "k2")
APPROXIMATIONS = ("bic", "fnml", "qnml")


class PosteriorOptions(TypedDict, total=False):
    """The options of a posterior, as `coevo.posterior` explains them."""

    prior: str
    family_prior: str
    sampler: str
    candidates: int
    chains: int
    temperatures: int
    networks: int
    tolerance: float
    max_steps: int | None


@dataclass(frozen=True)
class PosteriorSettings:
    """The settings of a posterior; `coevo.posterior` explains them."""

    prior: str = "uniform"
    family_prior: str = "uniform"
    sampler: str = "auto"
    candidates: int = 12
    chains: int = 4
    temperatures: int = 1
    networks: int = 1000
    tolerance: float = 0.05
    max_steps: int | None = None

    def __post_init__(self) -> None:
        owner = "posterior"
        for name, choices in (
            ("prior", STRUCTURE_PRIORS),
            ("family_prior", FAMILY_PRIORS),
            ("sampler", SAMPLERS),
        ):
            if not is_choice(getattr(self, name), choices):
                raise bad_choice(name, owner, choices, getattr(self, name))
        for name, least in (("candidates", 1), ("chains", 2), ("temperatures", 1), ("networks", 1)):
            if not is_int(getattr(self, name), least):
                raise bad_parameter(name, owner, f"an int >= {least}", getattr(self, name))
        if self.chains * self.temperatures > MOST_CHAINS:
            raise ParameterError(
                f"'chains' times 'temperatures' of posterior must be at most {MOST_CHAINS:,}; got "
                f"{self.chains * self.temperatures:,}."
            )
        if self.max_steps is not None and not is_int(self.max_steps, 1):
            raise bad_parameter("max_steps", owner, "an int >= 1 or None", self.max_steps)
        if not is_number(self.tolerance) or not 0 < self.tolerance < 1:
            expected = "a number between 0 and 1"
            raise bad_parameter("tolerance", owner, expected, self.tolerance)


POSTERIOR_DEFAULTS = cast(PosteriorOptions, asdict(PosteriorSettings()))


def check_score(score: Score) -> None:
    """Raise `ParameterError` for a score whose exponential is no weight of a network."""
    if score.name not in (*MARGINAL_LIKELIHOODS, *APPROXIMATIONS):
        raise ParameterError(
            f"The score {score.name!r} has no posterior: its exponential is no marginal "
            "likelihood. Use 'bdeu', 'bds' or 'k2', or 'bic', 'fnml' or 'qnml' as an "
            "approximation."
        )


def describe_score(score: Score) -> str | None:
    """Return a sentence about a score that only approximates a marginal likelihood, or None."""
    if score.name in MARGINAL_LIKELIHOODS:
        return None
    return (
        f"The score {score.name!r} approximates a marginal likelihood, so these are approximate "
        "posterior probabilities."
    )
