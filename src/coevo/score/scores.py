r"""The scores, their formulas and their priors.

All scores are natural logarithms, and higher is better. Take a variable with r states whose
parents have q configurations. Let :math:`n_{jk}` be the number of rows with parent
configuration j and state k, :math:`n_j = \sum_k n_{jk}`, and N the number of rows. The counts
:math:`n_{jk}` are the sufficient statistics of every score. The score of a network is the sum
of the local scores of its families (the score is *decomposable*). A configuration that never
occurs adds exactly 0 to the data term of every score.

A score is *equivalent* when it gives the same value to all networks of an equivalence class,
that is, to networks that state the same independences. Such a score ignores the direction of
arcs that the data cannot direct. BDeu, BIC, AIC and the log-likelihood are equivalent; K2 and
BDs are not. (The paper that coevo starts from calls its score, K2, equivalent. With every
hyperparameter 1 it is not: the prior counts of a family with parents are not the margins of
one joint prior. ``tests/score/test_equivalence.py`` shows a counter-example with two
variables.) qNML is equivalent too; fNML is not.

References
----------
Cooper and Herskovits 1992 (K2); Heckerman, Geiger and Chickering 1995 (BDe, BDeu);
Scutari 2016 (BDs); Schwarz 1978 (BIC); Akaike 1974 (AIC); Silander, Roos, Kontkanen and
Myllymäki 2008 (fNML); Silander, Leppä-aho, Jääsaari and Roos 2018 (qNML).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coevo.checks import is_number
from coevo.errors import ParameterError, bad_choice, bad_parameter
from coevo.names import match_name
from coevo.score.kernels import (
    ALL_ONES,
    DIRICHLET,
    DIRICHLET_SEEN,
    FACTORISED,
    LIKELIHOOD,
    QUOTIENT,
    ScoreSpec,
)

__all__ = [
    "AIC",
    "BIC",
    "FNML",
    "QNML",
    "SCORES",
    "BDeu",
    "BDs",
    "K2Score",
    "LogLikelihood",
    "Score",
    "approximate_regret",
    "compute_two_state_constants",
    "make_score",
    "tabulate_regret_by_states",
]


# The regret of a multinomial: the normalising constant of normalised maximum likelihood (NML).
#
# The NML distribution of n observations of a variable with K states divides their maximum
# likelihood by its sum over all samples of n observations,
#
# .. math:: C(K, n) = \sum_{n_1 + \dots + n_K = n} \frac{n!}{n_1! \cdots n_K!}
#           \prod_k \left(\frac{n_k}{n}\right)^{n_k}
#
# Its logarithm is the regret: the price of not knowing the parameters. The scores fNML and qNML
# subtract it; it takes the place of the penalty of BIC, and has no parameter to choose.
#
# C(1, n) is 1. C(2, n) is the sum of n + 1 terms. For n >= 128 its asymptotic series (that of
# Ramanujan's Q function) has a relative error below 1e-12. More states follow from the recurrence
# C(K + 2, n) = C(K + 1, n) + (n / K) C(K, n). engine/score.c applies it to the ratios of
# neighbours, which never overflow.
#
# References
# ----------
# P. Kontkanen, P. Myllymäki (2007). A linear-time algorithm for computing the multinomial
# stochastic complexity. Information Processing Letters 103, 227-233.
#
# W. Szpankowski, M. J. Weinberger (2012). Minimax pointwise redundancy for memoryless models over
# large alphabets. IEEE Transactions on Information Theory 58, 4094-4104.


FIRST_ASYMPTOTIC = 128


def compute_two_state_constants(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return C(2, n) for each n of `counts`.

    >>> compute_two_state_constants(np.arange(4)).round(4).tolist()
    [1.0, 2.0, 2.5, 2.8889]
    """
    n = np.maximum(counts, 1).astype(np.float64)
    root = np.sqrt(n)
    constants = (
        math.sqrt(math.pi / 2) * root
        + 2 / 3
        + math.sqrt(2 * math.pi) / (24 * root)
        - 4 / (135 * n)
        + math.sqrt(2 * math.pi) / (576 * n * root)
        + 8 / (2835 * n * n)
        - 139 * math.sqrt(math.pi / 2) / (51840 * n * n * root)
        + 16 / (8505 * n * n * n)
        - 571 * math.sqrt(math.pi / 2) / (2488320 * n * n * n * root)
    )
    for i in np.flatnonzero(counts < FIRST_ASYMPTOTIC):
        constants[i] = _sum_two_states(int(counts[i]))
    return constants


