"""Every cut holds for every network, and the kernels find what enumeration finds."""

import itertools

import numpy as np
import pytest

import naive
from coevo.errors import FormatError
from coevo.exact.bounds import Clusters
from coevo.exact.check_families import check_table
from coevo.exact.local_cuts import RIGHTS, TABLES
from coevo.exact.relaxation import Relaxation
from coevo.exact.separation import find_components, find_violated_clusters
from helpers.proofs import prove_example


def test_tables_hold_for_all_networks_of_four_variables():
    masks = np.array(
        [[sum(1 << u for u, w in arcs if w == v) for v in range(4)] for arcs in naive.all_dags(4)]
    )
    assert len(masks) == 543
    points = TABLES[:, np.arange(4), masks].sum(axis=2)  # (tables, networks)
    assert (points.min(axis=1) == RIGHTS).all()
    for right, table in zip(RIGHTS.tolist(), TABLES.tolist(), strict=True):
        check_table(right, table)
        with pytest.raises(FormatError) as caught:
            check_table(right + 1, table)
        sentence = "The certificate does not hold: a table of points is wrong."
        assert str(caught.value) == sentence
    assert len({table.tobytes() for table in TABLES}) == len(TABLES) == 46


def test_every_network_receives_the_right_side_of_every_cut(seed):
    """The families of random networks receive at least the points that a cut promises."""
    _, task, last, _ = prove_example()
    families, n = task.families, task.families.n_variables
    rng = np.random.default_rng(seed)
    members = np.zeros((60, n + 1), dtype=bool)
    orders = np.empty(60, dtype=np.int64)
    for row in range(60):
        size = 4 if row % 2 else int(rng.integers(2, n + 1))
        members[row, rng.permutation(n)[:size]] = True
        orders[row] = -1 - rng.integers(46) if row % 2 else rng.integers(1, min(size, 4))
    clusters = Clusters(members, orders)
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
                cluster = Clusters(members, np.array([k]))
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
