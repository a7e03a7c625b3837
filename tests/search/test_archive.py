"""The archive keeps the families that an order may need; local search improves orders."""

import itertools
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import naive
from coevo.graph import Constraints
from coevo.score import FamilyScorer
from coevo.search import Problem
from coevo.search.archive import Archive, flatten_sets, hash_parent_sets
from coevo.search.order_kernels import (
    GLOBAL_DRAWS,
    LARGEST_GROUP,
    LOCAL_DRAWS,
    WORD_BITS,
    Families,
    MergedFamilies,
    NewFamilies,
    climb_orders,
    draw_order,
    flag_nearby_responses,
    index_families,
    list_relatives,
    make_scratch,
    merge_families,
    merge_hashes,
)
from coevo.search.parent_extension import add_extensions, extend_parent_sets
from helpers.problems import make_problem, random_constraints, random_table

pytestmark = pytest.mark.kernel


def climb(orders, visits, families, choice, least_gain=1e-9, perturbations=None, local=None):
    n_orders, n = orders.shape
    draws = np.empty((n_orders, 0, n + GLOBAL_DRAWS)) if perturbations is None else perturbations
    local = np.empty((n_orders, 0, LOCAL_DRAWS)) if local is None else local
    index = index_families(families)
    scratch = make_scratch(families)
    climb_orders(orders, visits, draws, local, families, index, scratch, least_gain, choice)
    assert_clean(scratch)
    if not draws.size or local.size:  # else the last order that was tried may have been dropped
        assert_tracked(orders[-1], families, scratch)


def assert_clean(scratch):
    assert not scratch.marks.any()
    assert not scratch.other_marks.any()
    assert not scratch.is_queued.any()


def assert_tracked(order, families, scratch):
    """Compare the missing parents and the allowed families with a count from the order."""
    place = np.argsort(order)
    assert np.array_equal(scratch.place, place)
    n_families = len(families.score)
    child = np.repeat(np.arange(len(order)), np.diff(families.begin))
    for family in range(n_families):
        parents = families.parents[families.start[family] : families.start[family + 1]]
        missing = int((place[parents] > place[child[family]]).sum())
        word = family // WORD_BITS
        words = [*scratch.missing[word], scratch.allowed[word], scratch.one_missing[word]]
        *planes, is_allowed, is_near = [int(bits) >> (family % WORD_BITS) & 1 for bits in words]
        assert sum(bit << k for k, bit in enumerate(planes)) == missing
        assert (is_allowed, is_near) == (missing == 0, missing == 1)


def respond(orders, families, choice):
    """Overwrite `choice` with the best response to each order; the orders stay unchanged."""
    before = orders.copy()
    visits = np.tile(np.arange(orders.shape[1]), (len(orders), 1))
    climb(orders, visits, families, choice, least_gain=np.inf)
    assert np.array_equal(orders, before)


def random_families(rng, n, per_child):
    """Return scored parent sets for each child, the empty set included."""
    families = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = {frozenset(): float(rng.normal())}
        for _ in range(per_child):
            size = rng.integers(1, min(4, n))
            sets[frozenset(rng.choice(others, size, replace=False).tolist())] = float(rng.normal())
        families.append(sets)
    return families


def make_archive(families, parts, rng):
    """Return an archive that received the families in several parts, in random order."""
    n = len(families)
    start, parents = flatten_sets([() for _ in range(n)])
    none = np.empty(0, dtype=np.uint64)
    least = np.array([sets[frozenset()] for sets in families])
    archive = Archive(np.arange(n + 1), least, start, parents, none)
    rows = [(v, s) for v, sets in enumerate(families) for s in sets]
    for part in np.array_split(rng.permutation(len(rows)), parts):
        chosen = [rows[i] for i in part]
        scores = np.array([families[child][s] for child, s in chosen])
        children = np.array([child for child, _ in chosen], dtype=np.int64)
        sets = flatten_sets([tuple(sorted(s)) for _, s in chosen])
        archive = archive.with_families(children, scores, *sets, none)
    return archive


def list_families(archive):
    """Return the families of each child, in the sequence of the archive."""
    return [
        [
            (frozenset(archive.parents_of(f)), float(archive.score[f]))
            for f in range(archive.begin[child], archive.begin[child + 1])
        ]
        for child in range(len(archive.begin) - 1)
    ]


