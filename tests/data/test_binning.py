"""The cut points of each method are the best of all possible cut points."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from coevo.data import bins as binning
from coevo.data import bins as mdl_module
from coevo.data.bins import BINNINGS, DiscreteColumn, NumericColumn, cut_by_mdl, find_best_starts

many = settings(derandomize=True, deadline=None, max_examples=120)
halves = st.integers(-8, 12).map(lambda k: k / 2)
columns = st.lists(halves, min_size=2, max_size=14).filter(lambda rows: len(set(rows)) > 1)


def make_numeric(rows, name="x"):
    values, places = np.unique(np.array(rows, dtype=float), return_inverse=True)
    return NumericColumn(name, values, places)


def split_rows(rows, cuts):
    """Return the values in each bin; no bin is empty."""
    values = sorted(set(rows))
    codes = cuts.apply(values).tolist()
    assert sorted(set(codes)) == list(range(len(cuts.points) + 1))
    return [[v for v, c in zip(values, codes, strict=True) if c == k] for k in sorted(set(codes))]


def cut(method, rows, bins):
    column = make_numeric(rows)
    return BINNINGS[method](column.values, column.counts, bins)


@many
@given(columns, st.integers(2, 5))
def test_kmeans_is_the_best_of_all_cuts(rows, bins):
    found = split_rows(rows, cut("kmeans", rows, bins))
    values = sorted(set(rows))
    ways = naive.cut_sets(values, min(bins, len(values)) - 1)
    least = min(naive.squared_distances(rows, way) for way in ways)
    assert naive.squared_distances(rows, found) == pytest.approx(least, abs=1e-9)
    assert len(found) == min(bins, len(values))


@many
@given(columns, st.integers(2, 6))
def test_quantiles_are_as_even_as_the_values_allow(rows, bins):
    assert split_rows(rows, cut("quantile", rows, bins)) == naive.even_bins(rows, bins)


@many
@given(columns, st.integers(2, 6))
def test_uniform_bins_are_of_the_same_width(rows, bins):
    low, high = min(rows), max(rows)
    edges = [low + k * (high - low) / bins for k in range(1, bins)]
    wanted = {}
    for value in sorted(set(rows)):
        wanted.setdefault(sum(value >= edge for edge in edges), []).append(value)
    found = split_rows(rows, cut("uniform", rows, bins))
    near = any(math.isclose(v, edge) for v in rows for edge in edges)  # round-off may decide
    assert near or found == [wanted[k] for k in sorted(wanted)]


@many
@given(
    st.lists(st.tuples(halves, *[st.integers(0, 2)] * 3), min_size=8, max_size=40),
    st.integers(2, 4),
)
def test_mdl_is_the_shortest_description_of_all(table, most):
    rows = [row[0] for row in table]
    # Columns that depend on the first, so that there is something to describe.
    others = {
        name: [(row[i] if row[3] else int(row[0] > 1.5 * i)) for row in table]
        for i, name in ((1, "a"), (2, "b"))
    }
    coded = [
        DiscreteColumn(n, np.unique(o, return_inverse=True)[1], len(set(o)))
        for n, o in others.items()
    ]
    (cuts,) = cut_by_mdl([make_numeric(rows)], coded, [most])
    found = split_rows(rows, cuts)
    joined = [others[name] for name in naive.relatives(rows, others, 5)]
    values = sorted(set(rows))
    ways = [w for k in range(min(most, len(values))) for w in naive.cut_sets(values, k)]
    best = min(ways, key=lambda way: naive.description_length(rows, way, joined))
    if not joined or len(best) == 1:
        assert found == naive.even_bins(rows, 2) or (joined and len(found) > 1)
        return
    assert naive.description_length(rows, found, joined) == pytest.approx(
        naive.description_length(rows, best, joined)
    )


def test_mdl_finds_the_steps(seed):
    rng = np.random.default_rng(seed)
    x, other = rng.random(2000), rng.random(2000)
    steps = (x > 0.3).astype(int) + (x > 0.7)
    steps = np.where(rng.random(2000) < 0.1, rng.integers(0, 3, 2000), steps)
    cuts, alone = cut_by_mdl(
        [make_numeric(x), make_numeric(other, "u")], [DiscreteColumn("steps", steps, 3)], [5, 5]
    )
    assert min(abs(p - 0.3) for p in cuts.points) < 0.04
    assert min(abs(p - 0.7) for p in cuts.points) < 0.04
    assert len(cuts.points) <= 4
    assert len(alone.points) == 1
    assert abs(alone.points[0] - 0.5) < 0.05


def test_block_size_does_not_change_mdl(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    columns = [make_numeric(rng.normal(size=60), f"x{i}") for i in range(6)]
    coded = [DiscreteColumn(f"c{i}", rng.integers(0, i + 2, 60), i + 2) for i in range(6)]
    most = [4] * 6
    expected = cut_by_mdl(columns, coded, most)
    monkeypatch.setattr(mdl_module, "BLOCK_CELLS", 700)
    assert cut_by_mdl(columns, coded, most) == expected


def test_a_value_that_is_very_frequent_has_a_bin_to_itself():
    rows = [0.0] * 80 + [0.5 + i for i in range(20)]
    for method in ("quantile", "kmeans"):
        assert split_rows(rows, cut(method, rows, 4))[0][0] == 0.0
    assert split_rows(rows, cut("quantile", rows, 2))[0] == [0.0]


@pytest.mark.parametrize("method", sorted(BINNINGS))
def test_numbers_far_apart_and_close_together(method):
    for rows in ([1e300, -1e300, 0.0], [1.0, np.nextafter(1, 2)], [1e9 + i for i in range(9)]):
        cuts = cut(method, rows, 2)
        assert len(split_rows(rows, cuts)) == 2
        assert np.isfinite(cuts.points).all()


def test_many_values_are_merged_into_groups(monkeypatch, seed):
    rows = np.random.default_rng(seed).normal(size=900)
    grouped = cut("kmeans", rows, 3)
    monkeypatch.setattr(binning, "MAX_MDL_GROUPS", 1000)
    assert np.allclose(grouped.points, cut("kmeans", rows, 3).points, atol=0.05)


def test_the_best_starts_of_each_number(seed):
    rng = np.random.default_rng(seed)
    values = list(range(7))
    costs = np.where(np.tri(7, 8, dtype=bool), np.inf, rng.random((7, 8)))
    for total, starts in find_best_starts(costs, 7):
        ways = naive.cut_sets(values, len(starts))
        totals = [sum(costs[w[0], w[-1] + 1] for w in way) for way in ways]
        assert total == pytest.approx(min(totals))
        parts = itertools.pairwise([0, *starts, 7])
        assert sum(costs[a, b] for a, b in parts) == pytest.approx(total)
