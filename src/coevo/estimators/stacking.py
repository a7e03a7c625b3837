"""A classifier that averages several networks, with weights from an inner cross-validation.

No structure is best on every table. On few rows a free structure can leave the class without
neighbours, naive Bayes is too sure where features repeat each other, and TAN needs rows for its
larger tables. So the members are all of them, with two ways to cut numbers (that of `learn`, and
quantiles). An inner cross-validation predicts each row by members that have not seen it. Two things
are learned from these predictions:

- *Smoothing and shrinkage*, for each member: the equivalent sample size of its tables, and a number
  from 0 to 1 by which its evidence (the logarithm of the probability of a class over the share of
  the class) is multiplied. It is below 1 where a member is too sure, as naive Bayes is.
- *Weights*, for all members: the weighted mean of their probabilities that predicts best (stacking
  of predictive distributions: Wolpert 1992; Yao, Vehtari, Simpson and Gelman 2018). The shares of
  the classes are a member too, so that a table without signal gives these shares. The weights have
  a weak prior of equal weights, and are found by the EM algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coevo.data import CutPoints
from coevo.data.dataset import hash_rows
from coevo.estimators.base import FeatureTable

if TYPE_CHECKING:
    from coevo.estimators.classifier import BayesianNetworkClassifier

__all__ = [
    "MIN_ROWS",
    "SMOOTHINGS",
    "BinDensity",
    "Member",
    "Stack",
    "fit_stack",
    "shrink",
    "weigh",
]

FOLDS = 5
MIN_ROWS = 20  # for an inner cross-validation; below, each fold has fewer than four rows
SMOOTHINGS = (2.0, 10.0, 40.0)  # rows; `fit_network` explains them
SHRINKAGES = np.linspace(0.05, 1.0, 20)
QUANTILES = {"discretise": "quantile", "bins": 5}
LEAST_WEIGHT = 0.02  # a lighter member is left out: it costs time and changes little
EM_ROUNDS = 200
TINY = 1e-9  # a class that a fold has not seen
NONE = "none"  # the member without a network: the shares of the classes

Probabilities = NDArray[np.float64]  # (rows, classes)
FitMember = Callable[[str, Mapping[str, Any], NDArray[np.intp] | None], "BayesianNetworkClassifier"]


@dataclass(frozen=True)
class Member:
    """One network of the average.

    Attributes
    ----------
    structure : str
        The form of the network; ``'none'`` stands for the shares of the classes.
    bins : str
        How numbers are cut: ``'default'`` or ``'quantile'``.
    smoothing : float
        The equivalent sample size of the tables.
    shrinkage : float
        The factor of the evidence, from 0 to 1.
    weight : float
        The share in the average.
    """

    structure: str
    bins: str
    smoothing: float
    shrinkage: float
    weight: float


@dataclass(frozen=True)
class Stack:
    """The members that count, the heaviest first, and their models."""

    members: tuple[Member, ...]
    models: Mapping[tuple[str, str], BayesianNetworkClassifier]
    shares: NDArray[np.float64]  # of the classes

    @property
    def first(self) -> tuple[Member, BayesianNetworkClassifier]:
        """The heaviest member that is a network, with its model."""
        for member in self.members:
            if member.structure != NONE:
                return member, self.models[member.structure, member.bins]
        (structure, bins), model = next(iter(self.models.items()))
        return Member(structure, bins, SMOOTHINGS[1], 0.0, 0.0), model

    def predict(self, features: FeatureTable) -> Probabilities:
        """Return the weighted mean of the members."""
        first, model = self.first
        total = 0 * model.predict_smoothed(features, first.smoothing)
        for member in self.members:
            if member.structure == NONE:
                total += member.weight * self.shares
                continue
            model = self.models[member.structure, member.bins]
            found = model.predict_smoothed(features, member.smoothing)
            total += member.weight * shrink(found, self.shares, member.shrinkage)
        mean: Probabilities = total / total.sum(axis=1, keepdims=True)
        return mean


def shrink(
    probabilities: Probabilities, shares: NDArray[np.float64], factor: float
) -> Probabilities:
    """Return the probabilities with their evidence multiplied by a factor.

    >>> shrink(np.array([[0.9, 0.1]]), np.array([0.5, 0.5]), 0.5).round(3).tolist()
    [[0.75, 0.25]]
    >>> shrink(np.array([[0.9, 0.1]]), np.array([0.3, 0.7]), 0.0).round(3).tolist()
    [[0.3, 0.7]]
    """
    prior = np.log(shares)
    log = prior + factor * (np.log(np.maximum(probabilities, TINY)) - prior)
    found = np.exp(log - log.max(axis=1, keepdims=True))
    shrunk: Probabilities = found / found.sum(axis=1, keepdims=True)
    return shrunk


def weigh(likelihoods: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights of members that make the held-out rows most probable.

    `likelihoods` is (members, rows): the probability that each member gave to the true class. The
    prior of equal weights counts as one row for each member.

    >>> weigh(np.array([[0.9] * 50, [0.1] * 50])).round(2).tolist()
    [0.98, 0.02]
    """
    n_members, n_rows = likelihoods.shape
    weights = np.full(n_members, 1 / n_members)
    for _ in range(EM_ROUNDS):
        share = weights[:, None] * likelihoods
        share /= share.sum(axis=0)
        weights = (share.sum(axis=1) + 1) / (n_rows + n_members)
    return weights