@pytest.mark.parametrize("case", range(8))
def test_dominated_families_are_dropped(case, seed):
    rng = np.random.default_rng([seed, case])
    families = random_families(rng, n=6, per_child=25)
    archive = make_archive(families, parts=1 + case % 4, rng=rng)
    assert list_families(archive) == [naive.undominated(sets) for sets in families]


@pytest.mark.parametrize("limit", [2, 3, 8, 100])
@pytest.mark.parametrize("n_added", [0, 1, 40])
def test_merged_families_match_the_naive_oracle(limit, n_added, seed):
    """Old families, some of which dominate each other, and new ones, with many ties."""
    rng = np.random.default_rng([seed, limit, n_added])
    n = 4

    def draw_family(child):
        others = [v for v in range(n + 3) if v != child]
        size = rng.integers(0, 4)
        parents = sorted(rng.choice(others, size, replace=False).tolist())
        return tuple(parents), float(rng.integers(-3, 1))

    old = []
    for child in range(n):
        own = [draw_family(child) for _ in range(rng.integers(0, 12))]
        own = naive.merge_families(own, [], 1000)  # sorted; nothing is dropped
        old.append([*own, ((), -np.inf)])
    children = rng.integers(0, n, n_added)
    added = [draw_family(child) for child in children.tolist()]
    begin = np.cumsum([0, *map(len, old)])
    families = [family for own in old for family in own]
    start, parents = flatten_sets([parents for parents, _ in families])
    before = Families(begin, np.array([score for _, score in families]), start, parents)
    new_start, new_parents = flatten_sets([parents for parents, _ in added])
    scores = np.array([score for _, score in added], dtype=np.float64)
    ranked = np.empty(n_added, dtype=np.int64)
    most = len(families) + n_added
    merged = MergedFamilies(
        begin=np.empty(n + 1, dtype=np.int64),
        score=np.empty(most),
        start=np.empty(most + 1, dtype=np.int64),
        parents=np.empty(len(parents) + len(new_parents), dtype=np.int32),
        signature=np.empty(most, dtype=np.uint64),
        is_new=np.empty(most, dtype=np.bool_),
    )
    new = NewFamilies(children, scores, new_start, new_parents, ranked)
    n_families = merge_families(before, new, limit, merged)
    assert n_families == merged.begin[-1]
    for child in range(n):
        own = [one for one, v in zip(added, children.tolist(), strict=True) if v == child]
        assert [
            (
                tuple(merged.parents[merged.start[f] : merged.start[f + 1]].tolist()),
                float(merged.score[f]),
            )
            for f in range(merged.begin[child], merged.begin[child + 1])
        ] == naive.merge_families(old[child], own, limit)


@pytest.mark.parametrize(("n_old", "n_added"), [(0, 0), (0, 3), (5, 0), (20, 20)])
def test_hashes_are_merged(n_old, n_added, seed):
    rng = np.random.default_rng([seed, n_old, n_added])
    old = np.unique(rng.integers(0, 30, n_old).astype(np.uint64))
    added = np.sort(rng.integers(0, 30, n_added).astype(np.uint64))  # some twice
    merged = np.empty(len(old) + n_added, dtype=np.uint64)
    n = merge_hashes(old, added, merged)
    assert merged[:n].tolist() == sorted({*old.tolist(), *added.tolist()})


@pytest.mark.parametrize("n", [1, 2, 9])
def test_relatives_are_the_variable_its_parents_and_its_children(n, seed):
    rng = np.random.default_rng([seed, n])
    archive = make_archive(random_families(rng, n, per_child=6 if n > 1 else 0), 1, rng)
    choice = rng.integers(archive.begin[:-1], archive.begin[1:])
    arcs = {(p, child) for child, f in enumerate(choice) for p in archive.parents_of(int(f))}
    for center in range(n):
        found = np.empty(n, dtype=np.int64)
        n_found = list_relatives(archive.families, choice, center, found)
        expected = {center, *(v for arc in arcs if center in arc for v in arc)}
        assert found[:n_found].tolist() == sorted(expected)