def _sum_two_states(n: int) -> float:
    """Return C(2, n) by its definition."""
    if n == 0:
        return 1.0
    return math.fsum(
        math.comb(n, k) * (k / n) ** k * ((n - k) / n) ** (n - k) for k in range(n + 1)
    )


def tabulate_regret_by_states(n_rows: int, max_states: int) -> NDArray[np.float64]:
    """Return log C(K, n_rows) for K = 0, 1, ..., `max_states`; the entry of K = 0 is 0.

    >>> tabulate_regret_by_states(1, 4).round(4).tolist()
    [0.0, 0.0, 0.6931, 1.0986, 1.3863]
    """
    ratio = float(compute_two_state_constants(np.array([n_rows]))[0])
    logs = np.zeros(max_states + 1)
    for k in range(2, max_states + 1):
        logs[k] = math.log(ratio)
        ratio = 1.0 + n_rows / (k - 1) / ratio
    return np.cumsum(logs)


def approximate_regret(n_states: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """Return log C for many states (Szpankowski and Weinberger 2012).

    Above 65,536 states the error is below 3e-6, and below 1e-10 of the regret.
    """
    alpha = n_states / n_rows
    excess = 2 / alpha / (1 + np.sqrt(1 + 4 / alpha))  # the C of the paper, minus 1
    terms = np.log(alpha) + (alpha + 2) * np.log1p(excess) - 1 / (1 + excess)
    regret: NDArray[np.float64] = n_rows * terms - 0.5 * np.log(1 + excess + 2 / alpha)
    return regret


LONGEST_TABLE = 1 << 16  # counts, half a megabyte; terms of larger counts are computed
LEAST_ESS, LARGEST_ESS = 1e-300, 1e300  # the share of one cell must be a normal float


def _tabulate_log_factorials(n_rows: int, max_arity: int) -> NDArray[np.float64]:
    """Return a table of log n! for all small counts n, plus the prior counts."""
    longest = min(n_rows, LONGEST_TABLE) + max_arity
    return np.fromiter(map(math.lgamma, range(1, longest + 2)), dtype=np.float64)


def _tabulate_n_log_n(n_rows: int) -> NDArray[np.float64]:
    """Return a table of n log n for all small counts n."""
    longest = min(n_rows, LONGEST_TABLE)
    return np.array([0.0, *(n * math.log(n) for n in range(1, longest + 1))])


class Score(ABC):
    """The base class of all scores; the module docstring explains the symbols."""

    name: ClassVar[str]
    formula: ClassVar[str]
    is_equivalent: ClassVar[bool]

    @property
    def label(self) -> str:
        """The name of the score and its prior, for people.

        >>> K2Score().label, BDeu(10).label
        ('k2', 'bdeu (ess 10)')
        """
        return self.name

    @abstractmethod
    def make_spec(self, n_rows: int, max_arity: int) -> ScoreSpec:
        """Return the specification of this score for the kernels."""

    def compute_upper_bound(
        self, n_rows: int, q: NDArray[np.float64], r: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return an upper bound of the local score over all data, for each q and r.

        The probability of data is at most 1. The bound is therefore 0, or minus the penalty
        of the parameters.
        """
        return np.zeros(np.broadcast_shapes(q.shape, r.shape))


@dataclass(frozen=True)
class K2Score(Score):
    r"""K2: the marginal likelihood with every Dirichlet hyperparameter 1.

    .. math:: \sum_j \log\frac{\Gamma(r)}{\Gamma(n_j + r)} + \sum_{jk} \log n_{jk}!

    Prior: uniform over the distributions of each row of each table. Not score equivalent.
    It is the score of the 2011 paper.
    """

    name: ClassVar[str] = "k2"
    formula: ClassVar[str] = "marginal likelihood, every Dirichlet hyperparameter 1"
    is_equivalent: ClassVar[bool] = False

    def make_spec(self, n_rows: int, max_arity: int) -> ScoreSpec:
        """Return the specification of this score for the kernels."""
        table = _tabulate_log_factorials(n_rows, max_arity)
        return ScoreSpec(ALL_ONES, 0.0, 0.0, n_rows, table, np.empty(0))


@dataclass(frozen=True)
class _DirichletScore(Score):
    ess: float = 1.0

    def __post_init__(self) -> None:
        if not (is_number(self.ess) and self.ess > 0):
            raise bad_parameter("ess", self.name, "a number > 0", self.ess)
        if not LEAST_ESS <= float(self.ess) <= LARGEST_ESS:
            expected = f"a number from {LEAST_ESS:g} to {LARGEST_ESS:g}"
            raise bad_parameter("ess", self.name, expected, self.ess)

    @property
    def label(self) -> str:
        """The name of the score and its prior, for people."""
        return f"{self.name} (ess {self.ess:g})"


@dataclass(frozen=True)
class BDeu(_DirichletScore):
    r"""BDeu: the marginal likelihood under one uniform joint prior of `ess` imagined rows.

    .. math:: \sum_j \log\frac{\Gamma(a r)}{\Gamma(n_j + a r)}
              + \sum_{jk} \log\frac{\Gamma(n_{jk} + a)}{\Gamma(a)}, \quad a = \frac{ess}{q r}

    Prior: the `ess` rows spread evenly over all cells. Score equivalent.
    """

    name: ClassVar[str] = "bdeu"
    formula: ClassVar[str] = "marginal likelihood, ess / (q r) in every cell"
    is_equivalent: ClassVar[bool] = True

    def make_spec(self, n_rows: int, max_arity: int) -> ScoreSpec:
        """Return the specification of this score for the kernels."""
        return ScoreSpec(DIRICHLET, float(self.ess), 0.0, n_rows, np.empty(0), np.empty(0))


@dataclass(frozen=True)
class BDs(_DirichletScore):
    r"""BDs: BDeu with the imagined rows given to the configurations that occur.

    The formula is that of BDeu with q the number of parent configurations seen in the
    data. This corrects the tendency of BDeu to add too many arcs on sparse data. Not score
    equivalent.
    """

    name: ClassVar[str] = "bds"
    formula: ClassVar[str] = "as BDeu, with q the parent configurations that occur"
    is_equivalent: ClassVar[bool] = False

    def make_spec(self, n_rows: int, max_arity: int) -> ScoreSpec:
        """Return the specification of this score for the kernels."""
        return ScoreSpec(DIRICHLET_SEEN, float(self.ess), 0.0, n_rows, np.empty(0), np.empty(0))


class _LikelihoodScore(Score):
    @abstractmethod
    def compute_penalty(self, n_rows: int) -> float:
        """Return the penalty of one free parameter."""

    def make_spec(self, n_rows: int, max_arity: int) -> ScoreSpec:
        """Return the specification of this score for the kernels."""
        penalty, table = self.compute_penalty(n_rows), _tabulate_n_log_n(n_rows)
        return ScoreSpec(LIKELIHOOD, 0.0, penalty, n_rows, table, np.empty(0))

    def compute_upper_bound(
        self, n_rows: int, q: NDArray[np.float64], r: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return minus the penalty of the parameters."""
        return -self.compute_penalty(n_rows) * q * (r - 1)


@dataclass(frozen=True)
class BIC(_LikelihoodScore):
    r"""BIC: the log-likelihood minus half of log N for each free parameter.

    .. math:: \sum_{jk} n_{jk} \log\frac{n_{jk}}{n_j} - \frac{\log N}{2}\, q (r - 1)

    No prior; an approximation of the marginal likelihood for many rows. Score equivalent.
    The penalty counts all q configurations, also those that never occur.
    """

    name: ClassVar[str] = "bic"
    formula: ClassVar[str] = "log-likelihood - (log N) / 2 for each free parameter"
    is_equivalent: ClassVar[bool] = True

    def compute_penalty(self, n_rows: int) -> float:
        """Return the penalty of one free parameter."""
        return 0.5 * math.log(n_rows)


@dataclass(frozen=True)
class AIC(_LikelihoodScore):
    r"""AIC: the log-likelihood minus 1 for each free parameter.

    .. math:: \sum_{jk} n_{jk} \log\frac{n_{jk}}{n_j} - q (r - 1)

    No prior. Score equivalent.
    """

    name: ClassVar[str] = "aic"
    formula: ClassVar[str] = "log-likelihood - 1 for each free parameter"
    is_equivalent: ClassVar[bool] = True

    def compute_penalty(self, n_rows: int) -> float:
        """Return the penalty of one free parameter."""
        return 1.0


@dataclass(frozen=True)
class LogLikelihood(_LikelihoodScore):
    r"""The log-likelihood of the data at the maximum-likelihood tables.

    .. math:: \sum_{jk} n_{jk} \log\frac{n_{jk}}{n_j}

    An added arc never lowers it. A search with this score therefore ends in a complete graph
    unless the number of parents is limited. No prior. Score equivalent.
    """

    name: ClassVar[str] = "loglik"
    formula: ClassVar[str] = "log-likelihood, no penalty on parameters"
    is_equivalent: ClassVar[bool] = True

    def compute_penalty(self, n_rows: int) -> float:
        """Return the penalty of one free parameter."""
        return 0.0


@dataclass(frozen=True)
class FNML(Score):
    r"""fNML: the normalised maximum likelihood of each row of each table.

    .. math:: \sum_{jk} n_{jk} \log\frac{n_{jk}}{n_j} - \sum_j \log C(r, n_j)

    log C is the regret of a multinomial (`approximate_regret`). There is no prior and no
    parameter to choose. Not score equivalent.
    """

    name: ClassVar[str] = "fnml"
    formula: ClassVar[str] = "log-likelihood - regret of each row of the table"
    is_equivalent: ClassVar[bool] = False

    def make_spec(self, n_rows: int, max_arity: int) -> ScoreSpec:
        """Return the specification of this score for the kernels."""
        counts = np.arange(min(n_rows, LONGEST_TABLE) + 1)
        constants = compute_two_state_constants(counts)
        return ScoreSpec(FACTORISED, 0.0, 0.0, n_rows, _tabulate_n_log_n(n_rows), constants)


@dataclass(frozen=True)
class QNML(Score):
    r"""qNML: the quotient of two normalised maximum likelihoods.

    .. math:: \sum_{jk} n_{jk} \log\frac{n_{jk}}{n_j} - \log C(q r, N) + \log C(q, N)

    The NML of the family as one variable of q r states, divided by the NML of the parents as one
    variable of q states. log C is the regret of a multinomial (`approximate_regret`). There is no
    prior and no parameter to choose. Score equivalent.
    """

    name: ClassVar[str] = "qnml"
    formula: ClassVar[str] = "log-likelihood - regret of the family + regret of the parents"
    is_equivalent: ClassVar[bool] = True

    def make_spec(self, n_rows: int, max_arity: int) -> ScoreSpec:
        """Return the specification of this score for the kernels."""
        table, regret = _tabulate_n_log_n(n_rows), _tabulate_regret(n_rows)
        return ScoreSpec(QUOTIENT, 0.0, 0.0, n_rows, table, regret)

    def compute_upper_bound(
        self, n_rows: int, q: NDArray[np.float64], r: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return minus the penalty of the table."""
        return _compute_regret(q, n_rows) - _compute_regret(q * r, n_rows)


def _compute_regret(n_states: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """Return log C(n_states, n_rows) for each number of states, up to 1e-5."""
    exact = _tabulate_regret(n_rows)
    small = np.minimum(n_states, LONGEST_TABLE).astype(np.int64)
    is_small = n_states <= LONGEST_TABLE
    return np.where(is_small, exact[small], approximate_regret(n_states, n_rows))


@lru_cache(maxsize=8)
def _tabulate_regret(n_rows: int) -> NDArray[np.float64]:
    return tabulate_regret_by_states(n_rows, LONGEST_TABLE)


SCORES: dict[str, type[Score]] = {
    score.name: score for score in (K2Score, BDeu, BDs, BIC, AIC, LogLikelihood, FNML, QNML)
}
ALIASES = {"bde": "bdeu"}


def make_score(score: str | Score, ess: float | None = None, owner: str = "score") -> Score:
    """Return the score with this name, or the given score object.

    Parameters
    ----------
    score : str or Score
        ``'k2'``, ``'bdeu'`` (or ``'bde'``), ``'bds'``, ``'bic'``, ``'aic'``, ``'loglik'``,
        ``'fnml'`` or ``'qnml'``, in upper or lower case.
    ess : float, optional
        Equivalent sample size of BDeu and BDs (default: 1).
    owner : str
        The name of the caller, for error messages.

    Examples
    --------
    >>> make_score("bde", ess=10)
    BDeu(ess=10)
    >>> make_score("BIC")
    BIC()
    >>> make_score("bicc")
    Traceback (most recent call last):
    coevo.errors.ParameterError: 'score' of score must be one of 'aic', 'bde', 'bdeu', 'bds', \
'bic', 'fnml', 'k2', 'loglik', 'qnml'; got 'bicc'. Did you mean 'bic'?
    """
    if isinstance(score, Score):
        if ess is not None:
            raise ParameterError(
                "'ess' goes with the name of a score, not with a score object. Give it to the "
                "score object, as in BDeu(ess=10)."
            )
        return score
    chosen = match_name(score, [*SCORES, *ALIASES])
    if chosen is None:
        raise bad_choice("score", owner, [*SCORES, *ALIASES], score)
    kind = SCORES[ALIASES.get(chosen, chosen)]
    if ess is None:
        return kind()
    if not issubclass(kind, _DirichletScore):
        raise ParameterError(f"'ess' goes with 'bdeu' and 'bds' only; the score is {score!r}.")
    return kind(ess)
