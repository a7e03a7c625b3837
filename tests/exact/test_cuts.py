"""Every cut holds for every network, and the kernels find what enumeration finds."""

import itertools

import numpy as np
import pytest
import scipy.optimize

import naive
from coevo.errors import FormatError
from coevo.exact.bounds import Clusters, Table, count_least_points
from coevo.exact.check import check_table
from coevo.exact.cuts import (
    LEAST_TABLE_VIOLATION,
    find_components,
    find_table,
    find_violated_clusters,
)
from coevo.exact.families import Families
from coevo.exact.relaxation import Relaxation
from helpers.proofs import prove_example


def list_masks():
    """Return the parents of each variable, as bits, in all networks of four variables."""
    masks = [
        [sum(1 << u for u, w in arcs if w == v) for v in range(4)] for arcs in naive.all_dags(4)
    ]
    assert len(masks) == 543
    return np.array(masks)


def test_the_fewest_points_are_those_of_enumeration(seed):
    masks, rng = list_masks(), np.random.default_rng(seed)
    for _ in range(50):
        points = rng.integers(0, 10, size=(4, 16))
        least = int(points[np.arange(4), masks].sum(axis=1).min())
        assert count_least_points(points) == least
        check_table(least, points.tolist())
        with pytest.raises(FormatError) as caught:
            check_table(least + 1, points.tolist())
        sentence = "The certificate does not hold: a table of points is wrong."
        assert str(caught.value) == sentence


def test_tables_are_the_most_violated_ones(seed):
    """The violation is that of a linear programme with a row for each network; none is missed."""
    masks, rng = list_masks(), np.random.default_rng(seed)
    sets = [
        [m for m in itertools.product(range(4), repeat=k) if sorted(set(m)) == list(m)]
        for k in range(4)
    ]
    parts = []
    for child in range(4):
        own = [s for level in sets for s in level if child not in s]
        padded = np.array([[*s, *[4] * (3 - len(s))] for s in own])
        parts.append((padded, rng.normal(size=len(own))))
    families = Families.from_parts(parts, 0)
    bits = np.append(1 << np.arange(4), 0)[families.parents].sum(axis=1)
    n_found = n_none = 0
    for trial in range(30):
        shares = np.zeros(len(families))
        for child in range(4):
            places = rng.choice(np.arange(8), size=2 + trial % 2, replace=False)
            shares[families.begin[child] + places] = rng.dirichlet(np.ones(len(places)))
        if trial % 3:  # nearer to a mixture of networks
            mixed = masks[rng.integers(len(masks), size=5)]
            found = (bits[:, None] == mixed[:, families.children].T).mean(axis=1)
            shares += (trial % 3) * 20 * found
            shares /= np.bincount(families.children, weights=shares)[families.children]
        x = np.zeros((4, 16))
        np.add.at(x, (families.children, bits), shares)
        largest = find_largest_violation(masks, x)
        table = find_table(families, shares, np.arange(4))
        if table is None:
            n_none += 1
            assert largest < LEAST_TABLE_VIOLATION + 1e-6
            continue
        n_found += 1
        points = table.points[np.arange(4), masks].sum(axis=1)
        assert points.min() >= table.right
        violation = table.right - (table.points * x).sum()
        scaled = violation / np.arange(1, 10)  # points are whole: those of 0 to 1 times 1 to 9
        assert np.abs(scaled - largest).min() < 1e-5
    assert n_found > 3
    assert n_none > 3


def find_largest_violation(masks, x):
    """Return the largest r - sum of points times x over points from 0 to 1: an oracle."""
    rows = np.zeros((len(masks), 65))
    for row, own in zip(rows, masks, strict=True):
        row[np.arange(4) * 16 + own] = -1.0
        row[64] = 1.0
    cost = np.append(x.ravel(), -1.0)
    bounds = [(0, 1)] * 64 + [(0, 4)]
    return -scipy.optimize.linprog(cost, rows, np.zeros(len(masks)), bounds=bounds).fun


def test_every_network_receives_the_right_side_of_every_cut(seed):
    """The families of random networks receive at least the points that a cut promises."""
    _, task, last, _ = prove_example()
    families, n = task.families, task.families.n_variables
    rng = np.random.default_rng(seed)
    clusters = Clusters.make_empty(n)
    for row in range(60):
        size = int(rng.integers(2, n + 1))
        members = np.zeros((1, n + 1), dtype=bool)
        members[0, rng.permutation(n)[:size]] = True
        points = rng.integers(0, 10, size=(size, 1 << size))
        table = Table(count_least_points(points), points)
        of_k = Clusters.make(members, int(rng.integers(1, min(size, 4))))
        clusters = clusters.join(Clusters.from_tables(members, [table]) if row % 2 else of_k)
    hits = clusters.find_hits(families)
    for _ in range(20):
        order = rng.permutation(n)
        place = np.append(np.argsort(order), -1)
        points = np.zeros(60, dtype=np.int64)
        for child in range(n):
            first, last_one = families.begin[child], families.begin[child + 1]
            inside = (place[families.parents[first:last_one]] < place[child]).all(axis=1)
            family = first + rng.choice(np.flatnonzero(inside))
            points += [int(p[places == family].sum()) for places, p in hits]
        assert (points >= clusters.rights).all()
    assert last.state.clusters.rights.min() >= 1


def test_violated_clusters_are_violated():
    _, task, _, _ = prove_example()
    relaxation = Relaxation(task.families, 1e4)
    n_found = 0
    for _ in range(30):
        solution = relaxation.solve()
        clusters = find_violated_clusters(task.families, solution.shares)
        for (places, points), right in zip(
            clusters.find_hits(task.families), clusters.rights, strict=True
        ):
            assert (points * solution.shares[places]).sum() < right - 1e-6
        if not len(clusters):
            break
        n_found += len(clusters)
        relaxation.add_clusters(clusters)
    assert n_found > 5


def test_no_cluster_of_three_is_missed_at_the_end():
    """Where the rounds end, enumeration finds no violated cluster of two or three variables."""
    _, task, _, _ = prove_example()
    families, n = task.families, task.families.n_variables
    relaxation = Relaxation(families, 1e4)
    for _ in range(30):
        solution = relaxation.solve()
        clusters = find_violated_clusters(families, solution.shares)
        if not len(clusters):
            break
        relaxation.add_clusters(clusters)
    for size in (2, 3):
        for chosen in itertools.combinations(range(n), size):
            members = np.zeros((1, n + 1), dtype=bool)
            members[0, list(chosen)] = True
            for k in range(1, size):
                cluster = Clusters.make(members, k)
                ((places, points),) = cluster.find_hits(families)
                assert (points * solution.shares[places]).sum() > k - 1e-4


def test_components_are_the_cycles():
    arcs = np.zeros((6, 6), dtype=bool)
    for u, v in [(0, 1), (1, 2), (2, 0), (2, 3), (4, 5), (5, 4)]:
        arcs[u, v] = True
    assert find_components(arcs) == [[0, 1, 2], [4, 5]]
    assert find_components(np.triu(np.ones((5, 5), dtype=bool), 1)) == []


def test_a_time_limit_is_for_each_solution():
    """The clock of the solver adds up all its solutions; a limit counts from the last one."""
    _, task, _, _ = prove_example()
    relaxation = Relaxation(task.families, 1e4)
    for _ in range(400):
        relaxation.set_basis(None)
        assert relaxation.solve(max_seconds=5.0) is not None
    spent = relaxation._model.getRunTime()
    relaxation.set_basis(None)
    assert relaxation.solve(max_seconds=max(spent / 2, 0.05)) is not None