def test_ties_go_to_the_smaller_family_and_the_first_name(seed):
    families = [{frozenset(): -2.0, frozenset({1}): -1.0, frozenset({1, 2}): -1.0,
                 frozenset({2}): -1.0}, {frozenset(): 0.0}, {frozenset(): 0.0}]  # fmt: skip
    rng = np.random.default_rng(seed)
    for parts in (1, 2, 3):
        assert list_families(make_archive(families, parts, rng))[0] == [
            (frozenset({1}), -1.0),
            (frozenset({2}), -1.0),
            (frozenset(), -2.0),
        ]


@pytest.mark.parametrize("case", range(6))
def test_best_responses_and_climbing(case, seed):
    """Best responses equal those of the naive oracle; after the climb no move gains."""
    rng = np.random.default_rng([seed, case])
    n = 6
    archive = make_archive(random_families(rng, n, per_child=20), 2, rng)
    orders = np.array([rng.permutation(n) for _ in range(4)])
    choice = np.empty((4, n), dtype=np.int64)
    respond(orders, archive.families, choice)
    before = archive.score[choice].sum(axis=1)
    for order, chosen in zip(orders, choice, strict=True):
        slow = naive.best_response(order.tolist(), list_families(archive))
        assert [float(archive.score[f]) for f in chosen] == [slow[v] for v in range(n)]

    climbed = orders.copy()
    visits = np.array([rng.permutation(n) for _ in range(4)])
    climb(climbed, visits, archive.families, choice)
    assert (archive.score[choice].sum(axis=1) >= before - 1e-9).all()
    for order, chosen in zip(climbed.tolist(), choice, strict=True):
        slow = naive.best_response(order, list_families(archive))
        assert [float(archive.score[f]) for f in chosen] == [slow[v] for v in range(n)]
        total = sum(slow.values())
        for variable in range(n):
            for place in range(n):
                other = naive.moved(order, variable, place)
                assert (
                    sum(naive.best_response(other, list_families(archive)).values()) <= total + 1e-8
                )


@pytest.mark.parametrize("case", range(6))
def test_a_perturbed_order_ends_in_a_local_optimum_and_never_gets_worse(case, seed):
    rng = np.random.default_rng([seed, case])
    n = 7
    archive = make_archive(random_families(rng, n, per_child=25), 2, rng)
    before = np.array([rng.permutation(n) for _ in range(5)])
    visits = np.array([rng.permutation(n) for _ in range(5)])
    choice = np.empty((5, n), dtype=np.int64)
    climb(before, visits, archive.families, choice)
    tops = archive.score[choice].sum(axis=1)
    orders = before.copy()
    climb(
        orders,
        visits,
        archive.families,
        choice,
        perturbations=rng.random((5, 6, n + GLOBAL_DRAWS)),
    )
    scores = archive.score[choice].sum(axis=1)
    assert (scores >= tops - 1e-9).all()
    assert (np.sort(orders, axis=1) == np.arange(n)).all()
    again, same = orders.copy(), np.empty_like(choice)
    climb(again, visits, archive.families, same)
    assert np.array_equal(again, orders)
    assert np.array_equal(same, choice)


@pytest.mark.parametrize("per_child", [12, 300])
def test_the_index_lists_all_families_with_a_parent(per_child, seed):
    """With many families the bits of a pair have several words."""
    rng = np.random.default_rng(seed)
    archive = make_archive(random_families(rng, 13, per_child), 1, rng)
    expected = {}
    for family, child in enumerate(archive.children.tolist()):
        for parent in archive.parents_of(family):
            expected.setdefault((child, parent), []).append(family)
    index, found, by_parent = archive.index, {}, {}
    for child in range(13):
        pairs = range(index.of_child[child], index.of_child[child + 1])
        assert index.best[pairs].tolist() == sorted(index.best[pairs].tolist())
        for pair in pairs:
            found[child, int(index.parent[pair])] = list_families_of(index, pair)
            assert index.best[pair] == found[child, int(index.parent[pair])][0]
    for parent in range(13):
        for arc in range(index.of_parent[parent], index.of_parent[parent + 1]):
            families = list_families_of(index, index.pair[arc])
            by_parent[int(index.child[arc]), parent] = families
    assert found == by_parent == expected
    for family, child in enumerate(archive.children.tolist()):
        arcs = index.arc[archive.start[family] : archive.start[family + 1]]
        assert (index.child[arcs] == child).all()
        assert tuple(index.parent[index.pair[arcs]].tolist()) == archive.parents_of(family)