def fit_stack(
    fit_member: FitMember,
    features: FeatureTable,
    codes: NDArray[np.intp],
    *,
    structures: Sequence[str],
    smoothings: Sequence[float],
    can_choose_bins: bool,
) -> Stack:
    """Return the members with their weights.

    Parameters
    ----------
    fit_member : callable
        Fits a classifier with this structure and these options of the bins to these rows; None
        stands for all rows.
    features : FeatureTable
        The training rows.
    codes : array
        The class of each row, in ascending order of the classes.
    structures, smoothings : sequences
        The forms and the strengths of smoothing to try.
    can_choose_bins : bool
        Whether quantiles may be tried beside the default.
    """
    ways: dict[str, Mapping[str, Any]] = {"default": {}}
    models = {(structure, "default"): fit_member(structure, {}, None) for structure in structures}
    columns = models[structures[0], "default"].result_.columns
    if can_choose_bins and any(column.type == "continuous" for column in columns):
        ways["quantile"] = QUANTILES
        for structure in structures:
            models[structure, "quantile"] = fit_member(structure, QUANTILES, None)
    n_classes = int(codes.max()) + 1
    counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
    shares = (counts + 0.5) / (len(codes) + 0.5 * n_classes)
    held_out = {
        (key, smoothing): np.full((len(codes), n_classes), TINY)
        for key in models
        for smoothing in smoothings
    }
    order, folds = split_folds(features, codes)
    for fold in range(FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        seen, rest = np.unique(codes[train]), features.select(test)
        for structure, bins in models:
            model = fit_member(structure, ways[bins], train)
            for smoothing in smoothings:
                found = model.predict_smoothed(rest, smoothing)
                held_out[(structure, bins), smoothing][np.ix_(test, seen)] = found
    sorted_rows = {key: found[order] for key, found in held_out.items()}
    return _combine(sorted_rows, codes[order], shares, models, smoothings)


def _combine(
    held_out: Mapping[tuple[tuple[str, str], float], Probabilities],
    codes: NDArray[np.intp],
    shares: NDArray[np.float64],
    models: Mapping[tuple[str, str], BayesianNetworkClassifier],
    smoothings: Sequence[float],
) -> Stack:
    """Return the stack from the predictions of held-out rows."""
    rows = np.arange(len(codes))
    members, likelihoods = [Member(NONE, "default", 0.0, 0.0, 0.0)], [shares[codes]]
    for structure, bins in models:
        best = -np.inf
        for smoothing in smoothings:
            for factor in SHRINKAGES.tolist():
                found = shrink(held_out[(structure, bins), smoothing], shares, factor)[rows, codes]
                if (total := float(np.log(found).sum())) > best:
                    best, likelihood = total, found
                    member = Member(structure, bins, smoothing, factor, 0.0)
        members.append(member)
        likelihoods.append(likelihood)
    weights = weigh(np.array(likelihoods))
    kept = [n for n in np.argsort(-weights, kind="stable") if weights[n] >= LEAST_WEIGHT]
    total = weights[kept].sum()
    chosen = tuple(replace(members[n], weight=float(weights[n] / total)) for n in kept)
    used = {(member.structure, member.bins) for member in chosen}
    first = next(iter(models))
    kept_models = {key: model for key, model in models.items() if key in used}
    return Stack(chosen, kept_models or {first: models[first]}, shares)


def split_folds(
    features: FeatureTable, codes: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of the rows, and the fold of each row; each class is spread evenly.

    The cells decide, not the order of the rows: equal tables in another order get equal folds, and
    sums over the rows in the returned order are equal to the last digit.
    """
    columns = [_rank_cells(values) for values in features.list_columns()]
    order = np.argsort(hash_rows(np.stack([*columns, codes]).astype(np.uint64)), kind="stable")
    drawn = order[np.argsort(codes[order], kind="stable")]
    folds = np.empty(len(codes), dtype=np.intp)
    folds[drawn] = np.arange(len(codes)) % FOLDS
    return drawn, folds


def _rank_cells(values: Any) -> NDArray[np.intp]:
    """Return the rank of each cell among the texts of all cells."""
    texts = np.array([str(value) for value in values])
    return np.unique(texts, return_inverse=True)[1]


# The density of a number, given the bin that it is in.
#
# A network gives the probability of a bin. Networks with different bins can be compared only by
# the density of the numbers themselves: the probability of the bin times the density within the
# bin. Bins with a lower and an upper cut point have a uniform density, 1 / width. The first and
# the last bin have no end, so an end is chosen from the training data:
#
# - The *range* reaches from the smallest to the largest training number, and one mean gap between
#   neighbouring numbers beyond each. (Cut points outside the training data extend it.) Within the
#   range the first and the last bin are uniform.
# - A *tail* beyond each end of the range gets a share of the probability of its bin: 1 / (n + 2),
# where n
#   is the number of training rows in this bin. This is the rule of succession for a number beyond
#   all earlier ones. At distance t from the range, the density of a tail is proportional to
#   1 / (t + width of the range) ** 2, so that half of it lies within one width of the range.
#
# Every finite number has a finite density above 0, and the density integrates to 1.


Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BinDensity:
    """The density of the numbers of one column within their bins.

    Attributes
    ----------
    cuts : CutPoints
        The cut points.
    low, high : float
        The ends of the range.
    low_tail, high_tail : float
        The share of the first and of the last bin that lies beyond the range.
    """

    cuts: CutPoints
    low: float
    high: float
    low_tail: float
    high_tail: float

    @classmethod
    def from_numbers(cls, cuts: CutPoints, numbers: Numbers) -> BinDensity:
        """Return the density for training numbers; NaN is missing.

        >>> BinDensity.from_numbers(CutPoints((2.0,)), np.array([0.0, 1.0, 3.0]))
        BinDensity(cuts=CutPoints(points=(2.0,)), low=-1.5, high=4.5, low_tail=0.25, \
high_tail=0.3333333333333333)
        """
        known = numbers[~np.isnan(numbers)]
        distinct = np.unique(known)
        gap = 1.0
        if len(distinct) > 1:
            gap = float(distinct[-1] - distinct[0]) / (len(distinct) - 1)
        ends = [*distinct[:1].tolist(), *distinct[-1:].tolist(), *cuts.points]
        low, high = min(ends, default=0.0), max(ends, default=0.0)
        bins = cuts.apply(known)
        n_first, n_last = int((bins == 0).sum()), int((bins == len(cuts.points)).sum())
        return cls(cuts, low - gap, high + gap, 1 / (n_first + 2), 1 / (n_last + 2))

    def log_density(self, numbers: Numbers) -> Numbers:
        """Return the log density of each number, given its bin; 0 for a missing number.

        >>> density = BinDensity.from_numbers(CutPoints((2.0, 4.0)), np.array([1.0, 3.0, 7.0]))
        >>> np.exp(density.log_density(np.array([3.0, 1.0, -6.0, np.nan]))).round(4).tolist()
        [0.5, 0.1667, 0.0156, 1.0]
        """
        is_known = ~np.isnan(numbers)
        values = numbers[is_known]
        bins = self.cuts.apply(values)
        edges = np.array([self.low, *self.cuts.points, self.high])
        shares = np.ones(len(edges) - 1)
        shares[0] -= self.low_tail
        shares[-1] -= self.high_tail
        logs = np.log(shares / np.diff(edges))[bins]
        width = self.high - self.low
        for beyond, share in (
            (self.low - values, self.low_tail),
            (values - self.high, self.high_tail),
        ):
            in_tail = beyond > 0
            logs[in_tail] = np.log(share * width) - 2 * np.log(width + beyond[in_tail])
        found = np.zeros(len(numbers))
        found[is_known] = logs
        return found
