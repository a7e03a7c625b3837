"""Summaries of columns: they agree with NumPy and with counting, for any order of the rows."""

from __future__ import annotations

import math
import sys
from collections import Counter

import numpy as np
import pytest

from coevo.data import ColumnInfo, CutPoints
from coevo.data.columns import Column
from coevo.data.labels import NumberLabels
from coevo.data.summary import MAX_BARS, make_histogram, summarise_column

CUTS = CutPoints((-1.0, 0.5))


def make_column(values, missing=None):
    """Return a column of the texts of some values."""
    labels = sorted({str(value) for value in values}, reverse=True)  # not in order of numbers
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[str(value)] for value in values])
    return Column("x", labels, codes, missing=missing)


def make_number_column(values):
    distinct, codes = np.unique(values, return_inverse=True)
    return Column("x", NumberLabels(distinct), codes)


@pytest.mark.parametrize("make", [make_column, make_number_column])
def test_numbers_agree_with_numpy(seed, make):
    values = np.random.default_rng(seed).normal(size=501).round(1)
    summary = summarise_column(make(values), ColumnInfo("x", "continuous", cuts=CUTS))
    numbers = summary.numbers
    assert (summary.n_rows, summary.n_missing) == (501, 0)
    assert summary.n_distinct == len(np.unique(values))
    found = [numbers.minimum, numbers.lower_quartile, numbers.median, numbers.upper_quartile]
    expected = np.quantile(values, [0, 0.25, 0.5, 0.75]).tolist()
    assert [*found, numbers.maximum] == pytest.approx([*expected, values.max()])
    bins = Counter(CUTS.apply(values).tolist())
    assert [(one.state, one.count) for one in numbers.bins] == [
        (state, bins[i]) for i, state in enumerate(CUTS.states)
    ]
    histogram = numbers.histogram
    counts = [
        sum(low <= value < high for value in values.tolist())
        for low, high in zip(histogram.edges, histogram.edges[1:], strict=False)
    ]
    assert list(histogram.counts) == counts
    assert sum(counts) + histogram.n_below + histogram.n_above == 501
    assert summary.states == summary.examples == ()


def test_missing_values_are_only_counted(seed):
    rng = np.random.default_rng(seed)
    values, missing = rng.integers(0, 4, 60), rng.random(60) < 0.3
    states = ("0", "1", "2", "3")
    summary = summarise_column(make_column(values, missing), ColumnInfo("x", "categorical", states))
    observed = Counter(map(str, values[~missing]))
    assert summary.n_missing == missing.sum()
    assert summary.missing_share == pytest.approx(missing.mean())
    assert {one.state: one.count for one in summary.states} == {s: observed[s] for s in states}
    assert summary.numbers.median == np.median(values[~missing])


def test_the_order_of_rows_has_no_effect(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=300).round(2)
    shuffled = rng.permutation(values)
    for info in (ColumnInfo("x", "continuous", cuts=CUTS), ColumnInfo("x", "ignore")):
        first, second = Column("x", *encode(values)), Column("x", *encode(shuffled))
        assert summarise_column(first, info) == summarise_column(second, info)


def encode(values):
    """Return labels in the order of their first row, and codes."""
    labels = list(dict.fromkeys(map(str, values)))
    return labels, np.array([labels.index(str(value)) for value in values])


def test_many_states():
    values = [f"s{i}" for i in range(20) for _ in range(20 - i // 2)]
    states = tuple(sorted(set(values)))
    summary = summarise_column(make_column(values), ColumnInfo("x", "categorical", states, "text"))
    counts = Counter(values)
    ranked = sorted(states, key=lambda state: (-counts[state], state))
    assert [one.state for one in summary.states] == ranked[:12]
    assert summary.n_other_states == 8
    assert summary.n_other_rows == sum(counts[state] for state in ranked[12:])
    assert summary.numbers is None
    assert summary.n_distinct == 20


def test_declared_states_keep_their_order_and_occur_or_not():
    info = ColumnInfo("x", "categorical", ("low", "high", "never"), "declared states")
    summary = summarise_column(make_column(["high", "low", "high"]), info)
    found = [(one.state, one.count) for one in summary.states]
    assert found == [("low", 1), ("high", 2), ("never", 0)]


def test_equal_numbers_are_one_value():
    info = ColumnInfo("x", "categorical", ("0.5", "1"), "decimal numbers")
    summary = summarise_column(make_column(["0.5", ".50", "1", "0.50"]), info)
    assert summary.n_distinct == 2
    assert [(one.state, one.count) for one in summary.states] == [("0.5", 3), ("1", 1)]


def test_columns_without_values_and_left_out_columns():
    empty = Column("x", [], np.zeros(3, np.uint8), missing=np.ones(3, dtype=np.bool_))
    summary = summarise_column(empty, ColumnInfo("x", "ignore"))
    assert (summary.n_missing, summary.n_distinct, summary.examples) == (3, 0, ())
    names = make_column([f"p{i}" for i in range(12)])
    assert summarise_column(names, ColumnInfo("x", "ignore")).examples == (
        "p0",
        "p1",
        "p2",
        "p3",
        "p4",
    )


RANGES = [
    (0.0, 1.0),
    (-3.5, 88.0),
    (35.9, 39.8),
    (1e15, 1e15 + 4),
    (1950, 2024),
    (1e-300, 3e-300),
    (-1e308, 1e308),
    (7.0, 7.0),
    (1e300, math.nextafter(1e300, math.inf)),
    (-sys.float_info.max, sys.float_info.max),
    (5e-324, 1e-323),
    (sys.float_info.max, sys.float_info.max),
    (0.0, 0.0),
    (-2e-320, 0.0),
]


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_a_histogram_counts_every_number_once(low, high):
    values = np.unique([low, low / 2 + high / 2, high])
    histogram = make_histogram(values, np.full(len(values), 2))
    assert list(histogram.edges) == sorted(set(histogram.edges))
    assert all(map(math.isfinite, histogram.edges))
    assert 1 <= len(histogram.counts) <= MAX_BARS + 1
    total = sum(histogram.counts) + histogram.n_below + histogram.n_above
    assert total == 2 * len(values)


def test_edges_are_round():
    values = np.array([35.9, 36.7, 39.8])
    histogram = make_histogram(values, np.ones(3, np.int64))
    assert histogram.edges[:3] == (35.8, 36.0, 36.2)
    assert histogram.edges[-1] == 40.0


def test_far_numbers_are_counted_outside(seed):
    values = np.random.default_rng(seed).normal(size=1000)
    values[:3] = [1e9, 2e9, -1e9]
    summary = summarise_column(make_number_column(values), ColumnInfo("x", "continuous"))
    histogram = summary.numbers.histogram
    assert histogram.n_below >= 1
    assert histogram.n_above >= 2
    assert -4 < histogram.edges[0] < histogram.edges[-1] < 4
    assert sum(histogram.counts) >= 980


def test_infinite_numbers_are_outside_and_null_in_json():
    values = np.array([-math.inf, 1.0, 2.0, math.inf])
    summary = summarise_column(make_number_column(values), ColumnInfo("x", "continuous", cuts=CUTS))
    found = summary.numbers.as_dict()
    assert found["minimum"] is found["maximum"] is None
    assert found["histogram"]["n_below"] == found["histogram"]["n_above"] == 1
    only = make_histogram(np.array([-math.inf, math.inf]), np.array([2, 3]))
    assert (only.counts, only.n_below, only.n_above) == ((0,), 2, 3)