def list_families_of(index, pair):
    """Return the families of a pair from its bits."""
    return [
        int(index.word[i]) * WORD_BITS + bit
        for i in range(index.begin[pair], index.begin[pair + 1])
        for bit in range(WORD_BITS)
        if int(index.bits[i]) >> bit & 1
    ]


def test_an_archive_without_parents_has_an_empty_index():
    families = Families(np.arange(3), np.zeros(2), np.zeros(3, dtype=np.int64), np.empty(0, "i4"))
    assert index_families(families).of_child.tolist() == [0, 0, 0]
    orders, choice = np.array([[1, 0]]), np.empty((1, 2), dtype=np.int64)
    climb(orders, orders.copy(), families, choice, local=np.full((1, 3, LOCAL_DRAWS), 0.5))
    assert (orders.tolist(), choice.tolist()) == ([[1, 0]], [[0, 1]])
    none = Families(*(np.zeros(1, "i8"), np.empty(0), np.zeros(1, "i8"), np.empty(0, "i4")))
    assert index_families(none).of_child.tolist() == [0]
    nothing = np.empty((2, 0), dtype=np.int64)
    climb(nothing, nothing.copy(), none, nothing.copy(), perturbations=np.zeros((2, 1, 4)))


def test_the_constants_are_those_of_the_engine():
    folder = Path(__file__).parents[2] / "engine"
    text = "".join((folder / f"{name}.h").read_text() for name in ("family_index", "perturbation"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = {}
    for name, value in re.findall(
        r"(\w+) = ([\w +*]+)", "".join(re.findall(r"enum {[^}]*}", text))
    ):
        found[name] = eval(value, {}, found)
    assert found == {
        "WORD_BITS": WORD_BITS,
        "GLOBAL_DRAWS": GLOBAL_DRAWS,
        "LARGEST_GROUP": LARGEST_GROUP,
        "LOCAL_DRAWS": LOCAL_DRAWS,
    }


@pytest.mark.parametrize("case", range(4))
@pytest.mark.parametrize("kind", ["plain", "global", "local"])
def test_climbs_make_the_same_moves_as_a_scan_over_all_places(kind, case, seed):
    rng = np.random.default_rng([seed, case])
    n, gain = 9, 1e-9
    archive = make_archive(random_families(rng, n, per_child=[6, 80][case % 2]), 1, rng)
    families = list_families(archive)
    orders = np.array([rng.permutation(n) for _ in range(2)])
    visits = np.array([rng.permutation(n) for _ in range(2)])
    draws = rng.random((2, 3 if kind == "global" else 0, n + GLOBAL_DRAWS))
    local = rng.random((2, 12 if kind == "local" else 0, LOCAL_DRAWS))
    expected = []
    for o, order in enumerate(orders.tolist()):
        visit = visits[o].tolist()
        order = naive.perturb_globally(order, families, visit, draws[o].tolist(), gain)
        order = naive.perturb_locally(order, families, local[o].tolist(), LARGEST_GROUP, gain)
        expected.append(order)
    choice = np.empty((2, n), dtype=np.int64)
    climb(orders, visits, archive.families, choice, gain, draws, local)
    assert orders.tolist() == expected
    for order, chosen in zip(expected, choice.tolist(), strict=True):
        response = naive.respond(order, families)
        assert [archive.parents_of(f) for f in chosen] == [
            tuple(sorted(response[v][0])) for v in range(n)
        ]


def test_an_archive_lends_its_scratch_again_and_does_not_pickle_it(seed):
    rng = np.random.default_rng(seed)
    archive = make_archive(random_families(rng, 5, per_child=9), 1, rng)
    with archive.lend_scratch() as one, archive.lend_scratch() as other:
        assert one is not other
    with archive.lend_scratch() as again:
        assert again is one
    with pytest.raises(RuntimeError), archive.lend_scratch():
        raise RuntimeError
    with archive.lend_scratch() as left:
        assert left is other
    assert archive.index is archive.index
    copy = pickle.loads(pickle.dumps(archive))
    assert vars(copy).keys() == {"begin", "score", "start", "parents", "extended"}
    assert list_families(copy) == list_families(archive)


@pytest.mark.parametrize("case", range(3))
def test_a_long_order_ends_where_no_move_gains(case, seed):
    """The bit set of its places has several words, and few variables are in a pair."""
    rng = np.random.default_rng([seed, case])
    n = 130
    archive = make_archive(random_families(rng, n, per_child=4), 1, rng)
    orders, choice = rng.permutation(n)[None], np.empty((1, n), dtype=np.int64)
    respond(orders, archive.families, choice)
    before = archive.score[choice].sum()
    climb(orders, rng.permutation(n)[None], archive.families, choice)
    top = archive.score[choice].sum()
    assert top > before
    order = orders[0].tolist()
    tried = rng.choice(n, 5, replace=False).tolist()
    moved = np.array([naive.moved(order, v, place) for v in tried for place in range(n)])
    after = np.empty(moved.shape, dtype=np.int64)
    respond(moved, archive.families, after)
    assert archive.score[after].sum(axis=1).max() <= top + 1e-8


@pytest.mark.parametrize("n", [2, 7, 80])
def test_local_perturbations_never_lower_the_score(n, seed):
    rng = np.random.default_rng([seed, n])
    archive = make_archive(random_families(rng, n, per_child=6 if n > 2 else 1), 2, rng)
    orders = np.array([rng.permutation(n) for _ in range(3)])
    visits = np.array([rng.permutation(n) for _ in range(3)])
    choice = np.empty((3, n), dtype=np.int64)
    climb(orders, visits, archive.families, choice)
    tops = archive.score[choice].sum(axis=1)
    climb(orders, visits, archive.families, choice, local=rng.random((3, 40, LOCAL_DRAWS)))
    scores = archive.score[choice].sum(axis=1)
    assert (scores >= tops - 1e-8).all()
    assert n < 80 or (scores > tops + 1e-3).all()  # small ones may be at the best already
    assert (np.sort(orders, axis=1) == np.arange(n)).all()
    again = np.empty_like(choice)
    respond(orders, archive.families, again)
    assert np.array_equal(again, choice)


@pytest.mark.parametrize("case", range(3))
def test_a_drawn_order_takes_the_smallest_lot_of_those_that_are_ready(case, seed):
    rng = np.random.default_rng([seed, case])
    n = 9
    archive = make_archive(random_families(rng, n, per_child=8), 1, rng)
    order, choice = rng.permutation(n), np.empty((1, n), dtype=np.int64)
    respond(order[None], archive.families, choice)
    lots, drawn = rng.random(n), np.empty(n, dtype=np.int64)
    with archive.lend_scratch() as scratch:
        draw_order(choice[0], archive.families, archive.index, scratch, lots, drawn)
    parents = {v: set(archive.parents_of(int(family))) for v, family in enumerate(choice[0])}
    assert drawn.tolist() == naive.draw_order(parents, lots.tolist())


@pytest.mark.parametrize("draws", list(itertools.product([0.0, 0.5, 0.999], repeat=4)))
@pytest.mark.parametrize("n", [1, 2, 5])
def test_every_perturbation_returns_a_permutation(n, draws, seed):
    rng = np.random.default_rng(seed)
    archive = make_archive(random_families(rng, n, per_child=3 if n > 1 else 0), 1, rng)
    orders, choice = rng.permutation(n)[None], np.empty((1, n), dtype=np.int64)
    perturbation = np.concatenate([rng.random(n), draws])[None, None]
    climb(orders, np.arange(n)[None], archive.families, choice, perturbations=perturbation)
    assert sorted(orders[0].tolist()) == list(range(n))


@pytest.mark.parametrize("case", range(6))
def test_nearby_responses_are_those_after_any_one_move(case, seed):
    rng = np.random.default_rng([seed, case])
    n = 6
    archive = make_archive(random_families(rng, n, per_child=20), 2, rng)
    order, choice = rng.permutation(n), np.empty((1, n), dtype=np.int64)
    respond(order[None], archive.families, choice)
    families = archive.families
    asked = np.zeros(archive.n_families, dtype=np.bool_)
    scratch = make_scratch(families)
    flag_nearby_responses(order, choice[0], families, index_families(families), scratch, asked)
    assert_clean(scratch)
    expected = set()
    for variable in range(n):
        for place in range(n):
            moved = naive.moved(order.tolist(), variable, place)
            after = np.empty((1, n), dtype=np.int64)
            respond(np.array([moved]), families, after)
            expected |= set(after[0].tolist())
    assert set(np.flatnonzero(asked).tolist()) == expected - set(choice[0].tolist())


def test_a_late_required_parent_gives_the_score_minus_infinity(seed):
    """It is no error, and local search leaves such an order."""
    problem = make_problem(random_table(seed, 3), "k2", Constraints(required=[("v000", "v001")]))
    archive = Archive.from_problem(problem)
    choice = np.empty((2, 3), dtype=np.int64)
    respond(np.array([[0, 1, 2], [1, 0, 2]]), archive.families, choice)
    totals = archive.score[choice].sum(axis=1)
    assert np.isfinite(totals[0])
    assert totals[1] == -np.inf
    orders = np.array([[0, 1, 2], [2, 0, 1]])
    climb(orders, np.array([[0, 1, 2], [1, 2, 0]]), archive.families, choice)
    assert np.isfinite(archive.score[choice]).all()


@pytest.mark.parametrize("case", range(6))
def test_extensions_are_all_that_the_rules_allow_and_that_could_gain(case, seed):
    rng = np.random.default_rng([seed, case])
    table = random_table([seed, case], 5)
    score = ["k2", "bic"][case % 2]
    problem = make_problem(table, score, random_constraints(rng, table.names))
    rules = problem.rules
    rows = []
    for child in range(5):
        needed = set(np.flatnonzero(rules.required[:, child]).tolist())
        free = [u for u in range(5) if rules.allowed[u, child] and u not in needed]
        room = rules.max_parents - len(needed)
        extra = free[: min(room, int(rng.integers(0, 3)))]
        rows.append((child, tuple(sorted([*needed, *extra]))))
    everything = np.tile(np.arange(5, dtype=np.int32), (5, 1))
    found = extend_parent_sets(problem, rows, everything)
    names = table.names
    for r, (child, parents) in enumerate(rows):
        own = [names[p] for p in parents]
        assert found.scores[r] == problem.scorer.local_score(names[child], own)
        for other in range(5):
            is_open = (
                rules.allowed[other, child]
                and other not in parents
                and len(parents) < rules.max_parents
            )
            expected = -np.inf
            if is_open:
                expected = problem.scorer.local_score(names[child], [*own, names[other]])
            if found.wider_scores[r, other] != expected:  # skipped: it could not gain
                assert score == "bic"
                assert found.wider_scores[r, other] == -np.inf
                assert expected <= found.scores[r]
    archive = add_extensions(Archive.from_problem(problem), found)
    child = np.array([row[0] for row in rows])
    hashes = hash_parent_sets(child, *flatten_sets([row[1] for row in rows]), 5)
    assert sorted(archive.extended.tolist()) == sorted(hashes.tolist())
    assert isinstance(archive.families, Families)


def test_families_that_cannot_gain_are_not_scored(seed):
    table = random_table(seed, n_variables=9, n_rows=40)
    rows = [(child, tuple(v for v in range(5) if v != child)) for child in range(9)]
    everything = np.tile(np.arange(9, dtype=np.int32), (9, 1))
    n_scored = {
        score: extend_parent_sets(make_problem(table, score), rows, everything).n_scored
        for score in ("k2", "bic")
    }
    assert n_scored["bic"] < n_scored["k2"]


def test_families_that_gain_by_their_weight_are_scored(seed):
    table = random_table(seed, n_variables=9, n_rows=40)
    scorer = FamilyScorer(table, "bic", weights={(table.names[8], table.names[0]): 1e6})
    everything = np.arange(9, dtype=np.int32)[None]
    found = extend_parent_sets(Problem.from_scorer(scorer), [(0, (1, 2, 3, 4))], everything)
    assert found.wider_scores[0, 8] > found.scores[0]


def test_hashes_depend_on_the_parent_set_only():
    child = np.array([0, 0, 1, 0])
    one, two, other, less = hash_parent_sets(
        child, *flatten_sets([(1, 2), (1, 2), (0, 2), (1,)]), 3
    )
    assert one == two
    assert len({int(one), int(other), int(less)}) == 3
