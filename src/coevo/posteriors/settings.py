"""The settings of a posterior, validated."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from coevo.errors import ParameterError
from coevo.options import ChainOptions, check_options, get_defaults
from coevo.score import Score

__all__ = [
    "SAMPLERS",
    "PosteriorSettings",
    "check_score",
    "describe_score",
]

SAMPLERS = ("auto", "exact", "chains")
MOST_CHAINS = 1000  # each needs time and memory before its first step
MARGINAL_LIKELIHOODS = ("bdeu", "bds", "k2")
APPROXIMATIONS = ("bic", "fnml", "qnml")
_DEFAULTS = get_defaults(ChainOptions)


@dataclass(frozen=True)
class PosteriorSettings:
    """The settings of a posterior; `coevo.posterior` explains them."""

    prior: str = _DEFAULTS["prior"]
    family_prior: str = _DEFAULTS["family_prior"]
    sampler: str = _DEFAULTS["sampler"]
    candidates: int = _DEFAULTS["candidates"]
    chains: int = _DEFAULTS["chains"]
    temperatures: int = _DEFAULTS["temperatures"]
    networks: int = _DEFAULTS["networks"]
    tolerance: float = _DEFAULTS["tolerance"]
    max_steps: int | None = _DEFAULTS["max_steps"]

    def __post_init__(self) -> None:
        check_options(ChainOptions, "posterior", asdict(self))
        if self.chains * self.temperatures > MOST_CHAINS:
            raise ParameterError(
                f"'chains' times 'temperatures' of posterior must be at most {MOST_CHAINS:,}; got "
                f"{self.chains * self.temperatures:,}."
            )


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
