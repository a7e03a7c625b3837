"""The measures of predictions agree with scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coevo.data import Variable
from coevo.errors import ParameterError
from coevo.network.metrics import compute_metrics, compute_roc
from coevo.runtime import memory
from helpers.errors import refusal


def draw(seed, arity, n=300):
    """Return probabilities with ties, and true states that follow them."""
    rng = np.random.default_rng([seed, arity])
    shares = rng.dirichlet(np.ones(arity), n).round(2) + 0.01
    shares /= shares.sum(axis=1, keepdims=True)
    true = np.array([rng.choice(arity, p=row) for row in shares])
    return Variable("y", tuple(f"s{i}" for i in range(arity))), shares, true


@pytest.mark.parametrize("arity", [2, 3, 5])
def test_measures_agree_with_a_peer(seed, arity):
    metrics = pytest.importorskip("sklearn.metrics")
    variable, shares, true = draw(seed, arity)
    found = compute_metrics(variable, shares, true)
    predicted = shares.argmax(axis=1)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(true, predicted))
    labels = range(arity)
    assert found.log_loss == pytest.approx(metrics.log_loss(true, shares, labels=labels))
    assert found.confusion.tolist() == metrics.confusion_matrix(true, predicted).tolist()
    for code, state in enumerate(variable.states):
        one = found.per_state[state]
        assert one.auc == pytest.approx(metrics.roc_auc_score(true == code, shares[:, code]))
        recall = metrics.recall_score(true == code, predicted == code)
        assert one.sensitivity == pytest.approx(recall)
        recall = metrics.recall_score(true != code, predicted != code)
        assert one.specificity == pytest.approx(recall)
        other, own = compute_roc(shares[:, code], true == code, np.ones(len(true), np.int64))
        assert np.trapezoid(own, other) == pytest.approx(one.auc)
    if arity == 2:
        assert found.brier == pytest.approx(metrics.brier_score_loss(true, shares[:, 1]))
        assert found.auc == pytest.approx(metrics.roc_auc_score(true, shares[:, 1]))
    else:
        squares = ((shares - np.eye(arity)[true]) ** 2).sum(axis=1)
        assert found.brier == pytest.approx(squares.mean())
        area = metrics.roc_auc_score(true, shares, multi_class="ovr")
        assert found.auc == pytest.approx(area)


def test_weights_are_repetitions_and_unknown_rows_do_not_count(seed):
    variable, shares, true = draw(seed, 3, 50)
    counts = np.random.default_rng(seed).integers(1, 5, 50)
    weighted = compute_metrics(variable, shares, true, counts)
    repeated = compute_metrics(variable, np.repeat(shares, counts, axis=0), np.repeat(true, counts))
    longer = compute_metrics(
        variable, np.vstack([shares, shares]), np.concatenate([true, np.full(50, -1)])
    )
    plain = compute_metrics(variable, shares, true)
    for one, other in ((weighted, repeated), (longer, plain)):
        assert one.n_rows == other.n_rows
        assert one.confusion.tolist() == other.confusion.tolist()
        for name in ("accuracy", "log_loss", "brier", "auc", "calibration_error"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-12)


def test_calibration_by_hand():
    variable = Variable("y", ("no", "yes"))
    shares = np.array([[0.75, 0.25], [0.75, 0.25], [1.0, 0.0], [0.05, 0.95]])
    found = compute_metrics(variable, shares, np.array([0, 1, 0, 1]))
    bins = [(one.low, one.n, one.predicted, one.observed) for one in found.calibration]
    assert bins == [
        (0.0, 2, pytest.approx(0.025), 0.0),
        (0.2, 2, 0.25, 0.5),
        (0.7, 2, 0.75, 0.5),
        (0.9, 2, pytest.approx(0.975), 1.0),
    ]
    assert found.calibration_error == pytest.approx((0.025 + 0.25 + 0.25 + 0.025) / 4)


def test_a_state_that_does_not_occur_has_no_measures():
    variable = Variable("y", ("a", "b"))
    found = compute_metrics(variable, np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 0]))
    assert (found.auc, found.per_state["b"].sensitivity) == (None, None)
    assert found.per_state["a"].specificity is None
    impossible = compute_metrics(variable, np.array([[1.0, 0.0]]), np.array([1]))
    assert impossible.log_loss == math.inf
    assert impossible.as_dict()["log_loss"] is None


def test_a_target_of_many_states_needs_memory(monkeypatch):
    monkeypatch.setattr(memory, "get_machine_memory", lambda: 10**9)
    variable = Variable("y", tuple(f"s{i:05}" for i in range(40_000)))
    shares = np.full((1, 40_000), 1 / 40_000)
    assert refusal(ParameterError, compute_metrics, variable, shares, np.array([3])) == (
        "The evaluation of 'y' with 40,000 states and 1 row needs 25.6 GB of memory; this "
        "machine has 1.0 GB. Group its states, or evaluate fewer rows."
    )


def test_the_order_of_rows_changes_no_digit(seed):
    variable, shares, true = draw(seed, 4)
    order = np.random.default_rng(seed).permutation(len(true))
    found = compute_metrics(variable, shares, true)
    assert compute_metrics(variable, shares[order], true[order]).as_dict() == found.as_dict()
