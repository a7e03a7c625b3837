"""The kernels of the proof, compared with slow twins."""

import numpy as np
import pytest

import naive
from coevo.exact.proof_kernels import (
    CellRows,
    UsedFamilies,
    find_best_networks,
    grow_clusters,
    lift_points,
    make_cluster_scratch,
    make_local_scratch,
    make_networks,
    sum_cells,
)

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("n_rows", [0, 1, 60])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_sums_over_cells(seed, n_rows, is_weighted):
    rng = np.random.default_rng([seed, n_rows])
    arities = np.array([2, 3, 1, 4, 2])
    codes = np.array([rng.integers(0, arity, n_rows) for arity in arities], dtype=np.int32)
    weights = rng.integers(1, 4, n_rows) if is_weighted else np.ones(n_rows, dtype=np.int64)
    value = np.append(0.0, rng.normal(size=weights.sum()))
    rows, cells = CellRows(codes, weights, arities), np.empty(n_rows, dtype=np.int32)
    counts = np.zeros(48, dtype=np.int32)
    for size in range(1, 6):
        families = np.array([rng.permutation(5)[:size] for _ in range(6)], dtype=np.int32)
        sums = np.full(len(families), np.nan)
        sum_cells(rows, families, value, cells, counts, sums)
        assert not counts.any()
        for family, found in zip(families.tolist(), sums, strict=True):
            expected = naive.sum_cells(codes.T.tolist(), weights, family, lambda n: value[n])
            assert found == pytest.approx(expected)


def draw_used_families(rng, n, n_families, width):
    """Return families whose shares have few digits, so that all their sums are exact."""
    families = []
    for child in np.sort(rng.integers(0, n, n_families)).tolist():
        parents = rng.permutation([v for v in range(n) if v != child])[: rng.integers(width + 1)]
        families.append((child, sorted(parents.tolist()), int(rng.integers(1, 64)) / 64))
    return families


def make_used_families(n, families, width):
    parents = np.full((width, len(families)), n, dtype=np.int32)
    for column, (_, own, _) in enumerate(families):
        parents[: len(own), column] = own
    children = np.array([child for child, _, _ in families], dtype=np.int32)
    return UsedFamilies(children, parents, np.array([share for _, _, share in families]))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize(("n", "n_families", "width"), [(4, 5, 2), (12, 40, 3), (12, 0, 2)])
def test_clusters_are_grown_and_shrunk(seed, k, n, n_families, width):
    rng = np.random.default_rng([seed, k, n])
    families = draw_used_families(rng, n, n_families, width)
    starts = np.array([rng.permutation(n)[:2] for _ in range(20)])
    clusters, values = np.ones((20, n + 1), dtype=np.bool_), np.empty(20)
    used = make_used_families(n, families, width)
    grow_clusters(used, k, starts, make_cluster_scratch(n, n_families), clusters, values)
    for start, flags, value in zip(starts.tolist(), clusters, values, strict=True):
        cluster, expected = naive.grow_cluster(n, families, k, start)
        assert set(np.flatnonzero(flags).tolist()) == cluster
        assert value == expected
        assert value == naive.cluster_value(families, k, cluster)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_best_networks_are_those_of_enumeration(seed, size):
    """Each network has the fewest points of all in which its last variable is nobody's parent."""
    rng = np.random.default_rng([seed, size])
    masks = naive.network_masks(size)
    for _ in range(20):
        points = rng.integers(0, 5, size=(size, 1 << size)).astype(np.float64)
        local = make_networks(points)
        find_best_networks(local, make_local_scratch(size))
        for last in range(size):
            possible = [own for own in masks if not any(mask >> last & 1 for mask in own)]
            least = min(naive.total_points(points.tolist(), own) for own in possible)
            network = local.networks[last].tolist()
            assert network in possible
            assert naive.total_points(points.tolist(), network) == least == local.totals[last]


@pytest.mark.parametrize("size", [2, 4])
def test_points_are_lifted_as_far_as_networks_allow(seed, size):
    rng = np.random.default_rng([seed, size])
    masks, n_lowered = naive.network_masks(size), 0
    for _ in range(4):
        points = rng.integers(0, 5, size=(size, 1 << size)).astype(np.float64)
        right = min(naive.total_points(points.tolist(), own) for own in masks)
        places = [(v, p) for v in range(size) for p in range(1 << size) if not p >> v & 1]
        places = rng.permutation(np.array(places))[:10].copy()
        lifted = points.copy()
        lift_points(lifted, right, places, make_local_scratch(size))
        assert lifted.tolist() == naive.lift_points(points.tolist(), right, places.tolist())
        assert min(naive.total_points(lifted.tolist(), own) for own in masks) == right
        n_lowered += int((lifted < points).sum())
    assert n_lowered > 0
