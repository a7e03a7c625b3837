"""Parent sets and their extensions as arrays are what a loop over sets gives."""

import numpy as np
import pytest

from coevo.search.archive import flatten_sets
from coevo.search.extension_kernels import (
    FamilyList,
    ParentSets,
    append_gains,
    flag_extensions,
    list_extensions,
    list_families,
)

pytestmark = pytest.mark.kernel

N = 7
CASES = [(0, 3), (1, 0), (5, 6), (30, 4)]  # sets, and candidates of each


def draw_sets(rng, n_sets, width):
    """Return parent sets as a list and as arrays, and a row of candidates for each."""
    sets = []
    for child in rng.integers(0, N, n_sets).tolist():
        others = [v for v in range(N) if v != child]
        parents = rng.choice(others, rng.integers(0, 4), replace=False)
        sets.append((child, tuple(sorted(parents.tolist()))))
    child = np.array([child for child, _ in sets], dtype=np.int64)
    arrays = ParentSets(child, *flatten_sets([parents for _, parents in sets]))
    return sets, arrays, rng.integers(0, N, (n_sets, width), dtype=np.int32)


def split(members, start, n):
    return [tuple(members[start[f] : start[f + 1]].tolist()) for f in range(n)]


@pytest.mark.parametrize(("n_sets", "width"), CASES)
def test_parent_sets_are_listed_as_families(n_sets, width, seed):
    sets, arrays, _ = draw_sets(np.random.default_rng([seed, n_sets]), n_sets, width)
    members = np.empty(n_sets + len(arrays.parents), dtype=np.int32)
    start = np.empty(n_sets + 1, dtype=np.int64)
    list_families(arrays, members, start)
    assert split(members, start, n_sets) == [(child, *parents) for child, parents in sets]
    assert start[0] == 0
    assert start[-1] == len(members)


@pytest.mark.parametrize(("n_sets", "width"), CASES)
@pytest.mark.parametrize(("max_parents", "max_table"), [(2, np.inf), (9, np.inf), (9, 40.0)])
def test_open_extensions_keep_the_rules(n_sets, width, max_parents, max_table, seed):
    rng = np.random.default_rng([seed, n_sets, max_parents])
    sets, arrays, rows = draw_sets(rng, n_sets, width)
    allowed, arities = rng.random((N, N)) < 0.7, rng.integers(1, 5, N)
    largest = 30.0
    is_open, q = np.empty(rows.shape, dtype=np.bool_), np.empty(rows.shape)
    flag_extensions(arrays, rows, allowed, arities, max_parents, max_table, largest, is_open, q)
    for s, (child, parents) in enumerate(sets):
        for i, other in enumerate(rows[s].tolist()):
            size = min(largest, float(np.prod(arities[[*parents, other]])))
            assert q[s, i] == size
            assert is_open[s, i] == (
                allowed[other, child]
                and other not in parents
                and len(parents) < max_parents
                and size * arities[child] <= max_table
            )


@pytest.mark.parametrize(("n_sets", "width"), CASES)
def test_open_extensions_are_listed_as_families(n_sets, width, seed):
    rng = np.random.default_rng([seed, n_sets])
    sets, arrays, rows = draw_sets(rng, n_sets, width)
    is_open = rng.random(rows.shape) < 0.5
    members = np.empty(width * (len(arrays.parents) + 2 * n_sets), dtype=np.int32)
    start, place = np.empty(rows.size + 1, dtype=np.int64), np.empty(rows.size, dtype=np.int64)
    n = list_extensions(arrays, rows, is_open, members, start, place)
    assert place[:n].tolist() == np.flatnonzero(is_open).tolist()
    assert split(members, start, n) == [
        (sets[s][0], *sorted([*sets[s][1], int(rows[s, i])]))
        for s, i in np.argwhere(is_open).tolist()
    ]


def test_sets_and_extensions_that_gain_are_appended(seed):
    rng = np.random.default_rng(seed)
    expected, parts = [], [draw_sets(rng, *case) for case in CASES]
    n_most = sum(rows.size + len(rows) for _, _, rows in parts)
    families = FamilyList(
        np.empty(n_most, dtype=np.int64),
        np.empty(n_most),
        np.zeros(n_most + 1, dtype=np.int64),
        np.empty(5 * n_most, dtype=np.int32),
    )
    n = 0
    for sets, arrays, rows in parts:
        scores = rng.integers(-4, 0, len(sets)).astype(np.float64)
        wider = rng.integers(-4, 0, rows.shape) + rng.choice([0.0, 0.1, -np.inf], rows.shape)
        n = append_gains(arrays, scores, rows, wider, 0.5, n, families)
        expected += [(*one, score) for one, score in zip(sets, scores.tolist(), strict=True)]
        expected += [
            (sets[s][0], tuple(sorted([*sets[s][1], int(rows[s, i])])), float(wider[s, i]))
            for s, i in np.argwhere(wider > scores[:, None] + 0.5).tolist()
        ]
    listed = split(families.parents, families.start, n)
    found = zip(families.child[:n].tolist(), listed, families.score[:n].tolist(), strict=True)
    assert list(found) == expected
